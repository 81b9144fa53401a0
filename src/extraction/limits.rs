//! The resources that a reader may use, and the environment that it gets. The process sets its own limits before it
//! reads the document; the system enforces them.
//!
//! Times are processor time: a busy machine must not decide what can be read.

use super::confinement;
use crate::subprocess;
use rustix::{
    process::{Resource, Rlimit, setrlimit},
    time::{ClockId, clock_gettime},
};
use std::{ffi::OsStr, path::PathBuf, process::Command, time::Duration};

/// Address space of a reader, in bytes.
pub(super) const MEMORY_BYTES: u64 = 1 << 30;
/// Processor time for one document, including helper programs that read a PDF.
pub(super) const DOCUMENT: Duration = Duration::from_mins(1);
/// Processor time for one page of a document that has several.
pub(super) const PAGE: Duration = Duration::from_secs(2);
/// A reader without output for this long, in real time, counts as hung.
pub(super) const SILENCE: Duration = Duration::from_mins(5);
/// Crashes after which a document is given up.
pub(super) const MOST_CRASHES: usize = 5;
/// How often a reader that is killed from outside is started again.
pub(super) const MOST_KILLS: usize = 2;
/// Stack of the reading thread, in bytes: parsers descend as deep as a document is nested.
pub(super) const STACK_BYTES: usize = 64 << 20;

/// The environment variables that a reader, or a helper program, gets: the places of programs, libraries and models,
/// and the text encoding.
const VARIABLES: &[&str] = &[
    "PATH",
    "LD_LIBRARY_PATH",
    MODELS,
    "LANG",
    "LC_ALL",
    #[cfg(feature = "failpoints")]
    "FAILPOINTS",
];
/// The folder in which `tesseract` has its language models.
const MODELS: &str = "TESSDATA_PREFIX";
/// Address space is what is limited, and each thread takes a large part of it.
const FIXED: [(&str, &str); 4] =
    [("RAYON_NUM_THREADS", "1"), ("OMP_THREAD_LIMIT", "1"), ("MALLOC_ARENA_MAX", "1"), ("RUST_BACKTRACE", "0")];

/// The command of a reader or helper program, with the necessary environment and nothing else.
pub(super) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = subprocess::command(program, VARIABLES);
    command.envs(FIXED);
    command
}

/// The paths that `program`, given by its name, needs.
pub(super) fn readable_by(program: &str) -> Vec<PathBuf> {
    let more = ["LD_LIBRARY_PATH", MODELS].into_iter().flat_map(subprocess::listed_paths).collect();
    confinement::readable_by(program, &subprocess::listed_paths("PATH"), more)
}

/// Processor time that this process has used, all threads together.
pub(super) fn used() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(u64::try_from(time.tv_sec).unwrap_or_default(), nanoseconds)
}

/// Ends this process, and a program that it executes, when the parent is gone: no one waits for the answer.
pub(super) fn end_with_parent() {
    // On a system without this it ends at its next output, or at its time limit.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

/// At most [`MEMORY_BYTES`], no written files, no core dump after a crash.
pub(super) fn hold_memory() {
    hold(Resource::As, MEMORY_BYTES, MEMORY_BYTES);
    hold(Resource::Core, 0, 0);
    hold(Resource::Fsize, 0, 0);
}

/// Ends this process when it has used `more` than now. The system counts whole seconds: up to one more is given.
pub(super) fn hold_time(more: Duration) {
    let end = used().saturating_add(more);
    let seconds = end.as_secs() + u64::from(end.subsec_nanos() > 0);
    hold(Resource::Cpu, seconds, u64::MAX);
}

fn hold(resource: Resource, current: u64, maximum: u64) {
    let maximum = (maximum != u64::MAX).then_some(maximum);
    // On a system without such a limit, or with a lower one of its own, the other limits still apply.
    let _ = setrlimit(resource, Rlimit { current: Some(current), maximum });
}
