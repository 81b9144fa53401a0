//! The documents crate by itself: a file in; its pages, what is missing of it, and where a quote stands out.
//!
//! ```text
//! cargo run --example read_documents -- samples/standards/reading-rooms.pdf "daylight"
//! ```

use overnight_documents::{QuoteIndex, QuotePlace, Units, extract};
use std::{env, error::Error, fmt::Write, fs, path::Path};

/// What there is to say of the document at `path`, and of `quote` in it.
pub(crate) fn describe(path: &Path, quote: Option<&str>) -> Result<String, Box<dyn Error>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let extracted = extract(&name, &fs::read(path)?)?;
    let units = Units::new(extracted.unit, &extracted.text);
    let mut text = String::new();
    writeln!(text, "{name}: {}, {} units of kind {:?}", extracted.format.as_str(), units.count(), extracted.unit)?;
    for (number, unit) in (1..=units.count()).filter_map(|number| Some((number, units.get(number)?))) {
        writeln!(text, "{number}: {}", unit.lines().find(|line| !line.trim().is_empty()).unwrap_or_default())?;
    }
    for gap in &extracted.gaps {
        writeln!(text, "not read: {gap}")?;
    }
    for note in &extracted.notes {
        writeln!(text, "note: {note}")?;
    }
    if let Some(quote) = quote {
        match QuoteIndex::new(extracted.unit, extracted.text).find(quote, None) {
            Some(QuotePlace { from, .. }) => {
                let page = from.page.map_or_else(String::new, |page| format!("page {page}, "));
                writeln!(text, "the quote begins on {page}line {}, character {}", from.line, from.character)?;
            }
            None => writeln!(text, "the quote does not stand in it")?,
        }
    }
    Ok(text)
}

#[expect(clippy::print_stdout, reason = "an example shows what came of it")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("name a document, and a quote if you like")?;
    println!("{}", describe(Path::new(&path), arguments.next().as_deref())?);
    Ok(())
}
