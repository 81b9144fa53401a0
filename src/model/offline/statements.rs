//! Normative statements: each sentence, list item or table row of a text that obliges, advises or permits, with the
//! words it uses, the section it stands in, and its text as it stands in the document.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::blocks::{Block, Kind, blocks, fold, is_title};
use super::hyphens::{Seam, Vocabulary};
use super::lead_in::{is_for_items, leads_in};
use super::marker::Family;
use super::notes::without_marks;
use super::quotations::quotations;
use super::sentences::spans;
pub use super::strength::{Strength, UnknownStrength, strength_of};
use super::strength::{hinted, strongest};

/// The lines of page n are numbered from n times this on, so that line numbers grow through the document. No document
/// without pages has so many lines.
pub(super) const PAGE: u64 = 10_000_000_000;

/// One line of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// 1-based, in the document; in a document with pages, any number that grows.
    pub number: u64,
    pub page: Option<u64>,
    /// Without the line's end.
    pub text: &'a str,
}

/// How a text marks its structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// By marks: `#` headings, `-` lists, `|` tables, fences, `>` quotations.
    Markdown,
    /// By the same marks, as the reader of web pages and books writes them: no HTML in it, and no code by white space.
    Web,
    /// As the readers of office files write them: no code and no quotations.
    Office,
    /// By layout alone.
    Plain,
    /// Rows of values.
    Values,
}

/// The block of code that is open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    #[default]
    None,
    /// Between fences.
    Fenced,
    /// Between fences in a quotation.
    Quoted,
}

/// What was open where a text begins: a document is read in pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    pub section: Option<String>,
    pub code: Code,
    /// The strength that the lead-in of the open list gives to its items.
    pub lead_in: Option<Strength>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Where the quote begins.
    pub line: u64,
    pub page: Option<u64>,
    /// The nearest heading above, white space folded.
    pub section: Option<String>,
    pub strength: Strength,
    /// Contiguous text of the document, white space folded.
    pub quote: String,
}

/// What a text says, and what to begin the next piece with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    pub statements: Vec<Statement>,
    /// What is open at the line `open_from`, or at the end where that is `None`.
    pub end: Start,
    /// Where the last block begins, if the next piece could belong to it. Read again from here with `end` and drop this
    /// text's statements at or after it; or, where that is the text's first line, go on after the text.
    pub open_from: Option<u64>,
}

/// The style of a document, by its name's ending and by its look.
pub fn style_of(name: &str, lines: &[Line<'_>]) -> Style {
    let ending = name.rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_lowercase());
    match ending.as_str() {
        "md" | "markdown" | "mdx" | "mkd" => return Style::Markdown,
        "html" | "htm" | "xhtml" | "epub" => return Style::Web,
        "docx" | "docm" | "pptx" | "pptm" | "xlsx" | "xlsm" | "ods" | "xls" => return Style::Office,
        "csv" | "tsv" => return Style::Values,
        _ => {}
    }
    // what has pages is typeset: its marks are examples of marks
    let is_typeset = lines.first().is_some_and(|line| line.page.is_some());
    if is_typeset
        || matches!(ending.as_str(), "rst" | "rest" | "man" | "tex" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8")
    {
        return Style::Plain;
    }
    let mut marks = 0;
    for line in lines.iter().take(2_000) {
        let text = line.text.trim_end();
        let hashes = text.bytes().take_while(|b| *b == b'#').count();
        let heading = (2..=6).contains(&hashes) && text[hashes..].starts_with(' ');
        let fence = text.starts_with("```");
        let delimiter =
            text.starts_with('|') && text.contains("---") && text.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
        marks += usize::from(heading || fence) + usize::from(delimiter) * 2;
        // one "# " can be a comment
        marks += usize::from(hashes == 1 && text.starts_with("# ") && line.number <= 3);
    }
    if marks >= 2 { Style::Markdown } else { Style::Plain }
}

/// The normative statements of a text, in order.
pub fn statements(lines: &[Line<'_>], style: Style, start: &Start) -> Found {
    let read = blocks(lines, style, start);
    let is_typeset = lines.first().is_some_and(|line| line.page.is_some()) && style == Style::Plain;
    let mut lists = Lists { levels: Vec::new(), carried: start.lead_in, is_typeset, is_parted: false };
    let mut found = Found::default();
    let mut pending = None;
    let last = read.list.len().saturating_sub(1);
    let tail = lines.iter().rev().find(|line| !line.text.trim().is_empty()).map(|line| line.number);
    for (i, block) in read.list.iter().enumerate() {
        let lead_in = pending.take();
        if i == last {
            found.open_from = if style == Style::Values { read.cut } else { open_from(block, tail) };
            if found.open_from.is_some() {
                found.end = Start {
                    section: block.section.as_deref().map(str::to_owned),
                    code: Code::None,
                    lead_in: lead_in.or(lists.current()),
                };
            }
        }
        match block.kind {
            Kind::Heading => lists.end(),
            Kind::Other => {}
            Kind::Row { header } => row(block, header, &mut found.statements),
            Kind::Paragraph | Kind::Item(_) => {
                let inherited = match block.kind {
                    Kind::Item(family) => lists.item(block.indent, family, lead_in),
                    Kind::Paragraph | Kind::Heading | Kind::Row { .. } | Kind::Other => {
                        lists.paragraph(block);
                        None
                    }
                };
                let next = read.list.get(i + 1);
                pending = prose(block, inherited, next, &read.words, &mut found.statements);
            }
        }
    }
    for note in &read.notes {
        prose(note, None, None, &read.words, &mut found.statements);
    }
    if !read.notes.is_empty() {
        found.statements.sort_by_key(|statement| statement.line);
    }
    if found.open_from.is_none() {
        found.end = Start {
            section: read.section.as_deref().map(str::to_owned),
            code: read.code,
            lead_in: pending.or(lists.current()),
        };
    }
    found
}

fn open_from(block: &Block<'_>, tail: Option<u64>) -> Option<u64> {
    let first = block.pieces.first().map(|piece| piece.line);
    match block.kind {
        Kind::Paragraph | Kind::Item(_) => first,
        // a row may turn out a header, a heading a sentence's first line
        Kind::Heading | Kind::Row { .. } => first.filter(|_| block.pieces.last().map(|piece| piece.line) == tail),
        Kind::Other => None,
    }
}

/// The open lists, innermost last, each with the strength that its lead-in gives.
struct Lists {
    levels: Vec<Level>,
    /// From before the text began.
    carried: Option<Strength>,
    /// The text shows no indentation: a paragraph after an item may be the item's.
    is_typeset: bool,
    /// Such a paragraph stood there.
    is_parted: bool,
}

struct Level {
    indent: usize,
    family: Family,
    strength: Option<Strength>,
}

impl Lists {
    fn current(&self) -> Option<Strength> {
        self.levels.last().map_or(self.carried, |level| level.strength)
    }

    fn end(&mut self) {
        self.levels.clear();
        self.carried = None;
    }

    /// A paragraph ends the lists that don't contain it.
    fn paragraph(&mut self, block: &Block<'_>) {
        let announces = block.pieces.last().is_some_and(|piece| piece.text.ends_with(':'));
        if self.is_typeset && !announces && !std::mem::replace(&mut self.is_parted, true) {
            return;
        }
        while self.levels.last().is_some_and(|level| level.indent >= block.indent) {
            self.levels.pop();
        }
        if self.levels.is_empty() {
            self.carried = None;
        }
    }

    /// What an item is given by the lead-in of its list.
    fn item(&mut self, indent: usize, family: Family, lead_in: Option<Strength>) -> Option<Strength> {
        let is_parted = std::mem::take(&mut self.is_parted);
        let near = |level: &Level| level.family == family && level.indent.abs_diff(indent) <= 1;
        // a capital that follows on the one before was looked for over what stands between
        let is_same = self.levels.last().is_some_and(near) || family == Family::Capital && self.levels.iter().any(near);
        if is_parted && !is_same {
            self.end();
        }
        if lead_in.is_none()
            && let Some(at) = self.levels.iter().rposition(near)
        {
            self.levels.truncate(at + 1);
            return self.levels[at].strength;
        }
        while self.levels.last().is_some_and(|level| level.indent > indent || near(level)) {
            self.levels.pop();
        }
        let strength = lead_in.or(self.current());
        self.levels.push(Level { indent, family, strength });
        strength
    }
}

/// The sentences that oblige of a table row's first cell that has any.
fn row(block: &Block<'_>, header: bool, found: &mut Vec<Statement>) {
    for cell in &block.pieces {
        let masked = quotations(cell.text);
        let before = found.len();
        for span in spans(cell.text, &masked) {
            let Some((strength, _)) = strongest(cell.text, &masked, span.clone()) else {
                continue;
            };
            let sentence = &cell.text[span];
            if header && !(sentence.ends_with('.') && sentence.split_whitespace().count() > 4) {
                continue;
            }
            let quote = fold(&sentence[without_marks(sentence)]);
            found.push(Statement { line: cell.line, page: cell.page, section: owned(block), strength, quote });
        }
        if found.len() > before {
            return;
        }
    }
}

fn owned(block: &Block<'_>) -> Option<String> {
    block.section.as_ref().map(Rc::as_ref).map(str::to_owned)
}

/// A block's text as one string, and where each line of it begins.
pub(super) struct Joined {
    pub(super) text: String,
    /// Offset, line, page, and whether a page ended before it.
    pub(super) parts: Vec<(usize, u64, Option<u64>, bool)>,
}

pub(super) fn join(block: &Block<'_>, words: &Vocabulary) -> Joined {
    let mut text = String::new();
    let mut parts = Vec::with_capacity(block.pieces.len());
    let mut before = "";
    for piece in &block.pieces {
        match words.seam(before, piece.text) {
            Seam::Blank if text.is_empty() => {}
            Seam::Blank => text.push(' '),
            Seam::Nothing => {}
            Seam::Whole => {
                text.pop();
            }
        }
        before = piece.text;
        parts.push((text.len(), piece.line, piece.page, piece.after_break));
        for (i, word) in piece.text.split_whitespace().enumerate() {
            if i > 0 {
                text.push(' ');
            }
            text.push_str(word);
        }
    }
    Joined { text, parts }
}

impl Joined {
    /// Line and page of an offset.
    pub(super) fn place(&self, offset: usize) -> (u64, Option<u64>) {
        let at = self.parts.partition_point(|part| part.0 <= offset).saturating_sub(1);
        self.parts.get(at).map_or((0, None), |part| (part.1, part.2))
    }

    /// The part of `span` around `offset` that no page's end cuts.
    fn contiguous(&self, span: &std::ops::Range<usize>, offset: usize) -> std::ops::Range<usize> {
        let mut whole = span.clone();
        for (at, _, _, broken) in &self.parts {
            if *broken && *at > span.start && *at < span.end {
                if *at <= offset {
                    whole.start = *at;
                } else {
                    whole.end = *at;
                    break;
                }
            }
        }
        whole
    }
}

/// The statements of a paragraph or an item; returns the strength that it gives to the list after it.
fn prose(
    block: &Block<'_>,
    inherited: Option<Strength>,
    next: Option<&Block<'_>>,
    words: &Vocabulary,
    found: &mut Vec<Statement>,
) -> Option<Strength> {
    if inherited.is_none() && !block.pieces.iter().any(|piece| hinted(piece.text)) {
        return None;
    }
    let joined = join(block, words);
    let masked = quotations(&joined.text);
    let sentences = spans(&joined.text, &masked);
    let mut add = |span: &std::ops::Range<usize>, strength: Strength, offset: usize| {
        let span = joined.contiguous(span, offset);
        let bare = without_marks(&joined.text[span.clone()]);
        let span = span.start + bare.start..span.start + bare.end;
        let (line, page) = joined.place(span.start);
        let quote = joined.text[span].trim().to_owned();
        found.push(Statement { line, page, section: owned(block), strength, quote });
    };
    let leads = leads_in(block, &joined.text, next);
    let last = sentences.last().cloned().filter(|_| leads);
    if let Some(inherited) = inherited {
        if leads {
            let own = strongest(&joined.text, &masked, 0..joined.text.len());
            let own = own.filter(|&(_, at)| is_for_items(&joined.text, at));
            return Some(own.map_or(inherited, |(strength, _)| strength));
        }
        // the item is its first sentence: where it ends, not every layout shows
        for (i, span) in sentences.iter().enumerate() {
            let own = strongest(&joined.text, &masked, span.clone());
            if let Some((strength, offset)) = own.or((i == 0).then_some((inherited, span.start))) {
                add(span, strength, offset);
            }
        }
        return None;
    }
    for span in &sentences {
        let Some((strength, offset)) = strongest(&joined.text, &masked, span.clone()) else {
            continue;
        };
        if last.as_ref() == Some(span) && is_for_items(&joined.text[span.clone()], offset - span.start) {
            return Some(strength);
        }
        if says_something(&joined.text[span.clone()]) {
            add(span, strength, offset);
        }
    }
    None
}

/// The word alone ("MUST") is a term, not a sentence.
fn says_something(sentence: &str) -> bool {
    if is_title(sentence) {
        return false;
    }
    let words = |word: &&str| word.chars().any(char::is_alphanumeric);
    sentence.split_whitespace().filter(words).any(|word| {
        let bare: String = word.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_uppercase();
        !matches!(
            bare.as_str(),
            "MUST"
                | "SHALL"
                | "SHOULD"
                | "MAY"
                | "NOT"
                | "REQUIRED"
                | "RECOMMENDED"
                | "OPTIONAL"
                | "OR"
                | "AND"
                | "ARE"
                | "IS"
        )
    })
}

#[cfg(test)]
#[path = "statements_tests.rs"]
pub(super) mod tests;
