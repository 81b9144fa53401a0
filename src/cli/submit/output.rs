//! Prints a submission or a dry run, as text or as one JSON object.

use super::{
    ReadySubmission, Selection, SubmitArgs,
    families_view::FamiliesView,
    forecasts::{Forecasts, Waits, forecasts},
    manifest::Manifest,
};
use crate::{
    batch::{Document, Duplicate, PAGE_TOKENS, Submission, duplicates},
    cli::{
        CliError, local_time, out,
        progress::{amount, counted},
        server,
    },
    store::{BatchTotals, JobStands, QueuedJob},
};
use overnight_core::amount::{COST_UNKNOWN, percent};
use overnight_core::job::{
    models::Tier,
    time::{Timestamp, duration},
};
use serde::Serialize;
use std::fmt::{Display, Write};
use uuid::Uuid;

/// The most documents with the same content that are named.
const MOST_LISTED: usize = 5;
/// The most that are in the JSON of a submission, and the most files that were left out.
const MOST_IN_JSON: usize = 1_000;
/// Milliseconds of a reply, for estimates of a job's duration: a guess, which is shown with the estimate.
const REPLY_MS: u64 = 10_000;

/// A batch in `--json`. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize)]
struct SubmittedView<'s> {
    batch: Uuid,
    name: Option<&'s str>,
    created: Timestamp,
    instructions: &'s str,
    instructions_sha256: &'s str,
    model: &'s str,
    jobs: u64,
    queued: u64,
    held: u64,
    /// Jobs whose work another job did before.
    linked: u64,
    documents: usize,
    /// Null if there is no job for each family.
    families: Option<&'s FamiliesView>,
    bytes: u64,
    run_after: Option<Timestamp>,
    time_window: Option<&'s str>,
    budget_usd: Option<f64>,
    /// Name of the instructions of the closing job.
    then: Option<&'s str>,
    /// Documents that are submitted although an earlier one has the same content, and the first of them.
    duplicate_documents: usize,
    duplicates: &'s [DuplicateView],
    left_out_files: usize,
    /// The first of them; the report has all.
    left_out: Vec<LeftOutView<'s>>,
    /// Null unless `--ids` asked for it.
    manifest: Option<Manifest<'s>>,
}

/// A document with the content of an earlier one.
#[derive(Debug, Serialize)]
struct DuplicateView {
    document: String,
    same_as: String,
}

/// Numbers of a submission's documents, without the documents themselves.
#[derive(Debug)]
pub(super) struct CountedDocuments {
    documents: usize,
    families: Option<FamiliesView>,
    bytes: u64,
    duplicate_documents: usize,
    /// The first of these documents.
    duplicates: Vec<DuplicateView>,
}

impl CountedDocuments {
    pub(super) fn of(ready: &ReadySubmission) -> Self {
        let selection = &ready.selection;
        let (duplicate_documents, duplicates) = duplicate_views(selection, MOST_IN_JSON);
        Self {
            documents: selection.all().count(),
            families: FamiliesView::of(ready),
            bytes: bytes(selection),
            duplicate_documents,
            duplicates,
        }
    }
}

#[derive(Debug, Serialize)]
struct LeftOutView<'s> {
    path: String,
    why: &'s str,
}

/// A dry run in `--json`. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize)]
struct DryRunView<'s> {
    /// Always true: it distinguishes a dry run from a submission.
    #[serde(rename = "dry_run")]
    is_one: bool,
    instructions: &'s str,
    model: &'s str,
    jobs: usize,
    held: usize,
    documents: usize,
    /// Null if there is no job for each family.
    families: Option<FamiliesView>,
    bytes: u64,
    /// Tokens of the documents' text.
    text_tokens: u64,
    /// Pages that a model is to look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    scanned_pages: Option<u64>,
    /// These four are estimates.
    turns: u64,
    tokens_in: u64,
    tokens_out: u64,
    /// Null if the model's price isn't known.
    cost_usd: Option<f64>,
    /// The bounds of the cost; null if the model's price isn't known.
    cost_usd_least: Option<f64>,
    cost_usd_most: Option<f64>,
    /// Share of the text that a second reader reads; null if there is none.
    read_twice: Option<f64>,
    /// For the longest job, if readers work side by side; else null.
    waits: Option<Waits>,
    is_verified: bool,
    /// The tier for the model's calls.
    tier: Tier,
    /// The cost of the jobs at each tier; null if the provider has no such tier.
    cost_usd_standard: Option<f64>,
    cost_usd_flex: Option<f64>,
    cost_usd_batch: Option<f64>,
    budget_usd: Option<f64>,
    run_after: Option<Timestamp>,
    time_window: Option<&'s str>,
    then: Option<&'s str>,
    /// Documents that would be submitted although an earlier one has the same content.
    duplicates: Vec<DuplicateView>,
    left_out: Vec<LeftOutView<'s>>,
}

/// Prints the state of the submission in the queue; with `standing`, each document with its job.
pub(super) fn submitted(
    (ready, jobs): (&ReadySubmission, &[QueuedJob]),
    counted: &CountedDocuments,
    totals: BatchTotals,
    standing: Option<&[JobStands]>,
    as_json: bool,
) -> Result<(), CliError> {
    let ReadySubmission { submission, batch, selection, .. } = ready;
    let documents = &selection.documents;
    let shown = SubmittedView {
        batch: batch.id,
        name: batch.name.as_deref(),
        created: batch.created,
        instructions: &batch.instructions,
        instructions_sha256: &batch.instructions_sha256,
        model: &batch.model,
        jobs: totals.all(),
        queued: totals.queued,
        held: totals.held,
        linked: totals.linked,
        documents: counted.documents,
        families: counted.families.as_ref(),
        bytes: counted.bytes,
        run_after: submission.run_after,
        time_window: batch.time_window.as_deref(),
        budget_usd: batch.budget_usd,
        then: then(submission),
        duplicate_documents: counted.duplicate_documents,
        duplicates: &counted.duplicates,
        left_out_files: selection.left_out.len(),
        left_out: left_out(selection, MOST_IN_JSON),
        manifest: standing.map(|standing| Manifest { jobs, documents, standing }),
    };
    out::answer(as_json, &shown, || shown.text())
}

impl SubmittedView<'_> {
    fn text(&self) -> String {
        let id = self.batch;
        let name = self.name.map_or_else(String::new, |name| format!(": {}", out::one_line(name)));
        let mut text = format!("batch {id}{name}\n");
        let parts = [
            (self.queued, "queued"),
            (self.held, "held until the batch is resumed"),
            (self.linked, "done before and linked to the job that did them"),
        ];
        let parts: Vec<String> =
            parts.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")).collect();
        let _ = writeln!(text, "jobs: {} ({})", self.jobs, parts.join(", "));
        documents(&mut text, self.documents, self.bytes, self.families);
        if self.left_out_files > 0 {
            let files = counted(self.left_out_files as u64, "file");
            let _ = writeln!(text, "left out: {files}, with the reasons in overnight report {id}");
        }
        duplicate_lines(&mut text, self.duplicates, self.duplicate_documents);
        let _ =
            writeln!(text, "instructions: {}, with {}", out::one_line(self.instructions), out::one_line(self.model));
        option_lines(&mut text, self.run_after, self.time_window, self.budget_usd, self.then);
        let _ = writeln!(text, "next: overnight work, overnight jobs --batch {id}");
        if self.held > 0 {
            let _ = writeln!(text, "when the trial is done: overnight resume {id}");
        }
        text
    }
}

/// Prints the submission without queueing it, and an estimate of its effort.
pub(super) fn dry_run(ready: &ReadySubmission, args: &SubmitArgs) -> Result<(), CliError> {
    let instructions = &ready.assignment.instructions;
    server::warn_of_price(&ready.assignment.models, ready.submission.budget_usd.or(instructions.limits.cost_usd));
    if args.dedupe {
        out::note("a dry run doesn't look into the database: what was done before is counted as if it were not");
    }
    let shown = DryRunView::of(ready);
    out::answer(args.json, &shown, || shown.text())
}

/// The same as text, for a page.
pub(super) fn dry_run_text(ready: &ReadySubmission) -> String {
    DryRunView::of(ready).text()
}

/// Pages that cost money: pages with a cached transcription don't.
fn to_transcribe(document: &Document) -> u64 {
    if document.is_transcribed { 0 } else { document.scans }
}

/// The expected effort of the jobs, by role.
fn forecasts_of(ReadySubmission { assignment, selection, .. }: &ReadySubmission) -> Forecasts {
    selection.documents.iter().fold(Forecasts::default(), |sum, documents| {
        // The text of a scanned page is not known before it is read.
        let tokens = |document: &Document| document.tokens.max(document.scans * PAGE_TOKENS.1);
        let tokens: Vec<u64> = documents.iter().map(tokens).collect();
        sum.and(forecasts(assignment, &tokens, documents.iter().map(to_transcribe).sum()))
    })
}

/// USD at least, likely and at most.
pub(super) fn estimated_cost(ready: &ReadySubmission) -> Option<[f64; 3]> {
    forecasts_of(ready).cost(&ready.assignment, &|model| model.clone())
}

impl<'s> DryRunView<'s> {
    fn of(ready: &'s ReadySubmission) -> Self {
        let ReadySubmission { submission, assignment, selection, .. } = ready;
        let forecasts = forecasts_of(ready);
        let vision = forecasts.vision.and(forecasts.second_vision);
        let estimate = forecasts
            .work
            .and(forecasts.reading)
            .and(forecasts.part_reading)
            .and(forecasts.verification)
            .and(vision)
            .likely;
        let jobs = selection.documents.len();
        let model = &*assignment.models.first;
        let cost = forecasts.cost(assignment, &|model| model.clone());
        let usual = forecasts.cost(assignment, &|model| model.standard_tier().unwrap_or_else(|| model.clone()));
        let at_tier = |tier| usual.zip(model.share(tier)).map(|([_, likely, _], share)| likely * share);
        Self {
            is_one: true,
            instructions: &assignment.instructions.name,
            model: assignment.model(),
            jobs,
            held: submission.trial.map_or(0, |trial| jobs.saturating_sub(trial)),
            documents: selection.all().count(),
            families: FamiliesView::of(ready),
            bytes: bytes(selection),
            text_tokens: selection.all().map(|document| document.tokens).sum(),
            scanned_pages: Some(selection.all().map(to_transcribe).sum()).filter(|pages| *pages > 0),
            turns: estimate.turns,
            tokens_in: estimate.input,
            tokens_out: estimate.output,
            cost_usd: cost.map(|[_, likely, _]| likely),
            cost_usd_least: cost.map(|[least, ..]| least),
            cost_usd_most: cost.map(|[.., most]| most),
            read_twice: assignment.instructions.second_reader.as_ref().map(|wanted| wanted.share),
            waits: forecasts.waits,
            is_verified: assignment.instructions.verify.is_some(),
            tier: model.tier(),
            cost_usd_standard: at_tier(Tier::Standard),
            cost_usd_flex: at_tier(Tier::Flex),
            cost_usd_batch: at_tier(Tier::Batch),
            budget_usd: submission.budget_usd,
            run_after: submission.run_after,
            time_window: submission.time_window.as_deref(),
            then: then(submission),
            duplicates: duplicate_views(selection, usize::MAX).1,
            left_out: left_out(selection, usize::MAX),
        }
    }

    fn text(&self) -> String {
        let mut text = "dry run: nothing was written\n".to_owned();
        let held = if self.held > 0 {
            format!(" ({} queued, {} held until the batch is resumed)", self.jobs - self.held, self.held)
        } else {
            String::new()
        };
        let _ = writeln!(text, "jobs: {}{held}", self.jobs);
        documents(&mut text, self.documents, self.bytes, self.families.as_ref());
        duplicate_lines(&mut text, &self.duplicates, self.duplicates.len());
        let _ =
            writeln!(text, "instructions: {}, with {}", out::one_line(self.instructions), out::one_line(self.model));
        option_lines(&mut text, self.run_after, self.time_window, self.budget_usd, self.then);
        let _ = writeln!(
            text,
            "estimate: {}, {} tokens in, {} tokens out, for {} tokens of text{}",
            counted(self.turns, "turn"),
            amount(self.tokens_in),
            amount(self.tokens_out),
            amount(self.text_tokens),
            self.scanned_pages.map_or_else(String::new, |pages| {
                format!(" and {} for a model to read", counted(pages, "scanned page"))
            })
        );
        let _ = match self.cost_usd {
            Some(cost) => {
                let over = over_budget_note(cost, self.budget_usd);
                let costs = [self.cost_usd_standard, self.cost_usd_flex, self.cost_usd_batch];
                let others = Tier::ALL.into_iter().zip(costs).filter(|(tier, _)| *tier != self.tier);
                let told =
                    |(tier, cost): (Tier, Option<f64>)| Some(format!("{:.2} USD at the {} tier", cost?, tier.name()));
                let others: Vec<String> = others.filter_map(told).collect();
                let other = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
                let range = self.cost_usd_least.zip(self.cost_usd_most);
                let range = range.map(|(least, most)| format!(", between {least:.2} and {most:.2}"));
                let range = range.unwrap_or_default();
                writeln!(text, "cost: about {cost:.2} USD{range}{other}{over}")
            }
            None => writeln!(text, "{COST_UNKNOWN}: no price is known; give it with --models"),
        };
        if let Some(Waits { one_after_the_other, side_by_side, parts }) = self.waits {
            let minutes = |replies: u64| duration(replies * REPLY_MS);
            let _ = writeln!(
                text,
                "time: {side_by_side} replies wait for each other in the longest job with {} read side by side, {one_after_the_other} without: {} or {}, at {} a reply",
                counted(parts, "part"),
                minutes(side_by_side),
                minutes(one_after_the_other),
                minutes(1)
            );
        }
        text.push_str("(An estimate, by how a job is worked: each part of a document is read once and stays in two prompts. At least: a model that does all in few replies, with the rest of each prompt from the cache; at most: twice the estimate.");
        if let Some(share) = self.read_twice {
            let _ = write!(text, " {} of the text is read a second time.", percent(share));
        }
        if self.is_verified {
            text.push_str(" A verifier judges once or twice.");
        }
        text.push_str(if self.then.is_some() { " The closing job is not counted.)\n" } else { ")\n" });
        if !self.left_out.is_empty() {
            let _ = writeln!(text, "left out: {}", counted(self.left_out.len() as u64, "file"));
        }
        for LeftOutView { path, why } in &self.left_out {
            let _ = writeln!(text, "  {} ({})", out::one_line(path), out::one_line(why));
        }
        text
    }
}

fn over_budget_note(cost: f64, budget: Option<f64>) -> &'static str {
    if budget.is_some_and(|budget| cost > budget) { ", more than the budget: jobs would be held" } else { "" }
}

fn documents(text: &mut String, documents: usize, bytes: u64, families: Option<&FamiliesView>) {
    let _ = writeln!(text, "documents: {documents} ({})", counted(bytes, "byte"));
    if let Some(families) = families {
        let _ = writeln!(text, "families: {}", families.text(documents));
    }
}

/// Which documents have the same content: how many, and the first of them.
fn duplicate_lines(text: &mut String, pairs: &[DuplicateView], all: usize) {
    if pairs.is_empty() {
        return;
    }
    let mut named: Vec<String> = pairs
        .iter()
        .take(MOST_LISTED)
        .map(|DuplicateView { document, same_as }| format!("{document} = {same_as}"))
        .collect();
    if all > named.len() {
        named.push(format!("{} more", all - named.len()));
    }
    let have = if all == 1 { "1 document has".to_owned() } else { format!("{all} documents have") };
    let _ = writeln!(text, "the same content: {have} that of another ({})", out::one_line(&named.join(", ")));
}

/// How many documents have the content of an earlier one, and the first `most` of them.
fn duplicate_views(selection: &Selection, most: usize) -> (usize, Vec<DuplicateView>) {
    let later = duplicates(selection.all());
    let view = |Duplicate { document, of }: &Duplicate<'_>| DuplicateView {
        document: document.name.clone(),
        same_as: of.name.clone(),
    };
    (later.len(), later.iter().take(most).map(view).collect())
}

/// One line for each option that was set.
fn option_lines(
    text: &mut String,
    run_after: Option<Timestamp>,
    window: Option<&str>,
    budget_usd: Option<f64>,
    then: Option<&str>,
) {
    let mut line = |name: &str, value: &dyn Display| {
        let _ = writeln!(text, "{name}: {}", out::one_line(&value.to_string()));
    };
    if let Some(at) = run_after {
        line("not before", &local_time::minute(at));
    }
    if let Some(window) = window {
        line("window", &window);
    }
    if let Some(budget) = budget_usd {
        line("budget", &format!("{budget} USD"));
    }
    if let Some(then) = then {
        line("then", &format!("{then}, over what the jobs delivered"));
    }
}

fn then(submission: &Submission) -> Option<&str> {
    submission.settings.closing.as_ref().map(|closing| closing.instructions.name.as_str())
}

fn bytes(selection: &Selection) -> u64 {
    selection.all().map(|document| document.bytes).sum()
}

fn left_out(selection: &Selection, most: usize) -> Vec<LeftOutView<'_>> {
    let first = selection.left_out.iter().take(most);
    first.map(|(path, why)| LeftOutView { path: path.display().to_string(), why }).collect()
}
