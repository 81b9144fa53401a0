//! How many of a document's words are read: the text of each file of a folder beside another program's text of it, which lies in
//! a second folder under the file's name with `.txt` behind it. `cargo run -p overnight-documents --example words -- FILES TEXTS`

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::io::Write as _;
use std::path::Path;

use overnight_documents::{ending, extract};

/// From here on the words agree.
const PASSES: f64 = 0.95;

#[derive(Default)]
struct Tally {
    files: u32,
    passed: u32,
    refused: u32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let [files, texts] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "two folders are needed")?;
    let mut out = std::io::stdout().lock();
    let mut all: BTreeMap<String, Tally> = BTreeMap::new();
    for file in std::fs::read_dir(files)? {
        let path = file?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(expected) = std::fs::read(Path::new(&texts).join(format!("{name}.txt"))) else { continue };
        let tally = all.entry(ending(&name)).or_default();
        tally.files += 1;
        match extract(&name, &std::fs::read(&path)?) {
            Ok(read) => {
                let agreement = agreement(&words(&read.text), &words(&String::from_utf8_lossy(&expected)));
                tally.passed += u32::from(agreement >= PASSES);
                if agreement < PASSES {
                    writeln!(out, "{agreement:.3} {name}")?;
                }
            }
            Err(error) => {
                tally.refused += 1;
                writeln!(out, "refused: {error}")?;
            }
        }
    }
    for (kind, Tally { files, passed, refused }) in all {
        writeln!(out, "{kind}: {passed} of {files} agree, {refused} refused")?;
    }
    Ok(())
}

/// How often each word stands in a text.
fn words(text: &str) -> HashMap<String, u64> {
    let mut words = HashMap::new();
    for word in text.split(|found: char| !found.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *words.entry(word.to_lowercase()).or_default() += 1;
    }
    words
}

/// The harmonic mean of precision and recall.
#[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
fn agreement(ours: &HashMap<String, u64>, theirs: &HashMap<String, u64>) -> f64 {
    let common: u64 = ours.iter().map(|(word, count)| (*count).min(theirs.get(word).copied().unwrap_or(0))).sum();
    let both: u64 = ours.values().chain(theirs.values()).sum();
    if both == 0 { 1.0 } else { 2.0 * common as f64 / both as f64 }
}
