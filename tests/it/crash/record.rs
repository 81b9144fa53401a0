//! The undisturbed run of a scenario: the workspace, the step and the state at every line of the journal.

use crate::scenarios::{
    case::Scenario,
    ground::{Ground, id},
    mask::Mask,
    play,
    tree::Tree,
};
use overnight::{store::Store, workspace::chain::LIVE};
use overnight_core::job::{
    digest::sha256,
    record::{JobSummary, NewJob},
    rows::CheckpointExtent,
    state::Job,
};
use std::path::PathBuf;

pub(crate) struct Record {
    pub(crate) path: PathBuf,
    first_row: NewJob,
    moments: Vec<Moment>,
}

/// A line is written; the next effect is not begun.
pub(crate) struct Moment {
    /// Place of the step in the scenario that decided the line; the first line is there before all steps.
    pub(crate) step: usize,
    pub(crate) is_opening: bool,
    pub(crate) tree: Tree,
    pub(crate) job: Job,
}

impl Record {
    /// Plays the scenario.
    pub(crate) async fn of(scenario: &Scenario, ground: &Ground) -> Result<Self, String> {
        let path = ground.begin(scenario)?;
        let job = overnight::runner::load(&path).map_err(|error| error.to_string())?.job;
        let mut moments = vec![Moment { step: 0, is_opening: false, tree: Tree::read(&path, None), job }];
        play::play(scenario, 0, &*ground.store, &path, &mut |line| {
            let tree = Tree::read(&path, moments.last().map(|before| &before.tree));
            moments.push(Moment { step: line.step, is_opening: line.is_opening, tree, job: line.job.clone() });
        })
        .await?;
        let row = ground.store.job(id(&path)).await.map_err(|error| error.to_string())?.ok_or("no row of the job")?;
        Ok(Self { path, first_row: row.job, moments })
    }

    pub(crate) fn lines(&self) -> usize {
        self.moments.len()
    }

    /// How it was when line `line` (from 1) was on the disk.
    pub(crate) fn at(&self, line: usize) -> Option<&Moment> {
        self.moments.get(line.checked_sub(1)?)
    }

    /// The line with which there are `count` lines that are no openings.
    pub(crate) fn line_of(&self, count: usize) -> usize {
        let lines = (1..).zip(&self.moments).filter(|(_, moment)| !moment.is_opening).map(|(line, _)| line);
        lines.take(count).last().unwrap_or(1)
    }

    /// What differs from run to run, for the run up to line `line`, and after it with openings at the lines `more`.
    pub(crate) fn mask(&self, line: usize, more: &[u64]) -> Mask {
        let openings = (1..).zip(&self.moments[..line]).filter(|(_, moment)| moment.is_opening).map(|(seq, _)| seq);
        Mask::new(id(&self.path).to_string(), openings.chain(more.iter().copied()).collect())
    }

    /// Puts the database back to how a checkpoint at line `line` left it.
    pub(crate) async fn put_rows(&self, store: &dyn Store, line: usize) -> Result<(), String> {
        let moment = self.at(line).ok_or("no such line")?;
        let journal = moment.tree.bytes(LIVE).map_or(&[][..], |bytes| bytes);
        let head = sha256(journal.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default());
        let mut rows = moment.job.checkpoint(CheckpointExtent::All, line as u64, &head);
        if line == 1 {
            // Nobody has claimed the job yet: its first row knows no line.
            rows.state = JobSummary { journal_seq: 0, journal_head: String::new(), ..rows.state };
        }
        store.restore(&self.first_row, &rows, 1).await.map_err(|error| error.to_string())
    }
}
