//! Presentations made by hand, and the text of each.

use crate::extract::extract;
use crate::readers::package::sample::{relations, types, zip};
use crate::units::Unit;

/// A shape: its placeholder, its position, its paragraphs.
fn shape(holder: &str, place: Option<(i64, i64)>, paragraphs: &str) -> String {
    let place = place.map_or_else(String::new, |(x, y)| {
        format!("<a:xfrm><a:off x=\"{x}\" y=\"{y}\"/><a:ext cx=\"100\" cy=\"100\"/></a:xfrm>")
    });
    format!("<p:sp><p:nvPr>{holder}</p:nvPr><p:spPr>{place}</p:spPr><p:txBody>{paragraphs}</p:txBody></p:sp>")
}

fn p(text: &str) -> String {
    format!("<a:p><a:r><a:rPr><a:t>no</a:t></a:rPr><a:t>{text}</a:t></a:r></a:p>")
}

fn slides(slides: &[(&str, &str)], more: &[(&str, &str)]) -> Vec<u8> {
    let (types, mut all) = (types("presentationml.presentation"), Vec::new());
    for (id, target) in [("r1", "slides/slide2.xml"), ("r2", "slides/slide1.xml"), ("r3", "slides/slide3.xml")] {
        all.push((id, "slide", target));
    }
    let relations = relations(&all);
    let main = "<p:presentation><p:sldIdLst><p:sldId id=\"9\" r:id=\"r1\"/><p:sldId id=\"8\" r:id=\"r2\"/>\
        <p:sldId id=\"7\" r:id=\"r3\"/></p:sldIdLst></p:presentation>";
    let mut parts = vec![
        ("[Content_Types].xml", types.as_str()),
        ("ppt/presentation.xml", main),
        ("ppt/_rels/presentation.xml.rels", &relations),
    ];
    parts.extend_from_slice(slides);
    parts.extend_from_slice(more);
    zip(&parts)
}

#[test]
fn slides_come_in_their_order_with_title_text_and_notes() {
    let title = shape("<p:ph type=\"title\"/>", None, &p("Second file, first slide"));
    let list = shape(
        "<p:ph idx=\"1\"/>",
        None,
        "<a:p><a:t>point</a:t></a:p><a:p><a:pPr lvl=\"1\"/><a:t>deeper</a:t></a:p><a:p><a:pPr><a:buNone/></a:pPr><a:t>plain </a:t><a14:m><m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e>\
         <m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></a14:m></a:p>\
         <a:p><a:pPr><a:buAutoNum startAt=\"3\"/></a:pPr><a:t>three</a:t></a:p><a:p><a:pPr><a:buAutoNum startAt=\"3\"/></a:pPr><a:t>four</a:t></a:p>",
    );
    let number = shape("<p:ph type=\"sldNum\"/>", None, &p("17"));
    let first = format!("<p:sld><p:spTree>{list}{number}{title}</p:spTree></p:sld>");
    let boxes = [(500, 510, "right"), (0, 500, "left"), (0, 0, "top")]
        .map(|(x, y, text)| shape("", Some((x, y)), &p(text)))
        .concat();
    let table = "<p:graphicFrame><p:xfrm><a:off x=\"0\" y=\"900\"/><a:ext cx=\"9\" cy=\"9\"/></p:xfrm><a:tbl><a:tr><a:tc><a:txBody>\
        <a:p><a:t>a</a:t></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:t>b</a:t></a:p></a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>";
    let group = format!(
        "<p:grpSp><p:grpSpPr><a:xfrm><a:off x=\"0\" y=\"200\"/><a:ext cx=\"100\" cy=\"100\"/><a:chOff x=\"0\" y=\"9000\"/>\
         <a:chExt cx=\"100\" cy=\"100\"/></a:xfrm></p:grpSpPr>{}</p:grpSp>",
        shape("", Some((0, 9000)), &p("grouped")),
    );
    let second = format!("<p:sld show=\"0\"><p:spTree>{table}{boxes}{group}</p:spTree></p:sld>");
    let notes =
        format!("<p:notes><p:spTree>{}</p:spTree></p:notes>", shape("<p:ph type=\"body\"/>", None, &p("Say it")));
    let bytes = slides(
        &[
            ("ppt/slides/slide2.xml", &first),
            ("ppt/slides/slide1.xml", &second),
            ("ppt/slides/slide3.xml", "<p:sld><p:pic><a:blip/></p:pic></p:sld>"),
        ],
        &[
            ("ppt/slides/_rels/slide2.xml.rels", &relations(&[("a", "notesSlide", "../notesSlides/n.xml")])),
            ("ppt/notesSlides/n.xml", &notes),
        ],
    );
    let extracted = extract("a.pptx", &bytes).unwrap();
    let pages: Vec<&str> = extracted.text.split('\x0c').collect();
    assert_eq!(
        pages,
        [
            "# Second file, first slide\n\n- point\n  - deeper\n\nplain x^2\n\n3. three\n4. four\n\nNotes:\n\nSay it\n",
            "(hidden slide)\n\ntop\n\ngrouped\n\nleft\n\nright\n\n| a | b |\n| --- | --- |\n",
            "\n",
        ]
    );
    let gaps: Vec<String> = extracted.gaps.iter().map(ToString::to_string).collect();
    assert_eq!((extracted.unit, gaps), (Unit::Page, vec!["page 3: nothing but an image on it".to_owned()]));
    assert_eq!(extracted.notes, ["1 of its slides is hidden, and was read", "1 image was left out"]);
}

#[test]
fn what_is_seen_of_runs_diagrams_pictures_and_charts() {
    let run = |properties: &str, inner: &str, text: &str| {
        format!("<a:r><a:rPr {properties}>{inner}</a:rPr><a:t>{text}</a:t></a:r>")
    };
    let line = |runs: &str| format!("<a:p>{runs}</a:p>");
    let target = "<a:hlinkClick r:id=\"h\"/>";
    let list = |kind: &str, text: &str| {
        format!("<a:p><a:pPr><a:buAutoNum type=\"{kind}\"/></a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>")
    };
    let body = line(
        &(run("", "", "2 × 10")
            + &run("baseline=\"30000\"", "", "5")
            + &run("", "", " of CO")
            + &run("baseline=\"-25000\"", "", "2")),
    ) + &line(
        &(run("strike=\"sngStrike\"", "", "old")
            + &run("", "", " new")
            + &run("", "<a:sym typeface=\"Wingdings\"/>", "\u{f0fc}")),
    ) + &line(&(run("", target, "the ") + &run("b=\"1\"", target, "terms")))
        + &list("alphaLcParenR", "one")
        + &list("alphaLcParenR", "two");
    let footer = shape("<p:ph type=\"ftr\"/>", Some((0, 950)), &p("Confidential"));
    let picture = "<p:pic><p:cNvPr descr=\"A gate\"><a:hlinkClick r:id=\"h\"/></p:cNvPr><p:xfrm><a:off x=\"0\" y=\"500\"/><a:ext cx=\"9\" cy=\"9\"/></p:xfrm><a:blip/></p:pic>";
    let frame = |inner: &str, y: i64| {
        format!(
            "<p:graphicFrame><p:xfrm><a:off x=\"0\" y=\"{y}\"/><a:ext cx=\"9\" cy=\"9\"/></p:xfrm>{inner}</p:graphicFrame>"
        )
    };
    let slide = format!(
        "<p:sld><p:spTree>{}{picture}{}{}{footer}</p:spTree></p:sld>",
        shape("", Some((0, 0)), &body),
        frame("<dgm:relIds r:dm=\"d\"/>", 600),
        frame("<c:chart r:id=\"c\"/>", 700),
    );
    let rels = "<Relationships><Relationship Id=\"h\" Type=\"x/hyperlink\" Target=\"https://example.org/t\" TargetMode=\"External\"/>\
        <Relationship Id=\"d\" Type=\"x/diagramData\" Target=\"../d.xml\"/><Relationship Id=\"c\" Type=\"x/chart\" Target=\"../c.xml\"/></Relationships>";
    let diagram =
        "<dgm:dataModel><dgm:pt><dgm:t><a:p><a:r><a:t>Close</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>";
    let point = |at: u8, value: &str| format!("<c:pt idx=\"{at}\"><c:v>{value}</c:v></c:pt>");
    let values = |code: &str, values: String| {
        format!(
            "<c:ser><c:val><c:numRef><c:numCache><c:formatCode>{code}</c:formatCode>{values}</c:numCache></c:numRef></c:val></c:ser>"
        )
    };
    let chart = format!(
        "<c:chart>{}{}</c:chart>",
        values("0%", point(0, "0.25") + &point(1, "0.55000000000000004")),
        values("General", point(0, "4.4000000000000004") + &point(1, "2")),
    );
    let bytes = slides(
        &[("ppt/slides/slide2.xml", &slide)],
        &[("ppt/slides/_rels/slide2.xml.rels", rels), ("ppt/d.xml", diagram), ("ppt/c.xml", &chart)],
    );
    let text = extract("a.pptx", &bytes).unwrap().text;
    assert_eq!(
        text.split('\x0c').next(),
        Some(
            "2 × 10⁵ of CO₂\n\n~~old~~ new✓\n\nthe terms (https://example.org/t)\n\na) one\nb) two\n\n[picture: A gate]\n\n(https://example.org/t)\n\n- Close\n\n\
             |  |  |  |\n| --- | --- | --- |\n|  | 25% | 4.4 |\n|  | 55% | 2 |\n\nConfidential\n"
        )
    );
}

#[test]
fn a_damaged_slide_is_a_gap_and_the_others_are_read() {
    let good = format!("<p:sld>{}</p:sld>", shape("", None, &p("good")));
    let cut = format!("<p:sld>{}<p:sp>", shape("", None, &p("before")));
    let bytes = slides(&[("ppt/slides/slide2.xml", &cut), ("ppt/slides/slide1.xml", &good)], &[]);
    let extracted = extract("a.pptx", &bytes).unwrap();
    let gaps: Vec<String> = extracted.gaps.iter().map(ToString::to_string).collect();
    assert_eq!(extracted.text, "before\n\x0cgood\n\x0c\n");
    assert_eq!(
        gaps,
        [
            "page 1: cut off, because its part ppt/slides/slide2.xml can't be read: it is cut off",
            "page 3: cut off, because its part ppt/slides/slide3.xml is missing",
        ]
    );
}
