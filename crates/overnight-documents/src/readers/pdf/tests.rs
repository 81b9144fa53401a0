//! Small PDFs, made here.

use super::PdfReader;
use crate::extract::extract;
use crate::extracted::CollectedPages;
use crate::format::Format;
use crate::gaps::Gap;
use crate::readers::{ReadFailure, Reader, Source};
use crate::refusal::Refusal;
use crate::units::Unit;

/// A PDF of `objects`, the first of which is its catalog.
pub(super) fn file(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut out = b"%PDF-1.7\n".to_vec();
    let mut offsets = Vec::new();
    for (number, object) in (1..).zip(objects) {
        offsets.push(out.len());
        out.extend(format!("{number} 0 obj\n").bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let table = out.len();
    let size = objects.len() + 1;
    out.extend(format!("xref\n0 {size}\n0000000000 65535 f \n").bytes());
    for offset in offsets {
        out.extend(format!("{offset:010} 00000 n \n").bytes());
    }
    out.extend(format!("trailer\n<</Size {size}/Root 1 0 R{trailer}>>\nstartxref\n{table}\n%%EOF\n").bytes());
    out
}

pub(super) fn stream(dictionary: &str, content: &str) -> Vec<u8> {
    format!("<</Length {}{dictionary}>>stream\n{content}\nendstream", content.len()).into_bytes()
}

/// A document whose pages have these contents, one font `F` and one image `I`.
pub(super) fn pages(contents: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..contents.len()).map(|page| format!("{} 0 R", 5 + 2 * page)).collect();
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        format!("<</Type/Pages/Kids[{}]/Count {}>>", kids.join(" "), contents.len()).into_bytes(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Courier>>".to_vec(),
        stream("/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray", "x"),
    ];
    for (page, content) in contents.iter().enumerate() {
        let resources = "/Resources<</Font<</F 3 0 R>>/XObject<</I 4 0 R>>>>";
        let content_id = 6 + 2 * page;
        let body = format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]{resources}/Contents {content_id} 0 R>>");
        objects.push(body.into_bytes());
        objects.push(stream("", content));
    }
    file(&objects, "")
}

pub(super) fn read(bytes: &[u8]) -> Result<(String, Vec<String>), Refusal> {
    let mut collected = CollectedPages::default();
    match PdfReader.read(Source { name: "a.pdf", bytes }, &mut collected) {
        Ok(unit) => {
            assert_eq!(unit, Unit::Page);
            let extracted = collected.finish(Format::Pdf, String::new(), unit, None);
            Ok((extracted.text, extracted.gaps.iter().map(Gap::to_string).collect()))
        }
        Err(ReadFailure::Refused(refusal)) => Err(refusal),
        Err(ReadFailure::Stopped(stopped)) => panic!("{stopped}"),
    }
}

/// Text of one page without gaps.
pub(super) fn text(content: &str) -> String {
    let (text, gaps) = read(&pages(&[content])).unwrap();
    assert_eq!(gaps, Vec::<String>::new());
    text
}

#[test]
fn lines_come_in_the_order_in_which_they_are_read() {
    let content = "BT /F 10 Tf 50 676 Td (second) Tj ET BT /F 10 Tf 50 688 Td (first) Tj 100 0 Td (line) Tj ET";
    assert_eq!(text(content), "first  line\nsecond\n");
}

#[test]
fn columns_are_read_one_after_the_other() {
    let column = |x: u32, words: [&str; 2]| {
        format!("BT /F 10 Tf 12 TL {x} 700 Td (of {} one) Tj T* (and {} two) Tj ET ", words[0], words[1])
    };
    let content = format!(
        "BT /F 20 Tf 50 740 Td (A heading over both columns) Tj ET {}{}",
        column(50, ["left", "left"]),
        column(330, ["right", "right"])
    );
    let expected = "A heading over both columns\n\nof left one\nand left two\n\nof right one\nand right two\n";
    assert_eq!(text(&content), expected);
}

/// Lines of cells, each cell at its column's place.
fn cells(columns: &[u32], rows: &[(u32, &[&str])]) -> String {
    let cell = |y: u32, (x, text): (&u32, &&str)| format!("BT /F 10 Tf {x} {y} Td ({text}) Tj ET ");
    // Column after column, as many programs write them.
    let column = |at: usize| -> String {
        rows.iter()
            .filter_map(|(y, row)| Some(cell(*y, (&columns[at], row.get(at).filter(|text| !text.is_empty())?))))
            .collect()
    };
    (0..columns.len()).map(column).collect()
}

#[test]
fn tables_are_read_row_by_row() {
    let rows: [(u32, &[&str]); 4] = [
        (700, &["Place", "Keeper", "Door"]),
        (688, &["Tower", "Ada", "open"]),
        (676, &["Gate", "", "shut"]),
        (664, &["Hall", "Grace", "shut"]),
    ];
    assert_eq!(
        text(&cells(&[50, 150, 250], &rows)),
        "Place  Keeper  Door\nTower  Ada  open\nGate  shut\nHall  Grace  shut\n"
    );
}

#[test]
fn texts_broken_in_their_cells_are_whole() {
    let rows: [(u32, &[&str]); 6] = [
        (700, &["Place", "What is done there"]),
        (680, &["Tower", "The bell is rung at"]),
        (668, &["", "noon and at dusk"]),
        (648, &["The old", "It is locked by"]),
        (636, &["gate", "the keeper her-"]),
        (624, &["", "self"]),
    ];
    let expected = "Place  What is done there\n\nTower  The bell is rung at\nnoon and at dusk\n\n\
                    The old\ngate  It is locked by\nthe keeper herself\n";
    assert_eq!(text(&cells(&[50, 150], &rows)), expected);
}

/// An index has short lines, but as many columns as its page.
#[test]
fn an_index_is_read_column_by_column() {
    let entries: Vec<[String; 2]> = (10..40).map(|at| [format!("bolt{at}, {at}"), format!("door{at}, {at}")]).collect();
    let rows: Vec<[&str; 2]> = entries.iter().map(|[left, right]| [left.as_str(), right.as_str()]).collect();
    let rows: Vec<(u32, &[&str])> = (0..).zip(&rows).map(|(at, row)| (700 - 12 * at, &row[..])).collect();
    let head =
        "BT /F 10 Tf 50 740 Td (The index of this book, over the width of both of its columns, to its end) Tj ET ";
    let read = text(&format!("{head}{}", cells(&[50, 274], &rows)));
    let column = |at: usize| entries.iter().map(|entry| entry[at].as_str()).collect::<Vec<_>>().join("\n");
    assert!(read.ends_with(&format!("{}\n\n{}\n", column(0), column(1))), "{read}");
}

#[test]
fn gaps_part_words_and_kerning_does_not() {
    assert_eq!(text("BT /F 10 Tf 50 700 Td [(wo) 50 (rd) -400 (next)] TJ ET"), "word next\n");
}

#[test]
fn words_broken_at_a_lines_end_are_whole() {
    let lines = "BT /F 10 Tf 12 TL 50 700 Td (It is a manu-) Tj T* (script in UTF-) Tj T* (8 letters.) Tj ET";
    assert_eq!(text(lines), "It is a manuscript\nin UTF-8\nletters.\n");
}

/// Like a page for a projector, which is read mirrored.
#[test]
fn text_in_a_mirror_is_read() {
    assert_eq!(text("BT /F 10 Tf -1 0 0 1 300 700 Tm (mirrored) Tj ET"), "mirrored\n");
}

#[test]
fn words_set_apart_letter_by_letter_are_words() {
    assert_eq!(text("BT /F 10 Tf 1.5 Tc -3 Tw 50 700 Td (OUR AIMS) Tj ET"), "OUR AIMS\n");
}

#[test]
fn lines_beside_a_large_sign_are_not_mixed() {
    let content = "BT /F 24 Tf 50 690 Td (!) Tj /F 10 Tf 20 6 Td (the upper line) Tj 0 -12 Td (goes on below) Tj ET";
    assert_eq!(text(content), "! the upper line\ngoes on below\n");
}

#[test]
fn dots_that_lead_to_a_number_stay_apart() {
    let content = "BT /F 10 Tf 50 700 Td (.) Tj 9 0 Td (.) Tj 9 0 Td (.) Tj 9 0 Td (.) Tj ET";
    assert_eq!(text(content), ". . . .\n");
}

#[test]
fn what_runs_over_the_end_of_a_cell_is_text_of_its_own() {
    let cells = "BT /F 10 Tf 50 700 Td (electronically) Tj ET BT /F 10 Tf 124 700 Td (signed) Tj ET";
    assert_eq!(text(cells), "electronically\nsigned\n");
}

/// A page with `content` and this font `F`, which uses the objects that follow it.
pub(super) fn with_font(font: &str, others: &[Vec<u8>], content: &str) -> Vec<u8> {
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>";
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        page.as_bytes().to_vec(),
        font.as_bytes().to_vec(),
        stream("", content),
    ];
    objects.extend_from_slice(others);
    file(&objects, "")
}

#[test]
fn bullets_of_symbol_fonts_are_kept() {
    let widths = "/FirstChar 65/LastChar 66/Widths[460 500]";
    let font = format!("<</Type/Font/Subtype/TrueType/BaseFont/AAAAAA+Symbol{widths}/ToUnicode 6 0 R>>");
    let table = "1 begincodespacerange <00> <ff> endcodespacerange 2 beginbfchar <41> <f0b7> <42> <0062> endbfchar";
    let bytes = with_font(&font, &[stream("", table)], "BT /F 10 Tf 50 700 Td [(A) -300 (BBB)] TJ ET");
    assert_eq!(read(&bytes).unwrap(), ("\u{f0b7} bbb\n".to_owned(), vec![]));
}

#[test]
fn codes_that_a_table_leaves_out_are_as_the_font_encodes_them() {
    let widths = format!("/FirstChar 0/LastChar 127/Widths[{}]", "500 ".repeat(128));
    let font = format!("<</Type/Font/Subtype/Type1/BaseFont/A{widths}/ToUnicode 6 0 R/FontDescriptor 7 0 R>>");
    let table = stream("", "1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <0b> <fb00> endbfchar");
    let program = "/Encoding 256 array dup 12 /fi put dup 66 /e put dup 67 /c put dup 68 /t put readonly def eexec";
    let others = [table, b"<</Type/FontDescriptor/FontFile 8 0 R>>".to_vec(), stream("", program)];
    let bytes = with_font(&font, &others, r"BT /F 10 Tf 50 700 Td [(B\013B) 20 (C\014D)] TJ ET");
    assert_eq!(read(&bytes).unwrap(), ("effecfit\n".to_owned(), vec![]));
}

#[test]
fn lines_set_wide_are_one_paragraph() {
    let line = "(The keeper of the archive looks after it) Tj 0 -18 Td ";
    let title = "(Doors) Tj 0 -30 Td ";
    let content = format!("BT /F 10 Tf 50 700 Td {title}{}0 -12 Td {line}ET", line.repeat(7));
    let read = "The keeper of the archive looks after it\n";
    assert_eq!(text(&content), format!("Doors\n\n{}\n{read}", read.repeat(7)));
}

/// Lines with one and a half spacing, as in many style sheets, on a page with little running text.
#[test]
fn few_lines_set_wide_are_paragraphs() {
    let line = "(The keeper of the archive looks after it) Tj 0 -15.03 Td ";
    let item = "(Doors) Tj 0 -27 Td ";
    let content = format!("BT /F 10 Tf 50 700 Td {item}{line}{line}0 -12 Td {item}{line}{line}0 -12 Td {item}ET");
    let read = "The keeper of the archive looks after it\n".repeat(2);
    assert_eq!(text(&content), format!("Doors\n\n{read}\nDoors\n\n{read}\nDoors\n"));
}

/// A paragraph set wide among short lines: its lines fill the page's width.
#[test]
fn a_paragraph_set_wide_stays_one_among_options() {
    let line = "(The keeper of the archive looks after it every day) Tj 0 -18 Td ";
    let option = "(-d door) Tj 0 -18 Td ";
    let content = format!(
        "BT /F 10 Tf 50 700 Td {}{}(and every night.) Tj 0 -30 Td {}ET",
        option.repeat(8),
        line.repeat(5),
        option
    );
    let read = "The keeper of the archive looks after it every day\n";
    assert!(
        text(&content).contains(&format!("{}and every night.\n\n-d door\n", read.repeat(5))),
        "{:?}",
        text(&content)
    );
}

#[test]
fn fonts_drawn_in_a_measure_of_their_own_have_words() {
    let glyphs = "/CharProcs<</A 6 0 R/B 6 0 R>>/Encoding<</Differences[65/A/B]>>";
    let widths = "/FirstChar 65/LastChar 66/Widths[25 25]/FontMatrix[1 0 0 -1 0 0]/FontBBox[0 0 25 40]";
    let font = format!("<</Type/Font/Subtype/Type3{glyphs}{widths}>>");
    // Letters 5 points wide, and a gap of half a letter behind each kerned one.
    let content = "BT 0.2 0 0 0.2 50 700 Tm /F 1 Tf [(AB) -4000 (BA) -15000 (AA)] TJ ET";
    let bytes = with_font(&font, &[stream("", "25 0 d0")], content);
    assert_eq!(read(&bytes).unwrap(), ("ABBA AA\n".to_owned(), vec![]));
}

#[test]
fn hebrew_is_put_in_the_order_in_which_it_is_read() {
    let widths = "/FirstChar 65/LastChar 68/Widths[500 500 500 500]";
    let font = format!("<</Type/Font/Subtype/TrueType/BaseFont/AAAAAA+H{widths}/ToUnicode 6 0 R>>");
    let table = "1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <41> <44> <05d0> endbfrange";
    let bytes = with_font(&font, &[stream("", table)], "BT /F 10 Tf 50 700 Td (DC) Tj 15 0 Td (BA) Tj ET");
    assert_eq!(read(&bytes).unwrap(), ("\u{5d0}\u{5d1} \u{5d2}\u{5d3}\n".to_owned(), vec![]));
}

#[test]
fn what_a_marked_part_stands_for_is_its_text() {
    let content = "BT /F 10 Tf 50 700 Td /Span<</ActualText<FEFF6587>>> BDC (x) Tj EMC ET";
    assert_eq!(text(content), "\u{6587}\n");
}

#[test]
fn what_stands_before_the_header_is_passed_over() {
    let bytes = pages(&["BT /F 10 Tf 50 700 Td (The door must be shut.) Tj ET"]);
    let behind = |before: &str| [before.as_bytes(), &bytes[..]].concat();
    let read = |name: &str, bytes: &[u8]| extract(name, bytes).map(|read| (read.format, read.text)).unwrap();
    let expected = (Format::Pdf, "The door must be shut.\n".to_owned());
    assert_eq!(read("a.pdf", &behind(&"Received: by mail\n".repeat(200))), expected);
    // A text may write of PDF.
    assert_eq!(read("a.txt", &behind(&"Received: by mail\n".repeat(200))).0, Format::Text);
}

#[test]
fn lines_at_a_slant_are_lines() {
    // Five degrees, as a page that was laid in askew.
    let content = "BT /F 10 Tf 0.9962 0.0872 -0.0872 0.9962 60 600 Tm (The keeper must lock) Tj 0 -12 Td (the gate at dusk.) Tj ET";
    assert_eq!(text(content), "The keeper must lock\nthe gate at dusk.\n");
    let both = format!("BT /F 10 Tf 50 700 Td (Upright text, of more letters than the other) Tj ET {content}");
    assert_eq!(
        text(&both),
        "Upright text, of more letters than the other\n\nThe keeper must lock\nthe gate at dusk.\n"
    );
}

#[test]
fn bold_by_drawing_twice_is_one_word() {
    let content = "BT /F 10 Tf 50 700 Td (bold) Tj ET BT /F 10 Tf 50.3 700 Td (bold) Tj ET";
    assert_eq!(text(content), "bold\n");
}

#[test]
fn accents_and_letters_are_one_character() {
    let content = "BT /F 10 Tf 50 700 Td (caf) Tj (^) Tj ET BT /F 10 Tf 68 700 Td (e) Tj ET";
    assert_eq!(text(content), "caf\u{ea}\n");
    // As in mathematics: such a character doesn't exist.
    let content = "BT /F 10 Tf 50 700 Td (of q) Tj (^) Tj ET BT /F 10 Tf 74 700 Td (p) Tj ET";
    assert_eq!(text(content), "of qp\u{302}\n");
}

#[test]
fn pages_are_counted_as_a_person_counts_them() {
    let bytes = pages(&["BT /F 10 Tf 50 700 Td (one) Tj ET", "", "/I Do", "BT /F 10 Tf 50 700 Td (four) Tj ET"]);
    let (text, gaps) = read(&bytes).unwrap();
    assert_eq!(text, "one\n\x0c\x0c\x0cfour\n");
    assert_eq!(gaps, ["page 3: no text on it, probably a scan"]);
}

#[test]
fn text_beside_the_paper_is_not_on_the_page() {
    assert_eq!(text("BT /F 10 Tf 50 700 Td (seen) Tj 700 0 Td (unseen) Tj ET"), "seen\n");
}

const REPAIRED: &str =
    "page 1: its tables are damaged, and pages were looked for without them: some may be missing or out of order";

/// A bit of the catalog, of the table of pages or of objects is changed: the intact parts are read.
#[test]
fn pages_are_found_without_their_tables() {
    let good = pages(&["BT /F 10 Tf 50 700 Td (The door must be shut.) Tj ET"]);
    let text = String::from_utf8(good.clone()).unwrap();
    for (whole, broken) in [
        ("/Catalog", "/Catamog"),
        ("/Pages 2 0 R", "/Qages 2 0 R"),
        ("/Kids", "/Kidr"),
        ("/Root", "/Soot"),
        ("startxref", "stertxref"),
    ] {
        let (text, gaps) = read(text.replacen(whole, broken, 1).as_bytes()).unwrap();
        assert_eq!(text, "The door must be shut.\n", "{broken}");
        assert!(gaps.iter().all(|gap| gap == REPAIRED), "{broken}: {gaps:?}");
    }
}

#[test]
fn a_table_of_more_characters_than_there_are_is_a_gap() {
    let font = "<</Type/Font/Subtype/Type0/BaseFont/A/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 7 0 R>>";
    let descendant = b"<</Type/Font/Subtype/CIDFontType2/BaseFont/A/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>>>";
    for table in ["<00000000> <ffffffff> <0041> ".to_owned(), "<0000> <ffff> <0041> ".repeat(20_000)] {
        let table = stream("", &format!("1 beginbfrange {table} endbfrange"));
        let bytes = with_font(font, &[descendant.to_vec(), table], "BT /F 10 Tf 50 700 Td <00010002> Tj ET");
        let expected = (String::new(), vec!["page 1: its characters have no meaning outside their font".to_owned()]);
        assert_eq!(read(&bytes).unwrap(), expected);
    }
}

#[test]
fn a_page_tree_in_a_loop_ends() {
    let good = String::from_utf8(pages(&["BT /F 10 Tf 50 700 Td (one) Tj ET"])).unwrap();
    let (text, gaps) = read(good.replace("/Kids[5 0 R]", "/Kids[5 0 R 2 0 R]").as_bytes()).unwrap();
    assert_eq!((text.as_str(), gaps.len()), ("one\n", 0));
    let (text, gaps) = read(good.replace("/Kids[5 0 R]", "/Kids[2 0 R]").as_bytes()).unwrap();
    assert_eq!((text.as_str(), &gaps[..]), ("one\n", &[REPAIRED.to_owned()][..]));
}

#[test]
fn a_count_that_lies_is_a_gap() {
    let good = String::from_utf8(pages(&["BT /F 10 Tf 50 700 Td (one) Tj ET"])).unwrap();
    let (text, gaps) = read(good.replace("/Count 1", "/Count 1000000000").as_bytes()).unwrap();
    assert_eq!(text, "one\n");
    assert_eq!(
        gaps,
        ["page 1: pages are missing: not all that its table of pages names were found, so numbers may be lower"]
    );
}

#[test]
fn a_password_is_asked_for() {
    let entry = format!("/Encrypt<</Filter/Standard/V 1/R 2/O<{0}>/U<{0}>/P -4>>/ID[<00><00>]", "41".repeat(32));
    let bytes = file(&[b"<</Type/Catalog/Pages 2 0 R>>".to_vec(), b"<</Type/Pages/Kids[]/Count 0>>".to_vec()], &entry);
    assert_eq!(read(&bytes).unwrap_err(), Refusal::Encrypted { format: "a PDF file".into() });
}

#[test]
fn deep_nesting_is_refused() {
    let mut bytes = b"%PDF-1.7\n1 0 obj\n".to_vec();
    bytes.resize(200_000, b'[');
    let why = "its objects are nested thousands of times";
    assert_eq!(read(&bytes).unwrap_err(), Refusal::Damaged { format: "PDF".into(), why: why.into() });
}

#[test]
fn what_lies_in_a_stream_is_no_nesting() {
    let open = "[".repeat(20_000);
    let (text, gaps) = read(&pages(&[&format!("BT /F 10 Tf 50 700 Td (one) Tj 2000 0 Td ({open}) Tj ET")])).unwrap();
    assert_eq!((text.as_str(), gaps.len()), ("one\n", 0));
}

#[test]
fn a_cut_document_is_read_or_refused() {
    let good = pages(&["BT /F 10 Tf 50 700 Td (one) Tj ET"]);
    for end in 0..good.len() {
        if let Ok((text, _)) = read(&good[..end]) {
            assert!(text.is_empty() || text == "one\n", "{end}: {text:?}");
        }
    }
}

proptest::proptest! {
    /// Bytes changed anywhere: a text or a refusal.
    #[test]
    fn changed_bytes_never_panic(changes in proptest::collection::vec((0_usize..2_000, proptest::num::u8::ANY), 1..12)) {
        let mut bytes = pages(&["BT /F 10 Tf 50 700 Td [(wo) 50 (rd)] TJ ET /I Do", "q 1 0 0 1 5 5 cm BT /F 9 Tf (two) ' ET Q"]);
        for (at, byte) in changes {
            let len = bytes.len();
            bytes[at % len] = byte;
        }
        drop(read(&bytes));
    }
}
