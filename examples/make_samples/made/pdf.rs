//! The PDF, written by hand: standard fonts, plain streams, one object after another.

use super::layout::{Page, Placed, pages};
use super::source::Document;
use super::widths::Font;
use std::fmt::Write;

/// Objects before the pages: catalogue, list of pages, two fonts, information.
const FIRST_PAGE: usize = 6;

pub(super) fn bytes(document: &Document) -> Vec<u8> {
    let pages = pages(document);
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", FIRST_PAGE + 2 * at)).collect();
    let font = |name: &str| {
        format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>").into_bytes()
    };
    let mut objects: Vec<Vec<u8>> = vec![
        b"<< /Type /Catalog /Pages 2 0 R /Lang (en) >>".to_vec(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()).into_bytes(),
        font("Times-Roman"),
        font("Helvetica-Bold"),
        [b"<< /Title (", string(&document.title).as_slice(), b") >>"].concat(),
    ];
    for (at, page) in pages.iter().enumerate() {
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R \
                 /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>",
                FIRST_PAGE + 2 * at + 1
            )
            .into_bytes(),
        );
        let content = content(page);
        let head = format!("<< /Length {} >>\nstream\n", content.len());
        objects.push([head.as_bytes(), &content, b"\nendstream"].concat());
    }
    file(&objects)
}

fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (number, object) in (1..).zip(objects) {
        // writing to a string can't fail
        let _ = writeln!(table, "{:010} 00000 n ", bytes.len());
        bytes.extend(format!("{number} 0 obj\n").bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    let start = bytes.len();
    bytes.extend(table.bytes());
    let size = objects.len() + 1;
    bytes.extend(format!("trailer\n<< /Size {size} /Root 1 0 R /Info 5 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes());
    bytes
}

fn content(page: &Page) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Placed { x, y, size, font, text } in &page.texts {
        let font = match font {
            Font::Times => "F1",
            Font::Bold => "F2",
        };
        bytes.extend(format!("BT /{font} {size} Tf {} {} Td (", points(*x), points(*y)).bytes());
        bytes.extend(string(text));
        bytes.extend(b") Tj ET\n");
    }
    for rule in &page.rules {
        let (left, right, y) = (points(rule.left), points(rule.right), points(rule.y));
        bytes.extend(format!("0.5 w {left} {y} m {right} {y} l S\n").bytes());
    }
    bytes
}

/// Thousandths of a point as points.
fn points(thousandths: u32) -> String {
    format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
}

/// A text in Windows' Western encoding, as it stands between the brackets of a string.
fn string(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for c in text.chars() {
        match c {
            '(' | ')' | '\\' => bytes.extend([b'\\', c as u8]),
            '•' => bytes.push(0x95),
            '\u{20}'..='\u{7e}' | '\u{a0}'..='\u{ff}' => bytes.push(c as u8),
            _ => bytes.push(b'?'),
        }
    }
    bytes
}
