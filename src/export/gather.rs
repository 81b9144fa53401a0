//! Gathers the records of many jobs. Each job is read once, one record at a time, and written to a temporary file; in
//! the end all columns are known, and the table is made from that file.

use super::{
    columns::{DOCUMENT, TableColumns},
    list_reader::ListReading,
    lists::RecordList,
    nested::NestedLists,
    not_in_table::{NotInTable, TableJob, refused},
    review_pages::ReviewPages,
    row_marks::RowMarks,
    table_writer::{ExportError, RecordRow, TableWriter},
};
use crate::{
    runner::{LoadedJob, load},
    workspace::Workspace,
};
use overnight_core::{
    amount::counted,
    job::{finding::FindingKind, left_out::LeftOut, state::Job},
};
use serde_json::{Deserializer, Value};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufReader, BufWriter, Seek, SeekFrom, Write},
    path::Path,
};

/// Columns of a table, at most, so that all formats have room for them.
const MOST_COLUMNS: usize = 1_900;

/// The request for a table.
#[derive(Clone, Debug, Default)]
pub struct TableRequest {
    /// `output/requirements.json`, or `output/all.json#parties`; none: the first list of the first job that has one.
    pub list: Option<String>,
    pub review: Option<ReviewPages>,
    /// The fields are as the model wrote them, without people's corrections.
    pub as_written: bool,
    /// Files for which no job was made, of each batch.
    pub left_out: Vec<LeftOut>,
}

/// The records of many jobs.
#[derive(Debug)]
pub struct GatheredRecords {
    /// The list of the records; `None` if no job has one.
    pub list: Option<String>,
    pub columns: TableColumns,
    pub(super) nested: NestedLists,
    pub records: u64,
    /// Jobs that have the list.
    pub jobs: u64,
    /// Those of them whose list is empty.
    pub without_records: Vec<String>,
    /// Jobs that should have the list, and why their records are missing.
    pub left_out: Vec<(String, String)>,
    /// Other lists that jobs have, with the number of jobs.
    pub others: BTreeMap<String, u64>,
    /// Records that only a second reader has found, and that nobody has settled: they are in no list.
    pub missing: u64,
    pub(super) not_in_table: NotInTable,
    aside: File,
}

impl GatheredRecords {
    /// Reads the jobs; the records go to an unnamed temporary file in the folder `aside`.
    pub fn read(jobs: &[TableJob], request: &TableRequest, aside: &Path) -> Result<Self, ExportError> {
        let mut gathered = Self {
            list: request.list.clone(),
            columns: TableColumns::default(),
            nested: NestedLists::default(),
            records: 0,
            jobs: 0,
            without_records: Vec::new(),
            left_out: Vec::new(),
            others: BTreeMap::new(),
            missing: 0,
            not_in_table: NotInTable::default(),
            aside: tempfile::tempfile_in(aside)?,
        };
        let mut out = BufWriter::new(gathered.aside.try_clone()?);
        for wanted in jobs {
            let loaded = match &wanted.workspace {
                Ok(path) => load(path).map(|LoadedJob { job, .. }| (path, job)).map_err(|error| error.to_string()),
                Err(why) => Err(why.clone()),
            };
            let (path, job) = match loaded {
                Ok(loaded) => loaded,
                Err(why) => {
                    gathered.leave_out(wanted, None, why);
                    continue;
                }
            };
            let began = out.stream_position()?;
            match gathered.take(&job, path, request, &mut out) {
                Ok(_) if gathered.columns.count() > MOST_COLUMNS => {
                    return Err(ExportError::TooManyColumns(MOST_COLUMNS));
                }
                Ok(missing) => gathered.not_in_table.add(wanted, Some(&job), missing),
                Err(JobFault::Table(error)) => return Err(error),
                Err(JobFault::Job(why)) => {
                    out.seek(SeekFrom::Start(began))?;
                    out.get_ref().set_len(began)?;
                    gathered.leave_out(wanted, Some(&job), why);
                }
            }
        }
        out.flush()?;
        drop(out);
        for files in &request.left_out {
            gathered.not_in_table.add_files(files, None);
        }
        Ok(gathered)
    }

    fn leave_out(&mut self, wanted: &TableJob, loaded: Option<&Job>, why: String) {
        self.not_in_table.add(wanted, loaded, vec![why.clone()]);
        self.left_out.push((wanted.id.clone(), why));
    }

    /// Adds the records of one job, if it has the list. Returns fragments on the records that are in no row.
    fn take(
        &mut self,
        job: &Job,
        path: &Path,
        request: &TableRequest,
        out: &mut impl Write,
    ) -> Result<Vec<String>, JobFault> {
        let lists = RecordList::of(job);
        let wanted = self.list.clone().or_else(|| lists.first().map(|list| list.name.clone()));
        for list in lists.iter().filter(|list| Some(&list.name) != wanted.as_ref()) {
            *self.others.entry(list.name.clone()).or_default() += 1;
        }
        let Some(list) = lists.iter().find(|list| Some(&list.name) == wanted.as_ref()) else {
            let name = wanted.as_deref().unwrap_or("of records");
            return Ok(vec![format!("its instructions have no list {name}")]);
        };
        if self.columns.field_count() == 0 {
            (self.columns, self.nested) = list.columns();
        }
        self.list = wanted;
        let workspace = Workspace::open(path).map_err(job_fault)?;
        let file = &list.deliverable.path;
        let (mut records, mut fault) = (0, None);
        let reading =
            ListReading { job, workspace: &workspace, review: request.review.as_ref(), as_written: request.as_written };
        let read = list.each_record(reading, &mut |facts, place, mut record| {
            if fault.is_none() && self.columns.count() <= MOST_COLUMNS {
                let known = facts.known(place, &record);
                let marks = facts.marks(place, &known);
                if !request.as_written {
                    facts.findings.correct_whole(place, &mut record);
                }
                self.columns.observe(&record);
                self.nested.observe(&record);
                fault = serde_json::to_writer(&mut *out, &(record, known, marks)).err();
                records += 1;
            }
        });
        if let Some(error) = fault {
            return Err(JobFault::Table(error.into()));
        }
        let (facts, deleted) = read.map_err(job_fault)?;
        let is_missing = |kind| facts.findings.is_read_twice() && kind == FindingKind::Missing;
        let open = job.proof.findings.iter().filter(|finding| finding.settled.is_none() && is_missing(finding.kind));
        let missing = open.count() as u64;
        let refused_here: Vec<_> = job.refused.open().iter().filter(|record| record.file == *file).collect();
        let told = [
            (records == 0).then(|| "it has no record".to_owned()),
            (deleted > 0).then(|| format!("a person has deleted {}", counted(deleted, "record"))),
            refused(&refused_here),
            (missing > 0).then(|| format!("{} only a second reader found", counted(missing, "record"))),
        ];
        if records == 0 {
            self.without_records.push(job.spec.id.to_string());
        }
        self.missing += missing;
        self.records += records;
        self.jobs += 1;
        Ok(told.into_iter().flatten().collect())
    }

    /// Hands all rows to `table`.
    pub(super) fn write(&mut self, table: &mut dyn TableWriter) -> Result<(), ExportError> {
        self.aside.seek(SeekFrom::Start(0))?;
        let rows = Deserializer::from_reader(BufReader::new(&self.aside)).into_iter::<(Value, Vec<Value>, RowMarks)>();
        for row in rows {
            let (record, known, marks) = row?;
            let document = known.get(DOCUMENT).cloned().unwrap_or_default();
            let cells = self.columns.row(&record, known);
            table.row(&RecordRow { cells: &cells, record: &record, document: &document, marks: &marks })?;
        }
        Ok(())
    }
}

/// The reason why reading stops.
enum JobFault {
    /// For this job.
    Job(String),
    /// For the whole table.
    Table(ExportError),
}

fn job_fault(error: impl std::fmt::Display) -> JobFault {
    JobFault::Job(error.to_string())
}
