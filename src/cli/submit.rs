//! `overnight submit`: puts documents into the queue as a batch of jobs. Everything is checked before anything is written; a dry run writes nothing.

mod assignment;
mod cascade;
mod earlier;
mod enqueue;
mod families_view;
mod forecasts;
mod manifest;
mod options;
mod output;
mod scheduled;

use super::{
    AppContext, CliError, exit, instructions, job_or_batch,
    job_request::{LimitArgs, list_left_out},
    out, progress, server, stop,
};
use crate::{
    batch::{self, BatchError, BatchSettings, ClosingSettings, Document, EvalBatch, JobUnit, Submission},
    blocking::run_blocking,
    config::Flags,
    extraction::Extractor,
    runner::{RunError, now},
    store::{NewBatch, QueuedJob, Store, StoreError},
};
use assignment::Assignment;
use chrono::Local;
use options::SubmitOptions;
pub(super) use options::{EachUnit, usd};
use output::CountedDocuments;
use overnight_core::job::left_out::LeftOut;
use overnight_documents::FoundDocument;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use uuid::Uuid;

const EXAMPLES: &str = "\
Examples:
  overnight submit extract-requirements --documents contracts/ --each --batch contracts --dry-run
  overnight submit extract-requirements --documents contracts/ --each --batch contracts --trial 5
  overnight submit summarize-documents --documents reports/ --each --glob '*.md' --at 22:00 --budget-usd 20
  overnight submit extract-contracts --documents contracts/ --each family --dry-run
  overnight submit ./extract.md --documents contracts/ --each --only-fields currency --from last-night
  overnight submit ./extract.md --documents contracts/ --each --then ./report.md --json --ids > batch.json

Nothing is worked before a worker runs: `overnight work`.";

#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(super) struct SubmitArgs {
    /// Name of instructions (in the instructions folder, or shipped), or a path to a .md file
    pub(super) instructions: String,
    /// Files and folders to work on
    #[arg(long, short, required = true, num_args = 1.., value_name = "PATH")]
    pub(super) documents: Vec<PathBuf>,
    /// One job for each document, instead of one for all; `--each family`: one for each family, which is a mail with its
    /// attachments, a ZIP, or all that lies in one sub-folder
    #[arg(long, num_args = 0..=1, default_missing_value = "document", value_name = "family")]
    pub(super) each: Option<EachUnit>,
    /// Families by their names, instead of by sub-folders: files of a folder for which the first group of this regular
    /// expression is the same, such as '^(.+?)([-_ ]+(amendment|v)?[-_ ]*[0-9]*)?[.]'
    #[arg(long, value_name = "REGEX")]
    pub(super) family: Option<String>,
    /// Only documents whose name fits one of these, such as '*.md' or 'reports/**'
    #[arg(long, num_args = 1.., value_name = "PATTERN")]
    pub(super) glob: Vec<String>,
    /// Name of the batch
    #[arg(long, value_name = "NAME")]
    pub(super) batch: Option<String>,
    /// From -100 to 100; higher goes first, a step is worth an hour of waiting
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) priority: Option<String>,
    /// Start no job before then: 22:00, 2h (from now), 2026-11-23, '2026-11-23 22:00', 2026-11-23T22:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(super) at: Option<String>,
    /// Hours in which jobs may run, with their time zone: '22:00-06:00 Europe/Berlin'
    #[arg(long, value_name = "HOURS")]
    pub(super) window: Option<String>,
    /// Jobs of the same group, of whatever batch, share a bound on how many of them run at once
    #[arg(long, value_name = "KEY")]
    pub(super) group: Option<String>,
    /// That bound
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) group_limit: Option<String>,
    /// USD that the jobs may spend together
    #[arg(long, value_name = "USD", allow_negative_numbers = true)]
    pub(super) budget_usd: Option<String>,
    /// How often a job may be lost with its worker, or fail, before it is given up [default: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) max_attempts: Option<String>,
    /// Link documents that were done before, with the same instructions and content, to the job that did them; with --each,
    /// submit each content once (of a family: all of its documents)
    #[arg(long)]
    pub(super) dedupe: bool,
    /// Ask only for these fields, such as 'currency,term': each job begins with the result that --from has of its documents, and
    /// every other field stays as it is
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', requires = "from")]
    pub(super) only_fields: Vec<String>,
    /// The batch or job with the earlier results
    #[arg(long, value_name = "BATCH", requires = "only_fields")]
    pub(super) from: Option<String>,
    /// With --each: only the first N jobs are queued, the others held until `overnight resume BATCH`
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) trial: Option<String>,
    /// When all jobs have ended, one more job, with these instructions, over what they delivered
    #[arg(long, value_name = "INSTRUCTIONS")]
    pub(super) then: Option<String>,
    /// Say what would be submitted, what it may cost, and which files can't be read; write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print a JSON object
    #[arg(long)]
    pub(super) json: bool,
    #[arg(skip)]
    pub(super) eval: Option<EvalSubmission>,
    /// In the JSON object, also list each document with its job
    #[arg(long, requires = "json", conflicts_with = "dry_run")]
    pub(super) ids: bool,
    #[command(flatten)]
    pub(super) bounds: LimitArgs,
    #[command(flatten)]
    pub(super) server: server::ServerArgs,
    /// Tokens that a prompt may have
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Limits")]
    pub(super) budget_tokens: Option<String>,
}

/// The submission of an evaluation: cases instead of documents that are searched for.
#[derive(Clone, Debug)]
pub(super) struct EvalSubmission {
    /// Without its key, which is computed from the submission.
    pub(super) batch: EvalBatch,
    /// The documents of each case.
    pub(super) cases: Vec<Vec<FoundDocument>>,
    /// The time of its set's last change, in milliseconds since 1970: the batch's id is derived from it and the key, so
    /// the same evaluation, started twice at once, is the same batch.
    pub(super) made_ms: u64,
}

/// The documents that can be submitted, and the files that can't.
struct Selection {
    /// The documents of each job.
    documents: Vec<Vec<Document>>,
    unit: JobUnit,
    left_out: Vec<(PathBuf, String)>,
}

/// A validated submission, ready to be written.
pub(super) struct ReadySubmission {
    submission: Submission,
    pub(super) batch: NewBatch,
    selection: Selection,
    assignment: Assignment,
    /// Whether jobs whose work was done before are linked to the jobs that did it.
    dedupes: bool,
    /// `None`: a dry run.
    app: Option<AppContext>,
}

pub(super) async fn run(flags: Flags, args: &SubmitArgs) -> Result<u8, CliError> {
    stop::ends_with("interrupted: nothing was submitted")?;
    let mut ready = Box::pin(ready(flags, args, Uuid::now_v7(), None)).await?;
    let Some(app) = ready.app.take() else {
        output::dry_run(&ready, args)?;
        return Ok(exit::COMPLETED);
    };
    warn_of_namesake(&app, ready.batch.name.as_deref()).await?;
    stop::ends_with("interrupted while the batch was put into the queue: `overnight jobs` says whether it is there")?;
    let counted = CountedDocuments::of(&ready);
    let jobs = if args.ids { ready.jobs() } else { ready.take_jobs() };
    enqueue::enqueue(&*app.store, &ready.batch, &jobs, ready.dedupes).await?;
    let printed = async {
        let totals = app.store.totals(ready.batch.id).await?;
        let standing = if args.ids { Some(app.store.batch_standing(ready.batch.id).await?) } else { None };
        output::submitted((&ready, &jobs), &counted, totals, standing.as_deref(), args.json)
    };
    printed.await.map(|()| exit::COMPLETED).map_err(|CliError { message, code }| {
        let id = ready.batch.id;
        CliError { message: format!("batch {id} is in the queue, don't submit it again; but {message}"), code }
    })
}

/// Warns if another batch of the same name has not ended: this one would hide it.
async fn warn_of_namesake(app: &AppContext, name: Option<&str>) -> Result<(), CliError> {
    let Some(name) = name else { return Ok(()) };
    match app.store.batch(name).await {
        Ok(row) if row.batch.name.as_deref() == Some(name) && row.ended.is_none() => out::note(&format!(
            "another batch is called {} and has not ended: that name means the new one now, so call the other {}",
            job_or_batch::batch_title(&row).trim_start_matches("batch "),
            row.batch.id
        )),
        Ok(_) | Err(StoreError::NoBatch { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Checks everything, and prepares the batch `id`. Without a store, the one that the settings name is opened.
pub(super) async fn ready(
    flags: Flags,
    args: &SubmitArgs,
    id: Uuid,
    store: Option<Arc<dyn Store>>,
) -> Result<ReadySubmission, CliError> {
    let mut settings = super::settings(&args.add_to(flags))?;
    let options = SubmitOptions::checked(args, &Local::now())?;
    let found = |given: &str| instructions::find(&settings.instructions.value, given);
    let (found, then) = (found(&args.instructions)?, args.then.as_deref().map(found).transpose()?);
    if !settings.headers.reveal().is_empty() {
        out::note("headers may hold secrets, and are not stored: no worker sends them");
    }
    if settings.record.take().is_some() {
        out::note("--record is not stored: it belongs to who works the jobs");
    }

    // A missing key or model is reported before thousands of files are read.
    let app = match store {
        _ if args.dry_run => None,
        Some(store) => Some(AppContext { settings: settings.clone(), store, only_reads: false }),
        None => Some(AppContext::open(settings.clone()).await?),
    };
    let assignment = Assignment::open(found, &settings, app.as_ref()).await?;
    let then = match then {
        Some(then) => {
            let then = Assignment::open(then, &settings, app.as_ref()).await;
            Some(then.map_err(|error| CliError { message: format!("--then: {error}"), ..error })?)
        }
        None => None,
    };
    for opened in std::iter::once(&assignment).chain(&then) {
        let limit = options.budget_usd.or(opened.instructions.limits.cost_usd);
        server::refuse_unpriced(&opened.models, limit, &settings)?;
    }
    cascade::check(&assignment, args.each.is_some())?;
    let models = server::models_text(&settings)?.map(|(_, text)| text);
    let extractor = super::documents::extractor(&settings)?;
    let extractor = if args.dry_run { extractor.with_read_only_cache() } else { extractor };
    let own = super::documents::own(&settings)?;
    let eyes = assignment.models.eyes(&assignment.instructions, extractor.vision()).map_err(CliError::usage)?;
    let eyes: Vec<String> = eyes.map_or_else(Vec::new, |_| {
        let readers = assignment.instructions.page_readers(assignment.model());
        readers.map(|(_, model)| model.to_owned()).collect()
    });
    let selection = run_blocking(|| match &args.eval {
        Some(eval) => select_cases(&eval.cases, (&extractor, &eyes)),
        None => select(args, &options, &own, (&extractor, &eyes)),
    })?;

    let reading = match &args.from {
        Some(_) if app.is_none() => Some(Box::pin(AppContext::read(settings.clone())).await?),
        Some(_) | None => None,
    };
    let only = match args.from.as_deref().zip(app.as_ref().or(reading.as_ref())) {
        Some((from, app)) => {
            let wanted = (from, &args.only_fields[..]);
            Some(Box::pin(earlier::read(app, wanted, &assignment.instructions, &selection.documents)).await?)
        }
        None => None,
    };
    cascade::note_cost(&assignment.instructions, selection.documents.len());
    if !args.dry_run {
        list_left_out(&selection.left_out);
    }
    let mut submission = Submission {
        id,
        created: now(),
        name: options.name,
        instructions_text: assignment.text.clone(),
        model: assignment.model().to_owned(),
        settings: BatchSettings {
            instructions: assignment.instructions.clone(),
            base_url: assignment.target.choice.base_url.clone(),
            api_key_env: assignment.target.choice.api_key_env.clone(),
            models,
            closing: then.map(|then| Box::new(closing(then))),
            left_out: LeftOut::of(&selection.left_out),
            only,
            eval: args.eval.as_ref().map(|eval| eval.batch.clone()),
            cascade: None,
        },
        budget_usd: options.budget_usd,
        time_window: options.window,
        priority: options.priority,
        run_after: options.run_after,
        group: options.group,
        max_attempts: options.max_attempts,
        trial: options.trial,
    };
    if let Some(eval) = &mut submission.settings.eval {
        let hash = assignment.instructions.hash(&assignment.text);
        eval.add_key(&hash, (assignment.model(), assignment.models.first.tier().name()), &selection.documents);
        submission.id = eval.id(args.eval.as_ref().map_or(0, |eval| eval.made_ms));
    }
    let batch = submission.batch().map_err(of_batch)?;
    Ok(ReadySubmission { submission, batch, selection, assignment, dedupes: args.dedupe, app })
}

impl ReadySubmission {
    /// The dry run as text.
    pub(super) fn told(&self) -> String {
        output::dry_run_text(self)
    }

    /// USD that it costs at least, likely and at most; `None` if a price is not known.
    pub(super) fn estimated_cost(&self) -> Option<[f64; 3]> {
        output::estimated_cost(self)
    }

    /// Puts the batch into the queue; doing it again changes nothing.
    pub(super) async fn enqueue(&self, store: &dyn Store) -> Result<(), CliError> {
        enqueue::enqueue(store, &self.batch, &self.jobs(), self.dedupes).await
    }

    pub(super) fn jobs(&self) -> Vec<QueuedJob> {
        self.submission.jobs(&self.selection.documents)
    }

    /// Takes the jobs out, and drops the documents: for a hundred thousand documents, memory doesn't hold both.
    fn take_jobs(&mut self) -> Vec<QueuedJob> {
        self.submission.jobs(std::mem::take(&mut self.selection.documents))
    }
}

impl Selection {
    fn all(&self) -> impl Iterator<Item = &Document> + Clone {
        self.documents.iter().flatten()
    }
}

impl SubmitArgs {
    /// Adds what was typed to `flags`.
    fn add_to(&self, flags: Flags) -> Flags {
        Flags { budget_tokens: self.budget_tokens.clone(), ..self.server.add_to(self.bounds.add_to(flags)) }
    }

    pub(super) fn dedupes(&self) -> bool {
        self.dedupe
    }
}

/// Finds the documents and reads each once.
fn select(
    args: &SubmitArgs,
    options: &SubmitOptions,
    own: &[PathBuf],
    reader: (&Extractor, &[String]),
) -> Result<Selection, CliError> {
    let is_wanted = |name: &str| options.is_wanted(name);
    let gathered = overnight_documents::survey(&args.documents, &is_wanted, own, reader.0).map_err(RunError::from)?;
    let bar = progress::reading(gathered.documents.len());
    let inspected = batch::inspect(&gathered.documents, reader, &|| bar.inc(1));
    bar.finish_and_clear();
    let mut left_out = gathered.unfit;
    left_out.extend(inspected.left_out.into_iter().map(|(found, why)| (path_of(&found.path, &found.inside), why)));
    left_out.extend(gathered.left_out);
    let given = args.documents.iter().filter_map(|path| overnight_documents::given_folder(path));
    let given: Vec<PathBuf> = given.filter_map(|folder| std::path::absolute(folder).ok()).collect();
    let unit = options.unit.clone();
    let mut documents = unit.jobs(inspected.documents, &given);
    if args.dedupe {
        let repeated = batch::take_repeated(&mut documents).into_iter().map(|(document, of)| {
            (path_of(Path::new(&document.path), &document.inside), format!("the same content as {of}"))
        });
        left_out.extend(repeated);
    }
    left_out.sort();
    match left_out.first() {
        _ if !documents.is_empty() => Ok(Selection { documents, unit, left_out }),
        None => Err(CliError::usage(format!("no document has a name that fits --glob {}", quoted(&args.glob)))),
        Some((path, why)) => {
            let more = if left_out.len() > 1 { format!("; {} more", left_out.len() - 1) } else { String::new() };
            let first = out::one_line(&format!("{} ({why}{more})", path.display()));
            Err(CliError::usage(format!("there is no document that can be read: {first}")))
        }
    }
}

/// The documents of cases; all of them must be readable.
fn select_cases(cases: &[Vec<FoundDocument>], reader: (&Extractor, &[String])) -> Result<Selection, CliError> {
    let all: Vec<FoundDocument> = cases.iter().flatten().cloned().collect();
    let bar = progress::reading(all.len());
    let inspected = batch::inspect(&all, reader, &|| bar.inc(1));
    bar.finish_and_clear();
    if let Some((found, why)) = inspected.left_out.first() {
        let path = out::one_line(&found.path.display().to_string());
        return Err(CliError::usage(format!("{path} can't be read ({why}): drop its case with `overnight gold drop`")));
    }
    let mut documents = inspected.documents.into_iter();
    let documents = cases.iter().map(|case| documents.by_ref().take(case.len()).collect()).collect();
    Ok(Selection { documents, unit: JobUnit::Document, left_out: Vec::new() })
}

/// The path of a document's file, and within it.
fn path_of(path: &Path, inside: &[String]) -> PathBuf {
    inside.iter().fold(path.to_owned(), |path, part| path.join(part))
}

fn quoted(patterns: &[String]) -> String {
    out::one_line(&patterns.iter().map(|pattern| format!("'{pattern}'")).collect::<Vec<_>>().join(" "))
}

fn closing(then: Assignment) -> ClosingSettings {
    ClosingSettings {
        model: then.model().to_owned(),
        instructions: then.instructions,
        text: then.text,
        base_url: then.target.choice.base_url,
        api_key_env: then.target.choice.api_key_env,
    }
}

fn of_batch(error: BatchError) -> CliError {
    match error {
        BatchError::Store(error) => error.into(),
        BatchError::WorkspaceStore(error) => error.into(),
        BatchError::Settings { .. } | BatchError::Unwritable { .. } | BatchError::Unread { .. } => {
            CliError::failed(error.to_string())
        }
    }
}
