//! XLSX: a sheet is a part, and its cells are read one after another.

use super::beside::{SheetExtras, link_targets};
use super::display::NumberFormat;
use super::pager::{MAX_CELL, Pager, SheetCell};
use super::rich_text::{RichText, SetText};
use super::strings::Strings;
use super::styles::CellStyles;
use crate::links;
use crate::readers::package::{BrokenPart, Element, Halt, Package, Relations, Xml, XmlNode};
use crate::readers::{PageSink, Stopped, note_counts};

/// The most rows and columns that Excel has.
const MAX_ROWS: u64 = 1_048_576;
const MAX_COLUMNS: u32 = 16_384;
/// The most sheets that are read.
const MAX_SHEETS: usize = 10_000;

#[derive(Debug)]
struct Sheet {
    name: String,
    is_hidden: bool,
    relation: String,
}

/// The data to which cells refer.
#[derive(Debug, Default)]
struct WorkbookParts {
    strings: Strings,
    styles: CellStyles,
    since_1904: bool,
}

pub(super) fn read(package: &Package<'_>, pages: &mut dyn PageSink) -> Result<(), Halt> {
    let main = Relations::main(package, "xl/workbook.xml");
    let relations = Relations::of(package, &main).unwrap_or_default();
    let (sheets, behind, since_1904) = sheets(package, &main)?;
    if sheets.is_empty() {
        return Err(BrokenPart(format!("its part {main} names no sheets")).into());
    }
    pages.expect(sheets.len() as u64)?;
    let part = |kind: &str| relations.first(kind).unwrap_or_default();
    let (strings, mut lost) = Strings::read(package, part("sharedStrings"));
    let styles = CellStyles::read(package, part("styles")).unwrap_or_else(|broken| {
        lost.get_or_insert(broken);
        CellStyles::default()
    });
    let shared = WorkbookParts { strings, styles, since_1904 };

    let hidden = sheets.iter().filter(|sheet| sheet.is_hidden).count();
    let mut beside = SheetExtras::default();
    let mut writer = Pager::new(pages);
    for (index, sheet) in sheets.iter().enumerate() {
        writer.sheet(&sheet.name, sheet.is_hidden, (sheets.len() - index - 1) as u64)?;
        if let Some(broken) = &lost {
            writer.gap(&format!("texts or formats of cells may be missing, because {broken}"));
        }
        match relations.get(&sheet.relation) {
            Some(relation) if relation.kind == "worksheet" => {
                match read_sheet(package, &relation.part, &shared, &mut writer) {
                    Ok(()) => {}
                    Err(Halt::Broken(broken)) => writer.gap(&format!("cut off, because {broken}")),
                    Err(Halt::Failure(failure)) => return Err(failure.into()),
                }
                for text in beside.read(package, &relation.part) {
                    writer.beside(text);
                }
            }
            Some(relation) => writer.gap(match relation.kind.as_str() {
                "chartsheet" => "a chart on it, which isn't read",
                _ => "a sheet of dialogs or macros, which isn't read",
            }),
            None => writer.gap("its part is missing"),
        }
        if behind > 0 && index + 1 == sheets.len() {
            writer.gap(&format!("{behind} sheets behind it, which are not read"));
        }
        writer.end()?;
    }
    beside.tell(pages)?;
    Ok(tell_hidden(pages, hidden as u64)?)
}

/// The sheets that are read, how many there are behind them, and whether days are counted from 1904.
fn sheets(package: &Package<'_>, main: &str) -> Result<(Vec<Sheet>, u64, bool), BrokenPart> {
    let mut xml = Xml::need(package, main)?;
    let (mut sheets, mut behind, mut since_1904) = (Vec::new(), 0, false);
    xml.each("", |element, _| {
        match element.name() {
            "workbookPr" => since_1904 = element.value("date1904").is_some() && element.is_on("date1904"),
            "sheet" if sheets.len() < MAX_SHEETS => sheets.push(Sheet {
                name: element.value("name").unwrap_or_default(),
                is_hidden: element.value("state").is_some_and(|state| state != "visible"),
                relation: element.prefixed("id").unwrap_or_default(),
            }),
            "sheet" => behind += 1,
            _ => {}
        }
        Ok(())
    })?;
    Ok((sheets, behind, since_1904))
}

fn read_sheet(package: &Package<'_>, part: &str, shared: &WorkbookParts, pager: &mut Pager<'_>) -> Result<(), Halt> {
    let targets = link_targets(package, part);
    let mut xml = Xml::need(package, part)?;
    let (mut row, mut column) = (0, 0);
    let mut cells: Vec<SheetCell> = Vec::new();
    let read = loop {
        match xml.next() {
            Ok(XmlNode::Start(element)) => match element.name() {
                "row" => {
                    row = element.number("r").unwrap_or(row + 1);
                    column = 0;
                    if row > MAX_ROWS {
                        break Err(BrokenPart(format!("it has a row {row}, and Excel has {MAX_ROWS}")).into());
                    }
                }
                "c" => {
                    column = element.value("r").and_then(|place| column_of(&place)).unwrap_or(column);
                    if column >= MAX_COLUMNS {
                        break Err(BrokenPart(format!("it has more than {MAX_COLUMNS} columns")).into());
                    }
                    match read_cell(&element, &mut xml, shared, pager) {
                        Ok(text) if text.is_empty() => {}
                        Ok(mut text) => {
                            let target = if targets.is_empty() { None } else { targets.get(&(row, column)) };
                            text.push_str(&target.and_then(|target| links::behind(&text, target)).unwrap_or_default());
                            cells.push((column, text));
                        }
                        Err(broken) => break Err(broken.into()),
                    }
                    column += 1;
                }
                _ => {}
            },
            Ok(XmlNode::End(name)) if name == "row" => give(row, &mut cells, pager)?,
            Ok(XmlNode::Over) => break Ok(()),
            Ok(XmlNode::End(_) | XmlNode::Text(_)) => {}
            Err(broken) => break Err(broken.into()),
        }
    };
    // Content read before damage is kept.
    give(row, &mut cells, pager)?;
    read
}

fn give(row: u64, cells: &mut Vec<SheetCell>, pager: &mut Pager<'_>) -> Result<(), Halt> {
    let mut cells = std::mem::take(cells);
    // The cells come in order, unless the file is unusual.
    if !cells.is_sorted_by(|one, other| one.0 < other.0) {
        cells.sort_by_key(|(column, _)| *column);
        cells.dedup_by_key(|(column, _)| *column);
    }
    Ok(pager.row(row, cells)?)
}

fn read_cell(
    element: &Element,
    xml: &mut Xml<'_>,
    shared: &WorkbookParts,
    pager: &mut Pager<'_>,
) -> Result<String, BrokenPart> {
    let kind = element.value("t").unwrap_or_default();
    let style = element.number("s").unwrap_or(0);
    let (mut value, mut formula, mut inline) = (None, None, RichText::default());
    xml.each("c", |inner, xml| {
        match inner.name() {
            "v" => value = Some(xml.text()?).filter(|value| !value.is_empty()),
            "f" => formula = Some(xml.text()?),
            _ => inline.learn(inner, xml)?,
        }
        Ok(())
    })?;
    let SetText { text: inline, mut has_fonts } = inline.take();
    let target = formula.as_deref().and_then(formula_target);
    let text = match (value, formula) {
        (None, Some(formula)) if !formula.is_empty() && inline.is_empty() => {
            pager.gap("formulas whose results aren't kept in the file; they stand as formulas");
            format!("={formula}")
        }
        (None, _) => inline,
        (Some(value), _) => match kind.as_str() {
            "s" => {
                let shared = value.trim().parse().ok().and_then(|index| shared.strings.get(index));
                if shared.is_none() {
                    pager.gap("texts that the file hasn't got");
                }
                has_fonts = shared.is_some_and(|shared| shared.has_fonts);
                shared.map(|shared| shared.text.to_owned()).unwrap_or_default()
            }
            "b" => if value.trim() == "0" { "FALSE" } else { "TRUE" }.to_owned(),
            "str" | "e" | "inlineStr" => value,
            "d" => value.replace('T', " "),
            _ => match value.trim().parse::<f64>() {
                Ok(number) => {
                    let format = shared.styles.format(style).unwrap_or(&NumberFormat::General);
                    format.show(number, shared.since_1904)
                }
                Err(_) => value,
            },
        },
    };
    let font = shared.styles.font(style).filter(|_| !has_fonts);
    let mut text = font.map_or_else(|| text.clone(), |font| font.shown(text.clone()));
    text.push_str(&target.and_then(|target| links::behind(&text, &target)).unwrap_or_default());
    Ok(bounded(text, pager))
}

/// The target of a link formula, if the formula states it itself.
fn formula_target(formula: &str) -> Option<String> {
    let rest = formula.trim_start().strip_prefix("HYPERLINK(")?.trim_start().strip_prefix('"')?;
    rest.split('"').next().map(str::to_owned)
}

/// A cell's text, cut to the maximum length of a cell.
pub(super) fn bounded(mut text: String, pager: &mut Pager<'_>) -> String {
    if text.len() > MAX_CELL && text.chars().count() > MAX_CELL {
        let end = text.char_indices().nth(MAX_CELL).map_or(text.len(), |(at, _)| at);
        text.truncate(end);
        pager.gap("a cell on it is too long, and its end was left out");
    }
    text
}

/// The column of a place like `BC12`, from 0.
pub(super) fn column_of(place: &str) -> Option<u32> {
    let letters = place.chars().take_while(char::is_ascii_alphabetic).take(4);
    let column = letters.fold(0_u32, |column, letter| column * 26 + u32::from(letter.to_ascii_uppercase()) - 64);
    column.checked_sub(1)
}

/// Reports how many sheets are hidden.
pub(super) fn tell_hidden(pages: &mut dyn PageSink, hidden: u64) -> Result<(), Stopped> {
    note_counts(
        pages,
        &[(hidden, "1 of its sheets is hidden, and was read", "of its sheets are hidden, and were read")],
    )
}
