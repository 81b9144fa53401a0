//! What the made samples say: `documents.yaml`, with the statements of `samples/truth.yaml` put in.

use serde::Deserialize;
use std::error::Error;

const DOCUMENTS: &str = include_str!("../documents.yaml");
const TRUTH: &str = include_str!("../../../samples/truth.yaml");

#[derive(Deserialize)]
struct Source {
    documents: Vec<Document>,
}

/// One document that is made.
#[derive(Deserialize)]
pub(super) struct Document {
    name: String,
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    pub(super) subtitle: String,
    #[serde(default)]
    pub(super) header: String,
    #[serde(default)]
    pub(super) footer: String,
    /// Where words may be cut at a line's end.
    #[serde(default)]
    pub(super) hyphens: Vec<String>,
    #[serde(default)]
    pub(super) blocks: Vec<Block>,
    #[serde(default)]
    pub(super) sheets: Vec<Sheet>,
}

/// One of its fields is there.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Block {
    pub(super) heading: Option<String>,
    pub(super) subheading: Option<String>,
    /// `^[…]` is a footnote.
    pub(super) text: Option<String>,
    pub(super) items: Option<Vec<String>>,
    /// The first row is the header.
    pub(super) table: Option<Vec<Vec<String>>>,
    /// The next block begins a page.
    #[serde(default)]
    pub(super) r#break: bool,
}

#[derive(Deserialize)]
pub(super) struct Sheet {
    pub(super) name: String,
    pub(super) rows: Vec<Vec<Cell>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Cell {
    Number(u32),
    Text(String),
}

#[derive(Deserialize)]
struct Truth {
    documents: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    statements: Vec<Statement>,
}

#[derive(Deserialize)]
struct Statement {
    quote: String,
}

/// A document's name under `samples/`, and its bytes.
type Made = (String, Vec<u8>);

/// Every made document.
pub(crate) fn documents() -> Result<Vec<Made>, Box<dyn Error>> {
    let source: Source = serde_yaml::from_str(DOCUMENTS)?;
    let truth: Truth = serde_yaml::from_str(TRUTH)?;
    let mut made = Vec::new();
    for mut document in source.documents {
        let listed = truth.documents.iter().find(|listed| listed.name == document.name);
        let statements = listed.map(|listed| listed.statements.as_slice()).unwrap_or_default();
        document.put_in(statements)?;
        let name = document.name.clone();
        let bytes = match name.rsplit('.').next() {
            Some("pdf") => super::pdf::bytes(&document),
            Some("docx") => super::word::bytes(&document)?,
            Some("xlsx") => super::workbook::bytes(&document)?,
            Some(_) | None => return Err(format!("{name}: its ending is none that can be made").into()),
        };
        made.push((name, bytes));
    }
    Ok(made)
}

impl Document {
    /// Puts the statements where `{1}`, `{2}` and so on stand; each must stand somewhere.
    fn put_in(&mut self, statements: &[Statement]) -> Result<(), Box<dyn Error>> {
        let name = self.name.clone();
        let mut used = vec![false; statements.len()];
        for text in self.texts() {
            for (at, statement) in statements.iter().enumerate() {
                let mark = format!("{{{}}}", at + 1);
                if text.contains(&mark) {
                    used[at] = true;
                    *text = text.replace(&mark, &statement.quote);
                }
            }
            if text.contains('{') {
                return Err(format!("{name}: no such statement: {text}").into());
            }
        }
        match used.iter().position(|used| !used) {
            Some(at) => Err(format!("{name}: statement {} stands nowhere in documents.yaml", at + 1).into()),
            None => Ok(()),
        }
    }

    fn texts(&mut self) -> Vec<&mut String> {
        let mut found = Vec::new();
        for block in &mut self.blocks {
            found.extend(&mut block.text);
            found.extend(block.items.iter_mut().flatten());
            found.extend(block.table.iter_mut().flatten().flatten());
        }
        for cell in self.sheets.iter_mut().flat_map(|sheet| &mut sheet.rows).flatten() {
            match cell {
                Cell::Text(text) => found.push(text),
                Cell::Number(_) => {}
            }
        }
        found
    }
}
