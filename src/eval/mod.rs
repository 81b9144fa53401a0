//! Evaluation: what candidates (instructions with a model) found in the cases of a golden set, against what is right of them.
//!
//! - `candidate`: who is evaluated; `run`: what came of a case in one run: the files that a job delivered, or why there are none
//! - `evaluation`: all of it compared, as `--json` has it; `evaluate` makes it, from `scores`: what a candidate's runs come to, and
//!   `verdicts`: which one is better; `cell_source`: where a wrong value stands
//! - `baseline`: an earlier evaluation, to compare with
//! - `evaluation_text`, `junit`, `page`: told on a terminal, to a build server, in a browser

mod baseline;
mod candidate;
mod cell_source;
mod evaluate;
mod evaluation;
mod evaluation_text;
mod junit;
mod page;
mod run;
mod scores;
mod verdicts;

pub use baseline::Baseline;
pub use candidate::Candidate;
pub use cell_source::CellSource;
pub use evaluate::{check_expected, evaluate};
pub use evaluation::{
    CandidateDifference, CandidateResult, CaseScore, EvalFacts, Evaluation, FieldDifference, FieldScore,
    JudgedDifference, ListScore, RunFault, RunPairing, ScoreView, WrongCell,
};
pub use evaluation_text::{evaluation_text, verdict};
pub use junit::junit;
pub use page::{CorrectForm, evaluation_body, evaluation_page};
pub use run::{EvalRun, RunResult, read_run};
