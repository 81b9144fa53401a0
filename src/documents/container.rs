//! Stub, until the real one comes.

use super::Refusal;

/// A document inside a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub path: Vec<String>,
    pub bytes: u64,
}

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Members {
    pub members: Vec<Member>,
    pub left_out: Vec<(String, String)>,
    pub is_document: bool,
}

/// Whether a look inside is worth it.
pub fn may_hold(_name: &str, head: &[u8]) -> bool {
    head.starts_with(b"STUB")
}

/// What is inside.
pub fn members(_name: &str, _bytes: &[u8]) -> Result<Members, Refusal> {
    Ok(Members { is_document: true, ..Members::default() })
}

/// One of them.
pub fn take(_name: &str, _bytes: &[u8], _path: &[String]) -> Result<Vec<u8>, Refusal> {
    Ok(Vec::new())
}
