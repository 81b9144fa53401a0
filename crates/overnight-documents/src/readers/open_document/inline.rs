//! The content of one paragraph: runs, notes, fields, frames. Text comes with the signs for its format.

use super::story::OpenStory;
use crate::readers::flow::{Emphasis, Flow, FlowPart, written};
use crate::readers::package::{BrokenPart, Element, Xml, XmlNode};

/// A paragraph's text, and the parts attached to it.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) text: String,
    /// Text boxes, objects and notes: they follow the paragraph.
    pub(super) behind: Flow,
    /// The page ends within the paragraph: the number of text bytes before each.
    pub(super) breaks: Vec<usize>,
}

/// A run that is open.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    emphasis: Emphasis,
    is_hidden: bool,
}

impl OpenStory<'_> {
    /// Reads the rest of the paragraph or heading whose start tag was read last.
    pub(super) fn line(&mut self, xml: &mut Xml<'_>, is_hidden: bool) -> Result<Line, BrokenPart> {
        let mut line = Line::default();
        let mut open: Vec<(bool, Run)> = Vec::new();
        let mut run = Run { is_hidden, ..Run::default() };
        let mut depth = 0_usize;
        // Text that is set in one way is written once it ends.
        let mut pending = String::new();
        loop {
            match xml.next()? {
                XmlNode::Start(element) => {
                    let sets = self.inline(&element, xml, &mut line, &mut pending, run)?;
                    if let Some(entered) = sets {
                        depth += 1;
                        let is_run = element.name() == "span";
                        open.push((is_run, run));
                        if is_run && entered {
                            let style = element.value("style-name");
                            let (emphasis, hidden) = self.styles.run(style.as_deref(), run.emphasis);
                            self.flush(&mut pending, run, &mut line);
                            run = Run { emphasis, is_hidden: hidden.unwrap_or(run.is_hidden) };
                        }
                    }
                }
                XmlNode::End(_) if depth == 0 => break,
                XmlNode::End(_) => {
                    depth -= 1;
                    if let Some((is_run, before)) = open.pop()
                        && is_run
                    {
                        self.flush(&mut pending, run, &mut line);
                        run = before;
                    }
                }
                // Line ends and runs of blanks in the file are one blank; others have elements.
                XmlNode::Text(text) => collapse(&text, &mut pending, line.text.is_empty()),
                XmlNode::Over => break,
            }
        }
        self.flush(&mut pending, run, &mut line);
        Ok(line)
    }

    fn flush(&mut self, pending: &mut String, run: Run, line: &mut Line) {
        let text = std::mem::take(pending);
        if run.is_hidden {
            self.omitted.hidden += u64::from(!text.trim().is_empty());
        } else {
            line.text.push_str(&written(&text, run.emphasis));
        }
    }

    /// An element in a paragraph. Some: it is open, and its content is text of the paragraph.
    fn inline(
        &mut self,
        element: &Element,
        xml: &mut Xml<'_>,
        line: &mut Line,
        pending: &mut String,
        run: Run,
    ) -> Result<Option<bool>, BrokenPart> {
        match element.name() {
            "s" => {
                let blanks = element.number("c").unwrap_or(1_usize).min(1_000);
                pending.extend(std::iter::repeat_n(' ', blanks));
            }
            "tab" => pending.push('\t'),
            "line-break" => pending.push('\n'),
            "soft-page-break" => {
                self.flush(pending, run, line);
                line.breaks.push(line.text.len());
            }
            "note" => {
                self.flush(pending, run, line);
                let note = self.note(xml)?;
                if let Some((label, text)) = note.filter(|_| !run.is_hidden) {
                    line.text.extend(["[", &label, "]"]);
                    line.behind.add(FlowPart::Note(format!("[{label}] {text}")));
                }
            }
            "annotation" => {
                self.omitted.comments += 1;
                xml.skip()?;
            }
            "ruby-text"
            | "annotation-end"
            | "hidden-text"
            | "tracked-changes"
            | "toc-mark"
            | "user-index-mark"
            | "alphabetical-index-mark"
            | "alphabetical-index-mark-start"
            | "meta-field-info"
            | "script" => xml.skip()?,
            "hidden-paragraph" => {
                // Hidden only where its condition holds: then nothing of it is shown.
                if element.value("is-hidden").is_some_and(|hidden| hidden == "true") {
                    self.omitted.hidden += 1;
                }
                xml.skip()?;
            }
            "frame" | "custom-shape" | "rect" | "ellipse" | "circle" | "path" | "polygon" | "polyline" | "line"
            | "connector" | "caption" | "g" | "regular-polygon" | "measure" | "control" => {
                let mut inner = Flow::default();
                self.shape(xml, &mut inner)?;
                line.behind.append(inner);
            }
            _ => return Ok(Some(true)),
        }
        // Elements that were not read to their end here have an end tag of their own.
        Ok(matches!(element.name(), "s" | "tab" | "line-break" | "soft-page-break").then_some(false))
    }

    /// A footnote or endnote: its label and its text.
    fn note(&mut self, xml: &mut Xml<'_>) -> Result<Option<(String, String)>, BrokenPart> {
        let (mut label, mut text) = (String::new(), String::new());
        loop {
            match xml.next()? {
                XmlNode::Start(element) => match element.name() {
                    "note-citation" => {
                        let shown = xml.text()?;
                        label = element.value("label").unwrap_or(shown);
                    }
                    "note-body" => {
                        let mut inner = Flow::default();
                        self.blocks(xml, &mut inner)?;
                        let mut outer = Flow::default();
                        inner.into_blocks(&mut outer).take().trim().clone_into(&mut text);
                    }
                    _ => {}
                },
                XmlNode::End(name) if name == "note" => break,
                XmlNode::Over => break,
                XmlNode::End(_) | XmlNode::Text(_) => {}
            }
        }
        Ok((!text.is_empty()).then_some((label.trim().to_owned(), text)))
    }
}

/// Adds text with each line end and each run of blanks as one blank.
fn collapse(text: &str, into: &mut String, is_first: bool) {
    for found in text.chars() {
        if !matches!(found, ' ' | '\n' | '\r' | '\t') {
            into.push(found);
        } else if !(into.ends_with([' ', '\n', '\t']) || (into.is_empty() && is_first)) {
            into.push(' ');
        }
    }
}
