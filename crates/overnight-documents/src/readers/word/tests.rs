//! Documents made by hand, and the text of each.

use crate::extract::extract;
use crate::extracted::Extracted;
use crate::readers::package::sample::{relations, types, zip};
use crate::units::Unit;

const STYLES: &str = "<w:styles><w:style w:styleId=\"H1\"><w:name w:val=\"heading 1\"/></w:style>\
    <w:style w:styleId=\"Mine\"><w:basedOn w:val=\"H1\"/></w:style>\
    <w:style w:styleId=\"H2\"><w:name w:val=\"Heading 2\"/></w:style>\
    <w:style w:type=\"character\" w:styleId=\"Sup\"><w:rPr><w:vertAlign w:val=\"superscript\"/></w:rPr></w:style>\
    <w:style w:styleId=\"T\"><w:name w:val=\"Title\"/></w:style></w:styles>";
const NUMBERING: &str = "<w:numbering><w:abstractNum w:abstractNumId=\"0\">\
    <w:lvl w:ilvl=\"0\"><w:start w:val=\"1\"/><w:numFmt w:val=\"decimal\"/><w:lvlText w:val=\"%1.\"/></w:lvl>\
    <w:lvl w:ilvl=\"1\"><w:start w:val=\"1\"/><w:numFmt w:val=\"lowerLetter\"/><w:lvlText w:val=\"%1.%2)\"/></w:lvl>\
    </w:abstractNum><w:abstractNum w:abstractNumId=\"1\"><w:lvl w:ilvl=\"0\"><w:numFmt w:val=\"bullet\"/></w:lvl>\
    </w:abstractNum><w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num>\
    <w:num w:numId=\"2\"><w:abstractNumId w:val=\"1\"/></w:num><w:num w:numId=\"3\"><w:abstractNumId w:val=\"0\"/>\
    <w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"7\"/></w:lvlOverride></w:num></w:numbering>";

fn document(body: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let kinds = [
        ("styles", "styles.xml"),
        ("numbering", "numbering.xml"),
        ("footnotes", "footnotes.xml"),
        ("endnotes", "endnotes.xml"),
        ("comments", "comments.xml"),
        ("header", "header1.xml"),
        ("chart", "chart1.xml"),
    ];
    let all: Vec<(&str, &str, &str)> = kinds.iter().map(|(kind, part)| (*kind, *kind, *part)).collect();
    let (types, relations) = (types("wordprocessingml.document"), relations(&all));
    let body = format!("<w:document><w:body>{body}</w:body></w:document>");
    let mut parts = vec![
        ("[Content_Types].xml", types.as_str()),
        ("word/document.xml", &body),
        ("word/_rels/document.xml.rels", &relations),
        ("word/styles.xml", STYLES),
        ("word/numbering.xml", NUMBERING),
    ];
    parts.extend_from_slice(more);
    zip(&parts)
}

fn read(body: &str, more: &[(&str, &str)]) -> Extracted {
    extract("a.docx", &document(body, more)).unwrap()
}

/// A paragraph with properties and a text.
fn p(properties: &str, text: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>")
}

fn item(list: u8, level: u8, text: &str) -> String {
    p(&format!("<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{list}\"/></w:numPr>"), text)
}

fn described(extracted: &Extracted) -> (Unit, Vec<&str>, Vec<String>, Vec<&str>) {
    let gaps = extracted.gaps.iter().map(ToString::to_string).collect();
    let notes = extracted.notes.iter().map(String::as_str).collect();
    (extracted.unit, extracted.text.split('\x0c').collect(), gaps, notes)
}

#[test]
fn headings_lists_and_tables_are_blocks() {
    let cell = |properties: &str, text: &str| {
        format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}{}</w:tc>", p("", text), p("", ""))
    };
    let row = |cells: &[String]| format!("<w:tr>{}</w:tr>", cells.concat());
    let table = format!(
        "<w:tbl>{}{}{}</w:tbl>",
        row(&[cell("", "Name"), cell("", "Price")]),
        row(&[cell("<w:gridSpan w:val=\"2\"/>", "both")]),
        row(&[cell("", "a"), cell("", "1 | 2")]),
    );
    let frame = format!("<w:tbl>{}</w:tbl>", row(&[cell("", "Framed")]));
    let body = [
        p("<w:pStyle w:val=\"T\"/>", "The title"),
        p("<w:pStyle w:val=\"Mine\"/>", "One"),
        p("", "First"),
        p("", "  "),
        item(1, 0, "one"),
        item(1, 1, "deeper"),
        item(1, 1, "and so"),
        item(1, 0, "two"),
        item(2, 0, "point"),
        item(3, 0, "from seven"),
        table,
        frame,
        p("<w:pStyle w:val=\"H2\"/><w:outlineLvl w:val=\"3\"/>", "Own level"),
    ];
    let text = "# The title\n\n# One\n\nFirst\n\n1. one\n  1.a) deeper\n  1.b) and so\n2. two\n- point\n7. from seven\n\n\
        | Name | Price |\n| --- | --- |\n| both |  |\n| a | 1 ｜ 2 |\n\nFramed\n\n#### Own level\n";
    assert_eq!(described(&read(&body.concat(), &[])), (Unit::Line, vec![text], vec![], vec![]));
}

#[test]
fn pages_are_those_that_word_recorded() {
    let body = "<w:p><w:r><w:t>One </w:t></w:r><w:r><w:lastRenderedPageBreak/><w:t>goes on.</w:t></w:r></w:p>\
        <w:p><w:r><w:br w:type=\"page\"/></w:r></w:p><w:p><w:r><w:lastRenderedPageBreak/><w:t>Three</w:t></w:r></w:p>\
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr>\
        <w:tr><w:tc><w:p><w:r><w:lastRenderedPageBreak/><w:t>c</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r>\
        <w:lastRenderedPageBreak/><w:t>d</w:t></w:r></w:p></w:tc></w:tr></w:tbl>\
        <w:p><w:pPr><w:sectPr/></w:pPr><w:r><w:t>Five</w:t></w:r></w:p>\
        <w:p><w:pPr><w:sectPr><w:type w:val=\"continuous\"/></w:sectPr></w:pPr><w:r><w:t>and</w:t></w:r></w:p>\
        <w:p><w:r><w:lastRenderedPageBreak/><w:t>Six</w:t></w:r></w:p><w:sectPr/>";
    let pages =
        vec!["One\n", "goes on.\n", "Three\n\n| a | b |\n| --- | --- |\n", "| c | d |\n\nFive\n\nand\n", "Six\n"];
    assert_eq!(described(&read(body, &[])), (Unit::Page, pages, vec![], vec![]));
}

#[test]
fn chapters_are_pages_where_no_breaks_are_recorded() {
    let heading = |text: &str| p("<w:pStyle w:val=\"H1\"/>", text);
    let body = [p("", "Before"), heading("A"), p("", "a"), p("<w:pStyle w:val=\"H2\"/>", "Aa"), heading("B")].concat();
    let notes = vec!["no page breaks are recorded in it: its pages are its chapters"];
    let pages = vec!["Before\n", "# A\n\na\n\n## Aa\n", "# B\n"];
    assert_eq!(described(&read(&body, &[])), (Unit::Page, pages, vec![], notes));
}

#[test]
fn notes_stand_at_the_end_of_the_page_that_refers_to_them() {
    let body = "<w:p><w:r><w:t>First</w:t></w:r><w:r><w:footnoteReference w:id=\"5\"/></w:r><w:r><w:t>, second</w:t></w:r>\
        <w:r><w:endnoteReference w:id=\"2\"/></w:r><w:r><w:t>.</w:t></w:r></w:p><w:p><w:r><w:br w:type=\"page\"/>\
        <w:t>Last</w:t></w:r><w:r><w:footnoteReference w:id=\"6\"/></w:r></w:p>";
    let footnotes = "<w:footnotes><w:footnote w:id=\"0\" w:type=\"separator\"><w:p><w:r><w:t>-</w:t></w:r></w:p></w:footnote>\
        <w:footnote w:id=\"6\"><w:p><w:r><w:t>Six</w:t></w:r></w:p></w:footnote><w:footnote w:id=\"5\"><w:p><w:r>\
        <w:footnoteRef/></w:r><w:r><w:t> Five</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let endnotes = "<w:endnotes><w:endnote w:id=\"2\"><w:p><w:r><w:t>End</w:t></w:r></w:p></w:endnote></w:endnotes>";
    let more = [("word/footnotes.xml", footnotes), ("word/endnotes.xml", endnotes)];
    let pages = vec!["First[1], second[i].\n\n[1] Five\n\n[i] End\n", "Last[2]\n\n[2] Six\n"];
    assert_eq!(described(&read(body, &more)), (Unit::Page, pages, vec![], vec![]));
}

#[test]
fn what_is_read_and_what_is_left_out() {
    let body = "<w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>\
        <w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:r><w:t>seen</w:t></w:r></w:p>\
        <w:p><w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>PAGE</w:instrText><w:t>code</w:t></w:r><w:r>\
        <w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>7</w:t></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r></w:p>\
        <w:p><w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink><w:r><w:tab/><w:t>x</w:t><w:br/><w:t>y</w:t></w:r></w:p>\
        <w:sdt><w:sdtPr><w:alias w:val=\"n\"/></w:sdtPr><w:sdtContent><w:p><w:r><w:t>control</w:t></w:r></w:p></w:sdtContent></w:sdt>\
        <w:p><w:r><w:t>around</w:t></w:r><w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx><w:txbxContent><w:p><w:r>\
        <w:t>boxed</w:t></w:r></w:p></w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent><w:p>\
        <w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>\
        <w:p><w:r><w:drawing><a:blip r:embed=\"x\"/></w:drawing></w:r><w:r><w:drawing><c:chart r:id=\"chart\"/></w:drawing></w:r></w:p>\
        <w:p><w:r><w:drawing><c:chart r:id=\"lost\"/></w:drawing></w:r></w:p>";
    let more = [
        ("word/comments.xml", "<w:comments><w:comment/><w:comment/></w:comments>"),
        ("word/header1.xml", "<w:hdr><w:p><w:r><w:t>Head</w:t></w:r></w:p></w:hdr>"),
        (
            "word/chart1.xml",
            "<c:chart><c:title><a:t>Sales</a:t></c:title><c:ser><c:tx><c:v>Q1</c:v></c:tx><c:cat><c:pt idx=\"0\">\
             <c:v>East</c:v></c:pt></c:cat><c:val><c:pt idx=\"0\"><c:v>1.5</c:v></c:pt></c:val></c:ser></c:chart>",
        ),
    ];
    let text = "new\n\nseen\n\n7\n\nlink\tx\ny\n\ncontrol\n\naround\n\nboxed\n\nChart: Sales\n\n|  | Q1 |\n| --- | --- |\n| East | 1.5 |\n";
    let notes = vec![
        "1 image was left out",
        "2 comments were left out",
        "it has tracked changes: insertions were read, deletions left out",
        "hidden text was left out",
        "headers and footers were left out",
    ];
    let gaps = vec!["a chart on it, which isn't read".to_owned()];
    assert_eq!(described(&read(body, &more)), (Unit::Line, vec![text], gaps, notes));
}

#[test]
fn formulas_in_fields_are_read() {
    let field = |code: &str, shown: &str| {
        let mark = |kind: &str| format!("<w:r><w:fldChar w:fldCharType=\"{kind}\"/></w:r>");
        let shown =
            if shown.is_empty() { String::new() } else { format!("{}<w:r><w:t>{shown}</w:t></w:r>", mark("separate")) };
        format!("{}{code}{shown}{}", mark("begin"), mark("end"))
    };
    let code = |text: &str| format!("<w:r><w:instrText xml:space=\"preserve\">{text}</w:instrText></w:r>");
    let halves = field(
        &[code(" EQ \\f("), field(&code(" =1+2 "), "3"), code(","), field(&code("EQ \\r(,2)"), ""), code(") ")]
            .concat(),
        "",
    );
    let shown = field(&code("EQ \\f(1,2)"), "½");
    let run = |text: &str| format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>");
    let body = format!("<w:p>{}{halves}{}{shown}</w:p>", run("at "), run(", or "));
    assert_eq!(described(&read(&body, &[])), (Unit::Line, vec!["at 3/(√(2)), or ½\n"], vec![], vec![]));
}

#[test]
fn a_formula_is_written_such_that_it_is_read_in_one_way() {
    let r = |text: &str| format!("<m:r><w:rPr><w:i/></w:rPr><m:t>{text}</m:t></m:r>");
    let of = |name: &str, slots: &[(&str, &str)]| {
        let slots: Vec<String> =
            slots.iter().map(|(slot, content)| format!("<m:{slot}>{content}</m:{slot}>")).collect();
        format!("<m:{name}>{}</m:{name}>", slots.concat())
    };
    let set =
        |properties: &str, object: &str| object.replacen('>', &format!("><m:xPr>{properties}<m:ctrlPr/></m:xPr>"), 1);
    let chr = |sign: &str| format!("<m:chr m:val=\"{sign}\"/>");
    let sup = |base: &str, sup: &str| of("sSup", &[("e", base), ("sup", &r(sup))]);
    let d = |content: &str| of("d", &[("e", content)]);
    let f = |num: &str, den: &str| of("f", &[("num", num), ("den", den)]);
    let choose = d(&set("<m:type m:val=\"noBar\"/>", &f(&r("n"), &r("k"))));
    let terms = format!("{choose}{}{}", sup(&r("x"), "k"), sup(&r("a"), "n-k"));
    let sum = set(&chr("∑"), &of("nary", &[("sub", &r("k=0")), ("sup", &r("n")), ("e", &terms)]));
    let root = format!("{}{}", sup(&r("b"), "2"), r("-4ac"));
    let row = |one: &str, other: &str| format!("<m:e>{}</m:e><m:e>{}</m:e>", r(one), r(other));
    let lim = of("limLow", &[("e", &r("lim")), ("lim", &r("x→0"))]);
    let cases = of("eqArr", &[("e", &r("x, &amp;x&gt;0")), ("e", &r("0"))]);
    for (formula, expected) in [
        (format!("{}{}{sum}", sup(&d(&r("x+a")), "n"), r("=")), "(x+a)^n=∑_(k=0)^n (n¦k) x^k a^(n-k)"),
        (f(&r("-b"), &r("2a")), "(-b)/(2a)"),
        (format!("{}{}{}", r("2"), f(&r("1"), &r("2")), r("x")), "2 1/2 x"),
        (set("<m:degHide m:val=\"1\"/>", &of("rad", &[("deg", ""), ("e", &root)])), "√(b^2-4ac)"),
        (of("rad", &[("deg", &r("3")), ("e", &r("x"))]), "√[3](x)"),
        (of("nary", &[("sub", &r("0")), ("sup", ""), ("e", &r("x+1"))]), "∫_0 (x+1)"),
        (set("<m:begChr m:val=\"{\"/><m:endChr m:val=\"\"/>", &d(&cases)), "{x, x>0; 0"),
        (set("<m:sepChr m:val=\",\"/>", &of("d", &[("e", &r("a")), ("e", &r("b"))])), "(a,b)"),
        (of("m", &[("mr", &row("a", "b")), ("mr", &row("c", "d"))]), "[a, b; c, d]"),
        (of("func", &[("fName", &lim), ("e", &f(&r("1"), &r("x")))]), "lim_(x→0)(1/x)"),
        (of("func", &[("fName", &r("sin")), ("e", &r("x"))]), "sin x"),
        (of("sSubSup", &[("e", &r("a")), ("sub", &r("i")), ("sup", &r("2"))]), "a_i^2"),
        (of("sPre", &[("sub", &r("1")), ("sup", &r("2")), ("e", &r("H"))]), "(_1^2)H"),
        (
            of("acc", &[("e", &r("x"))]) + &set("<m:pos m:val=\"top\"/>", &of("bar", &[("e", &r("ab"))])),
            "x\u{302}ab\u{305}",
        ),
        (of("limLow", &[("e", &of("groupChr", &[("e", &r("a+b"))])), ("lim", &r("n"))]), "(⏟(a+b))_n"),
        (of("box", &[("e", &r("boxed"))]) + &of("del", &[("r", &r("gone"))]), "boxed"),
    ] {
        let body =
            format!("<w:p><w:r><w:t>So </w:t></w:r><m:oMathPara><m:oMath>{formula}</m:oMath></m:oMathPara></w:p>");
        assert_eq!(read(&body, &[]).text, format!("So {expected}\n"));
    }
    let deep = format!("{}{}{}", "<m:d><m:e>".repeat(4_000), r("x"), "</m:e></m:d>".repeat(4_000));
    assert_eq!(read(&format!("<w:p><m:oMath>{deep}</m:oMath></w:p>"), &[]).text.matches('x').count(), 1);
}

fn run(properties: &str, text: &str) -> String {
    format!("<w:r><w:rPr>{properties}</w:rPr><w:t xml:space=\"preserve\">{text}</w:t></w:r>")
}

#[test]
fn a_run_says_what_is_seen_of_it() {
    let (sup, sub) = ("<w:vertAlign w:val=\"superscript\"/>", "<w:vertAlign w:val=\"subscript\"/>");
    let moved = |by: &str| format!("<w:position w:val=\"{by}\"/>");
    let sym = |font: &str, char: &str| format!("<w:r><w:sym w:font=\"{font}\" w:char=\"{char}\"/></w:r>");
    let font = |font: &str| format!("<w:rFonts w:ascii=\"{font}\" w:hAnsi=\"{font}\"/>");
    for (runs, expected) in [
        (
            run("", "10") + &run(sup, "6") + &run("", " litres of H") + &run(sub, "2") + &run("", "O"),
            "10⁶ litres of H₂O",
        ),
        (run("", "250") + &run("<w:rStyle w:val=\"Sup\"/>", "4"), "250⁴"),
        (
            run("", "10")
                + &run(&moved("6"), "5")
                + &run("", " and x")
                + &run(&moved("-4"), "1")
                + &run(&moved("0"), "2"),
            "10⁵ and x₁2",
        ),
        (run("", "10") + &run(&(moved("-4") + sup), "3"), "10³"),
        (
            run("", "EUR ") + &run("<w:strike/>", "100") + &run("<w:dstrike/>", " a") + &run("", " 200"),
            "EUR ~~100 a~~ 200",
        ),
        (run("<w:strike w:val=\"0\"/>", "kept"), "kept"),
        (
            sym("Wingdings", "F0FE") + &sym("Wingdings", "F0A8") + &sym("Symbol", "F0B3") + &sym("Symbol", "00A3"),
            "☑☐≥≤",
        ),
        (run(&font("Wingdings"), "þ ¨") + &run(&font("Symbol"), "m") + &run(&font("Arial"), "m"), "☑ ☐μm"),
        (sym("Odd Font", "F041"), "[sign F041 of Odd Font]"),
    ] {
        assert_eq!(read(&format!("<w:p>{runs}</w:p>"), &[]).text.trim_end(), expected);
    }
}

#[test]
fn a_document_of_word_2003_in_one_file_is_read() {
    let xml = "<?xml version=\"1.0\"?><?mso-application progid=\"Word.Document\"?><w:wordDocument \
        xmlns:w=\"http://schemas.microsoft.com/office/word/2003/wordml\" xmlns:wx=\"http://schemas.microsoft.com/office/word/2003/auxHint\">\
        <o:DocumentProperties><o:Title>no</o:Title></o:DocumentProperties><w:styles><w:style w:type=\"paragraph\" w:styleId=\"H\">\
        <w:name w:val=\"heading 1\"/></w:style></w:styles><w:body><wx:sect><w:p><w:pPr><w:pStyle w:val=\"H\"/></w:pPr><w:r><w:t>Duties\
        </w:t></w:r></w:p><w:p><w:pPr><w:listPr><w:ilvl w:val=\"0\"/><w:ilfo w:val=\"1\"/><wx:t wx:val=\"b)\"/></w:listPr></w:pPr><w:r><w:t>\
        Weigh it</w:t></w:r><w:r><w:footnote><w:p><w:r><w:t>In May.</w:t></w:r></w:p></w:footnote></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r>\
        <w:t>Lamp</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>12</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:sectPr><w:hdr><w:p><w:r><w:t>\
        Top</w:t></w:r></w:p></w:hdr></w:sectPr></wx:sect></w:body></w:wordDocument>";
    for name in ["a.doc", "a.xml"] {
        let read = extract(name, xml.as_bytes()).unwrap();
        assert_eq!(read.text, "# Duties\n\nb) Weigh it\n\nIn May.\n\n| Lamp | 12 |\n| --- | --- |\n");
        assert_eq!((read.notes, read.gaps), (vec!["headers and footers were left out".to_owned()], vec![]));
    }
}

#[test]
fn boxes_of_forms_show_what_was_chosen() {
    let field = |data: &str, shown: &str| {
        format!(
            "<w:r><w:fldChar w:fldCharType=\"begin\"><w:ffData>{data}</w:ffData></w:fldChar></w:r><w:r><w:instrText>FORM\
             </w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>{shown}<w:r><w:fldChar \
             w:fldCharType=\"end\"/></w:r>"
        )
    };
    let ticked = field("<w:checkBox><w:default w:val=\"0\"/><w:checked/></w:checkBox>", "");
    let empty = field("<w:checkBox><w:default w:val=\"1\"/><w:checked w:val=\"0\"/></w:checkBox>", "");
    let entries = "<w:listEntry w:val=\"North\"/><w:listEntry w:val=\"South\"/>";
    let list = field(&format!("<w:ddList><w:result w:val=\"1\"/>{entries}</w:ddList>"), "");
    let shown = field(&format!("<w:ddList>{entries}</w:ddList>"), &run("", "South"));
    let body = format!("<w:p>{ticked}{}{empty}{}{list} {shown}</w:p>", run("", " yes "), run("", " no, "));
    assert_eq!(read(&body, &[]).text, "☒ yes ☐ no, SouthSouth\n");
}

#[test]
fn links_pictures_and_diagrams_are_told_in_their_place() {
    let rels = "<Relationships><Relationship Id=\"r1\" Type=\"http://x/hyperlink\" Target=\"https://example.org/rules\" \
        TargetMode=\"External\"/><Relationship Id=\"d1\" Type=\"http://x/diagramData\" Target=\"diagrams/data1.xml\"/></Relationships>";
    let diagram = "<dgm:dataModel><dgm:pt><dgm:t><a:bodyPr/><a:p><a:r><a:t>Close the gate</a:t></a:r></a:p></dgm:t></dgm:pt>\
        <dgm:pt><dgm:t><a:p><a:r><a:t>Wait</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>";
    let field = "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText> HYPERLINK \"mailto:a@example.org\" </w:instrText></w:r>\
        <w:r><w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>the office</w:t></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r>";
    let link = format!("<w:hyperlink r:id=\"r1\">{}{}</w:hyperlink>", run("", "the "), run("", "rules"));
    let picture =
        "<w:r><w:drawing><wp:docPr id=\"1\" descr=\"The level falls\"/><a:blip r:embed=\"x\"/></w:drawing></w:r>";
    let smart = "<w:r><w:drawing><dgm:relIds r:dm=\"d1\"/></w:drawing></w:r>";
    let body =
        format!("<w:p>{}{link}{}{field}{}{picture}{smart}</w:p>", run("", "See "), run("", " and "), run("", ". "));
    let (types, body) =
        (types("wordprocessingml.document"), format!("<w:document><w:body>{body}</w:body></w:document>"));
    let bytes = zip(&[
        ("[Content_Types].xml", types.as_str()),
        ("word/document.xml", &body),
        ("word/_rels/document.xml.rels", rels),
        ("word/diagrams/data1.xml", diagram),
    ]);
    let read = extract("a.docx", &bytes).unwrap();
    let text = "See the rules (https://example.org/rules) and the office (mailto:a@example.org). [picture: The level falls]\n\n\
        - Close the gate\n- Wait\n";
    assert_eq!(described(&read), (Unit::Line, vec![text], vec![], vec!["1 image was left out"]));
    assert!(crate::QuoteIndex::new(read.unit, read.text).find("See the rules and the office.", None).is_some());
}

#[test]
fn a_drop_cap_begins_its_paragraph() {
    for kind in ["drop", "margin"] {
        let cap = p(&format!("<w:framePr w:dropCap=\"{kind}\" w:lines=\"2\"/>"), "A");
        assert_eq!(read(&(cap + &p("", "t dawn the ferry leaves.")), &[]).text, "At dawn the ferry leaves.\n");
    }
    assert_eq!(read(&p("<w:framePr w:dropCap=\"drop\"/>", "A"), &[]).text, "A\n");
}

#[test]
fn a_page_with_nothing_but_an_image_is_a_gap() {
    let body = "<w:p><w:r><w:drawing><a:blip/></w:drawing><w:br w:type=\"page\"/><w:t>text</w:t></w:r></w:p>";
    let gaps = vec!["page 1: nothing but an image on it".to_owned()];
    assert_eq!(described(&read(body, &[])), (Unit::Page, vec!["", "text\n"], gaps, vec!["1 image was left out"]));
}

#[test]
fn the_text_of_a_field_without_end_is_a_gap() {
    let run = |content: &str| format!("<w:r>{content}</w:r>");
    let begin = run(r#"<w:fldChar w:fldCharType="begin"/>"#) + &run("<w:instrText>REF a</w:instrText>");
    let body = format!("<w:p>{begin}{}</w:p>{}", run("<w:t>Lost.</w:t>"), p("", "The pump must stop."));
    let read = read(&body, &[]);
    assert_eq!(read.text.trim(), "The pump must stop.");
    let gaps: Vec<&str> = read.gaps.iter().map(|gap| gap.why.as_str()).collect();
    assert_eq!(gaps, ["a field on it has no end, and its text isn't read"]);
}

#[test]
fn what_stands_before_damage_is_kept() {
    let parts = |document: &str| {
        zip(&[("[Content_Types].xml", &types("wordprocessingml.document")), ("word/document.xml", document)])
    };
    let cut = parts("<w:document><w:body><w:p><w:r><w:t>Whole</w:t></w:r></w:p><w:p><w:r><w:t>Ha");
    let gap = "cut off, because its part word/document.xml can't be read: it is cut off".to_owned();
    assert_eq!(described(&extract("a.docx", &cut).unwrap()).2, [gap]);
    let nothing = parts("<!DOCTYPE x><w:document/>");
    assert_eq!(
        extract("a.docx", &nothing).unwrap_err().to_string(),
        "a.docx can't be read as Word, because its part word/document.xml can't be read: it declares a document type, \
         which office programs never do: open it in its own program and save it again, or leave it out"
    );
    // Cut at any byte, it gives a text or an error sentence.
    let whole = document(&p("", "Some text").repeat(50), &[]);
    for end in (0..whole.len()).step_by(7) {
        let _ = extract("a.docx", &whole[..end]);
    }
}

#[test]
fn nesting_and_empty_paragraphs_without_end_are_borne() {
    let nested = "<w:tbl><w:tr><w:tc>".repeat(2_000) + &p("", "deep") + &"</w:tc></w:tr></w:tbl>".repeat(2_000);
    assert_eq!(read(&nested, &[]).text, "deep\n");
    assert_eq!(read(&"<w:p/>".repeat(300_000), &[]).notes, ["no text in it"]);
}
