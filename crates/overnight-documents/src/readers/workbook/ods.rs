//! ODS: one part has all sheets. Cells and rows state how often they are repeated, so that a small file can mean
//! billions of them: repeated empty ones are only counted.

use std::collections::HashSet;

use super::pager::{MAX_CELL, Pager, SheetCell};
use super::xlsx::{bounded, tell_hidden};
use crate::readers::PageSink;
use crate::readers::package::{BrokenPart, Element, Halt, Package, Xml, XmlNode};
use crate::refusal::Refusal;

/// How often the same row is reported. More repetitions are not a table but a bomb, or a filled column.
const MAX_SAME_ROWS: u64 = 100;
/// The most columns that `LibreOffice` has.
const MAX_COLUMNS: u32 = 16_384;
const MAX_STYLES: usize = 50_000;

pub(super) fn read(package: &Package<'_>, pages: &mut dyn PageSink) -> Result<(), Halt> {
    let manifest = package.head("META-INF/manifest.xml", 1 << 20).unwrap_or_default();
    if memchr::memmem::find(&manifest, b"encryption-data").is_some() {
        return Err(Refusal::Encrypted { format: "an OpenDocument spreadsheet".to_owned() }.into());
    }
    let count = count(package).unwrap_or(1);
    pages.expect(count)?;
    let mut reading =
        OdsReading { pager: Pager::new(pages), hidden: HashSet::new(), sheets: 0, count, hidden_sheets: 0 };
    let mut xml = Xml::need(package, "content.xml")?;
    let read = reading.read(&mut xml);
    match read {
        Err(Halt::Broken(broken)) if reading.sheets > 0 => {
            reading.pager.gap(&format!("cut off, because {broken}"));
            reading.pager.end()?;
        }
        other => other?,
    }
    let hidden = reading.hidden_sheets;
    Ok(tell_hidden(pages, hidden)?)
}

/// The number of sheets.
fn count(package: &Package<'_>) -> Result<u64, BrokenPart> {
    let mut xml = Xml::need(package, "content.xml")?;
    let (mut count, mut depth) = (0, 0_u32);
    loop {
        match xml.next()? {
            XmlNode::Start(element) if element.name() == "table" => {
                count += u64::from(depth == 0);
                depth += 1;
            }
            XmlNode::End(name) if name == "table" => depth = depth.saturating_sub(1),
            XmlNode::Over => return Ok(count),
            XmlNode::Start(_) | XmlNode::End(_) | XmlNode::Text(_) => {}
        }
    }
}

struct OdsReading<'p> {
    pager: Pager<'p>,
    /// Styles of hidden sheets.
    hidden: HashSet<String>,
    sheets: u64,
    count: u64,
    hidden_sheets: u64,
}

impl OdsReading<'_> {
    fn read(&mut self, xml: &mut Xml<'_>) -> Result<(), Halt> {
        let mut style = None;
        loop {
            match xml.next()? {
                XmlNode::Start(element) => match element.name() {
                    "style" => style = element.value("name"),
                    "table-properties"
                        if self.hidden.len() < MAX_STYLES
                            && element.value("display").is_some_and(|display| display == "false") =>
                    {
                        self.hidden.extend(style.take());
                    }
                    "table" => {
                        self.sheets += 1;
                        let is_hidden = element.value("style-name").is_some_and(|style| self.hidden.contains(&style));
                        self.hidden_sheets += u64::from(is_hidden);
                        let name = element.value("name").unwrap_or_default();
                        self.pager.sheet(&name, is_hidden, self.count.saturating_sub(self.sheets))?;
                        self.sheet(xml)?;
                        self.pager.end()?;
                    }
                    "encrypted-content" => xml.skip()?,
                    _ => {}
                },
                XmlNode::Over => return Ok(()),
                XmlNode::End(_) | XmlNode::Text(_) => {}
            }
        }
    }

    /// Rows up to the sheet's end.
    fn sheet(&mut self, xml: &mut Xml<'_>) -> Result<(), Halt> {
        let mut number: u64 = 1;
        loop {
            match xml.next()? {
                XmlNode::Start(element) => match element.name() {
                    "table-row" => {
                        let times = repeated(&element, "number-rows-repeated");
                        let cells = self.row(xml)?;
                        if !cells.is_empty() {
                            if times > MAX_SAME_ROWS {
                                self.pager.gap("the same row hundreds of times, of which the first 100 were read");
                            }
                            for same in 0..times.min(MAX_SAME_ROWS) {
                                self.pager.row(number.saturating_add(same), cells.clone())?;
                            }
                        }
                        number = number.saturating_add(times);
                    }
                    // Drawings, and sheets that are kept of other files.
                    "shapes" | "table-source" | "forms" | "named-expressions" | "table" => xml.skip()?,
                    _ => {}
                },
                XmlNode::End(name) if name == "table" => return Ok(()),
                XmlNode::Over => return Ok(()),
                XmlNode::End(_) | XmlNode::Text(_) => {}
            }
        }
    }

    fn row(&mut self, xml: &mut Xml<'_>) -> Result<Vec<SheetCell>, BrokenPart> {
        let mut cells: Vec<SheetCell> = Vec::new();
        let (mut column, mut length) = (0_u64, 0);
        loop {
            match xml.next()? {
                XmlNode::Start(element) if matches!(element.name(), "table-cell" | "covered-table-cell") => {
                    let times = repeated(&element, "number-columns-repeated");
                    let name = element.name().to_owned();
                    let text = cell(&element, xml, &name)?;
                    let text = bounded(text, &mut self.pager);
                    let end = column.saturating_add(times);
                    if !text.is_empty() {
                        for at in column..end.min(u64::from(MAX_COLUMNS)) {
                            length += text.len();
                            if length > 2 * (1 << 20) {
                                self.pager.gap("a row on it is too long, and its end was left out");
                                break;
                            }
                            cells.push((u32::try_from(at).unwrap_or(MAX_COLUMNS), text.clone()));
                        }
                    }
                    column = end;
                }
                XmlNode::End(name) if name == "table-row" => return Ok(cells),
                XmlNode::Over => return Ok(cells),
                XmlNode::Start(_) | XmlNode::End(_) | XmlNode::Text(_) => {}
            }
        }
    }
}

fn repeated(element: &Element, name: &str) -> u64 {
    element.number(name).unwrap_or(1).max(1)
}

/// A cell's text as it is shown; for dates and times, whose formats differ between countries, the value.
fn cell(element: &Element, xml: &mut Xml<'_>, name: &str) -> Result<String, BrokenPart> {
    let mut shown = String::new();
    let mut in_paragraph = 0_u32;
    loop {
        match xml.next()? {
            XmlNode::Start(inner) => match inner.name() {
                "p" => {
                    if !shown.is_empty() {
                        shown.push('\n');
                    }
                    in_paragraph += 1;
                }
                "s" => {
                    let blanks = inner.number("c").unwrap_or(1_usize).min(1_000);
                    shown.extend(std::iter::repeat_n(' ', blanks));
                }
                "tab" | "line-break" => shown.push(' '),
                // Comments, and drawings that lie on the cell.
                "annotation" | "frame" | "custom-shape" | "g" | "ruby-text" | "table" => xml.skip()?,
                _ => {}
            },
            XmlNode::Text(text) if in_paragraph > 0 && shown.len() <= 4 * MAX_CELL => shown.push_str(&text),
            XmlNode::End(end) if end == "p" => in_paragraph = in_paragraph.saturating_sub(1),
            XmlNode::End(end) if end == name => break,
            XmlNode::Over => break,
            XmlNode::End(_) | XmlNode::Text(_) => {}
        }
    }
    let kind = element.value("value-type").unwrap_or_default();
    let value = |name: &str| element.value(name).filter(|value| !value.is_empty());
    let value = match kind.as_str() {
        "date" => value("date-value").map(|date| date.trim_end_matches("T00:00:00").replace('T', " ")),
        "time" => value("time-value").map(|time| clock(&time)),
        _ if !shown.trim().is_empty() => None,
        "boolean" => value("boolean-value").map(|value| value.to_uppercase()),
        "string" => value("string-value"),
        _ => value("value"),
    };
    Ok(value.unwrap_or(shown))
}

/// `PT14H30M00S` as `14:30`.
fn clock(duration: &str) -> String {
    let parts: Vec<&str> = duration.trim_start_matches("PT").split(['H', 'M', 'S']).collect();
    match parts.as_slice() {
        [hours, minutes, seconds, ..] if duration.starts_with("PT") && duration.contains('H') => {
            let seconds = seconds.split(['.', ',']).next().unwrap_or_default();
            if matches!(seconds, "" | "0" | "00") {
                format!("{hours}:{minutes}")
            } else {
                format!("{hours}:{minutes}:{seconds}")
            }
        }
        _ => duration.to_owned(),
    }
}
