//! The paragraphs of a shape, a cell or a diagram as drawings have them: their marks and numbers, and how their runs are shown.

use super::blocks::{BlockKind, Blocks};
use super::formula::formula;
use super::list_numbers::{bullet, slide_number};
use super::relations::Relations;
use super::xml::{BrokenPart, Element, Xml, XmlNode};
use crate::links;
use crate::raised::BaselineShift;
use crate::readers::{InlineText, RunStyle};
use crate::sign_fonts;
use crate::text::MAX_TEXT_BYTES;

/// Paragraphs nested more deeply than this are no longer indented.
const MAX_INDENTS: usize = 8;

/// The context for reading paragraphs.
#[derive(Clone, Copy)]
pub(crate) struct DrawingText<'r> {
    /// Paragraphs are items unless they state otherwise.
    pub(crate) is_list: bool,
    /// The targets of links.
    pub(crate) relations: &'r Relations,
}

/// The format of a run.
#[derive(Debug, Default)]
struct DrawingRun {
    style: RunStyle,
    font: String,
    link: Option<String>,
}

impl DrawingRun {
    /// Reads the format; the start tag of the properties was read last.
    fn read(element: &Element, xml: &mut Xml<'_>, relations: &Relations) -> Result<Self, BrokenPart> {
        let script = match element.number::<i64>("baseline").unwrap_or(0) {
            1.. => BaselineShift::Raised,
            0 => BaselineShift::Level,
            _ => BaselineShift::Lowered,
        };
        let is_struck = element.value("strike").is_some_and(|strike| strike != "noStrike");
        let mut run = Self { style: RunStyle { script, is_struck }, ..Self::default() };
        let name = element.name().to_owned();
        let mut latin = String::new();
        xml.each(&name, |inner, _| {
            match inner.name() {
                "sym" => run.font = inner.value("typeface").unwrap_or_default(),
                "latin" => latin = inner.value("typeface").unwrap_or_default(),
                "hlinkClick" => {
                    let target = inner.prefixed("id").and_then(|id| relations.outside(&id).map(str::to_owned));
                    run.link = target;
                }
                _ => {}
            }
            Ok(())
        })?;
        if sign_fonts::shown_in(&latin, "a").is_some() {
            run.font = latin;
        }
        Ok(run)
    }

    /// The visible form of `text`. The font of signs is used for signs only, unless letters are set in it.
    fn shown(&self, text: &str) -> String {
        let is_sign = |found: char| (0xf020..=0xf0ff).contains(&u32::from(found));
        let is_wanted = text.contains(is_sign) || sign_fonts::shown_in(&self.font, "a").is_some();
        let shown = if is_wanted { sign_fonts::shown_in(&self.font, text) } else { None };
        shown.unwrap_or_else(|| text.to_owned())
    }
}

/// Paragraphs up to the end of the element `until`.
pub(crate) fn paragraphs(
    xml: &mut Xml<'_>,
    until: &str,
    by: DrawingText<'_>,
    blocks: &mut Blocks,
) -> Result<(), BrokenPart> {
    let mut line = InlineText::default();
    let mut run = DrawingRun::default();
    let mut open_link: Option<(String, usize)> = None;
    // The element of a diagram's text has the same name as those of the pieces of text in it.
    let mut is_inside = false;
    let mut level = 0_usize;
    let mut mark = None;
    let mut font = String::new();
    let mut counts = ListCounts::default();
    loop {
        match xml.next()? {
            XmlNode::Start(element) => match element.name() {
                "p" => {
                    line.take();
                    (is_inside, open_link) = (true, None);
                    (level, mark, font) = (0, None, String::new());
                }
                "pPr" => level = element.number("lvl").unwrap_or(0).min(MAX_INDENTS),
                "buNone" => mark = Some(ParagraphMark::None),
                "buFont" => font = element.value("typeface").unwrap_or_default(),
                "buChar" => {
                    mark = Some(ParagraphMark::Bullet(bullet(&font, &element.value("char").unwrap_or_default())));
                }
                "buBlip" => mark = Some(ParagraphMark::dash()),
                "buAutoNum" => {
                    let start = element.number("startAt").unwrap_or(1);
                    mark = Some(ParagraphMark::Number(start, element.value("type").unwrap_or_default()));
                }
                "r" | "fld" => run = DrawingRun::default(),
                "rPr" => run = DrawingRun::read(&element, xml, by.relations)?,
                "t" if is_inside => {
                    let text = run.shown(&xml.text()?);
                    if open_link.as_ref().map(|(target, _)| target) != run.link.as_ref() {
                        end_link(&mut line, open_link.take());
                        line.set(RunStyle::default());
                        open_link = run.link.clone().map(|target| (target, line.as_str().len()));
                    }
                    line.push(run.style, &text);
                }
                "br" => line.push(RunStyle::default(), "\n"),
                "tab" => line.push(RunStyle::default(), "\t"),
                "oMath" => line.push(RunStyle::default(), &formula(xml)?),
                "endParaRPr" | "tcPr" | "lstStyle" => xml.skip()?,
                _ => {}
            },
            XmlNode::End(name) if name == until => return Ok(()),
            XmlNode::End(name) if name == "p" => {
                end_link(&mut line, open_link.take());
                is_inside = false;
                let line = line.take();
                let lines: Vec<&str> =
                    line.split(['\n', '\u{b}']).map(str::trim).filter(|line| !line.is_empty()).collect();
                let indent = "  ".repeat(level);
                let text = lines.join(&format!("\n{indent}"));
                if text.is_empty() {
                    continue;
                }
                if blocks.len() > MAX_TEXT_BYTES {
                    return Err(BrokenPart("a slide of it has too long texts".to_owned()));
                }
                let inherited = if by.is_list || level > 0 { ParagraphMark::dash() } else { ParagraphMark::None };
                match mark.take().unwrap_or(inherited) {
                    ParagraphMark::None => blocks.add(BlockKind::Paragraph, &text),
                    ParagraphMark::Bullet(sign) => blocks.add(BlockKind::Item, &format!("{indent}{sign} {text}")),
                    ParagraphMark::Number(start, kind) => {
                        let number = slide_number(counts.next(level, start), &kind);
                        blocks.add(BlockKind::Item, &format!("{indent}{number} {text}"));
                        continue;
                    }
                }
                counts.0.truncate(level);
            }
            XmlNode::Over => return Ok(()),
            XmlNode::End(_) | XmlNode::Text(_) => {}
        }
    }
}

/// Writes the target of a link whose text ends here.
fn end_link(line: &mut InlineText, open_link: Option<(String, usize)>) {
    line.set(RunStyle::default());
    let shown = open_link.and_then(|(target, from)| links::behind(line.as_str().get(from..)?, &target));
    line.push(RunStyle::default(), &shown.unwrap_or_default());
}

/// The mark before a paragraph.
#[derive(Debug)]
enum ParagraphMark {
    None,
    Bullet(String),
    /// The list's first number, and its format.
    Number(u32, String),
}

impl ParagraphMark {
    fn dash() -> Self {
        Self::Bullet("-".to_owned())
    }
}

/// The last numbers of a numbered list and those around it, by level.
#[derive(Debug, Default)]
struct ListCounts(Vec<Option<u32>>);

impl ListCounts {
    fn next(&mut self, level: usize, start: u32) -> u32 {
        self.0.resize(level + 1, None);
        let last = self.0.last_mut();
        last.map_or(start, |last| *last.insert(last.map_or(start, |number| number.saturating_add(1))))
    }
}
