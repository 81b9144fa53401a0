//! What the review page of one job shows.

use super::{
    BrokenRule, Doubt, GrowingList, ReviewedField, SourceDocument, TableLine,
    fields::{table, telling},
    source::numbers,
};
use crate::runner::QuoteStatus;
use overnight_core::{
    amount::grouped,
    job::{
        contract::{json_path::within, records::field_name},
        finding::{Finding, Settlement},
        id::JobId,
        record::JobStatus,
        record_findings::FoundBy,
        refused_records::RefusedRecord,
        reviewed::{Approval, RecordApproval},
        time::{Timestamp, moment},
    },
};
use overnight_documents::QuotePlace;
use serde_json::Value;
use std::{fmt::Write, path::PathBuf};

/// One job for its review: its records with their sources, the most doubtful first.
#[derive(Clone, Debug)]
pub struct JobReview {
    /// Where its workspace lies.
    pub workspace: PathBuf,
    pub id: JobId,
    /// The name of its instructions.
    pub instructions: String,
    pub status: JobStatus,
    /// Why it stands so, a sentence.
    pub reason: Option<String>,
    /// A person is to say whether the result is accepted.
    pub waits_for_review: bool,
    /// There is a result of which something can be said.
    pub has_result: bool,
    /// Who accepted the result, the oldest first.
    pub approvals: Vec<Approval>,
    /// What the job was sent back with, the oldest first.
    pub feedback: Vec<String>,
    /// How often people have corrected a field, in earlier results too.
    pub corrections: u32,
    /// Names of its documents.
    pub documents: Vec<String>,
    /// Who answered.
    pub models: String,
    /// How sure the model was of the whole result, 0 to 1.
    pub confidence: Option<f64>,
    /// Those of this page: the most doubtful first, else in the order of the deliverables.
    pub records: Vec<ReviewedRecord>,
    /// Which page it is, from 1.
    pub page: usize,
    /// How many there are, of which `records` may hold only the first.
    pub record_count: u64,
    /// How many of those a person has deleted.
    pub deleted: u64,
    /// How many of those have a doubt.
    pub doubtful: u64,
    /// Open findings that belong to no record of a deliverable.
    pub findings: Vec<JobFinding>,
    /// Records that were refused when they were added, and are in no deliverable.
    pub refused: Vec<RefusedRecord>,
    /// Where a person can add one.
    pub lists: Vec<GrowingList>,
    /// What could not be read of it, a sentence each.
    pub notes: Vec<String>,
    /// The documents that are quoted or spoken of.
    pub sources: Vec<SourceDocument>,
}

/// A record of a deliverable, with what the program knows of it.
#[derive(Clone, Debug)]
pub struct ReviewedRecord {
    /// The element on the page: see [`record_anchor`].
    pub anchor: String,
    /// The deliverable.
    pub file: String,
    /// In the deliverable: `$.requirements[3]`.
    pub place: String,
    pub fields: Vec<ReviewedField>,
    pub quotes: Vec<ReviewedQuote>,
    /// None where its part was not read twice.
    pub found_by: Option<FoundBy>,
    /// Rules for values that don't hold.
    pub broken_rules: Vec<BrokenRule>,
    /// What is held against it and not settled.
    pub findings: Vec<Finding>,
    /// How sure the model was of it, where it says so.
    pub confidence: Option<f64>,
    /// The gravest first.
    pub doubts: Vec<Doubt>,
    /// The person who accepted it.
    pub approval: Option<RecordApproval>,
    /// What people have corrected in it, the oldest first.
    pub corrections: Vec<Finding>,
    /// A person has deleted it.
    pub is_deleted: bool,
}

/// A quote of a record, and where it stands.
#[derive(Clone, Debug)]
pub struct ReviewedQuote {
    /// The key of the object that has it.
    pub key: String,
    /// The place of that object in the deliverable, `$.requirements[3].due`, and in its record: `due`; empty for the record itself.
    pub object: String,
    pub within: String,
    /// The field that it is for, `due`; none: for the record as a whole.
    pub field: Option<String>,
    pub text: String,
    /// Places in the deliverable: of the name of its document, and of its page or line.
    pub document_place: String,
    pub unit_place: Option<String>,
    /// The page or line that the record names.
    pub named_unit: Option<u64>,
    /// As the job knows it, else as the record names it.
    pub document: String,
    /// Whether the job has such a document.
    pub is_known: bool,
    /// Page or line at which it begins, else as the record gives it.
    pub unit: Option<u64>,
    /// `page`, `chapter` or `line`.
    pub unit_name: &'static str,
    /// None where nobody has looked yet.
    pub check: Option<QuoteStatus>,
    /// Its first and last character, where it is found.
    pub place: Option<QuotePlace>,
    /// The first byte in the document's text, where it is found.
    pub start: Option<u64>,
    /// Bytes of the document's text.
    pub range: Option<std::ops::Range<usize>>,
    /// It goes on over the end of a page.
    pub is_over_break: bool,
    /// The characters were recognised in an image.
    pub is_recognised: bool,
    /// Why no text was got from the page that the record gives.
    pub gap: Option<String>,
    /// What a person's correction made of it, where it is not found: what comes nearest.
    pub wrong: Option<String>,
    /// Those beside it that don't stand in it, or may not.
    pub values: Vec<QuotedValue>,
    /// Number of its mark in the sources; none where there is none.
    pub mark: Option<usize>,
    /// The element to which a link leads: the mark, else the page, else the document; none where the source is not shown.
    pub target: Option<String>,
}

/// A value that doesn't stand in its quote, or may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotedValue {
    /// Its field: `rent`.
    pub field: String,
    /// A sentence's beginning.
    pub told: String,
    /// A person has put it there.
    pub is_corrected: bool,
}

/// An open finding that belongs to no record: the second reader has one more, or the verifier found fault.
#[derive(Clone, Debug)]
pub struct JobFinding {
    pub finding: Finding,
    pub mark: Option<usize>,
    pub target: Option<String>,
}

impl JobReview {
    /// The name of its document, or of its instructions where it has several.
    pub fn title(&self) -> String {
        match self.documents.as_slice() {
            [document] => document.clone(),
            documents => format!("{}, {} documents", self.instructions, documents.len()),
        }
    }

    /// How many of its records are doubtful: a sentence.
    pub fn counted(&self) -> String {
        let counted = match self.present() {
            0 => "It has no records.".to_owned(),
            count => format!("{} of {} records are doubtful.", grouped(self.doubtful), grouped(count)),
        };
        let deleted = match self.deleted {
            0 => String::new(),
            1 => " One was deleted.".to_owned(),
            number => format!(" {} were deleted.", grouped(number)),
        };
        counted + &deleted + &refused_told(self.refused.len() as u64)
    }

    /// How many records are in the result.
    pub(super) fn present(&self) -> u64 {
        self.record_count - self.deleted
    }

    /// Who accepted the result: a sentence's beginning each.
    pub fn approved(&self) -> Vec<String> {
        self.approvals.iter().map(|of| told("approved", of.by.as_deref(), of.at, of.comment.as_deref())).collect()
    }

    /// The refused records of this page: they stand on the first one.
    pub(super) fn refused_here(&self) -> &[RefusedRecord] {
        if self.page == 1 { &self.refused } else { &[] }
    }

    /// Its records are of more than one deliverable.
    pub fn has_several_files(&self) -> bool {
        self.records.iter().any(|record| record.file != self.records[0].file)
    }

    /// The file of page `page` among the pages of a review.
    pub fn file(&self, page: usize) -> String {
        page_file(self.id, page)
    }
}

/// How many records are in no result, where there are any: a sentence behind another.
pub(super) fn refused_told(number: u64) -> String {
    match number {
        0 => String::new(),
        1 => " One more was refused, and is not in the result.".to_owned(),
        number => format!(" {} more were refused, and are not in the result.", grouped(number)),
    }
}

/// `0193….html` of the first page, `0193…-2.html` of the second.
pub(super) fn page_file(job: JobId, page: usize) -> String {
    if page == 1 { format!("{job}.html") } else { format!("{job}-{page}.html") }
}

/// `approved by Ada, 2026-11-24 08:10:00 UTC`, and the comment.
pub(super) fn told(what: &str, by: Option<&str>, at: Timestamp, comment: Option<&str>) -> String {
    let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
    let comment = comment.map(|comment| format!(": {comment}")).unwrap_or_default();
    format!("{what}{by}, {} UTC{comment}", moment(at))
}

impl ReviewedQuote {
    /// `licence.pdf, page 4`, `book.epub, chapter 3`.
    pub fn located(&self) -> String {
        match self.unit {
            Some(number) => format!("{}, {} {number}", self.document, self.unit_name),
            None => self.document.clone(),
        }
    }
}

impl ReviewedQuote {
    /// What the field `name` of its object is called in the record: `due` for the value of the object `due`.
    pub(super) fn name_of(&self, name: &str) -> String {
        field_name(&self.within, name)
    }

    /// `its quote`, `the quote of due`.
    pub(super) fn its(&self) -> String {
        self.field.as_ref().map_or_else(|| "its quote".to_owned(), |field| format!("the quote of {field}"))
    }

    /// Where its text stands in the deliverable.
    pub fn text_place(&self) -> String {
        format!("{}.{}", self.object, self.key)
    }
}

impl JobFinding {
    /// What it says.
    pub fn told(&self) -> String {
        self.finding.told()
    }
}

impl ReviewedRecord {
    /// What stands in the list of all records: its quote, else its first field that says something.
    pub fn headline(&self) -> String {
        let quote = self.own_quotes().map(|quote| quote.text.clone()).find(|text| !text.trim().is_empty());
        quote.unwrap_or_else(|| self.name())
    }

    /// The document of its first quote.
    pub fn document(&self) -> &str {
        self.quotes.first().map_or("", |quote| &quote.document)
    }

    /// By which a person knows it: its first short fields, else its place, `requirements[3]`.
    pub fn name(&self) -> String {
        match telling(&self.fields)[..] {
            [] => Some(self.place.trim_start_matches(['$', '.']))
                .filter(|name| !name.is_empty())
                .unwrap_or("the record")
                .to_owned(),
            ref telling => telling.join(", "),
        }
    }

    /// The quotes that are for no field, but for the record.
    pub fn own_quotes(&self) -> impl Iterator<Item = &ReviewedQuote> {
        self.quotes.iter().filter(|quote| !self.fields.iter().any(|field| self.has_own(field, quote)))
    }

    /// Whether the quote is for this field.
    fn has_own(&self, field: &ReviewedField, quote: &ReviewedQuote) -> bool {
        quote.field.is_some() && self.quote_of(field).is_some_and(|own| std::ptr::eq(own, quote))
    }

    /// The quote in which a field stands.
    pub fn quote_of(&self, field: &ReviewedField) -> Option<&ReviewedQuote> {
        self.quotes.get(field.quote?)
    }

    /// The quote of a field that is shown beside it: its own.
    pub fn own_quote_of(&self, field: &ReviewedField) -> Option<&ReviewedQuote> {
        self.quote_of(field).filter(|quote| quote.field.is_some())
    }

    /// That a value which a person has put into a field does not stand in its quote.
    pub fn unquoted(&self, field: &ReviewedField) -> Option<&str> {
        let values = self.quotes.iter().flat_map(|quote| &quote.values);
        let mut of_field = values.filter(|value| value.is_corrected && within(&field.name, &value.field).is_some());
        of_field.next_back().map(|value| value.told.as_str())
    }

    /// What puts it back after it was deleted: the record as it was, as JSON.
    pub(super) fn before_deletion(&self) -> Option<String> {
        let last = self.corrections.iter().rfind(|finding| finding.place.as_deref() == Some(self.place.as_str()))?;
        match &last.settled.as_ref()?.settlement {
            Settlement::Corrected { before, after } if self.is_deleted && after.is_null() => Some(before.to_string()),
            _ => None,
        }
    }

    /// It is one of a list, and can be taken out of it.
    pub(super) fn is_of_list(&self) -> bool {
        self.place.ends_with(']')
    }

    /// Its fields as lines of a table.
    pub fn table(&self) -> Vec<TableLine<'_>> {
        table(self.shown_fields())
    }

    /// What is doubtful of a field.
    pub fn doubts_of(&self, field: &ReviewedField) -> Vec<&Doubt> {
        self.doubts.iter().filter(|doubt| self.line_of(doubt).is_some_and(|line| line.place == field.place)).collect()
    }

    /// What is doubtful of the record as a whole.
    pub fn own_doubts(&self) -> Vec<&Doubt> {
        self.doubts.iter().filter(|doubt| self.line_of(doubt).is_none()).collect()
    }

    /// The shown field that a doubt stands beside: the one that it names, else the first of the object that it names.
    fn line_of(&self, doubt: &Doubt) -> Option<&ReviewedField> {
        let named = doubt.field.as_deref()?;
        self.shown_fields().find(|field| within(&field.name, named).is_some())
    }

    /// How many of its fields the document does not have, as the model says.
    pub(super) fn absent(&self) -> u64 {
        self.shown_fields().filter(|field| field.is_null && field.corrected.is_none()).count() as u64
    }

    /// Whether a person should look at it: there is a doubt, and nobody has accepted it.
    pub fn is_doubtful(&self) -> bool {
        !self.doubts.is_empty() && self.approval.is_none()
    }

    /// Its fields but for quotes and their places, which are shown beside their fields, unless a person has corrected them.
    pub fn shown_fields(&self) -> impl Iterator<Item = &ReviewedField> {
        self.fields.iter().filter(|field| field.corrected.is_some() || !field.is_of_quote)
    }

    /// Kinds of its doubts, as the page's script reads them.
    pub(super) fn doubt_keys(&self) -> String {
        let mut keys: Vec<&str> = self.doubts.iter().map(|doubt| doubt.kind.key()).collect();
        keys.dedup();
        keys.join(" ")
    }

    /// Who accepted it, and who corrected what: a sentence's beginning each.
    pub fn people(&self) -> Vec<String> {
        let approved = self.approval.iter();
        let approved = approved.map(|of| told("approved", Some(&of.by), of.at, of.comment.as_deref()));
        let mut is_gone = false;
        let corrected = self.corrections.iter().filter_map(move |finding| {
            let place = finding.place.as_deref()?;
            let field = place.strip_prefix(self.place.as_str()).unwrap_or(place).trim_start_matches('.');
            let settled = finding.settled.as_ref()?;
            let what = match &settled.settlement {
                Settlement::Corrected { before: Value::Null, .. } if field.is_empty() => {
                    if is_gone { "put back" } else { "added" }.to_owned()
                }
                Settlement::Corrected { after: Value::Null, .. } if field.is_empty() => {
                    is_gone = true;
                    "deleted".to_owned()
                }
                _ => format!("{field} corrected"),
            };
            let comment = Some(finding.text.as_str()).filter(|text| !text.is_empty());
            Some(told(&what, Some(&settled.by), settled.at, comment))
        });
        approved.chain(corrected).collect()
    }

    /// Numbers of its marks, as the page's script reads them.
    pub(super) fn marks(&self) -> String {
        numbers(self.quotes.iter().filter_map(|quote| quote.mark.as_ref()))
    }
}

/// The element of a record on the page of its job: `record-requirements-requirements-3` for the record `$.requirements[3]` of
/// `output/requirements.json`. Other pages and tables link to it.
pub fn record_anchor(file: &str, place: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let mut anchor = format!("record-{stem}-").replace(|letter: char| !is_plain(letter), "_");
    for letter in place.trim_start_matches(['$', '.']).chars() {
        match letter {
            '.' | '[' if !anchor.ends_with('-') => anchor.push('-'),
            '.' | '[' | ']' => {}
            letter if is_plain(letter) => anchor.push(letter),
            letter => drop(write!(anchor, "_{:x}", u32::from(letter))),
        }
    }
    anchor
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-'
}
