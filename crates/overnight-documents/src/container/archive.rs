//! ZIP archives.

use std::collections::HashSet;
use std::io::Cursor;

use chrono::NaiveDate;
use zip::{CompressionMethod, DateTime, ZipArchive};

use super::bounds::{AGAIN, MAX_ENTRIES, UnpackBudget, UnpackError, UnpackedMember, bomb};
use super::opened::{ContainerEntry, MemberKind};
use crate::format::ending;
use crate::member_names::{EntryName, MemberNames};
use crate::refusal::Refusal;

/// The name of the format in refusals.
pub(super) const FORMAT: &str = "a ZIP archive";
/// The maximum number of entry signatures in an archive's table of contents, counted before the table is read. Archives
/// stored inside have such signatures too, so that there may be more of them than entries.
const MAX_MARKS: usize = 200_000;
/// If one of these is at the top of an archive, the archive is one document: office files, books, packages of programs.
const OF_ONE_DOCUMENT: &[&str] = &[
    "[Content_Types].xml",
    "_rels/.rels",
    "mimetype",
    "META-INF/container.xml",
    "Index/Document.iwa",
    "Index.zip",
    "index.apxl",
    "index.apxl.gz",
    "buildVersionHistory.plist",
];

/// The reason for a file that can't be unpacked.
const LOCKED: &str = "it has a password: unpack the archive and give the documents in it";
const PACKED_OTHERWISE: &str = "it is packed in a way that isn't read: unpack the archive and give the documents in it";

/// The endings of the names of office documents.
const OFFICE: &[&str] = &[
    "docx", "docm", "dotx", "xlsx", "xlsm", "xltx", "xlsb", "pptx", "pptm", "ppsx", "odt", "ods", "odp", "odg", "epub",
];

/// An archive whose table of contents has been read.
pub(super) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
}

/// Whether a file may be an archive, by its first bytes.
pub(super) fn begins_like_one(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// The day of an entry. A program that knows no date writes the first day of the format.
fn day_of(time: DateTime) -> Option<NaiveDate> {
    let day = NaiveDate::from_ymd_opt(time.year().into(), time.month().into(), time.day().into());
    day.filter(|_| (time.year(), time.month(), time.day()) != (1980, 1, 1))
}

impl<'a> Archive<'a> {
    /// Reads the table of contents. `None`: not an archive, or an archive that is one document as a whole.
    pub(super) fn open(name: &str, bytes: &'a [u8]) -> Result<Option<Self>, Refusal> {
        if !begins_like_one(bytes) {
            return Ok(None);
        }
        let too_many = || Err(bomb(FORMAT, "holds more than 20,000 files"));
        if memchr::memmem::find_iter(bytes, b"PK\x01\x02").nth(MAX_MARKS).is_some() {
            return too_many();
        }
        let mut zip = match ZipArchive::new(Cursor::new(bytes)) {
            Ok(zip) => zip,
            // The reader of an office format describes a broken file better.
            Err(_) if OFFICE.contains(&ending(name).as_str()) => return Ok(None),
            Err(_) => {
                let why = "its table of contents is missing or damaged".to_owned();
                return Err(Refusal::Damaged { format: FORMAT.to_owned(), why });
            }
        };
        if OF_ONE_DOCUMENT.iter().any(|name| zip.index_for_name(name).is_some()) {
            return Ok(None);
        }
        if zip.len() as u64 > MAX_ENTRIES {
            return too_many();
        }
        if zip.has_overlapping_entries().unwrap_or(false) {
            return Err(bomb(FORMAT, "unpacks to far more than it is, because its files overlap one another"));
        }
        Ok(Some(Self { zip }))
    }

    /// The entries of the archive, in their order.
    pub(super) fn inside(&self) -> Result<Vec<ContainerEntry>, Refusal> {
        let mut names = MemberNames::default();
        let mut inside: Vec<ContainerEntry> = Vec::new();
        // A folder that is left out is reported once, not with each file in it.
        let mut left_out = HashSet::new();
        let (mut locked, mut files) = (0_usize, 0_usize);
        for index in 0..self.zip.len() {
            let Ok(entry) = self.zip.by_index_data(index) else { continue };
            if entry.is_dir() {
                continue;
            }
            let raw = entry.name().unwrap_or_default();
            let (name, what) = match names.of_path(&raw) {
                EntryName::LeftOut(name, why) => {
                    if !left_out.insert(name.clone()) {
                        continue;
                    }
                    (name, MemberKind::LeftOut(why))
                }
                EntryName::Document(name) if entry.is_symlink() => {
                    (name, MemberKind::LeftOut("a symbolic link".to_owned()))
                }
                EntryName::Document(name) => {
                    files += 1;
                    locked += usize::from(entry.encrypted());
                    let what = match entry.compression() {
                        _ if entry.encrypted() => MemberKind::Faulty(LOCKED),
                        CompressionMethod::Stored | CompressionMethod::Deflated => MemberKind::Document(index),
                        _ => MemberKind::Faulty(PACKED_OTHERWISE),
                    };
                    (name, what)
                }
            };
            let dated = entry.last_modified().and_then(day_of);
            inside.push(ContainerEntry { name, what, dated });
        }
        if locked > 0 && locked == files {
            return Err(Refusal::Encrypted { format: FORMAT.to_owned() });
        }
        if inside.is_empty() {
            let format = "an empty ZIP archive".to_owned();
            return Err(Refusal::Unsupported { format, advice: "leave it out".to_owned() });
        }
        if self.zip.metadata().has_duplicate_names() {
            let why = "some names stand in the archive more than once: only the last of each is read";
            let what = MemberKind::LeftOut(why.to_owned());
            inside.push(ContainerEntry { name: "*".to_owned(), what, dated: None });
        }
        Ok(inside)
    }

    /// Unpacks the entry with this number.
    pub(super) fn unpack(
        &mut self,
        index: usize,
        spent: &mut UnpackBudget,
        wanted: &dyn Fn(&[u8]) -> bool,
    ) -> Result<UnpackedMember, UnpackError> {
        let misplaced = || UnpackError::Itself("its place in the archive is wrong".to_owned(), AGAIN);
        let mut entry = self.zip.by_index(index).map_err(|_| misplaced())?;
        // A stored entry states its size in two places, and only one of them is counted.
        let packed = match entry.compression() {
            CompressionMethod::Stored => u64::MAX,
            _ => entry.compressed_size(),
        };
        spent.unpack(&mut entry, packed, FORMAT, wanted)
    }
}
