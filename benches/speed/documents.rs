//! (g) Documents to text, each by the program's own reading process: pages a second and peak memory, by format; and what a
//! second job on the same document costs.

use crate::{
    measure::{median, ms, run, run_on},
    office,
    program::{mib, program},
    table,
};
use serde_json::json;
use std::{fs::File, path::Path, process::Stdio, time::Duration};
use tempfile::TempDir;

/// Pages of each document, of some 420 words.
const PAGES: usize = 200;
/// Milliseconds for a PDF of so many pages.
const PDF_MS: f64 = 3_000.0;
/// What the system lets a reading process have.
const MEMORY_MIB: f64 = 1_024.0;

pub(crate) fn measure() {
    type Make = fn(usize) -> Vec<u8>;
    let formats: [(&str, Make); 9] = [
        ("pdf", office::pdf),
        ("docx", office::docx),
        ("xlsx", office::xlsx),
        ("pptx", office::pptx),
        ("epub", office::epub),
        ("html", office::html),
        ("eml", office::mail),
        ("csv", office::csv),
        ("txt", office::text),
    ];
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (ending, make) in formats {
        let path = folder.path().join(format!("rules.{ending}"));
        // The request, then the document, as the program gives them to a reading process.
        let request = json!({"read": {"name": format!("document.{ending}"), "after": 0, "left_ms": 60_000}});
        let order = json!({"sandbox": "auto", "request": request}).to_string();
        let asked = folder.path().join("asked");
        let document = make(PAGES);
        std::fs::write(&asked, [format!("{}\n{order}", order.len()).as_bytes(), &document].concat()).unwrap();
        std::fs::write(&path, document).unwrap();
        let read = || {
            let mut reader = program(folder.path());
            let stdin = Stdio::from(File::open(&asked).unwrap());
            let used = run_on(reader.arg("extract-document"), stdin);
            assert!(used.status.success(), "{ending}: {:?}", used.status);
            used
        };
        read();
        let used = [read(), read(), read()];
        let wall = median(used.iter().map(|used| used.wall).collect());
        let peak = used.iter().map(|used| used.peak_kib).max().unwrap_or_default();
        let name = format!("{ending}, {PAGES} pages of 420 words");
        if ending == "pdf" {
            table::limited(format!("{name}: wall"), ms(wall), PDF_MS, "ms");
        } else {
            table::plain(format!("{name}: wall"), ms(wall), "ms");
        }
        table::plain(format!("{name}: pages a second"), PAGES as f64 / wall.as_secs_f64(), "");
        table::limited(format!("{name}: peak memory"), mib(peak), MEMORY_MIB, "MiB");
    }
    second_job(folder.path());
}

/// The same question to the same document twice: only the first has to read it.
fn second_job(folder: &Path) {
    let submit = |batch: &str| {
        let arguments = ["submit", "extract-requirements", "--documents", "rules.pdf", "--batch", batch];
        let used = run(program(folder).args(arguments));
        assert!(used.status.success(), "{:?}", used.status);
        used.wall
    };
    let first = submit("one");
    let later: Vec<Duration> = ["two", "three", "four"].map(submit).to_vec();
    table::plain("submit a PDF of 200 pages: the first job", ms(first), "ms");
    table::plain("submit a PDF of 200 pages: a later job", ms(median(later)), "ms");
}
