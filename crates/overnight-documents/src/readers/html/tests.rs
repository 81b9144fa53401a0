//! Pages and their complete texts.

use crate::extract::extract as read;
use crate::{DocumentError, QuoteIndex, Refusal};

fn text(html: &str) -> String {
    read("a.html", html.as_bytes()).unwrap().text
}

#[track_caller]
fn check(html: &str, expected: &str) {
    assert_eq!(text(html), expected);
}

#[test]
fn a_paragraph_is_one_line_without_marks() {
    check(
        "<h2>A <em>new</em>\n deal</h2><p>The <b>fee</b>\n  is <code>a_b*c</code>, see <a href=x>[1]</a>&nbsp;&amp; more\
         <img src=x alt=' the figure'>.<p># 1. not - a * list_",
        "## A new deal\n\nThe fee is a_b*c, see [1] & more[picture: the figure].\n\n# 1. not - a * list_\n",
    );
    check("a<br>b<br><br>c", "a\nb\nc\n");
    check("<p>Ver&shy;trag<wbr>s<sup>2</sup> <q>x</q>", "Vertrags² “x”\n");
    check("plain < text & <unknown>more</unknown>", "plain < text & more\n");
}

#[test]
fn lists_keep_their_shape() {
    check(
        "<p>Intro:<ul><li>one<li><p>two</p><p>more</p><ol start=3><li>x<li value=9>y</ol></li><li></li><li>three<br>and</ul>End",
        "Intro:\n\n- one\n- two\n\n  more\n  3. x\n  9. y\n- three\n  and\n\nEnd\n",
    );
    check("<ol type=a><li>x<li>y</ol><ol type=I start=4><li>z</ol>", "a. x\nb. y\nIV. z\n");
    check(
        "<ol style='list-style-type: lower-roman'><li>x<li>y</ol><ol reversed><li>z<li>w</ol>",
        "i. x\nii. y\n2. z\n1. w\n",
    );
    check(
        "<table><tr><td>How<td><ol><li>slow down<li>call</ol><ul><li>x</ul></table>",
        "| How | 1. slow down 2. call - x |\n| --- | --- |\n",
    );
    check(
        "<dl><dt>term<dd><p>meaning</p><p>more</p><dt>next<dd>other</dl>",
        "term\n: meaning\n\n  more\n\nnext\n: other\n",
    );
}

#[test]
fn quotes_and_code_are_blocks() {
    check("<blockquote><p>one<br>two</p><p>three</blockquote>x", "> one\ntwo\n\n> three\n\nx\n");
    check(
        "<ul><li>see<pre>\nif a_b {\n    c\n}\n\n</pre></ul><pre><div>x</div><div>```</div></pre>",
        "- see\n\n  ```\n  if a_b {\n      c\n  }\n  ```\n\n````\nx\n```\n````\n",
    );
}

#[test]
fn marks_of_code_in_a_paragraph_are_none() {
    check(
        "<p>```</p><p>The clerk must go.</p><ul><li>~~~ x</ul><pre>a\n~~~</pre>",
        "\\```\n\nThe clerk must go.\n\n- \\~~~ x\n\n```\na\n~~~\n```\n",
    );
}

#[test]
fn tables_of_data_are_tables() {
    check(
        "<table><caption>Fees</caption><thead><tr><th>What<th>How <br>much</thead><tr><td><p>a</p><p>b|c</p><td>\
         <ul><li>1<li>2</ul><tr><td></td><td> </td><tr><td>x</table>after",
        "Fees\n\n| What | How much |\n| --- | --- |\n| a b｜c | - 1 - 2 |\n| x |\n\nafter\n",
    );
    check(
        "<table><tr><td rowspan=2>a<td colspan=2>b<tr><td>c<td>d<tr><td>e<td>f<td>g</table>",
        "| a | b |  |\n| --- | --- | --- |\n|  | c | d |\n| e | f | g |\n",
    );
}

#[test]
fn tables_of_layout_are_read_as_what_they_hold() {
    check(
        "<table><tr><td>menu<td><h1>Title</h1><table><tr><td>a<td>b</table>text</td></tr></table>",
        "menu\n\n# Title\n\n| a | b |\n| --- | --- |\n\ntext\n",
    );
    check("<table><tr><td>one<tr><td>two</table>", "one\n\ntwo\n");
    check("<table>stray<tr><td>a</table>", "stray\n\na\n");
}

#[test]
fn navigation_and_scripts_are_left_out() {
    check(
        "<head><title>t</title><style>s</style></head><body><a class=skip-link href=#main>Skip</a><nav>n</nav>\
         <div class='sphinxsidebar x'>s</div><div role=navigation>r</div><div id=navbar>l</div>\
         <h1>Title<a class=headerlink href=#t>¶</a></h1><script>x()</script><template><p>t</template><!-- c -->\
         <p>Text<noscript>no</noscript><blockquote>Said<footer>Someone</footer></blockquote><aside>Note</aside>\
         <aside class=page-toc>toc</aside><footer>imprint</footer>",
        "# Title\n\nText\n\n> Said\n\n> Someone\n\nNote\n",
    );
    check("<h1><a class=anchor href=#t>Title</a></h1>", "# Title\n");
}

#[test]
fn what_is_called_navigation_stays_where_it_is_running_text() {
    check(
        "<h1>Circular</h1><div class=navigation><h2>Navigation</h2><p>Ships keep to the right of the fairway.</div>\
         <div class=navigation><a href=a>Ships keep to the right of the fairway</a> <a href=b>Next</a></div>",
        "# Circular\n\n## Navigation\n\nShips keep to the right of the fairway.\n",
    );
}

#[test]
fn what_is_raised_struck_or_set_in_signs_is_marked() {
    check(
        "<p>10<sup>5</sup> of H<sub>2</sub>O, 1<sup>st</sup> x<span style='vertical-align: super'>n</span><p>due <del>3</del> <s>4</s> \
         <span style='text-decoration:line-through'>5</span> <ins>9</ins> April<p><font face=Wingdings>þ</font> \
         <span style='font-family: \"Symbol\", serif'>&pound;</span>",
        "10⁵ of H₂O, 1st x^n\n\ndue ~~3 4 5~~ 9 April\n\n☑ ≤\n",
    );
}

#[test]
fn forms_show_what_was_typed_ticked_and_chosen() {
    check(
        "<p><input type=checkbox checked>agreed <input type=radio>no <input value='typed'> <input type=hidden value=x>\
         <textarea>area</textarea><select><option>A<option selected>B</select><select><option>C<option>D</select>",
        "☒ agreed ○ no typed\n\narea\n\nB\n\nC\n",
    );
}

#[test]
fn what_nobody_sees_is_left_out_and_counted() {
    let page = "<p>Seen<p hidden>x<p style='display: none'>x</p><div style='visibility:hidden'>x</div><dialog>x</dialog>\
        <noscript>x</noscript><img src=a.png><img src=b.png alt=''><iframe src=x></iframe>";
    let read = read("a.html", page.as_bytes()).unwrap();
    let notes = ["5 hidden parts were left out", "1 image was left out", "1 embedded object was left out"];
    assert_eq!((read.text.as_str(), read.notes), ("Seen\n", notes.map(str::to_owned).to_vec()));
}

#[test]
fn pictures_and_links_are_told_in_their_place() {
    check(
        "<p>Levels: <img src=a.png alt='The level fell'></p><svg><title>Throughput</title><style>x</style><g><text>Quay A: \
         <tspan>410 t</tspan></text><text>Quay B</text></g></svg><p>See <a href='https://example.org/r'>the rules</a>, \
         <a href='#x'>below</a> or <a href=mailto:a@example.org>a@example.org</a>.",
        "Levels: [picture: The level fell]\n\n[picture: Throughput]\n\nQuay A: 410 t\n\nQuay B\n\n\
         See the rules (https://example.org/r), below or a@example.org.\n",
    );
}

#[test]
fn formulas_are_those_of_office_documents() {
    let math = |inner: &str| format!("<p>So <math><mrow>{inner}</mrow></math> units.");
    for (inner, expected) in [
        ("<msup><mi>r</mi><mn>2</mn></msup><mo>+</mo><mfrac><mn>1</mn><mn>2</mn></mfrac>", "r^2+1/2"),
        ("<mfrac><mrow><mo>-</mo><mi>b</mi></mrow><mrow><mn>2</mn><mi>a</mi></mrow></mfrac>", "(-b)/(2a)"),
        ("<mn>2</mn><mfrac><mn>1</mn><mn>2</mn></mfrac><mi>x</mi>", "2 1/2 x"),
        ("<msqrt><msup><mi>b</mi><mn>2</mn></msup><mo>-</mo><mi>c</mi></msqrt>", "√(b^2-c)"),
        (
            "<munderover><mo>∑</mo><mrow><mi>k</mi><mo>=</mo><mn>0</mn></mrow><mi>n</mi></munderover><mi>k</mi>",
            "∑_(k=0)^n k",
        ),
        ("<mover><mi>x</mi><mo>¯</mo></mover><mo>=</mo><mi>sin</mi><mo>&#x2061;</mo><mi>y</mi>", "x\u{305}=sin y"),
        (
            "<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mi>c</mi></mtd></mtr></mtable>",
            "[a, b; c]",
        ),
    ] {
        check(&math(inner), &format!("So {expected} units.\n"));
    }
}

#[test]
fn the_main_part_is_read_where_there_is_one() {
    let page = "<p>Site header</p><main><p>The whole text of the page stands in here.</main><p>Site end";
    let read = read("a.html", page.as_bytes()).unwrap();
    assert_eq!(read.text, "The whole text of the page stands in here.\n");
    assert_eq!(read.notes, ["only the page's main part was read; 17 characters around it were left out"]);
    check("<p>The whole text stands out here.</p><main>empty</main>", "The whole text stands out here.\n\nempty\n");
}

#[test]
fn broken_pages_are_read() {
    check(
        "</p></b><li>a<td>b<b><p>c</i></div><h1>d<p>e",
        "- ab

  c

  # d

  e
",
    );
    check("<p>a<table><tr><td>x<td>y", "a\n\n| x | y |\n| --- | --- |\n");
    check("<p title='unclosed>a", "");
}

#[test]
fn xhtml_closes_its_elements_itself() {
    let page = "<?xml version='1.0'?><html><head><title/><script src='x'/></head><body><a id='x'/><p>a<br/>b</p></body></html>";
    check(page, "a\nb\n");
}

#[test]
fn an_encoding_that_the_page_declares_is_used() {
    let read = read("a.html", b"<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2").unwrap();
    assert_eq!((read.text.as_str(), read.notes), ("Привет\n", vec!["read as windows-1251, as it declares".to_owned()]));
}

#[test]
fn long_paragraphs_are_wrapped_and_quotes_still_found() {
    let sentence = "The Supplier shall deliver the goods to the Buyer. ";
    let read = read("a.html", format!("<blockquote>{}<b>It</b> ends.", sentence.repeat(100)).as_bytes()).unwrap();
    assert_eq!(read.notes, ["1 line over 2,000 characters was wrapped"]);
    let index = QuoteIndex::new(read.unit, &read.text);
    assert!(index.find(&sentence.repeat(99), None).is_some());
    assert_eq!(index.find("Buyer. It ends.", None).map(|place| place.from.line), Some(3));
}

#[test]
fn pages_made_to_exhaust_a_reader_are_refused() {
    let why = |html: &str| match read("a.html", html.as_bytes()) {
        Err(DocumentError::Refused { refusal: Refusal::Damaged { why, .. }, .. }) => why,
        other => panic!("{:.200}", format!("{other:?}")),
    };
    let deep = "it nests elements more than 500 deep";
    assert_eq!(why(&"<div>".repeat(100_000)), deep);
    assert_eq!(why(&"<ul><li>".repeat(100_000)), deep);
    assert_eq!(why(&"<table><tr><td>".repeat(100_000)), deep);
    assert_eq!(why(&"<template>".repeat(100_000)), deep);
    assert_eq!(why(&"<svg><g>".repeat(100_000)), deep);
    let unclosed = (0..400).map(|n| format!("<b class=c{n}>")).collect::<Vec<_>>().concat();
    assert_eq!(
        why(&format!("<p>{unclosed}</p>{}", "<p>x</p>".repeat(100_000))),
        "it repeats unclosed elements without end"
    );
    let attributes = (0..100_000).map(|n| format!(" a{n}")).collect::<Vec<_>>().concat();
    assert_eq!(why(&format!("<p{attributes}>")), "it has an element with over 20000 attributes");
}

#[test]
fn large_pages_that_only_look_odd_are_read() {
    assert_eq!(text(&"<p>x".repeat(50_000)).len(), 50_000 * 3 - 1);
    assert_eq!(text(&"<table>x".repeat(10_000)).matches('x').count(), 10_000);
    assert_eq!(text(&"<b><p>x</b>".repeat(400)).matches('x').count(), 400);
    assert_eq!(text(&"<br>x".repeat(50_000)).lines().count(), 50_000);
    assert_eq!(text(&format!("{}x", "<div>".repeat(490))), "x\n");
    let data = format!("<p title=\"{}\">x", "word ".repeat(50_000));
    assert_eq!(text(&data), "x\n");
}

proptest::proptest! {
    /// Any heap of tags gives a text or an error; all letters outside dropped elements are there, in order.
    #[test]
    fn heaps_of_tags_lose_no_text(
        parts in proptest::collection::vec("(</?(p|b|i|a|div|ul|ol|li|table|tr|td|th|caption|pre|h1|dl|dt|dd|blockquote|br|font|form|q)>|[xyz]{1,3}| )", 0..60),
    ) {
        let html = parts.concat();
        let letters = |text: &str| {
            let mut letters: Vec<char> = text.chars().filter(|c| "xyz".contains(*c)).collect();
            // The parser itself moves text out of tables, to before them.
            if html.contains("<table") {
                letters.sort_unstable();
            }
            letters
        };
        let expected = letters(&parts.iter().filter(|part| !part.starts_with('<')).cloned().collect::<String>());
        proptest::prop_assert_eq!(letters(&text(&html)), expected);
    }
}

#[test]
fn a_code_block_in_a_quotation_ends_with_it() {
    let html = "<blockquote><p>Said:</p><pre>one\ntwo</pre></blockquote><p>After.</p>";
    assert_eq!(text(html).trim_end(), "> Said:\n\n> ```\n> one\n> two\n> ```\n\nAfter.");
}

#[test]
fn a_page_that_a_browser_saved_with_its_images_is_read() {
    let page = "From: <Saved by Blink>\r\nSnapshot-Content-Location: https://example.org/\r\nSubject: x\r\nDate: d\r\n\
                MIME-Version: 1.0\r\nContent-Type: multipart/related; type=\"text/html\"; boundary=\"--x\"\r\n\r\n\r\n\
                ----x\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
                <html><p class=3D\"a\">The fee is =\r\n5 =E2=82=AC</p></html>\r\n----x\r\nContent-Type: text/css\r\n\r\np {}\r\n----x--\r\n";
    for name in ["a.mhtml", "page"] {
        let read = read(name, page.as_bytes()).unwrap();
        assert_eq!((read.text.as_str(), read.notes), ("The fee is 5 €\n", vec![]), "{name}");
    }
    let found = crate::members("a.mhtml", page.as_bytes()).unwrap();
    assert_eq!(found, crate::Members::default());
}

#[test]
fn no_entity_of_a_page_is_expanded() {
    let page = "<?xml version='1.0'?><!DOCTYPE html [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]>\n<html><body><p>&b;x\
                <![CDATA[<1 & 2>]]></p></body></html>";
    check(page, "&b;x<1 & 2>\n");
}
