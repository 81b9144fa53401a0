//! `anchor.json`: the journal's end as the database knew it when the record was made.

use overnight_core::job::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The stored shape. Without a database all but `format` is null.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordAnchor {
    pub format: u32,
    /// Number and SHA-256 of the line that the last checkpoint ended with.
    pub seq: Option<u64>,
    pub head: Option<String>,
    /// When the database's row was last written, by its own clock.
    pub at: Option<Timestamp>,
    /// `sqlite` or `postgres`.
    pub database: Option<String>,
}

const FORMAT: u32 = 1;
/// Its name in the record.
pub(super) const ANCHOR: &str = "anchor.json";

impl RecordAnchor {
    /// No database was asked.
    pub fn none() -> Self {
        Self { format: FORMAT, ..Self::default() }
    }

    /// What the database at `url` knew.
    pub fn known(seq: u64, head: &str, at: Timestamp, url: &str) -> Self {
        let kind = if url.starts_with("postgres") { "postgres" } else { "sqlite" };
        Self {
            format: FORMAT,
            seq: Some(seq),
            head: Some(head.to_owned()),
            at: Some(at),
            database: Some(kind.to_owned()),
        }
    }

    /// Number and hash, where there is one.
    pub fn pair(&self) -> Option<(u64, &str)> {
        self.seq.zip(self.head.as_deref())
    }

    /// A sentence, for the first page.
    pub(super) fn told(&self) -> String {
        match (self.pair(), &self.database, self.at) {
            (Some((seq, head)), Some(database), Some(at)) => format!(
                "The database ({database}) knew the journal up to line {seq} with the SHA-256 {head}, and had written so at {}.",
                super::format::moment(at)
            ),
            _ => {
                "No database was asked when this record was made: nobody can tell from it whether lines are missing at \
                  the journal's end."
                    .to_owned()
            }
        }
    }
}
