//! A question to the tables of documents, its answer, and who answers it.

use overnight_documents::PagePainter;
use serde::{Deserialize, Serialize};

/// A document's text, and what its tables are called; those without a name are not loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableText {
    /// As documents have it.
    pub format: String,
    /// Of its text.
    pub bytes: u64,
    /// In the order in which they stand in the text.
    pub tables: Vec<Option<String>>,
}

/// A question: a statement, and the texts that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableQuery {
    pub sql: String,
    pub texts: Vec<TableText>,
}

/// What a statement gives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableAnswer {
    pub columns: Vec<String>,
    /// As they are shown; null is an empty text.
    pub rows: Vec<Vec<String>>,
    /// There are more rows.
    pub is_cut: bool,
}

/// Who reads documents in processes of their own, for the tools of a job.
pub trait DocumentReader: PagePainter {
    /// Keeps a text under a key, for later jobs: best effort.
    fn keep_text(&self, key: &str, text: &str);

    /// Answers a question; `texts` are the texts that it names, one behind the other. The error is a sentence for whoever asked.
    fn query_tables(&self, query: &TableQuery, texts: &[u8]) -> Result<TableAnswer, String>;
}
