//! The marks of a row: which of its fields are in doubt, and which a person has corrected.

use overnight_core::job::{contract::records::VALUE, json_path::within};
use serde::{Deserialize, Serialize};

/// The marks of a record, or of an element of a list in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RowMarks {
    /// Paths of fields whose values are not in their quotes, or possibly not, and of fields whose quotes are not at the
    /// record's place: `amount`, `party.name`, `lines[2].amount`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) doubtful: Vec<String>,
    /// Paths of fields that a person has corrected; an empty one is the whole record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) corrected: Vec<String>,
    /// The record's own quote is not at the place that the record states.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_quote_doubtful: bool,
    /// The record has an open finding.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) has_finding: bool,
    /// Its job is partial or blocked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_incomplete: bool,
}

/// The mark of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum CellMark {
    #[default]
    Unmarked,
    Corrected,
    Doubtful,
}

impl RowMarks {
    /// No cell of the row differs from the others.
    pub(super) fn is_even(&self) -> bool {
        self.doubtful.is_empty() && self.corrected.is_empty()
    }

    /// Whether any part of the record is in doubt.
    pub(super) fn is_doubtful(&self) -> bool {
        self.is_quote_doubtful || self.has_finding || !self.doubtful.is_empty()
    }

    /// The mark of a field's column.
    pub(super) fn of_field(&self, column: &str) -> CellMark {
        let is_value = |path: &str| column.strip_prefix(path).and_then(|rest| rest.strip_prefix('.')) == Some(VALUE);
        if self.doubtful.iter().any(|path| is_within(path, column) || is_value(path)) {
            CellMark::Doubtful
        } else if is_touched(&self.corrected, column) {
            CellMark::Corrected
        } else {
            CellMark::Unmarked
        }
    }

    /// The marks of the element `index` of a list in the record.
    pub(super) fn of_element(&self, list: &str, index: usize) -> Self {
        let element = format!("{list}[{index}]");
        let of_element = |paths: &[String]| {
            let within = |path: &String| {
                if is_within(&element, path) {
                    return Some(String::new());
                }
                let rest = path.strip_prefix(&element)?;
                Some(rest.strip_prefix('.').filter(|_| is_within(path, &element))?.to_owned())
            };
            paths.iter().filter_map(within).collect()
        };
        Self {
            doubtful: of_element(&self.doubtful),
            corrected: of_element(&self.corrected),
            is_quote_doubtful: false,
            has_finding: false,
            is_incomplete: self.is_incomplete,
        }
    }
}

/// The fields of a record, in its present state, that people have accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AcceptedFields {
    /// Somebody has approved the record, or the whole result.
    All,
    /// The fields at these paths, which somebody has corrected; an empty path is the whole record.
    Corrected(Vec<String>),
}

impl AcceptedFields {
    /// Whether the field of this column is among them.
    pub fn has(&self, column: &str) -> bool {
        match self {
            Self::All => true,
            Self::Corrected(paths) => is_touched(paths, column),
        }
    }

    /// Whether any field is accepted.
    pub fn is_any(&self) -> bool {
        match self {
            Self::All => true,
            Self::Corrected(paths) => !paths.is_empty(),
        }
    }
}

/// Whether one of the paths leads to the field of this column, into it, or to what it is a part of.
fn is_touched(paths: &[String], column: &str) -> bool {
    paths.iter().any(|path| is_within(path, column) || is_within(column, path))
}

/// Whether the field at `path` is that at `outer`, or lies within it.
fn is_within(path: &str, outer: &str) -> bool {
    outer.is_empty() || within(path, outer).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_of_the_columns_that_a_path_leads_to() {
        let of = |doubtful: &[&str], corrected: &[&str]| {
            let [doubtful, corrected] =
                [doubtful, corrected].map(|paths| paths.iter().map(|path| (*path).to_owned()).collect());
            RowMarks { doubtful, corrected, ..RowMarks::default() }
        };
        let marks = of(&["rent", "due"], &["party", "lines[1].amount"]);
        let seen = ["rent.value", "rent.quote", "due", "due_day", "party.name", "lines", "line"];
        let seen = seen.map(|column| marks.of_field(column));
        let (doubt, mended, none) = (CellMark::Doubtful, CellMark::Corrected, CellMark::Unmarked);
        assert_eq!(seen, [doubt, none, doubt, none, mended, mended, none]);
        assert_eq!(marks.of_element("lines", 1), of(&[], &["amount"]));
        assert_eq!(marks.of_element("lines", 11), of(&[], &[]));
        assert_eq!(of(&[], &["lines"]).of_element("lines", 0).of_field("amount"), mended);
        assert_eq!(of(&[], &[""]).of_field("amount"), mended);
    }
}
