//! The lists of records that a job's instructions ask for, and their names.

use super::{
    columns::{TableColumns, resolved},
    nested::NestedLists,
};
use overnight_core::job::{
    contract::records::{RecordQuote, record_lists, record_quotes},
    instructions::Deliverable,
    state::Job,
};
use serde_json::Value;

/// A list of records in a deliverable.
#[derive(Debug)]
pub(super) struct RecordList<'j> {
    /// `output/all.json`; in a file with several lists, `output/all.json#parties` for those after the first.
    pub(super) name: String,
    pub(super) deliverable: &'j Deliverable,
    /// `$.parties[*]`.
    pub(super) each: String,
    /// The quotes that its records have.
    pub(super) quotes: Vec<RecordQuote<'j>>,
}

impl<'j> RecordList<'j> {
    /// The lists of a job, those that carry quotes first.
    pub(super) fn of(job: &'j Job) -> Vec<Self> {
        let mut lists: Vec<Self> = Vec::new();
        for deliverable in &job.spec.instructions.deliverables {
            for (place, each) in record_lists(deliverable).into_iter().enumerate() {
                let path = &deliverable.path;
                let name = if place == 0 { path.clone() } else { format!("{path}#{}", short(&each)) };
                let quotes = record_quotes(deliverable, &each);
                lists.push(Self { name, deliverable, each, quotes });
            }
        }
        lists.sort_by_key(|list| list.quotes.is_empty());
        lists
    }

    /// The columns that the schema names, and the lists within a record.
    pub(super) fn columns(&self) -> (TableColumns, NestedLists) {
        let root = self.deliverable.schema.as_ref().unwrap_or(&Value::Null);
        let mut schema = root;
        for step in self.each.trim_start_matches('$').split(['.', '[', ']']).filter(|step| !step.is_empty()) {
            schema = resolved(root, schema);
            schema = if step == "*" { &schema["items"] } else { &schema["properties"][step.trim_matches(['\'', '"'])] };
        }
        let schema = resolved(root, schema);
        let columns = TableColumns::of_schema(root, schema);
        let said = |columns: TableColumns, key: &str, name| if key == name { columns.said(name) } else { columns };
        let columns = match self.quotes.first().map(|quote| quote.rule) {
            Some(rule) => said(said(columns, &rule.document, "document"), &rule.text, "quote"),
            None => columns,
        };
        (columns, NestedLists::of_schema(root, schema))
    }
}

/// `parties` of `$.parties[*]`.
fn short(each: &str) -> &str {
    each.trim_start_matches(['$', '.']).trim_end_matches("[*]")
}
