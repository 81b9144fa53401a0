//! How ordered lists count: the page's own numbers and letters, because texts refer to "(b)" and "IV.".

use super::tree::{NodeId, Tree};
use crate::readers::package::roman;

/// The counter of an ordered list.
pub(super) struct ListCounter {
    next: i64,
    style: ListNumbering,
}

/// How an ordered list counts.
#[derive(Clone, Copy)]
enum ListNumbering {
    Decimal,
    Letters { upper: bool },
    Roman { upper: bool },
}

impl ListCounter {
    /// The count of a list that begins.
    pub(super) fn of(tree: &Tree, list: NodeId) -> Self {
        let style = match tree.attribute(list, "type").map(str::trim) {
            Some("a") => ListNumbering::Letters { upper: false },
            Some("A") => ListNumbering::Letters { upper: true },
            Some("i") => ListNumbering::Roman { upper: false },
            Some("I") => ListNumbering::Roman { upper: true },
            _ => ListNumbering::Decimal,
        };
        let next = tree.attribute(list, "start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
        Self { next, style }
    }

    /// What stands before the list's next item.
    pub(super) fn next_marker(&mut self, tree: &Tree, item: NodeId) -> String {
        if let Some(value) = tree.attribute(item, "value").and_then(|value| value.trim().parse().ok()) {
            self.next = value;
        }
        let number = self.next;
        self.next = number.saturating_add(1);
        format!("{}. ", self.style.show(number))
    }
}

impl ListNumbering {
    fn show(self, number: i64) -> String {
        let (shown, upper) = match self {
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
