//! `query_tables`: a statement over the tables of documents, and the tables' descriptions for `list_documents`.

use super::{ToolError, eyes::Eyes};
use crate::{
    table_query::{MOST_INPUT_BYTES, NamedTable, TableQuery, TableText, may_have_tables, name_tables},
    workspace::Workspace,
};
use overnight_core::{
    amount::grouped,
    answer,
    job::{
        arguments::QueryTables,
        event::{CallEnd, ToolResult},
        spec::{DocumentEntry, JobSpec},
    },
    tokens::estimate,
};
use std::{
    collections::{BTreeSet, HashSet},
    fmt::Write,
};

/// The most tables of a document that are listed, and the most columns of a table.
const MOST_TABLES: usize = 8;
const MOST_COLUMNS: usize = 30;

/// Whether a document has a table that can be asked.
pub fn has_tables(workspace: &Workspace, document: &DocumentEntry) -> bool {
    let has_ruler = |text: String| text.contains("\n| ---") || text.contains("\n|---");
    may_have_tables(&document.format)
        && (document.format == "CSV" || workspace.read_text(&document.text_path()).is_ok_and(has_ruler))
}

/// The tables of each document that may have some, in the order of the documents: names depend on it.
pub(super) fn tables_of<'s>(
    spec: &'s JobSpec,
    workspace: &Workspace,
) -> Result<Vec<(&'s DocumentEntry, Vec<NamedTable>)>, ToolError> {
    let mut taken = BTreeSet::new();
    let mut found = Vec::new();
    if !spec.has_tables {
        return Ok(found);
    }
    for document in spec.documents.iter().filter(|document| may_have_tables(&document.format)) {
        let text = workspace.read_text(&document.text_path())?;
        if document.format == "CSV" || text.contains("\n|") {
            found.push((document, name_tables(&document.name, &document.format, &text, &mut taken)));
        }
    }
    Ok(found)
}

/// `table prices (article, price; 3,200 rows)`, for each table of a document.
pub(super) fn told(tables: &[NamedTable]) -> Vec<String> {
    let one = |table: &NamedTable| {
        let mut columns = table.columns[..table.columns.len().min(MOST_COLUMNS)].join(", ");
        if table.columns.len() > MOST_COLUMNS {
            let _ = write!(columns, " and {} more", table.columns.len() - MOST_COLUMNS);
        }
        let rows = if table.rows == 1 { "row" } else { "rows" };
        format!("table {} ({columns}; {} {rows})", table.name, grouped(table.rows))
    };
    let mut told: Vec<String> = tables.iter().take(MOST_TABLES).map(one).collect();
    if tables.len() > MOST_TABLES {
        told.push(format!("{} more tables", tables.len() - MOST_TABLES));
    }
    told
}

/// The answer to a statement, in `most` tokens.
pub(super) fn query(
    spec: &JobSpec,
    workspace: &Workspace,
    eyes: Option<&Eyes>,
    wanted: &QueryTables,
    most: u64,
) -> Result<ToolResult, ToolError> {
    let Some(Eyes { reader, .. }) = eyes else {
        return Err(ToolError::Tell(answer!("query.not_here")));
    };
    let sql = wanted.sql.to_lowercase();
    let words: HashSet<&str> = sql.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let all = tables_of(spec, workspace)?;
    let (mut texts, mut bytes) = (Vec::new(), Vec::new());
    for (document, tables) in &all {
        let named: Vec<Option<String>> =
            tables.iter().map(|table| Some(table.name.clone()).filter(|name| words.contains(name.as_str()))).collect();
        if named.iter().all(Option::is_none) {
            continue;
        }
        let text = workspace.read_text(&document.text_path())?;
        texts.push(TableText { format: document.format.clone(), bytes: text.len() as u64, tables: named });
        bytes.extend_from_slice(text.as_bytes());
        if bytes.len() > MOST_INPUT_BYTES {
            return Err(ToolError::Tell(answer!("query.too_much_text", most = MOST_INPUT_BYTES >> 20)));
        }
    }
    if texts.is_empty() {
        let names: Vec<&str> =
            all.iter().flat_map(|(_, tables)| tables).map(|table| table.name.as_str()).take(20).collect();
        return Err(ToolError::Tell(if names.is_empty() {
            answer!("query.no_tables")
        } else {
            answer!("query.names_no_table", names = names.join(", "))
        }));
    }
    let query = TableQuery { sql: wanted.sql.clone(), texts };
    let answer = reader.query_tables(&query, &bytes).map_err(ToolError::Tell)?;
    let cell = |cell: &String| cell.replace(['\n', '\r'], " ").replace('|', "\\|");
    let line = |cells: &[String]| format!("| {} |\n", cells.iter().map(cell).collect::<Vec<_>>().join(" | "));
    let mut text = line(&answer.columns);
    text.push_str(&line(&vec!["---".to_owned(); answer.columns.len()]));
    let (mut spent, mut shown) = (estimate(&text) + FRAME_TOKENS, 0);
    for row in &answer.rows {
        let row = line(row);
        spent += estimate(&row);
        if spent > most && shown > 0 {
            break;
        }
        text.push_str(&row);
        shown += 1;
    }
    let rows =
        |number: usize| if number == 1 { "1 row".to_owned() } else { format!("{} rows", grouped(number as u64)) };
    let count = match (shown < answer.rows.len(), answer.is_cut) {
        (false, false) => rows(shown),
        (_, true) => answer!("query.cut", rows = rows(answer.rows.len()), shown),
        (true, false) => answer!("query.in_part", rows = rows(answer.rows.len()), shown),
    };
    Ok(ToolResult::plain(CallEnd::Done, format!("{count}\n{}", text.trim_end())))
}

/// Tokens of the line above the rows.
const FRAME_TOKENS: u64 = 40;
