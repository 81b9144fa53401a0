//! (f) What `search_files` takes on a hundred megabytes of documents, through a real workspace.

use crate::{
    load::{Load, Place, model, wait},
    measure::{median, timed},
    table,
};
use overnight::{
    runner::load,
    tool::{DocumentCache, read},
    workspace::Workspace,
};
use overnight_core::{
    job::{arguments::SearchFiles, call::ReadCall, coverage::Coverage, event::CallEnd},
    prompt::bounds::ResultBound,
};
use std::{fmt::Write, path::Path};

const DOCUMENTS: usize = 500;
const BYTES: usize = 100_000_000;
/// Seconds.
const LIMIT: f64 = 1.0;
const WORDS: [&str; 24] = [
    "the",
    "party",
    "shall",
    "deliver",
    "within",
    "thirty",
    "days",
    "of",
    "written",
    "notice",
    "and",
    "keep",
    "every",
    "record",
    "Prüfung",
    "until",
    "another",
    "clerk",
    "has",
    "signed",
    "it",
    "at",
    "office",
    "agreement",
];

/// What is looked for.
pub(crate) const PATTERNS: [(&str, &str); 6] = [
    ("a rare word", "quagga"),
    ("a word of every line", "shall"),
    ("an expression", r"\b[Qq]uagg\w+ (of|and) \d+"),
    ("a phrase", "quagga records of"),
    ("a phrase of frequent words", "written notice until another"),
    ("words that are no phrase", "records quagga office prüfung"),
];

/// A text of pages, two thousand letters each; the rare words once in each document.
fn text(number: u64) -> String {
    let mut text = String::new();
    let mut state = number;
    let mut lines = 0;
    while text.len() < BYTES / DOCUMENTS {
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let word = WORDS[usize::try_from(state >> 33).unwrap() % WORDS.len()];
            write!(text, "{word} ").unwrap();
        }
        lines += 1;
        text.push_str(if lines % 28 == 0 {
            "\n\x0c"
        } else if lines % 7 == 0 {
            "\n\n"
        } else {
            "\n"
        });
    }
    writeln!(text, "The quagga records of {number}").unwrap();
    text
}

/// Puts the documents into `folder`; how many bytes they have.
pub(crate) fn put_documents(folder: &Path) -> usize {
    std::fs::create_dir_all(folder).unwrap();
    let put = |number: usize| {
        let text = text(number as u64);
        std::fs::write(folder.join(format!("contract-{number:03}.txt")), &text).unwrap();
        text.len()
    };
    (0..DOCUMENTS).map(put).sum()
}

pub(crate) fn measure() {
    wait(async {
        let place = Place::within(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
        let bytes = put_documents(&place.path().join("docs"));
        let path = place.create("", &*model(Load::new(1)));
        let job = load(&path).unwrap().job;
        let workspace = Workspace::open(&path).unwrap();
        table::plain("search: text of 500 documents", bytes as f64 / 1e6, "MB");
        for (what, pattern) in PATTERNS {
            let wanted = SearchFiles { pattern: pattern.to_owned(), scope: None, path: None, glob: None, offset: None };
            let working = ReadCall::SearchFiles(wanted);
            let coverage = Coverage::default();
            let times = (0..3).map(|_| {
                let (told, wall, _) = timed(|| {
                    read(
                        &job.spec,
                        &coverage,
                        &workspace,
                        (&mut DocumentCache::default(), None),
                        &working,
                        ResultBound::alone(100_000),
                    )
                    .unwrap()
                });
                assert_eq!(told.end, CallEnd::Done);
                wall
            });
            table::limited(format!("search for {what}"), median(times.collect()).as_secs_f64(), LIMIT, "s");
        }
    });
}
