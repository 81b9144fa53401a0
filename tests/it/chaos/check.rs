//! What must hold when the storm is over.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{
    lease_log::{self, LeaseLog},
    test_dir::{Left, TestDir},
};
use overnight::{
    store::QueueEntry,
    workspace::{Workspace, journal},
};
use overnight_core::job::event::{Event, LifeEvent};
use std::{collections::BTreeMap, fs};
use uuid::Uuid;

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

pub(super) fn check(dir: &TestDir, expected: &BTreeMap<String, Left>) -> Found {
    let mut found = Found::default();
    same(&dir.left(), expected, &mut found);
    let (mut leases, lines) = lease_log::read(&dir.url);
    fs::write(dir.path("trail.txt"), lines).unwrap();
    for entry in dir.entries() {
        let leases = leases.remove(&entry.job.id.0).unwrap_or_default();
        found.leases += leases.leases.len();
        let name = format!("{} ({})", entry.job.label, entry.job.id);
        found.faults.extend(leases.faults.iter().map(|fault| format!("{name}: {fault}")));
        if leases.ends != 1 {
            found.faults.push(format!("{name}: its row ended {} times", leases.ends));
        }
        if let Some(worker) = entry.worker {
            found.faults.push(format!("{name}: is still with worker {worker}"));
        }
        journal(dir, &entry, &leases, &name, &mut found);
    }
    let verified = dir.command(&["audit", "verify", "--all"]).output().unwrap();
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
fn journal(dir: &TestDir, entry: &QueueEntry, leases: &LeaseLog, name: &str, found: &mut Found) {
    let (mut ends, mut last) = (0, 0);
    let Found { lines, faults, .. } = found;
    let read = Workspace::open(&dir.path(&entry.workspace)).map_err(|error| error.to_string()).and_then(|workspace| {
        let read = journal::read::<Event>(&workspace, |decision| {
            *lines += 1;
            ends +=
                decision.events.iter().filter(|event| matches!(event, Event::Life(LifeEvent::JobEnded { .. }))).count();
            let (seq, lease, at) = (decision.seq, decision.lease, decision.at.utc().timestamp_micros());
            if lease < last {
                faults.push(format!("{name}: line {seq} is of lease {lease}, the one before of {last}"));
            }
            last = last.max(lease);
            if let Some(fault) = out_of_lease(seq, lease, at, leases) {
                let events: String = format!("{:?}", decision.events).chars().take(100).collect();
                faults.push(format!("{name}: {fault}: {events}"));
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

/// What is wrong with line `seq`, stamped `at`: its lease was not its worker's then.
fn out_of_lease(seq: u64, lease: u64, at: i64, leases: &LeaseLog) -> Option<String> {
    // The making of the workspace, which is nobody's before its row names it.
    if (seq, lease) == (1, 0) {
        return None;
    }
    let Some(span) = leases.leases.get(&lease) else {
        return Some(format!("line {seq} is of lease {lease}, which nobody was given"));
    };
    let is_within = at + GRAIN >= span.from && at <= span.until;
    let fault = || format!("line {seq} at {at} is of lease {lease}, held from {} to {}", span.from, span.until);
    (!is_within).then(fault)
}

#[test]
fn a_line_of_a_lease_that_was_not_or_no_longer_held_is_found() {
    let (one, other) = (Some(Uuid::from_u128(1)), Some(Uuid::from_u128(2)));
    let mut leases = LeaseLog::default();
    for (at, lease, worker, status) in [
        (1_000_000, 1, one, "running"),
        (2_000_000, 1, None, "queued"),
        (3_000_000, 2, other, "running"),
        (4_000_000, 3, one, "running"),
        (5_000_000, 3, None, "completed"),
    ] {
        leases.add(at, lease, worker, status);
    }
    assert_eq!((leases.ends, leases.faults.len()), (1, 0));
    for (seq, lease, at, is_right) in [
        (1, 0, 500_000, true),
        (2, 0, 500_000, false),
        (2, 1, 999_500, true),
        (2, 1, 998_000, false),
        (3, 1, 2_000_001, false),
        (4, 2, 3_500_000, true),
        (4, 2, 4_000_001, false),
        (5, 3, 5_000_000, true),
        (6, 3, 5_000_001, false),
        (6, 4, 5_000_000, false),
    ] {
        assert_eq!(out_of_lease(seq, lease, at, &leases).is_none(), is_right, "line {seq} of lease {lease} at {at}");
    }
    leases.add(6_000_000, 3, one, "running");
    assert_eq!(leases.faults.len(), 1);
}
