//! When a run after a crash has caught up with the undisturbed one, and whether files and state are then the same.

use super::{
    cut::DERIVED,
    record::{Moment, Record},
};
use crate::scenarios::{golden::differences, mask::Mask, play::Line, tree::Node};
use overnight::workspace::chain::LIVE;
use overnight_core::job::state::Job;
use regex::Regex;
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};
use tokio::sync::Notify;

/// Lines after the cut that are decided anew before a run has caught up: more than any effect takes to show.
const MARGIN: usize = 4;

/// Times as values, milliseconds of work, and hashes of results that have times in them.
static VALUES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"Timestamp\([^)]*\)|worked_ms: \d+|\d{12,}").ok());

pub(crate) struct CaughtUp<'r> {
    record: &'r Record,
    cut: usize,
    /// The line of the undisturbed run that is waited for; `None`: none, it is worked to the end.
    goal: Option<usize>,
    /// The step that was last begun.
    pub(crate) step: usize,
    /// The lines of this run.
    lines: u64,
    /// Lines without openings until the goal.
    left: usize,
    /// Lines of this run after the cut in which a process took the job up.
    openings: Vec<u64>,
    pub(crate) stop: Arc<Notify>,
    /// How it differs where it has caught up.
    pub(crate) faults: String,
}

impl<'r> CaughtUp<'r> {
    /// `cut`: the last line, from 1, that was on the disk.
    pub(crate) fn new(record: &'r Record, cut: usize, to_the_end: bool) -> Self {
        let is_opening = |line: usize| record.at(line).is_none_or(|moment| moment.is_opening);
        let goal = (cut + MARGIN..=record.lines()).find(|line| !to_the_end && !is_opening(*line));
        let left = goal.map_or(0, |goal| (cut + 1..=goal).filter(|line| !is_opening(*line)).count());
        let stop = Arc::new(Notify::new());
        Self { record, cut, goal, step: 0, lines: cut as u64, left, openings: Vec::new(), stop, faults: String::new() }
    }

    pub(crate) fn on(&mut self, line: Line<'_>) {
        self.lines += 1;
        self.step = line.step;
        if line.is_opening {
            self.openings.push(self.lines);
            return;
        }
        let Some((goal, moment)) = self.goal.and_then(|goal| Some((goal, self.record.at(goal)?))) else {
            return;
        };
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.faults = self.compare(line.job, goal, moment);
            self.goal = None;
            self.stop.notify_one();
        }
    }

    fn compare(&self, job: &Job, goal: usize, moment: &Moment) -> String {
        let (now, then) = (self.record.mask(self.cut, &self.openings), self.record.mask(goal, &[]));
        let (mut found, mut expected) = (BTreeMap::new(), BTreeMap::new());
        let tree = crate::scenarios::tree::Tree::read(&self.record.path, Some(&moment.tree));
        for (path, node) in &tree.0 {
            // Most files are the same to the byte; the journal's lines are checked by the state that they make.
            let is_same = moment.tree.0.get(path) == Some(node);
            if is_same || DERIVED.contains(&path.as_str()) || is_journal(path) && moment.tree.0.contains_key(path) {
                continue;
            }
            found.insert(path.clone(), text(&now, path, node));
        }
        for (path, node) in &moment.tree.0 {
            if !DERIVED.contains(&path.as_str()) && (!tree.0.contains_key(path) || found.contains_key(path)) {
                expected.insert(path.clone(), text(&then, path, node));
            }
        }
        expected.insert("the state".to_owned(), state(&then, &moment.job));
        found.insert("the state".to_owned(), state(&now, job));
        differences(&expected, &found)
    }
}

fn is_journal(path: &str) -> bool {
    path == LIVE || path.ends_with("/journal.jsonl")
}

fn text(mask: &Mask, path: &str, node: &Node) -> String {
    match node {
        Node::File(bytes, _) => mask.file(path, bytes),
        Node::Link(to) => format!("a link to {to}\n"),
    }
}

fn state(mask: &Mask, job: &Job) -> String {
    let told = format!("{job:?}").replace("\\n", "\n").replace("\\t", "\t");
    let told = VALUES.as_ref().map_or_else(|| told.clone(), |values| values.replace_all(&told, "<value>").into_owned());
    mask.text(&told)
}
