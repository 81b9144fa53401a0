//! `index.csv`, for spreadsheets. Written by hand: the format's one rule (a quote within quotes is doubled) is shorter
//! than a library's setup, and no library prevents a cell from becoming a formula, which is needed too.

use super::index::IndexEntry;
use overnight_core::spreadsheet::defused;
use std::io;

const HEADING: [&str; 9] = ["job", "label", "status", "instructions", "documents", "path", "sha256", "bytes", "state"];

/// Writes the entries as CSV (RFC 4180: commas, quotes, CRLF), with a heading.
pub fn csv(entries: &[IndexEntry], out: &mut dyn io::Write) -> io::Result<()> {
    out.write_all(line(HEADING.map(str::to_owned)).as_bytes())?;
    for entry in entries {
        let cells = [
            entry.job.to_string(),
            entry.label.clone().unwrap_or_default(),
            entry.status.clone(),
            entry.instructions.clone(),
            entry.documents.join("; "),
            entry.path.clone().unwrap_or_default(),
            entry.sha256.clone().unwrap_or_default(),
            entry.bytes.map(|bytes| bytes.to_string()).unwrap_or_default(),
            entry.state.map_or("nothing delivered", super::facts::FileState::name).to_owned(),
        ];
        out.write_all(line(cells).as_bytes())?;
    }
    Ok(())
}

fn line(cells: [String; 9]) -> String {
    cells.map(|text| cell(&text)).join(",") + "\r\n"
}

fn cell(text: &str) -> String {
    let text = defused(text.to_owned());
    if text.contains([',', '"', '\r', '\n', ';', '\'']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_never_a_formula_and_never_two_cells() {
        let cells =
            ["plain.md", "a,b", "say \"no\"", "two\r\nlines", "=1+1", "+1", "-1", "@sum(a1)", "\t=1", "\r=1", "＝1+1"];
        assert_eq!(
            cells.map(cell),
            [
                "plain.md",
                "\"a,b\"",
                "\"say \"\"no\"\"\"",
                "\"two\r\nlines\"",
                "\"'=1+1\"",
                "\"'+1\"",
                "\"'-1\"",
                "\"'@sum(a1)\"",
                "\"'\t=1\"",
                "\"'\r=1\"",
                "\"'＝1+1\""
            ]
        );
    }
}
