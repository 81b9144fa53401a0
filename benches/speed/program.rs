//! (c) The program itself: memory, start, and the load by the binary as a person runs it.

use crate::{
    load::Load,
    measure::{calls, median, ms, run, wall},
    table,
};
use std::{fmt::Write, path::Path, process::Command, time::Duration};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_overnight");
const MEMORY_MIB: f64 = 16.0;
/// Of a job on one document of 4 MB.
const LARGE_MIB: f64 = 32.0;
const START_MS: f64 = 10.0;

/// The program in `folder`, without what this machine's environment might say.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder).env_clear();
    command
}

fn folder() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

pub(crate) fn measure() {
    let version = || wall(Command::new(PROGRAM).arg("--version"));
    version();
    let times: Vec<Duration> = (0..50).map(|_| version()).collect();
    table::limited("overnight --version, median of 50", ms(median(times.clone())), START_MS, "ms");
    table::plain("overnight --version, fastest", ms(times.into_iter().min().unwrap_or_default()), "ms");
    for phases in [8, 64] {
        let load = Load::new(phases);
        let folder = folder();
        load.put(folder.path());
        let arguments = ["run", "./task.md", "--documents", "docs", "--model", "scripted:script.yaml"];
        let used = run(program(folder.path()).args(arguments));
        assert!(used.status.success(), "{:?}", used.status);
        let turns = load.turns() as f64;
        table::plain(format!("binary, {phases} phases, on the disk: CPU a turn"), ms(used.cpu) / turns, "ms");
        table::plain(format!("binary, {phases} phases: wall"), ms(used.wall), "ms");
        table::limited(format!("binary, {phases} phases: own memory"), mib(used.own_kib), MEMORY_MIB, "MiB");
        table::plain(format!("binary, {phases} phases: with the program's file"), mib(used.peak_kib), "MiB");
        if phases == 8 {
            let again = self::folder();
            load.put(again.path());
            let synced = calls(program(again.path()).args(arguments), "fsync,fdatasync");
            if let Some(synced) = synced {
                table::plain("binary, 8 phases: fsyncs a turn (strace)", synced as f64 / turns, "");
            }
        }
    }
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    for name in ["extract-requirements", "summarize-documents", "audit-policy"] {
        offline(name, &samples, name);
    }
    let large = folder();
    let file = large.path().join("large.md");
    std::fs::write(&file, large_document()).unwrap();
    offline("extract-requirements", &file, "a document of 4 MB");
}

fn offline(instructions: &str, documents: &Path, name: &str) {
    let folder = folder();
    let used = run(program(folder.path()).args(["run", instructions, "--documents"]).arg(documents));
    assert!(used.status.code().is_some_and(|code| code == 0 || code == 3), "{:?}", used.status);
    let most = if documents.is_dir() { MEMORY_MIB } else { LARGE_MIB };
    table::limited(format!("offline, {name}: own memory"), mib(used.own_kib), most, "MiB");
    table::plain(format!("offline, {name}: CPU"), ms(used.cpu), "ms");
    table::plain(format!("offline, {name}: wall"), ms(used.wall), "ms");
}

/// Text with a demand now and then, and few that are alike.
fn large_document() -> String {
    let mut text = String::new();
    let mut number = 0_u64;
    while text.len() < 4_000_000 {
        number += 1;
        let _ = match number % 20 {
            1 => write!(text, "\n## Section {number}\n\n"),
            5 => writeln!(text, "The vault {number} must be locked within {} minutes after the bell.", number % 97 + 2),
            _ => {
                writeln!(text, "In the year {number} the archive held {} boxes, and nobody counted them.", number * 31)
            }
        };
    }
    text
}

pub(crate) fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}
