//! OLE files with errors that the programs which write them ignore, but `cfb` does not: entries of the sector table for
//! sectors that don't exist, unused directory entries that aren't blank, and invalid colours and neighbours of
//! directory entries.

use std::borrow::Cow;
use std::io::Cursor;

const HEADER: usize = 512;
const ENTRY: usize = 128;
const FREE: u32 = u32::MAX;

/// The file as it is, if it opens; otherwise a copy without those errors.
pub(crate) fn mended(bytes: &[u8]) -> Cow<'_, [u8]> {
    if cfb::CompoundFile::open(Cursor::new(bytes)).is_ok() {
        return Cow::Borrowed(bytes);
    }
    mend(bytes).map_or(Cow::Borrowed(bytes), Cow::Owned)
}

/// The position of the first of these streams and storages in the file. A broken file may show their names.
pub(crate) fn first_held(bytes: &[u8], names: &[&str]) -> Option<usize> {
    let mended = mended(bytes);
    let opened = cfb::CompoundFile::open(Cursor::new(&*mended)).ok();
    names.iter().position(|name| {
        if let Some(opened) = &opened {
            opened.exists(name)
        } else {
            let wide: Vec<u8> = name.trim_start_matches('/').encode_utf16().flat_map(u16::to_le_bytes).collect();
            memchr::memmem::find(bytes, &wide).is_some()
        }
    })
}

fn mend(bytes: &[u8]) -> Option<Vec<u8>> {
    let shift = *bytes.get(30)?;
    if bytes.len() < HEADER || !matches!(shift, 9 | 12) {
        return None;
    }
    let size = 1_usize << shift;
    let sectors = bytes.len().checked_sub(1)? >> shift;
    let start =
        |sector: u32| usize::try_from(sector).ok().filter(|sector| *sector < sectors).map(|at| (at + 1) << shift);
    // The header has the first sectors of the table; a larger file has more of them, which aren't mended.
    let table: Vec<usize> = (76..HEADER).step_by(4).map_while(|at| start(number(bytes, at)?)).collect();
    let place = |sector: usize| Some(table.get(sector / (size / 4))? + sector % (size / 4) * 4);

    let mut mended = bytes.to_vec();
    for sector in sectors..table.len() * (size / 4) {
        put(&mut mended, place(sector)?, FREE);
    }
    let mut places = Vec::new();
    let mut sector = number(bytes, 48)?;
    for _ in 0..sectors {
        let Some(from) = start(sector) else { break };
        places.push(from);
        sector = number(bytes, place(usize::try_from(sector).ok()?)?)?;
    }
    let entries = places.len() * (size / ENTRY);
    for from in places {
        for at in (from..from + size).step_by(ENTRY) {
            let entry = mended.get_mut(at..at + ENTRY)?;
            let (length, kind) = (u16::from_le_bytes([entry[64], entry[65]]), entry[66]);
            if length > 64 || length % 2 == 1 || !matches!(kind, 0 | 1 | 2 | 5) {
                entry.fill(0);
                // An unused entry has no neighbours.
                entry[68..80].fill(0xff);
            }
            // Red or black.
            entry[67] = entry[67].min(1);
            for neighbour in entry[68..80].chunks_exact_mut(4) {
                let index = u32::from_le_bytes([neighbour[0], neighbour[1], neighbour[2], neighbour[3]]);
                if usize::try_from(index).is_ok_and(|index| index >= entries) {
                    neighbour.fill(0xff);
                }
            }
        }
    }
    Some(mended)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn put(bytes: &mut [u8], at: usize, number: u32) {
    if let Some(place) = bytes.get_mut(at..at + 4) {
        place.copy_from_slice(&number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    fn sample() -> Vec<u8> {
        let mut file = cfb::CompoundFile::create_with_version(cfb::Version::V3, Cursor::new(Vec::new())).unwrap();
        file.create_stream("/Text").unwrap().write_all(&[b'x'; 5_000]).unwrap();
        file.flush().unwrap();
        file.into_inner().into_inner()
    }

    fn text(bytes: &[u8]) -> Option<usize> {
        let mut text = Vec::new();
        cfb::CompoundFile::open(Cursor::new(bytes)).ok()?.open_stream("/Text").ok()?.read_to_end(&mut text).ok()
    }

    #[test]
    fn slips_are_mended_and_whole_files_are_left_alone() {
        let whole = sample();
        assert!(matches!(mended(&whole), Cow::Borrowed(_)));
        let table = (usize::try_from(number(&whole, 76).unwrap()).unwrap() + 1) << 9;
        let directory = (usize::try_from(number(&whole, 48).unwrap()).unwrap() + 1) << 9;
        let mut beyond = whole.clone();
        beyond[table + 4 * 100..table + 512].fill(0xfe);
        let mut names = whole.clone();
        names[directory + 3 * ENTRY..directory + 4 * ENTRY].fill(0xff);
        let mut colour = whole.clone();
        colour[directory + ENTRY + 67] = 0xf6;
        let mut neighbour = whole.clone();
        neighbour[directory + ENTRY + 68..directory + ENTRY + 72].copy_from_slice(&4_000_u32.to_le_bytes());
        for slip in [beyond, names, colour, neighbour] {
            assert_eq!((text(&slip), text(&mended(&slip))), (None, Some(5_000)));
        }
    }

    #[test]
    fn no_damage_is_too_much() {
        let whole = sample();
        for cut in 0..whole.len() / 64 {
            let _ = mended(&whole[..cut * 64]);
        }
        for at in 0..whole.len().min(1_600) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            let _ = mended(&damaged);
        }
    }
}
