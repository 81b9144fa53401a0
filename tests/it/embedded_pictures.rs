//! Pictures within Word files, presentations and books: named where they stand, looked at by that name, and read by eyes where a
//! page, or the whole document, is nothing else.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::{RUN, TestDir, bootstrap, done, reply},
    hostile_documents::harm::zipped,
    scans::picture,
    support::events,
};
use overnight_core::answer;
use overnight_documents::{Extracted, extract};
use serde_json::{Value, json};
use std::{fmt::Write as _, path::PathBuf};

const TASK: &str = "---\nname: look\ndescription: Looks\nphase: {min_todos: 1}\nfinale: []\ncoverage: 0\ncontext: {inline: never}\n\
    deliverables: [{path: output/seen.md}]\n---\nSay what stands there.\n";

/// A Word file of paragraphs, those with a name with that picture in them.
fn docx(paragraphs: &[(&str, Option<&str>)]) -> Vec<u8> {
    let (mut body, mut relations, mut parts) = (String::new(), String::new(), Vec::new());
    for (at, (text, name)) in paragraphs.iter().enumerate() {
        write!(body, "<w:p><w:r><w:t>{text}</w:t></w:r>").unwrap();
        if let Some(name) = name {
            write!(body, "<w:r><w:drawing><a:blip r:embed=\"r{at}\"/></w:drawing></w:r>").unwrap();
            write!(relations, "<Relationship Id=\"r{at}\" Type=\"http://x/image\" Target=\"media/{name}\"/>").unwrap();
            parts.push((format!("word/media/{name}"), picture(name)));
        }
        body += "</w:p>";
    }
    parts.extend([
        ("[Content_Types].xml".to_owned(), types("wordprocessingml.document")),
        ("word/document.xml".to_owned(), format!("<w:document><w:body>{body}</w:body></w:document>").into_bytes()),
        ("word/_rels/document.xml.rels".to_owned(), rels(&relations)),
    ]);
    package(&parts)
}

/// Slides: a title, and a picture.
fn pptx(slides: &[(&str, &str)]) -> Vec<u8> {
    let (mut list, mut relations, mut parts) = (String::new(), String::new(), Vec::new());
    for (at, (title, name)) in slides.iter().enumerate() {
        write!(list, "<p:sldId id=\"{at}\" r:id=\"r{at}\"/>").unwrap();
        write!(relations, "<Relationship Id=\"r{at}\" Type=\"http://x/slide\" Target=\"slides/s{at}.xml\"/>").unwrap();
        let title = match *title {
            "" => String::new(),
            title => format!(
                "<p:sp><p:nvPr><p:ph type=\"title\"/></p:nvPr><p:txBody><a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:txBody></p:sp>"
            ),
        };
        let shown = "<p:pic><p:blipFill><a:blip r:embed=\"i\"/></p:blipFill></p:pic>";
        let slide = format!("<p:sld><p:spTree>{title}{shown}</p:spTree></p:sld>");
        parts.push((format!("ppt/slides/s{at}.xml"), slide.into_bytes()));
        let image = format!("<Relationship Id=\"i\" Type=\"http://x/image\" Target=\"../media/{name}\"/>");
        parts.push((format!("ppt/slides/_rels/s{at}.xml.rels"), rels(&image)));
        parts.push((format!("ppt/media/{name}"), picture(name)));
    }
    let main = format!("<p:presentation><p:sldIdLst>{list}</p:sldIdLst></p:presentation>");
    parts.extend([
        ("[Content_Types].xml".to_owned(), types("presentationml.presentation")),
        ("ppt/presentation.xml".to_owned(), main.into_bytes()),
        ("ppt/_rels/presentation.xml.rels".to_owned(), rels(&relations)),
    ]);
    package(&parts)
}

fn epub() -> Vec<u8> {
    let book = "<package><manifest><item id='a' href='t/a.xhtml' media-type='application/xhtml+xml'/></manifest>\
        <spine><itemref idref='a'/></spine></package>";
    let chapter = "<html xmlns='x'><body><p>The gate <img src='../i/gate.png'/> holds.</p></body></html>";
    let container = "<container><rootfiles><rootfile full-path='o/b.opf'/></rootfiles></container>";
    zipped(&[
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", container.as_bytes()),
        ("o/b.opf", book.as_bytes()),
        ("o/t/a.xhtml", chapter.as_bytes()),
        ("o/i/gate.png", &picture("gate.png")),
    ])
}

fn types(main: &str) -> Vec<u8> {
    let of = "application/vnd.openxmlformats-officedocument";
    format!("<Types><Override ContentType=\"{of}.{main}.main+xml\"/></Types>").into_bytes()
}

fn rels(all: &str) -> Vec<u8> {
    format!("<Relationships>{all}</Relationships>").into_bytes()
}

fn package(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    zipped(&parts.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect::<Vec<_>>())
}

fn script(dir: &TestDir, sees: bool, first: &[Value], helpers: &[&str]) {
    let write = json!({"write_file": {"path": "output/seen.md", "content": "All was seen."}});
    let complete = json!({"job_complete": {"summary": "All.", "deliverables": ["output/seen.md"], "confidence": 0.9}});
    let work = reply(&[first, &[write], &[done(), done(), done(), done(), done()]].concat());
    let replies = [bootstrap(&["Looking"]), work, reply(&[complete])];
    let helpers: Vec<Value> = helpers.iter().map(|text| json!([{ "text": text }])).collect();
    let script = json!({"version": 1, "sees": sees, "replies": replies, "helpers": helpers});
    dir.put("script.json", script.to_string());
}

fn run(dir: &TestDir) {
    let ran = dir.run(&RUN);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let verified = dir.run(&["audit", "verify", "last"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
}

/// Of the job that was made last.
fn workspace(dir: &TestDir) -> PathBuf {
    let shown: Value = serde_json::from_str(&dir.run(&["show", "last", "--json"]).stdout).unwrap();
    dir.path().join(shown["workspace"].as_str().unwrap())
}

#[test]
fn texts_name_the_pictures_that_stand_in_them() {
    let text = |name: &str, bytes: &[u8]| {
        let Extracted { text, gaps, .. } = extract(name, bytes).unwrap();
        (text, gaps.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    assert_eq!(
        text("a.docx", &docx(&[("The seal", Some("seal.png")), ("holds.", None)])),
        ("The seal\n\n[picture seal.png, 600×400 pixels]\n\nholds.\n".to_owned(), vec![])
    );
    assert_eq!(
        text("a.pptx", &pptx(&[("The gate", "gate.png"), ("", "plan.png")])),
        (
            "# The gate\n\n[picture gate.png, 600×400 pixels]\n\u{c}[picture plan.png, 600×400 pixels]\n".to_owned(),
            vec!["page 2: nothing but an image on it".to_owned()]
        )
    );
    let gate = "The gate [picture gate.png, 600×400 pixels] holds.\n".to_owned();
    assert_eq!(text("a.epub", &epub()), (gate, vec![]));
}

#[test]
fn a_picture_is_looked_at_by_its_name() {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    dir.put("docs/letter.docx", docx(&[("The seal", Some("seal.png")), ("holds.", None)]));
    let view = |part: &str| json!({"view_page": {"name": "letter.docx", "page": 1, "part": part}});
    script(
        &dir,
        true,
        &[view("seal.png"), view("none.png"), json!({"view_page": {"name": "letter.docx", "page": 1}})],
        &[],
    );
    run(&dir);
    let results: Vec<String> = events(&workspace(&dir))
        .iter()
        .filter(|event| event["type"] == "tool_returned" && event.to_string().contains("letter.docx"))
        .map(|event| event["result"]["text"].as_str().unwrap_or_default().to_owned())
        .collect();
    let name = "\"letter.docx\"";
    let expected = [
        answer!("page.shown", what = "Picture \"seal.png\"", name, width = 600, height = 400),
        answer!("page.no_such_picture", name, part = "\"none.png\"", named = "seal.png"),
        answer!("page.not_of_this_format", name, format = "Word"),
    ];
    assert_eq!(results, expected);
}

#[test]
fn who_has_eyes_reads_what_is_nothing_but_pictures() {
    let dir = TestDir::new();
    dir.put("task.md", TASK);
    dir.put("docs/scan.docx", docx(&[("", Some("one.png")), ("", Some("two.png"))]));
    dir.put("docs/deck.pptx", pptx(&[("The gate", "gate.png"), ("", "plan.png")]));
    script(&dir, true, &[], &["The plan.", "Page one.", "Page two."]);
    run(&dir);
    let text =
        |name: &str| std::fs::read_to_string(workspace(&dir).join(format!("documents/.text/{name}.txt"))).unwrap();
    assert_eq!(text("scan.docx"), "Page one.\n\u{c}Page two.\n");
    assert_eq!(text("deck.pptx"), "# The gate\n\n[picture gate.png, 600×400 pixels]\n\u{c}The plan.\n");
    // Nobody else can.
    script(&dir, false, &[], &[]);
    run(&dir);
    let shown: Value = serde_json::from_str(&dir.run(&["show", "last", "--json"]).stdout).unwrap();
    let documents = shown["documents"].as_array().unwrap().iter();
    let units: Vec<Value> =
        documents.map(|document| json!([document["name"], document["units"], document["gaps"]])).collect();
    let why = "nothing but an image on it";
    assert_eq!(
        units[2..],
        [
            json!(["deck.pptx", 2, [{"pages": {"from": 2, "to": 2}, "why": why}]]),
            json!(["scan.docx", 0, [{"why": why}]]),
        ]
    );
}
