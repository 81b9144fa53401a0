//! XLSB: the same parts as XLSX, each a row of records (MS-XLSB, 2.1.4) instead of XML. `calamine` reads it too, but
//! keeps no number formats and panics on some workbooks: of 96 of public test suites it gives the words of `LibreOffice`'s text
//! for 61, this for 70, and most of the others differ by how dates and currencies are written.

use std::collections::HashMap;
use std::io::{BufReader, Read};

use super::beside::SheetExtras;
use super::display::NumberFormat;
use super::pager::{Pager, SheetCell};
use super::styles::built_in;
use super::xlsx::{bounded, tell_hidden};
use crate::readers::PageSink;
use crate::readers::package::{BrokenPart, Halt, Package, Relations};

/// The largest record: a text has at most 32,767 characters, and larger records of other kinds aren't read.
const MAX_RECORD: usize = 1 << 20;
/// The most sheets, shared texts and styles that are kept, and bytes of texts.
const MAX_SHEETS: usize = 10_000;
const MAX_STRINGS: usize = 5_000_000;
const MAX_STYLES: usize = 65_536;
const MAX_TEXT: usize = 256 << 20;
const MAX_COLUMNS: u32 = 16_384;

/// Numbers of records.
mod kind {
    pub(super) const ROW: u32 = 0;
    pub(super) const BLANK: u32 = 1;
    pub(super) const RK: u32 = 2;
    pub(super) const ERROR: u32 = 3;
    pub(super) const BOOL: u32 = 4;
    pub(super) const REAL: u32 = 5;
    pub(super) const TEXT: u32 = 6;
    pub(super) const SHARED: u32 = 7;
    pub(super) const FORMULA_TEXT: u32 = 8;
    pub(super) const FORMULA_REAL: u32 = 9;
    pub(super) const FORMULA_BOOL: u32 = 10;
    pub(super) const FORMULA_ERROR: u32 = 11;
    /// The first of the cell records without a column: a blank cell …
    pub(super) const SHORT_BLANK: u32 = 12;
    /// … to a shared text, in the order of their long forms.
    pub(super) const SHORT_SHARED: u32 = 18;
    pub(super) const SHARED_ITEM: u32 = 19;
    pub(super) const FORMAT: u32 = 44;
    pub(super) const STYLE: u32 = 47;
    pub(super) const RICH_TEXT: u32 = 62;
    pub(super) const SHEET_END: u32 = 130;
    pub(super) const SHEET: u32 = 156;
    pub(super) const WORKBOOK: u32 = 153;
    pub(super) const STYLES_BEGIN: u32 = 617;
    pub(super) const STYLES_END: u32 = 618;
}

#[derive(Debug, Default)]
struct SharedParts {
    strings: Vec<String>,
    formats: Vec<NumberFormat>,
    /// For each style, its index in `formats`.
    styles: Vec<usize>,
    since_1904: bool,
}

struct BinarySheet {
    name: String,
    is_hidden: bool,
    relation: String,
}

pub(super) fn read(package: &Package<'_>, pages: &mut dyn PageSink) -> Result<(), Halt> {
    let main = Relations::main(package, "xl/workbook.bin");
    let relations = Relations::of(package, &main).unwrap_or_default();
    let mut common = SharedParts::default();
    let mut sheets = Vec::new();
    each(package, &main, |kind, record| {
        match kind {
            kind::WORKBOOK => common.since_1904 = record.first().is_some_and(|flags| flags & 1 == 1),
            kind::SHEET if sheets.len() < MAX_SHEETS => {
                let (relation, next) = wide(record, 8);
                let (name, _) = wide(record, next);
                sheets.push(BinarySheet { name, is_hidden: number(record, 0) != 0, relation });
            }
            _ => {}
        }
        Ok(())
    })?;
    if sheets.is_empty() {
        return Err(BrokenPart(format!("its part {main} names no sheets")).into());
    }
    pages.expect(sheets.len() as u64)?;
    let mut lost = None;
    for kind in ["sharedStrings", "styles"] {
        if let Some(part) = relations.first(kind) {
            lost = common.fill(package, part).err().or(lost);
        }
    }
    let hidden = sheets.iter().filter(|sheet| sheet.is_hidden).count();
    let mut extras = SheetExtras::default();
    let mut writer = Pager::new(pages);
    for (at, sheet) in sheets.iter().enumerate() {
        writer.sheet(&sheet.name, sheet.is_hidden, (sheets.len() - at - 1) as u64)?;
        if let Some(broken) = &lost {
            writer.gap(&format!("texts or formats of cells may be missing, because {broken}"));
        }
        match relations.get(&sheet.relation) {
            Some(relation) if relation.kind == "worksheet" => {
                match read_sheet(package, &relation.part, &common, &mut writer) {
                    Ok(()) => {}
                    Err(Halt::Broken(broken)) => writer.gap(&format!("cut off, because {broken}")),
                    Err(Halt::Failure(failure)) => return Err(failure.into()),
                }
                for text in extras.read(package, &relation.part) {
                    writer.beside(text);
                }
            }
            Some(_) => writer.gap("a chart, dialogs or macros, which aren't read"),
            None => writer.gap("its part is missing"),
        }
        writer.end()?;
    }
    extras.tell(pages)?;
    Ok(tell_hidden(pages, hidden as u64)?)
}

impl SharedParts {
    fn fill(&mut self, package: &Package<'_>, part: &str) -> Result<(), BrokenPart> {
        let mut codes: HashMap<u32, String> = HashMap::new();
        let mut known: HashMap<u32, usize> = HashMap::new();
        let (mut is_inside, mut held) = (false, 0);
        let read = each(package, part, |kind, record| {
            match kind {
                kind::SHARED_ITEM => {
                    let text = wide(record, 1).0;
                    held += text.len();
                    if self.strings.len() >= MAX_STRINGS || held > MAX_TEXT {
                        return Err(BrokenPart(format!("its part {part} has too many texts")).into());
                    }
                    self.strings.push(text);
                }
                kind::FORMAT if codes.len() < MAX_STYLES => {
                    codes.insert(short(record, 0), wide(record, 2).0);
                }
                kind::STYLES_BEGIN => is_inside = true,
                kind::STYLES_END => is_inside = false,
                kind::STYLE if is_inside && self.styles.len() < MAX_STYLES => {
                    let id = short(record, 2);
                    let place = *known.entry(id).or_insert_with(|| {
                        let code = codes.get(&id).map(String::as_str);
                        self.formats.push(NumberFormat::parse(code.unwrap_or_else(|| built_in(id))));
                        self.formats.len() - 1
                    });
                    self.styles.push(place);
                }
                _ => {}
            }
            Ok(())
        });
        match read {
            Err(Halt::Broken(broken)) => Err(broken),
            Err(Halt::Failure(_)) | Ok(()) => Ok(()),
        }
    }

    fn show(&self, value: f64, record: &[u8]) -> String {
        let style = usize::try_from(number(record, 4) & 0x00ff_ffff).unwrap_or(0);
        let format = self.styles.get(style).and_then(|place| self.formats.get(*place));
        format.unwrap_or(&NumberFormat::General).show(value, self.since_1904)
    }

    /// The text of a cell's record.
    fn cell(&self, kind: u32, record: &[u8], pager: &mut Pager<'_>) -> Option<String> {
        Some(match kind {
            kind::RK => self.show(packed(number(record, 8)), record),
            kind::REAL | kind::FORMULA_REAL => self.show(real(record, 8), record),
            kind::BOOL | kind::FORMULA_BOOL => if record.get(8) == Some(&0) { "FALSE" } else { "TRUE" }.to_owned(),
            kind::ERROR | kind::FORMULA_ERROR => error(record.get(8).copied().unwrap_or_default()).to_owned(),
            kind::TEXT | kind::FORMULA_TEXT => wide(record, 8).0,
            kind::RICH_TEXT => wide(record, 9).0,
            kind::SHARED => {
                let text = usize::try_from(number(record, 8)).ok().and_then(|index| self.strings.get(index));
                if text.is_none() {
                    pager.gap("texts that the file hasn't got");
                }
                text.cloned().unwrap_or_default()
            }
            _ => return None,
        })
    }
}

fn read_sheet(package: &Package<'_>, part: &str, parts: &SharedParts, pager: &mut Pager<'_>) -> Result<(), Halt> {
    let mut row = 0_u64;
    let mut cells: Vec<SheetCell> = Vec::new();
    // The first column behind the row's last cell, for cells without a column.
    let mut next = 0;
    let mut is_over = false;
    let mut long = Vec::new();
    let read = each(package, part, |kind, record| {
        is_over |= kind == kind::SHEET_END;
        if is_over {
            return Ok(());
        }
        let (kind, record) = match kind {
            kind::SHORT_BLANK..=kind::SHORT_SHARED => {
                long.clear();
                long.extend_from_slice(&u32::to_le_bytes(next));
                long.extend_from_slice(record);
                (kind - kind::SHORT_BLANK + kind::BLANK, &long[..])
            }
            _ => (kind, record),
        };
        let text = parts.cell(kind, record, pager);
        if kind == kind::ROW {
            pager.row(row, std::mem::take(&mut cells))?;
            row = u64::from(number(record, 0)) + 1;
            next = 0;
        } else if text.is_some() || kind == kind::BLANK {
            let column = number(record, 0);
            if column >= MAX_COLUMNS || column < next {
                return Err(BrokenPart(format!("the cells of row {row} in its part {part} make no sense")).into());
            }
            next = column + 1;
            cells.extend(text.filter(|text| !text.is_empty()).map(|text| (column, bounded(text, pager))));
        }
        Ok(())
    });
    // Content read before damage is kept.
    pager.row(row, cells)?;
    read
}

/// Reports each record of a part: its number and its bytes.
fn each(package: &Package<'_>, part: &str, mut tell: impl FnMut(u32, &[u8]) -> Result<(), Halt>) -> Result<(), Halt> {
    let broken = |why: &dyn std::fmt::Display| BrokenPart(format!("its part {part} can't be read: {why}"));
    let bytes = package.part(part).ok_or_else(|| BrokenPart(format!("its part {part} is missing")))?;
    let mut bytes = BufReader::with_capacity(1 << 16, bytes.map_err(|error| broken(&error))?);
    let mut record = Vec::new();
    loop {
        let Some(kind) = variable(&mut bytes, 2).map_err(|error| broken(&error))? else { return Ok(()) };
        let size = variable(&mut bytes, 4).map_err(|error| broken(&error))?.unwrap_or_default();
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        record.clear();
        let kept = size.min(MAX_RECORD);
        (&mut bytes).take(kept as u64).read_to_end(&mut record).map_err(|error| broken(&error))?;
        if record.len() < kept {
            return Err(broken(&"it is cut off").into());
        }
        let rest = (size - kept) as u64;
        std::io::copy(&mut (&mut bytes).take(rest), &mut std::io::sink()).map_err(|error| broken(&error))?;
        tell(kind, &record)?;
    }
}

/// A number of up to `most` bytes with seven bits each. None at the end.
fn variable(bytes: &mut impl Read, most: u32) -> std::io::Result<Option<u32>> {
    let mut number = 0;
    for place in 0..most {
        let mut byte = [0];
        if bytes.read(&mut byte)? == 0 {
            return Ok(None);
        }
        number |= u32::from(byte[0] & 0x7f) << (7 * place);
        if byte[0] & 0x80 == 0 {
            break;
        }
    }
    Ok(Some(number))
}

fn short(record: &[u8], at: usize) -> u32 {
    let bytes = record.get(at..at + 2).and_then(|bytes| bytes.try_into().ok()).unwrap_or_default();
    u32::from(u16::from_le_bytes(bytes))
}

fn number(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(record.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).unwrap_or_default())
}

fn real(record: &[u8], at: usize) -> f64 {
    f64::from_le_bytes(record.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).unwrap_or_default())
}

/// A number packed into 30 bits: whole or the head of a real one, and whether it is a hundredth.
fn packed(value: u32) -> f64 {
    let number = if value & 2 == 2 {
        f64::from(value.cast_signed() >> 2)
    } else {
        f64::from_bits(u64::from(value & 0xffff_fffc) << 32)
    };
    if value & 1 == 1 { number / 100.0 } else { number }
}

/// A text preceded by its length, and its end.
fn wide(record: &[u8], at: usize) -> (String, usize) {
    let length = number(record, at);
    if length == u32::MAX {
        return (String::new(), at + 4);
    }
    let length = usize::try_from(length).unwrap_or(usize::MAX).min(record.len());
    let end = (at + 4).saturating_add(2 * length).min(record.len());
    let units = record.get(at + 4..end).unwrap_or_default().chunks_exact(2);
    let units: Vec<u16> = units.map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    (String::from_utf16_lossy(&units), end)
}

fn error(code: u8) -> &'static str {
    match code {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0f => "#VALUE!",
        0x17 => "#REF!",
        0x1d => "#NAME?",
        0x24 => "#NUM!",
        0x2a => "#N/A",
        0x2b => "#GETTING_DATA",
        _ => "#ERROR!",
    }
}

#[cfg(test)]
mod tests {
    use super::{error, packed};
    use crate::extract::extract;
    use crate::readers::package::sample::{relations, zip_bytes};

    /// A record: its number in one or two bytes, its length, its content.
    fn record(kind: u32, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        if kind < 128 {
            bytes.push(u8::try_from(kind).unwrap());
        } else {
            bytes.extend([u8::try_from(kind & 0x7f | 0x80).unwrap(), u8::try_from(kind >> 7).unwrap()]);
        }
        bytes.push(u8::try_from(content.len()).unwrap());
        bytes.extend(content);
        bytes
    }

    fn wide(text: &str) -> Vec<u8> {
        let units: Vec<u16> = text.encode_utf16().collect();
        let length = u32::try_from(units.len()).unwrap().to_le_bytes();
        length.into_iter().chain(units.into_iter().flat_map(u16::to_le_bytes)).collect()
    }

    fn cell(kind: u32, column: u32, style: u32, value: &[u8]) -> Vec<u8> {
        record(kind, &[&column.to_le_bytes(), &style.to_le_bytes(), value].concat())
    }

    fn workbook(sheet: &[u8]) -> Vec<u8> {
        let sheet_record = [&[0; 8][..], &wide("r1"), &wide("Prices")].concat();
        let styles = [
            record(44, &[&[164, 0][..], &wide("0.00\" EUR\"")].concat()),
            record(617, &[]),
            record(47, &[0, 0, 0, 0]),
            record(47, &[0, 0, 164, 0]),
            record(618, &[]),
        ]
        .concat();
        let types =
            b"<Types><Override ContentType=\"application/vnd.ms-excel.sheet.binary.macroEnabled.main\"/></Types>";
        let all =
            relations(&[("r1", "worksheet", "s.bin"), ("r2", "sharedStrings", "t.bin"), ("r3", "styles", "f.bin")]);
        zip_bytes(&[
            ("[Content_Types].xml", types),
            ("xl/workbook.bin", &record(156, &sheet_record)),
            ("xl/_rels/workbook.bin.rels", all.as_bytes()),
            ("xl/t.bin", &record(19, &[&[0][..], &wide("Lamp")].concat())),
            ("xl/f.bin", &styles),
            ("xl/s.bin", sheet),
        ])
    }

    #[test]
    fn cells_are_shown_as_a_person_sees_them() {
        let sheet = [
            record(0, &0_u32.to_le_bytes()),
            cell(6, 0, 0, &wide("Item")),
            cell(6, 1, 0, &wide("Price")),
            record(0, &1_u32.to_le_bytes()),
            cell(7, 0, 0, &0_u32.to_le_bytes()),
            cell(5, 1, 1, &12.5_f64.to_le_bytes()),
            record(0, &2_u32.to_le_bytes()),
            cell(10, 0, 0, &[1]),
            cell(3, 1, 0, &[0x2a]),
        ]
        .concat();
        let read = extract("a.xlsb", &workbook(&sheet)).unwrap();
        assert_eq!(read.text, "# Prices\n\n| Item | Price |\n| --- | --- |\n| Lamp | 12.50 EUR |\n| TRUE | #N/A |\n");
        assert_eq!((read.gaps, read.notes), (vec![], vec![]));
        let cut = extract("a.xlsb", &workbook(&sheet[..sheet.len() - 3])).unwrap();
        assert_eq!(cut.gaps[0].why, "cut off, because its part xl/s.bin can't be read: it is cut off");
        assert!(cut.text.contains("12.50 EUR"));
    }

    #[test]
    fn cells_that_name_no_column_are_behind_the_one_before() {
        let short = |kind: u32, style: u32, value: &[u8]| record(kind, &[&style.to_le_bytes(), value].concat());
        let sheet = [
            record(0, &0_u32.to_le_bytes()),
            cell(6, 0, 0, &wide("Item")),
            short(17, 0, &wide("Price")),
            short(12, 0, &[]),
            short(17, 0, &wide("Sold")),
            record(0, &1_u32.to_le_bytes()),
            short(18, 0, &0_u32.to_le_bytes()),
            short(16, 1, &12.5_f64.to_le_bytes()),
            cell(1, 2, 0, &[]),
            short(15, 0, &[1]),
            record(0, &2_u32.to_le_bytes()),
            cell(7, 0, 0, &0_u32.to_le_bytes()),
            short(13, 1, &(12_u32 << 2 | 2).to_le_bytes()),
            short(14, 0, &[0x2a]),
            // Records behind the sheet's end don't belong to it.
            record(130, &[]),
            record(0, &3_u32.to_le_bytes()),
            cell(6, 0, 0, &wide("behind")),
        ]
        .concat();
        let read = extract("a.xlsb", &workbook(&sheet)).unwrap();
        let lines = "| Item | Price |  | Sold |\n| --- | --- | --- | --- |\n| Lamp | 12.50 EUR |  | TRUE |\n| Lamp | 12.00 EUR | #N/A |  |\n";
        assert_eq!(read.text, format!("# Prices\n\n{lines}"));
        assert_eq!((read.gaps, read.notes), (vec![], vec![]));
    }

    #[test]
    fn packed_numbers() {
        let minus_five = (-5_i32 << 2).cast_unsigned() | 2;
        let numbers = [12 << 2 | 2, 1_234 << 2 | 3, 0x3ff0_0000, minus_five].map(|value| packed(value).to_string());
        assert_eq!(numbers, ["12", "12.34", "1", "-5"]);
        assert_eq!(error(0x17), "#REF!");
    }
}
