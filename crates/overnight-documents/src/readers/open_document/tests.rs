//! Documents made by hand, and the text of each.

use crate::extract::extract;
use crate::extracted::Extracted;
use crate::readers::package::sample::{damaged, zip};
use crate::units::Unit;

const STYLES: &str = "<office:document-styles><office:styles>\
    <text:outline-style><text:outline-level-style text:level=\"1\" style:num-format=\"1\" style:num-suffix=\".\"/></text:outline-style>\
    </office:styles><office:master-styles><style:master-page><style:footer><text:p>Below</text:p></style:footer></style:master-page>\
    </office:master-styles></office:document-styles>";

fn file(kind: &str, styles: &str, body: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let mimetype = format!("application/vnd.oasis.opendocument.{kind}");
    let kind = if kind == "text" { "text" } else { "presentation" };
    let content = format!(
        "<office:document-content><office:automatic-styles>{styles}</office:automatic-styles><office:body><office:{kind}>{body}\
         </office:{kind}></office:body></office:document-content>"
    );
    let mut parts = vec![("mimetype", mimetype.as_str()), ("content.xml", content.as_str()), ("styles.xml", STYLES)];
    parts.extend_from_slice(more);
    zip(&parts)
}

fn described(read: &Extracted) -> (Unit, Vec<&str>, Vec<String>, Vec<&str>) {
    let gaps = read.gaps.iter().map(ToString::to_string).collect();
    (read.unit, read.text.split('\x0c').collect(), gaps, read.notes.iter().map(String::as_str).collect())
}

#[test]
fn headings_lists_tables_and_notes_are_blocks() {
    let styles = "<style:style style:name=\"Up\" style:family=\"text\"><style:text-properties style:text-position=\"super 58%\"/></style:style>\
        <style:style style:name=\"Gone\" style:family=\"text\"><style:text-properties text:display=\"none\"/></style:style>\
        <style:style style:name=\"Old\" style:family=\"text\"><style:text-properties style:text-line-through-style=\"solid\"/></style:style>\
        <text:list-style style:name=\"L\"><text:list-level-style-number text:level=\"1\" style:num-format=\"1\" style:num-suffix=\".\"/>\
        <text:list-level-style-number text:level=\"2\" style:num-format=\"a\" style:num-suffix=\")\" text:display-levels=\"2\"/></text:list-style>\
        <text:list-style style:name=\"B\"><text:list-level-style-bullet text:level=\"1\"/></text:list-style>";
    let item = |text: &str, more: &str| format!("<text:list-item><text:p>{text}</text:p>{more}</text:list-item>");
    let inner = format!("<text:list>{}{}</text:list>", item("deeper", ""), item("and so", ""));
    let row = |cells: &str| format!("<table:table-row>{cells}</table:table-row>");
    let cell = |text: &str| format!("<table:table-cell><text:p>{text}</text:p></table:table-cell>");
    let body = [
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>no</text:p></text:deletion></text:changed-region></text:tracked-changes>",
        "<text:h text:outline-level=\"1\">Duties</text:h>",
        "<text:p>10<text:span text:style-name=\"Up\">5</text:span> <text:span text:style-name=\"Old\">old</text:span> \
         <text:span text:style-name=\"Gone\">secret</text:span>a<text:s text:c=\"2\"/>b<text:line-break/>c\
         <text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>In May.</text:p></text:note-body></text:note></text:p>",
        &format!("<text:list text:style-name=\"L\">{}{}</text:list>", item("one", &inner), item("two", "")),
        &format!(
            "<text:list text:style-name=\"L\" text:continue-numbering=\"true\">{}{}{}</text:list>",
            item("three", ""),
            item("", ""),
            item("five", "")
        ),
        &format!("<text:list text:style-name=\"B\">{}</text:list>", item("point", "<text:p>goes on</text:p>")),
        &format!(
            "<table:table>{}{}</table:table>",
            row(&(cell("Item") + &cell("Price"))),
            row(&(cell("Lamp") + &cell("12")))
        ),
        "<text:p>Beside <draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame>\
         <draw:frame><draw:object xlink:href=\"./Object 1\"/><draw:image/></draw:frame><office:annotation><text:p>why</text:p></office:annotation></text:p>",
    ];
    let formula = "<math><semantics><mi>E</mi><annotation>E = m c^2</annotation></semantics></math>";
    let read = extract("a.odt", &file("text", styles, &body.concat(), &[("Object 1/content.xml", formula)])).unwrap();
    let text = "# 1. Duties\n\n10⁵ ~~old~~ a  b\nc[1]\n\n1. one\n  1.a) deeper\n  1.b) and so\n2. two\n3. three\n5. five\n- point\n  goes on\n\n\
        | Item | Price |\n| --- | --- |\n| Lamp | 12 |\n\nBeside\n\nboxed\n\nE = m c^2\n\n[1] In May.\n";
    let notes = vec![
        "1 comment was left out",
        "it has tracked changes: insertions were read, deletions left out",
        "hidden text was left out",
        "headers and footers were left out",
    ];
    assert_eq!(described(&read), (Unit::Line, vec![text], vec![], notes));
}

#[test]
fn pages_are_those_that_were_recorded_or_set() {
    let styles = "<style:style style:name=\"P\" style:family=\"paragraph\"><style:paragraph-properties fo:break-before=\"page\"/></style:style>";
    let body = "<text:p>One <text:soft-page-break/>goes on.</text:p><text:p text:style-name=\"P\">Three</text:p>";
    let read = extract("a.odt", &file("text", styles, body, &[])).unwrap();
    assert_eq!((read.unit, read.text.as_str()), (Unit::Page, "One\n\x0cgoes on.\n\x0cThree\n"));
    let body =
        "<text:h text:outline-level=\"1\">A</text:h><text:p>a</text:p><text:h text:outline-level=\"1\">B</text:h>";
    let read = extract("a.odt", &file("text", "", body, &[])).unwrap();
    assert_eq!((read.unit, read.text.as_str()), (Unit::Page, "# 1. A\n\na\n\x0c# 2. B\n"));
}

#[test]
fn a_page_of_a_presentation_is_a_slide_in_reading_order() {
    let styles = "<style:style style:name=\"H\" style:family=\"drawing-page\"><style:drawing-page-properties \
        presentation:visibility=\"hidden\" presentation:display-footer=\"true\"/></style:style>";
    let shape = |class: &str, y: u32, text: &str| {
        format!(
            "<draw:frame presentation:class=\"{class}\" svg:x=\"1cm\" svg:y=\"{y}cm\" svg:width=\"9cm\" svg:height=\"1cm\"><draw:text-box>\
             <text:p>{text}</text:p></draw:text-box></draw:frame>"
        )
    };
    let body = format!(
        "<presentation:footer-decl presentation:name=\"f\">Draft</presentation:footer-decl><draw:page draw:style-name=\"H\" \
         presentation:use-footer-name=\"f\">{}{}{}<presentation:notes>{}</presentation:notes></draw:page>\
         <draw:page draw:style-name=\"H\" presentation:use-footer-name=\"f\"><draw:frame><draw:image/></draw:frame></draw:page>",
        shape("", 9, "below"),
        shape("outline", 5, "above"),
        shape("title", 1, "Lamp"),
        shape("notes", 1, "Say it"),
    );
    let read = extract("a.odp", &file("presentation", styles, &body, &[])).unwrap();
    let pages = vec!["# Lamp\n\n(hidden slide)\n\nabove\n\nbelow\n\nDraft\n\nNotes:\n\nSay it\n", "(hidden slide)\n"];
    let notes = vec![
        "footers that slides share stand on the first of them only",
        "2 of its slides are hidden, and were read",
        "1 image was left out",
        "headers and footers were left out",
    ];
    assert_eq!(described(&read), (Unit::Page, pages, vec!["page 2: nothing but an image on it".to_owned()], notes));
}

#[test]
fn what_is_typed_on_a_picture_is_read_once() {
    let body = "<draw:page><draw:frame><draw:image><office:binary-data>aGVsbG8=</office:binary-data><text:p>Gate 7 stays shut.</text:p>\
        </draw:image><draw:image><text:p>Gate 7 stays shut.</text:p></draw:image></draw:frame></draw:page>";
    let read = extract("a.odp", &file("presentation", "", body, &[])).unwrap();
    let notes = vec!["1 image was left out", "headers and footers were left out"];
    assert_eq!(described(&read), (Unit::Page, vec!["Gate 7 stays shut.\n"], vec![], notes));
}

#[test]
fn a_text_within_the_file_is_read_with_styles_of_its_own() {
    let inner = "<office:document-content><office:automatic-styles><text:list-style style:name=\"L\"><text:list-level-style-number \
        text:level=\"1\" style:num-format=\"A\" style:num-suffix=\")\"/></text:list-style></office:automatic-styles><office:body>\
        <office:text><text:h text:outline-level=\"1\">Duties</text:h><text:list text:style-name=\"L\"><text:list-item><text:p>Weigh it\
        </text:p></text:list-item></text:list><text:p><draw:frame><draw:object xlink:href=\"./Object 1\"/></draw:frame></text:p>\
        </office:text></office:body></office:document-content>";
    let body = "<draw:page><draw:frame><draw:object xlink:href=\"./Object 1\"/><draw:image/></draw:frame></draw:page>";
    let read = extract("a.odp", &file("presentation", "", body, &[("Object 1/content.xml", inner)])).unwrap();
    let notes = vec!["1 embedded object was left out", "headers and footers were left out"];
    assert_eq!(described(&read), (Unit::Page, vec!["# Duties\n\nA) Weigh it\n"], vec![], notes));
}

#[test]
fn passwords_and_damage_are_told_and_flat_files_are_read() {
    let manifest = ("META-INF/manifest.xml", "<manifest><encryption-data/></manifest>");
    let locked = extract("a.odt", &file("text", "", "<text:p>x</text:p>", &[manifest])).unwrap_err();
    assert_eq!(
        locked.to_string(),
        "a.odt is an OpenDocument file with a password: remove the password, or leave it out"
    );
    let cut = file("text", "", "<text:p>Before</text:p><text:p", &[]);
    let read = extract("a.odt", &cut).unwrap();
    assert_eq!(read.text, "Before\n");
    assert!(read.gaps[0].why.starts_with("cut off, because its part content.xml can't be read"), "{:?}", read.gaps);
    let flat = "<?xml version=\"1.0\"?><office:document office:mimetype=\"application/vnd.oasis.opendocument.text\"><office:body><office:text>\
        <text:p>Flat</text:p></office:text></office:body></office:document>";
    assert_eq!(extract("a.fodt", flat.as_bytes()).unwrap().text, "Flat\n");
    let deep = "<text:section>".repeat(9_000) + "<text:p>deep</text:p>" + &"</text:section>".repeat(9_000);
    let read = extract("a.odt", &file("text", "", &deep, &[])).unwrap();
    assert!(read.gaps[0].why.contains("inside one another"), "{:?}", read.gaps);
}

proptest::proptest! {
    #[test]
    fn damaged_files_never_panic(changes in proptest::collection::vec((0_usize..4_000, 0_u8..=255), 0..30), end in 0_usize..2_000) {
        let body = "<text:list><text:list-item><text:p>a</text:p></text:list-item></text:list><table:table><table:table-row>\
            <table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>";
        let _ = extract("a.odt", &damaged(&file("text", "", body, &[]), &changes, end));
    }
}
