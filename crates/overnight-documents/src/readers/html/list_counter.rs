//! How ordered lists count: the page's own numbers and letters, because texts refer to "(b)" and "IV.".

use super::tree::{NodeId, Tree};
use crate::readers::package::roman;

/// The counter of an ordered list.
pub(super) struct ListCounter {
    next: i64,
    step: i64,
    style: ListNumbering,
}

/// The numbering style of an ordered list.
#[derive(Clone, Copy)]
enum ListNumbering {
    Decimal,
    LeadingZero,
    Letters { upper: bool },
    Roman { upper: bool },
}

impl ListCounter {
    /// The counter at the beginning of a list.
    pub(super) fn of(tree: &Tree, list: NodeId) -> Self {
        let by_style = tree.style(list, "list-style-type").or_else(|| tree.style(list, "list-style"));
        let by_style = by_style.as_deref().and_then(|style| style.split_whitespace().find_map(of_style));
        let style = match by_style.or(tree.attribute(list, "type").map(str::trim)) {
            Some("0") => ListNumbering::LeadingZero,
            Some("a") => ListNumbering::Letters { upper: false },
            Some("A") => ListNumbering::Letters { upper: true },
            Some("i") => ListNumbering::Roman { upper: false },
            Some("I") => ListNumbering::Roman { upper: true },
            _ => ListNumbering::Decimal,
        };
        let start = tree.attribute(list, "start").and_then(|start| start.trim().parse().ok());
        let is_reversed = tree.attribute(list, "reversed").is_some();
        let items = || tree.children(list).filter(|&item| tree.name(item) == Some("li")).count();
        let first = if is_reversed { i64::try_from(items()).unwrap_or(1) } else { 1 };
        Self { next: start.unwrap_or(first), step: if is_reversed { -1 } else { 1 }, style }
    }

    /// The marker of the list's next item.
    pub(super) fn next_marker(&mut self, tree: &Tree, item: NodeId) -> String {
        if let Some(value) = tree.attribute(item, "value").and_then(|value| value.trim().parse().ok()) {
            self.next = value;
        }
        let number = self.next;
        self.next = number.saturating_add(self.step);
        format!("{}. ", self.style.show(number))
    }
}

/// The name of a style as the older attribute writes it.
fn of_style(name: &str) -> Option<&'static str> {
    Some(match name {
        "lower-alpha" | "lower-latin" => "a",
        "upper-alpha" | "upper-latin" => "A",
        "lower-roman" => "i",
        "upper-roman" => "I",
        "decimal-leading-zero" => "0",
        "decimal" => "1",
        _ => return None,
    })
}

impl ListNumbering {
    fn show(self, number: i64) -> String {
        let (shown, upper) = match self {
            Self::LeadingZero => (format!("{number:02}"), false),
            Self::Letters { upper } if number > 0 => (letters(number), upper),
            Self::Roman { upper } if let Ok(number) = u32::try_from(number) => (roman(number).to_lowercase(), upper),
            Self::Decimal | Self::Letters { .. } | Self::Roman { .. } => (number.to_string(), false),
        };
        if upper { shown.to_uppercase() } else { shown }
    }
}

/// a, b, …, z, aa, ab, …
fn letters(mut number: i64) -> String {
    let mut shown = Vec::new();
    while number > 0 {
        let digit = u8::try_from((number - 1) % 26).unwrap_or_default();
        shown.push(char::from(b'a' + digit));
        number = (number - 1) / 26;
    }
    shown.iter().rev().collect()
}
