//! An evaluation in words: the result of each candidate, and which one is better.

use super::evaluation::{CandidateDifference, CandidateResult, Evaluation, JudgedDifference, RunFault, ScoreView};
use overnight_core::amount::counted;
use overnight_evals::statistics::CandidateVerdict;
use std::{collections::BTreeMap, fmt::Write};

/// Failed or missing runs that are named, at most.
const MOST_NAMED: usize = 5;

/// The sentences on each candidate's faults, and the verdicts. The callers make the tables.
pub fn evaluation_text(evaluation: &Evaluation) -> String {
    let mut text = String::new();
    for CandidateResult { candidate, failed, missing, .. } in &evaluation.candidates {
        faults(&mut text, &candidate.name, "ended without a result, and counted as wrong", failed);
        faults(&mut text, &candidate.name, "not there, and counted nowhere", missing);
    }
    for difference in &evaluation.comparisons {
        let _ = writeln!(text, "{}", verdict(difference));
    }
    let several = evaluation.comparisons.len();
    if several > 1 {
        let _ = writeln!(text, "p is corrected for {several} comparisons (Holm).");
    }
    for CandidateDifference { b, fields, .. } in &evaluation.comparisons {
        for field in
            fields.iter().filter(|field| !matches!(field.difference.verdict, CandidateVerdict::CannotTell { .. }))
        {
            let word = if field.difference.difference > 0.0 { "better" } else { "worse" };
            let _ =
                writeln!(text, "Of the fields, {} is {word} with {b}: {}.", field.field, numbers(&field.difference));
        }
    }
    if evaluation.facts.hold_out {
        let times = evaluation.facts.hold_out_uses;
        let _ = writeln!(
            text,
            "These are the cases that are kept back. They were used {}: each time tells less of how it is elsewhere.",
            if times == 1 { "for the first time".to_owned() } else { format!("{times} times by now") }
        );
    }
    for rule in &evaluation.unused_rules {
        let _ = writeln!(text, "The set's rule for {rule} fits no field.");
    }
    text
}

/// `b is worse than a: …`
pub fn verdict(CandidateDifference { a, b, all, .. }: &CandidateDifference) -> String {
    match &all.verdict {
        CandidateVerdict::Better => format!("{b} is better than {a}: {}.", numbers(all)),
        CandidateVerdict::Worse => format!("{b} is worse than {a}: {}.", numbers(all)),
        CandidateVerdict::CannotTell { documents, enough } => {
            let enough = match enough {
                Some(enough) => format!("; about {enough} would do"),
                None => String::new(),
            };
            let with = counted(*documents, "document");
            format!("Whether {b} is better than {a} can't be told with {with}{enough}: {}.", numbers(all))
        }
    }
}

fn numbers(found: &JudgedDifference) -> String {
    format!(
        "{:+.3} ({:+.3} to {:+.3}) over {}, p = {}",
        found.difference,
        found.low,
        found.high,
        counted(found.documents, "document"),
        if found.corrected_p < 0.001 { "under 0.001".to_owned() } else { format!("{:.3}", found.corrected_p) }
    )
}

fn faults(text: &mut String, candidate: &str, what: &str, runs: &[RunFault]) {
    if runs.is_empty() {
        return;
    }
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for run in runs {
        by_reason.entry(&run.why).or_default().push(&run.case);
    }
    for (why, cases) in by_reason {
        let more = cases.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named = cases[..cases.len().min(MOST_NAMED)].join(", ");
        let _ = writeln!(text, "{candidate}: {} {what}: {named}{more}: {why}.", counted(cases.len() as u64, "run"));
    }
}

impl ScoreView {
    /// `0.949 (0.931–0.965)`
    pub fn told(&self) -> String {
        format!("{:.3} ({:.3}–{:.3})", self.value, self.low, self.high)
    }
}
