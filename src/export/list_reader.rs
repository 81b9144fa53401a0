//! Reads the records of a list one by one, each with the facts about it: for a table, and for comparing two runs.

use super::{
    columns::{DOCUMENT, QUOTE, flat},
    facts::RecordFacts,
    lists::RecordList,
    outer_documents::OuterDocuments,
    review_pages::ReviewPages,
    row_marks::AcceptedFields,
};
use crate::workspace::Workspace;
use overnight_core::job::{json_path::JsonPath, state::Job};
use serde_json::{Deserializer, Value};
use std::{
    collections::HashSet,
    io::{BufRead, BufReader, Read},
};

/// A mark that some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The reason why a list can't be read: a fragment.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UnreadList(String);

impl UnreadList {
    fn of(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// A record as people have corrected it.
#[derive(Debug)]
pub struct CorrectedRecord {
    /// `$.requirements[3]`.
    pub place: String,
    pub record: Value,
    /// The name of its document in the job, if known.
    pub document: Option<String>,
    /// Its first quote.
    pub quote: Option<String>,
    /// The byte range of the quote in the document's text: its first byte, and the one after its last.
    pub span: Option<(u64, u64)>,
    /// The fields that people have accepted.
    pub accepted: AcceptedFields,
}

impl CorrectedRecord {
    /// The fields of a record by their columns' names: those of objects in it have both names with a dot between.
    pub fn fields(record: &Value) -> Vec<(String, Value)> {
        let mut fields = Vec::new();
        flat(record, &mut |name, value| fields.push((name.to_owned(), value.clone())));
        fields
    }
}

/// A list of a job, by its name, with its records or why they can't be read.
pub type ReadList = (String, Result<Vec<CorrectedRecord>, UnreadList>);

/// How a list is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListReading<'f> {
    pub(super) job: &'f Job,
    pub(super) workspace: &'f Workspace,
    pub(super) review: Option<&'f ReviewPages>,
    /// Without the records that people added, and with those that they deleted.
    pub(super) as_written: bool,
}

/// All lists of a job, with people's corrections.
pub fn read_lists(job: &Job, workspace: &Workspace) -> Vec<ReadList> {
    lists(job, workspace, false)
}

/// All lists of a job, as the model wrote them.
pub fn read_lists_as_written(job: &Job, workspace: &Workspace) -> Vec<ReadList> {
    lists(job, workspace, true)
}

fn lists(job: &Job, workspace: &Workspace, as_written: bool) -> Vec<ReadList> {
    let read = |list: &RecordList<'_>| {
        let mut records = Vec::new();
        let reading = ListReading { job, workspace, review: None, as_written };
        list.each_record(reading, &mut |facts, place, mut record| {
            let known = facts.known(place, &record);
            let text = |at: usize| known.get(at).and_then(Value::as_str).map(str::to_owned);
            if !as_written {
                facts.findings.correct_whole(place, &mut record);
            }
            records.push(CorrectedRecord {
                place: place.to_owned(),
                record,
                document: text(DOCUMENT),
                quote: text(QUOTE),
                span: facts.span(place),
                accepted: facts.accepted(place),
            });
        })?;
        Ok(records)
    };
    RecordList::of(job).iter().map(|list| (list.name.clone(), read(list))).collect()
}

impl<'j> RecordList<'j> {
    /// Calls `visit` with each record as the model wrote it, and its place; then with those that people added. Returns
    /// the facts, and the number of records that were skipped because a person has deleted them.
    pub(super) fn each_record<'f>(
        &'f self,
        ListReading { job, workspace, review, as_written }: ListReading<'f>,
        visit: &mut dyn FnMut(&RecordFacts<'f>, &str, Value),
    ) -> Result<(RecordFacts<'f>, u64), UnreadList>
    where
        'j: 'f,
    {
        let file = &self.deliverable.path;
        let each = JsonPath::parse(&self.each).map_err(UnreadList::of)?;
        let outer = OuterDocuments::read(self, || content(workspace, file).ok());
        let facts = RecordFacts::of(job, workspace, self, review, outer).map_err(UnreadList::of)?;
        let mut reader = Deserializer::from_reader(content(workspace, file)?);
        let no_json = |error| UnreadList(format!("{file} is not JSON: {error}"));
        let mut deleted = 0;
        let mut take = |place: &str, record: Value| {
            if !as_written && facts.findings.is_deleted(place) {
                deleted += 1;
            } else {
                visit(&facts, place, record);
            }
        };
        let read = each.each_in(&mut reader, &mut take);
        read.and_then(|()| reader.end()).map_err(no_json)?;
        if !as_written && job.has_added_records(file) {
            let written: Value = serde_json::from_reader(content(workspace, file)?).map_err(no_json)?;
            let mut places = HashSet::new();
            each.each(&written, &mut |place, _| {
                places.insert(place.to_owned());
            });
            let mut longer = written;
            job.add_records(file, &mut longer);
            each.each(&longer, &mut |place, record| {
                if !places.contains(place) {
                    take(place, record.clone());
                }
            });
        }
        Ok((facts, deleted))
    }
}

/// A deliverable from its beginning.
fn content(workspace: &Workspace, file: &str) -> Result<BufReader<impl Read + use<>>, UnreadList> {
    let mut content = match workspace.stream(file) {
        Ok((content, _)) => BufReader::new(content),
        Err(error) if error.is_not_found() => return Err(UnreadList(format!("it has not written {file}"))),
        Err(error) => return Err(UnreadList::of(error)),
    };
    if content.fill_buf().is_ok_and(|begin| begin.starts_with(BYTE_ORDER_MARK)) {
        content.consume(BYTE_ORDER_MARK.len());
    }
    Ok(content)
}
