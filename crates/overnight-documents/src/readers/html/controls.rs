//! The content of a form's controls in a browser: texts typed, boxes ticked and options chosen.

use super::tree::{NodeId, Tree};

/// The visible text of an `input`; none if it shows nothing.
pub(super) fn input(tree: &Tree, id: NodeId) -> Option<String> {
    let is_on = tree.attribute(id, "checked").is_some();
    let value = || tree.attribute(id, "value").map(str::trim).filter(|value| !value.is_empty());
    let kind = tree.attribute(id, "type").unwrap_or("text").trim().to_ascii_lowercase();
    match kind.as_str() {
        "checkbox" => Some(if is_on { "☒" } else { "☐" }.to_owned()),
        "radio" => Some(if is_on { "◉" } else { "○" }.to_owned()),
        "hidden" | "file" | "color" => None,
        "password" => value().map(|value| "•".repeat(value.chars().count().min(12))),
        "image" => tree.attribute(id, "alt").map(str::trim).filter(|alt| !alt.is_empty()).map(str::to_owned),
        _ => value().map(str::to_owned),
    }
}
