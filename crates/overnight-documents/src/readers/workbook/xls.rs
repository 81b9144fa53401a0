//! XLS. `calamine` holds each sheet as a rectangle around its cells: the process that reads has a limit on its memory.

use std::io::Cursor;

use calamine::{Data, Reader, SheetType, SheetVisible, Xls, XlsError};

use super::display::{digits, general};
use super::pager::{Pager, SheetCell};
use super::xlsx::{bounded, tell_hidden};
use super::{code_page, dates};
use crate::readers::{PageSink, ReadFailure};
use crate::refusal::Refusal;
use crate::units::Unit;

const FORMAT: &str = "a workbook";
/// `calamine` distinguishes dates from numbers by their formats, and keeps nothing else of the formats.
const NUMBERS: &str =
    "number formats of XLS are not kept, but for dates: 12 % stands as 0.12, an amount without its currency";

pub(super) fn read(bytes: &[u8], pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
    let damaged = |why: String| Refusal::Damaged { format: FORMAT.to_owned(), why };
    let (options, note) = code_page::options(bytes);
    if let Some(note) = note {
        pages.note(note)?;
    }
    let mut workbook: Xls<_> = Xls::new_with_options(Cursor::new(bytes), options).map_err(|error| match error {
        XlsError::Password => Refusal::Encrypted { format: "an Excel workbook".to_owned() },
        // Other errors have the library's wording.
        _ => damaged("its records are damaged".to_owned()),
    })?;
    let since_1904 = workbook.has_1904_epoch();
    let sheets = workbook.sheets_metadata().to_vec();
    pages.expect(sheets.len() as u64)?;
    let (mut hidden, mut has_numbers) = (0, false);
    let mut writer = Pager::new(pages);
    for (index, sheet) in sheets.iter().enumerate() {
        let is_hidden = sheet.visible != SheetVisible::Visible;
        hidden += u64::from(is_hidden);
        writer.sheet(&sheet.name, is_hidden, (sheets.len() - index - 1) as u64)?;
        match (sheet.typ, workbook.worksheet_range(&sheet.name)) {
            (SheetType::ChartSheet, _) => writer.gap("a chart on it, which isn't read"),
            (SheetType::MacroSheet | SheetType::DialogSheet | SheetType::Vba, _) => {
                writer.gap("a sheet of dialogs or macros, which isn't read");
            }
            (SheetType::WorkSheet, Err(_)) => writer.gap("it can't be read: its records are damaged"),
            (SheetType::WorkSheet, Ok(range)) => {
                let (top, left) = range.start().unwrap_or((0, 0));
                for (row, values) in (u64::from(top) + 1..).zip(range.rows()) {
                    let mut cells: Vec<SheetCell> = Vec::new();
                    for (column, value) in (left..).zip(values) {
                        has_numbers |= matches!(value, Data::Int(_) | Data::Float(_));
                        if *value != Data::Empty {
                            cells.push((column, bounded(show(value, since_1904), &mut writer)));
                        }
                    }
                    writer.row(row, cells)?;
                }
            }
        }
        writer.end()?;
    }
    tell_hidden(pages, hidden)?;
    if has_numbers {
        pages.note(NUMBERS.to_owned())?;
    }
    Ok(Unit::Page)
}

fn show(value: &Data, since_1904: bool) -> String {
    match value {
        Data::Int(number) => number.to_string(),
        // The format isn't known: showing all digits can't be wrong.
        Data::Float(number) if number.abs() >= 1e15 => digits(*number, false).unwrap_or_else(|| general(*number)),
        Data::Float(number) => general(*number),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Bool(true) => "TRUE".to_owned(),
        Data::Bool(false) => "FALSE".to_owned(),
        Data::DateTime(date) => {
            let number = date.as_f64();
            let shown = if date.is_duration() {
                dates::elapsed(number, true)
            } else {
                dates::show(number, number >= 1.0, number.fract() != 0.0, since_1904)
            };
            shown.unwrap_or_else(|| general(number))
        }
        Data::Error(error) => error.to_string(),
        Data::Empty => String::new(),
    }
}
