//! The type of a column. It has numbers or dates if each of its non-empty cells is one; the whole column decides
//! whether a comma or a point is the decimal sign, and whether day or month comes first.

use overnight_rules::{
    date::{DayOrder, is_date},
    number::{is_number, numbers_in},
};
use rust_decimal::{Decimal, prelude::ToPrimitive};

/// The possible types of a column, given the cells examined so far.
#[derive(Debug)]
pub(super) struct ColumnGuess {
    has_values: bool,
    /// None: not all of them are numbers, or dates.
    numbers: Option<NumberSigns>,
    dates: Option<DaySigns>,
    /// Whether cells of this format usually have a decimal point.
    is_point_usual: bool,
}

/// The decimal signs of numbers that can be read in only one way.
#[derive(Debug, Default)]
struct NumberSigns {
    comma: bool,
    point: bool,
}

/// The first parts of dates that can be read in only one way.
#[derive(Debug, Default)]
struct DaySigns {
    day: bool,
    month: bool,
}

/// The way in which the cells of a column are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellKind {
    Text,
    /// The reading of an ambiguous number: whether the point in `1.234`, or the comma in `1,234`, is the decimal sign.
    Number {
        point_is_decimal: bool,
        comma_is_decimal: bool,
    },
    Date(DayOrder),
}

/// A cell in its stored form.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CellValue {
    Null,
    Whole(i64),
    Number(f64),
    Text(String),
}

impl ColumnGuess {
    pub(super) fn new(format: &str) -> Self {
        let (numbers, dates) = (Some(NumberSigns::default()), Some(DaySigns::default()));
        Self { has_values: false, numbers, dates, is_point_usual: format == "workbook" }
    }

    pub(super) fn look(&mut self, cell: &str) {
        if cell.is_empty() {
            return;
        }
        self.has_values = true;
        self.dates = self.dates.take().and_then(|signs| signs.with(cell));
        self.numbers = self.numbers.take().and_then(|signs| signs.with(cell));
    }

    pub(super) fn kind(&self) -> CellKind {
        match (&self.dates, &self.numbers) {
            (_, _) if !self.has_values => CellKind::Text,
            (Some(DaySigns { month: false, .. }), _) => CellKind::Date(DayOrder::DayFirst),
            (Some(DaySigns { day: false, .. }), _) => CellKind::Date(DayOrder::MonthFirst),
            (_, Some(signs)) => CellKind::Number {
                point_is_decimal: signs.point || (self.is_point_usual && !signs.comma),
                comma_is_decimal: signs.comma && !signs.point,
            },
            (_, None) => CellKind::Text,
        }
    }
}

impl DaySigns {
    /// None: the cell is no date.
    fn with(mut self, cell: &str) -> Option<Self> {
        let date = is_date(cell)?;
        match (date.day_first, date.month_first) {
            (Some(_), None) => self.day = true,
            (None, Some(_)) => self.month = true,
            (_, _) => {}
        }
        Some(self)
    }
}

impl NumberSigns {
    /// None: the cell is no number. One that begins with zeros is a name, as are very long ones.
    fn with(mut self, cell: &str) -> Option<Self> {
        let digits = cell.trim_start_matches(|c: char| !c.is_ascii_digit()).as_bytes();
        let is_name = matches!(digits, [b'0', b'0'..=b'9', ..]);
        let is_long = digits.iter().filter(|byte| byte.is_ascii_digit()).count() > 15;
        if is_name || is_long || !is_number(cell) {
            return None;
        }
        if let [number] = &numbers_in(cell)[..]
            && let [reading] = number.readings[..]
            && reading.scale() > 0
        {
            let last = cell[number.range.clone()].rfind(['.', ',']).map(|at| cell.as_bytes()[number.range.start + at]);
            self.comma |= last == Some(b',');
            self.point |= last == Some(b'.');
        }
        Some(self)
    }
}

impl CellKind {
    pub(super) fn read(self, cell: &str) -> CellValue {
        if cell.is_empty() {
            return CellValue::Null;
        }
        let read = match self {
            Self::Text => None,
            Self::Date(order) => {
                is_date(cell).and_then(|date| date.read(order)).map(|date| CellValue::Text(date.to_string()))
            }
            Self::Number { point_is_decimal, comma_is_decimal } => number(cell, point_is_decimal, comma_is_decimal)
                .and_then(|number| {
                    let whole = number.to_i64().filter(|_| number.fract().is_zero());
                    whole.map(CellValue::Whole).or_else(|| number.to_f64().map(CellValue::Number))
                }),
        };
        read.unwrap_or_else(|| CellValue::Text(cell.to_owned()))
    }
}

fn number(cell: &str, point_is_decimal: bool, comma_is_decimal: bool) -> Option<Decimal> {
    let numbers = numbers_in(cell);
    let number = numbers.first()?;
    let is_decimal =
        match cell[number.range.clone()].find(['.', ',']).map(|at| cell.as_bytes()[number.range.start + at]) {
            Some(b'.') => point_is_decimal,
            Some(b',') => comma_is_decimal,
            Some(_) | None => false,
        };
    let size = number.readings.get(usize::from(is_decimal)).or_else(|| number.readings.first())?;
    Some(if number.is_negative { -*size } else { *size })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: &str, cells: &[&str]) -> Vec<CellValue> {
        let mut guess = ColumnGuess::new(format);
        for cell in cells {
            guess.look(cell);
        }
        cells.iter().map(|cell| guess.kind().read(cell)).collect()
    }

    fn text(text: &str) -> CellValue {
        CellValue::Text(text.to_owned())
    }

    #[test]
    fn a_column_says_how_its_cells_are_read() {
        use CellValue::{Null, Number, Whole};
        assert_eq!(read("CSV", &["1.234,50", "1.234", ""]), [Number(1234.5), Whole(1234), Null]);
        assert_eq!(read("CSV", &["12,5", "1,234"]), [Number(12.5), Number(1.234)]);
        assert_eq!(read("CSV", &["1,234", "12.5"]), [Whole(1234), Number(12.5)]);
        assert_eq!(read("workbook", &["123.456", "7"]), [Number(123.456), Whole(7)]);
        assert_eq!(read("CSV", &["$ 1,180.00", "(20)"]), [Whole(1180), Whole(-20)]);
        assert_eq!(read("CSV", &["007", "12"]), [text("007"), text("12")]);
        assert_eq!(read("CSV", &["03.05.2024", "1.6.24"]), [text("2024-05-03"), text("2024-06-01")]);
        assert_eq!(read("CSV", &["03/04/2024", "04/25/2024"]), [text("2024-03-04"), text("2024-04-25")]);
        assert_eq!(read("CSV", &["12", "n/a"]), [text("12"), text("n/a")]);
    }
}
