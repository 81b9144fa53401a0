//! Hashing and copying as a stream: a deliverable of 50 MB is never held in memory.

use overnight_core::job::digest::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{self, Read, Write};

/// Large enough that system calls are negligible compared with hashing, small enough that clearing it is negligible for
/// the usual file of a few KB.
const CHUNK: usize = 16 * 1024;

/// The identity of a file's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileHash {
    /// SHA-256, 64 lower-case hex digits.
    pub sha256: String,
    pub bytes: u64,
}

impl FileHash {
    pub fn of(bytes: &[u8]) -> Self {
        Self { sha256: overnight_core::job::digest::sha256(bytes), bytes: bytes.len() as u64 }
    }
}

/// Copies all of `from` to `to`, hashing on the way.
pub(crate) fn copy(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<FileHash> {
    let mut digest = Sha256::new();
    let mut bytes = 0;
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        digest.update(&chunk[..count]);
        to.write_all(&chunk[..count])?;
        bytes += count as u64;
    }
    Ok(FileHash { sha256: hex(&digest.finalize()), bytes })
}
