//! A record of a deliverable as the review page shows it.

use super::{
    BrokenRule, Doubt, GrowingList, ReviewedField, ReviewedQuote, TableLine,
    fields::{table, telling},
    source::numbers,
};
use overnight_core::job::{
    finding::{Finding, Settlement},
    json_path::within,
    record_findings::FoundBy,
    reviewed::RecordApproval,
    time::{Timestamp, moment},
};
use serde_json::Value;
use std::{collections::BTreeSet, fmt::Write};

/// A record of a deliverable, with the program's facts about it.
#[derive(Clone, Debug)]
pub struct ReviewedRecord {
    /// The element on the page: see [`record_anchor`].
    pub anchor: String,
    /// The deliverable.
    pub file: String,
    /// Its place in the deliverable: `$.requirements[3]`.
    pub place: String,
    pub fields: Vec<ReviewedField>,
    pub quotes: Vec<ReviewedQuote>,
    /// `None` if its part was not read twice.
    pub found_by: Option<FoundBy>,
    /// Rules for values that don't hold.
    pub broken_rules: Vec<BrokenRule>,
    /// The open findings about it.
    pub findings: Vec<Finding>,
    /// The model's confidence in it, if the record states one.
    pub confidence: Option<f64>,
    /// The gravest first.
    pub doubts: Vec<Doubt>,
    /// The person who accepted it.
    pub approval: Option<RecordApproval>,
    /// The corrections by people, the oldest first.
    pub corrections: Vec<Finding>,
    /// A person has deleted it.
    pub is_deleted: bool,
    /// The lists within it to which a person can add a line.
    pub lists: Vec<GrowingList>,
}

impl ReviewedRecord {
    /// The text for the list of all records: its quote, else its name.
    pub fn headline(&self) -> String {
        let quote = self.own_quotes().map(|quote| quote.text.clone()).find(|text| !text.trim().is_empty());
        quote.unwrap_or_else(|| self.name())
    }

    /// The document of its first quote.
    pub fn document(&self) -> &str {
        self.quotes.first().map_or("", |quote| &quote.document)
    }

    /// A name for people: its first short fields, else its place, `requirements[3]`.
    pub fn name(&self) -> String {
        match telling(&self.fields)[..] {
            [] => Some(self.place.trim_start_matches(['$', '.']))
                .filter(|name| !name.is_empty())
                .unwrap_or("the record")
                .to_owned(),
            ref telling => telling.join(", "),
        }
    }

    /// The quotes that belong to no field, but to the record.
    pub fn own_quotes(&self) -> impl Iterator<Item = &ReviewedQuote> {
        self.quotes.iter().filter(|quote| !self.fields.iter().any(|field| self.has_own(field, quote)))
    }

    /// Whether the quote belongs to this field.
    fn has_own(&self, field: &ReviewedField, quote: &ReviewedQuote) -> bool {
        quote.field.is_some() && self.quote_of(field).is_some_and(|own| std::ptr::eq(own, quote))
    }

    /// The quote that contains a field's value.
    pub fn quote_of(&self, field: &ReviewedField) -> Option<&ReviewedQuote> {
        self.quotes.get(field.quote?)
    }

    /// The field's own quote, which is shown beside it.
    pub fn own_quote_of(&self, field: &ReviewedField) -> Option<&ReviewedQuote> {
        self.quote_of(field).filter(|quote| quote.field.is_some())
    }

    /// States that a value which a person has put into a field is not in its quote.
    pub fn unquoted(&self, field: &ReviewedField) -> Option<&str> {
        let values = self.quotes.iter().flat_map(|quote| &quote.values);
        let mut of_field = values.filter(|value| value.is_corrected && within(&field.name, &value.field).is_some());
        of_field.next_back().map(|value| value.told.as_str())
    }

    /// The value that undoes a deletion by a person, of the record or a line of a list in it: the earlier one, as JSON.
    pub(super) fn before_deletion(&self, place: &str) -> Option<String> {
        let last = self.corrections.iter().rfind(|finding| finding.place.as_deref() == Some(place))?;
        match &last.settled.as_ref()?.settlement {
            Settlement::Corrected { before, after } if before.is_object() && after.is_null() => {
                Some(before.to_string())
            }
            _ => None,
        }
    }

    /// The place in the deliverable of line `number` of a list within it: `$.invoices[3].lines[0]`.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the template hands on references")]
    pub(super) fn line_place(&self, list: &str, number: &usize) -> String {
        format!("{}.{list}[{number}]", self.place)
    }

    /// It is an element of a list, and can be deleted from it.
    pub(super) fn is_of_list(&self) -> bool {
        self.place.ends_with(']')
    }

    /// Its fields as lines of a table.
    pub fn table(&self) -> Vec<TableLine<'_>> {
        table(self.shown_fields())
    }

    /// The doubts about a field.
    pub fn doubts_of(&self, field: &ReviewedField) -> Vec<&Doubt> {
        self.doubts.iter().filter(|doubt| self.line_of(doubt).is_some_and(|line| line.place == field.place)).collect()
    }

    /// The doubts about the record as a whole.
    pub fn own_doubts(&self) -> Vec<&Doubt> {
        self.doubts.iter().filter(|doubt| self.line_of(doubt).is_none()).collect()
    }

    /// The shown field beside which a doubt appears: the one that it names, else the first of the object that it names.
    fn line_of(&self, doubt: &Doubt) -> Option<&ReviewedField> {
        let named = doubt.field.as_deref()?;
        self.shown_fields().find(|field| within(&field.name, named).is_some())
    }

    /// The number of its fields that the document lacks, as the model states.
    pub(super) fn absent(&self) -> u64 {
        self.shown_fields().filter(|field| field.is_null && field.corrected.is_none()).count() as u64
    }

    /// Whether a person should look at it: there is a doubt, and nobody has accepted it.
    pub fn is_doubtful(&self) -> bool {
        !self.doubts.is_empty() && self.approval.is_none()
    }

    /// Its fields, except quotes and their places, which are shown beside fields unless a person has corrected them.
    pub fn shown_fields(&self) -> impl Iterator<Item = &ReviewedField> {
        self.fields.iter().filter(|field| field.corrected.is_some() || !field.is_of_quote)
    }

    /// The kinds of its doubts, in the form that the page's script reads.
    pub(super) fn doubt_keys(&self) -> String {
        let mut keys: Vec<&str> = self.doubts.iter().map(|doubt| doubt.kind.key()).collect();
        keys.dedup();
        keys.join(" ")
    }

    /// Who accepted it, and who corrected which field: a sentence's beginning each.
    pub fn people(&self) -> Vec<String> {
        let approved = self.approval.iter();
        let approved = approved.map(|of| told("approved", Some(&of.by), of.at, of.comment.as_deref()));
        let mut gone = BTreeSet::new();
        let corrected = self.corrections.iter().filter_map(move |finding| {
            let place = finding.place.as_deref()?;
            let field = within(place, &self.place).unwrap_or(place).trim_start_matches('.');
            let settled = finding.settled.as_ref()?;
            let what = match &settled.settlement {
                Settlement::Corrected { before: Value::Null, after: Value::Object(_) } if place.ends_with(']') => {
                    if gone.remove(place) {
                        "put back"
                    } else {
                        "added"
                    }
                }
                Settlement::Corrected { before: Value::Object(_), after: Value::Null } if place.ends_with(']') => {
                    gone.insert(place);
                    "deleted"
                }
                _ => "corrected",
            };
            let what = format!("{field} {what}").trim_start().to_owned();
            let comment = Some(finding.text.as_str()).filter(|text| !text.is_empty());
            Some(told(&what, Some(&settled.by), settled.at, comment))
        });
        approved.chain(corrected).collect()
    }

    /// The numbers of its marks, in the form that the page's script reads.
    pub(super) fn marks(&self) -> String {
        numbers(self.quotes.iter().filter_map(|quote| quote.mark.as_ref()))
    }
}

/// `approved by Ada, 2026-11-24 08:10:00 UTC`, and the comment.
pub(super) fn told(what: &str, by: Option<&str>, at: Timestamp, comment: Option<&str>) -> String {
    let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
    let comment = comment.map(|comment| format!(": {comment}")).unwrap_or_default();
    format!("{what}{by}, {} UTC{comment}", moment(at))
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
