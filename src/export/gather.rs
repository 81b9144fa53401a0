//! Gathers the records of many jobs. Each job is read once, a record at a time, and written aside; by the end all columns are
//! known, and the table is made of what was written.

use super::{
    TableColumns,
    columns::KNOWN,
    facts::RecordFacts,
    lists::RecordList,
    table_writer::{ExportError, TableWriter},
};
use crate::{
    runner::{LoadedJob, load},
    workspace::Workspace,
};
use overnight_core::job::{contract::json_path::JsonPath, finding::FindingKind, state::Job};
use serde_json::{Deserializer, Value};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader, BufWriter, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// Columns of a table, so that all forms have room for them.
const MOST_COLUMNS: usize = 1_900;
/// What an editor may put before a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Which table is wanted.
#[derive(Clone, Debug, Default)]
pub struct TableRequest {
    /// `output/requirements.json`, or `output/all.json#parties`; none: the first list of the first job that has one.
    pub list: Option<String>,
    pub review: Option<ReviewPages>,
    /// The fields have what people have corrected in them.
    pub is_corrected: bool,
}

/// Where the review pages of jobs lie.
#[derive(Clone, Debug)]
pub struct ReviewPages {
    /// A folder or an address.
    pub folder: String,
    /// The element of a record on the page of its job, by deliverable and place.
    pub anchor: fn(&str, &str) -> String,
}

/// The records of many jobs.
#[derive(Debug)]
pub struct GatheredRecords {
    /// The list that they are of; none where no job has one.
    pub list: Option<String>,
    pub columns: TableColumns,
    pub records: u64,
    /// Jobs that have the list.
    pub jobs: u64,
    /// Those of them whose list is empty, by their folder's name.
    pub without_records: Vec<String>,
    /// Jobs that should have it, by their folder's name, and why nothing of them is here.
    pub left_out: Vec<(String, String)>,
    /// Other lists that jobs have, with the number of jobs.
    pub others: BTreeMap<String, u64>,
    /// Records that only a second reader has, and nobody has settled: they are in no list.
    pub missing: u64,
    aside: File,
}

impl GatheredRecords {
    /// Reads the jobs whose workspaces lie at `paths`; what is written aside is a file without a name in the folder `aside`.
    pub fn read(paths: &[PathBuf], request: &TableRequest, aside: &Path) -> Result<Self, ExportError> {
        let mut gathered = Self {
            list: request.list.clone(),
            columns: TableColumns::default(),
            records: 0,
            jobs: 0,
            without_records: Vec::new(),
            left_out: Vec::new(),
            others: BTreeMap::new(),
            missing: 0,
            aside: tempfile::tempfile_in(aside)?,
        };
        let mut out = BufWriter::new(gathered.aside.try_clone()?);
        for path in paths {
            let LoadedJob { job, .. } = match load(path) {
                Ok(loaded) => loaded,
                Err(error) => {
                    gathered.leave_out(path, error.to_string());
                    continue;
                }
            };
            let began = out.stream_position()?;
            match gathered.take(&job, path, request, &mut out) {
                Ok(()) if gathered.columns.count() > MOST_COLUMNS => {
                    return Err(ExportError::TooManyColumns(MOST_COLUMNS));
                }
                Ok(()) => {}
                Err(JobFault::Table(error)) => return Err(error),
                Err(JobFault::Job(why)) => {
                    out.seek(SeekFrom::Start(began))?;
                    out.get_ref().set_len(began)?;
                    gathered.leave_out(path, why);
                }
            }
        }
        out.flush()?;
        drop(out);
        Ok(gathered)
    }

    fn leave_out(&mut self, path: &Path, why: String) {
        self.left_out.push((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), why));
    }

    /// Takes in the records of one job, where it has the list.
    fn take(&mut self, job: &Job, path: &Path, request: &TableRequest, out: &mut impl Write) -> Result<(), JobFault> {
        let lists = RecordList::of(job);
        let wanted = self.list.clone().or_else(|| lists.first().map(|list| list.name.clone()));
        for list in lists.iter().filter(|list| Some(&list.name) != wanted.as_ref()) {
            *self.others.entry(list.name.clone()).or_default() += 1;
        }
        let Some(list) = lists.iter().find(|list| Some(&list.name) == wanted.as_ref()) else { return Ok(()) };
        if self.columns.count() == KNOWN.len() {
            self.columns = list.columns();
        }
        self.list = wanted;
        let workspace = Workspace::open(path).map_err(job_fault)?;
        let file = &list.deliverable.path;
        let mut content = match workspace.stream(file) {
            Ok((content, _)) => BufReader::new(content),
            Err(error) if error.is_not_found() => return Err(JobFault::Job(format!("it has not written {file}"))),
            Err(error) => return Err(job_fault(error)),
        };
        if content.fill_buf().is_ok_and(|begin| begin.starts_with(BYTE_ORDER_MARK)) {
            content.consume(BYTE_ORDER_MARK.len());
        }
        let each = JsonPath::parse(&list.each).map_err(job_fault)?;
        let facts = RecordFacts::of(job, &workspace, list, request.review.as_ref()).map_err(job_fault)?;
        let (mut records, mut fault) = (0, None);
        let mut reader = Deserializer::from_reader(content);
        let read = each.each_in(&mut reader, &mut |place, mut record| {
            if fault.is_none() && self.columns.count() <= MOST_COLUMNS {
                let known = facts.known(place, &record);
                if request.is_corrected {
                    facts.correct(place, &mut record);
                }
                self.columns.observe(&record);
                fault = serde_json::to_writer(&mut *out, &(record, known)).err();
                records += 1;
            }
        });
        if let Some(error) = fault {
            return Err(JobFault::Table(error.into()));
        }
        read.and_then(|()| reader.end()).map_err(|error| JobFault::Job(format!("{file} is not JSON: {error}")))?;
        let is_missing = |kind| facts.findings.is_read_twice() && kind == FindingKind::Missing;
        let open = job.proof.findings.iter().filter(|finding| finding.settled.is_none() && is_missing(finding.kind));
        self.missing += open.count() as u64;
        if records == 0 {
            self.without_records.push(job.spec.id.to_string());
        }
        self.records += records;
        self.jobs += 1;
        Ok(())
    }

    /// Hands all rows to `table`.
    pub(super) fn write(&mut self, table: &mut dyn TableWriter) -> Result<(), ExportError> {
        self.aside.seek(SeekFrom::Start(0))?;
        let rows = Deserializer::from_reader(BufReader::new(&self.aside)).into_iter::<(Value, Vec<Value>)>();
        for row in rows {
            let (record, known) = row?;
            table.row(&self.columns.row(&record, known))?;
        }
        Ok(())
    }
}

/// Why no more is read.
enum JobFault {
    /// Of this job.
    Job(String),
    /// At all.
    Table(ExportError),
}

fn job_fault(error: impl std::fmt::Display) -> JobFault {
    JobFault::Job(error.to_string())
}
