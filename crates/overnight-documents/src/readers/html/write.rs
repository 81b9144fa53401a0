//! Writes a page's blocks in order. A paragraph is one line; lists, quotes and fences are marked as in Markdown;
//! nothing inside a line is marked or escaped, so that it reads as it is seen, except where it would turn the lines
//! behind it into code.

use super::blocks::{font_of, is_block, style_of};
use super::list_counter::ListCounter;
use super::table::{Rows, is_data};
use super::tree::{NodeId, Tree};
use super::{controls, mathml};
use crate::links;
use crate::readers::package::picture;
use crate::readers::{InlineText, RunStyle};
use crate::sign_fonts;

/// Lists and quotes nested more deeply than this are no longer indented.
const MAX_INDENTS: usize = 8;

/// The blocks that contain a line.
enum OpenBlock {
    List(Option<ListCounter>),
    /// A list's item, or a definition; its marker is written with its first line.
    Item {
        marker: String,
        written: bool,
    },
    Quote,
}

/// The marker of a picture, by its source.
pub(super) type PictureMarkers<'p> = dyn Fn(&str) -> Option<String> + 'p;

#[derive(Default)]
pub(super) struct Writer<'p> {
    pictures: Option<&'p PictureMarkers<'p>>,
    out: String,
    /// The current line, with `\n` for a `<br>`.
    line: InlineText,
    /// The formats and fonts of the open elements.
    styles: Vec<(NodeId, RunStyle)>,
    fonts: Vec<(NodeId, String)>,
    /// Where the texts of open links began.
    links: Vec<usize>,
    /// Lists within a cell.
    cell_lists: Vec<Option<ListCounter>>,
    /// The number of pictures without a description.
    pub(super) images: u64,
    frames: Vec<OpenBlock>,
    /// The heading level of the current line.
    heading: Option<u8>,
    /// The number of open `pre` elements.
    pre: usize,
    rows: Option<Rows>,
    in_cell: bool,
    /// The last block was in a list, or a term: the next item follows without a blank line.
    tight: bool,
}

impl<'p> Writer<'p> {
    /// A writer that names pictures.
    pub(super) fn showing(pictures: &'p PictureMarkers<'p>) -> Self {
        Self { pictures: Some(pictures), ..Self::default() }
    }

    /// The text of all nodes that were entered and left.
    pub(super) fn finish(mut self) -> String {
        self.flush();
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    /// Enters a node; returns whether its content is to be entered too.
    pub(super) fn enter(&mut self, tree: &Tree, id: NodeId) -> bool {
        if let Some(text) = tree.text(id) {
            self.add_text(text);
        }
        let Some(name) = tree.name(id) else { return true };
        if let Some(style) = style_of(tree, id, self.style()) {
            self.styles.push((id, style));
        }
        self.fonts.extend(font_of(tree, id).map(|font| (id, font)));
        match name {
            "br" => self.add_break(),
            "q" => self.add_text("“"),
            "button" | "meter" | "progress" => self.add_text(" "),
            "a" => {
                self.line.set(RunStyle::default());
                self.links.push(self.line.as_str().len());
            }
            "math" => {
                self.add_text(&mathml::formula(tree, id));
                self.styles.pop_if(|(of, _)| *of == id);
                self.fonts.pop_if(|(of, _)| *of == id);
                return false;
            }
            "input" => {
                let shown = controls::input(tree, id).map(|shown| format!(" {shown} "));
                self.add_text(&shown.unwrap_or_default());
            }
            "img" | "image" => {
                self.picture(tree.attribute(id, "alt"));
                let source = ["src", "href"].iter().find_map(|name| tree.attribute(id, name));
                let named = self.pictures.zip(source).and_then(|(pictures, source)| pictures(source));
                self.add_text(&named.unwrap_or_default());
            }
            "svg" => {
                let title = tree.children(id).find(|&child| tree.name(child) == Some("title"));
                let texts =
                    title.map(|title| tree.children(title).filter_map(|child| tree.text(child)).collect::<String>());
                let has_text =
                    tree.children(id).any(|child| matches!(tree.name(child), Some("text" | "g" | "foreignObject")));
                if texts.is_some() || !has_text {
                    self.picture(texts.as_deref());
                }
            }
            _ => {}
        }
        if !is_block(name) {
            return true;
        }
        if self.is_inline() {
            self.add_text(if self.pre > 0 { "" } else { " " });
            match name {
                "ul" | "dir" | "menu" => self.cell_lists.push(None),
                "ol" => self.cell_lists.push(Some(ListCounter::of(tree, id))),
                "li" if self.pre == 0 => {
                    let marker = self.cell_lists.last_mut().and_then(Option::as_mut);
                    let marker = marker.map_or_else(|| "- ".to_owned(), |count| count.next_marker(tree, id));
                    self.add_text(&marker);
                }
                // Only counted, to stay in step when it is left.
                "pre" | "listing" | "xmp" | "plaintext" if self.pre > 0 => self.pre += 1,
                _ => {}
            }
            return true;
        }
        self.flush();
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading = name[1..].parse().ok(),
            "ul" | "dir" | "menu" => self.frames.push(OpenBlock::List(None)),
            "ol" => self.frames.push(OpenBlock::List(Some(ListCounter::of(tree, id)))),
            "li" => {
                let marker = match self.frames.last_mut() {
                    Some(OpenBlock::List(Some(count))) => count.next_marker(tree, id),
                    Some(OpenBlock::List(None) | OpenBlock::Item { .. } | OpenBlock::Quote) | None => "- ".to_owned(),
                };
                self.frames.push(OpenBlock::Item { marker, written: false });
            }
            "dd" => self.frames.push(OpenBlock::Item { marker: ": ".to_owned(), written: false }),
            "blockquote" => self.frames.push(OpenBlock::Quote),
            "pre" | "listing" | "xmp" | "plaintext" => self.pre = 1,
            "table" => self.rows = is_data(tree, id).then(Rows::default),
            "tr" => self.rows.iter_mut().for_each(Rows::begin_row),
            "td" | "th" => self.in_cell = self.rows.is_some(),
            _ => {}
        }
        true
    }

    pub(super) fn leave(&mut self, tree: &Tree, id: NodeId) {
        let Some(name) = tree.name(id) else { return };
        self.styles.pop_if(|(of, _)| *of == id);
        self.fonts.pop_if(|(of, _)| *of == id);
        if self.is_inline() && matches!(name, "ul" | "dir" | "menu" | "ol") {
            self.cell_lists.pop();
        }
        match name {
            "a" => self.end_link(tree.attribute(id, "href").unwrap_or_default()),
            "q" => self.add_text("”"),
            "button" | "meter" | "progress" => self.add_text(" "),
            _ => {}
        }
        if !is_block(name) {
            return;
        }
        match name {
            "pre" | "listing" | "xmp" | "plaintext" if self.pre > 0 => {
                self.pre -= 1;
                if self.pre == 0 {
                    self.write_fence();
                }
            }
            _ if self.pre > 0 => {
                if !matches!(self.line.as_str().chars().next_back(), None | Some('\n')) {
                    self.line.push(RunStyle::default(), "\n");
                }
            }
            "td" | "th" if self.in_cell => {
                self.in_cell = false;
                let cell = self.line.take().trim().to_owned();
                self.cell_lists.clear();
                let span = |what| tree.attribute(id, what).and_then(|n| n.trim().parse().ok()).unwrap_or(1);
                self.rows.iter_mut().for_each(|rows| rows.add(cell.clone(), span("colspan"), span("rowspan")));
            }
            _ if self.in_cell => self.add_text(" "),
            "tr" if self.rows.is_some() => self.write_row(),
            "table" => {
                self.flush();
                self.rows = None;
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.flush();
                self.heading = None;
            }
            "ul" | "dir" | "menu" | "ol" | "li" | "dd" | "blockquote" => {
                self.flush();
                self.frames.pop();
            }
            "dt" => {
                self.tight |= self.flush();
            }
            _ => {
                self.flush();
            }
        }
    }

    /// In a cell and in preformatted text, blocks make no lines of their own.
    const fn is_inline(&self) -> bool {
        self.in_cell || self.pre > 0
    }

    fn style(&self) -> RunStyle {
        self.styles.last().map(|(_, style)| *style).unwrap_or_default()
    }

    fn add_text(&mut self, text: &str) {
        let shown = self.fonts.last().and_then(|(_, font)| sign_fonts::shown_in(font, text));
        let text = shown.as_deref().unwrap_or(text);
        let mut last = self.line.as_str().chars().next_back();
        let mut added = String::with_capacity(text.len());
        for found in text.chars() {
            let found = match found {
                // Invisible: places where a long word may be broken.
                '\u{ad}' | '\u{200b}' | '\u{feff}' => continue,
                '\n' | '\t' if self.pre > 0 => found,
                _ if found.is_whitespace() => {
                    if self.pre == 0 && matches!(last, None | Some(' ' | '\n')) {
                        continue;
                    }
                    ' '
                }
                _ => found,
            };
            added.push(found);
            last = Some(found);
        }
        self.line.push(self.style(), &added);
    }

    /// Writes a picture by its description. A picture with an empty description is an ornament.
    fn picture(&mut self, alternative: Option<&str>) {
        match alternative.map(str::trim) {
            None => self.images += 1,
            Some("") => {}
            Some(alternative) => match picture(alternative) {
                Some(shown) => self.add_text(&shown),
                None => self.images += 1,
            },
        }
    }

    fn end_link(&mut self, target: &str) {
        let Some(from) = self.links.pop() else { return };
        self.line.set(RunStyle::default());
        let line = self.line.as_str();
        let label = line.get(from..).unwrap_or(line);
        let text = label.trim_end();
        let shown = links::behind(text, target).map(|shown| {
            // A shorter text has the blank before it already.
            if text.len() == label.len() { shown } else { format!("{} ", shown.trim_start()) }
        });
        self.add_text(&shown.unwrap_or_default());
    }

    fn add_break(&mut self) {
        if self.in_cell || self.heading.is_some() {
            self.add_text(" ");
        } else if self.pre > 0 || !self.line.as_str().is_empty() {
            self.line.push(RunStyle::default(), "\n");
        }
    }

    /// Writes the current line as a block; returns whether there was one.
    fn flush(&mut self) -> bool {
        let line = self.line.take();
        let line = line.trim();
        if line.is_empty() {
            return false;
        }
        self.begin_block();
        if let Some(level) = self.heading.take() {
            self.out.extend(std::iter::repeat_n('#', usize::from(level)));
            self.out.push(' ');
        }
        for (n, part) in line.split('\n').map(str::trim).filter(|part| !part.is_empty()).enumerate() {
            if n > 0 {
                self.next_line();
            }
            // A fence in the page's text must not become one here.
            if part.starts_with("```") || part.starts_with("~~~") {
                self.out.push('\\');
            }
            self.out.push_str(part);
        }
        true
    }

    fn write_fence(&mut self) {
        let text = self.line.take();
        let text = text.trim_matches('\n').trim_end();
        if text.trim().is_empty() {
            return;
        }
        let mut fence = "```".to_owned();
        while text.contains(&fence) {
            fence.push('`');
        }
        self.begin_block();
        self.out.push_str(&fence);
        for part in text.split('\n').chain([fence.as_str()]) {
            self.next_code_line();
            self.out.push_str(part.trim_end());
        }
    }

    fn write_row(&mut self) {
        let Some(rows) = &mut self.rows else { return };
        let under_a_row = rows.has_begun();
        let Some(lines) = rows.end_row() else { return };
        for (n, line) in lines.iter().enumerate() {
            if under_a_row || n > 0 {
                self.next_line();
            } else {
                self.begin_block();
            }
            self.out.push_str(line);
        }
    }

    /// Begins a block: a blank line or just a new one, and the marks of all containing blocks.
    fn begin_block(&mut self) {
        let new_item = self.frames.iter().any(|frame| matches!(frame, OpenBlock::Item { written: false, .. }));
        if !self.out.is_empty() {
            self.out.push_str(if new_item && self.tight { "\n" } else { "\n\n" });
        }
        let mut indents = 0;
        for frame in &mut self.frames {
            match frame {
                OpenBlock::Item { marker, written: false } => {
                    self.out.push_str(marker);
                    // From now on the width of the marker is left blank.
                    *frame = OpenBlock::Item { marker: " ".repeat(marker.chars().count()), written: true };
                    indents += 1;
                }
                OpenBlock::Item { marker, written: true } if indents < MAX_INDENTS => {
                    self.out.push_str(marker);
                    indents += 1;
                }
                OpenBlock::Quote if indents < MAX_INDENTS => {
                    self.out.push_str("> ");
                    indents += 1;
                }
                OpenBlock::List(_) | OpenBlock::Item { .. } | OpenBlock::Quote => {}
            }
        }
        self.tight = self.frames.iter().any(|frame| matches!(frame, OpenBlock::Item { .. }));
    }

    /// A further line of the same block. Without a quote's mark (which Markdown doesn't need here): it would stand in the
    /// middle of a sentence that someone quotes.
    fn next_line(&mut self) {
        self.out.push('\n');
        let indents = self.frames.iter().filter_map(|frame| match frame {
            OpenBlock::Item { marker, .. } => Some(marker.as_str()),
            OpenBlock::List(_) | OpenBlock::Quote => None,
        });
        self.out.extend(indents.take(MAX_INDENTS));
    }

    /// A further line of a code block. With the quote's mark: without it, the fence would not end with the quotation.
    fn next_code_line(&mut self) {
        self.out.push('\n');
        let indents = self.frames.iter().filter_map(|frame| match frame {
            OpenBlock::Item { marker, .. } => Some(marker.as_str()),
            OpenBlock::Quote => Some("> "),
            OpenBlock::List(_) => None,
        });
        self.out.extend(indents.take(MAX_INDENTS));
    }
}
