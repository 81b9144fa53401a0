//! A line of `quotes.jsonl`: the place of a quote of a deliverable, and the values beside it that are not in it.

use crate::workspace::{Workspace, WorkspaceError};
use overnight_core::{
    job::{
        finding::CorrectedQuote,
        state::{Job, QUOTES_FILE},
    },
    tokens::head,
};
use overnight_documents::QuotePlace;
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    io::{BufRead, BufReader},
};

/// Tokens of such words that are shown.
const MOST_TOLD: u64 = 30;
/// The beginning of a sentence about them.
const ONE_HAS: &str = "only one of two readings of the page has";

/// One line of the file.
#[derive(Debug, Serialize, Deserialize)]
pub struct QuoteLine<'q> {
    pub deliverable: Cow<'q, str>,
    /// The object with the quote in it, `$.requirements[3]`, and the quote's key there.
    pub item: Cow<'q, str>,
    pub key: Cow<'q, str>,
    /// As the deliverable names it, if no document has that name.
    pub document: Cow<'q, str>,
    /// The hash of the document, not of its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Cow<'q, str>>,
    /// As the deliverable gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// The same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub result: QuoteStatus,
    /// The places of its first and last character.
    #[serde(flatten)]
    pub place: Option<QuotePlace>,
    /// The byte range in the document's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// The characters there were recognised in an image.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recognised: bool,
    /// The parts that only one of two readings of a scanned page has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_reading: Vec<OneReading>,
    /// The boxes on the picture of its page, one per line, if the words there have places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<QuoteBox>,
    /// The reason why the page that the deliverable names has no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Cow<'q, str>>,
    /// Fields of the record whose values are not in the quote, or may not be, and which of the two.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, ValueStatus>,
}

/// Words of a scanned page that only one of its two readings has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneReading {
    /// As the text has them.
    pub words: String,
    /// The words of the other reading between the nearest words that both have; none if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}

impl OneReading {
    /// Whether it is about a number, an amount or a date.
    pub fn has_digit(&self) -> bool {
        self.words.contains(char::is_numeric)
            || self.other.as_ref().is_some_and(|other| other.contains(char::is_numeric))
    }

    /// A clause to follow the place: `only one of two readings of the page has '1,350.00', and the other '1,250.00'`.
    pub fn told(&self) -> String {
        let words = head(&self.words, MOST_TOLD);
        match &self.other {
            Some(other) => format!("{ONE_HAS} '{words}', and the other '{}'", head(other, MOST_TOLD)),
            None => format!("{ONE_HAS} '{words}'"),
        }
    }
}

/// A place on the picture of a page: parts of its width and height, from the left and from the top, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuoteBox {
    pub page: u64,
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
}

/// The reason why a value in its quote is doubtful.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueStatus {
    NotInQuote,
    /// Why it can't be decided: a fragment that follows the value.
    Unclear(String),
}

impl ValueStatus {
    /// The doubt about the value of `field`: the beginning of a sentence.
    pub fn told(&self, field: &str) -> String {
        match self {
            Self::NotInQuote => format!("'{field}' does not stand in its quote"),
            Self::Unclear(why) => format!("'{field}' {why}"),
        }
    }
}

impl QuoteLine<'_> {
    /// Reads the current places of a job's quotes: as in the file, except for those that people have corrected since.
    pub fn read_corrected(
        job: &Job,
        workspace: &Workspace,
        visit: &mut dyn FnMut(QuoteLine<'static>),
    ) -> Result<(), WorkspaceError> {
        // For a quote corrected twice the last correction counts.
        let corrected: HashMap<[&str; 3], &CorrectedQuote> = job
            .corrections()
            .filter_map(|finding| Some((finding.file.as_deref()?, &finding.quotes)))
            .flat_map(|(file, quotes)| {
                quotes.iter().map(move |quote| ([file, quote.item.as_str(), quote.key.as_str()], quote))
            })
            .collect();
        Self::read(workspace, &mut |line| {
            if !corrected.contains_key(&[&*line.deliverable, &*line.item, &*line.key]) {
                visit(line);
            }
        })?;
        let lines = corrected.into_values().filter_map(|quote| quote.line.as_ref());
        lines.filter_map(|line| serde_json::from_str(line).ok()).for_each(visit);
        Ok(())
    }

    /// Reads the file of a workspace line by line; unreadable lines are skipped, and the file may not exist.
    pub fn read(workspace: &Workspace, visit: &mut dyn FnMut(QuoteLine<'static>)) -> Result<(), WorkspaceError> {
        let file = match workspace.stream(QUOTES_FILE) {
            Ok((file, _)) => BufReader::new(file),
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) => return Err(error),
        };
        file.lines().map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok()).for_each(visit);
        Ok(())
    }
}

/// Whether a quote is where the deliverable states, the worst case last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuoteStatus {
    /// On the page given, where one is given.
    Found,
    OnAnotherPage,
    OnAnotherLine,
    /// So short that it would be found anywhere.
    TooShort,
    NotFound,
    NoSuchDocument,
}

impl QuoteStatus {
    /// The name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::OnAnotherPage => "on_another_page",
            Self::OnAnotherLine => "on_another_line",
            Self::TooShort => "too_short",
            Self::NotFound => "not_found",
            Self::NoSuchDocument => "no_such_document",
        }
    }
}
