//! `search_files` as the model calls it: whole results.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::support::{Place, shipped, wait};
use overnight::{
    model::{Model, rules::Offline},
    runner::load,
    tool::{DocumentCache, read},
    workspace::Workspace,
};
use overnight_core::{
    answer,
    job::{
        arguments::{SearchFiles, SearchScope},
        call::ReadCall,
        coverage::Coverage,
        event::CallEnd,
    },
    prompt::{bounds::ResultBound, fence::fenced},
    wording::is_said,
};
use std::{fmt::Write, fs, path::PathBuf, sync::Arc};

/// A job with these documents, not begun.
struct TestDir {
    _place: Place,
    path: PathBuf,
}

impl TestDir {
    fn new(documents: &[(&str, &str)]) -> Self {
        let place = wait(Place::new());
        let folder = place.folder.path().join("docs");
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in documents {
            fs::write(folder.join(name), text).unwrap();
        }
        let (instructions, text) = shipped("extract-requirements");
        let model: Arc<dyn Model> = Arc::new(Offline(None));
        let path = place.make(instructions, &text, &[folder], &model);
        Self { _place: place, path }
    }

    fn search(&self, pattern: &str, path: Option<&str>) -> (CallEnd, String) {
        self.search_from(pattern, path, None, 100_000)
    }

    fn search_from(&self, pattern: &str, path: Option<&str>, offset: Option<u64>, most: u64) -> (CallEnd, String) {
        let job = load(&self.path).unwrap().job;
        let workspace = Workspace::open(&self.path).unwrap();
        let wanted =
            SearchFiles { pattern: pattern.to_owned(), scope: None, path: path.map(str::to_owned), glob: None, offset };
        let (working, coverage) = (ReadCall::SearchFiles(wanted), Coverage::default());
        match read(
            &job.spec,
            &coverage,
            &workspace,
            (&mut DocumentCache::default(), None),
            &working,
            ResultBound::alone(most),
        ) {
            Ok(found) => (found.end, found.text),
            Err(error) => (CallEnd::Failed, error.to_string()),
        }
    }

    fn scoped(&self, pattern: &str, scope: Option<SearchScope>, path: Option<&str>) -> String {
        let job = load(&self.path).unwrap().job;
        let workspace = Workspace::open(&self.path).unwrap();
        let path = path.map(str::to_owned);
        let wanted = SearchFiles { pattern: pattern.to_owned(), scope, path, glob: None, offset: None };
        let (working, coverage) = (ReadCall::SearchFiles(wanted), Coverage::default());
        let bound = ResultBound::alone(100_000);
        read(&job.spec, &coverage, &workspace, (&mut DocumentCache::default(), None), &working, bound).unwrap().text
    }

    fn found(&self, pattern: &str) -> String {
        let (end, text) = self.search(pattern, Some("documents"));
        assert_eq!(end, CallEnd::Done, "{text}");
        text
    }
}

fn in_documents(head: &str, lines: &str) -> String {
    format!("{head}\n{}", fenced("lines=\"found\"", lines).trim_end())
}

const PAGED: &str =
    "# Fees\n\nThe annual fee is\ndue in March.\n\x0cSecond page.\nNo oﬃce fee, no fee at all.\n\x0c\n\nThe fee\n";
const PLAIN: &str = "Notes\n\nA late fee may be annual or monthly.\n\nThe office closes.\nIn March it is due.\n";

#[test]
fn lines_are_named_by_document_page_and_line() {
    let dir = TestDir::new(&[("a.txt", PAGED), ("b.md", PLAIN)]);
    let expected = "\
a.txt page 1 line 3: The annual fee is
a.txt page 2 line 2: No oﬃce fee, no fee at all.
a.txt page 3 line 3: The fee
b.md:3: A late fee may be annual or monthly.
";
    assert_eq!(dir.found(r"\bfee\b"), in_documents("4 matches in 2 texts:", expected));
    assert_eq!(dir.found("SECOND"), answer!("search.no_matches"));
    assert_eq!(dir.found("second"), in_documents("1 matches:", "a.txt page 2 line 1: Second page.\n"));
}

#[test]
fn a_search_stays_within_its_scope() {
    let dir = TestDir::new(&[("b.md", "A pump.\n"), ("a.md", "Another pump.\n")]);
    for name in ["main_plan.md", "workspace.md", "progress.md", "output/report.md", "notes/pumps.md", "helpers/1/a.md"]
    {
        let path = dir.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("The pump of {name}.\n")).unwrap();
    }
    let documents = "a.md:1: Another pump.\nb.md:1: A pump.\n";
    let of = |name: &str| format!("{name}:1: The pump of {name}.\n");
    assert_eq!(dir.scoped("pump", None, None), in_documents("2 matches in 2 texts:", documents));
    let output = format!("1 matches:\n{}", of("output/report.md").trim_end());
    assert_eq!(dir.scoped("pump", Some(SearchScope::Output), None), output);
    // Neither the plan, the memory nor the task.
    let all = dir.scoped("pump", Some(SearchScope::All), None);
    let files = ["helpers/1/a.md", "notes/pumps.md", "output/report.md"].map(of).concat();
    assert_eq!(all, format!("{}\n{}", in_documents("5 matches in 5 texts:", documents), files.trim_end()));
    // A file that is named is meant.
    let plan = format!("1 matches:\n{}", of("main_plan.md").trim_end());
    assert_eq!(dir.scoped("pump", None, Some("main_plan.md")), plan);
    assert_eq!(dir.scoped("zebra", None, None), answer!("search.no_matches_in_documents"));
}

#[test]
fn words_are_a_phrase_first_over_line_ends_too() {
    let dir = TestDir::new(&[("a.txt", PAGED), ("b.md", PLAIN)]);
    let over = "a.txt page 1 line 3: The annual fee is due in March.\n";
    assert_eq!(dir.found("fee is due"), in_documents("1 matches:", over));
    let ligature = "a.txt page 2 line 2: No oﬃce fee, no fee at all.\n";
    assert_eq!(dir.found("office fee"), in_documents("1 matches:", ligature));
    let over = "a.txt page 2 line 2: No oﬃce fee, no fee at all. The fee\n";
    assert_eq!(dir.found("at all. the"), in_documents("1 matches:", over), "a sentence may have a full stop");
    let line = "b.md:3: A late fee may be annual or monthly.\n";
    assert_eq!(
        dir.found("late f.. may"),
        in_documents("1 matches:", line),
        "what is nowhere a phrase may be an expression"
    );
    let none = answer!("search.no_matches");
    assert_eq!(dir.found("late  fee|fee   is\\s+due"), none, "an expression is looked for in lines");
    let over = "b.md:5: The office closes. In March it is due.\n";
    assert_eq!(dir.found(r"closes\.\nIn"), in_documents("1 matches:", over), "unless it says otherwise");
    assert_eq!(dir.found(r"(?is)CLOSES.*it is"), in_documents("1 matches:", over));
    assert_eq!(dir.found("due in march"), in_documents("1 matches:", "a.txt page 1 line 4: due in March.\n"));
}

#[test]
fn words_that_are_no_phrase_are_looked_for_together() {
    let dir = TestDir::new(&[("a.txt", PAGED), ("b.md", PLAIN)]);
    let head = |passages: &str| answer!("search.passages_or_one_less", passages, most = 3, all = 3) + ":";
    let found = dir.found("monthly annual late");
    let expected = "b.md:3: A late fee may be annual or monthly.\n";
    assert_eq!(found, in_documents(&head("1 passage holds"), expected));
    // The best first: all three, then two, the rarer before.
    let lines = "\
a.txt page 1 line 3: The annual fee is due in March.
b.md:3: A late fee may be annual or monthly.
";
    assert_eq!(dir.found("due annual fee"), in_documents(&head("2 passages hold"), lines));
    assert_eq!(dir.found("zebra quagga"), answer!("search.no_matches"));
}

#[test]
fn every_document_has_its_share_and_its_count() {
    let mut many = String::new();
    for number in 1..=300 {
        writeln!(many, "line {number} has a pump").unwrap();
    }
    let dir = TestDir::new(&[("a.md", &many), ("b.md", &many), ("c.md", "One pump.\n")]);
    let found = dir.found("pump");
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines[0], "601 matches in 3 texts, 1 to 100 shown:");
    assert_eq!(lines[2], "a.md: 300 matches, the first 94 of them:");
    assert_eq!(lines[3], "a.md:1: line 1 has a pump");
    assert_eq!(lines[97], "b.md: 300 matches, the first 5 of them:");
    assert_eq!(lines[98..103], [1, 2, 3, 4, 5].map(|n| format!("b.md:{n}: line {n} has a pump")));
    assert_eq!(lines[103], "c.md:1: One pump.");
    let call = r#"search_files({"pattern": "pump", "path": "documents", "offset": 100})"#;
    assert_eq!(lines[105..], [answer!("search.go_on", call)]);
    assert_eq!(found, dir.found("pump"), "the same every time");
}

/// Goes on from offset to offset as the results say: the places named, in their order.
fn all_places(dir: &TestDir, pattern: &str, most: u64, least: usize) -> Vec<String> {
    let (mut offset, mut places, mut calls) = (None, Vec::new(), 0);
    loop {
        let (end, text) = dir.search_from(pattern, Some("documents"), offset, most);
        assert_eq!(end, CallEnd::Done, "{text}");
        assert!(overnight_core::tokens::estimate(&text) <= most, "{text}");
        let names = ["a.md:", "b.md:", "c.md:"];
        let hit = |line: &&str| names.iter().any(|name| line.starts_with(name)) && !line.contains(" matches, ");
        places.extend(text.lines().filter(hit).map(|line| line.split(": ").next().unwrap().to_owned()));
        calls += 1;
        let Some((_, rest)) = text.rsplit_once("\"offset\": ") else { break };
        offset = Some(rest.split('}').next().unwrap().parse().unwrap());
        assert_eq!(offset, Some(places.len() as u64));
    }
    assert!(calls >= least, "{calls}");
    places
}

#[test]
fn offsets_reach_every_match_once() {
    let mut many = String::new();
    for number in 1..=300 {
        writeln!(many, "line {number} has a pump").unwrap();
    }
    let dir = TestDir::new(&[("a.md", &many), ("b.md", &many), ("c.md", "One pump.\n")]);
    let mut expected: Vec<String> =
        ["a", "b"].iter().flat_map(|name| (1..=300).map(move |n| format!("{name}.md:{n}"))).collect();
    expected.push("c.md:1".to_owned());
    expected.sort();
    for (pattern, most) in [("pump", 100_000), (r"pu.p", 700), ("a pump", 700)] {
        let mut places = all_places(&dir, pattern, most, 7);
        places.sort();
        if pattern == "a pump" {
            expected.pop();
        }
        assert_eq!(places, expected, "{pattern}");
    }
    // Passages, the best first.
    let dir =
        TestDir::new(&[("a.md", &many.replace("has a", "and a")), ("b.md", &many), ("c.md", "A line, a pump.\n")]);
    let mut passages = all_places(&dir, "pump line has", 900, 3);
    let count = passages.len();
    passages.sort();
    passages.dedup();
    assert_eq!(passages.len(), count);
    let (end, text) = dir.search_from("pump", Some("documents"), Some(601), 9_000);
    assert_eq!((end, text), (CallEnd::Failed, answer!("search.ends", total = 601)));
    let (_, text) = dir.search_from("pump", Some("documents"), Some(200), 9_000);
    let heads: Vec<&str> = text.lines().filter(|line| line.contains(" matches")).collect();
    assert_eq!(heads, ["601 matches in 3 texts, 201 to 300 shown:", "a.md: 300 matches, 195 to 294 of them:"]);
}

#[test]
fn a_long_line_is_shown_around_the_hit() {
    let words: Vec<String> = (0..20_000).map(|n| format!("word{n}")).collect();
    let dir = TestDir::new(&[("a.md", "Nothing.\n")]);
    let workspace = Workspace::open(&dir.path).unwrap();
    workspace.write("output/long.json", words.join(" ").as_bytes()).unwrap();
    for pattern in ["word15000", "word15000 word15001", r"word15000\s+word15001"] {
        let (_, text) = dir.search(pattern, Some("output/long.json"));
        let (head, line) = text.split_once('\n').unwrap();
        assert_eq!(head, "1 matches:");
        assert!(line.starts_with("output/long.json:1: …word14") && line.ends_with('…'), "{line}");
        assert!(line.contains(" word14999 word15000 word15001 ") && line.len() < 550, "{line}");
    }
}

#[test]
fn hostile_patterns_are_refused_in_one_sentence() {
    let dir = TestDir::new(&[("a.md", &"ü".repeat(100_000))]);
    for pattern in
        ["((a{0,1000}){0,1000}){0,1000}", "(", &"(".repeat(3_000), &"a ".repeat(4_000), r"\p{L}{9999}", "[z-a]"]
    {
        let (end, text) = dir.search(pattern, None);
        assert_eq!(end, CallEnd::Failed, "{text}");
        let is_of_pattern = is_said("search.pattern_too_long", &text) || is_said("search.pattern_unreadable", &text);
        assert!(is_of_pattern && text.lines().count() == 1 && text.len() < 500, "{text}");
    }
    for pattern in ["(ü+)+(ü+)+x", "(?:ü?){100}ü{100}x", "a b c d e f g h i j k l m n o p q r s t u v w x y z"] {
        assert_eq!(dir.search(pattern, Some("documents")), (CallEnd::Done, answer!("search.no_matches")));
    }
}
