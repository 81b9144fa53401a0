//! A book's files, by name.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use crate::documents::refusal::Refusal;

/// The largest file of a book that is unpacked, in bytes; chapters are smaller than a hundredth of it.
const MAX_FILE_BYTES: u64 = 64 << 20;
/// Files in a book.
const MAX_FILES: usize = 50_000;

/// The archive that a book is.
pub(super) struct Files<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
}

/// Why a file isn't had, as fragments of gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Absent,
    Damaged,
    TooLarge,
    Locked,
}

impl Missing {
    pub(super) const fn why(self) -> &'static str {
        match self {
            Self::Absent => "its file is missing from the book",
            Self::Damaged => "its file is damaged",
            Self::TooLarge => "its file unpacks to more than 64 MiB",
            Self::Locked => "it is encrypted",
        }
    }
}

pub(super) fn damaged(why: &str) -> Refusal {
    Refusal::Damaged { format: "EPUB".to_owned(), why: why.to_owned() }
}

impl<'a> Files<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Refusal> {
        if memchr::memmem::find_iter(bytes, b"PK\x01\x02").nth(MAX_FILES).is_some() {
            return Err(damaged("it has more than 50,000 files"));
        }
        let zip =
            ZipArchive::new(Cursor::new(bytes)).map_err(|_| damaged("its list of files is missing or damaged"))?;
        Ok(Self { zip })
    }

    /// The content of one file. Names are compared as they are, and then without regard to case, as old readers do.
    pub(super) fn get(&mut self, name: &str) -> Result<Vec<u8>, Missing> {
        let any_case = || {
            (0..self.zip.len()).find(|&index| {
                let entry = self.zip.by_index_data(index).ok();
                entry.is_some_and(|entry| entry.name().is_ok_and(|found| found.eq_ignore_ascii_case(name)))
            })
        };
        let index = self.zip.index_for_name(name).or_else(any_case).ok_or(Missing::Absent)?;
        if self.zip.by_index_data(index).is_ok_and(|entry| entry.encrypted()) {
            return Err(Missing::Locked);
        }
        let entry = self.zip.by_index(index).map_err(|_| Missing::Damaged)?;
        let mut content = Vec::new();
        let read = entry.take(MAX_FILE_BYTES + 1).read_to_end(&mut content);
        if content.len() as u64 > MAX_FILE_BYTES {
            return Err(Missing::TooLarge);
        }
        read.map_err(|_| Missing::Damaged)?;
        Ok(content)
    }

    /// The first file whose name ends so.
    pub(super) fn first_ending(&self, ending: &str) -> Option<String> {
        let names =
            (0..self.zip.len()).filter_map(|index| Some(self.zip.by_index_data(index).ok()?.name().ok()?.into_owned()));
        names.into_iter().find(|name| name.to_ascii_lowercase().ends_with(ending))
    }
}
