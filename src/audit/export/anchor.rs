//! `anchor.json`: the journal's end as the database knew it when the record was made.

use overnight_core::job::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The stored form. If no database was asked, all fields but `format` are null.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordAnchor {
    pub format: u32,
    /// Number and SHA-256 of the line that the last checkpoint ended with.
    pub seq: Option<u64>,
    pub head: Option<String>,
    /// The time when the database's row was last written, by the database's clock.
    pub at: Option<Timestamp>,
    /// `sqlite` or `postgres`.
    pub database: Option<String>,
}

const FORMAT: u32 = 1;
/// Name of the file in the record.
pub(super) const ANCHOR: &str = "anchor.json";

impl RecordAnchor {
    /// The anchor if no database was asked.
    pub fn none() -> Self {
        Self { format: FORMAT, ..Self::default() }
    }

    /// The anchor with the state that the database at `url` had.
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

    /// Number and hash, if the database knew a line.
    pub fn pair(&self) -> Option<(u64, &str)> {
        self.seq.zip(self.head.as_deref())
    }

    /// The anchor in a sentence, for the first page.
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
