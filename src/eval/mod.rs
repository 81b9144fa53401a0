//! Evaluation: compares the results of candidates (instructions with a model) with the cases of a golden set.
//!
//! - `candidate`: who is evaluated; `run`: what came of a case in one run: the files that a job delivered, or why there are none
//! - `evaluation`: the whole comparison, as `--json` prints it; `evaluate` makes it, from `scores`: the result of a
//!   candidate's runs, and `verdicts`: which one is better; `cell_source`: the place of a wrong value
//! - `baseline`: an earlier evaluation, to compare with
//! - `evaluation_text`, `junit`, `page`: an evaluation for a terminal, for a build server, for a browser

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
