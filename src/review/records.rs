//! The records of a deliverable, with their quotes and objections to them.

use super::{
    BrokenRule, FieldInput, GrowingList, NewField, QuotedValue, ReviewedQuote, ReviewedRecord,
    doubt::doubts,
    fields::{fields, shown},
    input::of_any_item,
    record_anchor,
};
use crate::{
    runner::{QuoteExplainer, QuoteLine, QuoteStatus, each_rule_broken},
    workspace::Workspace,
};
use overnight_core::job::{
    contract::{
        NamedPlace,
        records::{VALUE, record_lists},
    },
    instructions::{Deliverable, Quotes},
    json_path::{JsonPath, at_mut, within},
    record_findings::RecordFindings,
    spec::DocumentEntry,
    state::Job,
};
use serde_json::Value;
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap},
    mem::{Discriminant, discriminant},
    ops::Bound,
};

/// Records, at most, whose quotes are searched for again, to find the nearest passage.
const MOST_EXPLAINED: usize = 30;
/// The path of the whole file.
const WHOLE: &str = "$";

/// Lines of `quotes.jsonl` by deliverable, item and key.
pub(super) type LocatedQuotes = HashMap<[String; 3], QuoteLine<'static>>;

/// Whether a deliverable is JSON whose content is defined by the instructions.
pub(super) fn has_records(deliverable: &Deliverable) -> bool {
    deliverable.schema.is_some() || !deliverable.quotes.is_empty() || !deliverable.checks.is_empty()
}

/// A deliverable whose records are read.
pub(super) struct DeliverableRecords<'d> {
    pub(super) job: &'d Job,
    pub(super) workspace: &'d Workspace,
    pub(super) deliverable: &'d Deliverable,
    pub(super) content: &'d Value,
    pub(super) located: &'d LocatedQuotes,
}

/// An object with a quote, and the rule that defines it.
type QuotedObject<'d> = (&'d Quotes, &'d Value);

impl DeliverableRecords<'_> {
    /// Passes each record to `add`, in the order of the file.
    pub(super) fn read(&self, add: &mut dyn FnMut(ReviewedRecord)) {
        let objects = self.quoted_objects();
        for each in self.lists() {
            let Ok(path) = JsonPath::parse(&each) else { continue };
            let findings = RecordFindings::of(self.job, self.deliverable, &each);
            let mut broken = self.broken_rules(&path);
            path.each(self.content, &mut |place, value| {
                let broken = broken.remove(place).unwrap_or_default();
                add(self.record((place, value), &objects, &findings, broken));
            });
        }
    }

    /// The lists to which a record can be added.
    pub(super) fn growing(&self) -> Vec<GrowingList> {
        let lists = self.lists().into_iter();
        lists.filter_map(|each| GrowingList::of(&self.deliverable.path, &each, self.content)).collect()
    }

    /// The paths of its records: of nested lists the outer ones, and the whole file if there is no list.
    fn lists(&self) -> Vec<String> {
        let all = record_lists(self.deliverable);
        let is_inner = |each: &String| all.iter().any(|other| other != each && within(each, other).is_some());
        let outer: Vec<String> = all.iter().filter(|each| !is_inner(each)).cloned().collect();
        if outer.is_empty() { vec![WHOLE.to_owned()] } else { outer }
    }

    /// All objects with quotes by their places, those of one object in the order of the rules.
    fn quoted_objects(&self) -> BTreeMap<String, Vec<QuotedObject<'_>>> {
        let mut objects: BTreeMap<String, Vec<QuotedObject<'_>>> = BTreeMap::new();
        for rule in &self.deliverable.quotes {
            let Ok(path) = JsonPath::parse(&rule.each) else { continue };
            path.each(self.content, &mut |place, value| {
                objects.entry(place.to_owned()).or_default().push((rule, value));
            });
        }
        objects
    }

    fn record(
        &self,
        (place, value): (&str, &Value),
        objects: &BTreeMap<String, Vec<QuotedObject<'_>>>,
        findings: &RecordFindings<'_>,
        broken_rules: Vec<BrokenRule>,
    ) -> ReviewedRecord {
        let file = &self.deliverable.path;
        let mut corrected = findings.corrected(place, value);
        let of_record = objects
            .range::<str, _>((Bound::Included(place), Bound::Unbounded))
            .take_while(|(object, _)| object.starts_with(place));
        let of_record = of_record.filter_map(|(object, quoted)| Some((object, within(object, place)?, quoted)));
        let mut quotes: Vec<(&Quotes, ReviewedQuote)> = Vec::new();
        for (object, inner, quoted) in of_record {
            let present = match &mut corrected {
                Cow::Owned(record) => at_mut(record, &format!("${inner}")),
                Cow::Borrowed(_) => None,
            };
            for (rule, written) in quoted {
                let found = self.located.get(&[file.clone(), object.clone(), rule.text.clone()]);
                let present = present.as_deref().unwrap_or(written);
                let Some(mut quote) = self.quote(rule, (object, inner), present, found) else { continue };
                quote.wrong = findings.wrong_quote(object, &rule.text);
                quote.values = found.map(|found| doubtful_values(found, &quote, findings, place)).unwrap_or_default();
                quotes.push((rule, quote));
            }
        }
        // In the order of the rules, the record's own first: second readings are compared by the first quote.
        let rule_of = |rule: &Quotes| self.deliverable.quotes.iter().position(|other| std::ptr::eq(other, rule));
        quotes.sort_by_key(|(rule, quote)| (quote.object != place, rule_of(rule)));
        let pairs: Vec<(&Quotes, &ReviewedQuote)> = quotes.iter().map(|(rule, quote)| (*rule, quote)).collect();
        let fields = fields(value, place, &pairs);
        let is_deleted = findings.is_deleted(place);
        // Second readers are compared with the model's own text.
        let first = quotes.first().map(|(rule, quote)| (&rule.text, &quote.object));
        let read = first
            .and_then(|(key, object)| objects.get(object)?.first().and_then(|(_, written)| written.get(key)?.as_str()));
        let mut record = ReviewedRecord {
            anchor: record_anchor(file, place),
            file: file.clone(),
            place: place.to_owned(),
            fields,
            quotes: quotes.into_iter().map(|(_, quote)| quote).collect(),
            found_by: None,
            broken_rules,
            findings: Vec::new(),
            confidence: value.get("confidence").and_then(Value::as_f64),
            doubts: Vec::new(),
            approval: None,
            corrections: Vec::new(),
            is_deleted,
            lists: Vec::new(),
        };
        judge(self.job, findings, read, &mut record);
        record
    }

    /// The quote that the object at a place has by `rule`, if it has one; `inner` is its place within its record.
    fn quote(
        &self,
        rule: &Quotes,
        (place, inner): (&str, &str),
        object: &Value,
        found: Option<&QuoteLine<'_>>,
    ) -> Option<ReviewedQuote> {
        let text = object.get(&rule.text)?.as_str()?;
        let named = object.get(&rule.document).and_then(Value::as_str).unwrap_or_default();
        let document = self.job.spec.named(found.map_or(named, |found| &found.document));
        let name = document.map_or(named, |document| &document.name);
        let is_paged = document.is_some_and(|document| document.paged);
        let named_unit = || NamedPlace::of(rule, object).ok()?.in_document(is_paged).map(|unit| unit.number);
        let unit_key = if is_paged { &rule.page } else { &rule.line }.as_ref();
        let position = found.and_then(|found| found.place);
        let name_within = inner.trim_start_matches('.').to_owned();
        let of_object = rule.field(object).or_else(|| object.get(VALUE).filter(|_| !inner.is_empty()).map(|_| VALUE));
        let mut quote = ReviewedQuote {
            key: rule.text.clone(),
            object: place.to_owned(),
            within: name_within,
            field: None,
            text: text.to_owned(),
            document_place: format!("{place}.{}", rule.document),
            unit_place: unit_key.map(|key| format!("{place}.{key}")),
            named_unit: unit_key.and_then(|key| object.get(key)).and_then(Value::as_u64),
            document: name.to_owned(),
            is_known: document.is_some(),
            unit: position.map(|place| place.from.unit_number()).or_else(named_unit),
            unit_name: document.map_or("page", DocumentEntry::unit_name),
            check: found.map(|found| found.result),
            place: position,
            start: found.and_then(|found| found.start),
            range: None,
            is_over_break: position.is_some_and(|place| place.from.page != place.to.page),
            is_recognised: found.is_some_and(|found| found.recognised),
            one_reading: found.map(|found| found.one_reading.clone()).unwrap_or_default(),
            boxes: found.map(|found| found.boxes.clone()).unwrap_or_default(),
            gap: found.and_then(|found| found.gap.as_deref()).map(str::to_owned),
            wrong: None,
            values: Vec::new(),
            mark: None,
            target: None,
        };
        quote.field = match of_object {
            Some(field) => Some(quote.name_of(field)),
            None => Some(quote.within.clone()).filter(|within| !within.is_empty()),
        };
        Some(quote)
    }

    /// The rules that don't hold for the corrected deliverable, by the record that each is about; rules for the file as
    /// a whole are listed at its first record.
    fn broken_rules(&self, path: &JsonPath) -> HashMap<String, Vec<BrokenRule>> {
        let mut broken: HashMap<String, Vec<BrokenRule>> = HashMap::new();
        if self.deliverable.checks.is_empty() {
            return broken;
        }
        let mut corrected = self.content.clone();
        let deleted = self.job.correct_whole(&self.deliverable.path, &mut corrected);
        let mut records = BTreeSet::new();
        let mut first = None;
        path.each(&corrected, &mut |place, _| {
            first.get_or_insert_with(|| place.to_owned());
            records.insert(place.to_owned());
        });
        each_rule_broken(self.job, self.workspace, self.deliverable, &corrected, &mut |place, level, why| {
            let of_record =
                (0..=place.len()).rev().filter_map(|end| place.get(..end)).find(|part| records.contains(*part));
            let Some(record) = of_record.map(str::to_owned).or_else(|| first.clone()) else { return };
            let field = within(place, &record).filter(|_| of_record.is_some()).unwrap_or_default();
            let field = Some(field.trim_start_matches('.').to_owned()).filter(|field| !field.is_empty());
            broken.entry(deleted.place_before(&record)).or_default().push(BrokenRule { level, field, why });
        });
        broken
    }
}

/// Adds the inputs for correcting the fields of a page's records, and the lists in them to which lines can be added.
/// The schema is evaluated once for all records of a list.
pub(super) fn add_inputs(job: &Job, records: &mut [ReviewedRecord]) {
    let mut known: HashMap<(String, String, Discriminant<Value>), FieldInput> = HashMap::new();
    let mut of_lists: HashMap<(String, String), Vec<NewField>> = HashMap::new();
    for record in records {
        let all = &job.spec.instructions.deliverables;
        let deliverable = all.iter().find(|deliverable| deliverable.path == record.file);
        let schema = deliverable.and_then(|deliverable| deliverable.schema.as_ref());
        for field in &mut record.fields {
            let text = || Value::String(String::new());
            let value =
                if field.is_text { text() } else { serde_json::from_str(&field.value).unwrap_or_else(|_| text()) };
            let key = (record.file.clone(), of_any_item(&field.place), discriminant(&value));
            let input = known.entry(key).or_insert_with_key(|(_, path, _)| FieldInput::of(schema, path, &value));
            field.input = input.clone();
        }
        record.lists = GrowingList::within(record);
        for list in &mut record.lists {
            let key = (list.file.clone(), of_any_item(&list.place));
            if let Some(known) = of_lists.get(&key) {
                list.fields.clone_from(known);
                continue;
            }
            list.add_fields(job);
            of_lists.insert(key, list.fields.clone());
        }
        record.lists.retain(|list| !list.fields.is_empty());
    }
}

/// Adds the nearest passage to those quotes of a page's records that are not found.
pub(super) fn explain(job: &Job, workspace: &Workspace, records: &mut [ReviewedRecord]) {
    let mut nearest = QuoteExplainer::new(job, workspace);
    let is_missing = |quote: &ReviewedQuote| quote.wrong.is_none() && quote.check == Some(QuoteStatus::NotFound);
    let wanted = records.iter_mut().filter(|record| record.quotes.iter().any(is_missing));
    let mut contents: HashMap<String, Value> = HashMap::new();
    for record in wanted.take(MOST_EXPLAINED) {
        let all = &job.spec.instructions.deliverables;
        let Some(deliverable) = all.iter().find(|deliverable| deliverable.path == record.file) else { continue };
        let content = contents.entry(record.file.clone()).or_insert_with(|| {
            let mut content = workspace.read(&record.file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
            if let Some(content) = &mut content {
                job.correct(&record.file, content);
            }
            content.unwrap_or_default()
        });
        for quote in record.quotes.iter_mut().filter(|quote| is_missing(quote)) {
            let explained = nearest.explain(deliverable, (&quote.object, content));
            quote.wrong =
                explained.into_iter().find(|of| of.item == quote.object && of.key == quote.key).and_then(|of| of.wrong);
        }
        record.doubts = doubts(record, job.spec.instructions.confidence_floor);
    }
}

/// The values of a record that are not in a quote of it, or possibly not.
fn doubtful_values(
    found: &QuoteLine<'_>,
    quote: &ReviewedQuote,
    findings: &RecordFindings<'_>,
    record: &str,
) -> Vec<QuotedValue> {
    let object = within(&quote.object, record).unwrap_or_default();
    let is_corrected = |field: &str| {
        findings
            .corrections(record)
            .any(|of| of.within.strip_prefix(object).and_then(|rest| rest.strip_prefix('.')) == Some(field))
    };
    let told = found.values.iter().map(|(field, status)| {
        let name = quote.name_of(field);
        QuotedValue { told: status.told(&name), is_corrected: is_corrected(field), field: name }
    });
    told.collect()
}

/// Adds the objections of the readers and the program to a record, and people's reviews of it.
fn judge(job: &Job, findings: &RecordFindings<'_>, read: Option<&str>, record: &mut ReviewedRecord) {
    let quote = record.quotes.first();
    let start = quote.filter(|quote| Some(quote.text.as_str()) == read).and_then(|quote| quote.start);
    let held = quote.zip(read).and_then(|(quote, read)| findings.held(&quote.document, read, start));
    record.found_by = quote.and_then(|quote| findings.found_by(held, &quote.document, quote.unit?));
    let open = held.filter(|finding| finding.settled.is_none());
    record.findings = open.into_iter().chain(findings.faults(&record.place)).cloned().collect();
    if !record.is_deleted {
        record.doubts = doubts(record, job.spec.instructions.confidence_floor);
    }
    record.approval = job.reviewed.record(&record.file, &record.place).cloned();
    for correction in findings.corrections(&record.place) {
        let finding = correction.finding;
        let field = record.fields.iter_mut().find(|field| finding.place.as_ref() == Some(&field.place));
        if let Some(field) = field {
            field.corrected = Some(shown(correction.after));
        }
        record.corrections.push(finding.clone());
    }
}
