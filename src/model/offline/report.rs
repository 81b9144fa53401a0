//! The reports for people, written from the working files.

use super::{
    calls::{Call, append, blocked, complete, read, write},
    ends,
    listing::{Listed, listing},
    plans::Kind,
    position::{PATH, Position},
    seen::Seen,
};
use std::{collections::BTreeMap, fmt::Write};

const COUNTS: &str = "work/counts.tsv";
/// Reads of the counts; what is beyond them is said to be left out.
const MOST_READS: usize = 30;
/// Parts of the list of documents that are asked for.
const MOST_PARTS: usize = 200;
/// Rows of the table of documents.
const MOST_ROWS: usize = 100;

/// What every report says of how it was made.
const METHOD: &str = "This report was made by rules, not by a language model: the sentences are found by their words and their \
place in the text, and nothing in them was reworded. The rules see a sentence, a list item or a table row at a time. They do not \
weigh what a statement means in its context, do not follow references to documents that were not among the inputs, and do not see \
contradictions between statements of the same document. Each entry names the document and the page or line where it stands, so \
that it can be looked up. What stands in code blocks and in quotations was left out on purpose, and so were headings and \
explanations of the key words themselves. A reader who relies on single entries should open the document at the place named.";

/// The next calls for `Write <report>`.
pub(super) fn work(seen: &Seen<'_>, kind: Kind) -> Vec<Call> {
    let mut needed = vec![PATH, COUNTS];
    match kind {
        Kind::Audit => needed.extend(["work/contradicted.md", "work/missing.md", "work/partial.md"]),
        Kind::Extract | Kind::Summarise => {}
    }
    let mut unread: Vec<Call> =
        needed.iter().filter(|path| !seen.did("read_file", "path", path)).map(|path| read(path)).collect();
    let listed = documents(seen);
    unread.extend(listed.as_ref().err().into_iter().flatten().cloned());
    if !seen.did("read_file", "path", kind.records()) {
        unread.push(ends::count(kind.records()));
    }
    if !unread.is_empty() {
        return unread;
    }
    let parts = parts(&listed.unwrap_or_default());
    if let Some(more) = super::act::read_on(seen, COUNTS).filter(|_| reads_of(seen, COUNTS) < MOST_READS) {
        return vec![more];
    }
    let mut position = Position::seen(seen).unwrap_or_default();
    if ends::is_short(seen, &position, kind.records()) {
        let reason = format!("{} lacks records that were written there; run the job again", kind.records());
        return vec![blocked(&reason)];
    }
    let path = kind.report();
    let calls = match kind {
        Kind::Extract => vec![write(path, &extraction(&position, &text_of(seen, COUNTS), &parts))],
        Kind::Summarise => {
            let counts = ends::counts(seen, &position, &[path]);
            if !counts.is_empty() {
                return counts;
            }
            let text = closing(&position, &text_of(seen, COUNTS), &parts);
            let text = ends::lacking_lines(seen, &mut position, path, &text);
            if text.is_empty() { Vec::new() } else { vec![append(path, &text)] }
        }
        Kind::Audit => vec![write(path, &audit(seen, &position, &parts))],
    };
    calls.into_iter().chain([complete(&format!("{path} written"))]).collect()
}

/// The documents as the todo has listed them; or the call that lists more of them.
fn documents(seen: &Seen<'_>) -> Result<Vec<Listed>, Vec<Call>> {
    let asked = || seen.of_todo().iter().filter(|exchange| exchange.name == "list_documents" && exchange.is_answered());
    match listing(asked().map(|exchange| exchange.result)) {
        Ok(documents) => Ok(documents),
        Err(rest) if rest.is_all() == (asked().count() == 0) && asked().count() < MOST_PARTS => Err(rest.calls()),
        // A list that can't be understood, or is longer than any that was made.
        Err(_) => Ok(Vec::new()),
    }
}

/// What of the documents was not read, and what was recognised in images: a reader must know it.
fn parts(documents: &[Listed]) -> String {
    let mut text = String::new();
    let mut section = |heading: &str, of: fn(&Listed) -> &[String]| {
        let told: Vec<&Listed> = documents.iter().filter(|document| !of(document).is_empty()).collect();
        if told.is_empty() {
            return;
        }
        let _ = write!(text, "\n{heading}:\n\n");
        for document in told.iter().take(MOST_ROWS) {
            let _ = writeln!(text, "- {}: {}", document.name, of(document).join("; "));
        }
        if told.len() > MOST_ROWS {
            let _ = writeln!(text, "- and parts of {} more documents", told.len() - MOST_ROWS);
        }
    };
    section("Not read", |document| &document.not_read);
    section("Recognised in images (OCR), so that letters and numbers may be wrong", |document| &document.recognised);
    text
}

fn reads_of(seen: &Seen<'_>, path: &str) -> usize {
    seen.of_todo().iter().filter(|exchange| exchange.name == "read_file" && exchange.argument("path") == path).count()
}

/// The lines of a file that the todo has read, as far as they were shown.
fn text_of(seen: &Seen<'_>, path: &str) -> String {
    Seen::lines_of(seen.of_todo(), path).into_values().collect::<Vec<_>>().join("\n")
}

/// Records by document, and by document and kind.
fn by_document(counts: &str) -> Vec<(String, u64, BTreeMap<String, u64>)> {
    let mut rows: Vec<(String, u64, BTreeMap<String, u64>)> = Vec::new();
    for line in counts.lines() {
        let mut fields = line.split('\t');
        let (Some(name), Some(count), listed) = (fields.next(), fields.next(), fields.next().unwrap_or_default())
        else {
            continue;
        };
        let place = rows.iter().position(|row| row.0 == name).unwrap_or_else(|| {
            rows.push((name.to_owned(), 0, BTreeMap::new()));
            rows.len() - 1
        });
        let row = &mut rows[place];
        row.1 += count.parse::<u64>().unwrap_or(0);
        for (what, count) in listed.split(", ").filter_map(|entry| entry.rsplit_once(' ')) {
            *row.2.entry(what.to_owned()).or_default() += count.parse::<u64>().unwrap_or(0);
        }
    }
    rows
}

fn table(counts: &str, of: &str) -> String {
    let rows = by_document(counts);
    let mut text = format!("| document | {of} | of these |\n|---|---|---|\n");
    for (name, count, kinds) in rows.iter().take(MOST_ROWS) {
        let kinds: Vec<String> = kinds.iter().map(|(what, count)| format!("{what} {count}")).collect();
        let _ = writeln!(text, "| {} | {count} | {} |", name.replace('|', "\\|"), kinds.join(", "));
    }
    if rows.len() > MOST_ROWS {
        let _ = writeln!(text, "\n{} more documents are counted in {COUNTS}.", rows.len() - MOST_ROWS);
    }
    text
}

fn extraction(position: &Position, counts: &str, parts: &str) -> String {
    let silent: Vec<String> = by_document(counts)
        .into_iter()
        .filter(|(_, count, _)| *count == 0)
        .map(|(name, _, _)| name)
        .take(MOST_ROWS)
        .collect();
    let silent = if silent.is_empty() {
        "Every document that has readable text holds at least one.".to_owned()
    } else {
        format!("No normative statement was found in: {}.", silent.join(", "))
    };
    format!(
        "# Normative statements\n\nAll readable text of the documents was read from beginning to end. They hold {} normative statements; the whole list, with \
         document, page or line, section, strength and exact quote, is in {}.\n\nBy strength: {}.\n{parts}\n{}\n{silent}\n\n## How this was made\n\n{METHOD}\n",
        position.count,
        Kind::Extract.records(),
        if position.totals.is_empty() { "none".to_owned() } else { position.totals_line() },
        table(counts, "statements"),
    )
}

fn closing(position: &Position, counts: &str, parts: &str) -> String {
    format!(
        "\n## All documents\n\n{} key sentences were chosen; they are listed with their places in {}.\n{parts}\n{}\n## How this was made\n\n{METHOD}\n",
        position.count,
        Kind::Summarise.records(),
        table(counts, "key sentences"),
    )
}

fn audit(seen: &Seen<'_>, position: &Position, parts: &str) -> String {
    let total = |verdict: &str| position.totals.get(verdict).copied().unwrap_or(0);
    let mut text = format!(
        "# Policies against standards\n\n{} statements of the standards were compared with {} statements of the policies: {} covered, \
         {} partial, {} contradicted, {} missing. Each finding with both quotes is in {}.\n{parts}\n",
        position.count,
        position.policies,
        total("covered"),
        total("partial"),
        total("contradicted"),
        total("missing"),
        Kind::Audit.records(),
    );
    text.push_str("| verdict and strength | findings |\n|---|---|\n");
    for (what, count) in &position.details {
        let _ = writeln!(text, "| {what} | {count} |");
    }
    for (verdict, heading) in [("contradicted", "Contradicted"), ("missing", "Missing"), ("partial", "Covered in part")]
    {
        let listed = text_of(seen, &format!("work/{verdict}.md"));
        let shown = listed.lines().count() as u64;
        let _ = write!(text, "\n## {heading}\n\n");
        if shown == 0 {
            text.push_str("None.\n");
        } else {
            let _ = writeln!(text, "{listed}");
            if shown < total(verdict) {
                let _ = writeln!(text, "\nand {} more in {}", total(verdict) - shown, Kind::Audit.records());
            }
        }
    }
    let _ = write!(
        text,
        "\n## The documents\n\n{}\n## How this was made\n\n{METHOD}\n",
        table(&text_of(seen, COUNTS), "statements")
    );
    text
}
