//! A question to the tables of documents, its answer, and the interface that answers it.

use overnight_documents::PagePainter;
use serde::{Deserialize, Serialize};

/// A document's text, and the names of its tables; tables without a name are not loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableText {
    /// The name that documents use.
    pub format: String,
    /// The length of its text.
    pub bytes: u64,
    /// In the order of the text.
    pub tables: Vec<Option<String>>,
}

/// A question: a statement, and the texts that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableQuery {
    pub sql: String,
    pub texts: Vec<TableText>,
}

/// The result of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableAnswer {
    pub columns: Vec<String>,
    /// In the form to show; null is an empty text.
    pub rows: Vec<Vec<String>>,
    /// There are more rows.
    pub is_cut: bool,
}

/// Reads documents in separate processes, for the tools of a job.
pub trait DocumentReader: PagePainter {
    /// Keeps a text under a key, for later jobs: best effort.
    fn keep_text(&self, key: &str, text: &str);

    /// Answers a question; `texts` are the texts that it names, concatenated. The error is a sentence for the caller.
    fn query_tables(&self, query: &TableQuery, texts: &[u8]) -> Result<TableAnswer, String>;
}
