//! Stub.
use super::{DocumentError, Found, Refusal};
use serde::{Deserialize, Serialize};
use std::path::Path;
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub path: Vec<String>,
    pub bytes: u64,
}
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Members {
    pub members: Vec<Member>,
    pub left_out: Vec<(String, String)>,
    pub is_document: bool,
}
pub fn members(_name: &str, _bytes: &[u8]) -> Result<Members, Refusal> {
    Ok(Members::default())
}
pub fn take(_name: &str, _bytes: &[u8], _path: &[String]) -> Result<Vec<u8>, Refusal> {
    Ok(Vec::new())
}
pub trait Opener: Sync {
    fn members(&self, name: &str, path: &Path, bytes: u64) -> Result<Members, Refusal>;
}
pub fn content(found: &Found) -> Result<Vec<u8>, DocumentError> {
    std::fs::read(&found.path).map_err(|source| DocumentError::Unreadable { path: found.path.clone(), source })
}
