//! What must hold when the storm is over.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{
    desk::{Desk, Left},
    trail::{self, Told},
};
use overnight::{
    job::event::Event,
    store::QueueEntry,
    workspace::{Workspace, journal},
};
use std::{collections::BTreeMap, fs};

/// A stamp has milliseconds, the database's clock microseconds.
const GRAIN: i64 = 1000;

/// What is found right, in numbers.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) leases: usize,
    pub(super) lines: usize,
    pub(super) files: usize,
    pub(super) faults: Vec<String>,
}

pub(super) fn check(desk: &Desk, expected: &BTreeMap<String, Left>) -> Found {
    let mut found = Found::default();
    same(&desk.left(), expected, &mut found);
    let (mut told, lines) = trail::read(&desk.url);
    fs::write(desk.path("trail.txt"), lines).unwrap();
    for entry in desk.entries() {
        let told = told.remove(&entry.job.id.0).unwrap_or_default();
        found.leases += told.leases.len();
        let name = format!("{} ({})", entry.job.label, entry.job.id);
        found.faults.extend(told.faults.iter().map(|fault| format!("{name}: {fault}")));
        if told.ends != 1 {
            found.faults.push(format!("{name}: its row ended {} times", told.ends));
        }
        if let Some(worker) = entry.worker {
            found.faults.push(format!("{name}: is still with worker {worker}"));
        }
        journal(desk, &entry, &told, &name, &mut found);
    }
    let verified = desk.command(&["audit", "verify", "--all"]).output().unwrap();
    if !verified.status.success() {
        found.faults.push(format!("audit verify: {verified:?}"));
    }
    found
}

fn same(left: &BTreeMap<String, Left>, expected: &BTreeMap<String, Left>, found: &mut Found) {
    if left.keys().ne(expected.keys()) {
        found.faults.push(format!("{} jobs instead of {}", left.len(), expected.len()));
    }
    for (label, expected) in expected {
        let Some(left) = left.get(label) else { continue };
        if left.status != expected.status {
            found.faults.push(format!("{label}: {} instead of {}", left.status, expected.status));
        }
        let names = |left: &Left| left.files.keys().cloned().collect::<Vec<_>>();
        if left.files != expected.files {
            let (has, needs) = (names(left), names(expected));
            found.faults.push(format!("{label}: other deliverables: {has:?}, undisturbed {needs:?}"));
        }
        found.files += left.files.len();
    }
}

/// One end; leases that never go back; and no line of a lease when it was not, or no longer, the worker's.
fn journal(desk: &Desk, entry: &QueueEntry, told: &Told, name: &str, found: &mut Found) {
    let (mut ends, mut last) = (0, 0);
    let Found { lines, faults, .. } = found;
    let read = Workspace::open(&desk.path(&entry.workspace)).map_err(|error| error.to_string()).and_then(|workspace| {
        let read = journal::read::<Event>(&workspace, |decision| {
            *lines += 1;
            ends += decision.events.iter().filter(|event| matches!(event, Event::JobEnded { .. })).count();
            let (seq, lease, at) = (decision.seq, decision.lease, decision.at.utc().timestamp_micros());
            if lease < last {
                faults.push(format!("{name}: line {seq} is of lease {lease}, the one before of {last}"));
            }
            last = last.max(lease);
            match told.leases.get(&lease) {
                // The making of the workspace, which is nobody's before its row names it.
                None if (seq, lease) == (1, 0) => {}
                None => faults.push(format!("{name}: line {seq} is of lease {lease}, which nobody was given")),
                Some(span) if at + GRAIN < span.from || at > span.until => faults.push(format!(
                    "{name}: line {seq} at {at} is of lease {lease}, which was held from {} to {}: {:?}",
                    span.from, span.until, decision.events
                )),
                Some(_) => {}
            }
            Ok(())
        });
        read.map_err(|error| error.to_string())
    });
    if let Err(error) = read {
        faults.push(format!("{name}: {error}"));
    }
    if ends != 1 {
        faults.push(format!("{name}: its journal has {ends} ends"));
    }
}
