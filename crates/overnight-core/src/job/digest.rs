//! SHA-256 as lower-case hex, the form that `sha256sum` prints.

use sha2::{Digest, Sha256};

/// 64 zeros: the `prev` of a journal's first line.
pub const ZERO: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The SHA-256 of `bytes`, 64 lower-case hex digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The SHA-256 of `bytes` up to `middle`, and of all of them, for the price of one.
pub fn sha256_twice(bytes: &[u8], middle: usize) -> (String, String) {
    let (start, rest) = bytes.split_at(middle.min(bytes.len()));
    let begun = Sha256::new_with_prefix(start);
    (hex(&begun.clone().finalize()), hex(&begun.chain_update(rest).finalize()))
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
