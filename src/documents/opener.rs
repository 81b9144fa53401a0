//! To be replaced.
use super::{DocumentError, Found, Members, Refusal};
use std::path::Path;
pub trait Opener: Sync {
    fn members(&self, name: &str, path: &Path, bytes: u64) -> Result<Members, Refusal>;
}
pub fn content(found: &Found) -> Result<Vec<u8>, DocumentError> {
    std::fs::read(&found.path).map_err(|source| DocumentError::Unreadable { path: found.path.clone(), source })
}
