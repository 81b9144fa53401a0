//! The lists of a DOC (MS-DOC, 2.9.131 and 2.9.147): the labels before their paragraphs, which aren't stored but
//! counted from the paragraphs before.

use std::collections::{HashMap, HashSet};

use super::bytes::{byte, long, short, wide};
use crate::readers::package::number;

const LEVELS: usize = 9;
/// The maximum length of a label before a paragraph, in code units.
const MAX_LABEL: usize = 100;
/// The most lists that are kept.
const MAX_LISTS: usize = 20_000;
/// Kinds of numbers (MS-OSHARED, 2.2.1.3) by their names in DOCX.
const KINDS: [(u8, &str); 9] = [
    (0, "decimal"),
    (1, "upperRoman"),
    (2, "lowerRoman"),
    (3, "upperLetter"),
    (4, "lowerLetter"),
    (5, "ordinal"),
    (6, "cardinalText"),
    (7, "ordinalText"),
    (22, "decimalZero"),
];
const BULLET: u8 = 23;
const NO_NUMBER: u8 = 255;

#[derive(Debug, Clone, Default)]
struct Level {
    start: u32,
    kind: u8,
    is_legal: bool,
    goes_on: bool,
    /// The label's text, with the numbers of levels in the places of their counts.
    text: Vec<u16>,
}

/// A use of a list, with exceptions from its levels.
#[derive(Debug, Default)]
struct ListUse {
    list: u32,
    starts: [Option<u32>; LEVELS],
    levels: HashMap<usize, Level>,
}

/// All lists, and the current count of each.
#[derive(Debug, Default)]
pub(super) struct WordLists {
    lists: HashMap<u32, Vec<Level>>,
    uses: Vec<ListUse>,
    counts: HashMap<u32, [Option<u32>; LEVELS]>,
    started: HashSet<(usize, usize)>,
}

impl WordLists {
    /// Reads from the offsets of the lists and of their uses in the table stream.
    pub(super) fn read(table: &[u8], lists: usize, uses: usize) -> Self {
        let mut all = Self::default();
        // Damaged lists have no numbers.
        let _ = all.read_lists(table, lists);
        let _ = all.read_uses(table, uses);
        all
    }

    fn read_lists(&mut self, table: &[u8], place: usize) -> Option<()> {
        const ENTRY: usize = 28;
        let count = usize::from(short(table, place)?).min(MAX_LISTS);
        let mut at = place + 2 + count * ENTRY;
        for entry in (0..count).map(|index| place + 2 + index * ENTRY) {
            let is_simple = byte(table, entry + 26)? & 1 == 1;
            let mut levels = Vec::new();
            for _ in 0..if is_simple { 1 } else { LEVELS } {
                levels.push(level(table, &mut at)?);
            }
            self.lists.insert(long(table, entry)?, levels);
        }
        Some(())
    }

    fn read_uses(&mut self, table: &[u8], place: usize) -> Option<()> {
        const ENTRY: usize = 16;
        let count = usize::try_from(long(table, place)?).ok()?.min(MAX_LISTS);
        let mut at = place + 4 + count * ENTRY;
        for entry in (0..count).map(|index| place + 4 + index * ENTRY) {
            self.uses.push(ListUse { list: long(table, entry)?, ..ListUse::default() });
        }
        for index in 0..count {
            let exceptions = byte(table, place + 4 + index * ENTRY + 12)?;
            at += 4;
            for _ in 0..exceptions {
                let (start, flags) = (long(table, at)?, long(table, at + 4)?);
                at += 8;
                let changed = if flags & 0x20 == 0 { None } else { Some(level(table, &mut at)?) };
                let which = usize::try_from(flags & 0xf).ok()?;
                let Some(place) = self.uses[index].starts.get_mut(which) else { continue };
                if flags & 0x10 != 0 {
                    *place = Some(changed.as_ref().map_or(start, |level| level.start));
                }
                if let Some(level) = changed {
                    self.uses[index].levels.insert(which, level);
                }
            }
        }
        Some(())
    }

    /// Counts one more paragraph of a list, which is given by the number of its use, from 1; returns the label.
    pub(super) fn next(&mut self, number: u16, at: u8) -> Option<String> {
        let index = usize::from(number).checked_sub(1)?;
        let used = self.uses.get(index)?;
        let own = self.lists.get(&used.list)?;
        let at = usize::from(at).min(LEVELS - 1);
        // A list with one level uses it on all levels.
        let levels: Vec<&Level> =
            (0..LEVELS).filter_map(|at| used.levels.get(&at).or_else(|| own.get(at)).or_else(|| own.first())).collect();
        let level = levels.get(at)?;
        let counts = self.counts.entry(used.list).or_default();
        let start = |at: usize| levels.get(at).map_or(1, |level| level.start);
        let restart = used.starts[at].filter(|_| self.started.insert((index, at)));
        counts[at] = Some(restart.unwrap_or_else(|| counts[at].map_or(start(at), |count| count.saturating_add(1))));
        for (count, level) in counts.iter_mut().zip(&levels).skip(at + 1) {
            if !level.goes_on {
                *count = None;
            }
        }
        for (above, count) in counts.iter_mut().enumerate().take(at) {
            count.get_or_insert(start(above));
        }
        Some(level.label(&levels, counts))
    }
}

impl Level {
    fn label(&self, levels: &[&Self], counts: &[Option<u32>; LEVELS]) -> String {
        match self.kind {
            BULLET => return "-".to_owned(),
            NO_NUMBER => return String::new(),
            _ => {}
        }
        let mut label = String::new();
        for found in char::decode_utf16(self.text.iter().copied()) {
            let found = found.unwrap_or(char::REPLACEMENT_CHARACTER);
            let place = usize::try_from(u32::from(found)).unwrap_or(LEVELS);
            if place >= LEVELS {
                label.push(found);
                continue;
            }
            let kind = levels.get(place).map_or(0, |level| level.kind);
            let name =
                KINDS.iter().find(|(known, _)| *known == kind && !self.is_legal).map_or("decimal", |(_, name)| name);
            if kind != NO_NUMBER {
                label.push_str(&number(counts.get(place).copied().flatten().unwrap_or(1), name));
            }
        }
        label.trim().to_owned()
    }
}

/// Reads the level at `at`, and moves `at` behind it.
fn level(table: &[u8], at: &mut usize) -> Option<Level> {
    const HEAD: usize = 28;
    let flags = byte(table, *at + 5)?;
    let formats = usize::from(byte(table, *at + 24)?) + usize::from(byte(table, *at + 25)?);
    let text = *at + HEAD + formats;
    let length = usize::from(short(table, text)?);
    let level = Level {
        start: long(table, *at)?,
        kind: byte(table, *at + 4)?,
        is_legal: flags & 4 != 0,
        goes_on: flags & 8 != 0,
        text: wide(table, text + 2, length.min(MAX_LABEL))?,
    };
    *at = text + 2 + 2 * length;
    Some(level)
}
