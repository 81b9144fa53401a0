//! The formats in which a workbook's cells show their numbers.

use std::collections::HashMap;

use super::display::NumberFormat;
use super::rich_text::CellFont;
use crate::readers::package::{BrokenPart, Package, Xml, XmlNode};

/// The most styles that Excel itself allows.
const MAX_STYLES: usize = 65_536;

#[derive(Debug, Default)]
pub(super) struct CellStyles {
    /// For each style, its index in `formats`.
    cells: Vec<usize>,
    formats: Vec<NumberFormat>,
    /// For each style, its font.
    cell_fonts: Vec<usize>,
    fonts: Vec<CellFont>,
}

impl CellStyles {
    pub(super) fn read(package: &Package<'_>, part: &str) -> Result<Self, BrokenPart> {
        let mut styles = Self::default();
        let Some(xml) = Xml::open(package, part) else { return Ok(styles) };
        let mut xml = xml?;
        let mut codes: HashMap<u32, String> = HashMap::new();
        let mut known: HashMap<u32, usize> = HashMap::new();
        let (mut is_inside, mut in_fonts) = (false, false);
        loop {
            match xml.next()? {
                XmlNode::Start(element) => match element.name() {
                    "numFmt" if codes.len() < MAX_STYLES => {
                        let code = element.value("formatCode").unwrap_or_default();
                        if let Some(id) = element.number("numFmtId") {
                            codes.insert(id, code);
                        }
                    }
                    "fonts" => in_fonts = true,
                    "font" if in_fonts && styles.fonts.len() < MAX_STYLES => styles.fonts.push(CellFont::default()),
                    _ if in_fonts => styles.fonts.last_mut().into_iter().for_each(|font| font.learn(&element)),
                    "cellXfs" => is_inside = true,
                    "xf" if is_inside && styles.cells.len() < MAX_STYLES => {
                        let id = element.number("numFmtId").unwrap_or(0);
                        let place = *known.entry(id).or_insert_with(|| {
                            let code = codes.get(&id).map(String::as_str);
                            styles.formats.push(NumberFormat::parse(code.unwrap_or_else(|| built_in(id))));
                            styles.formats.len() - 1
                        });
                        styles.cells.push(place);
                        styles.cell_fonts.push(element.number("fontId").unwrap_or(0));
                    }
                    _ => {}
                },
                XmlNode::End(name) => {
                    is_inside &= name != "cellXfs";
                    in_fonts &= name != "fonts";
                }
                XmlNode::Over => return Ok(styles),
                XmlNode::Text(_) => {}
            }
        }
    }

    /// The font of a style.
    pub(super) fn font(&self, style: usize) -> Option<&CellFont> {
        self.fonts.get(*self.cell_fonts.get(style)?)
    }

    pub(super) fn format(&self, style: usize) -> Option<&NumberFormat> {
        self.formats.get(*self.cells.get(style)?)
    }
}

/// The formats that are known by their numbers alone (ECMA-376, part 1, 18.8.30). East Asian dates are dates.
pub(super) fn built_in(id: u32) -> &'static str {
    match id {
        1 => "0",
        2 => "0.00",
        3 | 37 | 38 | 41 | 42 => "#,##0",
        4 | 39 | 40 | 43 | 44 => "#,##0.00",
        9 => "0%",
        10 => "0.00%",
        11 | 48 => "0.00E+00",
        12 => "# ?/?",
        13 => "# ??/??",
        14..=17 | 27..=31 | 36 | 50..=54 | 57 | 58 => "yyyy-mm-dd",
        18..=21 | 32..=35 | 45 | 47 | 55 | 56 => "hh:mm:ss",
        22 => "yyyy-mm-dd hh:mm",
        46 => "[h]:mm:ss",
        _ => "General",
    }
}
