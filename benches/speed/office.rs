//! Documents as offices have them, as large as it is asked, of sentences that are not alike.

use std::{
    fmt::Write as _,
    io::{Cursor, Write as _},
};
use zip::{ZipWriter, write::SimpleFileOptions};

/// Words on a page.
const WORDS: usize = 420;
const LINE_WORDS: usize = 12;

/// Lines of page `number`.
fn lines(number: usize) -> Vec<String> {
    const STOCK: [&str; 16] = [
        "the", "keeper", "must", "weigh", "each", "crate", "before", "noon", "and", "record", "its", "mark", "in",
        "ledger", "within", "hours",
    ];
    let mut seed = number as u64 * 7_919 + 13;
    let words: Vec<String> = (0..WORDS)
        .map(|at| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let word = STOCK[(seed >> 33) as usize % STOCK.len()];
            if at % 23 == 22 {
                format!("{word}.")
            } else if at % 11 == 10 {
                format!("{word}{}", seed >> 54)
            } else {
                word.to_owned()
            }
        })
        .collect();
    words.chunks(LINE_WORDS).map(|line| line.join(" ")).collect()
}

pub(crate) fn text(pages: usize) -> Vec<u8> {
    (1..=pages).map(|page| lines(page).join("\n")).collect::<Vec<_>>().join("\n\x0c").into_bytes()
}

pub(crate) fn html(pages: usize) -> Vec<u8> {
    let mut html = "<!DOCTYPE html><title>Rules</title><main>".to_owned();
    for page in 1..=pages {
        let _ = write!(html, "<h2>Part {page}</h2>");
        for line in lines(page).chunks(6) {
            let _ = write!(html, "<p>{}</p>", line.join(" "));
        }
    }
    html.into_bytes()
}

/// With real objects, one font, no compression.
pub(crate) fn pdf(pages: usize) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        String::new(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let mut kids = String::new();
    for page in 1..=pages {
        let mut content = "BT /F1 11 Tf 72 740 Td 15 TL\n".to_owned();
        for line in lines(page) {
            let _ = writeln!(content, "({line}) Tj T*");
        }
        content.push_str("ET");
        let number = objects.len() + 1;
        let _ = write!(kids, "{number} 0 R ");
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents {} 0 R >>",
            number + 1
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    objects[1] = format!("<< /Type /Pages /Count {pages} /Kids [{kids}] >>");
    let mut file = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(&objects) {
        places.push(file.len());
        let _ = write!(file, "{number} 0 obj\n{object}\nendobj\n");
    }
    let start = file.len();
    let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        let _ = writeln!(file, "{place:010} 00000 n ");
    }
    let _ = write!(file, "trailer << /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1);
    file.into_bytes()
}

fn zipped(files: &[(String, String)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn file(name: &str, content: impl Into<String>) -> (String, String) {
    (name.to_owned(), content.into())
}

const RELATIONS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn relations(rows: &[(&str, &str)]) -> String {
    let mut xml = format!("<Relationships xmlns=\"{RELATIONS}\">");
    for (number, (kind, target)) in (1..).zip(rows) {
        let _ = write!(xml, "<Relationship Id=\"rId{number}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>");
    }
    xml + "</Relationships>"
}

fn types(rows: &[(String, &str)]) -> (String, String) {
    let mut xml = "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" ContentType=\"application/xml\"/>".to_owned();
    for (part, kind) in rows {
        let _ = write!(
            xml,
            "<Override PartName=\"{part}\" ContentType=\"application/vnd.openxmlformats-officedocument.{kind}+xml\"/>"
        );
    }
    file("[Content_Types].xml", xml + "</Types>")
}

pub(crate) fn docx(pages: usize) -> Vec<u8> {
    let mut body = String::new();
    for page in 1..=pages {
        let _ =
            write!(body, "<w:p><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr><w:r><w:t>Part {page}</w:t></w:r></w:p>");
        for line in lines(page).chunks(6) {
            let _ = write!(body, "<w:p><w:r><w:t>{}</w:t></w:r></w:p>", line.join(" "));
        }
        body.push_str("<w:p><w:r><w:br w:type=\"page\"/></w:r></w:p>");
    }
    zipped(&[
        types(&[("/word/document.xml".to_owned(), "wordprocessingml.document.main")]),
        file("_rels/.rels", relations(&[("officeDocument", "word/document.xml")])),
        file(
            "word/document.xml",
            format!(
                "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>{body}</w:body></w:document>"
            ),
        ),
    ])
}

/// One sheet with ten columns; some forty rows are as much as a page.
pub(crate) fn xlsx(pages: usize) -> Vec<u8> {
    let mut rows = String::new();
    for (number, line) in (1..).zip((1..=pages).flat_map(|page| [lines(page), lines(page + 1_000)].concat())) {
        let _ = write!(rows, "<row r=\"{number}\">");
        for (column, word) in ('A'..='J').zip(line.split(' ')) {
            let _ = write!(rows, "<c r=\"{column}{number}\" t=\"inlineStr\"><is><t>{word}</t></is></c>");
        }
        rows.push_str("</row>");
    }
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    zipped(&[
        types(&[
            ("/xl/workbook.xml".to_owned(), "spreadsheetml.sheet.main"),
            ("/xl/worksheets/sheet1.xml".to_owned(), "spreadsheetml.worksheet"),
        ]),
        file("_rels/.rels", relations(&[("officeDocument", "xl/workbook.xml")])),
        file("xl/_rels/workbook.xml.rels", relations(&[("worksheet", "worksheets/sheet1.xml")])),
        file(
            "xl/workbook.xml",
            format!(
                "<workbook xmlns=\"{main}\" xmlns:r=\"{OFFICE}\"><sheets><sheet name=\"Ledger\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"
            ),
        ),
        file(
            "xl/worksheets/sheet1.xml",
            format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData></worksheet>"),
        ),
    ])
}

pub(crate) fn csv(pages: usize) -> Vec<u8> {
    let rows = (1..=pages).flat_map(|page| [lines(page), lines(page + 1_000)].concat());
    rows.fold(String::new(), |mut csv, line| {
        let _ = writeln!(csv, "{}", line.replace(' ', ","));
        csv
    })
    .into_bytes()
}

pub(crate) fn pptx(pages: usize) -> Vec<u8> {
    let (drawing, slide) = (
        "http://schemas.openxmlformats.org/drawingml/2006/main",
        "http://schemas.openxmlformats.org/presentationml/2006/main",
    );
    let mut kinds = vec![("/ppt/presentation.xml".to_owned(), "presentationml.presentation.main")];
    let (mut rows, mut ids, mut files) = (Vec::new(), String::new(), Vec::new());
    for page in 1..=pages {
        kinds.push((format!("/ppt/slides/slide{page}.xml"), "presentationml.slide"));
        rows.push(format!("slides/slide{page}.xml"));
        let _ = write!(ids, "<p:sldId id=\"{}\" r:id=\"rId{page}\"/>", page + 255);
        let paragraphs = lines(page).iter().fold(String::new(), |mut text, line| {
            let _ = write!(text, "<a:p><a:r><a:t>{line}</a:t></a:r></a:p>");
            text
        });
        files.push((
            format!("ppt/slides/slide{page}.xml"),
            format!("<p:sld xmlns:p=\"{slide}\" xmlns:a=\"{drawing}\"><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/><p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"Text\"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:sp></p:spTree></p:cSld></p:sld>"),
        ));
    }
    let targets: Vec<(&str, &str)> = rows.iter().map(|target| ("slide", target.as_str())).collect();
    files.extend([
        types(&kinds),
        file("_rels/.rels", relations(&[("officeDocument", "ppt/presentation.xml")])),
        file("ppt/_rels/presentation.xml.rels", relations(&targets)),
        file(
            "ppt/presentation.xml",
            format!("<p:presentation xmlns:p=\"{slide}\" xmlns:r=\"{OFFICE}\"><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"),
        ),
    ]);
    zipped(&files)
}

pub(crate) fn epub(pages: usize) -> Vec<u8> {
    let (mut manifest, mut spine, mut files) = (String::new(), String::new(), Vec::new());
    files.push(file("mimetype", "application/epub+zip"));
    files.push(file(
        "META-INF/container.xml",
        "<container version=\"1.0\" xmlns=\"urn:oasis:names:tc:opendocument:xmlns:container\"><rootfiles><rootfile full-path=\"book.opf\" media-type=\"application/oebps-package+xml\"/></rootfiles></container>",
    ));
    for page in 1..=pages {
        let _ = write!(manifest, "<item id=\"c{page}\" href=\"c{page}.xhtml\" media-type=\"application/xhtml+xml\"/>");
        let _ = write!(spine, "<itemref idref=\"c{page}\"/>");
        let paragraphs = lines(page).chunks(6).fold(String::new(), |mut text, lines| {
            let _ = write!(text, "<p>{}</p>", lines.join(" "));
            text
        });
        files.push((
            format!("c{page}.xhtml"),
            format!("<html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title>Part {page}</title></head><body><h1>Part {page}</h1>{paragraphs}</body></html>"),
        ));
    }
    files.push(file(
        "book.opf",
        format!("<package xmlns=\"http://www.idpf.org/2007/opf\" version=\"3.0\"><metadata/><manifest>{manifest}</manifest><spine>{spine}</spine></package>"),
    ));
    zipped(&files)
}

pub(crate) fn mail(pages: usize) -> Vec<u8> {
    let mut mail = "From: a@example.org\r\nTo: b@example.org\r\nSubject: Rules\r\nDate: Sat, 21 Nov 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n".to_owned();
    for line in (1..=pages).flat_map(lines) {
        let _ = write!(mail, "{line}\r\n");
    }
    mail.into_bytes()
}
