//! Documents whose pages are chapters: people are told of chapters, and records have their numbers.

use crate::cli_run::TestDir;
use overnight::review::JobReview;
use overnight_core::job::spec;
use serde_json::Value;
use std::path::Path;

/// Two chapters, and no page break.
fn book() -> String {
    let chapter =
        |title: &str, text: &str| format!("<text:h text:outline-level=\"1\">{title}</text:h><text:p>{text}</text:p>");
    format!(
        "<?xml version=\"1.0\"?><office:document xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
         xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" \
         office:mimetype=\"application/vnd.oasis.opendocument.text\"><office:body><office:text>{}{}</office:text>\
         </office:body></office:document>",
        chapter("One", "The keeper keeps the keys."),
        chapter("Two", "The keeper must lock the door.")
    )
}

#[test]
fn a_chapter_is_called_so() {
    assert_eq!(spec::PAGES_ARE_CHAPTERS, overnight_documents::PAGES_ARE_CHAPTERS);
    let dir = TestDir::new();
    dir.put("book.fodt", book());
    let ran = dir.run(&["run", "extract-requirements", "-d", "book.fodt", "-q"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let job: Value = serde_json::from_str(&dir.run(&["show", "last", "--json"]).stdout).unwrap();
    let workspace = Path::new(job["workspace"].as_str().unwrap());
    let review = JobReview::read_records(workspace).unwrap();
    let quotes: Vec<_> = review.records.iter().flat_map(|record| &record.quotes).collect();
    let located: Vec<_> = quotes.iter().map(|quote| (quote.text.as_str(), quote.located())).collect();
    assert_eq!(located, [("The keeper must lock the door.", "book.fodt, chapter 2".to_owned())]);
    let shown = dir.run(&["show", "last"]).stdout;
    assert!(shown.contains("2 chapters"), "{shown}");
    let phases = dir.run(&["audit", "last", "--phase", "0"]).stdout;
    assert!(phases.contains("book.fodt chapters 1-2"), "{phases}");
    let written = std::fs::read_to_string(workspace.join("output/requirements.json")).unwrap();
    assert!(written.contains("\"page\": 2") || written.contains("\"page\":2"), "{written}");
}
