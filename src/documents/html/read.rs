//! One HTML document, from bytes to text.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::prune;
use super::tree::{Step, Tree};
use super::write::Writer;
use crate::documents::encoding;
use crate::documents::error::DocumentError;
use crate::documents::format::{Extracted, Format, ending};
use crate::documents::text;

/// Reads HTML and XHTML.
pub(in crate::documents) fn read(name: &str, bytes: &[u8]) -> Result<Extracted, DocumentError> {
    let declared = encoding::declared_in_html(bytes);
    let decoded = encoding::decode(name, bytes, declared.as_deref())?;
    let mut notes = decoded.notes;
    let html = if is_xhtml(name, &decoded.text) { without_self_closing(&decoded.text) } else { decoded.text };
    let tree = Tree::parse(&html).map_err(|why| DocumentError::Html { name: name.to_owned(), why })?;
    drop(html);

    let main = prune::main_part(&tree);
    if main.left_out > 0 {
        notes.push(format!("only the page's main part was read; {} characters around it were left out", main.left_out));
    }
    let mut writer = Writer::default();
    tree.walk(main.root, |step| match step {
        Step::Enter(id) if prune::is_dropped(&tree, id) => false,
        Step::Enter(id) => {
            writer.enter(&tree, id);
            true
        }
        Step::Leave(id) => {
            writer.leave(&tree, id);
            true
        }
    });
    drop(tree);
    let tidy = text::tidy(&writer.finish());
    notes.extend(tidy.notes);
    Ok(Extracted { format: Format::Html, unit: tidy.unit, text: tidy.text, notes })
}

fn is_xhtml(name: &str, text: &str) -> bool {
    matches!(ending(name).as_str(), "xhtml" | "xht") || text.trim_start().starts_with("<?xml")
}

/// In XHTML `<script src="x"/>` is a whole element; to an HTML parser it is the beginning of one that swallows the page.
fn without_self_closing(html: &str) -> Cow<'_, str> {
    const VOID: &[&str] = &[
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
    ];
    #[expect(clippy::expect_used, reason = "a constant pattern, compiled in every test")]
    static SELF_CLOSING: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"<([A-Za-z][\w:.-]*)((?:\s[^<>]*)?)/>").expect("a valid pattern"));
    let expanded = SELF_CLOSING.replace_all(html, |found: &Captures<'_>| {
        let (whole, name) = (&found[0], &found[1]);
        if VOID.contains(&name.to_ascii_lowercase().as_str()) {
            whole.to_owned()
        } else {
            format!("<{name}{}></{name}>", &found[2])
        }
    });
    Cow::Owned(expanded.into_owned())
}
