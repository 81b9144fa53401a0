//! The facts of a report's jobs, in a temporary file: so a report of any number of jobs fits into memory.

use super::facts::JobFacts;
use overnight_core::job::id::JobId;
use serde::{Serialize, Serializer};
use std::{
    cell::RefCell,
    fmt,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};
use tempfile::{SpooledTempFile, spooled_tempfile_in};

/// Bytes that are kept in memory; more than that goes to an unnamed temporary file.
const MOST_IN_MEMORY: usize = 8 * 1024 * 1024;

/// The jobs of a report, which must be added in the order of their ids.
pub struct SpooledJobs {
    spool: RefCell<SpooledTempFile>,
    /// The offset of each job's facts.
    places: Vec<(JobId, u64)>,
    end: u64,
    /// A fault while reading back: all reads stop then, and the report's writer checks it at the end.
    fault: RefCell<Option<io::Error>>,
}

impl fmt::Debug for SpooledJobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpooledJobs").field("jobs", &self.places.len()).finish_non_exhaustive()
    }
}

impl SpooledJobs {
    /// Large data goes to a temporary file in `folder`.
    pub fn new(folder: &Path) -> Self {
        let spool = RefCell::new(spooled_tempfile_in(MOST_IN_MEMORY, folder));
        Self { spool, places: Vec::new(), end: 0, fault: RefCell::default() }
    }

    pub fn push(&mut self, job: &JobFacts) -> io::Result<()> {
        let line = serde_json::to_vec(job)?;
        let spool = self.spool.get_mut();
        spool.seek(SeekFrom::Start(self.end))?;
        spool.write_all(&line)?;
        self.places.push((job.id, self.end));
        self.end += line.len() as u64;
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// All jobs, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = JobFacts> {
        (0..self.places.len()).map_while(|place| self.at(place))
    }

    pub fn get(&self, id: JobId) -> Option<JobFacts> {
        self.places.binary_search_by_key(&id, |(id, _)| *id).ok().and_then(|place| self.at(place))
    }

    /// An error if facts in the temporary file could not be read back.
    pub fn check(&self) -> io::Result<()> {
        self.fault.borrow_mut().take().map_or(Ok(()), Err)
    }

    fn at(&self, place: usize) -> Option<JobFacts> {
        let (_, begin) = *self.places.get(place)?;
        let end = self.places.get(place + 1).map_or(self.end, |(_, next)| *next);
        match self.read(begin, end) {
            Ok(job) => Some(job),
            Err(error) => {
                self.fault.borrow_mut().get_or_insert(error);
                None
            }
        }
    }

    fn read(&self, begin: u64, end: u64) -> io::Result<JobFacts> {
        let mut spool = self.spool.borrow_mut();
        spool.seek(SeekFrom::Start(begin))?;
        let mut line = Vec::new();
        (&mut *spool).take(end - begin).read_to_end(&mut line)?;
        // Parsed via a value: numbers of arbitrary precision can't be read directly into a type with flattened fields.
        Ok(serde_json::from_value(serde_json::from_slice(&line)?)?)
    }
}

impl Serialize for SpooledJobs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
