//! `overnight compare`: compares the results of two runs over the same documents.

use super::{
    AppContext, CliError, exit,
    export::table_jobs,
    job_or_batch::{JobOrBatch, batch_title},
    out,
    progress::counted,
    table::{Align, TextTable, room},
};
use crate::{
    compare::{
        FieldComparison, ListComparison, RunComparison, RunInstructions, RunJob, RunRecords, ValueChange, compare_runs,
    },
    config::Settings,
};
use overnight_core::{amount::shown, job::digest::short};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

const EXAMPLES: &str = "\
Examples:
  overnight compare monday tuesday
  overnight compare 0193 last --json
  overnight compare monday tuesday --all

Documents are paired by their content, then by their name; records of a document by the places of their quotes, then by what they
say. Values are as people have corrected them. What a person approved or corrected in one run is the truth for the other: its
values are right or wrong by that.";

/// Changes that are shown without `--all`, and documents that are named, at most.
const MOST_CHANGES: usize = 50;
const MOST_NAMED: usize = 5;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompareArgs {
    /// The first run: id of a job, the beginning of one, 'last', or name or id of a batch
    #[arg(value_name = "JOB|BATCH")]
    a: String,
    /// The second run
    #[arg(value_name = "JOB|BATCH")]
    b: String,
    /// Tell every change, and every value whole
    #[arg(long)]
    all: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// `--json`. Its fields are a promise.
#[derive(Debug, Serialize)]
struct CompareView<'c> {
    a: RunView<'c>,
    b: RunView<'c>,
    same_instructions: bool,
    #[serde(flatten)]
    comparison: &'c RunComparison,
}

#[derive(Debug, Serialize)]
struct RunView<'c> {
    /// As it was typed.
    name: &'c str,
    jobs: u64,
    /// Jobs that have not ended.
    unfinished: u64,
    instructions: Vec<InstructionsOfRun<'c>>,
    /// Jobs that are not compared, or not completely.
    left_out: &'c [RunJob],
    #[serde(skip)]
    title: String,
}

#[derive(Debug, Serialize)]
struct InstructionsOfRun<'c> {
    name: &'c str,
    sha256: &'c str,
    jobs: u64,
}

pub(super) async fn run(settings: Settings, args: &CompareArgs) -> Result<u8, CliError> {
    let app = AppContext::read(settings).await?;
    let titles = [title(&app, &args.a).await?, title(&app, &args.b).await?];
    let jobs = [
        table_jobs(&app, std::slice::from_ref(&args.a)).await?,
        table_jobs(&app, std::slice::from_ref(&args.b)).await?,
    ];
    let most = if args.all { usize::MAX } else { MOST_CHANGES };
    let compared = tokio::task::spawn_blocking(move || {
        let aside = std::env::temp_dir();
        let (a, b) = (RunRecords::read(&jobs[0], &aside)?, RunRecords::read(&jobs[1], &aside)?);
        let comparison = compare_runs(&a, &b, most)?;
        Ok::<_, crate::compare::CompareError>((a, b, comparison))
    });
    let compared = compared.await.map_err(|error| CliError::failed(error.to_string()))?;
    let (a, b, comparison) = compared.map_err(|error| CliError::failed(error.to_string()))?;
    let [title_a, title_b] = titles;
    let view = CompareView {
        same_instructions: a.instructions.keys().eq(b.instructions.keys()),
        a: RunView::of(&args.a, title_a, &a),
        b: RunView::of(&args.b, title_b, &b),
        comparison: &comparison,
    };
    for (name, run) in [("A", &a), ("B", &b)] {
        left_out(name, run);
    }
    if comparison.documents == 0 {
        return Err(CliError::usage(nothing_common(&view)));
    }
    out::answer(args.json, &view, || view.text(args.all))?;
    Ok(exit::COMPLETED)
}

/// A person's name for a run.
async fn title(app: &AppContext, name: &str) -> Result<String, CliError> {
    Ok(match app.job_or_batch(name).await? {
        JobOrBatch::Job(job) => format!("job {}", job.id()),
        JobOrBatch::Batch(batch) => batch_title(&batch),
    })
}

fn left_out(name: &str, run: &RunRecords) {
    for RunJob { job, why } in run.left_out.iter().take(MOST_NAMED) {
        out::note(&format!("left out of {name}: job {job} ({})", out::one_line(why)));
    }
    if let Some(more) = run.left_out.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        out::note(&format!("left out of {name}: {} more", counted(more as u64, "job")));
    }
    if run.unfinished > 0 {
        let jobs = counted(run.unfinished, "job");
        out::note(&format!("{jobs} of {name} not ended: what is there so far is compared"));
    }
}

/// The reason why there is nothing to compare.
fn nothing_common(view: &CompareView<'_>) -> String {
    let comparison = view.comparison;
    let [a, b] = [&view.a.title, &view.b.title];
    for (title, names) in [(a, &comparison.without_result_in_a), (b, &comparison.without_result_in_b)] {
        if !names.is_empty() {
            return format!(
                "there is nothing to compare, because {title} has no list of records of {} that both have: name runs that have \
                 ended with a result",
                counted(names.len() as u64, "document")
            );
        }
    }
    format!("{a} and {b} have no document in common: name two runs over the same documents")
}

impl<'c> RunView<'c> {
    fn of(name: &'c str, title: String, run: &'c RunRecords) -> Self {
        let instructions = |(RunInstructions { name, sha256 }, jobs): (&'c RunInstructions, &u64)| InstructionsOfRun {
            name,
            sha256,
            jobs: *jobs,
        };
        Self {
            name,
            jobs: run.jobs,
            unfinished: run.unfinished,
            instructions: run.instructions.iter().map(instructions).collect(),
            left_out: &run.left_out,
            title,
        }
    }

    /// `titles 0123456789ab`.
    fn instructions(&self) -> String {
        let one = |one: &InstructionsOfRun<'_>| format!("{} {}", out::one_line(one.name), short(one.sha256));
        let all: Vec<String> = self.instructions.iter().map(one).collect();
        if all.is_empty() { "none that can be read".to_owned() } else { all.join(", ") }
    }
}

impl CompareView<'_> {
    fn text(&self, all: bool) -> String {
        let Self { a, b, comparison, .. } = self;
        let mut text = format!(
            "{} (A, {}) and {} (B, {}): {} compared, {} only in A, {} only in B.\n",
            a.title,
            counted(a.jobs, "job"),
            b.title,
            counted(b.jobs, "job"),
            counted(comparison.documents, "document"),
            comparison.only_in_a.len(),
            comparison.only_in_b.len()
        );
        if self.same_instructions {
            let _ = writeln!(text, "Instructions of both: {}.", a.instructions());
        } else {
            let _ = writeln!(text, "The instructions differ: {} in A, {} in B.", a.instructions(), b.instructions());
        }
        if comparison.other_content > 0 {
            let documents = counted(comparison.other_content, "document");
            let _ = writeln!(text, "Paired by name alone, with other content: {documents}.");
        }
        let named = [
            ("Only in A", &comparison.only_in_a),
            ("Only in B", &comparison.only_in_b),
            ("Without a result in A", &comparison.without_result_in_a),
            ("Without a result in B", &comparison.without_result_in_b),
        ];
        for (what, names) in named.into_iter().filter(|(_, names)| !names.is_empty()) {
            let most = if all { names.len() } else { MOST_NAMED };
            let some: Vec<String> = names.iter().take(most).map(|name| out::one_line(name)).collect();
            let more = names.len() - some.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let _ = writeln!(text, "{what}: {}{more}", some.join(", "));
        }
        for list in &comparison.lists {
            text.push_str(&list_text(list));
        }
        text.push_str(&self.changes(all));
        text
    }

    fn changes(&self, all: bool) -> String {
        let RunComparison { changes, more_changes, .. } = self.comparison;
        if changes.is_empty() {
            return "\nNothing has changed.\n".to_owned();
        }
        let has_lists = self.comparison.lists.len() > 1;
        let heading = [
            ("LIST", Align::Middle),
            ("DOCUMENT", Align::Middle),
            ("FIELD", Align::Middle),
            ("A", Align::Cut),
            ("", Align::Left),
            ("B", Align::Cut),
            ("WRONG", Align::Left),
        ];
        let is_judged = changes.iter().any(|change| change.accepted_a || change.accepted_b);
        let is_told = |column: &str| match column {
            "LIST" => has_lists,
            "WRONG" => is_judged,
            _ => true,
        };
        let heading: Vec<_> = heading.into_iter().filter(|(column, _)| is_told(column)).collect();
        let mut table = TextTable::new(&heading);
        for change in changes {
            let cell = |column: &str| match column {
                "LIST" => change.list.clone(),
                "DOCUMENT" => change.document.clone(),
                "FIELD" => change.field.clone().unwrap_or_else(|| format!("record {}", change.change.name())),
                "A" => value(&change.a, all),
                "B" => value(&change.b, all),
                "WRONG" => wrong(change).to_owned(),
                _ => "->".to_owned(),
            };
            table.row(heading.iter().map(|(column, _)| cell(column)).collect());
        }
        let mut text = format!("\nChanges\n{}", table.render(room()));
        if *more_changes > 0 {
            let _ = writeln!(text, "{} more: --all tells them.", counted(*more_changes, "change"));
        }
        text
    }
}

/// The run with the wrong value: only the other run's value was accepted by a person.
fn wrong(change: &ValueChange) -> &'static str {
    match (change.accepted_a, change.accepted_b) {
        (true, true) => "A or B",
        (true, false) => "B",
        (false, true) => "A",
        (false, false) => "",
    }
}

/// A number for each field, and its heading.
type CountColumn = (&'static str, fn(&FieldComparison) -> u64);

fn list_text(list: &ListComparison) -> String {
    let ListComparison { only_in_a, only_in_b, accepted_only_in_a, accepted_only_in_b, .. } = list;
    let accepted = |number: &u64| if *number > 0 { format!(" ({number} accepted by a person)") } else { String::new() };
    let mut text = format!(
        "\n{}: {} in both, {only_in_a} only in A{}, {only_in_b} only in B{}\n",
        out::one_line(&list.list),
        counted(list.records, "record"),
        accepted(accepted_only_in_a),
        accepted(accepted_only_in_b)
    );
    if list.fields.is_empty() {
        return text;
    }
    let always: [CountColumn; 4] = [
        ("SAME", |field| field.same),
        ("CHANGED", |field| field.changed),
        ("FILLED", |field| field.filled),
        ("EMPTIED", |field| field.emptied),
    ];
    let of_a: [CountColumn; 2] = [("A RIGHT", |field| field.right_a), ("A WRONG", |field| field.wrong_a)];
    let of_b: [CountColumn; 2] = [("B RIGHT", |field| field.right_b), ("B WRONG", |field| field.wrong_b)];
    // If nobody has accepted a value, no number of right values can be given.
    let judged = [of_a, of_b]
        .into_iter()
        .filter(|two| two.iter().any(|(_, count)| list.fields.iter().any(|field| count(field) > 0)));
    let columns: Vec<CountColumn> = always.into_iter().chain(judged.flatten()).collect();
    let heading: Vec<(&str, Align)> =
        [("FIELD", Align::Middle)].into_iter().chain(columns.iter().map(|(name, _)| (*name, Align::Right))).collect();
    let mut table = TextTable::new(&heading);
    for field in &list.fields {
        let numbers = columns.iter().map(|(_, count)| count(field).to_string());
        table.row([field.field.clone()].into_iter().chain(numbers).collect());
    }
    text.push_str(&table.render(room()));
    text
}

/// A value in one line.
fn value(value: &Value, all: bool) -> String {
    let text = match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    };
    if all { text } else { shown(&out::one_line(&text)) }
}
