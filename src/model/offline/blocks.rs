//! A text as a run of blocks, whatever it was written in: headings, paragraphs, list items, table cells, and what is
//! nobody's prose (code, quotations, rules). The readers (`markdown`, `plain`, `values`) build it; statements and summary
//! walk it.

use std::rc::Rc;

use super::anew::{goes_on, is_number};
use super::furniture::{Place, furniture};
use super::hyphens::Vocabulary;
use super::marker::{Family, Marker};
use super::notes::opens_note;
use super::statements::{Code, Line, Start, Style};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Heading,
    Paragraph,
    Item(Family),
    /// One table row; its pieces are its cells.
    Row {
        header: bool,
    },
    /// Code, quoted passages, rules, signatures, tables of contents: kept to know what stands between the others.
    Other,
}

/// One line's part of a block, or one cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'a> {
    pub(super) line: u64,
    pub(super) page: Option<u64>,
    pub(super) text: &'a str,
    /// The text before it isn't contiguous with it: a page ended between them, with its header or footer.
    pub(super) after_break: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Block<'a> {
    pub(super) kind: Kind,
    /// An item's number in its list: 1 for an A, and for what has none; 0 for what is no item.
    pub(super) number: u64,
    /// Columns before the marker or the text.
    pub(super) indent: usize,
    pub(super) pieces: Vec<Piece<'a>>,
    /// The heading above it, not itself.
    pub(super) section: Option<Rc<str>>,
}

#[derive(Debug)]
pub(super) struct Blocks<'a> {
    pub(super) list: Vec<Block<'a>>,
    /// Footnotes, which stand between the others without being next to any.
    pub(super) notes: Vec<Block<'a>>,
    /// What the words of the text look like where no line's end cuts them.
    pub(super) words: Vocabulary,
    pub(super) section: Option<Rc<str>>,
    pub(super) code: Code,
    /// Of rows of values: the line with which a row begins that the text's end may cut.
    pub(super) cut: Option<u64>,
}

/// As many lines back tell how wide a block is.
const NEAR: usize = 60;

/// Reads a text in its style.
pub(super) fn blocks<'a>(lines: &[Line<'a>], style: Style, start: &Start) -> Blocks<'a> {
    let mut read = match style {
        Style::Markdown | Style::Web | Style::Office => {
            super::markdown::read(lines, &furniture(lines, style), start, style)
        }
        Style::Plain => super::plain::read(lines, &furniture(lines, style), start),
        Style::Values => super::values::read(lines, start),
    };
    read.words = Vocabulary::of(lines);
    read
}

/// What both readers share: the block that is open, and the page break that waits to be stepped over.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    pub(super) done: Vec<Block<'a>>,
    pub(super) open: Option<Block<'a>>,
    notes: Vec<Block<'a>>,
    /// A list was open where the text begins.
    pub(super) begins_in_list: bool,
    pub(super) section: Option<Rc<str>>,
    /// A page ended, and what is open may go on.
    pub(super) broken: bool,
    /// Something of the page stood there, so that text over the break isn't contiguous.
    cut: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(start: &Start) -> Self {
        Self {
            done: Vec::new(),
            open: None,
            notes: Vec::new(),
            begins_in_list: start.lead_in.is_some(),
            section: start.section.as_deref().map(Rc::from),
            broken: false,
            cut: false,
        }
    }

    pub(super) fn close(&mut self) {
        self.broken = false;
        self.cut = false;
        self.done.extend(self.open.take());
    }

    /// Closes what is open and opens a block that may go on.
    pub(super) fn begin(&mut self, kind: Kind, indent: usize, line: &Line<'_>, text: &'a str) {
        self.close();
        let piece = Piece { line: line.number, page: line.page, text, after_break: false };
        self.open = Some(Block { kind, number: 0, indent, pieces: vec![piece], section: self.section.clone() });
    }

    /// Begins a list's item, of whose first line `mark` was read.
    pub(super) fn item(&mut self, mark: Marker, indent: usize, line: &Line<'_>, text: &'a str) {
        self.begin(Kind::Item(mark.family), indent, line, &text[mark.bytes..]);
        self.open.iter_mut().for_each(|item| item.number = mark.number);
    }

    /// Closes what is open and adds a block of one line.
    pub(super) fn single(&mut self, kind: Kind, indent: usize, line: &Line<'_>, text: &'a str) {
        self.begin(kind, indent, line, text);
        self.close();
    }

    pub(super) fn row(&mut self, header: bool, indent: usize, line: &Line<'_>, cells: &[&'a str]) {
        self.close();
        let pieces =
            cells.iter().map(|text| Piece { line: line.number, page: line.page, text, after_break: false }).collect();
        self.done.push(Block { kind: Kind::Row { header }, number: 0, indent, pieces, section: self.section.clone() });
    }

    pub(super) fn heading(&mut self, line: &Line<'_>, text: &'a str) {
        self.single(Kind::Heading, 0, line, text);
        self.section = Some(fold(text).into());
    }

    /// Goes on with the open block, or opens a paragraph.
    pub(super) fn text(&mut self, indent: usize, line: &Line<'_>, text: &'a str) {
        self.broken = false;
        let after_break = std::mem::take(&mut self.cut);
        match &mut self.open {
            Some(block) => block.pieces.push(Piece { line: line.number, page: line.page, text, after_break }),
            None => self.begin(Kind::Paragraph, indent, line, text),
        }
    }

    /// A page ends at `line`: an unfinished paragraph waits for its rest on the next page, anything else is over.
    pub(super) fn page_break(&mut self, line: &Line<'_>, place: Place) {
        let unfinished = self.open.as_ref().is_some_and(|block| match block.kind {
            Kind::Paragraph if matches!(block.pieces[..], [only] if is_title(only.text)) => false,
            Kind::Paragraph | Kind::Item(_) => block.pieces.last().is_some_and(|piece| !ends_sentence(piece.text)),
            Kind::Heading | Kind::Row { .. } | Kind::Other => false,
        });
        if unfinished {
            self.broken = true;
            self.cut |= place == Place::Furniture && !indentation(line.text).1.is_empty();
        } else {
            self.close();
        }
    }

    /// Whether what is open ended with its page: the line `text` begins with a capital for whose word the line before had
    /// room, or is a section's number alone.
    pub(super) fn is_over(&self, text: &str) -> bool {
        let word = text.split_whitespace().next().unwrap_or("").chars().count();
        let last = self.last_text().chars().count();
        let widest = self.open.iter().flat_map(|block| block.pieces.iter().rev().take(NEAR));
        let widest = widest.map(|piece| piece.text.chars().count()).max();
        let is_section = is_number(text) && text.contains('.') && !text.ends_with('.');
        is_section
            || text.starts_with(char::is_uppercase)
                && !goes_on(self.last_text())
                && last + 1 + word < widest.unwrap_or(0).max(text.chars().count())
    }

    /// A line of a footnote: what is open waits for its rest on the next page.
    pub(super) fn note(&mut self, line: &Line<'a>, is_anew: bool) {
        self.page_break(line, Place::Furniture);
        let text = indentation(line.text).1;
        if text.is_empty() {
            return;
        }
        let piece = |text| Piece { line: line.number, page: line.page, text, after_break: false };
        let begun = opens_note(text).is_some();
        let same_page = |block: &Block<'_>| block.pieces.last().is_some_and(|last| last.page == line.page);
        let led_to = |block: &Block<'_>| {
            block.pieces.last().is_some_and(|last| last.text.ends_with(':')) && !text.starts_with(char::is_lowercase)
        };
        if let Some(block) =
            self.notes.last_mut().filter(|block| !begun && !is_anew && same_page(block) && !led_to(block))
        {
            block.pieces.push(piece(text));
            return;
        }
        let number = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '[' | ']'))).filter(|_| begun);
        let text = text[number.unwrap_or(0)..].trim_start();
        let section = self.section.clone();
        self.notes.push(Block { kind: Kind::Paragraph, number: 0, indent: 0, pieces: vec![piece(text)], section });
    }

    pub(super) fn is_open(&self, kinds: fn(Kind) -> bool) -> bool {
        self.open.as_ref().is_some_and(|block| kinds(block.kind))
    }

    pub(super) fn last_text(&self) -> &'a str {
        self.open.as_ref().and_then(|block| block.pieces.last()).map_or("", |piece| piece.text)
    }

    pub(super) fn finish(mut self, code: Code) -> Blocks<'a> {
        self.close();
        Blocks {
            list: self.done,
            notes: self.notes,
            words: Vocabulary::default(),
            section: self.section,
            code,
            cut: None,
        }
    }
}

/// Whether a text ends as a sentence does.
pub(super) fn ends_sentence(text: &str) -> bool {
    text.trim_end_matches(['"', '”', '’', '\'', ')', ']', '*', '_', '`'])
        .ends_with(['.', '!', '?', ':', ';', '。', '…'])
}

/// "License Must Not Be Specific to Debian" is a title.
pub(super) fn is_title(sentence: &str) -> bool {
    let mut long =
        sentence.split_whitespace().filter(|word| word.chars().count() > 3 && word.starts_with(char::is_alphabetic));
    let small = sentence.chars().any(char::is_lowercase);
    small
        && !ends_sentence(sentence)
        && long.clone().count() >= 2
        && long.all(|word| word.starts_with(char::is_uppercase))
}

/// Whether a text stops where a list can take it up: "The operator must".
pub(super) fn hangs_open(text: &str) -> bool {
    let word = text.rsplit(' ').next().unwrap_or("").to_lowercase();
    matches!(
        word.as_str(),
        "must"
            | "shall"
            | "should"
            | "may"
            | "not"
            | "either"
            | "to"
            | "that"
            | "be"
            | "following"
            | "also"
            | "least"
            | "never"
    )
}

/// White space folded to single spaces.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

/// Columns of white space before a line's text (a tab goes to the next multiple of 4), and the text without blanks around it.
pub(super) fn indentation(line: &str) -> (usize, &str) {
    let mut columns = 0;
    for c in line.chars() {
        match c {
            ' ' | '\u{a0}' => columns += 1,
            '\t' => columns = (columns / 4 + 1) * 4,
            '\u{c}' | '\u{feff}' | '\r' => {}
            _ => break,
        }
    }
    (columns, line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{c}' | '\u{feff}')))
}

/// The cells of a row between bars; a bar in backticks or after a backslash is text.
pub(super) fn cells(text: &str) -> Vec<&str> {
    let inner = text.strip_prefix('|').unwrap_or(text);
    let inner = if inner.ends_with('|') && !inner.ends_with("\\|") { &inner[..inner.len() - 1] } else { inner };
    let paired = inner.matches('`').count() % 2 == 0;
    let (mut found, mut start, mut code, mut escaped) = (Vec::new(), 0, false, false);
    for (at, c) in inner.char_indices() {
        match c {
            '`' if paired && !escaped => code = !code,
            '|' if !code && !escaped => {
                found.push(inner[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    found.push(inner[start..].trim());
    found
}
