//! Makes contracts whose obligations are known, to measure what is found in them.
//!
//! ```text
//! cargo run --example make_contracts -- DIR 200
//! overnight submit extract-requirements --documents DIR/contracts --each --batch contracts
//! ```
//!
//! `DIR/contracts` has as many contracts of one to six pages, as Markdown, text with lines of 72 letters, or Word. The file
//! `DIR/truth.jsonl` has a line for each sentence or list item in them that binds somebody: document, page and text. The same
//! number makes the same contracts.

use fastrand::Rng;
use serde_json::json;
use std::{
    error::Error,
    fmt::Write as _,
    fs,
    io::{Cursor, Write as _},
    path::Path,
};
use zip::{ZipWriter, write::SimpleFileOptions};

const DEFAULT_COUNT: u64 = 200;
/// Letters of a line of text.
const WIDTH: usize = 72;

/// Of `{who}`, `{other}` and `{n}`.
const BINDING: [&str; 16] = [
    "The {who} shall deliver {n} pallets of goods to the depot of the {other} by noon.",
    "The {who} must not disclose the price list to anybody but the {other}.",
    "Each invoice of the {who} must name the order, the depot and the tax of {n} %.",
    "The {who} shall pay within {n} days after the invoice, unless the {other} has agreed to a later day in writing.",
    "Every box must be marked \"fragile; keep dry\", with the number {n} beside it.",
    "The {who} shall insure the goods for at least {n},000 EUR, and shall show the policy to the {other} on demand.",
    "Notices under this agreement must be sent by registered mail.",
    "+{n} % shall be added to each sum that is paid late.",
    "The {other} shall not assign its claims against the {who} to a third party.",
    "Where goods are damaged, the {who} must tell the {other} within {n} hours, and keep the goods apart.",
    "The vault door must be locked after each delivery, even where the {other} is still in the building.",
    "The {who} shall keep records of all deliveries for {n} years.",
    "A driver of the {who} must carry a pass that was issued by the {other}.",
    "The temperature of the hold shall stay below {n} °C during the whole journey.",
    "The {who} must repair or replace faulty goods at its own cost; the {other} shall grant it {n} days for that.",
    "No subcontractor shall be engaged before the {other} has consented.",
];
const LEADS: [&str; 2] = ["The {who} shall:", "At each delivery, the driver of the {who} must:"];
const ITEMS: [&str; 6] = [
    "count the pallets in the presence of the {other};",
    "sign the sheet for bay {n};",
    "hand over the keys of the {n} lockers;",
    "report missing goods at once;",
    "leave the ramp clean;",
    "close the gate behind the lorry.",
];
const OTHER: [&str; 14] = [
    "The {who} has its seat in the old harbour, some {n} km from the depot.",
    "In May {n} lorries came each week, and in June hardly any.",
    "The parties have worked together since the year of the great flood.",
    "\"Goods\" means the articles that are listed in annex {n}.",
    "The required form is attached as annex {n}.",
    "This agreement is governed by the law of the place of the depot.",
    "Prices are stated in euros without tax.",
    "Annex {n} has a map of the depot with its bays and ramps.",
    "Deliveries take place on Mondays and Thursdays.",
    "The {other} employs {n} people at the depot, most of them in the hold.",
    "Earlier agreements between the parties end with this one.",
    "Mustard, musts and wines are listed apart, because their duties differ.",
    "The marshalling yard lies behind the depot, and the old town in front of it.",
    "The {who} is glad of the trust that the {other} has shown.",
];
const HEADINGS: [&str; 8] = [
    "Delivery",
    "Payment",
    "Insurance",
    "Records",
    "Confidence",
    "What the parties must know",
    "Damages",
    "Last words",
];
const PARTIES: [&str; 8] =
    ["Supplier", "Buyer", "Carrier", "Lessee", "Keeper", "Müller & Söhne KG", "O'Neill Haulage", "Warehouse, Inc."];

const ENDINGS: [&str; 9] = ["md", "md", "md", "md", "txt", "txt", "txt", "txt", "docx"];

const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/";
const TYPES: &str = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/word/document.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#;
const LINKS: &str = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Target="word/document.xml"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>"#;

/// A part of a page.
enum Part {
    Heading(String),
    /// Sentences.
    Paragraph(Vec<String>),
    /// The line that leads into it, and its items.
    List(String, Vec<String>),
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let folder = words.next().ok_or("name the folder in which to make the contracts")?;
    let count = words.next().map_or(Ok(DEFAULT_COUNT), |word| word.parse())?;
    make(Path::new(&folder), count)
}

/// Makes `count` contracts in `folder`.
pub(crate) fn make(folder: &Path, count: u64) -> Result<(), Box<dyn Error>> {
    let documents = folder.join("contracts");
    fs::create_dir_all(&documents)?;
    let mut truth = String::new();
    for number in 1..=count {
        let mut rng = Rng::with_seed(number);
        let (mut pages, mut binding) = (Vec::new(), Vec::new());
        let parties = [PARTIES[rng.usize(..3)], PARTIES[rng.usize(3..PARTIES.len())]];
        for page in 1..=rng.usize(1..=6) {
            pages.push(parts(&mut rng, parties, &mut |text| binding.push((page, text.to_owned()))));
        }
        let ending = ENDINGS[rng.usize(..ENDINGS.len())];
        let name = format!("contract-{number:03}.{ending}");
        let title = format!("Agreement {number} between the {} and the {}", parties[0], parties[1]);
        let bytes = match ending {
            "docx" => word(&title, &pages)?,
            "txt" => plain(&title, &pages, &|line| wrapped(line)).into_bytes(),
            _ => plain(&title, &pages, &str::to_owned).into_bytes(),
        };
        fs::write(documents.join(&name), bytes)?;
        for (page, text) in binding {
            writeln!(truth, "{}", json!({"document": name, "page": page, "text": text}))?;
        }
    }
    Ok(fs::write(folder.join("truth.jsonl"), truth)?)
}

/// A page; each sentence and item that binds is told.
fn parts(rng: &mut Rng, parties: [&str; 2], tell: &mut dyn FnMut(&str)) -> Vec<Part> {
    let mut parts = Vec::new();
    let fill = |rng: &mut Rng, texts: &[&str]| {
        let text = texts[rng.usize(..texts.len())].replace("{who}", parties[0]).replace("{other}", parties[1]);
        text.replace("{n}", &rng.u32(2..90).to_string())
    };
    for _ in 0..rng.usize(2..=3) {
        parts.push(Part::Heading(HEADINGS[rng.usize(..HEADINGS.len())].to_owned()));
        for _ in 0..rng.usize(1..=2) {
            let mut sentences: Vec<String> = Vec::new();
            for _ in 0..rng.usize(3..=6) {
                let is_binding = rng.u8(..10) < 4;
                let text = fill(rng, if is_binding { &BINDING } else { &OTHER });
                if sentences.contains(&text) {
                    continue;
                }
                if is_binding {
                    tell(&text);
                }
                sentences.push(text);
            }
            parts.push(Part::Paragraph(sentences));
        }
        if rng.u8(..4) == 0 {
            let lead = fill(rng, &LEADS);
            let items: Vec<String> = ITEMS[rng.usize(..3)..].iter().map(|item| fill(rng, &[item])).collect();
            for item in &items {
                tell(item);
            }
            parts.push(Part::List(lead, items));
        }
    }
    parts
}

/// Text with form feeds between the pages.
fn plain(title: &str, pages: &[Vec<Part>], line: &dyn Fn(&str) -> String) -> String {
    let mut text = format!("# {title}\n\n");
    for (number, page) in pages.iter().enumerate() {
        if number > 0 {
            text.push('\u{c}');
        }
        for part in page {
            let words = match part {
                Part::Heading(heading) => format!("## {heading}"),
                Part::Paragraph(sentences) => line(&sentences.join(" ")),
                Part::List(lead, items) => format!("{lead}\n\n- {}", items.join("\n- ")),
            };
            text += &words;
            text += "\n\n";
        }
    }
    text
}

/// In lines of [`WIDTH`].
fn wrapped(text: &str) -> String {
    let (mut lines, mut letters) = (String::new(), 0);
    for word in text.split(' ') {
        let width = word.chars().count() + 1;
        if letters > 0 {
            lines.push(if letters + width > WIDTH { '\n' } else { ' ' });
        }
        letters = if letters + width > WIDTH { width } else { letters + width };
        lines.push_str(word);
    }
    lines
}

/// A Word file with page breaks.
fn word(title: &str, pages: &[Vec<Part>]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut body = paragraph("Title", title);
    for (number, page) in pages.iter().enumerate() {
        if number > 0 {
            body += "<w:p><w:r><w:br w:type=\"page\"/></w:r></w:p>";
        }
        for part in page {
            match part {
                Part::Heading(heading) => body += &paragraph("Heading1", heading),
                Part::Paragraph(sentences) => body += &paragraph("Normal", &sentences.join(" ")),
                Part::List(lead, items) => {
                    body += &paragraph("Normal", lead);
                    for item in items {
                        body += &paragraph("ListBullet", &format!("- {item}"));
                    }
                }
            }
        }
    }
    let document = format!(r#"<w:document xmlns:w="{WORD}main"><w:body>{body}</w:body></w:document>"#);
    let files =
        [("[Content_Types].xml", TYPES.to_owned()), ("_rels/.rels", LINKS.to_owned()), ("word/document.xml", document)];
    let mut file = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        file.start_file(name, SimpleFileOptions::default().last_modified_time(zip::DateTime::default()))?;
        file.write_all(text.as_bytes())?;
    }
    Ok(file.finish()?.into_inner())
}

fn paragraph(style: &str, text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!(r#"<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>"#)
}
