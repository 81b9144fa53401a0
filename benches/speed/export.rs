//! (j) A million records as one table, of a thousand jobs and of one.

use crate::{
    measure::run,
    program::{mib, program},
    table,
};
use serde_json::json;
use std::{
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

const RECORDS: u64 = 1_000_000;
/// Of it all, the program's own file included.
const MEMORY_MIB: f64 = 200.0;
const FORMS: [&str; 5] = ["csv", "jsonl", "parquet", "sqlite", "xlsx"];

pub(crate) fn measure() {
    for jobs in [1_000, 1] {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        worked(folder.path(), jobs);
        let mut csv = 0.0;
        for form in FORMS {
            let output = format!("table.{form}");
            let mut export = program(folder.path());
            let used = run(export.args(["export", "many", "--review", "review", "-o", &output]));
            assert!(used.status.success(), "{form}: {:?}", used.status);
            let seconds = used.wall.as_secs_f64();
            csv = if form == "csv" { seconds } else { csv };
            let what = format!("export, {jobs} × {} records, {form}", RECORDS / jobs);
            table::plain(format!("{what}: rows a second"), RECORDS as f64 / seconds, "");
            table::plain(format!("{what}: time, as a multiple of csv's"), seconds / csv, "");
            table::limited(format!("{what}: peak memory"), mib(used.peak_kib), MEMORY_MIB, "MiB");
            std::fs::remove_file(folder.path().join(output)).unwrap();
        }
    }
}

/// A batch of worked jobs, each of which then has its part of the records.
fn worked(folder: &Path, jobs: u64) {
    let documents = folder.join("docs");
    std::fs::create_dir(&documents).unwrap();
    for job in 0..jobs {
        std::fs::write(documents.join(format!("{job}.md")), format!("The clerk {job} must sign.\n")).unwrap();
    }
    let ready = |command: &mut Command| assert!(run(command).status.success(), "{command:?}");
    let submit = ["submit", "extract-requirements", "--documents", "docs", "--each", "--batch", "many"];
    ready(program(folder).args(submit));
    ready(program(folder).args(["work", "--until-empty"]));
    for (job, workspace) in workspaces(folder).into_iter().enumerate() {
        records(&workspace, &format!("{job}.md"), RECORDS / jobs);
    }
}

fn workspaces(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("workspaces")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.join("output").is_dir()).collect()
}

/// Puts records into a job's deliverable, and the places of their quotes beside it.
fn records(workspace: &Path, document: &str, count: u64) {
    let open = |name: &str| BufWriter::new(File::create(workspace.join(name)).unwrap());
    let (mut list, mut quotes) = (open("output/requirements.json"), open("quotes.jsonl"));
    list.write_all(b"{\"requirements\":[").unwrap();
    for number in 0..count {
        let quote =
            format!("The clerk must enter article {number} in the ledger, and show it to whoever asks, within a day.");
        let record = json!({
            "id": format!("R-{number}"), "document": document, "page": null, "line": number + 1,
            "section": "Of the ledger", "strength": "MUST", "quote": quote,
        });
        write!(list, "{}{record}", if number > 0 { "," } else { "" }).unwrap();
        // The program writes no more of them for one job.
        if number < 100_000 {
            let from = json!({"line": number + 1, "character": 1});
            let place = json!({
                "deliverable": "output/requirements.json", "item": format!("$.requirements[{number}]"), "key": "quote",
                "document": document, "result": "found", "from": from, "to": from,
            });
            writeln!(quotes, "{place}").unwrap();
        }
    }
    list.write_all(b"]}\n").unwrap();
    list.flush().unwrap();
    quotes.flush().unwrap();
}
