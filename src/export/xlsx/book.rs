//! The workbook: its sheets, whose names differ, and the formats of its cells.

use super::cell_look::CellFormats;
use rust_xlsxwriter::{Workbook, XlsxError};
use std::{collections::HashSet, path::Path};

/// Letters of a sheet's name, so that there is room for a number behind it.
const NAME_LETTERS: usize = 24;
/// Letters that are not allowed in a sheet's name.
const NO_LETTERS: [char; 7] = ['*', '?', ':', '[', ']', '\\', '/'];
/// A name that Excel reserves.
const RESERVED: &str = "history";

pub(super) struct ExcelBook {
    pub(super) workbook: Workbook,
    pub(super) formats: CellFormats,
    /// Number of texts that did not fit into a cell.
    pub(super) cut: u64,
    /// The names of all sheets, in small letters.
    names: HashSet<String>,
    sheets: usize,
}

impl ExcelBook {
    /// Temporary data is written to `folder`.
    pub(super) fn new(folder: &Path) -> Result<Self, XlsxError> {
        let mut workbook = Workbook::new();
        workbook.set_tempdir(folder)?;
        let names = HashSet::from([RESERVED.to_owned()]);
        Ok(Self { workbook, formats: CellFormats::default(), cut: 0, names, sheets: 0 })
    }

    /// Adds a sheet; if its name is taken, a number is added. Returns its number in the workbook and its name.
    pub(super) fn add_sheet(&mut self, name: &str) -> Result<(usize, String), XlsxError> {
        let plain: String = name
            .chars()
            .map(|letter| if letter.is_control() || NO_LETTERS.contains(&letter) { '_' } else { letter })
            .collect();
        let plain = cut(plain.trim_matches(['\'', ' ']), NAME_LETTERS).0.trim_end_matches(['\'', ' ']);
        let plain = if plain.is_empty() { "list" } else { plain };
        let mut name = plain.to_owned();
        for number in 2.. {
            if self.names.insert(name.to_lowercase()) {
                break;
            }
            name = format!("{plain} {number}");
        }
        self.workbook.add_worksheet_with_constant_memory()?.set_name(&name)?;
        self.sheets += 1;
        Ok((self.sheets - 1, name))
    }
}

/// At most `most` letters of a text, counted as UTF-16, and whether it was cut.
pub(super) fn cut(text: &str, most: usize) -> (&str, bool) {
    let mut letters = 0;
    for (at, letter) in text.char_indices() {
        letters += letter.len_utf16();
        if letters > most {
            return (&text[..at], true);
        }
    }
    (text, false)
}
