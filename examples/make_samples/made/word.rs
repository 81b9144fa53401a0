//! The Word file: headings, text with footnotes, lists, tables, and the page breaks that Word records.

use super::package::{escaped, package};
use super::source::{Block, Document};
use std::{error::Error, fmt::Write};

const MAIN: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const RELATIONS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const TYPES: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml";

const STYLES: &str = "<w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"Normal\"><w:name w:val=\"Normal\"/>\
    <w:pPr><w:spacing w:after=\"120\"/></w:pPr></w:style>\
    <w:style w:type=\"paragraph\" w:styleId=\"Title\"><w:name w:val=\"Title\"/><w:basedOn w:val=\"Normal\"/>\
    <w:rPr><w:b/><w:sz w:val=\"40\"/></w:rPr></w:style>\
    <w:style w:type=\"paragraph\" w:styleId=\"Heading1\"><w:name w:val=\"heading 1\"/><w:basedOn w:val=\"Normal\"/>\
    <w:pPr><w:keepNext/><w:outlineLvl w:val=\"0\"/></w:pPr><w:rPr><w:b/><w:sz w:val=\"32\"/></w:rPr></w:style>\
    <w:style w:type=\"paragraph\" w:styleId=\"Heading2\"><w:name w:val=\"heading 2\"/><w:basedOn w:val=\"Normal\"/>\
    <w:pPr><w:keepNext/><w:outlineLvl w:val=\"1\"/></w:pPr><w:rPr><w:b/><w:sz w:val=\"26\"/></w:rPr></w:style>\
    <w:style w:type=\"paragraph\" w:styleId=\"ListParagraph\"><w:name w:val=\"List Paragraph\"/>\
    <w:basedOn w:val=\"Normal\"/><w:pPr><w:ind w:left=\"720\"/></w:pPr></w:style>\
    <w:style w:type=\"paragraph\" w:styleId=\"FootnoteText\"><w:name w:val=\"footnote text\"/>\
    <w:basedOn w:val=\"Normal\"/><w:rPr><w:sz w:val=\"18\"/></w:rPr></w:style>\
    <w:style w:type=\"character\" w:styleId=\"FootnoteReference\"><w:name w:val=\"footnote reference\"/>\
    <w:rPr><w:vertAlign w:val=\"superscript\"/></w:rPr></w:style>";

pub(super) fn bytes(document: &Document) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut body = Body::default();
    body.paragraph("Title", "", &document.title)?;
    let mut breaks = false;
    for block in &document.blocks {
        if block.r#break {
            breaks = true;
        } else {
            body.block(block, std::mem::take(&mut breaks))?;
        }
    }
    let part = |name: &str, kind: &str| {
        format!("<Override PartName=\"/word/{name}.xml\" ContentType=\"{TYPES}.{kind}+xml\"/>")
    };
    let types = [
        ("document", "document.main"),
        ("styles", "styles"),
        ("numbering", "numbering"),
        ("footnotes", "footnotes"),
        ("header1", "header"),
    ]
    .map(|(name, kind)| part(name, kind))
    .concat();
    let relations = ["styles.xml", "numbering.xml", "footnotes.xml", "header1.xml"]
        .map(|target| {
            let kind = target.trim_end_matches(".xml").trim_end_matches('1');
            format!("<Relationship Id=\"{kind}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
        })
        .concat();
    let separator = |id: i8, kind: &str, mark: &str| {
        format!("<w:footnote w:type=\"{kind}\" w:id=\"{id}\"><w:p><w:r><w:{mark}/></w:r></w:p></w:footnote>")
    };
    package(&[
        (
            "[Content_Types].xml",
            format!(
                "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
                 <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
                 <Default Extension=\"xml\" ContentType=\"application/xml\"/>{types}</Types>"
            ),
        ),
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{RELATIONS}\"><Relationship Id=\"rId1\" Type=\"{OFFICE}/officeDocument\" \
                 Target=\"word/document.xml\"/></Relationships>"
            ),
        ),
        (
            "word/document.xml",
            format!(
                "<w:document xmlns:w=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><w:body>{}<w:sectPr>\
                 <w:headerReference w:type=\"default\" r:id=\"header\"/><w:pgSz w:w=\"11906\" w:h=\"16838\"/>\
                 <w:pgMar w:top=\"1440\" w:right=\"1440\" w:bottom=\"1440\" w:left=\"1440\" w:header=\"708\" \
                 w:footer=\"708\" w:gutter=\"0\"/></w:sectPr></w:body></w:document>",
                body.text
            ),
        ),
        ("word/_rels/document.xml.rels", format!("<Relationships xmlns=\"{RELATIONS}\">{relations}</Relationships>")),
        ("word/styles.xml", format!("<w:styles xmlns:w=\"{MAIN}\">{STYLES}</w:styles>")),
        (
            "word/numbering.xml",
            format!(
                "<w:numbering xmlns:w=\"{MAIN}\"><w:abstractNum w:abstractNumId=\"0\"><w:lvl w:ilvl=\"0\">\
                 <w:start w:val=\"1\"/><w:numFmt w:val=\"bullet\"/><w:lvlText w:val=\"•\"/><w:lvlJc w:val=\"left\"/>\
                 <w:pPr><w:ind w:left=\"720\" w:hanging=\"360\"/></w:pPr></w:lvl></w:abstractNum>\
                 <w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num></w:numbering>"
            ),
        ),
        (
            "word/footnotes.xml",
            format!(
                "<w:footnotes xmlns:w=\"{MAIN}\">{}{}{}</w:footnotes>",
                separator(-1, "separator", "separator"),
                separator(0, "continuationSeparator", "continuationSeparator"),
                body.notes
            ),
        ),
        ("word/header1.xml", format!("<w:hdr xmlns:w=\"{MAIN}\"><w:p>{}</w:p></w:hdr>", run(&document.header))),
    ])
}

#[derive(Default)]
struct Body {
    text: String,
    notes: String,
    noted: usize,
}

impl Body {
    fn block(&mut self, block: &Block, breaks: bool) -> Result<(), Box<dyn Error>> {
        let page = if breaks { "<w:pageBreakBefore/>" } else { "" };
        if let Some(title) = &block.heading {
            self.paragraph("Heading1", page, title)?;
        }
        if let Some(title) = &block.subheading {
            self.paragraph("Heading2", page, title)?;
        }
        if let Some(text) = &block.text {
            self.paragraph("Normal", page, text)?;
        }
        let list = "<w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr>";
        for item in block.items.iter().flatten() {
            self.paragraph("ListParagraph", list, item)?;
        }
        if let Some(rows) = &block.table {
            self.table(rows)?;
        }
        Ok(())
    }

    fn paragraph(&mut self, style: &str, properties: &str, text: &str) -> Result<(), Box<dyn Error>> {
        write!(self.text, "<w:p><w:pPr><w:pStyle w:val=\"{style}\"/>{properties}</w:pPr>")?;
        if properties.contains("pageBreakBefore") {
            self.text.push_str("<w:r><w:lastRenderedPageBreak/></w:r>");
        }
        let mut rest = text;
        while let Some((before, (note, after))) =
            rest.split_once("^[").and_then(|(before, note)| Some((before, note.split_once(']')?)))
        {
            self.text.push_str(&run(before));
            self.note(note)?;
            rest = after;
        }
        self.text.push_str(&run(rest));
        self.text.push_str("</w:p>");
        Ok(())
    }

    fn note(&mut self, note: &str) -> Result<(), Box<dyn Error>> {
        self.noted += 1;
        let style = "<w:rPr><w:rStyle w:val=\"FootnoteReference\"/></w:rPr>";
        write!(self.text, "<w:r>{style}<w:footnoteReference w:id=\"{}\"/></w:r>", self.noted)?;
        write!(
            self.notes,
            "<w:footnote w:id=\"{}\"><w:p><w:pPr><w:pStyle w:val=\"FootnoteText\"/></w:pPr>\
             <w:r>{style}<w:footnoteRef/></w:r>{}</w:p></w:footnote>",
            self.noted,
            run(&format!(" {note}"))
        )?;
        Ok(())
    }

    fn table(&mut self, rows: &[Vec<String>]) -> Result<(), Box<dyn Error>> {
        let edges = ["top", "left", "bottom", "right", "insideH", "insideV"]
            .map(|edge| format!("<w:{edge} w:val=\"single\" w:sz=\"4\"/>"))
            .concat();
        write!(self.text, "<w:tbl><w:tblPr><w:tblW w:w=\"0\" w:type=\"auto\"/><w:tblBorders>{edges}</w:tblBorders>")?;
        self.text.push_str("</w:tblPr><w:tblGrid>");
        for _ in rows.first().into_iter().flatten() {
            self.text.push_str("<w:gridCol w:w=\"3000\"/>");
        }
        self.text.push_str("</w:tblGrid>");
        for (at, row) in rows.iter().enumerate() {
            self.text.push_str(if at == 0 { "<w:tr><w:trPr><w:tblHeader/></w:trPr>" } else { "<w:tr>" });
            for cell in row {
                self.text.push_str("<w:tc>");
                self.paragraph("Normal", "", cell)?;
                self.text.push_str("</w:tc>");
            }
            self.text.push_str("</w:tr>");
        }
        self.text.push_str("</w:tbl>");
        Ok(())
    }
}

fn run(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("<w:r><w:t xml:space=\"preserve\">{}</w:t></w:r>", escaped(text))
}
