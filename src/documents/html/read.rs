//! One HTML document, from bytes to text.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::prune;
use super::tree::{Step, Tree};
use super::write::Writer;
use crate::documents::encoding;
use crate::documents::format::ending;
use crate::documents::reader::{Failure, Pages, Reader, Source, Stopped};
use crate::documents::refusal::Refusal;
use crate::documents::units::Unit;

/// Reads HTML and XHTML.
pub(in crate::documents) struct Html;

impl Reader for Html {
    fn version(&self) -> &'static str {
        "html5ever 0.38"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn Pages) -> Result<Unit, Failure> {
        let declared = encoding::declared_in_html(source.bytes);
        let decoded = encoding::decode(source.bytes, declared.as_deref())?;
        for note in decoded.notes {
            pages.note(note)?;
        }
        let is_xhtml = is_xhtml(source.name, &decoded.text);
        let text = of_page(&decoded.text, is_xhtml, &mut |note| pages.note(note))?;
        if pages.begin(1)? {
            pages.text(&text)?;
        }
        Ok(Unit::Line)
    }
}

/// The text of one page of HTML, as characters. Also for readers of formats whose parts are HTML.
pub(in crate::documents) fn of_page(
    html: &str,
    is_xhtml: bool,
    note: &mut dyn FnMut(String) -> Result<(), Stopped>,
) -> Result<String, Failure> {
    let html = if is_xhtml { without_self_closing(html) } else { Cow::Borrowed(html) };
    let tree = Tree::parse(&html).map_err(|why| Refusal::Damaged { format: "HTML".to_owned(), why })?;
    drop(html);

    let main = prune::main_part(&tree);
    if main.left_out > 0 {
        note(format!("only the page's main part was read; {} characters around it were left out", main.left_out))?;
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
    Ok(writer.finish())
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
