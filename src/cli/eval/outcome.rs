//! The output of an evaluation: text, files and exit code.

use super::runs::CandidateRuns;
use crate::{
    cli::{
        CliError, exit, out,
        table::{Align, TextTable, room},
    },
    eval::{
        Baseline, CandidateDifference, CandidateResult, Evaluation, RunResult, ScoreView, evaluation_page,
        evaluation_text, junit, verdict,
    },
    gold::free_name,
};
use overnight_core::amount::counted;
use overnight_evals::{comparison::PairingCounts, statistics::CandidateVerdict};
use serde::Serialize;
use std::{collections::BTreeSet, fmt::Write as _, fs, io, path::Path};

/// `--json`: the evaluation, and the comparison with `--against`.
#[derive(Serialize)]
struct EvaluationView<'e> {
    #[serde(flatten)]
    evaluation: &'e Evaluation,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    against: &'e [CandidateDifference],
}

/// Reads the evaluation that `--against` names.
pub(super) fn baseline(path: &Path) -> Result<Baseline, CliError> {
    let unread =
        |why: String| CliError::usage(format!("--against {}: {why}", out::one_line(&path.display().to_string())));
    let text = fs::read(path).map_err(|error| unread(error.to_string()))?;
    Baseline::parse(&text).map_err(unread)
}

/// Checks that the requested files can be written, before any cost arises.
pub(super) fn try_out(folder: Option<&Path>, junit_file: Option<&Path>) -> Result<(), CliError> {
    let unwritten = |path: &Path, error: &io::Error| {
        CliError::usage(format!("{} can't be written ({error})", out::one_line(&path.display().to_string())))
    };
    if let Some(folder) = folder {
        let tried = fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder));
        tried.map_err(|error| unwritten(folder, &error))?;
    }
    if let Some(file) = junit_file {
        let tried = fs::OpenOptions::new().create(true).append(true).open(file);
        tried.map_err(|error| unwritten(file, &error))?;
    }
    Ok(())
}

/// Writes the requested files.
pub(super) fn write(
    folder: Option<&Path>,
    junit_file: Option<&Path>,
    evaluation: &Evaluation,
    runs: &[CandidateRuns],
) -> Result<(), CliError> {
    let unwritten = |path: &Path, error: &io::Error| {
        CliError::failed(format!("{} can't be written ({error})", out::one_line(&path.display().to_string())))
    };
    if let Some(file) = junit_file {
        junit(evaluation).and_then(|xml| fs::write(file, xml)).map_err(|error| unwritten(file, &error))?;
    }
    let Some(folder) = folder else { return Ok(()) };
    let write = || {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("report.json"), serde_json::to_string_pretty(evaluation)? + "\n")?;
        fs::write(folder.join("page.html"), evaluation_page(evaluation).map_err(io::Error::other)?)?;
        let mut names = BTreeSet::new();
        for (candidate, runs) in runs {
            // The names may differ only in characters that are replaced.
            let name = free_name(&folder_name(&candidate.name), |name| names.insert(name.to_lowercase()));
            for run in runs {
                let RunResult::Delivered(files) = &run.result else { continue };
                let results = folder.join("results").join(&name).join(run.repeat.to_string());
                fs::create_dir_all(&results)?;
                for (number, file) in (1..).zip(files) {
                    let Some((value, _)) = file else { continue };
                    let part = if number == 1 { String::new() } else { format!(".{number}") };
                    let text = serde_json::to_string_pretty(value)? + "\n";
                    fs::write(results.join(format!("{}{part}.json", run.case)), text)?;
                }
            }
        }
        Ok(())
    };
    write().map_err(|error| unwritten(folder, &error))
}

/// The name of a candidate's folder.
fn folder_name(candidate: &str) -> String {
    let fitting = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '+' | '@');
    candidate.chars().map(|letter| if fitting(letter) { letter } else { '-' }).collect()
}

pub(super) fn print(evaluation: &Evaluation, against: &[CandidateDifference], is_json: bool) -> Result<(), CliError> {
    out::answer(is_json, &EvaluationView { evaluation, against }, || text(evaluation, against))
}

fn text(evaluation: &Evaluation, against: &[CandidateDifference]) -> String {
    let kept = if evaluation.facts.hold_out { " that are kept back" } else { "" };
    let cases = counted(evaluation.facts.documents, "case");
    let mut text = format!("{}: {cases}{kept}\n\n", evaluation.facts.gold);
    text.push_str(&candidates(evaluation));
    text.push_str(&fields(evaluation));
    text.push('\n');
    text.push_str(&evaluation_text(evaluation));
    for difference in against {
        let _ = writeln!(text, "{}", verdict(difference));
    }
    text
}

fn candidates(evaluation: &Evaluation) -> String {
    let heading = [
        ("CANDIDATE", Align::Middle),
        ("RIGHT", Align::Left),
        ("VALUES", Align::Right),
        ("F1", Align::Right),
        ("QUOTES", Align::Right),
        ("AGAIN", Align::Right),
        ("USD/RUN", Align::Right),
        ("TURNS", Align::Right),
        ("SECONDS", Align::Right),
    ];
    let mut table = TextTable::new(&heading);
    let share = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), |share| format!("{share:.3}"));
    for result in &evaluation.candidates {
        let CandidateResult { candidate, score, lists, .. } = result;
        let mut records = PairingCounts::default();
        for list in lists {
            records += list.counts;
        }
        let f1 = (records.expected + records.found > 0).then(|| records.f1());
        table.row(vec![
            candidate.name.clone(),
            score.map_or_else(|| "–".to_owned(), |score| score.told()),
            score.map_or_else(|| "–".to_owned(), |score| format!("{:.0}", score.total)),
            share(f1),
            share(result.quotes_found),
            share(result.same_when_repeated.map(|same| same.value)),
            result.cost_usd_per_run.map_or_else(|| "–".to_owned(), |cost| format!("{cost:.4}")),
            result.turns_per_run.map_or_else(|| "–".to_owned(), |turns| format!("{turns:.1}")),
            result.seconds_per_run.map_or_else(|| "–".to_owned(), |seconds| format!("{seconds:.1}")),
        ]);
    }
    table.render(room())
}

/// Fields × candidates.
fn fields(evaluation: &Evaluation) -> String {
    let mut heading = vec![("FIELD", Align::Middle)];
    heading.extend(evaluation.candidates.iter().map(|result| (result.candidate.name.as_str(), Align::Left)));
    let mut table = TextTable::new(&heading);
    let told = |score: Option<&ScoreView>| score.map_or_else(|| "–".to_owned(), ScoreView::told);
    for (field, scores) in evaluation.scores_by_field() {
        table.row([field.to_owned()].into_iter().chain(scores.into_iter().map(told)).collect());
    }
    format!("\n{}", table.render(room()))
}

/// The exit code of an evaluation, for use in a build.
///
/// `is_whole`: every text for a judge was judged, and everything was compared with the baseline, if there is one.
pub(super) fn exit_code(
    evaluation: &Evaluation,
    against: &[CandidateDifference],
    fail_under: Option<f64>,
    is_whole: bool,
) -> u8 {
    let is_under =
        |result: &CandidateResult| fail_under.is_some_and(|least| result.score.is_none_or(|score| score.value < least));
    let is_worse = |difference: &CandidateDifference| difference.all.verdict == CandidateVerdict::Worse;
    if !is_whole || evaluation.candidates.iter().any(|result| !result.missing.is_empty()) {
        exit::HELD
    } else if evaluation.candidates.iter().any(is_under) || against.iter().any(is_worse) {
        exit::PARTIAL_OR_BLOCKED
    } else {
        exit::COMPLETED
    }
}
