//! Workbooks made by hand, and the text of each.

use std::fmt::Write as _;
use std::io::Cursor;

use crate::extract::{detect, extract};
use crate::extracted::Extracted;
use crate::format::Format;
use crate::readers::package::sample::{relations, types, zip};

const STYLES: &str = "<styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"#,##0.00\\ &quot;€&quot;\"/></numFmts>\
    <cellStyleXfs><xf numFmtId=\"9\"/></cellStyleXfs><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"10\"/><xf numFmtId=\"14\"/>\
    <xf numFmtId=\"164\"/></cellXfs></styleSheet>";
const STRINGS: &str = "<sst><si><t>Name</t></si><si><r><t>ri</t></r><r><t>ch</t></r><rPh><t>no</t></rPh></si></sst>";

fn workbook(sheets: &[&str]) -> Vec<u8> {
    let names = ["Prices", "Secret", "Third"];
    let (mut list, mut all) =
        (String::new(), vec![("s", "styles", "styles.xml"), ("t", "sharedStrings", "sharedStrings.xml")]);
    let ids = ["r0", "r1", "r2"];
    let targets = ["worksheets/0.xml", "worksheets/1.xml", "worksheets/2.xml"];
    let parts = ["xl/worksheets/0.xml", "xl/worksheets/1.xml", "xl/worksheets/2.xml"];
    for at in 0..sheets.len() {
        let state = if at == 1 { "hidden" } else { "visible" };
        let (name, id) = (names[at], ids[at]);
        write!(list, "<sheet name=\"{name}\" state=\"{state}\" sheetId=\"{at}\" r:id=\"{id}\"/>").unwrap();
        all.push((ids[at], "worksheet", targets[at]));
    }
    let (types, main, relations) =
        (types("spreadsheetml.sheet"), format!("<workbook><sheets>{list}</sheets></workbook>"), relations(&all));
    let mut content = vec![
        ("[Content_Types].xml", types.as_str()),
        ("xl/workbook.xml", &main),
        ("xl/_rels/workbook.xml.rels", &relations),
        ("xl/styles.xml", STYLES),
        ("xl/sharedStrings.xml", STRINGS),
    ];
    content.extend(parts.iter().copied().zip(sheets.iter().copied()));
    zip(&content)
}

fn described(extracted: &Extracted) -> (Vec<&str>, Vec<String>, Vec<&str>) {
    let gaps = extracted.gaps.iter().map(ToString::to_string).collect();
    (extracted.text.split('\x0c').collect(), gaps, extracted.notes.iter().map(String::as_str).collect())
}

#[test]
fn a_sheet_is_a_page_and_cells_are_as_a_person_sees_them() {
    let first = "<worksheet><dimension ref=\"A1:XFD1048576\"/><sheetData>\
        <row r=\"2\"><c r=\"B2\" t=\"inlineStr\"><is><t>A title</t></is></c></row>\
        <row r=\"4\"><c r=\"B4\" t=\"s\"><v>0</v></c><c r=\"C4\" t=\"s\"><v>1</v></c><c t=\"str\"><f>A1</f><v>text</v></c></row>\
        <row r=\"5\"><c r=\"B5\" s=\"1\"><v>0.125</v></c><c r=\"C5\" s=\"2\"><v>45352</v></c><c r=\"D5\" s=\"3\"><v>1234.5</v></c></row>\
        <row r=\"6\"><c r=\"B6\" t=\"b\"><v>1</v></c><c r=\"D6\" t=\"e\"><v>#DIV/0!</v></c></row>\
        <row r=\"7\"><c r=\"B7\" t=\"s\"><v>99</v></c><c r=\"C7\"><f>SUM(A1)</f><v/></c></row></sheetData></worksheet>";
    let second = "<worksheet><sheetData><row><c><v>1</v></c></row><row><c t=\"d\"><v>2024-01-02T03:04</v></c></row></sheetData></worksheet>";
    let third = "<worksheet><sheetData><row r=\"1\"><c r=\"A1\"><v>7</v></c></row><row";
    let extracted = extract("a.xlsx", &workbook(&[first, second, third])).unwrap();
    assert_eq!(
        described(&extracted),
        (
            vec![
                "# Prices\n\nA title\n\n| Name | rich | text |\n| --- | --- | --- |\n| 12.50% | 2024-03-01 | 1,234.50 € |\n\
                 | TRUE |  | #DIV/0! |\n|  | =SUM(A1) |  |\n",
                "# Secret (hidden sheet)\n\n| 1 |\n| --- |\n| 2024-01-02 03:04 |\n",
                "# Third\n\n| 7 |\n| --- |\n",
            ],
            vec![
                "page 1: texts that the file hasn't got".to_owned(),
                "page 1: formulas whose results aren't kept in the file; they stand as formulas".to_owned(),
                "page 3: cut off, because its part xl/worksheets/2.xml can't be read: a tag in it has no end"
                    .to_owned(),
            ],
            vec!["1 of its sheets is hidden, and was read"],
        )
    );
}

#[test]
fn cells_show_raised_and_struck_text_and_where_links_lead() {
    let run = |properties: &str, text: &str| format!("<r><rPr>{properties}</rPr><t>{text}</t></r>");
    let rich = |runs: &str| format!("<c t=\"inlineStr\"><is>{runs}</is></c>");
    let cells = rich(&(run("", "10") + &run("<vertAlign val=\"superscript\"/>", "5")))
        + &rich(&(run("<strike/>", "old") + &run("<rFont val=\"Wingdings\"/>", "\u{f0fc}")))
        + "<c r=\"C1\" t=\"str\"><v>terms</v></c><c t=\"str\"><f>HYPERLINK(\"https://example.org/f\",\"form\")</f><v>form</v></c>";
    let sheet = format!(
        "<worksheet><sheetData><row r=\"1\">{cells}</row></sheetData><hyperlinks><hyperlink ref=\"C1\" r:id=\"h\"/></hyperlinks></worksheet>"
    );
    let rels = "<Relationships><Relationship Id=\"h\" Type=\"x/hyperlink\" Target=\"https://example.org/t\" TargetMode=\"External\"/></Relationships>";
    let (types, book) = (types("spreadsheetml.sheet"), relations(&[("r0", "worksheet", "worksheets/0.xml")]));
    let parts = [
        ("[Content_Types].xml", types.as_str()),
        ("xl/workbook.xml", "<workbook><sheets><sheet name=\"S\" r:id=\"r0\"/></sheets></workbook>"),
        ("xl/_rels/workbook.xml.rels", book.as_str()),
        ("xl/worksheets/0.xml", &sheet),
        ("xl/worksheets/_rels/0.xml.rels", rels),
    ];
    let extracted = extract("a.xlsx", &zip(&parts)).unwrap();
    let row = "| 10⁵ | ~~old~~✓ | terms (https://example.org/t) | form (https://example.org/f) |";
    assert_eq!(described(&extracted).0, [format!("# S\n\n{row}\n| --- | --- | --- | --- |\n")]);
}

#[test]
fn runs_with_fonts_of_their_own_are_not_set_in_the_cells() {
    let rich = "<r><rPr><strike/></rPr><t>100</t></r><r><rPr><b/></rPr><t xml:space=\"preserve\"> 200</t></r>";
    let cell = |inner: &str| format!("<c s=\"1\" t=\"inlineStr\"><is>{inner}</is></c>");
    let cells = cell(rich) + &cell("<t>old</t>") + "<c s=\"1\" t=\"s\"><v>0</v></c>";
    let sheet = format!("<worksheet><sheetData><row r=\"1\">{cells}</row></sheetData></worksheet>");
    let book = relations(&[
        ("r0", "worksheet", "worksheets/0.xml"),
        ("s", "styles", "styles.xml"),
        ("t", "sharedStrings", "sharedStrings.xml"),
    ]);
    let styles = "<styleSheet><fonts><font/><font><strike/></font></fonts><cellXfs><xf fontId=\"0\"/><xf fontId=\"1\"/></cellXfs></styleSheet>";
    let (types, strings) = (types("spreadsheetml.sheet"), format!("<sst><si>{rich}</si></sst>"));
    let parts = [
        ("[Content_Types].xml", types.as_str()),
        ("xl/workbook.xml", "<workbook><sheets><sheet name=\"S\" r:id=\"r0\"/></sheets></workbook>"),
        ("xl/_rels/workbook.xml.rels", book.as_str()),
        ("xl/worksheets/0.xml", &sheet),
        ("xl/styles.xml", styles),
        ("xl/sharedStrings.xml", &strings),
    ];
    let extracted = extract("a.xlsx", &zip(&parts)).unwrap();
    let row = "| ~~100~~ 200 | ~~old~~ | ~~100~~ 200 |";
    assert_eq!(described(&extracted).0, [format!("# S\n\n{row}\n| --- | --- | --- |\n")]);
}

#[test]
fn sheets_that_are_too_many_are_told() {
    let sheet = |at| format!("<sheet name=\"S{at}\" sheetId=\"{at}\" r:id=\"r0\"/>");
    let list: String = (1..=10_002).map(sheet).collect();
    let (types, main) = (types("spreadsheetml.sheet"), format!("<workbook><sheets>{list}</sheets></workbook>"));
    let relations = relations(&[("r0", "worksheet", "worksheets/0.xml")]);
    let cell = "<worksheet><sheetData><row><c><v>1</v></c></row></sheetData></worksheet>";
    let parts = [
        ("[Content_Types].xml", types.as_str()),
        ("xl/workbook.xml", &main),
        ("xl/_rels/workbook.xml.rels", &relations),
        ("xl/worksheets/0.xml", cell),
    ];
    let extracted = extract("a.xlsx", &zip(&parts)).unwrap();
    let (pages, gaps, _) = described(&extracted);
    assert_eq!((pages.len(), gaps), (10_000, vec!["page 10000: 2 sheets behind it, which are not read".to_owned()]));
}

#[test]
fn a_part_of_no_bytes_is_a_gap() {
    let extracted = extract("a.xlsx", &workbook(&[""])).unwrap();
    assert_eq!(
        described(&extracted).1,
        ["page 1: cut off, because its part xl/worksheets/0.xml can't be read: it is empty"]
    );
}

#[test]
fn a_large_sheet_is_paged_and_its_first_row_repeated() {
    let mut rows = String::from("<row r=\"1\"><c t=\"str\"><v>a</v></c><c t=\"str\"><v>b</v></c></row>");
    for row in 2..=202 {
        write!(rows, "<row r=\"{row}\"><c><v>{row}</v></c><c><v>0</v></c></row>").unwrap();
    }
    let extracted = extract("a.xlsx", &workbook(&[&format!("<worksheet>{rows}</worksheet>")])).unwrap();
    let heads: Vec<&str> = extracted.text.split('\x0c').map(|page| page.split("| 0 |").next().unwrap()).collect();
    assert_eq!(
        heads,
        [
            "# Prices\n\nSheet Prices, rows 1-101\n\n| a | b |\n| --- | --- |\n| 2 ",
            "Sheet Prices, rows 102-201\n\n| a | b |\n| --- | --- |\n| 102 ",
            "Sheet Prices, rows 202-202\n\n| a | b |\n| --- | --- |\n| 202 ",
        ]
    );
}

#[test]
fn the_text_of_a_box_stands_behind_the_cells() {
    let (types, relations_of_book) =
        (types("spreadsheetml.sheet"), relations(&[("r0", "worksheet", "worksheets/0.xml")]));
    let relations_of_sheet = relations(&[("d", "drawing", "../drawings/d.xml")]);
    let paragraph = |text: &str| format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>");
    let shape = |text: &str| format!("<xdr:sp><xdr:txBody>{text}</xdr:txBody></xdr:sp>");
    let drawing = shape(&(paragraph("Approved by") + &paragraph("the board"))) + &shape(&paragraph(""));
    let parts = [
        ("[Content_Types].xml", types.as_str()),
        ("xl/workbook.xml", "<workbook><sheets><sheet name=\"S\" r:id=\"r0\"/></sheets></workbook>"),
        ("xl/_rels/workbook.xml.rels", &relations_of_book),
        (
            "xl/worksheets/0.xml",
            "<worksheet><sheetData><row><c><v>1</v></c><c><v>2</v></c></row></sheetData></worksheet>",
        ),
        ("xl/worksheets/_rels/0.xml.rels", &relations_of_sheet),
        ("xl/drawings/d.xml", &format!("<xdr:wsDr>{drawing}</xdr:wsDr>")),
    ];
    let extracted = extract("a.xlsx", &zip(&parts)).unwrap();
    assert_eq!(described(&extracted).0, ["# S\n\n| 1 | 2 |\n| --- | --- |\n\nText box: Approved by the board\n"]);
}

#[test]
fn cells_far_apart_cost_no_more_than_others() {
    let mut rows = String::new();
    for row in 1..=2_000 {
        let column = char::from(b'A' + u8::try_from(row % 26).unwrap());
        let place = row * 500;
        write!(rows, "<row r=\"{place}\"><c r=\"A{place}\"><v>1</v></c><c r=\"{column}ZZ1\"><v>2</v></c></row>")
            .unwrap();
    }
    let extracted = extract("a.xlsx", &workbook(&[&format!("<worksheet>{rows}</worksheet>")])).unwrap();
    assert!(extracted.text.len() < 300_000, "{}", extracted.text.len());
}

fn open(content: &str) -> Vec<u8> {
    let content = format!("<office:document-content>{content}</office:document-content>");
    zip(&[("mimetype", "application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", &content)])
}

#[test]
fn ods_cells_are_shown_and_repeated_emptiness_is_passed_over() {
    let content = "<style:style style:name=\"h\"><style:table-properties table:display=\"false\"/></style:style>\
        <office:spreadsheet><table:table table:name=\"One\"><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>\
        <table:table-cell table:number-columns-repeated=\"2\"><text:p>b<text:s text:c=\"2\"/>c</text:p></table:table-cell>\
        <table:table-cell table:number-columns-repeated=\"4000000000\"/></table:table-row>\
        <table:table-row table:number-rows-repeated=\"18446744073709551615\"><table:table-cell/></table:table-row>\
        <table:table-row><table:table-cell office:value-type=\"date\" office:date-value=\"2024-02-03\"><text:p>03/02/24</text:p>\
        <office:annotation><text:p>comment</text:p></office:annotation></table:table-cell>\
        <table:table-cell office:value-type=\"percentage\" office:value=\"0.5\"><text:p>50%</text:p></table:table-cell>\
        <table:table-cell office:value-type=\"time\" office:time-value=\"PT14H30M00S\"/></table:table-row></table:table>\
        <table:table table:name=\"Two\" table:style-name=\"h\"/></office:spreadsheet>";
    let extracted = extract("a.ods", &open(content)).unwrap();
    assert_eq!(
        described(&extracted),
        (
            vec![
                "# One\n\n| a | b c | b c |\n| --- | --- | --- |\n| 2024-02-03 | 50% | 14:30 |\n",
                "# Two (hidden sheet)\n",
            ],
            vec![],
            vec!["1 of its sheets is hidden, and was read"],
        )
    );
}

#[test]
fn a_bomb_of_repeated_rows_is_bounded() {
    let content = "<table:table table:name=\"One\"><table:table-row table:number-rows-repeated=\"1000000\"><table:table-cell \
        table:number-columns-repeated=\"3\"><text:p>boom</text:p></table:table-cell></table:table-row></table:table>";
    let extracted = extract("a.ods", &open(content)).unwrap();
    assert_eq!(extracted.text.matches("boom").count(), 3 * 100);
    assert_eq!(described(&extracted).1, ["page 1: the same row hundreds of times, of which the first 100 were read"]);
}

#[test]
fn old_office_files_are_told_apart_by_their_streams() {
    let with = |name: &str| {
        let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        file.create_stream(name).unwrap();
        file.flush().unwrap();
        file.into_inner().into_inner()
    };
    assert_eq!(detect("a.doc", &with("/Workbook")), Ok(Format::Workbook));
    for (name, expected) in [
        ("/EncryptedPackage", "a.docx is an Office document with a password: remove the password, or leave it out"),
        (
            "/WordDocument",
            "a.docx can't be read as an old Word document (DOC), because it is not as such files are (the File Information \
             Block is truncated): open it in its own program and save it again, or leave it out",
        ),
        (
            "/Workbook",
            "a.docx can't be read as a workbook, because its records are damaged: open it in its own program and \
             save it again, or leave it out",
        ),
    ] {
        assert_eq!(extract("a.docx", &with(name)).unwrap_err().to_string(), expected);
    }
}

/// An XLS of Excel 97 with one sheet: its records state a code page, but its texts are stored in Unicode.
#[test]
fn an_old_workbook_is_read_whatever_code_page_it_names() {
    let record = |kind: u16, data: &[u8]| {
        let length = u16::try_from(data.len()).unwrap();
        [&kind.to_le_bytes(), &length.to_le_bytes(), data].concat()
    };
    let begin = |kind: u8| record(0x0809, &[0, 6, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let label = record(0x0204, b"\0\0\0\0\0\0\x06\0\0Geb\xfchr");
    let wide: Vec<u8> = "Ж5".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide = record(0x0204, &[&b"\0\0\x01\0\0\0\x02\0\x01"[..], &wide].concat());
    let number = record(0x0203, &[&b"\0\0\x02\0\0\0"[..], &4_400_123_412_341_234_f64.to_le_bytes()].concat());
    for code_page in [437_u16, 1200, 1250, 1251, 932, 10_000] {
        let globals = |at: u32| {
            let sheet = record(0x0085, &[&at.to_le_bytes()[..], b"\0\0\x01\0S"].concat());
            [begin(5), record(0x0042, &code_page.to_le_bytes()), sheet, record(0x000a, b"")].concat()
        };
        let at = u32::try_from(globals(0).len()).unwrap();
        let mut stream =
            [globals(at), begin(0x10), label.clone(), wide.clone(), number.clone(), record(0x000a, b"")].concat();
        // Short streams are kept elsewhere in such a file.
        stream.resize(4_096, 0);
        let version = cfb::Version::V3;
        let mut file = cfb::CompoundFile::create_with_version(version, Cursor::new(Vec::new())).unwrap();
        std::io::Write::write_all(&mut file.create_stream("/Workbook").unwrap(), &stream).unwrap();
        file.flush().unwrap();
        let text = extract("a.xls", &file.into_inner().into_inner()).unwrap().text;
        assert_eq!(text, "# S\n\n| Gebühr | Ж5 | 4400123412341234 |\n| --- | --- | --- |\n", "{code_page}");
    }
}
