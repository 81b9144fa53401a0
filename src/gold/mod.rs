//! Golden sets: documents with what is right of them, and who said so. A set is a folder that people keep beside their instructions.
//!
//! - `golden_set`: the folder, `gold.yaml` in it, and changes to it; `gold_file`: the form of that file
//! - `approved_jobs`: cases from jobs that people approved, with their corrections
//! - `given_cases`: cases from a folder of documents and results, as public benchmarks have them; `given_table`: from a table
//! - `hold_out`: held-out cases; `judgement`: a judge's verdicts on texts, if a set names a judge
//! - `gold_check`: whether the expected results still fit schema, rules and quotes; `free_name`: unique names

mod approved_jobs;
mod free_name;
mod given_cases;
mod given_table;
mod gold_check;
mod gold_file;
mod golden_set;
mod hold_out;
mod judgement;

pub use approved_jobs::approved_case;
pub use free_name::free_name;
pub use given_cases::{GivenCases, given_cases};
pub use given_table::given_table;
pub use gold_check::{CaseFaults, check_case};
pub use gold_file::{
    CaseOrigin, GoldDeliverable, GoldDocument, GoldExpected, GoldFile, GoldJudge, GoldenCase, HoldOut, is_json,
};
pub use golden_set::{AddedCase, GOLD_FILE, GoldChange, GoldError, GoldenSet, NewCase};
pub use hold_out::HoldOutUse;
pub use judgement::{JudgeQuestion, JudgeVerdict, Judgements};
