//! The documents: good ones of each format cut, flipped and misnamed, and those that are made to exhaust a reader.

#[path = "../../../benches/speed/office.rs"]
#[expect(dead_code, reason = "plain text is made for the measurement alone")]
mod office;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{Cursor, Write as _},
};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// What must be said of some of them.
pub(super) const EXPECTED: [(&str, &str); 12] = [
    ("entities.odt", "declares a document type"),
    ("encrypted.odt", "password"),
    ("entities.docx", "declares a document type"),
    ("deep.docx", "elements are nested in it"),
    ("encrypted.pdf", "password"),
    ("encrypted.docx", "password"),
    ("encrypted.zip", "password"),
    ("bomb.zip", "unpack"),
    ("nested-bomb.zip", "deep"),
    ("empty.pdf", "no text"),
    ("program.txt", "a program"),
    ("random.docx", "its bytes are not those of such a file"),
];

/// All of them, by name.
pub(super) fn documents() -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let old = include_bytes!("../../../crates/overnight-documents/src/readers/old_office/sample.zip");
    let good: [(&str, Vec<u8>); 16] = [
        ("pdf", office::pdf(3)),
        ("docx", office::docx(3)),
        ("xlsx", office::xlsx(2)),
        ("pptx", office::pptx(3)),
        ("epub", office::epub(3)),
        ("html", office::html(2)),
        ("eml", office::mail(1)),
        ("csv", office::csv(1)),
        ("odt", open_text()),
        ("rtf", RTF.as_bytes().to_vec()),
        ("doc", unzipped(old, "a.doc")),
        ("ppt", unzipped(old, "a.ppt")),
        ("json", br#"{"duties":[{"who":"The keeper","text":"The keeper MUST weigh each crate."}]}"#.to_vec()),
        (
            "xml",
            b"<?xml version='1.0'?><duties><duty who='keeper'>The keeper MUST weigh each crate.</duty></duties>"
                .to_vec(),
        ),
        ("ipynb", br#"{"cells":[{"cell_type":"markdown","source":["The keeper MUST weigh."]}],"nbformat":4}"#.to_vec()),
        ("zip", zipped(&[("inside/a.txt", b"The keeper MUST look inside."), ("b.html", b"<p>B MUST be.")])),
    ];
    for (number, (ending, bytes)) in good.iter().enumerate() {
        for part in 1..10 {
            all.insert(format!("cut-{part}.{ending}"), bytes[..bytes.len() * part / 10].to_vec());
        }
        for flip in 0..8 {
            let mut flipped = bytes.clone();
            let mut place = flip * 7_919 + 11;
            for _ in 0..20 {
                place = (place * 31 + 17) % flipped.len();
                flipped[place] ^= 1 << (place % 8);
            }
            all.insert(format!("flipped-{flip}.{ending}"), flipped);
        }
        let (other, _) = good[(number + 1) % good.len()];
        all.insert(format!("really-{ending}.{other}"), bytes.clone());
        all.insert(format!("empty.{ending}"), Vec::new());
        all.insert(format!("random.{ending}"), random(5_000));
    }
    let mut add = |name: &str, bytes: Vec<u8>| all.insert(name.to_owned(), bytes);
    add("program.txt", [b"\x7fELF\x02\x01\x01\0".to_vec(), random(500)].concat());
    add("zeros.txt", vec![0; 100_000]);
    add("one-line.txt", vec![b'a'; 3_000_000]);
    add("deep.html", "<div>".repeat(100_000).into_bytes());
    add("deep.json", "[".repeat(500_000).into_bytes());
    add("deep.md", "> ".repeat(200_000).into_bytes());
    add("attributes.html", format!("<p {}>A", "a=1 ".repeat(200_000)).into_bytes());
    add("deep.xml", format!("<?xml version='1.0'?>{}x{}", "<a>".repeat(9_000), "</a>".repeat(9_000)).into_bytes());
    add("deep.rtf", format!("{{\\rtf1{}x", "{\\footnote ".repeat(200_000)).into_bytes());
    add("deep.odt", open_file(&format!("{}<text:p>x</text:p>", "<text:section>".repeat(9_000)), ""));
    add(
        "repeated.odt",
        open_file(
            &format!(
                "<table:table><table:table-row>{}</table:table-row></table:table>",
                "<table:table-cell table:number-columns-repeated=\"1000000000\"><text:p>x</text:p></table:table-cell>"
                    .repeat(100)
            ),
            "",
        ),
    );
    add("encrypted.odt", open_file("", "<manifest><encryption-data/></manifest>"));
    add(
        "random.one",
        [&b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3"[..], &random(20_000)].concat(),
    );
    add("parts.eml", parts(5_000));
    add("headers.eml", format!("From: a@b.c\r\n{}\r\nText", "X-A: b\r\n".repeat(100_000)).into_bytes());
    bombs(&mut add);
    loops(&mut add);
    locked(&mut add);
    all
}

const RTF: &str = r"{\rtf1\ansi{\fonttbl{\f0 Arial;}}\pard The keeper MUST weigh{\footnote In May.} each crate.\par
\trowd\intbl Item\cell Price\cell\row\pard{\listtext 1.\tab}Open the gate.\par}";

fn open_text() -> Vec<u8> {
    let body = "<text:h text:outline-level=\"1\">Duties</text:h><text:p>The keeper MUST weigh each crate.</text:p><text:list><text:list-item>\
        <text:p>Open the gate.</text:p></text:list-item></text:list><table:table><table:table-row><table:table-cell><text:p>Lamp</text:p>\
        </table:table-cell></table:table-row></table:table>";
    open_file(body, "<manifest/>")
}

fn open_file(body: &str, manifest: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:body><office:text>{body}</office:text></office:body></office:document-content>"
    );
    zipped(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", manifest.as_bytes()),
        ("content.xml", content.as_bytes()),
    ])
}

fn unzipped(archive: &[u8], name: &str) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(Cursor::new(archive)).unwrap();
    let mut bytes = Vec::new();
    std::io::copy(&mut archive.by_name(name).unwrap(), &mut bytes).unwrap();
    bytes
}

/// Little that unpacks to much, and entities that stand for more of themselves.
fn bombs(add: &mut impl FnMut(&str, Vec<u8>) -> Option<Vec<u8>>) {
    let blank = vec![b' '; 300 << 20];
    let bomb = zipped(&[("blank.txt", &blank)]);
    add("bomb.zip", bomb.clone());
    let mut nested = zipped(&[("a.txt", b"Deep down")]);
    for _ in 0..12 {
        nested = zipped(&[("next.zip", &nested)]);
    }
    add("nested-bomb.zip", nested);
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
    let types = format!("<Types><Override PartName=\"/word/document.xml\" ContentType=\"{word}\"/></Types>");
    let document = |xml: &[u8]| zipped(&[("[Content_Types].xml", types.as_bytes()), ("word/document.xml", xml)]);
    add("bomb.docx", document(&blank));
    let mut laughs = "<!DOCTYPE lolz [<!ENTITY a0 \"lol\">".to_owned();
    for level in 1..12 {
        let _ = write!(laughs, "<!ENTITY a{level} \"{}\">", format!("&a{};", level - 1).repeat(10));
    }
    laughs.push_str("]><w:document><w:body><w:p><w:r><w:t>&a11;</w:t></w:r></w:p></w:body></w:document>");
    add("entities.docx", document(laughs.as_bytes()));
    add("entities.xml", laughs.clone().into_bytes());
    let open = b"application/vnd.oasis.opendocument.text";
    add("entities.odt", zipped(&[("mimetype", open), ("content.xml", laughs.as_bytes())]));
    add("entities.html", laughs.into_bytes());
    add("deep.docx", document(format!("<w:document><w:body>{}", "<w:p>".repeat(300_000)).as_bytes()));
    let sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml";
    let types = format!("<Types><Override PartName=\"/xl/workbook.xml\" ContentType=\"{sheet}\"/></Types>");
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let book = format!(
        "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets><sheet name=\"Vast\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"
    );
    let relations = format!(
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" Type=\"{office}/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>"
    );
    let vast = format!(
        "<worksheet xmlns=\"{main}\"><dimension ref=\"A1:NTP10000\"/><sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"10000\"><c r=\"NTP10000\"><v>2</v></c></row></sheetData></worksheet>"
    );
    add(
        "vast.xlsx",
        zipped(&[
            ("[Content_Types].xml", types.as_bytes()),
            ("xl/workbook.xml", book.as_bytes()),
            ("xl/_rels/workbook.xml.rels", relations.as_bytes()),
            ("xl/worksheets/sheet1.xml", vast.as_bytes()),
        ]),
    );
    let calc = "application/vnd.oasis.opendocument.spreadsheet";
    let cells = "<office:document-content xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\"><office:body><office:spreadsheet><table:table table:name=\"Vast\"><table:table-row table:number-rows-repeated=\"10000\"><table:table-cell office:value-type=\"string\" table:number-columns-repeated=\"10000\"><text:p>x</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>";
    add("vast.ods", zipped(&[("mimetype", calc.as_bytes()), ("content.xml", cells.as_bytes())]));
}

/// Files in which following what is written never ends.
fn loops(add: &mut impl FnMut(&str, Vec<u8>) -> Option<Vec<u8>>) {
    let file = |objects: &[&str]| {
        let mut file = "%PDF-1.5\n".to_owned();
        for (number, object) in (1..).zip(objects) {
            let _ = write!(file, "{number} 0 obj\n{object}\nendobj\n");
        }
        file.push_str("trailer << /Root 1 0 R >>\n%%EOF\n");
        file.into_bytes()
    };
    let root = "<< /Type /Catalog /Pages 2 0 R >>";
    add("pages-loop.pdf", file(&[root, "<< /Type /Pages /Count 5 /Kids [2 0 R 2 0 R] >>"]));
    add(
        "parent-loop.pdf",
        file(&[root, "<< /Type /Pages /Count 1 /Kids [3 0 R] /Parent 3 0 R >>", "<< /Type /Page /Parent 3 0 R >>"]),
    );
    add(
        "many-pages.pdf",
        file(&[root, "<< /Type /Pages /Count 1000000000 /Kids [3 0 R] >>", "<< /Type /Page /Parent 2 0 R >>"]),
    );
    add("deep.pdf", file(&[root, &"[".repeat(100_000)]));
    let content = "<< /Length 6 >>\nstream\n/A Do \nendstream";
    let form = "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /A 5 0 R >> >> /Length 12 >>\nstream\n/A Do /A Do \nendstream";
    add(
        "form-loop.pdf",
        file(&[
            root,
            "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /A 5 0 R >> >> >>",
            content,
            form,
        ]),
    );
    add(
        "table-loop.pdf",
        b"%PDF-1.4\nxref\n0 1\n0000000000 65535 f \ntrailer << /Root 1 0 R /Size 1 /Prev 9 >>\nstartxref\n9\n%%EOF"
            .to_vec(),
    );
    add("reference-loop.pdf", file(&["2 0 R", "1 0 R"]));
}

/// What nobody reads without its password.
fn locked(add: &mut impl FnMut(&str, Vec<u8>) -> Option<Vec<u8>>) {
    let pdf = String::from_utf8(office::pdf(1)).unwrap();
    let zeros = "00".repeat(32);
    let lock = format!(
        "trailer << /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <{zeros}> /U <{zeros}> >> /ID [<00><00>] "
    );
    add("encrypted.pdf", pdf.replace("trailer << ", &lock).into_bytes());
    let mut office = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    for name in ["EncryptionInfo", "EncryptedPackage"] {
        office.create_stream(name).unwrap().write_all(&random(5_000)).unwrap();
    }
    office.flush().unwrap();
    add("encrypted.docx", office.into_inner().into_inner());
    let mut archive = zipped(&[("secret.txt", b"Nobody knows")]);
    // The flag in the entry's two headers.
    for (mark, at) in [(&b"PK\x03\x04"[..], 6), (&b"PK\x01\x02"[..], 8)] {
        let place = archive.windows(4).position(|four| four == mark).unwrap();
        archive[place + at] |= 1;
    }
    add("encrypted.zip", archive);
}

/// A mail of parts in parts.
fn parts(depth: usize) -> Vec<u8> {
    let mut mail = "From: a@b.c\r\nTo: b@b.c\r\nSubject: Deep\r\nMIME-Version: 1.0\r\n".to_owned();
    for level in 0..depth {
        let _ = write!(mail, "Content-Type: multipart/mixed; boundary=b{level}\r\n\r\n--b{level}\r\n");
    }
    mail.into_bytes()
}

pub(crate) fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        let how = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        archive.start_file(*name, how).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Bytes without order, the same each time.
fn random(count: usize) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252_u64;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        })
        .collect()
}
