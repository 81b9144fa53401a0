//! Rows of tables, text that runs from the right, and pages without meaning: small PDFs, made here.

use crate::PageSpan;

use super::tests::{file, pages, read, stream, text, with_font};

/// Programs that count from the top turn the matrix, the size and the scaling.
#[test]
fn text_that_is_turned_twice_runs_forwards() {
    let content =
        "BT /F -14 Tf -100 Tz 1 0 0 -1 60 700 Tm (The rent of 1,250.00) Tj 0 18 Td (is due each month.) Tj ET";
    assert_eq!(text(content), "The rent of 1,250.00\nis due each month.\n");
}

/// Each text at its place.
fn placed(texts: &[(u32, u32, &str)]) -> String {
    let shown: Vec<_> = texts.iter().map(|(x, y, text)| format!("BT /F 10 Tf {x} {y} Td ({text}) Tj ET ")).collect();
    shown.concat()
}

#[test]
fn amounts_stand_beside_their_labels() {
    // The columns are drawn one after the other, the rows stand far apart, and a heading runs across.
    let content = placed(&[
        (50, 700, "Sales"),
        (50, 672, "Cost of the goods that were"),
        (50, 660, "sold in the year"),
        (50, 630, "A heading that runs over all of the columns of this table"),
        (50, 600, "Rent"),
        (400, 700, "1,250"),
        (400, 660, "(980)"),
        (400, 600, "77"),
    ]);
    let expected = "Sales  1,250\nCost of the goods that were\nsold in the year  (980)\n\
                    A heading that runs over all of the columns of this table\nRent  77\n";
    assert_eq!(text(&content), expected);
}

#[test]
fn an_amount_in_the_middle_of_its_label_stays_there() {
    let content = placed(&[
        (50, 700, "Cost of the goods that were"),
        (50, 688, "sold in the year"),
        (400, 694, "980"),
        (50, 660, "Rent"),
        (400, 660, "77"),
    ]);
    assert_eq!(text(&content), "Cost of the goods that were  980\nsold in the year\n\nRent  77\n");
}

#[test]
fn running_text_beside_a_table_is_no_part_of_it() {
    let content = placed(&[
        (50, 700, "Sales"),
        (50, 688, "Costs"),
        (50, 676, "Rent"),
        (50, 664, "Tax"),
        (200, 700, "1,250"),
        (200, 688, "980"),
        (200, 676, "77"),
        (200, 664, "12"),
        (420, 697, "Dues rose by"),
        (420, 684, "a fifth after the"),
        (420, 671, "new quay"),
    ]);
    let read = text(&content);
    for row in
        ["Sales  1,250\n", "Costs  980\n", "Rent  77\n", "Tax  12\n", "Dues rose by\na fifth after the\nnew quay\n"]
    {
        assert!(read.contains(row), "{read}");
    }
}

/// A font whose codes `A` to `Z` are the Hebrew letters, and `(`, `)` brackets.
fn hebrew(content: &str) -> String {
    let widths = format!("/FirstChar 0/LastChar 127/Widths[{}]", "500 ".repeat(128));
    let font = format!("<</Type/Font/Subtype/TrueType/BaseFont/AAAAAA+H{widths}/ToUnicode 6 0 R>>");
    let table =
        "1 begincodespacerange <00> <ff> endcodespacerange 2 beginbfrange <41> <5a> <05d0> <20> <39> <0020> endbfrange";
    let (text, gaps) = read(&with_font(&font, &[stream("", table)], content)).unwrap();
    assert_eq!(gaps, Vec::<String>::new());
    text
}

#[test]
fn letters_drawn_from_the_right_are_words_and_brackets_open_first() {
    // Letters one by one in reading order, the next one on the left; and the number as it is drawn.
    let letters = [(300, "A"), (295, "B"), (290, "C"), (280, "D"), (275, "E"), (265, ")"), (255, "12"), (250, "(")];
    let content: String = letters
        .iter()
        .map(|(x, text)| {
            format!("BT /F 10 Tf 1 0 0 1 {x} 700 Tm ({text}) Tj ET ")
                .replace("()) Tj", "(\\)) Tj")
                .replace("(() Tj", "(\\() Tj")
        })
        .collect();
    assert_eq!(hebrew(&content), "\u{5d0}\u{5d1}\u{5d2} \u{5d3}\u{5d4} (12)\n");
}

#[test]
fn a_justified_line_from_the_right_is_one_line() {
    // Words far apart on the first line, close together on the second.
    let content = "BT /F 10 Tf 280 700 Td (BA) Tj -60 0 Td (DC) Tj -60 0 Td (FE) Tj ET \
                   BT /F 10 Tf 280 688 Td (HG) Tj -15 0 Td (JI) Tj -15 0 Td (LK) Tj ET";
    let read = hebrew(content);
    let lines: Vec<Vec<&str>> = read.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["\u{5d0}\u{5d1}", "\u{5d2}\u{5d3}", "\u{5d4}\u{5d5}"]);
}

#[test]
fn a_page_of_wrong_letters_is_a_gap() {
    let line = "(7KH WHQDQW PXVW SD\\\\ WKH UHQW RQ WKH ZRUNLQJ GD\\\\ RI HDFK PRQWK) Tj T* ";
    let content = format!("BT /F 10 Tf 12 TL 50 700 Td {}ET", line.repeat(5));
    let (text, gaps) = read(&pages(&[&content])).unwrap();
    assert_eq!(text, "");
    assert_eq!(gaps, ["page 1: its text has hardly a word of any language: its fonts give wrong letters"]);
}

#[test]
fn a_page_drawn_in_outlines_is_a_gap() {
    let (_, gaps) =
        read(&pages(&[&format!("10 10 m {}f", "1 2 3 4 5 6 c ".repeat(400)), "10 10 m 1 2 3 4 5 6 c f"])).unwrap();
    assert_eq!(gaps, ["page 1: no text on it, only drawings"]);
}

#[test]
fn a_scan_with_a_line_of_letters_at_its_head_is_a_gap() {
    let page = |y: u32| format!("q 600 0 0 800 0 0 cm /I Do Q BT /F 10 Tf 50 {y} Td (Received on 4 March 2031) Tj ET");
    let (text, gaps) = read(&pages(&[&page(780), &page(400)])).unwrap();
    assert_eq!(text, "Received on 4 March 2031\n\x0cReceived on 4 March 2031\n");
    assert_eq!(gaps, ["page 1: nearly all of it is an image, probably a scan"]);
}

#[test]
fn files_that_it_carries_are_named() {
    let names = "/Names<</EmbeddedFiles<</Kids[5 0 R 5 0 R]>>>>";
    let pinned = "/Annots[<</Type/Annot/Subtype/FileAttachment/Rect[0 0 9 9]/FS<</F(pin.txt)>>>>]";
    let bytes = file(
        &[
            format!("<</Type/Catalog/Pages 2 0 R{names}>>").into_bytes(),
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
            format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R{pinned}>>").into_bytes(),
            stream("", ""),
            b"<</Names[(a)<</Type/Filespec/F(a.txt)/UF(prices.txt)>>]>>".to_vec(),
        ],
        "",
    );
    let extracted = crate::extract::extract("a.pdf", &bytes).unwrap();
    let expected = [
        "the attached file \"prices.txt\" was not read: save it, and add it as a document",
        "the file \"pin.txt\" that is pinned to page 1 was not read",
        "no text in it",
    ];
    assert_eq!(extracted.notes, expected);
}

#[test]
fn text_that_nobody_sees_is_left_out_and_told() {
    let seen = "BT /F 10 Tf 50 700 Td (The fee is 12, and is paid in advance by all) Tj ET ";
    let white = "1 g BT /F 10 Tf 50 680 Td (white) Tj ET 0 g ";
    let invisible = "BT 3 Tr /F 10 Tf 50 660 Td (unseen) Tj 0 Tr ET ";
    let tiny = "BT /F 0.1 Tf 50 640 Td (dust) Tj ET ";
    let on_dark = "0 g 40 590 200 30 re f 1 g BT /F 10 Tf 50 600 Td (on black) Tj ET";
    let bytes = pages(&[&[seen, white, invisible, tiny, on_dark].concat()]);
    let extracted = crate::extract::extract("a.pdf", &bytes).unwrap();
    assert_eq!(extracted.text, "The fee is 12, and is paid in advance by all\n\non black\n");
    let told = "text that nobody sees was left out on page 1: invisible, white on white, cut off, or without size";
    assert_eq!(extracted.notes, [told]);
    // The text recognised in a scan lies behind it.
    let scan = format!("q 600 0 0 800 0 0 cm /I Do Q {invisible} BT /F 10 Tf 50 400 Td (seen) Tj ET");
    assert_eq!(text(&scan), "unseen\n\nseen\n");
}

/// A searchable scan: its text was recognised by a program, and any letter may be wrong.
#[test]
fn a_text_behind_the_picture_of_its_page_is_told_as_recognised() {
    let seen = "BT /F 10 Tf 50 660 Td (the fee is 12) Tj ET ";
    let (invisible, picture) = (format!("BT 3 Tr ET {seen} BT 0 Tr ET "), "q 600 0 0 800 0 0 cm /I Do Q ");
    let told = |content: &[&str]| {
        let found = crate::extract::extract("a.pdf", &pages(&[seen, &content.concat()])).unwrap();
        (found.recognised, found.notes)
    };
    let note = "the text of page 2 was recognised in its picture, by whoever made the file".to_owned();
    let recognised = (vec![PageSpan { from: 2, to: 2 }], vec![note]);
    assert_eq!(told(&[picture, &invisible]), recognised);
    assert_eq!(told(&[seen, picture]), recognised, "under it");
    assert_eq!(told(&[picture, seen]), (vec![], vec![]), "over it");
}

#[test]
fn words_that_a_line_runs_through_are_marked() {
    let words = "BT /F 10 Tf 50 700 Td (The fee is ten twelve crowns) Tj ET ";
    // Under the first words, and through the fourth.
    let lines = "50 698 m 90 698 l S 116 702.5 18 0.6 re f";
    assert_eq!(text(&[words, lines].concat()), "The fee is ~~ten~~ twelve crowns\n");
}

/// Marks of scripts that run from the left stay behind their letters.
#[test]
fn marks_of_thai_stand_behind_their_letters() {
    let widths = format!("/FirstChar 0/LastChar 127/Widths[{}]", "500 ".repeat(73) + &"0 ".repeat(55));
    let font = format!("<</Type/Font/Subtype/TrueType/BaseFont/AAAAAA+T{widths}/ToUnicode 6 0 R>>");
    let table =
        "1 begincodespacerange <00> <ff> endcodespacerange 2 beginbfrange <41> <42> <0e01> <49> <49> <0e34> endbfrange";
    let bytes = with_font(&font, &[stream("", table)], "BT /F 10 Tf 50 700 Td (AIB) Tj ET");
    assert_eq!(read(&bytes).unwrap(), ("\u{e01}\u{e34}\u{e02}\n".to_owned(), vec![]));
}

#[test]
fn raised_and_lowered_characters_are_kept_apart() {
    let raised = "BT /F 12 Tf 50 700 Td (The dose is 10) Tj /F 7 Tf 5 Ts (5) Tj 0 Ts /F 12 Tf ( units, the fee EUR 250) Tj \
                  /F 7 Tf 5 Ts (4) Tj 0 Ts /F 12 Tf (.) Tj ET ";
    let formula =
        "BT /F 12 Tf 50 670 Td (H) Tj /F 8 Tf -2 Ts (2) Tj 0 Ts /F 12 Tf (O and x) Tj /F 8 Tf 5 Ts (n+1) Tj ET ";
    let note = "BT /F 6 Tf 50 93.5 Td (4) Tj /F 10 Tf 8 -3.5 Td (See the tariff of the port,) Tj -8 -12 Td (in force from May.) Tj ET";
    assert_eq!(
        text(&[raised, formula, note].concat()),
        "The dose is 10⁵ units, the fee EUR 250⁴.\n\nH₂O and x^(n+1)\n\n⁴ See the tariff of the port,\nin force from May.\n"
    );
}

#[test]
fn what_is_cut_off_is_not_seen() {
    let shown = "q 50 690 300 30 re W n BT /F 10 Tf 50 700 Td (The fee is 12, and is paid in advance) Tj ET Q ";
    let cut =
        "q 50 590 300 30 re W n BT /F 10 Tf 50 500 Td (beside it) Tj ET Q BT /F 10 Tf 50 400 Td (seen again) Tj ET";
    let extracted = crate::extract::extract("a.pdf", &pages(&[&[shown, cut].concat()])).unwrap();
    assert_eq!(extracted.text, "The fee is 12, and is paid in advance\n\nseen again\n");
    assert_eq!(
        extracted.notes,
        ["text that nobody sees was left out on page 1: invisible, white on white, cut off, or without size"]
    );
}

#[test]
fn pictures_are_told_where_they_stand() {
    // A letterhead in two pieces, a bullet, and a figure between two paragraphs.
    let head = "q 100 0 0 40 400 750 cm /I Do Q q 100 0 0 40 500 750 cm /I Do Q ";
    let page = "BT /F 10 Tf 50 700 Td (The figure shows the level.) Tj ET q 5 0 0 5 40 700 cm /I Do Q \
                q 200 0 0 100 50 400 cm /I Do Q BT /F 10 Tf 50 300 Td (It fell in May.) Tj ET ";
    let (text, gaps) =
        read(&pages(&[&[head, page].concat(), &[head, "BT /F 10 Tf 50 700 Td (More) Tj ET"].concat()])).unwrap();
    let expected = "[picture, top right, 71×14 mm]\n\nThe figure shows the level.\n\n\
                    [picture, middle left, 71×35 mm]\n\nIt fell in May.\n\x0cMore\n";
    assert_eq!((text.as_str(), gaps), (expected, vec![]));
}

#[test]
fn words_marked_as_struck_out_are_struck() {
    let marked =
        "/Annots[<</Type/Annot/Subtype/StrikeOut/Rect[116 698 134 708]/QuadPoints[116 708 134 708 116 698 134 698]>>]";
    let page = format!(
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>{marked}>>"
    );
    let bytes = file(
        &[
            b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
            page.into_bytes(),
            stream("", "BT /F 10 Tf 50 700 Td (The fee is ten twelve crowns) Tj ET"),
            b"<</Type/Font/Subtype/Type1/BaseFont/Courier>>".to_vec(),
        ],
        "",
    );
    assert_eq!(read(&bytes).unwrap(), ("The fee is ~~ten~~ twelve crowns\n".to_owned(), vec![]));
}

#[test]
fn texts_in_the_middle_of_one_of_two_lines_stay_beside_it() {
    let content = placed(&[
        (50, 700, "Provisions for losses that"),
        (50, 688, "are likely"),
        (300, 694, "980"),
        (400, 694, "Losses"),
        (50, 660, "Rent"),
        (300, 660, "77"),
        (400, 660, "Hire"),
    ]);
    let expected = "Provisions for losses that  980  Losses\nare likely\n\nRent  77  Hire\n";
    assert_eq!(text(&content), expected);
}

/// Contents in two columns, their page numbers at the right edge of each.
#[test]
fn columns_that_nearly_touch_are_read_one_after_the_other() {
    let entry = |x: u32, line: u32, number: u32| {
        let (name, dots) = if line.is_multiple_of(2) { ("Bell", 20) } else { ("Harbor", 18) };
        let dots = ".".repeat(dots);
        format!("BT /F 10 Tf {x} {} Td ({name} {dots} {number}) Tj ET ", 700 - 12 * line)
    };
    let lines: Vec<String> =
        (0..16).map(|line| entry(50, line, 10 + line) + &entry(225 + 2 * (line % 2), line, 60 + line)).collect();
    let text = text(&lines.concat());
    let numbers: Vec<&str> = text.split_whitespace().filter(|word| word.parse::<u32>().is_ok()).collect();
    let expected: Vec<String> = (10..26).chain(60..76).map(|number: u32| number.to_string()).collect();
    assert_eq!(numbers, expected, "{text}");
}
