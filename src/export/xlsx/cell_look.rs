//! How cells look: the format of what is in them, with the colours of their marks.

use crate::export::{column_format::DecimalFormat, row_marks::CellMark};
use rust_xlsxwriter::{Color, Format};
use std::collections::HashMap;

/// Backgrounds of doubtful and of corrected cells, and the text colour of rows whose job is partial or blocked.
const YELLOW: u32 = 0x00FF_F2AB;
const GREEN: u32 = 0x00D5_EFCF;
const GREY: u32 = 0x0080_8080;

/// The content of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum CellContent {
    #[default]
    Text,
    /// A text that a spreadsheet would take for a formula.
    Defused,
    Heading,
    Date,
    Number(DecimalFormat),
}

/// How a cell looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CellLook {
    pub(super) content: CellContent,
    pub(super) mark: CellMark,
    pub(super) is_grey: bool,
}

/// The formats of a workbook's cells, each made once.
#[derive(Debug, Default)]
pub(super) struct CellFormats(HashMap<CellLook, Format>);

impl CellFormats {
    pub(super) fn of(&mut self, look: CellLook) -> &Format {
        self.0.entry(look).or_insert_with(|| look.format())
    }
}

impl CellLook {
    fn format(self) -> Format {
        let format = match self.content {
            CellContent::Text | CellContent::Number(DecimalFormat::Plain) => Format::new(),
            CellContent::Defused => Format::new().set_quote_prefix(),
            CellContent::Heading => Format::new().set_bold(),
            CellContent::Date => Format::new().set_num_format("yyyy-mm-dd"),
            CellContent::Number(DecimalFormat::Whole) => Format::new().set_num_format("#,##0"),
            CellContent::Number(DecimalFormat::Fraction) => Format::new().set_num_format("#,##0.00"),
        };
        let format = match self.mark {
            CellMark::Unmarked => format,
            CellMark::Corrected => format.set_background_color(Color::RGB(GREEN)),
            CellMark::Doubtful => format.set_background_color(Color::RGB(YELLOW)),
        };
        if self.is_grey { format.set_font_color(Color::RGB(GREY)) } else { format }
    }
}
