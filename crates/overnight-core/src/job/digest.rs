//! SHA-256 as lower-case hex, the form that `sha256sum` prints.

use sha2::{Digest, Sha256};
use std::io;

/// 64 zeros: the `prev` of a journal's first line.
pub const ZERO: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The SHA-256 of `bytes`, 64 lower-case hex digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Digits of a hash by which people tell it from others.
const SHORT: usize = 12;

/// The beginning of a hash, as it is shown to people.
pub fn short(sha256: &str) -> &str {
    sha256.get(..SHORT).unwrap_or(sha256)
}

/// The SHA-256 of `bytes` up to `middle`, and that of all bytes, in one pass.
pub fn sha256_twice(bytes: &[u8], middle: usize) -> (String, String) {
    let (start, rest) = bytes.split_at(middle.min(bytes.len()));
    let begun = Sha256::new_with_prefix(start);
    (hex(&begun.clone().finalize()), hex(&begun.chain_update(rest).finalize()))
}

/// The SHA-256 of everything written to it: for a growing text, each further hash costs only the added part.
#[derive(Clone, Debug, Default)]
pub struct RunningSha256(Sha256);

impl RunningSha256 {
    /// The hash of everything written so far.
    pub fn so_far(&self) -> String {
        hex(&self.0.clone().finalize())
    }
}

impl PartialEq for RunningSha256 {
    fn eq(&self, other: &Self) -> bool {
        self.so_far() == other.so_far()
    }
}

impl io::Write for RunningSha256 {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Lower-case hex digits of `bytes`.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn known_digest() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(super::sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(super::sha256_twice(b"abc", 1), (super::sha256(b"a"), super::sha256(b"abc")));
    }
}
