//! The parts of a result that a person had in view when accepting it, as far as the program knows.

use super::time::{Timestamp, duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a result was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalWay {
    /// On the review page.
    Page,
    /// With all others of its batch that have no doubt.
    Together,
    /// By a program, over HTTP.
    Api,
    /// By the command, whatever was looked at before.
    Command,
}

/// The parts of a result's review pages that were in view before it was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeenResult {
    /// How it was accepted.
    pub way: ApprovalWay,
    /// When a page was first opened; `None` if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<Timestamp>,
    /// Pages of the review that were opened, from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<u64>,
    /// How long a page was in view, in milliseconds; `None` if the browser did not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible_ms: Option<u64>,
    /// The number of records in view, or, if the browser did not report it, of those on the opened pages.
    pub records: u64,
    /// The number of all records.
    pub all_records: u64,
    /// The number of doubtful records among `records`.
    pub doubtful: u64,
    /// The number of all doubtful records.
    pub all_doubtful: u64,
    /// The places of these records, `output/a.json $.items[3]`; only the first ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
}

impl SeenResult {
    /// A result of which nothing was opened.
    pub fn unopened(way: ApprovalWay) -> Self {
        Self {
            way,
            opened: None,
            pages: Vec::new(),
            visible_ms: None,
            records: 0,
            all_records: 0,
            doubtful: 0,
            all_doubtful: 0,
            places: Vec::new(),
        }
    }

    /// `with 8 of 8 records and 2 of 2 doubtful ones in view, for 3m 20s`.
    pub fn told(&self) -> String {
        match (self.way, self.opened, self.visible_ms) {
            (ApprovalWay::Command, ..) => "by command".to_owned(),
            (ApprovalWay::Together, None, _) => {
                "together with others of its batch, without opening its review page".to_owned()
            }
            (ApprovalWay::Page | ApprovalWay::Api, None, _) => "without opening its review page".to_owned(),
            (_, Some(_), Some(visible)) => format!("with {} in view, for {}", self.counted(), duration(visible)),
            (_, Some(opened), None) => format!("with {} on the pages that were open since {opened}", self.counted()),
        }
    }

    fn counted(&self) -> String {
        let Self { records, all_records, doubtful, all_doubtful, .. } = self;
        let doubts =
            if *all_doubtful > 0 { format!(" and {doubtful} of {all_doubtful} doubtful ones") } else { String::new() };
        format!("{records} of {all_records} records{doubts}")
    }
}
