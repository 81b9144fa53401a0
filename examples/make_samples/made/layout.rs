//! Text set into lines and lines into pages: words are wrapped and cut, pages broken wherever they are full.

use super::source::{Block, Document};
use super::widths::{Font, width};

/// A4 and what is printed on, in thousandths of a point; y grows upwards.
pub(super) const LEFT: u32 = 92_000;
const WIDTH: u32 = 411_000;
const TOP: u32 = 752_000;
const BOTTOM: u32 = 160_000;

/// A piece of text at its place, in thousandths of a point.
pub(super) struct Placed {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) size: u32,
    pub(super) font: Font,
    pub(super) text: String,
}

/// A rule from `left` to `right`.
pub(super) struct Rule {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) y: u32,
}

#[derive(Default)]
pub(super) struct Page {
    pub(super) texts: Vec<Placed>,
    pub(super) rules: Vec<Rule>,
}

/// The pages of a document.
pub(super) fn pages(document: &Document) -> Vec<Page> {
    let mut setter = Setter { document, pages: vec![Page::default()], y: TOP };
    setter.line(LEFT, 20, Font::Bold, &document.title, 26_000);
    setter.line(LEFT, 11, Font::Times, &document.subtitle, 30_000);
    for block in &document.blocks {
        setter.block(block);
    }
    let header = document.header.as_str();
    for (page, number) in setter.pages.iter_mut().zip(1..) {
        let mut edge = |x, y, text: String| page.texts.push(Placed { x, y, size: 9, font: Font::Times, text });
        edge(LEFT, 796_000, header.to_owned());
        edge(LEFT, 52_000, document.footer.clone());
        edge(LEFT + WIDTH - 9_000, 52_000, format!("{number}"));
    }
    setter.pages
}

struct Setter<'d> {
    document: &'d Document,
    pages: Vec<Page>,
    y: u32,
}

impl Setter<'_> {
    fn block(&mut self, block: &Block) {
        if let Some(title) = &block.heading {
            self.heading(14, title);
        }
        if let Some(title) = &block.subheading {
            self.heading(12, title);
        }
        if let Some(text) = &block.text {
            self.text(0, text);
        }
        for item in block.items.iter().flatten() {
            self.room(15_000);
            self.put(LEFT + 6_000, 11, Font::Times, "•");
            self.text(18_000, item);
        }
        if let Some(rows) = &block.table {
            self.table(rows);
        }
    }

    /// A title, with at least two lines of text under it.
    fn heading(&mut self, size: u32, title: &str) {
        self.y = self.y.saturating_sub(8_000);
        self.room(60_000);
        self.line(LEFT, size, Font::Bold, title, 20_000);
    }

    fn text(&mut self, indent: u32, text: &str) {
        for line in self.wrapped(text, WIDTH - indent) {
            self.room(0);
            self.line(LEFT + indent, 11, Font::Times, &line, 15_000);
        }
        self.y = self.y.saturating_sub(7_000);
    }

    fn table(&mut self, rows: &[Vec<String>]) {
        const COLUMNS: [u32; 3] = [0, 80_000, 330_000];
        let rule = |setter: &mut Self| {
            let y = setter.y + 12_000;
            if let Some(page) = setter.pages.last_mut() {
                page.rules.push(Rule { left: LEFT, right: LEFT + WIDTH, y });
            }
        };
        self.room(17_000 * u32::try_from(rows.len()).unwrap_or(1));
        rule(self);
        for (at, row) in rows.iter().enumerate() {
            let font = if at == 0 { Font::Bold } else { Font::Times };
            for (cell, x) in row.iter().zip(COLUMNS) {
                self.put(LEFT + x + 3_000, 10, font, cell);
            }
            self.y = self.y.saturating_sub(17_000);
            rule(self);
        }
        self.y = self.y.saturating_sub(9_000);
    }

    /// A new page where this one has no room for `height` more.
    fn room(&mut self, height: u32) {
        if self.y < BOTTOM + height {
            self.pages.push(Page::default());
            self.y = TOP;
        }
    }

    fn line(&mut self, x: u32, size: u32, font: Font, text: &str, height: u32) {
        self.put(x, size, font, text);
        self.y = self.y.saturating_sub(height);
    }

    fn put(&mut self, x: u32, size: u32, font: Font, text: &str) {
        let y = self.y;
        if let Some(page) = self.pages.last_mut() {
            page.texts.push(Placed { x, y, size, font, text: text.to_owned() });
        }
    }

    /// Lines of at most `room`, words cut where the document allows it.
    fn wrapped(&self, text: &str, room: u32) -> Vec<String> {
        let fits = |line: &str| width(Font::Times, line) * 11 <= room;
        let mut lines = Vec::new();
        let mut line = String::new();
        for word in text.split(' ') {
            let blank = if line.is_empty() { "" } else { " " };
            if fits(&format!("{line}{blank}{word}")) {
                line.push_str(blank);
                line.push_str(word);
                continue;
            }
            let cut = self.cuts(word).into_iter().rev().find(|(head, _)| fits(&format!("{line}{blank}{head}")));
            let rest = match cut {
                Some((head, rest)) => {
                    line.push_str(blank);
                    line.push_str(&head);
                    rest
                }
                None => word.to_owned(),
            };
            lines.push(std::mem::replace(&mut line, rest));
        }
        lines.push(line);
        lines
    }

    /// Where a word may be cut: what stays on the line, with its hyphen, and the rest.
    fn cuts(&self, word: &str) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for hyphened in &self.document.hyphens {
            let whole = hyphened.replace('-', "");
            let Some(after) = word.strip_prefix(whole.as_str()).filter(|after| !after.starts_with(char::is_alphabetic))
            else {
                continue;
            };
            let parts: Vec<&str> = hyphened.split('-').collect();
            for at in 1..parts.len() {
                found.push((format!("{}-", parts[..at].concat()), format!("{}{after}", parts[at..].concat())));
            }
        }
        found
    }
}
