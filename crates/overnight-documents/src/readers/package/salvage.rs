//! The parts of an archive whose directory is broken or cut off. Each part has a header of its own before its bytes, so
//! the headers are searched one by one. `zip` reads such archives only if every header states its part's size; headers
//! of office programs often don't, so this is our own code.

use std::collections::HashMap;

use memchr::memmem;
use zip::CompressionMethod;

use super::archive::{MAX_PARTS, PartLocation, data_start, name_of};

/// The parts whose headers are found in `bytes`. A part reaches at most to the next header.
pub(super) fn salvage(bytes: &[u8]) -> HashMap<String, PartLocation> {
    let headers: Vec<usize> = memmem::find_iter(bytes, b"PK\x03\x04").take(MAX_PARTS).collect();
    let ends = headers.iter().skip(1).copied().chain([bytes.len()]);
    let found = headers.iter().zip(ends).filter_map(|(&header, next)| part(bytes, header, next));
    let mut parts = HashMap::new();
    for (name, part) in found {
        // The first one counts: an office file packed into another would come later.
        parts.entry(name).or_insert(part);
    }
    parts
}

fn part(bytes: &[u8], header: usize, next: usize) -> Option<(String, PartLocation)> {
    let start = data_start(bytes, header)?;
    let number = |at: usize| Some(u16::from_le_bytes([*bytes.get(header + at)?, *bytes.get(header + at + 1)?]));
    let large = |at: usize| Some(u32::from(number(at)?) | (u32::from(number(at + 2)?) << 16));
    let name = bytes.get(header + 30..)?.get(..usize::from(number(26)?))?;
    let flags = number(6)?;
    let method = match number(8)? {
        0 => CompressionMethod::Stored,
        8 => CompressionMethod::Deflated,
        _ => return None,
    };
    let stated = usize::try_from(large(18)?).ok()?;
    // Bit 3: CRC and size stand behind the part instead. Deflated data has an end mark of its own.
    let behind = flags & 8 != 0;
    let end = if behind || stated == 0 { next.max(start) } else { start.checked_add(stated)?.min(bytes.len()) };
    let crc = if behind { None } else { large(14) };
    Some((name_of(name), PartLocation { start, end, method, crc, is_encrypted: flags & 1 != 0 }))
}
