//! Notebooks of Jupyter (IPYNB, formats 3 and 4): text as it is, code in fences, followed by its output.

use serde::Deserialize;
use serde_json::Value;

use super::JsonReader;
use crate::encoding;
use crate::readers::package::{BlockKind, Blocks};
use crate::readers::{PageSink, ReadFailure, Reader, Source, note_counts};
use crate::units::Unit;

/// Reads notebooks.
pub(crate) struct NotebookReader;

#[derive(Debug, Deserialize)]
struct Notebook {
    #[serde(default)]
    cells: Vec<Cell>,
    /// For format 3.
    #[serde(default)]
    worksheets: Vec<Worksheet>,
    #[serde(default)]
    metadata: Value,
}

#[derive(Debug, Deserialize)]
struct Worksheet {
    #[serde(default)]
    cells: Vec<Cell>,
}

#[derive(Debug, Deserialize)]
struct Cell {
    #[serde(rename = "cell_type")]
    kind: String,
    #[serde(default, alias = "input")]
    source: Value,
    #[serde(default)]
    level: Option<usize>,
    #[serde(default)]
    outputs: Vec<Value>,
}

impl Reader for NotebookReader {
    fn version(&self) -> &'static str {
        "serde_json 1.0.154+1"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let decoded = encoding::decode(source.bytes, None)?;
        let parsed: Option<Notebook> = serde_json::from_str(&decoded.text).ok();
        let Some(notebook) = parsed.filter(|parsed| !(parsed.cells.is_empty() && parsed.worksheets.is_empty())) else {
            return JsonReader.read(source, pages);
        };
        for note in decoded.notes {
            pages.note(note)?;
        }
        let pointers = ["/kernelspec/language", "/language_info/name", "/language"];
        let language = pointers.iter().find_map(|at| notebook.metadata.pointer(at)?.as_str()).unwrap_or_default();
        let mut blocks = Blocks::default();
        let mut images = 0;
        let cells = notebook.worksheets.into_iter().flat_map(|sheet| sheet.cells).chain(notebook.cells);
        for cell in cells {
            let text = joined(&cell.source);
            let text = text.trim_end();
            match cell.kind.as_str() {
                "code" if !text.is_empty() => {
                    blocks.add(BlockKind::Paragraph, &format!("```{language}\n{text}\n```"));
                }
                "heading" => {
                    let signs = "#".repeat(cell.level.unwrap_or(1).clamp(1, 6));
                    blocks.add(BlockKind::Paragraph, &format!("{signs} {text}"));
                }
                _ => blocks.add(BlockKind::Paragraph, text),
            }
            for output in &cell.outputs {
                let (text, is_image) = printed(output);
                images += u64::from(is_image);
                blocks.add(BlockKind::Paragraph, text.trim_end());
            }
        }
        if pages.begin(1)? {
            pages.text(&blocks.take())?;
        }
        note_counts(pages, &[(images, "1 image was left out", "images were left out")])?;
        Ok(Unit::Line)
    }
}

/// The text of an output, and whether it is only an image.
fn printed(output: &Value) -> (String, bool) {
    // Format 3 has the forms of an output beside its kind.
    let forms = output.get("data").unwrap_or(output);
    if let Some(name) = output.get("ename").and_then(Value::as_str) {
        return (format!("{name}: {}", joined(output.get("evalue").unwrap_or(&Value::Null))), false);
    }
    for form in ["text", "text/markdown", "text/plain", "text/latex", "latex", "application/json", "json"] {
        if let Some(text) = forms.get(form).or_else(|| output.get(form)) {
            return (without_colours(&joined(text)), false);
        }
    }
    let is_image = forms.as_object().is_some_and(|forms| {
        forms.keys().any(|form| form.starts_with("image/") || matches!(form.as_str(), "png" | "jpeg" | "svg"))
    });
    (String::new(), is_image)
}

/// A text that is kept whole or in lines.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// Removes a terminal's escape sequences for colours.
fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|found: char| found.is_ascii_alphabetic()).map_or(0, |at| at + 1);
        plain.push_str(&piece[end..]);
    }
    plain
}
