//! The review page: what it shows of jobs, in what order, and that nothing that a document or a model says gets out of its place.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::cli_run::{PROGRAM, TestDir};
use overnight::{
    extraction::{Extractor, ReaderProgram, SandboxMode, UseMode},
    review::{DoubtKind, JobReview, Mode, page_image, record_anchor, render_job},
    runner::load,
};
use overnight_core::job::record_findings::FoundBy;
use regex::Regex;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

const LIST: &str = "output/requirements.json";

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The workspaces of all jobs, the oldest first.
fn workspaces(dir: &TestDir) -> Vec<PathBuf> {
    let jobs: Vec<Value> = serde_json::from_str(&dir.run_with(&[], &["jobs", "--json"]).stdout).unwrap();
    let paths = jobs.iter().rev().map(|job| dir.path().join("workspaces").join(job["id"].as_str().unwrap()));
    paths.collect()
}

fn html(dir: &TestDir, path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(dir.path().join(path)).unwrap()
}

/// The text that the marks of a page cover, without tags.
fn marked(html: &str) -> Vec<String> {
    let tags = Regex::new("<[^>]*>").unwrap();
    let marks = Regex::new("(?s)<mark [^>]*>(.*?)</mark>").unwrap();
    marks.captures_iter(html).map(|found| tags.replace_all(&found[1], "").into_owned()).collect()
}

/// Every link within a page leads to an element, and no two elements have one name.
fn check_links(html: &str) {
    let ids: Vec<String> =
        Regex::new(r#" id="([^"]*)""#).unwrap().captures_iter(html).map(|found| found[1].to_owned()).collect();
    let known: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(known.len(), ids.len(), "{ids:?}");
    for link in Regex::new(r##" href="#([^"]*)""##).unwrap().captures_iter(html) {
        assert!(known.contains(&link[1].to_owned()), "{}", &link[1]);
    }
}

/// Nothing but its own style and script, by the hashes in its policy, and nothing from elsewhere.
fn check_closed(html: &str) {
    let policy =
        Regex::new(r#"Content-Security-Policy" content="([^"]*)""#).unwrap().captures(html).unwrap()[1].to_owned();
    let policy = policy.replace("&#39;", "'");
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    for (tag, directive) in [("style", "style-src"), ("script", "script-src")] {
        let contents: Vec<String> = Regex::new(&format!("(?s)<{tag}>(.*?)</{tag}>"))
            .unwrap()
            .captures_iter(html)
            .map(|found| found[1].to_owned())
            .collect();
        assert_eq!((contents.len(), html.matches(&format!("<{tag}")).count()), (1, 1), "{tag}");
        let hash =
            Regex::new(&format!("{directive} 'sha256-([^']*)'")).unwrap().captures(&policy).unwrap()[1].to_owned();
        assert_eq!(hash, base64(&Sha256::digest(&contents[0])), "{tag}");
    }
    let links = Regex::new(r#" (?:src|href|action)="([^"]*)""#).unwrap();
    let is_own =
        Regex::new(r"^(#[\w.-]+|index\.html|[0-9a-f-]{36}\.html(#[\w.-]+)?|pages/[0-9a-f-]+\.png|/|/jobs/[\w./-]+)$")
            .unwrap();
    for link in links.captures_iter(html) {
        assert!(is_own.is_match(&link[1]), "{}", &link[1]);
    }
    let html = Regex::new("(?s)<style>.*?</style>|<script>.*?</script>").unwrap().replace_all(html, "");
    let tags = Regex::new(r#"<\w+(?: [\w-]+(?:="[^"]*")?)*/?>"#).unwrap();
    let names = Regex::new(r#" ([\w-]+)(?:="[^"]*")?"#).unwrap();
    let given = |tag: &str| -> Vec<String> { names.captures_iter(tag).map(|name| name[1].to_owned()).collect() };
    for name in tags.find_iter(&html).flat_map(|tag| given(tag.as_str())) {
        assert!(name != "style" && !name.starts_with("on"), "{name}");
    }
    let text = tags.replace_all(&html, "");
    let text = Regex::new(r"</\w+>|<!doctype html>").unwrap().replace_all(&text, "");
    assert!(!text.contains('<'), "nothing but tags begins so: {text}");
}

/// As `base64` of coreutils writes it.
fn base64(bytes: &[u8]) -> String {
    let mut child = assert_cmd::Command::new("base64");
    String::from_utf8(child.args(["-w", "0"]).write_stdin(bytes).output().unwrap().stdout).unwrap()
}

#[test]
fn records_stand_beside_their_sources_and_hostile_text_stays_text() {
    let dir = TestDir::new();
    let hostile = "# One\n\nThe keeper must close <script>alert(1)</script> \"the\" </mark></div> door & 'gate'.\n";
    dir.put("many/<img src=x onerror=alert(1)>.md", hostile);
    let long = "Nothing is said in this line.\n".repeat(3_000);
    dir.put("many/long.md", format!("# Long\n\nA guest must sign.\n\n{long}\nThe last keeper must lock up.\n"));
    let submitted = ["submit", "extract-requirements", "-d", "many", "--each", "--batch", "night", "-q"];
    assert_eq!(dir.run_with(&[], &submitted).code, 0);
    assert_eq!(dir.run_with(&[], &["work", "--until-empty", "-q"]).code, 0);
    let ran = dir.run_with(&[], &["review", "night", "-o", "pages"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "pages/index.html\n"), "{}", ran.stderr);
    let again = dir.run_with(&[], &["review", "night", "-o", "pages"]);
    assert_eq!((again.code, again.stderr.as_str()), (2, "error: pages is not an empty folder: name a new one\n"));

    let index = html(&dir, "pages/index.html");
    check_closed(&index);
    check_links(&index);
    for path in workspaces(&dir) {
        let page = html(&dir, Path::new("pages").join(path.file_name().unwrap()).with_extension("html"));
        check_closed(&page);
        check_links(&page);
        let review = JobReview::read(&path).unwrap();
        let list: Value = serde_json::from_slice(&std::fs::read(path.join(LIST)).unwrap()).unwrap();
        let quotes: Vec<&str> =
            list["requirements"].as_array().unwrap().iter().map(|one| one["quote"].as_str().unwrap()).collect();
        assert!(!quotes.is_empty() && quotes.len() == review.records.len());
        for (number, record) in review.records.iter().enumerate() {
            assert_eq!(record.anchor, record_anchor(LIST, &format!("$.requirements[{number}]")));
            assert!(index.contains(&format!("{}.html#{}", review.id, record.anchor)) && page.contains(&record.anchor));
            let place = record.quotes[0].range.clone().unwrap();
            let text =
                std::fs::read_to_string(path.join(format!("documents/.text/{}.txt", record.document()))).unwrap();
            assert_eq!(
                text[place].split_whitespace().collect::<Vec<_>>(),
                quotes[number].split_whitespace().collect::<Vec<_>>()
            );
        }
        let escape = |text: &str| {
            text.replace('&', "&#38;")
                .replace('<', "&#60;")
                .replace('>', "&#62;")
                .replace('"', "&#34;")
                .replace('\'', "&#39;")
        };
        let expected: Vec<String> = quotes.iter().map(|quote| escape(quote)).collect();
        assert_eq!(marked(&page), expected);
        let left_out = page.contains("left out: no quote stands there");
        assert_eq!(left_out, review.documents == ["long.md"], "a long document is shown around its quotes");
    }
    let whole = dir.run_with(&[], &["review", "night", "--whole", "-o", "whole"]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    let pages = std::fs::read_dir(dir.path().join("whole")).unwrap().map(|entry| html(&dir, entry.unwrap().path()));
    assert!(pages.into_iter().all(|page| !page.contains("left out: no quote")));
}

#[test]
fn the_most_doubtful_records_come_first() {
    let dir = TestDir::new();
    let [task, one, two] = [
        "examples/gaps/requirements.md",
        "samples/standards/cold-storage.md",
        "samples/standards/transfer-protocol.txt",
    ];
    for path in ["examples/gaps/first.yaml", "examples/gaps/second.yaml", task, one, two] {
        dir.put(path, std::fs::read(repository(path)).unwrap());
    }
    let model = "scripted:examples/gaps/first.yaml";
    let ran =
        dir.run_with(&[], &["run", "./examples/gaps/requirements.md", "--model", model, "--documents", one, two, "-q"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let path = workspaces(&dir).remove(0);
    let review = JobReview::read(&path).unwrap();
    let by_one = |found: FoundBy| review.records.iter().filter(|record| record.found_by == Some(found)).count();
    let proof = load(&path).unwrap().job.proof;
    let kinds = |name: &str| proof.findings.iter().filter(|finding| finding.kind.name() == name).count();
    assert_eq!([by_one(FoundBy::First), by_one(FoundBy::Second)], [kinds("unconfirmed"), kinds("missing")]);
    assert!(review.doubtful > 0 && review.record_count > review.doubtful);
    let is_doubtful: Vec<bool> = review.records.iter().map(overnight::review::ReviewedRecord::is_doubtful).collect();
    assert!(is_doubtful.is_sorted_by(|one, next| one >= next), "{is_doubtful:?}");
    let gravest: Vec<Option<DoubtKind>> =
        review.records.iter().map(|record| Some(record.doubts.first()?.kind)).collect();
    let (first, last) = (Some(DoubtKind::FoundByOne), Some(DoubtKind::OverBreak));
    let ones = kinds("unconfirmed") + kinds("missing");
    let expected =
        [vec![first; ones], vec![last; review.records.iter().filter(|record| record.is_doubtful()).count() - ones]]
            .concat();
    assert_eq!(gravest[..expected.len()], expected);
    assert!(gravest[expected.len()..].iter().all(Option::is_none));

    // What a person has accepted is no doubt any more, and keeps its place.
    let accepted = review.records[0].clone();
    let approve = ["approve", "last", "--record", &accepted.place, "--comment", "as in the source", "--as", "Ada"];
    let approved = dir.run_with(&[], &approve);
    assert_eq!(approved.code, 0, "{}", approved.stderr);
    let after = JobReview::read(&path).unwrap();
    assert_eq!(after.doubtful, review.doubtful - 1);
    let found = after.records.iter().find(|record| record.place == accepted.place).unwrap();
    assert!(
        found.people()[0].starts_with("approved by Ada, ") && found.people()[0].ends_with(" UTC: as in the source")
    );
    assert_eq!((&after.records[0].place, after.records[0].is_doubtful()), (&accepted.place, false));

    // Live: forms with their token; none for who may only read.
    let mode = |read_only| Mode::Live {
        read_only,
        reviewer: Some("<Ada>".to_owned()),
        form_token: "secret".to_owned(),
        queue: None,
        status: after.status,
        next: None,
    };
    let live = render_job(&after, &mode(false));
    check_closed(&live);
    check_links(&live);
    for action in ["approve", "approve-record", "correct", "feedback"] {
        assert!(live.contains(&format!("action=\"/jobs/{}/{action}\"", after.id)), "{action}");
    }
    let forms = live.matches("method=\"post\"").count();
    assert!(forms > 2 && forms == live.matches("name=\"token\" value=\"secret\"").count());
    assert!(live.contains("&#60;Ada&#62;"));
    for still in [render_job(&after, &mode(true)), render_job(&after, &Mode::Static)] {
        assert!(!still.contains("method=\"post\"") && !still.contains("secret"));
    }
}

#[test]
fn a_page_of_a_pdf_is_an_image_with_the_quote_marked() {
    let dir = TestDir::new();
    let pdf = repository("samples/standards/reading-rooms.pdf");
    let ran = dir.run_with(&[], &["run", "extract-requirements", "--documents", pdf.to_str().unwrap(), "-q"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let path = workspaces(&dir).remove(0);
    let review = JobReview::read(&path).unwrap();
    let source = &review.sources[0];
    let part = source.parts.iter().find(|part| part.is_marked()).unwrap();
    let program = ReaderProgram { path: PROGRAM.into(), sandbox: SandboxMode::Auto, tell_unconfined: |_| {} };
    let reader = Extractor::new(program, dir.path().join("texts"), UseMode::Never);
    let image = page_image(&review, &reader, source.index, part.first).unwrap();
    let marks: BTreeSet<usize> = part.segments.iter().flatten().flat_map(|segment| segment.marks.clone()).collect();
    assert_eq!(image.boxes.iter().map(|place| place.mark).collect::<BTreeSet<_>>(), marks, "{:?}", image.told);
    assert!(image.png.starts_with(b"\x89PNG"));
    for (document, page) in [(source.index, 99), (source.index + 1, 1)] {
        let error = page_image(&review, &reader, document, page).unwrap_err();
        assert_eq!(error.to_string(), "there is no such page of a PDF in this review");
    }
    std::fs::write(path.join(format!("documents/{}", source.name)), "%PDF-1.7 damaged").unwrap();
    let error = page_image(&review, &reader, source.index, part.first).unwrap_err();
    assert!(
        error.to_string().starts_with("there is no image of the page: the document can't be read as PDF, because "),
        "{error}"
    );
}
