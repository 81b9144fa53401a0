//! Which elements begin and end lines, and how elements within a line are shown.

use super::tree::{NodeId, Tree};
use crate::raised::BaselineShift;
use crate::readers::RunStyle;

/// Whether an element begins and ends lines.
pub(super) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "html"
            | "legend"
            | "li"
            | "listing"
            | "main"
            | "menu"
            | "ol"
            | "optgroup"
            | "option"
            | "p"
            | "plaintext"
            | "pre"
            | "search"
            | "section"
            | "select"
            | "summary"
            | "svg"
            | "table"
            | "tbody"
            | "td"
            | "textarea"
            | "text"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
            | "xmp"
    )
}

/// The format that an element gives to its text, if any.
pub(super) fn style_of(tree: &Tree, id: NodeId, outer: RunStyle) -> Option<RunStyle> {
    let script = match (tree.name(id)?, tree.style(id, "vertical-align").as_deref()) {
        ("sup", _) | ("span" | "font" | "a", Some("super")) => Some(BaselineShift::Raised),
        ("sub", _) | ("span" | "font" | "a", Some("sub")) => Some(BaselineShift::Lowered),
        _ => None,
    };
    let line = tree.style(id, "text-decoration").or_else(|| tree.style(id, "text-decoration-line"));
    let is_struck =
        matches!(tree.name(id)?, "del" | "s" | "strike") || line.is_some_and(|line| line.contains("line-through"));
    let own = RunStyle { script: script.unwrap_or(outer.script), is_struck: is_struck || outer.is_struck };
    (script.is_some() || is_struck).then_some(own)
}

/// The font that an element names first.
pub(super) fn font_of(tree: &Tree, id: NodeId) -> Option<String> {
    let named = tree.attribute(id, "face").map(str::to_owned).or_else(|| tree.style(id, "font-family"))?;
    Some(named.split(',').next()?.trim().trim_matches(['"', '\'']).to_owned())
}
