//! Scanned pages: read by a model that sees, compared with what a program recognises, and as good as both agree.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::{RUN, TestDir, bootstrap, done, reply, work},
    intake::pdf_of,
    support::{events, white_png},
};
use overnight_documents::{Gap, MarkedBox, PictureOptions, QuoteOnPage, page_picture};
use regex::Regex;
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

/// What makes scans of our own.
#[path = "../../examples/make_scans.rs"]
#[expect(dead_code, reason = "its main is not called")]
mod make_scans;

const TASK: &str = r#"---
name: rents
description: The rents
coverage: 0
deliverables:
  - path: output/rents.json
    schema: { type: object, properties: { rents: { type: array, items: { type: object } } } }
    quotes: { each: "$.rents[*]", text: quote, document: document, page: page }
---
# Task

List the rents.
"#;

/// What stands on each picture, as the program in the place of tesseract has it.
const PAGE: &str = "The monthly rent is EUR 1,250.00 and is due on 3 May 2027.";

/// The pictures, and what the model reads on each, in their order.
const PICTURES: [(&str, &str); 5] = [
    ("added.png", "The monthly rent is EUR 1,250.00 and is due on 3 May 2027. It was paid."),
    ("agreed.png", "# The monthly rent\n\nis EUR 1,250.00 and is due on 3 May 2027."),
    ("blank.png", "The monthly rent is EUR 900.00, as agreed before."),
    ("changed.png", "The monthly rent is EUR 1,350.00 and is due on 3 May 2027."),
    (
        "invented.png",
        "The tenant keeps the mill in good order and pays for all repairs of the roof, the wheel and the stones. The monthly rent is due.",
    ),
];

/// A picture with as much ink as a page of text, or with none; another one for each name.
pub(crate) fn picture(name: &str) -> Vec<u8> {
    let shift: u32 = name.bytes().map(u32::from).sum();
    let page = image::GrayImage::from_fn(600, 400, |x, y| {
        let is_ink = name != "blank.png" && (y + shift) % 40 < 3 && (x + shift) % 8 < 4;
        image::Luma([if is_ink { 0 } else { 250 }])
    });
    let mut png = std::io::Cursor::new(Vec::new());
    page.write_to(&mut png, image::ImageFormat::Png).unwrap();
    png.into_inner()
}

/// As tesseract says it: each word a tenth of a line wide.
fn table(text: &str) -> String {
    let mut rows = vec![
        "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext".to_owned(),
        "1\t1\t0\t0\t0\t0\t0\t0\t600\t400\t-1\t".to_owned(),
    ];
    for (at, word) in text.split(' ').enumerate() {
        let (line, column) = (at / 8, at % 8);
        rows.push(format!("5\t1\t1\t1\t{line}\t{column}\t{}\t{}\t60\t20\t95\t{word}", column * 66, 40 + line * 40));
    }
    rows.join("\n")
}

struct Ground {
    dir: TestDir,
    path: String,
}

impl Ground {
    fn new() -> Self {
        let dir = TestDir::new();
        dir.put("task.md", TASK);
        for (name, _) in PICTURES {
            dir.put(&format!("docs/{name}"), picture(name));
        }
        let ground = Self { path: format!("{}:/usr/bin:/bin", dir.path().join("bin").display()), dir };
        ground.dir.put("bin/page.tsv", table(PAGE));
        let page = ground.dir.path().join("bin/page.tsv");
        ground.program("tesseract", &format!("cat > /dev/null; cat {}", page.display()));
        ground.program("pdftotext", "exit 127");
        ground.program("pdftoppm", "exit 127");
        ground
    }

    /// A PDF with a text of its own in the place of the pictures: that text.
    fn only_rooms(&self) -> String {
        for (name, _) in PICTURES {
            std::fs::remove_file(self.dir.path().join("docs").join(name)).unwrap();
        }
        let pdf = std::fs::read(format!("{}/samples/standards/reading-rooms.pdf", env!("CARGO_MANIFEST_DIR"))).unwrap();
        self.dir.put("docs/rooms.pdf", &pdf);
        overnight_documents::extract("rooms.pdf", &pdf).unwrap().text
    }

    fn program(&self, name: &str, body: &str) {
        use std::os::unix::fs::PermissionsExt;
        let version = format!("case \"$1\" in --version|-v) echo {name} 1; exit;; esac");
        self.dir.put(&format!("bin/{name}"), format!("#!/bin/sh\n{version}\n{body}\n"));
        let path = self.dir.path().join("bin").join(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A script of the job, and of the transcribers where there are some.
    fn script(&self, records: &Value, transcribers: &[&str]) {
        let write = json!({"write_file": {"path": "output/rents.json", "content": records.to_string()}});
        let complete =
            json!({"job_complete": {"summary": "All.", "deliverables": ["output/rents.json"], "confidence": 0.9}});
        let replies = [bootstrap(&["Reading"]), work(write), reply(&vec![done(); 5]), reply(&[complete])];
        let helpers: Vec<Value> = transcribers.iter().map(|text| json!([{ "text": text }])).collect();
        let script = json!({"version": 1, "sees": true, "replies": replies, "helpers": helpers});
        self.dir.put("script.json", script.to_string());
    }

    fn run(&self) -> PathBuf {
        self.run_by("scripted:script.json")
    }

    fn run_by(&self, model: &str) -> PathBuf {
        let [rest @ .., _] = RUN;
        let ran = self.dir.run_with(&[("PATH", &self.path)], &[&rest[..], &[model]].concat());
        assert!(ran.code < 2, "{}{}", ran.stdout, ran.stderr);
        self.workspace()
    }

    fn workspace(&self) -> PathBuf {
        self.dir.path().join("workspaces").join(self.shown()["id"].as_str().unwrap())
    }

    fn shown(&self) -> Value {
        serde_json::from_str(&self.dir.run_with(&[], &["show", "last", "--json"]).stdout).unwrap()
    }
}

fn record(document: &str, quote: &str) -> Value {
    json!({"document": document, "page": 1, "quote": quote})
}

#[test]
fn a_scanned_page_is_read_by_eyes_and_checked() {
    let ground = Ground::new();
    let records = json!({"rents": [
        record("agreed.png", "The monthly rent is EUR 1,250.00 and is due"),
        record("changed.png", "The monthly rent is EUR 1,350.00 and is due"),
        record("added.png", "3 May 2027. It was paid."),
    ]});
    ground.script(&records, &PICTURES.map(|(_, text)| text));
    let workspace = ground.run();

    // What two readings don't agree on, and what came from a blank page, is no text.
    let shown = ground.shown();
    let documents = shown["documents"].as_array().unwrap();
    let gaps: Vec<(&str, &str)> = documents
        .iter()
        .flat_map(|document| document["gaps"].as_array().into_iter().flatten().map(move |gap| (document, gap)))
        .map(|(document, gap)| (document["name"].as_str().unwrap(), gap["why"].as_str().unwrap()))
        .collect();
    assert_eq!(
        gaps,
        [
            ("blank.png", "it is nearly blank, and 9 words were read on it"),
            ("invented.png", "two readings agree on 26 % of it only"),
        ]
    );
    let text = |name: &str| std::fs::read_to_string(workspace.join(format!("documents/.text/{name}.txt"))).unwrap();
    assert_eq!(text("agreed.png"), "# The monthly rent\n\nis EUR 1,250.00 and is due on 3 May 2027.\n");
    assert_eq!([text("blank.png"), text("invented.png")], ["", ""]);

    // A quote is found; what only one reading has of it is told.
    let quotes = std::fs::read_to_string(workspace.join("quotes.jsonl")).unwrap();
    let quotes: Vec<Value> = quotes.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<Value> =
        quotes.iter().map(|line| json!([line["document"], line["result"], line["one_reading"]])).collect();
    assert_eq!(
        told,
        [
            json!(["agreed.png", "found", null]),
            json!(["changed.png", "found", [{"words": "1,350.00", "other": "1,250.00"}]]),
            json!(["added.png", "found", [{"words": "It was paid."}]]),
        ]
    );
    // Two lines of words on the picture.
    let boxes = json!([
        {"page": 1, "x": 0.0, "y": 0.1, "width": 0.87, "height": 0.05},
        {"page": 1, "x": 0.0, "y": 0.2, "width": 0.1, "height": 0.05},
    ]);
    let rounded = |value: &Value| (value.as_f64().unwrap() * 100.0).round() / 100.0;
    let found: Vec<Value> = quotes[0]["boxes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let [x, y, width, height] = ["x", "y", "width", "height"].map(|key| rounded(&one[key]));
            json!({"page": one["page"], "x": x, "y": y, "width": width, "height": height})
        })
        .collect();
    assert_eq!(Value::Array(found), boxes);

    let exported = ground.dir.run(&["export", "last", "--format", "jsonl"]);
    let row: Value = serde_json::from_str(exported.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(serde_json::from_str::<Value>(row["box"].as_str().unwrap()).unwrap(), quotes[0]["boxes"]);
    let checks = exported.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["check"].clone());
    assert_eq!(checks.collect::<Vec<_>>(), ["found", "one_reading", "one_reading"]);
    // Who worked and who looks at the job are told of the number.
    assert_eq!(shown["doubts"], 1);
    let changed = documents.iter().find(|document| document["name"] == "changed.png").unwrap();
    let note = "1 page read by scripted:script.json and compared with tesseract: 12 of 13 words agree";
    assert_eq!(changed["notes"], json!([note]));

    let ran = ground.dir.run(&["review", "last", "-o", "pages"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let page = std::fs::read_to_string(ground.dir.path().join(format!("pages/{}.html", shown["id"].as_str().unwrap())));
    let doubt = Regex::new(r#"<li class="is-(value|reading|ocr)">([^\n]*)</li>"#).unwrap();
    let page = page.unwrap();
    let doubts: Vec<String> = doubt.captures_iter(&page).map(|found| format!("{}: {}", &found[1], &found[2])).collect();
    assert_eq!(
        doubts,
        [
            "value: <strong>value in doubt</strong>: in its quote only one of two readings of the page has &#39;1,350.00&#39;, and the other &#39;1,250.00&#39;",
            "reading: <strong>one reading</strong>: in its quote only one of two readings of the page has &#39;It was paid.&#39;",
        ]
    );
    let verified = ground.dir.run(&["audit", "verify", "last"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
}

#[test]
fn small_letters_are_looked_at_more_sharply() {
    let pdf = std::fs::read(format!("{}/examples/scans/pages/contract.pdf", env!("CARGO_MANIFEST_DIR"))).unwrap();
    for (height, width) in [(30, 1_240), (10, 1_653)] {
        let ground = Ground::new();
        for (name, _) in PICTURES {
            std::fs::remove_file(ground.dir.path().join("docs").join(name)).unwrap();
        }
        ground.dir.put("bin/page.png", white_png(1_654, 2_339));
        let page = ground.dir.path().join("bin/page.png");
        ground.program(
            "pdftoppm",
            &format!("[ \"$1\" = -v ] && exec echo pdftoppm 24; cat > /dev/null; cat {}", page.display()),
        );
        ground.dir.put("docs/contract.pdf", &pdf);
        let small =
            table(PAGE).replace("\t600\t400\t", "\t1654\t2339\t").replace("\t60\t20\t", &format!("\t60\t{height}\t"));
        ground.dir.put("bin/page.tsv", small);
        ground.script(&json!({"rents": []}), &[PAGE; 3]);
        let workspace = ground.run();
        let spec: Value = serde_yaml::from_str(&std::fs::read_to_string(workspace.join("job.yaml")).unwrap()).unwrap();
        let widths: Vec<_> =
            spec["scans"].as_array().unwrap().iter().map(|page| page["image"]["width"].clone()).collect();
        assert_eq!(widths, [width; 3]);
    }
}

#[test]
fn a_quote_of_a_pdf_has_its_place_on_the_page() {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    let pdf = std::fs::read(format!("{}/samples/standards/reading-rooms.pdf", env!("CARGO_MANIFEST_DIR"))).unwrap();
    dir.put("docs/rooms.pdf", &pdf);
    let own = overnight_documents::extract("rooms.pdf", &pdf).unwrap().text;
    let second = own.split('\u{c}').nth(1).unwrap();
    let line = second.lines().find(|line| line.split(' ').count() > 6).unwrap();
    let quote = json!({"document": "rooms.pdf", "page": 2, "quote": line});
    let write = json!({"write_file": {"path": "output/rents.json", "content": json!({"rents": [quote]}).to_string()}});
    let complete =
        json!({"job_complete": {"summary": "All.", "deliverables": ["output/rents.json"], "confidence": 0.9}});
    dir.script("script.json", &[bootstrap(&["Reading"]), work(write), reply(&vec![done(); 5]), reply(&[complete])]);
    let ran = dir.run(&RUN);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let shown: Value = serde_json::from_str(&dir.run(&["show", "last", "--json"]).stdout).unwrap();
    let workspace = dir.path().join(shown["workspace"].as_str().unwrap());
    let quotes = std::fs::read_to_string(workspace.join("quotes.jsonl")).unwrap();
    let found: Value = serde_json::from_str(quotes.trim()).unwrap();
    // As the review marks it.
    let sought = QuoteOnPage { mark: 0, at: second.find(line).unwrap(), text: line.to_owned(), boxes: Vec::new() };
    let (picture, _) = page_picture(&pdf, 2, &[sought], PictureOptions::FOR_PEOPLE).unwrap();
    let place = |of: &MarkedBox| json!({"page": 2, "x": of.x, "y": of.y, "width": of.width, "height": of.height});
    let boxes: Vec<Value> = picture.boxes.iter().map(place).collect();
    assert_eq!((found["boxes"].as_array(), boxes.len()), (Some(&boxes), 1));
    assert_eq!(dir.run(&["audit", "verify", "last"]).code, 0);
}

#[test]
fn who_looks_at_all_pages_finds_texts_that_lie_and_what_stands_in_pictures() {
    text_that_lies("always");
}

/// A few lines of one page, recognised, are something else than its text.
#[test]
fn a_text_that_lies_is_told_by_a_sample_of_its_picture() {
    text_that_lies("auto");
}

/// A searchable scan: what a program has recognised lies unseen behind its picture.
#[test]
fn a_text_behind_a_scan_is_a_second_reading_and_not_the_text() {
    let hidden = "BT 3 Tr /F 10 Tf 50 660 Td (The monthly rent is EUR 1,350.00 and is due on 3 May 2027.) Tj ET";
    let content = format!("q 600 0 0 800 0 0 cm /I Do Q {hidden}");
    let pdf = one_page(&content);
    // Its own program's reading is asked for where there is one; else what lies behind the picture has to do.
    for (tesseract, other) in [("exit 127", "1,350.00"), ("", "1,250.00")] {
        let ground = Ground::new();
        ground.only_rooms();
        ground.dir.put("docs/rooms.pdf", &pdf);
        if !tesseract.is_empty() {
            ground.program("tesseract", tesseract);
        }
        ground.script(
            &json!({"rents": [record("rooms.pdf", "The monthly rent is EUR 1,450.00 and is due")]}),
            &["The monthly rent is EUR 1,450.00 and is due on 3 May 2027."],
        );
        let workspace = ground.run();
        assert_eq!(transcribers(&workspace), ["rooms.pdf 1"]);
        let quotes = std::fs::read_to_string(workspace.join("quotes.jsonl")).unwrap();
        let line: Value = serde_json::from_str(quotes.trim()).unwrap();
        let told = json!([line["result"], line["one_reading"], line["recognised"]]);
        assert_eq!(told, json!(["found", [{"words": "1,450.00", "other": other}], null]), "{tesseract}");
    }
    // Where nobody has eyes, it is the text, and as good as anything recognised.
    let ground = Ground::new();
    ground.only_rooms();
    ground.dir.put("docs/rooms.pdf", &pdf);
    ground.dir.put("overnight.yaml", "documents:\n  vision: never\n");
    ground.script(&json!({"rents": [record("rooms.pdf", "The monthly rent is EUR 1,350.00 and is due")]}), &[]);
    let workspace = ground.run();
    let csv = ground.dir.run(&["export", "last", "-o", "-", "--format", "csv"]).stdout;
    assert!(csv.contains(",read_once,"), "{csv}");
    let spec: Value = serde_yaml::from_str(&std::fs::read_to_string(workspace.join("job.yaml")).unwrap()).unwrap();
    let note = "the text of page 1 was recognised in its picture, by whoever made the file";
    assert_eq!(spec["documents"][2]["notes"], json!([note]));
}

/// A PDF of one page with a picture `/I` and a font `/F`.
fn one_page(content: &str) -> Vec<u8> {
    let pixels = "!~~~~~~~".repeat(600);
    let picture = format!(
        "<</Type/XObject/Subtype/Image/Width 60/Height 80/ColorSpace/DeviceGray/BitsPerComponent 8/Length 4800>>stream\n{pixels}\nendstream"
    );
    pdf_of(&[
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</I 6 0 R>>>>>>",
        &format!("<</Length {}>>stream\n{content}\nendstream", content.len()),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        &picture,
    ])
}

#[test]
fn a_text_that_is_what_its_sample_shows_is_not_looked_at() {
    let ground = Ground::new();
    let own = ground.only_rooms();
    let page = own.split('\u{c}').max_by_key(|page| page.split_whitespace().count()).unwrap();
    let words: Vec<&str> = page.split_whitespace().skip(20).take(40).collect();
    ground.dir.put("bin/page.tsv", table(&words.join(" ")));
    ground.script(&json!({"rents": []}), &[]);
    assert_eq!(transcribers(&ground.run()), Vec::<String>::new());
    ground.dir.put("bin/page.tsv", table(PAGE));
    assert_eq!(transcribers(&ground.run()), Vec::<String>::new(), "the sample is taken once");
}

fn text_that_lies(vision: &str) {
    let ground = Ground::new();
    let own = ground.only_rooms();
    let pages: Vec<&str> = own.split('\u{c}').collect();
    ground.dir.put("overnight.yaml", format!("documents:\n  vision: {vision}\n"));
    let is_sampled = vision == "auto";
    // A letterhead, and a number that the text has otherwise; then another page.
    let line = pages[0].lines().find(|line| line.contains(char::is_numeric) && line.split(' ').count() > 6).unwrap();
    let digit = line.find(char::is_numeric).unwrap();
    let word = line[digit..].split(' ').next().unwrap();
    let first =
        format!("Harbour Mill Ltd of Bristol\n\n{}", pages[0].replacen(line, &line.replacen(word, "777", 1), 1));
    let letter = "Nothing of what the file says stands on this page: it is a letter to the keeper about the lost keys.";
    ground.dir.put("bin/page.tsv", table(letter));
    let seen: Vec<&str> = [first.as_str(), letter].into_iter().chain(pages[2..].iter().copied()).collect();
    let records = json!({"rents": [
        record("rooms.pdf", line),
        record("rooms.pdf", "Harbour Mill Ltd of Bristol"),
        {"document": "rooms.pdf", "page": 2, "quote": "a letter to the keeper about the lost keys"},
    ]});
    ground.script(&records, &seen);
    let workspace = ground.run();
    let text = std::fs::read_to_string(workspace.join("documents/.text/rooms.pdf.txt")).unwrap();
    let added = "[seen on the page, and not in its text:]\nHarbour Mill Ltd of Bristol\n";
    let expected = [&format!("{}\n\n{added}", pages[0].trim_end()), &format!("{letter}\n")];
    assert_eq!(text.split('\u{c}').take(2).collect::<Vec<_>>(), expected);
    assert_eq!(text.split('\u{c}').skip(2).collect::<Vec<_>>(), pages[2..]);
    let quotes = std::fs::read_to_string(workspace.join("quotes.jsonl")).unwrap();
    let quotes = quotes.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let told: Vec<Value> =
        quotes.map(|line| json!([line["result"], line["one_reading"], line["recognised"]])).collect();
    assert_eq!(
        told,
        [
            json!(["found", [{"words": word, "other": "777"}], null]),
            json!(["found", [{"words": "Harbour Mill Ltd of Bristol"}], null]),
            // Who takes a sample can ask for a second reading.
            json!(["found", null, if is_sampled { Value::Null } else { json!(true) }]),
        ]
    );
    let shown = ground.shown();
    let notes = &shown["documents"].as_array().unwrap().iter().find(|one| one["name"] == "rooms.pdf").unwrap()["notes"];
    let note = "the text of page 2 is not what is to be seen there: read by scripted:script.json";
    assert!(notes.as_array().unwrap().contains(&json!(note)), "{notes}");
    assert_eq!(ground.dir.run(&["audit", "verify", "last"]).code, 0);
}

/// The transcribers that a job has had, as its record names them.
fn transcribers(workspace: &std::path::Path) -> Vec<String> {
    let of_sub_agent = |event: &Value| event["type"] == "helper_started";
    let told = |event: Value| format!("{} {}", event["role"]["document"].as_str().unwrap(), event["role"]["reader"]);
    events(workspace).into_iter().filter(of_sub_agent).map(told).collect()
}

#[test]
fn what_was_read_is_paid_once() {
    let ground = Ground::new();
    let records = json!({"rents": [record("agreed.png", "The monthly rent is EUR 1,250.00 and is due")]});
    ground.script(&records, &PICTURES.map(|(_, text)| text));
    // A batch names a script by its whole path.
    let model = format!("scripted:{}", ground.dir.path().join("script.json").display());
    let pages_to_read = || {
        let args = ["submit", "task.md", "-d", "docs", "-m", &model, "--dry-run", "--json"];
        let ran = ground.dir.run_with(&[("PATH", &ground.path)], &args);
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["scanned_pages"].clone()
    };
    assert_eq!(pages_to_read(), 5);
    let first = ground.run_by(&model);
    assert_eq!(pages_to_read(), Value::Null);
    assert_eq!(transcribers(&first), PICTURES.map(|(name, _)| format!("{name} 1")));
    // A second job over the same pages and two more, which are the same picture.
    ground.dir.put("docs/more.png", picture("more.png"));
    ground.dir.put("docs/more-again.png", picture("more.png"));
    ground.script(&records, &[PAGE]);
    assert_eq!(pages_to_read(), 2);
    let second = ground.run_by(&model);
    assert_eq!(transcribers(&second), ["more-again.png 1"]);
    let text = |workspace: &PathBuf, name: &str| {
        std::fs::read_to_string(workspace.join(format!("documents/.text/{name}.txt"))).unwrap()
    };
    assert_eq!(text(&first, "agreed.png"), text(&second, "agreed.png"));
    assert_eq!(
        [text(&second, "more.png"), text(&second, "more-again.png")],
        [format!("{PAGE}\n"), format!("{PAGE}\n")]
    );
    assert_eq!(ground.dir.run(&["audit", "verify", "last"]).code, 0);
}

#[test]
fn who_has_no_second_reading_says_so() {
    let ground = Ground::new();
    ground.program("tesseract", "exit 1");
    let records = json!({"rents": [record("agreed.png", "The monthly rent is EUR 1,250.00 and is due")]});
    let texts = PICTURES.map(|(name, text)| if name == "blank.png" { "[blank]" } else { text });
    ground.script(&records, &texts);
    let workspace = ground.run();
    let quotes = std::fs::read_to_string(workspace.join("quotes.jsonl")).unwrap();
    let quote: Value = serde_json::from_str(quotes.trim()).unwrap();
    assert_eq!(json!([quote["result"], quote["recognised"], quote["one_reading"]]), json!(["found", true, null]));
    let shown = ground.shown();
    // A blank page is one.
    let blank = shown["documents"].as_array().unwrap().iter().find(|one| one["name"] == "blank.png").unwrap();
    assert_eq!(json!([blank["units"], blank["gaps"], blank["recognised"]]), json!([1, [], []]));
    let agreed = shown["documents"].as_array().unwrap().iter().find(|one| one["name"] == "agreed.png").unwrap();
    let note = "page 1 read once, by scripted:script.json: nothing has read it a second time";
    assert!(agreed["notes"].as_array().unwrap().contains(&json!(note)), "{agreed}");

    // A second model is a second reading.
    ground.dir.put(
        "task.md",
        TASK.replace("coverage: 0\n", "coverage: 0\nmodels: { vision_second: \"scripted:eyes.json\" }\n"),
    );
    let replies: Vec<Value> = PICTURES.iter().map(|_| json!({ "text": PAGE })).collect();
    ground.dir.put("eyes.json", json!({"version": 1, "sees": true, "replies": replies}).to_string());
    ground.script(&records, &[]);
    let workspace = ground.run();
    assert_eq!(transcribers(&workspace), PICTURES.map(|(name, _)| format!("{name} 2")));
    let quotes = std::fs::read_to_string(workspace.join("quotes.jsonl")).unwrap();
    let quote: Value = serde_json::from_str(quotes.trim()).unwrap();
    assert_eq!(json!([quote["result"], quote["recognised"], quote["one_reading"]]), json!(["found", null, null]));
}

#[test]
fn without_eyes_all_is_as_it_was() {
    let ground = Ground::new();
    ground.program("tesseract", "exit 1");
    ground.script(&json!({"rents": []}), &[]);
    let script = std::fs::read_to_string(ground.dir.path().join("script.json")).unwrap();
    ground.dir.put("script.json", script.replace("\"sees\":true", "\"sees\":false"));
    let workspace = ground.run();
    assert_eq!(transcribers(&workspace), Vec::<String>::new());
    let shown = ground.shown();
    let gap =
        &shown["documents"].as_array().unwrap().iter().find(|one| one["name"] == "agreed.png").unwrap()["gaps"][0];
    assert_eq!(
        gap["why"],
        "an image in which no characters were recognised: see that tesseract works, give its text, or leave it out"
    );
    // Who insists on eyes is told that there are none.
    ground.dir.put("overnight.yaml", "documents:\n  vision: always\n");
    let ran = ground.dir.run_with(&[("PATH", &ground.path)], &RUN);
    let told = "error: `documents.vision` is `always`, and scripted:script.json takes no images: name a model that does with \
                `models: { vision: … }`, or set `auto` or `never`\n";
    assert_eq!((ran.code, &*ran.stderr), (2, told));
}

#[test]
fn a_job_that_is_killed_again_and_again_pays_no_page_twice() {
    let ground = Ground::new();
    let records = json!({"rents": [record("agreed.png", "The monthly rent is EUR 1,250.00 and is due")]});
    ground.script(&records, &PICTURES.map(|(_, text)| text));
    let script = std::fs::read_to_string(ground.dir.path().join("script.json")).unwrap();
    ground.dir.put("script.json", script.replace("\"text\":", "\"takes_ms\":80,\"text\":"));
    let mut first = ground.dir.start(&RUN);
    first.kill().unwrap();
    first.wait().unwrap();
    let mut times = (1..).map(|nth| Duration::from_millis(40 * nth));
    while ground.dir.killed_after(&["resume", "last", "-q"], times.next().unwrap()) {}
    let workspace = ground.workspace();
    assert_eq!(transcribers(&workspace), PICTURES.map(|(name, _)| format!("{name} 1")));
    let mut replies = BTreeMap::new();
    for event in events(&workspace).iter().filter(|event| event["type"] == "model_replied") {
        *replies.entry(event["conversation"].as_u64().unwrap()).or_insert(0) += 1;
    }
    let of_transcribers: Vec<_> = replies.range(1..).map(|(number, count)| (*number, *count)).collect();
    assert_eq!(of_transcribers, [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)]);
    assert_eq!(ground.shown()["status"], "completed");
    assert_eq!(ground.dir.run(&["audit", "verify", "last"]).code, 0);
}

#[test]
fn made_scans_are_pages_with_nothing_but_ink() {
    for (name, content, words) in make_scans::scans().unwrap() {
        let kept = std::fs::read_to_string(format!("{}/examples/scans/truth/{name}.txt", env!("CARGO_MANIFEST_DIR")));
        assert_eq!(kept.unwrap(), words, "{name}");
        let pages = u64::try_from(words.split('\u{c}').count()).unwrap();
        let extracted = overnight_documents::extract(name, &content).unwrap();
        let span = |gap: &Gap| gap.pages.map(|pages| (pages.from, pages.to));
        assert_eq!(extracted.text.trim(), "", "{name}");
        assert_eq!(extracted.gaps.iter().map(span).collect::<Vec<_>>(), [Some((1, pages))], "{name}");
        for page in 1..=pages {
            let (picture, _) = page_picture(&content, page, &[], PictureOptions::FOR_MODELS).unwrap();
            assert!(picture.height > picture.width, "{name} is not upright");
            assert_eq!(picture.ink < 4, words.is_empty(), "{name} page {page}: {}", picture.ink);
        }
    }
}
