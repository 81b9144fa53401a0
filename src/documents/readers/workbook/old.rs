//! XLS. `calamine` holds each sheet as a rectangle around its cells, so how large those are is looked up first.

use std::io::{Cursor, Read};

use calamine::{Data, Reader, SheetType, SheetVisible, Xls, XlsError};

use super::dates;
use super::display::general;
use super::modern::{bounded, tell_hidden};
use super::pager::{Cell, Pager};
use crate::documents::readers::{Failure, Pages};
use crate::documents::refusal::Refusal;
use crate::documents::units::Unit;

/// The most cells, empty ones too, of all sheets together.
const MAX_CELLS: u64 = 6_000_000;
const FORMAT: &str = "a workbook";
/// `calamine` tells dates from numbers by their formats, and keeps nothing else of those.
const NUMBERS: &str =
    "number formats of XLS are not kept, but for dates: 12 % stands as 0.12, an amount without its currency";

pub(super) fn read(bytes: &[u8], pages: &mut dyn Pages) -> Result<Unit, Failure> {
    let damaged = |why: String| Refusal::Damaged { format: FORMAT.to_owned(), why };
    let area = area(bytes).ok_or_else(|| damaged("its sheets are not found in it".to_owned()))?;
    if area > MAX_CELLS {
        let why = format!("its sheets span {area} cells, most of them empty, and {MAX_CELLS} can be held");
        return Err(damaged(why).into());
    }
    let mut workbook: Xls<_> = Xls::new(Cursor::new(bytes)).map_err(|error| match error {
        XlsError::Password => Refusal::Encrypted { format: "an Excel workbook".to_owned() },
        // What else there is, is in words of the library's.
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
                    let mut cells: Vec<Cell> = Vec::new();
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
        Data::Float(number) => general(*number),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Bool(true) => "TRUE".to_owned(),
        Data::Bool(false) => "FALSE".to_owned(),
        Data::DateTime(date) => {
            let number = date.as_f64();
            let shown = if date.is_duration() {
                dates::elapsed(number)
            } else {
                dates::show(number, number >= 1.0, number.fract() != 0.0, since_1904)
            };
            shown.unwrap_or_else(|| general(number))
        }
        Data::Error(error) => error.to_string(),
        Data::Empty => String::new(),
    }
}

/// How many cells the rectangles around all sheets' cells have. None where there are no records.
fn area(bytes: &[u8]) -> Option<u64> {
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).ok()?;
    let name = ["/Workbook", "/Book"].into_iter().find(|name| file.is_stream(name))?;
    let mut stream = Vec::new();
    // Of a stream that is cut off, what there is; it can't be longer than the file.
    let _ = file.open_stream(name).ok()?.take(bytes.len() as u64).read_to_end(&mut stream);
    let number = |at: usize| Some(u16::from_le_bytes([*stream.get(at)?, *stream.get(at + 1)?]));
    let (mut area, mut at) = (0_u64, 0);
    let mut bounds: Option<[u16; 4]> = None;
    let size = |bounds: Option<[u16; 4]>| {
        bounds.map_or(0, |[top, bottom, left, right]| (u64::from(bottom - top) + 1) * (u64::from(right - left) + 1))
    };
    while let (Some(kind), Some(length)) = (number(at), number(at + 2)) {
        let end = at + 4 + usize::from(length);
        match kind {
            // A sheet begins.
            0x0809 | 0x0409 | 0x0209 | 0x0009 => area += size(bounds.take()),
            // Cells, of every version.
            0x0006
            | 0x0206
            | 0x0406
            | 0x00bd
            | 0x00be
            | 0x00d6
            | 0x00fd
            | 0x0201..=0x0205
            | 0x027e
            | 0x0001..=0x0005 => {
                if let (Some(row), Some(column)) = (number(at + 4), number(at + 6)) {
                    // Several cells in one record: the last column stands at its end.
                    let last = if matches!(kind, 0x00bd | 0x00be) { number(end - 2) } else { None };
                    let last = last.unwrap_or(column).max(column);
                    bounds = Some(bounds.map_or([row, row, column, last], |[top, bottom, left, right]| {
                        [top.min(row), bottom.max(row), left.min(column), right.max(last)]
                    }));
                }
            }
            _ => {}
        }
        at = end;
    }
    (at > 0).then(|| area + size(bounds))
}
