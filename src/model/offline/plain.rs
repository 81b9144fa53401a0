//! Plain text as blocks: RFCs, manual pages, reStructuredText, what a PDF gives. Nothing in it says what it is, so this
//! reads layout: blank lines, indentation, underlines, numbers, columns.

use super::anew::{begins_anew, is_bridged};
use super::apart::{Apart, apart};
use super::blocks::{Blocks, Builder, Kind, cells, ends_sentence, indentation};
use super::directives::{is_admonition, is_verbatim};
use super::furniture::Place;
use super::marker::{Family, marker};
use super::plain_look::{
    Look, before_code, columns, is_adornment, is_border, is_code, is_contents, is_heading, lead, look,
};
use super::statements::{Code, Line, Start};

/// Reads lines of plain text; `places` says which of them belong to the pages and not to the text.
pub(super) fn read<'a>(lines: &[Line<'a>], places: &[Place], start: &Start) -> Blocks<'a> {
    let mut reader = Reader {
        lines,
        places,
        anew: begins_anew(lines, places),
        apart: apart(lines, places),
        builder: Builder::new(start),
        literal: None,
        looked: (0, Look::Prose),
        prose_indent: None,
        prose_indents: 0,
        in_markdown_fence: start.code == Code::Fenced,
    };
    let mut i = 0;
    while i < lines.len() {
        i += reader.line(i);
    }
    let code = if reader.in_markdown_fence { Code::Fenced } else { Code::None };
    reader.builder.finish(code)
}

pub(super) struct Reader<'r, 'a> {
    pub(super) lines: &'r [Line<'a>],
    pub(super) places: &'r [Place],
    /// Which lines begin a paragraph without a blank line before them.
    pub(super) anew: Vec<bool>,
    /// Which lines are bullets, and which the items that they stand apart from.
    pub(super) apart: Vec<Apart>,
    pub(super) builder: Builder<'a>,
    /// Inside a literal block: everything deeper than this is code.
    literal: Option<usize>,
    /// Up to which line the look is known, and what it is.
    looked: (usize, Look),
    /// Where the last paragraph stood.
    prose_indent: Option<usize>,
    /// Where paragraphs have stood, a bit per column: what stands there too is no heading.
    prose_indents: u8,
    in_markdown_fence: bool,
}

impl<'a> Reader<'_, 'a> {
    /// Reads the line at `i`, and says how many lines that took.
    fn line(&mut self, i: usize) -> usize {
        match self.places[i] {
            place @ (Place::Furniture | Place::Running) => {
                self.builder.page_break(&self.lines[i], place);
                return 1;
            }
            Place::Note => {
                self.builder.note(&self.lines[i], self.anew[i]);
                return 1;
            }
            Place::PageStart => self.builder.page_break(&self.lines[i], Place::PageStart),
            Place::Text => {}
        }
        let line = &self.lines[i];
        let (indent, text) = indentation(line.text);
        if text.starts_with("```") {
            self.in_markdown_fence = !self.in_markdown_fence;
            self.builder.single(Kind::Other, indent, line, text);
            return 1;
        }
        if self.in_markdown_fence {
            return 1;
        }
        match self.apart[i] {
            Apart::Mark => {
                self.builder.close();
                return 1;
            }
            Apart::Item => {
                self.builder.begin(Kind::Item(Family::Bullet('•')), indent, line, text);
                return 1;
            }
            Apart::No => {}
        }
        if text.is_empty() {
            if self.builder.open.is_some() && self.builder.last_text().ends_with("::") {
                self.literal = Some(self.builder.open.as_ref().map_or(0, |block| block.indent));
            }
            let goes_on = self.builder.is_open(|kind| matches!(kind, Kind::Paragraph | Kind::Item(_)))
                && line.page.is_some()
                && (is_bridged(self.builder.last_text(), &self.chunk(i + 1)) || self.is_beside_display(i));
            if goes_on {
                return 1;
            }
            self.builder.close();
            return 1;
        }
        if self.anew[i] {
            self.builder.close();
        }
        if let Some(outer) = self.literal {
            if indent > outer {
                self.builder.single(Kind::Other, indent, line, text);
                return 1;
            }
            self.literal = None;
        }
        if let Some(taken) = self.marked(i, indent, text) {
            return taken;
        }
        let starts = self.builder.open.is_none();
        let before = self.content_indent(i);
        let dug_in = !starts
            && !self.builder.broken
            && indent > before + 1
            && (self.builder.last_text().ends_with(':') || is_code(text));
        if dug_in && look(&self.deeper_chunk(i, before), true) == Look::Code {
            self.builder.single(Kind::Other, indent, line, text);
            self.literal = Some(before);
            return 1;
        }
        if starts {
            self.look_at(i, indent);
        }
        if i < self.looked.0 {
            match self.looked.1 {
                Look::Code => {
                    self.builder.single(Kind::Other, indent, line, text);
                    return 1;
                }
                Look::Columns => {
                    self.builder.row(false, indent, line, &columns(text));
                    return 1;
                }
                Look::Prose => {}
            }
        }
        if starts && !self.builder.broken && self.is_term(i) {
            let section = indent <= 3
                && self.prose_indents & (1 << indent) == 0
                && text.starts_with(char::is_uppercase)
                && !text.contains(['(', '=', '<', '[', ',', '|', '_']);
            if section && self.alone(i) {
                self.builder.heading(line, text);
            } else {
                self.builder.single(Kind::Other, indent, line, text);
            }
            return 1;
        }
        if self.is_label(i, indent, text) {
            self.builder.single(Kind::Other, indent, line, text);
            return 1;
        }
        if self.is_led_to(i, text) {
            self.builder.close();
            if look(&self.chunk(i), true) != Look::Prose || is_code(text) {
                self.builder.single(Kind::Other, indent, line, text);
                return 1;
            }
        }
        self.item_or_text(i, indent, text);
        1
    }

    /// Lines that say what they are: headings, rules, directives, quotations, rows.
    fn marked(&mut self, i: usize, indent: usize, text: &'a str) -> Option<usize> {
        let line = &self.lines[i];
        let next = self.next_text(i);
        let next_text = indentation(next).1;
        let fresh = self.builder.open.is_none() || self.builder.broken;
        if is_adornment(text) || is_border(text) {
            // an overlined title: the rule, the title, the rule again
            self.builder.single(Kind::Other, indent, line, text);
            return Some(1);
        }
        if text.starts_with('|') && text[1..].contains('|') {
            self.builder.row(false, indent, line, &cells(text));
            return Some(1);
        }
        let wide = text.chars().count();
        if is_adornment(next_text)
            && (self.alone(i) || fresh)
            && next_text.chars().count() * 3 >= wide * 2
            && wide <= 100
            && text.chars().filter(|c| c.is_alphabetic()).count() >= 2
            && !ends_sentence(text)
        {
            self.builder.heading(line, text);
            return Some(2);
        }
        if is_contents(text) || text.starts_with("$ ") || text.starts_with(">>> ") {
            self.builder.single(Kind::Other, indent, line, text);
            return Some(1);
        }
        // "up to\n> 1 door" compares
        let number = text.trim_start_matches(['>', '=']).trim_start();
        let compares = !fresh && !self.alone(i) && number.starts_with(|c: char| c.is_ascii_digit());
        if text.starts_with('>') && !text.starts_with(">>>") && !compares {
            self.builder.single(Kind::Other, indent, line, text);
            return Some(1);
        }
        if text.starts_with(".. ") || text == ".." {
            self.directive(i, indent, text);
            return Some(1);
        }
        if fresh && text.starts_with(':') && text[1..].contains(": ") && text.len() < 200 {
            // a field of a directive or a docstring: ":param x: the text"
            let end = text[1..].find(": ").map_or(0, |at| at + 3);
            self.builder.begin(Kind::Paragraph, indent, line, text[end..].trim_start());
            return Some(1);
        }
        let hashes = text.bytes().take_while(|b| *b == b'#').count();
        if (2..=6).contains(&hashes) && text[hashes..].starts_with(' ') && self.alone(i) {
            self.builder.heading(line, text[hashes..].trim());
            return Some(1);
        }
        let after_text = !self.alone(i) && self.builder.open.is_some() && ends_sentence(self.builder.last_text());
        let numbered = text.starts_with(|c: char| c.is_ascii_digit())
            && marker(text).is_none_or(|mark| matches!(mark.family, Family::Clause(_)));
        let alone = self.alone(i) || fresh || after_text && numbered;
        if is_heading(text, indent, alone, next) && !self.listed(i, text) && self.builder.capital(text).is_none() {
            self.builder.heading(line, text);
            return Some(1);
        }
        None
    }

    fn directive(&mut self, i: usize, indent: usize, text: &'a str) {
        let line = &self.lines[i];
        let name = text[2..].trim_start();
        let Some((name, argument)) = name.split_once("::") else {
            // a comment or a target: what is indented under it is nobody's text
            self.builder.single(Kind::Other, indent, line, text);
            if !name.starts_with('_') && !name.starts_with('[') {
                self.literal = Some(indent);
            }
            return;
        };
        let (verbatim, admonition) = (is_verbatim(name), is_admonition(name));
        if admonition && !argument.trim().is_empty() {
            self.builder.begin(Kind::Paragraph, indent, line, argument.trim());
            return;
        }
        self.builder.single(Kind::Other, indent, line, text);
        if verbatim {
            self.literal = Some(indent);
        }
    }

    /// Says what the lines from `i` to the next blank line are.
    fn look_at(&mut self, i: usize, indent: usize) {
        if i < self.looked.0 {
            return;
        }
        let chunk = self.chunk(i);
        let deeper = self.prose_indent.is_some_and(|prose| indent >= prose + 2);
        let joins = self.builder.open.is_some() && self.builder.broken;
        let looks = if joins { Look::Prose } else { look(&chunk, deeper) };
        let lead = match looks {
            Look::Columns => lead(&chunk),
            Look::Code => before_code(&chunk),
            Look::Prose => 0,
        };
        if lead > 0 {
            // a sentence over its table, or its code
            let first = i + lead;
            self.looked = (first, Look::Prose);
            self.anew[first] = true;
            return;
        }
        self.looked = (i + chunk.len(), looks);
    }

    fn item_or_text(&mut self, i: usize, indent: usize, text: &'a str) {
        let line = &self.lines[i];
        if let Some(mark) = self.builder.item_marker(indent, text) {
            let depth = if let Family::Clause(levels) = mark.family { indent + levels } else { indent };
            self.builder.item(mark, depth, line, text);
            return;
        }
        if self.builder.broken && self.builder.open.is_some() {
            // over the page's end goes on what was not finished, where it stood
            let at = self.open_indent_of_block();
            let capital = text.starts_with(char::is_uppercase) && indent < at;
            if capital || self.builder.is_over(text) {
                self.builder.close();
            }
        } else if self.builder.open.is_some() {
            let last = self.builder.last_text();
            let before = self.open_indent(i);
            let finished = ends_sentence(last);
            // out of an item without a blank line, or a first line set in
            let in_item = self.builder.is_open(|kind| matches!(kind, Kind::Item(_)));
            let outside = in_item && indent <= self.open_indent_of_block();
            // a short line had room for the next word: it was ended on purpose
            let cut_short = outside && last.chars().count() < 50 && text.starts_with(char::is_uppercase);
            let left = outside && before > indent;
            let set_in = !in_item && indent >= before + 2 && self.lines_open() > 1;
            if cut_short
                || finished
                    && (left || set_in || (in_item && before > indent + 1 && indent < self.open_indent_of_block()))
            {
                self.builder.close();
            }
        }
        if self.builder.open.is_none() {
            self.prose_indent = Some(indent);
            self.prose_indents |= 1 << indent.min(7);
        }
        self.builder.text(indent, line, text);
    }
}
