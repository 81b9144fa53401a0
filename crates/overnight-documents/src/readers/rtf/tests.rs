//! Documents made by hand, and the text of each.

use crate::extract::extract;
use crate::units::Unit;

/// Unit, pages, gaps and notes.
fn read(body: &str) -> (Unit, Vec<String>, Vec<String>, Vec<String>) {
    let fonts = "{\\fonttbl{\\f0\\fswiss\\fcharset0 Arial;}{\\f1\\fcharset204 Arial Cyr;}{\\f2\\fcharset2 Symbol;}{\\f3\\fcharset128 Mincho;}{\\f4\\fcharset78 HiraKakuPro;}}";
    let styles = "{\\stylesheet{\\s0 Normal;}{\\s1\\outlinelevel0 heading 1;}{\\s2 Title;}}";
    let file = format!("{{\\rtf1\\ansi\\ansicpg1252\\deff0{fonts}{styles}{{\\info{{\\title Not text}}}}{body}}}");
    let read = extract("a.rtf", file.as_bytes()).unwrap();
    let pages = read.text.split('\x0c').map(str::to_owned).collect();
    (read.unit, pages, read.gaps.iter().map(ToString::to_string).collect(), read.notes)
}

fn text(body: &str) -> String {
    read(body).1.concat()
}

#[test]
fn a_font_of_western_europe_is_read_as_such_under_any_code_page() {
    let fonts = "{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fcharset128 Gothic;}{\\f2 Courier;}}";
    let file = format!("{{\\rtf1\\ansi\\ansicpg932\\deff0{fonts}\\f0 Gen\\'e8ve \\f1\\'93\\'fa\\f2\\'96\\'7b\\par}}");
    assert_eq!(extract("a.rtf", file.as_bytes()).unwrap().text, "Genève 日本\n");
}

#[test]
fn characters_come_in_every_way_that_they_are_written() {
    for (body, expected) in [
        (
            "Gr\\'f6\\'dfe \\u8364?5 \\emdash \\ldblquote a\\rdblquote\\~b\\_c\\-d \\{x\\}",
            "Größe €5 —“a”\u{a0}b\u{2011}cd {x}\n",
        ),
        ("\\f1\\'cf\\'f0\\'e8 \\f0\\'e9", "При é\n"),
        ("\\f3\\'93\\'fa\\'96\\'7b", "日本\n"),
        ("\\f4\\'93\\'fa\\'96\\'7b", "日本\n"),
        ("\\uc2\\u946 ??\\uc1\\u-10179?\\u-8704?", "β😀\n"),
        ("a\\f2\\'b7", "a•\n"),
        ("one\\line two\\par\\pard three\\\nfour", "one\ntwo\n\nthree\n\nfour\n"),
        (
            "{\\upr{wrong}{\\*\\ud{right}}} and {\\*\\unknown lost}{\\field{\\*\\fldinst HYPERLINK x}{\\fldrslt shown}}",
            "right and shown\n",
        ),
        (
            "about {\\field{\\*\\fldinst {EQ \\\\f(\\u945?,{\\b 2})}}{\\fldrslt }} or {\\field{\\*\\fldinst EQ \\\\r(,x)}}.",
            "about α/2 or √(x).\n",
        ),
        ("{\\field{\\*\\fldinst EQ \\\\f(1,2)}{\\fldrslt {\\b a half}}} more", "a half more\n"),
        ("10{\\super 5} x{\\sub 2} {\\strike old} new", "10⁵ x₂ ~~old~~ new\n"),
        ("\\bin5 {{{{{kept", "kept\n"),
        ("{\\b\\*\\cs7 styled} {\\*\\cs7 too}{\\list{\\listname no}}{ \\generator no;}", "styled too\n"),
        ("{\\info{\\upr{\\author no}{\\*\\ud{\\author no}}}}yes", "yes\n"),
    ] {
        assert_eq!(text(body), expected, "{body}");
    }
}

#[test]
fn headings_lists_tables_and_notes_are_blocks() {
    let body = "\\pard\\s1 Duties\\par\\pard\\plain Weigh\\chftn{\\footnote\\pard\\chftn  In May.} it.\\par\
        {\\listtext 1.\\tab}first\\par{\\listtext\\f2\\'b7\\tab}second\\par\
        \\trowd\\intbl Item\\cell Price\\cell\\row\\trowd\\intbl Lamp\\cell 12\\par 50\\cell\\row\\pard After\\par";
    let expected = "# Duties\n\nWeigh[1] it.\n\n1. first\n- second\n\n| Item | Price |\n| --- | --- |\n| Lamp | 12 50 |\n\n\
        After\n\n[1] In May.\n";
    assert_eq!(read(body), (Unit::Line, vec![expected.to_owned()], vec![], vec![]));
}

#[test]
fn pages_are_those_that_were_set_and_what_is_left_out_is_told() {
    let body = "{\\header Top}One{\\v secret}{\\deleted gone}{\\pict\\wmetafile8 0102}\\page Two\\sect\\sectd Three\\sect\\sectd\\sbknone \
        goes on{\\*\\annotation why}\\par{\\shp{\\*\\shpinst{\\sp{\\sn a}{\\sv b}}{\\shptxt boxed\\par}}}";
    let notes = [
        "1 image was left out",
        "1 comment was left out",
        "it has tracked changes: insertions were read, deletions left out",
        "hidden text was left out",
        "headers and footers were left out",
    ];
    let pages = ["One\n", "Two\n", "Three\n\ngoes on\n\nboxed\n"].map(str::to_owned);
    assert_eq!(read(body), (Unit::Page, pages.to_vec(), vec![], notes.map(str::to_owned).to_vec()));
}

#[test]
fn what_lies_behind_the_end_is_told() {
    let read = extract("a.rtf", b"{\\rtf1 One}\n\0 {\\rtf1 Two}").unwrap();
    let notes = ["something lies behind the document's end in the file, and was left out".to_owned()];
    assert_eq!((read.text.as_str(), read.notes.as_slice()), ("One\n", notes.as_slice()));
    let read = extract("a.rtf", b"{\\rtf1 One}\r\n\0").unwrap();
    assert_eq!((read.text.as_str(), read.notes), ("One\n", vec![]));
}

#[test]
fn a_file_that_is_cut_off_says_so() {
    let read = extract("a.rtf", b"{\\rtf1 {\\b The keeper MUST").unwrap();
    let gaps: Vec<String> = read.gaps.iter().map(ToString::to_string).collect();
    assert_eq!(read.text, "The keeper MUST\n");
    assert_eq!(gaps, ["its end is missing: the file is cut off, or its groups are damaged"]);
}

proptest::proptest! {
    #[test]
    fn hostile_words_never_panic(body in "[{}\\\\a-f '*0-9]{0,200}|(\\{\\\\(par|cell|row|footnote|shptxt|u-1|uc9|\\*|upr|ud|listtext) ?){0,40}\\}*") {
        let _ = extract("a.rtf", format!("{{\\rtf1{body}").as_bytes());
    }
}
