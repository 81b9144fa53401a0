//! One HTML document, from bytes to text.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::prune;
use super::tree::{NodeId, ROOT, Tree, TreeStep};
use super::write::Writer;
use crate::encoding;
use crate::format::ending;
use crate::readers::mail;
use crate::readers::package::one_line;
use crate::readers::{PageSink, ReadFailure, Reader, Source, Stopped};
use crate::refusal::Refusal;
use crate::units::Unit;

/// Reads HTML and XHTML, and pages saved with their resources (MHTML).
pub(crate) struct HtmlReader;

impl Reader for HtmlReader {
    fn version(&self) -> &'static str {
        "html5ever 0.38.0+7"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let saved = mail::saved_page(source.bytes);
        let (bytes, told) = saved.as_ref().map_or((source.bytes, None), |(page, told)| (&**page, told.clone()));
        let declared = told.or_else(|| encoding::declared_in_html(bytes));
        let decoded = encoding::decode(bytes, declared.as_deref())?;
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

/// The text of an HTML page, given as characters: of its main part, without its surroundings.
fn of_page(
    html: &str,
    is_xhtml: bool,
    note: &mut dyn FnMut(String) -> Result<(), Stopped>,
) -> Result<String, ReadFailure> {
    let tree = parsed(html, is_xhtml)?;
    let main = prune::main_part(&tree);
    if main.left_out > 0 {
        note(format!("only the page's main part was read; {} characters around it were left out", main.left_out))?;
    }
    let read = written(&tree, main.root, prune::is_dropped);
    read.left_out.notes().into_iter().try_for_each(note)?;
    Ok(read.text)
}

/// A text, and the counts of omissions.
#[derive(Debug, Default)]
pub(crate) struct HtmlText {
    pub(crate) text: String,
    pub(crate) left_out: HtmlOmissions,
}

/// Counts of a page's content other than text.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HtmlOmissions {
    pub(crate) hidden: u64,
    pub(crate) images: u64,
    pub(crate) objects: u64,
}

impl HtmlOmissions {
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            hidden: self.hidden + other.hidden,
            images: self.images + other.images,
            objects: self.objects + other.objects,
        }
    }

    pub(crate) fn notes(self) -> Vec<String> {
        let counts = [
            (self.hidden, "1 hidden part was left out", "hidden parts were left out"),
            (self.images, "1 image was left out", "images were left out"),
            (self.objects, "1 embedded object was left out", "embedded objects were left out"),
        ];
        let told = counts.into_iter().filter(|(count, ..)| *count > 0);
        told.map(|(count, one, many)| if count == 1 { one.to_owned() } else { format!("{count} {many}") }).collect()
    }
}

/// All text of a piece of HTML that is not a web page: a chapter, a mail.
pub(crate) fn of_part(html: &str, is_xhtml: bool) -> Result<HtmlText, ReadFailure> {
    let tree = parsed(html, is_xhtml)?;
    Ok(written(&tree, ROOT, prune::is_unseen))
}

/// All text of a book's chapter, and its title; `pictures` gives the marker of a picture by its source.
pub(crate) fn of_chapter(
    html: &str,
    pictures: &dyn Fn(&str) -> Option<String>,
) -> Result<(HtmlText, String), ReadFailure> {
    let tree = parsed(html, true)?;
    let (mut in_title, mut title) = (false, String::new());
    tree.walk(ROOT, |step| {
        match step {
            TreeStep::Enter(id) => {
                title.push_str(tree.text(id).filter(|_| in_title).unwrap_or_default());
                in_title |= title.is_empty() && tree.name(id) == Some("title");
            }
            TreeStep::Leave(id) => in_title &= tree.name(id) != Some("title"),
        }
        true
    });
    Ok((written_by(Writer::showing(pictures), &tree, ROOT, prune::is_unseen), one_line(&title)))
}

fn parsed(html: &str, is_xhtml: bool) -> Result<Tree, Refusal> {
    let html = if is_xhtml { as_html(html) } else { Cow::Borrowed(html) };
    Tree::parse(&html).map_err(|why| Refusal::Damaged { format: "HTML".to_owned(), why })
}

fn written(tree: &Tree, root: NodeId, is_dropped: fn(&Tree, NodeId) -> bool) -> HtmlText {
    written_by(Writer::default(), tree, root, is_dropped)
}

fn written_by(mut writer: Writer<'_>, tree: &Tree, root: NodeId, is_dropped: fn(&Tree, NodeId) -> bool) -> HtmlText {
    let mut left_out = HtmlOmissions::default();
    tree.walk(root, |step| match step {
        TreeStep::Enter(id) if is_dropped(tree, id) => {
            left_out.hidden += u64::from(prune::is_hidden(tree, id) || tree.name(id) == Some("noscript"));
            left_out.objects += u64::from(prune::is_object(tree, id));
            false
        }
        TreeStep::Enter(id) => writer.enter(tree, id),
        TreeStep::Leave(id) => {
            writer.leave(tree, id);
            true
        }
    });
    left_out.images = writer.images;
    HtmlText { left_out, text: writer.finish() }
}

fn is_xhtml(name: &str, text: &str) -> bool {
    matches!(ending(name).as_str(), "xhtml" | "xht") || text.trim_start().starts_with("<?xml")
}

/// Converts XHTML syntax to HTML: self-closing elements, text between `<![CDATA[` and `]]>`, and leading declarations,
/// which are all ignored. No entity defined by a document is ever expanded.
fn as_html(xhtml: &str) -> Cow<'_, str> {
    let plain = without_sections(without_declarations(xhtml));
    match plain {
        Cow::Borrowed(plain) => without_self_closing(plain),
        Cow::Owned(plain) => Cow::Owned(without_self_closing(&plain).into_owned()),
    }
}

/// The text behind `<!DOCTYPE … [ … ]>`, whose brackets an HTML parser would show.
fn without_declarations(xhtml: &str) -> &str {
    const LOOK: usize = 4096;
    let head = &xhtml[..xhtml.floor_char_boundary(LOOK.min(xhtml.len()))];
    let Some(start) = head.to_ascii_lowercase().find("<!doctype") else { return xhtml };
    let rest = &xhtml[start..];
    match (rest.find('['), rest.find('>')) {
        (Some(open), Some(close)) if open < close => {
            let inner = &rest[open..];
            let end = inner.match_indices(']').find(|(at, _)| inner[at + 1..].trim_start().starts_with('>'));
            end.map_or("", |(at, _)| inner[at + 1..].trim_start().strip_prefix('>').unwrap_or_default())
        }
        _ => xhtml,
    }
}

fn without_sections(xhtml: &str) -> Cow<'_, str> {
    const OPEN: &str = "<![CDATA[";
    if !xhtml.contains(OPEN) {
        return Cow::Borrowed(xhtml);
    }
    let mut html = String::with_capacity(xhtml.len());
    let mut rest = xhtml;
    while let Some((before, after)) = rest.split_once(OPEN) {
        html.push_str(before);
        let (inside, behind) = after.split_once("]]>").unwrap_or((after, ""));
        html.push_str(&inside.replace('&', "&amp;").replace('<', "&lt;"));
        rest = behind;
    }
    html.push_str(rest);
    Cow::Owned(html)
}

/// In XHTML `<script src="x"/>` is a whole element; an HTML parser takes it for a start tag, and loses the page.
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
