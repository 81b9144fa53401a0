//! The current line while going through a text line by line and page by page.

use super::super::units::Unit;

/// The current line while an index is built.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineCursor {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) page: u32,
    pub(super) number: u32,
}

impl LineCursor {
    pub(super) fn first(unit: Unit, text: &str) -> Self {
        Self { start: 0, end: 0, page: 1, number: 1 }.ended(unit, text)
    }

    pub(super) fn ended(self, unit: Unit, text: &str) -> Self {
        let rest = &text.as_bytes()[self.start..];
        let length = match unit {
            Unit::Page => memchr::memchr2(b'\n', b'\x0c', rest),
            Unit::Line => memchr::memchr(b'\n', rest),
        };
        Self { end: length.map_or(text.len(), |length| self.start + length), ..self }
    }

    pub(super) fn next(self, unit: Unit, text: &str) -> Option<Self> {
        let (page, number) = match text.as_bytes().get(self.end)? {
            b'\x0c' => (self.page + 1, 1),
            _ => (self.page, self.number + 1),
        };
        Some(Self { start: self.end + 1, end: 0, page, number }.ended(unit, text))
    }
}
