//! The parts of an archive, and their bytes. Sizes stated by an archive are never trusted: bytes are counted while they
//! are unpacked.

use std::collections::HashMap;
use std::io::{Cursor, Error, Read, Result as IoResult};

use flate2::Crc;
use flate2::read::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::salvage::salvage;
use crate::readers::{PageSink, ReadFailure};
use crate::refusal::Refusal;

/// The most bytes that one part may unpack to.
const MAX_PART: u64 = 256 << 20;
/// How many times its packed size a part may unpack to, once it is larger than [`FREE_RATIO`].
const MAX_RATIO: u64 = 400;
const FREE_RATIO: u64 = 32 << 20;
/// The most parts that are read; a presentation of thousand slides has some thousands.
pub(super) const MAX_PARTS: usize = 100_000;

/// An archive's parts by their names in lower case.
#[derive(Debug)]
pub(crate) struct Package<'a> {
    bytes: &'a [u8],
    parts: HashMap<String, PartLocation>,
    /// The archive's own directory can't be used.
    pub(super) is_salvaged: bool,
}

/// The place of a part in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PartLocation {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) method: CompressionMethod,
    /// None if it isn't known.
    pub(super) crc: Option<u32>,
    pub(super) is_encrypted: bool,
}

impl<'a> Package<'a> {
    /// Opens the archive in `bytes`. None if it has no parts.
    pub(crate) fn open(bytes: &'a [u8]) -> Option<Self> {
        let listed = listed(bytes).unwrap_or_default();
        let is_salvaged = listed.is_empty();
        let parts = if is_salvaged { salvage(bytes) } else { listed };
        (!parts.is_empty()).then_some(Self { bytes, parts, is_salvaged })
    }

    /// As [`open`](Self::open), for the reader of a format.
    pub(crate) fn of(bytes: &'a [u8], format: &str, pages: &mut dyn PageSink) -> Result<Self, ReadFailure> {
        let why = || Refusal::Damaged { format: format.to_owned(), why: "nothing can be unpacked of it".to_owned() };
        let package = Self::open(bytes).ok_or_else(why)?;
        if package.is_salvaged {
            pages.note("its table of parts is damaged, and they were looked for one by one".to_owned())?;
        }
        Ok(package)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(&self, name: &str) -> Option<&PartLocation> {
        self.parts.get(&name.to_ascii_lowercase())
    }

    /// The first part, by name, with this ending.
    pub(crate) fn ending(&self, ending: &str) -> Option<&str> {
        self.parts.keys().map(String::as_str).filter(|name| name.ends_with(ending)).min()
    }

    /// Whether the part exists and has a password.
    pub(crate) fn is_locked(&self, name: &str) -> bool {
        self.find(name).is_some_and(|part| part.is_encrypted)
    }

    /// A part's bytes while they are unpacked; none if there is no such part.
    pub(crate) fn part(&self, name: &str) -> Option<IoResult<PartBytes<'a>>> {
        let part = *self.find(name)?;
        Some(PartBytes::new(self.bytes, part))
    }

    /// The first `limit` bytes of a part, as far as they can be read.
    pub(crate) fn head(&self, name: &str, limit: u64) -> Option<Vec<u8>> {
        let mut head = Vec::new();
        // The bytes read before an error are kept.
        let _ = self.part(name)?.ok()?.take(limit).read_to_end(&mut head);
        Some(head)
    }
}

fn listed(bytes: &[u8]) -> Option<HashMap<String, PartLocation>> {
    let archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let mut parts = HashMap::new();
    for index in 0..archive.len().min(MAX_PARTS) {
        let Ok(entry) = archive.by_index_data(index) else { continue };
        let Ok(header) = usize::try_from(entry.header_start()) else { continue };
        let Some(start) = data_start(bytes, header) else { continue };
        let size = usize::try_from(entry.compressed_size()).unwrap_or(usize::MAX);
        let part = PartLocation {
            start,
            end: start.saturating_add(size).min(bytes.len()),
            method: entry.compression(),
            crc: Some(entry.crc32()),
            is_encrypted: entry.encrypted(),
        };
        parts.insert(name_of(entry.name_raw()), part);
    }
    Some(parts)
}

/// The offset of a part's bytes, behind its local header.
pub(super) fn data_start(bytes: &[u8], header: usize) -> Option<usize> {
    let header = bytes.get(header..)?.get(..30)?.starts_with(b"PK\x03\x04").then_some(header)?;
    let number = |at: usize| Some(usize::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
    let start = header + 30 + number(header + 26)? + number(header + 28)?;
    (start <= bytes.len()).then_some(start)
}

/// A part's name in lower case. Some programs write the separators of Windows, and a leading slash.
pub(super) fn name_of(raw: &[u8]) -> String {
    String::from_utf8_lossy(raw).replace('\\', "/").trim_start_matches('/').to_ascii_lowercase()
}

/// A part's bytes as they are unpacked. Ends with an error where they are damaged, or too many.
pub(crate) struct PartBytes<'a> {
    source: PartSource<'a>,
    crc: Crc,
    expected: Option<u32>,
    packed: u64,
    so_far: u64,
}

enum PartSource<'a> {
    Stored(&'a [u8]),
    Deflated(Box<DeflateDecoder<&'a [u8]>>),
}

impl<'a> PartBytes<'a> {
    fn new(bytes: &'a [u8], part: PartLocation) -> IoResult<Self> {
        let packed = bytes.get(part.start..part.end).unwrap_or_default();
        if part.is_encrypted {
            return Err(Error::other("it is encrypted"));
        }
        let source = match part.method {
            CompressionMethod::Stored => PartSource::Stored(packed),
            CompressionMethod::Deflated => PartSource::Deflated(Box::new(DeflateDecoder::new(packed))),
            other => return Err(Error::other(format!("it is packed by {other}, which office programs don't use"))),
        };
        Ok(Self { source, crc: Crc::new(), expected: part.crc, packed: packed.len() as u64, so_far: 0 })
    }
}

impl<'a> PartBytes<'a> {
    /// The bytes of a file that is in no archive.
    pub(super) fn of_bytes(bytes: &'a [u8]) -> Self {
        Self { source: PartSource::Stored(bytes), crc: Crc::new(), expected: None, packed: u64::MAX, so_far: 0 }
    }
}

impl Read for PartBytes<'_> {
    fn read(&mut self, into: &mut [u8]) -> IoResult<usize> {
        let count = match &mut self.source {
            PartSource::Stored(bytes) => bytes.read(into)?,
            PartSource::Deflated(decoder) => decoder.read(into)?,
        };
        self.so_far += count as u64;
        if self.so_far > MAX_PART {
            return Err(Error::other(format!("it unpacks to more than {} MiB", MAX_PART >> 20)));
        }
        if self.so_far > FREE_RATIO && self.so_far / MAX_RATIO > self.packed {
            return Err(Error::other(format!("it unpacks to more than {MAX_RATIO} times its size")));
        }
        self.crc.update(into.get(..count).unwrap_or_default());
        if count == 0 && !into.is_empty() && self.expected.is_some_and(|expected| expected != self.crc.sum()) {
            return Err(Error::other("its checksum is wrong"));
        }
        Ok(count)
    }
}
