//! Texts of drawings for people who can't see them: alternative texts, and the texts of diagrams (SmartArt).

use super::archive::Package;
use super::blocks::{Blocks, one_line};
use super::drawing_text::{DrawingText, paragraphs};
use super::relations::Relations;
use super::xml::{Element, Xml};

/// The alternative text in a picture's properties; none if it is empty, or only the name of its file.
pub(crate) fn alternative_text(element: &Element) -> Option<String> {
    ["descr", "alt", "title"].iter().find_map(|name| picture(&element.value(name)?))
}

/// A picture by its alternative text, as it stands in a text.
pub(crate) fn picture(alternative: &str) -> Option<String> {
    const FILES: [&str; 10] = [".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emf", ".wmf", ".svg", ".tif", ".webp"];
    let text = one_line(alternative);
    let lower = text.to_lowercase();
    let is_file = !text.contains(' ') && FILES.iter().any(|ending| lower.ends_with(ending));
    (!text.is_empty() && !is_file).then(|| format!("[picture: {text}]"))
}

/// A diagram's texts in order, one per line; none if they can't be read, or there are none.
pub(crate) fn diagram(package: &Package<'_>, part: &str) -> Option<String> {
    let mut blocks = Blocks::default();
    let mut xml = Xml::need(package, part).ok()?;
    let relations = Relations::of(package, part).unwrap_or_default();
    // The texts before any damage are kept.
    let _ = paragraphs(&mut xml, "", DrawingText { is_list: true, relations: &relations }, &mut blocks);
    (!blocks.is_empty()).then(|| blocks.take())
}
