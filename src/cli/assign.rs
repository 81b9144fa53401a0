//! `overnight assign`: who reads which results of a batch, their progress, and how far two readers of a result agree.

use super::{
    AppContext, CliError, exit,
    job_or_batch::batch_title,
    out,
    progress::counted,
    table::{self, Align, TextTable},
};
use crate::{
    review::{AssignmentWanted, Dealing},
    runner::{load, now},
    store::{BatchRow, JOBS_AT_ONCE, JobRow},
    view::{AssignmentsView, ReviewJudgements},
};
use overnight_core::job::{id::JobId, record::JobStatus};
use std::{collections::BTreeSet, fmt::Write as _};

const EXAMPLES: &str = "\
Examples:
  overnight assign contracts --to Anna Ben Cem
  overnight assign contracts --to Anna Ben --twice 40    # 40 drawn by chance are read by both
  overnight assign contracts --from Anna --to Ben Cem    # what Anna has not read yet
  overnight assign contracts                             # who has what, who is how far, who agrees

A name is that of a token (`overnight token add`), or what is given with --as. Each finds theirs in the batch's queue of `overnight
serve`. Of a result that two read, neither sees on its review page what the other has said, until they have said something themselves.";

/// Names in one request.
const MOST_PEOPLE: usize = 100;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AssignArgs {
    /// Name or id of a batch, or the beginning of one
    batch: String,
    #[command(flatten)]
    wanted: AssignmentWanted,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(app: &AppContext, args: &AssignArgs) -> Result<u8, CliError> {
    let batch = app.batch(&args.batch).await?;
    let new = assign(app, &batch, &args.wanted).await?;
    let view = view(app, &batch).await?;
    if args.json {
        out::json(&view)?;
        return Ok(exit::COMPLETED);
    }
    if let Some(new) = new {
        let results = counted(new as u64, "result");
        out::note(&format!("{results} of {} assigned", batch_title(&batch)));
    }
    if view.reviewers.is_empty() {
        let nobody = format!("nobody reads {} yet: `overnight assign … --to NAME` assigns it", batch_title(&batch));
        out::note(&nobody);
        return Ok(exit::COMPLETED);
    }
    out::result(&told(&view))?;
    Ok(exit::COMPLETED)
}

/// Assigns the wanted results, and returns how many got a reader; `None`: nothing was wanted.
pub(super) async fn assign(
    app: &AppContext,
    batch: &BatchRow,
    wanted: &AssignmentWanted,
) -> Result<Option<usize>, CliError> {
    let from = wanted.from.as_deref().map(str::trim);
    let people = people(wanted, from)?;
    if people.is_empty() {
        return Ok(None);
    }
    let id = batch.batch.id;
    let mut known = app.store.assignments(id).await?;
    let mut gone = Vec::new();
    if let Some(from) = from {
        let theirs: Vec<JobId> = known.iter().filter(|one| one.reviewer == from).map(|one| one.job).collect();
        let judged = judged(app, theirs.iter().copied()).await?;
        let is_open = |job: &JobId| !judged.get(job).is_some_and(|people| people.contains_key(from));
        (gone, known) = known.into_iter().partition(|one| one.reviewer == from && is_open(&one.job));
        if gone.is_empty() {
            return Err(CliError::usage(format!("{} has nothing left to read of {}", from, batch_title(batch))));
        }
    }
    // A result for two readers is read by both, even if one of them has approved it.
    let twice: BTreeSet<JobId> = known.iter().chain(&gone).filter(|one| one.twice).map(|one| one.job).collect();
    let mut jobs = Vec::new();
    for page in app.ids_of(batch).await?.chunks(JOBS_AT_ONCE) {
        let rows = app.store.jobs(page).await?.into_iter();
        let is_to_read = |row: &JobRow| {
            let is_over = matches!(row.state.status, JobStatus::Failed | JobStatus::Cancelled);
            let was_done = row.queue.as_ref().is_some_and(|queue| queue.same_as.is_some());
            !is_over && !was_done && (row.state.approved_by.is_none() || twice.contains(&row.job.id))
        };
        jobs.extend(rows.filter(is_to_read).map(|row| row.job.id));
    }
    jobs.sort_unstable();
    #[expect(clippy::cast_possible_truncation, reason = "any 64 bits of the id do")]
    let seed = wanted.seed.unwrap_or((id.as_u128() >> 16) as u64);
    let dealing = Dealing { batch: id, people, twice: wanted.twice as usize, seed, at: now() };
    let dealt = dealing.deal(&jobs, &known, &twice);
    let results: BTreeSet<JobId> = dealt.iter().map(|one| one.job).collect();
    app.store.assign(&gone, &dealt).await?;
    Ok(Some(results.len()))
}

/// The names, each once.
fn people(wanted: &AssignmentWanted, from: Option<&str>) -> Result<Vec<String>, CliError> {
    let mut people: Vec<String> = Vec::new();
    for name in &wanted.to {
        let name = super::token::checked_name(name)?;
        if from == Some(name.as_str()) {
            return Err(CliError::usage(format!("{name} can't get what is taken from {name}: leave one of them out")));
        }
        if !people.contains(&name) {
            people.push(name);
        }
    }
    match people.len() {
        0 if wanted.twice > 0 || from.is_some() => Err(CliError::usage("say with --to who is to read them")),
        1 if wanted.twice > 0 => {
            Err(CliError::usage("two people are needed to read the same results: name both with --to"))
        }
        0..=MOST_PEOPLE => Ok(people),
        _ => Err(CliError::usage(format!("at most {MOST_PEOPLE} people can be named at once"))),
    }
}

/// The reviewers of a batch and their results.
pub(super) async fn view(app: &AppContext, batch: &BatchRow) -> Result<AssignmentsView, CliError> {
    let assignments = app.store.assignments(batch.batch.id).await?;
    let judgements = judged(app, assignments.iter().map(|one| one.job)).await?;
    Ok(AssignmentsView::of(batch.batch.id, &assignments, &judgements))
}

/// People's verdicts on results. The verdict on a result that is not on this machine is unknown.
async fn judged(app: &AppContext, jobs: impl Iterator<Item = JobId>) -> Result<ReviewJudgements, CliError> {
    let mut judgements = ReviewJudgements::new();
    let jobs: Vec<JobId> = jobs.collect::<BTreeSet<_>>().into_iter().collect();
    for page in jobs.chunks(JOBS_AT_ONCE) {
        for job in app.jobs_with(page).await? {
            let id = job.id();
            let Ok(path) = app.own_workspace(&job) else { continue };
            let read = tokio::task::spawn_blocking(move || load(&path)).await;
            let Ok(Ok(loaded)) = read else { continue };
            let people = loaded.job.judgements().into_iter().map(|(name, right)| (name.to_owned(), right)).collect();
            judgements.insert(id, people);
        }
    }
    Ok(judgements)
}

fn told(view: &AssignmentsView) -> String {
    let mut table = TextTable::new(&[
        ("NAME", Align::Cut),
        ("ASSIGNED", Align::Right),
        ("JUDGED", Align::Right),
        ("RIGHT", Align::Right),
        ("OPEN", Align::Right),
    ]);
    for queue in &view.reviewers {
        let open = queue.open.len().to_string();
        let numbers = [queue.assigned, queue.judged, queue.right].map(|number| number.to_string());
        table.row([vec![out::one_line(&queue.name)], numbers.to_vec(), vec![open]].concat());
    }
    let mut text = table.render(table::room());
    if !view.lack_second.is_empty() {
        let results = counted(view.lack_second.len() as u64, "result");
        let _ = writeln!(text, "{results} that two are to read: only one has it. Name somebody else with --to");
    }
    for pair in &view.agreement {
        let kappa = match pair.kappa {
            Some(kappa) => format!("Cohen's kappa {kappa:.2}"),
            None => "both always said the same, which gives no kappa".to_owned(),
        };
        let _ = writeln!(
            text,
            "{} and {} agree on {} of {} that both have judged: {kappa}",
            out::one_line(&pair.one),
            out::one_line(&pair.other),
            pair.equal,
            counted(pair.results, "result")
        );
    }
    text
}
