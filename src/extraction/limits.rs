//! What a reader may use, and what it gets of the environment. The process sets its own limits before it looks at the document;
//! the system holds them.
//!
//! Time is time of a processor: a busy machine must not decide what can be read.

use super::confinement;
use crate::subprocess;
use rustix::{
    process::{Resource, Rlimit, setrlimit},
    time::{ClockId, clock_gettime},
};
use std::{ffi::OsStr, path::PathBuf, process::Command, time::Duration};

/// Address space of a reader, in bytes.
pub(super) const MEMORY_BYTES: u64 = 1 << 30;
/// Processor time for one document, with what other programs need that help to read a PDF.
pub(super) const DOCUMENT: Duration = Duration::from_mins(1);
/// Processor time for one page of a document that has several.
pub(super) const PAGE: Duration = Duration::from_secs(2);
/// Without a word for so long, by the clock on the wall, a reader is held for dead.
pub(super) const SILENCE: Duration = Duration::from_mins(5);
/// Crashes after which a document is given up.
pub(super) const MOST_CRASHES: usize = 5;
/// How often a reader that is ended from outside is started again.
pub(super) const MOST_KILLS: usize = 2;
/// Stack of the reading thread, in bytes: parsers descend as deep as a document is nested.
pub(super) const STACK_BYTES: usize = 64 << 20;

/// What a reader, or a program that helps it, gets of the environment: where programs, libraries and models are, and how text is
/// written here.
const VARIABLES: &[&str] = &[
    "PATH",
    "LD_LIBRARY_PATH",
    MODELS,
    "LANG",
    "LC_ALL",
    #[cfg(feature = "failpoints")]
    "FAILPOINTS",
];
/// Where `tesseract` has its models of languages.
const MODELS: &str = "TESSDATA_PREFIX";
/// Address space is what is limited, and each thread takes a large part of it.
const FIXED: [(&str, &str); 4] =
    [("RAYON_NUM_THREADS", "1"), ("OMP_THREAD_LIMIT", "1"), ("MALLOC_ARENA_MAX", "1"), ("RUST_BACKTRACE", "0")];

/// A reader, or a program that helps it, with what it needs of the environment and nothing else.
pub(super) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = subprocess::command(program, VARIABLES);
    command.envs(FIXED);
    command
}

/// Where `program`, whose name that is, finds what it is made of.
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

/// Ends this process, and the program that it may become, when the asking side is gone: nobody waits for the answer.
pub(super) fn end_with_parent() {
    // A system that has no such thing: it ends when it speaks, or at its limit of time.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

/// No more than [`MEMORY_BYTES`], no file written, no image of the process left behind when it falls.
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
    // A system that has no such limit, or whose own is lower already: the others still hold.
    let _ = setrlimit(resource, Rlimit { current: Some(current), maximum });
}
