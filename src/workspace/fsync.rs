//! Waits for the disk: every sync of this process goes through here and is counted, to distinguish the cost of a turn
//! from that of the disk. SQLite's own syncs are not included.

use rustix::time::{ClockId, clock_gettime};
use std::{
    io,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

static CALLS: AtomicU64 = AtomicU64::new(0);
static CPU_NANOS: AtomicU64 = AtomicU64::new(0);

/// The syncs of this process so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FsyncCounts {
    /// Calls of `fsync` and `fdatasync`.
    pub calls: u64,
    /// Processor time that the system spent within them.
    pub cpu: Duration,
}

/// The syncs of this process since it began.
pub fn fsync_counts() -> FsyncCounts {
    FsyncCounts { calls: CALLS.load(Relaxed), cpu: Duration::from_nanos(CPU_NANOS.load(Relaxed)) }
}

/// Runs `sync`, and counts it.
pub(super) fn counted(sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let before = thread_cpu();
    let result = sync();
    CALLS.fetch_add(1, Relaxed);
    let spent = thread_cpu().saturating_sub(before);
    CPU_NANOS.fetch_add(u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    result
}

fn thread_cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
