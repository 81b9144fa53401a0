//! The labels before the paragraphs of a DOC. The library that reads it numbers its lists in digits, and knows neither
//! letters nor the numbers of headings: the paragraphs are read here once more, and matched by their letters.

use std::collections::VecDeque;
use std::io::{Cursor, Read};

use encoding_rs::WINDOWS_1252;

use super::bytes::{byte, long, short, wide};
use super::lists::WordLists;

/// How far ahead a paragraph is searched, among those with letters; one with few letters may equal another one.
const REACH: usize = 300;
const FEW_LETTERS: usize = 12;
const SHORT_REACH: usize = 20;
/// The maximum depth of styles based on one another.
const MAX_STYLES_BELOW: usize = 20;
/// This much of a field is enough to recognise it.
const NAME: usize = 16;
/// The size in bytes of a page of properties.
const PAGE: usize = 512;
/// Properties of paragraphs: the level in a list, and the number of the list's use.
const LEVEL: u16 = 0x260a;
const LIST: u16 = 0x460b;
const TABLE: u16 = 0xd608;

/// The paragraphs of a document that weren't looked up yet.
#[derive(Debug, Default)]
pub(super) struct Labels {
    paragraphs: VecDeque<Labelled>,
    /// Formula fields whose results aren't stored in the file.
    pub(super) formulas: u64,
}

#[derive(Debug)]
struct Labelled {
    letters: String,
    label: (u8, String),
}

/// The list properties of a paragraph, its own or its style's.
#[derive(Debug, Clone, Copy, Default)]
struct ListWords {
    list: Option<u16>,
    level: Option<u8>,
}

/// The data for finding the parts of the file.
struct Places<'f> {
    text: &'f [u8],
    table: &'f [u8],
    pairs: usize,
}

impl Labels {
    /// Empty if the file is older than Word 97, or damaged.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self::parts(bytes).and_then(|(text, table)| read(&text, &table)).unwrap_or_default()
    }

    /// The text and its tables.
    fn parts(bytes: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).ok()?;
        let mut stream = |name: &str| {
            let mut bytes = Vec::new();
            file.open_stream(name).ok()?.read_to_end(&mut bytes).ok().map(|_| bytes)
        };
        let text = stream("/WordDocument")?;
        let table = stream(if short(&text, 10)? & 0x200 == 0 { "/0Table" } else { "/1Table" })?;
        Some((text, table))
    }

    /// The list level of the next paragraph that has this text, and its label, which may be empty.
    pub(super) fn find(&mut self, text: &str) -> Option<(u8, String)> {
        let letters = letters(text.chars());
        let reach = if letters.len() < FEW_LETTERS { SHORT_REACH } else { REACH };
        let at = self.paragraphs.iter().take(reach).position(|paragraph| paragraph.letters == letters)?;
        self.paragraphs.drain(..at);
        self.paragraphs.pop_front().map(|paragraph| paragraph.label)
    }
}

fn letters(text: impl Iterator<Item = char>) -> String {
    text.filter(|found| found.is_alphanumeric()).collect()
}

fn read(text: &[u8], table: &[u8]) -> Option<Labels> {
    const WORD_97: u16 = 0xc0;
    if short(text, 0)? != 0xa5ec || short(text, 2)? < WORD_97 {
        return None;
    }
    // Arrays of numbers of two, four and eight bytes, each behind its length.
    let shorts = 32;
    let longs = shorts + 2 + 2 * usize::from(short(text, shorts)?);
    let pairs = longs + 2 + 4 * usize::from(short(text, longs)?) + 2;
    let places = Places { text, table, pairs };
    let length = long(text, longs + 2 + 4 * 3)?;
    let lists = places.offset(73)?;
    let uses = places.offset(74)?;
    let mut lists = WordLists::read(table, lists, uses);
    let styles = places.styles().unwrap_or_default();
    let runs = places.runs()?;
    let (mut paragraphs, mut formulas) = (VecDeque::new(), 0);
    // For each open field, whether it is showing its result, and its name.
    let (mut letters, mut fields): (String, Vec<(bool, String)>) = (String::new(), Vec::new());
    let mut silent = 0_usize;
    places.each_char(length, |found, place| match found {
        '\u{13}' => {
            fields.push((false, String::new()));
            silent += 1;
        }
        '\u{14}' => {
            if let Some((shows, _)) = fields.last_mut().filter(|(shows, _)| !shows) {
                *shows = true;
                silent -= 1;
            }
        }
        '\u{15}' => {
            if let Some((false, name)) = fields.pop() {
                silent -= 1;
                formulas += u64::from(name.trim_start().starts_with("EQ "));
            }
        }
        _ if silent > 0 => {
            if let Some((_, name)) = fields.last_mut().filter(|(_, name)| name.len() < NAME) {
                name.push(found);
            }
        }
        '\r' | '\u{7}' => {
            let label = words_at(&runs, place).and_then(|(own, style)| {
                let below = styles.get(usize::from(style)).copied().unwrap_or_default();
                let list = own.list.or(below.list).filter(|list| *list > 0)?;
                // The level comes from the style if the list does.
                let level = own.level.or(below.level).unwrap_or(0);
                Some((level, lists.next(list, level)?))
            });
            if !letters.is_empty() {
                let label = label.unwrap_or_default();
                paragraphs.push_back(Labelled { letters: std::mem::take(&mut letters), label });
            }
        }
        _ if found.is_alphanumeric() => letters.push(found),
        _ => {}
    })?;
    Some(Labels { paragraphs, formulas })
}

type LabelRun = (u32, u32, ListWords, u16);

fn words_at(runs: &[LabelRun], place: u32) -> Option<(ListWords, u16)> {
    let at = runs.partition_point(|(start, ..)| *start <= place).checked_sub(1)?;
    let (_, end, words, style) = runs.get(at)?;
    (place < *end).then_some((*words, *style))
}

impl Places<'_> {
    /// The offset of a part in the table stream.
    fn offset(&self, pair: usize) -> Option<usize> {
        usize::try_from(long(self.text, self.pairs + 8 * pair)?).ok()
    }

    fn part(&self, pair: usize) -> Option<&[u8]> {
        let length = usize::try_from(long(self.text, self.pairs + 8 * pair + 4)?).ok()?;
        let from = self.offset(pair)?;
        self.table.get(from..from.checked_add(length)?)
    }

    /// Reports the main text's characters, each with its offset in the file, by the pieces in which the text is stored.
    fn each_char(&self, length: u32, mut tell: impl FnMut(char, u32)) -> Option<()> {
        const BYTES: u32 = 0x4000_0000;
        let part = self.part(33)?;
        let mut at = 0;
        while byte(part, at)? == 1 {
            at += 3 + usize::from(short(part, at + 1)?);
        }
        let size = usize::try_from(long(part, at + 1)?).ok()?;
        let pieces = part.get(at + 5..(at + 5).checked_add(size)?)?;
        let count = size.checked_sub(4)? / 12;
        let mut told = 0;
        for piece in 0..count {
            let (first, last) = (long(pieces, 4 * piece)?, long(pieces, 4 * piece + 4)?.min(length));
            // The pieces follow one another.
            if first < told {
                return None;
            }
            told = last.max(told);
            let head = long(pieces, 4 * (count + 1) + 8 * piece + 2)?;
            let units = usize::try_from(last.saturating_sub(first)).ok()?;
            if head & BYTES != 0 {
                let place = (head & !BYTES) / 2;
                let from = usize::try_from(place).ok()?;
                let bytes = self.text.get(from..from.checked_add(units)?)?;
                let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
                (place..).zip(text.chars()).for_each(|(place, found)| tell(found, place));
            } else {
                let units = wide(self.text, usize::try_from(head).ok()?, units)?;
                let mut place = head;
                for found in char::decode_utf16(units) {
                    let found = found.unwrap_or(char::REPLACEMENT_CHARACTER);
                    tell(found, place);
                    place = place.saturating_add(if u32::from(found) > 0xffff { 4 } else { 2 });
                }
            }
        }
        Some(())
    }

    /// The paragraphs' own properties, by their offsets in the file, and their styles.
    fn runs(&self) -> Option<Vec<LabelRun>> {
        const ENTRY: usize = 13;
        let pages = self.part(13)?;
        let count = pages.len().checked_sub(4)? / 8;
        let mut runs = Vec::new();
        for index in 0..count {
            let from = PAGE * usize::try_from(long(pages, 4 * (count + 1) + 4 * index)? & 0x3f_ffff).ok()?;
            let page = self.text.get(from..from.checked_add(PAGE)?)?;
            let inside = usize::from(page[PAGE - 1]);
            for run in 0..inside {
                let (start, end) = (long(page, 4 * run)?, long(page, 4 * run + 4)?);
                let at = 2 * usize::from(byte(page, 4 * (inside + 1) + ENTRY * run)?);
                let (mut words, mut style) = (ListWords::default(), 0);
                if at > 0 {
                    // The length is in units of two bytes, less one, or, behind a zero, in whole units.
                    let (from, size) = match byte(page, at)? {
                        0 => (at + 2, 2 * usize::from(byte(page, at + 1)?)),
                        size => (at + 1, 2 * usize::from(size) - 1),
                    };
                    let body = page.get(from..from + size).unwrap_or_default();
                    style = short(body, 0).unwrap_or_default();
                    words.learn(body.get(2..).unwrap_or_default());
                }
                runs.push((start, end, words, style));
            }
        }
        runs.sort_unstable_by_key(|(start, ..)| *start);
        Some(runs)
    }

    /// The properties of styles, each including those of the styles that it is based on.
    fn styles(&self) -> Option<Vec<ListWords>> {
        let part = self.part(1)?;
        let mut at = 2 + usize::from(short(part, 0)?);
        let (count, head) = (short(part, 2)?, usize::from(short(part, 4)?));
        let mut own: Vec<(ListWords, usize)> = Vec::new();
        for _ in 0..count {
            let Some(size) = short(part, at).map(usize::from) else { break };
            let style = part.get(at + 2..at + 2 + size).unwrap_or_default();
            own.push(self::style(style, head).unwrap_or((ListWords::default(), usize::MAX)));
            at += 2 + size;
        }
        let whole = own.iter().map(|(words, below)| {
            let (mut words, mut below) = (*words, *below);
            for _ in 0..MAX_STYLES_BELOW {
                let Some((more, next)) = own.get(below) else { break };
                words = ListWords { list: words.list.or(more.list), level: words.level.or(more.level) };
                below = *next;
            }
            words
        });
        Some(whole.collect())
    }
}

/// The properties of a paragraph style, and the style that it is based on.
fn style(style: &[u8], head: usize) -> Option<(ListWords, usize)> {
    const OF_PARAGRAPHS: u16 = 1;
    let kind = short(style, 2)?;
    let below = usize::from(kind >> 4);
    let mut words = ListWords::default();
    if kind & 0xf == OF_PARAGRAPHS {
        let at = head + 2 + 2 * usize::from(short(style, head)?) + 2;
        let at = at.next_multiple_of(2);
        let size = usize::from(short(style, at)?);
        words.learn(style.get(at + 4..at + 2 + size).unwrap_or_default());
    }
    Some((words, below))
}

impl ListWords {
    /// Reads properties: each has a number that determines the length of its value.
    fn learn(&mut self, mut properties: &[u8]) {
        while let Some(kind) = short(properties, 0) {
            let rest = &properties[2..];
            let (head, size) = match (kind >> 13, kind) {
                (0 | 1, _) => (0, 1),
                (2 | 4 | 5, _) => (0, 2),
                (3, _) => (0, 4),
                (7, _) => (0, 3),
                (_, TABLE) => (2, usize::from(short(rest, 0).unwrap_or(1)).saturating_sub(1)),
                (_, _) => (1, usize::from(byte(rest, 0).unwrap_or(0))),
            };
            let Some(value) = rest.get(head..head + size) else { return };
            match kind {
                LEVEL => self.level = byte(value, 0),
                LIST => self.list = short(value, 0),
                _ => {}
            }
            properties = &rest[head + size..];
        }
    }
}
