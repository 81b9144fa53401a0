//! The examples do what they say, and the samples that one of them makes are the committed files, byte for byte.

#![expect(dead_code, reason = "an example's own entry is not used here")]

#[path = "../../examples/embed.rs"]
mod embed;
#[path = "../../examples/make_samples/made/mod.rs"]
mod program;
#[path = "../../examples/read_documents.rs"]
mod read_documents;

use crate::support::{samples, wait};
use overnight::runner::JobOutcome;
use overnight_core::job::record::JobStatus;

#[test]
fn a_job_is_run_with_a_model_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let ran = wait(embed::run(folder.path())).unwrap();
    assert_eq!(ran, (JobOutcome::Ended(JobStatus::Completed), "Pump 1 ran, pump 2 failed.\n".to_owned()));
}

#[test]
fn a_document_is_described() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.txt");
    std::fs::write(&path, "Pump 1 ran.\x0c\x0cPump 2 failed\nat three.").unwrap();
    let expected = "log.txt: text, 3 units of kind Page\n1: Pump 1 ran.\n2: \n3: Pump 2 failed\n\
        the quote begins on page 3, line 1, character 8\n";
    assert_eq!(read_documents::describe(&path, Some("failed at three")).unwrap(), expected);
}

#[test]
fn made_samples_are_what_their_program_makes() {
    let made = program::documents().unwrap();
    let names: Vec<&str> = made.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["standards/reading-rooms.pdf", "policies/digitisation-policy.docx", "standards/equipment-checks.xlsx"]
    );
    for (name, bytes) in &made {
        let committed = std::fs::read(samples().join(name)).unwrap();
        assert!(committed == *bytes, "{name} is not what `cargo run --example make_samples` makes: run it");
    }
}
