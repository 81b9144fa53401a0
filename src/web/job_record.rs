//! The record in a job's workspace, read once for each state of its journal and cached for later requests.

use super::{WebError, backend::FoundJob, live_jobs::live_journal, state::WebState};
use crate::{
    audit::{
        AuditError,
        plan_diff::plan_diff,
        timeline::{Timeline, timeline_with},
    },
    report::{
        facts::JobFacts,
        read::{Whereabouts, read},
    },
    review::JobReview,
    workspace::{Workspace, files::FolderEntry},
};
use overnight_core::{
    job::{
        event::{ConversationEvent, Event},
        finding::FINDINGS_FILE,
        id::JobId,
        models::Tier,
        time::Timestamp,
    },
    message::Usage,
};
use std::{
    collections::{BTreeMap, VecDeque},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::OnceCell;

/// The most jobs that are cached.
const MOST_KEPT: usize = 16;
/// The most review pages of one job that are cached.
const MOST_PAGES_KEPT: usize = 3;
/// Files of the workspace that every job may have, beside its folders.
const RECORD_FILES: [&str; 10] = [
    "instructions.md",
    "main_plan.md",
    "workspace.md",
    "workspace_summary.md",
    "progress.md",
    "todos.md",
    FINDINGS_FILE,
    "quotes.jsonl",
    "job.yaml",
    "journal.jsonl",
];
const BOARD: &str = "todos.md";
/// A longer file is no board.
const MOST_BOARD: u64 = 1 << 20;

/// A model call and its reply.
#[derive(Clone, Debug)]
pub(super) struct RecordedTurn {
    pub(super) number: u64,
    /// 0: the job's own; else a sub-agent's.
    pub(super) conversation: u32,
    pub(super) at: Timestamp,
    pub(super) model: String,
    pub(super) tier: Option<Tier>,
    pub(super) usage: Usage,
    pub(super) cost_usd: Option<f64>,
    /// The tools that it called.
    pub(super) calls: Vec<String>,
}

/// The record in a job's workspace.
#[derive(Debug)]
pub(super) struct JobRecord {
    pub(super) facts: JobFacts,
    /// `None` where the journal isn't here, or can't be read.
    pub(super) timeline: Option<Timeline>,
    /// Why it can't be read.
    pub(super) fault: Option<String>,
    /// The changes of the plan by each phase.
    pub(super) plan_changes: Vec<String>,
    pub(super) turns: Vec<RecordedTurn>,
    /// The current `todos.md`.
    pub(super) board: Option<String>,
    /// The files of the record, and of `archive/`.
    pub(super) files: Vec<FolderEntry>,
}

impl JobRecord {
    fn read(found: &FoundJob) -> Self {
        let facts = read(&found.row, found.queue.as_ref(), &found.location, found.interrupted);
        let mut record = Self {
            fault: facts.record_fault.clone(),
            facts,
            timeline: None,
            plan_changes: Vec::new(),
            turns: Vec::new(),
            board: None,
            files: Vec::new(),
        };
        if let (Whereabouts::Here(path), None) = (&found.location, record.facts.same_as)
            && let Err(error) = record.add_workspace(path)
        {
            record.fault = record.fault.or(Some(error.to_string()));
        }
        record
    }

    fn add_workspace(&mut self, path: &Path) -> Result<(), AuditError> {
        let workspace = Workspace::open(path)?;
        let at_top = RECORD_FILES.into_iter().filter_map(|name| workspace.metadata(name).ok());
        self.files = at_top.chain(workspace.list("archive")?).collect();
        self.board = workspace.read_text_at_most(BOARD, MOST_BOARD).ok();
        let told = timeline_with(path, &mut |decision| {
            self.turns.extend(decision.events.iter().filter_map(|event| RecordedTurn::of(decision.at, event)));
        })?;
        for place in 0..told.phases.len() {
            self.plan_changes.push(plan_diff(path, &told, place)?);
        }
        self.timeline = Some(told);
        Ok(())
    }
}

impl RecordedTurn {
    fn of(at: Timestamp, event: &Event) -> Option<Self> {
        let Event::Conversation(ConversationEvent::ModelReplied {
            turn,
            conversation,
            model,
            tier,
            usage,
            cost_usd,
            calls,
            ..
        }) = event
        else {
            return None;
        };
        Some(Self {
            number: *turn,
            conversation: *conversation,
            at,
            model: model.clone(),
            tier: *tier,
            usage: *usage,
            cost_usd: *cost_usd,
            calls: calls.iter().map(|pending| pending.said.name.clone()).collect(),
        })
    }
}

/// The state of the files from which a record was read.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RecordVersion {
    job: JobId,
    row: Timestamp,
    journal: Option<(u64, Timestamp)>,
    interrupted: bool,
}

/// A page of a review, once it is read.
type ReviewCell = Arc<OnceCell<Arc<JobReview>>>;

/// A job as it was read, for its pages.
#[derive(Debug, Default)]
struct KeptJob {
    record: OnceCell<Arc<JobRecord>>,
    /// Pages of its review, by number.
    reviews: Mutex<BTreeMap<usize, ReviewCell>>,
}

/// The most recently requested records, the newest first.
#[derive(Debug, Default)]
pub(super) struct RecordCache(Mutex<VecDeque<(RecordVersion, Arc<KeptJob>)>>);

impl RecordCache {
    /// The current record. Requests during a read wait for the same read.
    pub(super) async fn record(&self, found: FoundJob) -> Result<Arc<JobRecord>, WebError> {
        let kept = self.kept(version(&found).await?);
        let read = || async { tokio::task::spawn_blocking(move || Arc::new(JobRecord::read(&found))).await };
        Ok(kept.record.get_or_try_init(read).await?.clone())
    }

    /// The same for a page of the job's review, from 1.
    pub(super) async fn review(&self, found: FoundJob, page: usize) -> Result<Arc<JobReview>, WebError> {
        let path = WebState::own_workspace(&found)?;
        let kept = self.kept(version(&found).await?);
        let read = || async {
            let read = tokio::task::spawn_blocking(move || JobReview::read_page(&path, false, page)).await?;
            Ok::<_, WebError>(Arc::new(read.map_err(|error| WebError::conflict(error.to_string()))?))
        };
        let cell = {
            let mut reviews = kept.reviews.lock().unwrap_or_else(PoisonError::into_inner);
            if reviews.len() >= MOST_PAGES_KEPT && !reviews.contains_key(&page) {
                reviews.clear();
            }
            reviews.entry(page).or_default().clone()
        };
        Ok(cell.get_or_try_init(read).await?.clone())
    }

    fn kept(&self, version: RecordVersion) -> Arc<KeptJob> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, job)) = kept.iter().find(|(known, _)| *known == version) {
            return job.clone();
        }
        kept.retain(|(known, _)| known.job != version.job);
        kept.truncate(MOST_KEPT - 1);
        let job = Arc::new(KeptJob::default());
        kept.push_front((version, job.clone()));
        job
    }
}

async fn version(found: &FoundJob) -> Result<RecordVersion, WebError> {
    let path = match &found.location {
        Whereabouts::Here(path) => Some(path.clone()),
        Whereabouts::Gone(_) | Whereabouts::Stored(_) | Whereabouts::Elsewhere | Whereabouts::NotBegun => None,
    };
    let journal = tokio::task::spawn_blocking(move || path.and_then(|path| live_journal(&path))).await?;
    let (job, row, interrupted) = (found.row.job.id, found.row.updated, found.interrupted);
    Ok(RecordVersion { job, row, journal, interrupted })
}
