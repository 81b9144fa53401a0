//! `overnight gold`: golden sets, which define the right results for documents.

use super::{
    AppContext, CliError, exit,
    job_or_batch::JobOrBatch,
    out,
    table::{Align, TextTable, room},
};
use crate::{
    config::{Flags, user_name},
    gold::{
        AddedCase, CaseFaults, GivenCases, GoldChange, GoldError, GoldenSet, HoldOut, approved_case, check_case,
        given_cases, given_table,
    },
    runner::now,
};
use overnight_core::{amount::counted, job::json_path};
use overnight_documents::{TableHeader, TableSink, tables};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fmt::Write,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

const EXAMPLES: &str = "\
Examples:
  overnight gold add night --to gold                 the approved jobs of a batch, as people corrected them
  overnight gold add benchmark/ --to gold            a folder with documents/, expected/NAME.json, schema.json
  overnight gold add truth.csv --documents docs/ --document-column file --to gold
  overnight gold add night --to gold --hold-out 0.3  keeps three of ten cases back
  overnight gold check gold
  overnight gold correct gold lease-7 '$.terms[2].rent' 1250

`overnight eval` says how good instructions and models are by a golden set.";

/// Cases that are named.
const MOST_NAMED: usize = 5;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct GoldArgs {
    #[command(subcommand)]
    command: GoldCommand,
}

#[derive(Debug, clap::Subcommand)]
enum GoldCommand {
    /// Add approved jobs, or what others have found: a folder or a table
    Add(GoldAddArgs),
    /// The cases of a set
    List(SetArgs),
    /// Whether all of a set still holds by schemas, rules and quotes
    Check(SetArgs),
    /// Take cases out of a set
    Drop(DropArgs),
    /// Say that another value is right
    Correct(CorrectGoldArgs),
}

#[derive(Debug, clap::Args)]
struct GoldAddArgs {
    /// Jobs and batches; or a folder with documents/ and expected/NAME.json; or a table (.csv, .xlsx)
    #[arg(required = true, value_name = "JOB|BATCH|PATH")]
    from: Vec<String>,
    /// Folder of the set, made where it is missing
    #[arg(long, value_name = "FOLDER", default_value = "gold")]
    to: PathBuf,
    /// Of a table: where its documents are
    #[arg(long, value_name = "FOLDER")]
    documents: Option<PathBuf>,
    /// Of a table: the column that names the document [default: document, file, filename or name]
    #[arg(long, value_name = "NAME")]
    document_column: Option<String>,
    /// Of a table: its rows are the records of this list, not one for each document
    #[arg(long, value_name = "NAME")]
    list: Option<String>,
    /// Keep this share of all cases back, such as 0.3: `eval` uses them only when it is told to
    #[arg(long, value_name = "SHARE", value_parser = share)]
    hold_out: Option<f64>,
    /// Another number keeps others back
    #[arg(long, value_name = "N", default_value_t = 1, requires = "hold_out")]
    seed: u64,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct SetArgs {
    /// Folder of the set
    #[arg(default_value = "gold", value_name = "GOLD")]
    set: PathBuf,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct DropArgs {
    /// Folder of the set
    #[arg(value_name = "GOLD")]
    set: PathBuf,
    /// Names of cases
    #[arg(required = true, value_name = "CASE")]
    cases: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct CorrectGoldArgs {
    /// Folder of the set
    #[arg(value_name = "GOLD")]
    set: PathBuf,
    /// Name of the case
    case: String,
    /// The value, such as '$.terms[2].rent'
    place: String,
    /// What is right there: JSON, or a text
    #[arg(allow_hyphen_values = true)]
    value: String,
    /// The deliverable [default: the first one of the case]
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Name of who says so [default: the user's]
    #[arg(long = "as", value_name = "NAME")]
    by: Option<String>,
}

fn share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.trim().parse().ok();
    share
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| "must be over 0 and under 1, such as 0.3".to_owned())
}

impl From<GoldError> for CliError {
    fn from(error: GoldError) -> Self {
        Self::usage(error.to_string())
    }
}

pub(super) async fn run(flags: Flags, args: &GoldArgs) -> Result<u8, CliError> {
    match &args.command {
        GoldCommand::Add(args) => Box::pin(add(flags, args)).await,
        GoldCommand::List(args) => list(args),
        GoldCommand::Check(args) => check(&flags, args),
        GoldCommand::Drop(args) => drop_cases(args),
        GoldCommand::Correct(args) => correct(args),
    }
}

async fn add(flags: Flags, args: &GoldAddArgs) -> Result<u8, CliError> {
    let mut set = GoldenSet::open_or_new(&args.to)?;
    let mut wanted = GivenCases::default();
    for from in &args.from {
        let path = Path::new(from);
        let given = match path.extension().and_then(|extension| extension.to_str()) {
            _ if path.is_dir() => given_cases(path)?,
            Some("csv" | "xlsx" | "xls" | "ods") if path.is_file() => {
                let folder = args
                    .documents
                    .as_ref()
                    .ok_or_else(|| CliError::usage("a table needs --documents: the folder of its documents"))?;
                given_table(&table(&flags, path)?, folder, args.document_column.as_deref(), args.list.as_deref())?
            }
            Some(_) if !path.exists() && from.contains('.') => {
                return Err(CliError::usage(format!("there is no folder or table {}", out::one_line(from))));
            }
            _ if from.contains('/') => {
                return Err(CliError::usage(format!("there is no folder or table {}", out::one_line(from))));
            }
            _ => approved(&flags, from).await?,
        };
        set.add_rules(given.fields);
        wanted.cases.extend(given.cases);
        wanted.left_out.extend(given.left_out);
    }
    let hold_out = args.hold_out.map(|share| HoldOut { share, seed: args.seed });
    let (mut new, mut replaced) = (Vec::new(), Vec::new());
    for case in wanted.cases {
        // Within one command, a case must not replace one that was just added.
        if let Some(known) = set.case_over(&case.documents).map(|known| known.name.clone())
            && (new.contains(&known) || replaced.contains(&known))
        {
            wanted.left_out.push((case.name, format!("its documents are those of {known}, which was added just now")));
            continue;
        }
        match set.add(case)? {
            AddedCase::New(name) => new.push(name),
            AddedCase::Replaced(name) => replaced.push(name),
        }
    }
    if new.is_empty() && replaced.is_empty() {
        let (what, why) = wanted.left_out.first().cloned().unwrap_or_default();
        let more = wanted.left_out.len().saturating_sub(1);
        let more = if more > 0 { format!("; {more} more") } else { String::new() };
        return Err(CliError::usage(format!(
            "there is no case to add: {} ({}{more})",
            out::one_line(&what),
            out::one_line(&why)
        )));
    }
    set.save(hold_out)?;
    if hold_out.is_some() && !set.file.cases.iter().any(|case| case.held_out) {
        out::note("no case is kept back: that share of the cases is less than one of them");
    }
    for (what, why) in wanted.left_out.iter().take(MOST_NAMED) {
        out::note(&format!("left out: {} ({})", out::one_line(what), out::one_line(why)));
    }
    if wanted.left_out.len() > MOST_NAMED {
        out::note(&format!("left out: {} more", wanted.left_out.len() - MOST_NAMED));
    }
    let all = set.file.cases.len();
    let kept = set.file.cases.iter().filter(|case| case.held_out).count();
    let left_out: Vec<Value> = wanted.left_out.iter().map(|(what, why)| json!({"what": what, "why": why})).collect();
    let shown = json!({"added": new, "replaced": replaced, "left_out": left_out, "cases": all, "held_out": kept});
    out::answer(args.json, &shown, || {
        let again = if replaced.is_empty() { String::new() } else { format!(", {} again", replaced.len()) };
        let kept = if kept > 0 { format!(", {kept} kept back") } else { String::new() };
        format!(
            "{} added{again}; {} has {}{kept}\n",
            counted(new.len() as u64, "case"),
            out::one_line(&args.to.display().to_string()),
            counted(all as u64, "case")
        )
    })?;
    Ok(if wanted.left_out.is_empty() { exit::COMPLETED } else { exit::PARTIAL_OR_BLOCKED })
}

/// A table as CSV: the first sheet of a workbook.
fn table(flags: &Flags, path: &Path) -> Result<Vec<u8>, CliError> {
    let unread = |why: String| CliError::usage(format!("{}: {why}", out::one_line(&path.display().to_string())));
    let bytes = std::fs::read(path).map_err(|error| unread(error.to_string()))?;
    if path.extension().is_some_and(|extension| extension == "csv") {
        return Ok(bytes);
    }
    let extractor = super::documents::extractor(&super::settings(flags)?)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let extracted = extractor.extract(&name, &bytes, false).map_err(|error| unread(error.to_string()))?;
    first_sheet(extracted.format.as_str(), &extracted.text).ok_or_else(|| unread("it has no table".to_owned()))
}

/// The rows of the first table in the text of a workbook, as CSV.
fn first_sheet(format: &str, text: &str) -> Option<Vec<u8>> {
    struct FirstTable {
        writer: csv::Writer<Vec<u8>>,
        tables: usize,
    }
    impl TableSink for FirstTable {
        fn begin(&mut self, header: TableHeader) -> ControlFlow<()> {
            self.tables += 1;
            if self.tables > 1 {
                return ControlFlow::Break(());
            }
            // Writing into memory can't fail.
            let _ = self.writer.write_record(&header.columns);
            ControlFlow::Continue(())
        }

        fn row(&mut self, cells: &[&str]) -> ControlFlow<()> {
            let _ = self.writer.write_record(cells);
            ControlFlow::Continue(())
        }
    }
    let writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    let mut found = FirstTable { writer, tables: 0 };
    tables(format, text, &mut found);
    (found.tables > 0).then(|| found.writer.into_inner().ok()).flatten()
}

/// The approved jobs that a person named.
async fn approved(flags: &Flags, name: &str) -> Result<GivenCases, CliError> {
    let mut given = GivenCases::default();
    let app = AppContext::read(super::settings(flags)?).await?;
    let ids = match app.job_or_batch(name).await? {
        JobOrBatch::Batch(batch) => app.ids_of(&batch).await?,
        JobOrBatch::Job(job) => vec![job.id()],
    };
    for job in app.jobs_with(&ids).await? {
        let label = job.queue.as_ref().map(|queue| queue.label.clone()).unwrap_or_default();
        let named = if label.is_empty() { job.id().to_string() } else { label.clone() };
        match app.workspace(&job) {
            Err(error) => given.left_out.push((named, error.message)),
            Ok(path) => match approved_case(&path, &label) {
                Ok(case) => given.cases.push(case),
                Err(error) => given.left_out.push((named, error.to_string())),
            },
        }
    }
    Ok(given)
}

fn list(args: &SetArgs) -> Result<u8, CliError> {
    let set = GoldenSet::open(&args.set)?;
    if args.json {
        out::json(&set.file.cases)?;
        return Ok(exit::COMPLETED);
    }
    let heading = [
        ("CASE", Align::Middle),
        ("DOCUMENTS", Align::Middle),
        ("APPROVED BY", Align::Left),
        ("KEPT BACK", Align::Left),
    ];
    let mut table = TextTable::new(&heading);
    for case in &set.file.cases {
        let documents: Vec<&str> = case.documents.iter().map(|document| document.name.as_str()).collect();
        let by = case.approved.as_ref().map(|approved| approved.by.clone()).unwrap_or_default();
        let kept = if case.held_out { "yes" } else { "" };
        table.row(vec![case.name.clone(), documents.join(", "), by, kept.to_owned()]);
    }
    let uses = set.hold_out_uses()?.len() as u64;
    let uses =
        if uses > 0 { format!("What is kept back was used {}.\n", counted(uses, "time")) } else { String::new() };
    let changes = set.changes()?.len() as u64;
    let changes =
        if changes > 0 { format!("{} of the set by people.\n", counted(changes, "correction")) } else { String::new() };
    out::result(&format!("{}{uses}{changes}", table.render(room())))?;
    Ok(exit::COMPLETED)
}

fn check(flags: &Flags, args: &SetArgs) -> Result<u8, CliError> {
    let set = GoldenSet::open(&args.set)?;
    let extractor = super::documents::extractor(&super::settings(flags)?)?;
    let found: Vec<CaseFaults> = set.file.cases.iter().map(|case| check_case(&set, case, &extractor)).collect();
    let faulty: Vec<&CaseFaults> = found.iter().filter(|case| !case.faults.is_empty()).collect();
    let cases: Vec<Value> = faulty.iter().map(|case| json!({"case": case.case, "faults": case.faults})).collect();
    out::answer(args.json, &json!({"cases": found.len(), "faulty": cases}), || {
        let mut text = String::new();
        for case in &faulty {
            for fault in &case.faults {
                let _ = writeln!(text, "{}: {}", case.case, out::one_line(fault));
            }
        }
        let all = counted(found.len() as u64, "case");
        let _ = writeln!(text, "{} of {all} hold", found.len() - faulty.len());
        text
    })?;
    Ok(if faulty.is_empty() { exit::COMPLETED } else { exit::PARTIAL_OR_BLOCKED })
}

fn drop_cases(args: &DropArgs) -> Result<u8, CliError> {
    let mut set = GoldenSet::open(&args.set)?;
    let names: BTreeSet<&String> = args.cases.iter().collect();
    for name in &names {
        set.case(name)?;
    }
    for name in &names {
        set.remove(name)?;
    }
    out::result(&format!("{} dropped, {} left\n", counted(names.len() as u64, "case"), set.file.cases.len()))?;
    Ok(exit::COMPLETED)
}

fn correct(args: &CorrectGoldArgs) -> Result<u8, CliError> {
    let set = GoldenSet::open(&args.set)?;
    let by = args.by.clone().unwrap_or_else(user_name);
    let change = correction(&set, (&args.case, args.file.as_deref()), &args.place, &args.value, by)?;
    set.correct(&change)?;
    out::result(&format!("{} of {} is corrected\n", args.place, args.case))?;
    Ok(exit::COMPLETED)
}

/// A correction at a place of a case. If the place has a text, the typed value is a text too.
pub(super) fn correction(
    set: &GoldenSet,
    (case, file): (&str, Option<&str>),
    place: &str,
    typed: &str,
    by: String,
) -> Result<GoldChange, CliError> {
    let known = set.case(case)?;
    let expected = match file {
        Some(file) => known.expected.iter().find(|expected| expected.deliverable.as_deref() == Some(file)),
        None => known.expected.first(),
    };
    let expected = expected.ok_or_else(|| CliError::usage(format!("{case} has no such deliverable")))?;
    let content = set.expected(expected)?;
    let mut looked_at = content.clone();
    let before = json_path::at_mut(&mut looked_at, place).cloned();
    // The lookup creates a missing field: only a schema can tell whether such a field is valid.
    let is_made = looked_at != content && set.schema(expected)?.is_none();
    let is_behind_list = place.ends_with(']');
    if place == "$" || is_made || (before.is_none() && !is_behind_list) {
        return Err(CliError::usage(format!(
            "there is no value at {} of {case}: look into {}",
            out::one_line(place),
            set.path(&expected.file).display()
        )));
    }
    let before = before.unwrap_or_default();
    let after = match (&before, serde_json::from_str(typed)) {
        (Value::String(_), Ok(Value::Null)) => Value::Null,
        (Value::String(_), _) | (_, Err(_)) => Value::from(typed),
        (_, Ok(value)) => value,
    };
    let (case, place) = (case.to_owned(), place.to_owned());
    Ok(GoldChange { at: now(), by, case, deliverable: expected.deliverable.clone(), place, before, after })
}
