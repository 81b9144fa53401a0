//! The data kept about a document's recognised and transcribed pages beside its text: the words of the other reading
//! and their places. They show whether both readings have a quote's words, and where it is on the page's picture.

use super::quote_line::{OneReading, QuoteBox};
use crate::workspace::{Workspace, WorkspaceError, hash::FileHash};
use overnight_core::job::spec::DocumentEntry;
use overnight_documents::{ComparedWord, RecognisedPage, RecognisedWord, compare};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, ops::Range};

/// The other reading may have this many more words in a place; otherwise it is another place.
const FEW_MORE: usize = 3;

/// One page: a line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScanLine {
    pub(super) page: u64,
    /// The words that a program recognised.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) words: Vec<RecognisedWord>,
    /// The page's text is a model's transcription; the second reading is in `words` or in the next field.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) transcribed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) second: Option<String>,
}

impl ScanLine {
    pub(super) fn recognised(page: RecognisedPage) -> Self {
        Self { page: page.page, words: page.words, transcribed: false, second: None }
    }

    /// The other reading's words; none where there is no other.
    pub(super) fn other(&self) -> Option<Vec<&str>> {
        match &self.second {
            Some(second) => Some(second.split_whitespace().collect()),
            None if self.words.is_empty() => None,
            None => Some(self.words.iter().map(|word| word.text.as_str()).collect()),
        }
    }
}

/// Writes the pages of a document; none where there is nothing to keep.
pub(super) fn write(
    workspace: &Workspace,
    path: &str,
    pages: &BTreeMap<u64, ScanLine>,
) -> Result<Option<FileHash>, WorkspaceError> {
    if pages.is_empty() {
        return Ok(None);
    }
    // Plain texts and numbers: writing them can't fail.
    let lines = pages.values().filter_map(|page| serde_json::to_string(page).ok());
    let content: String = lines.map(|line| line + "\n").collect();
    workspace.write(path, content.as_bytes()).map(Some)
}

/// The pages of a document by their numbers. Unreadable lines are skipped: doubts come only from readable ones.
pub(super) fn read(workspace: &Workspace, document: &DocumentEntry) -> BTreeMap<u64, ScanLine> {
    let Some(content) = document.scan_sha256.as_ref().and_then(|_| workspace.read(&document.scan_path()).ok()) else {
        return BTreeMap::new();
    };
    let lines = content.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<ScanLine>(line).ok());
    lines.map(|line| (line.page, line)).collect()
}

/// A page's words compared with its other reading.
#[derive(Clone, Debug)]
pub(super) struct ComparedPage {
    line: ScanLine,
    /// Whether a second reading exists. A transcription without one is doubtful as a whole, not word by word.
    is_compared: bool,
    words: Vec<ComparedWord>,
}

/// The known facts about a passage on a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ComparedPassage {
    /// The words that only one of two readings has.
    pub(super) of_one: Vec<OneReading>,
    /// Its place on the picture: one box for each line.
    pub(super) boxes: Vec<QuoteBox>,
}

impl ComparedPage {
    pub(super) fn new(line: ScanLine, text: &str) -> Self {
        let other = line.other();
        let is_compared = line.transcribed && other.is_some();
        let (words, _) = compare(text, &other.unwrap_or_default());
        Self { line, is_compared, words }
    }

    /// The passage in the bytes `range` of the page's text.
    pub(super) fn passage(&self, text: &str, range: &Range<usize>) -> ComparedPassage {
        let mut passage = ComparedPassage::default();
        let within = self.words.iter().enumerate();
        let within = within.filter(|(_, word)| word.from < range.end && range.start < word.to);
        let mut run: Option<Range<usize>> = None;
        for (at, word) in within {
            if word.others.is_empty() && self.is_compared {
                run = Some(run.map_or(at, |run| run.start)..at + 1);
            } else {
                passage.of_one.extend(run.take().and_then(|run| self.of_one(text, run)));
            }
            if self.line.second.is_none() {
                let placed = self.line.words.get(word.others.clone()).into_iter().flatten();
                placed.for_each(|word| add_box(&mut passage.boxes, self.line.page, word));
            }
        }
        passage.of_one.extend(run.and_then(|run| self.of_one(text, run)));
        passage
    }

    /// Words of the text that the other reading lacks, and the words in their place there.
    fn of_one(&self, text: &str, run: Range<usize>) -> Option<OneReading> {
        let (before, rest) = self.words.split_at(run.start);
        let behind = rest.get(run.len()..)?;
        let words = text.get(rest.first()?.from..rest.get(run.len() - 1)?.to)?;
        // The lines between table cells are no words.
        let words = words.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" ");
        let other = self.line.other()?;
        let is_placed = |word: &&ComparedWord| !word.others.is_empty();
        let from = before.iter().rev().find(is_placed).map_or(0, |word| word.others.end);
        let to = behind.iter().find(is_placed).map_or(other.len(), |word| word.others.start);
        let other = other.get(from..to).filter(|other| (1..=run.len() + FEW_MORE).contains(&other.len()));
        Some(OneReading { words, other: other.map(|other| other.join(" ")) })
    }
}

/// Extends the last box if a word continues its line.
fn add_box(boxes: &mut Vec<QuoteBox>, page: u64, &RecognisedWord { x, y, width, height, .. }: &RecognisedWord) {
    if let Some(last) = boxes.last_mut() {
        let middles = (last.y + last.height / 2.0) - (y + height / 2.0);
        if middles.abs() < last.height.max(height) / 2.0 && x >= last.x {
            let (right, bottom) = ((last.x + last.width).max(x + width), (last.y + last.height).max(y + height));
            last.y = last.y.min(y);
            (last.width, last.height) = (right - last.x, bottom - last.y);
            return;
        }
    }
    boxes.push(QuoteBox { page, x, y, width, height });
}
