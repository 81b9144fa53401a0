//! Numbers and texts at places of a stream.

pub(super) fn byte(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at).copied()
}

pub(super) fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

pub(super) fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// Reads `units` units of UTF-16.
pub(super) fn wide(bytes: &[u8], at: usize, units: usize) -> Option<Vec<u16>> {
    let text = bytes.get(at..at.checked_add(units.checked_mul(2)?)?)?;
    Some(text.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect())
}
