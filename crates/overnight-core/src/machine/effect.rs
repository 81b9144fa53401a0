//! The requests of the machine to the outside world, and what comes back: results, and commands of people.

use crate::{
    job::{
        arguments::GiveVerdict,
        call::{FileChange, ReadCall},
        comparison::Lists,
        contract::{Check, DeliverableState},
        ending::Completion,
        event::{ExaminedFiles, PreparedWrite, SavedFile, ToolResult, Why},
        failure::Failure,
        finding::CorrectedQuote,
        limits::Limits,
        models::{ModelChoice, Tier},
        part_reading::DoubledRecord,
        plan::Plan,
        record::{Delivered, HoldReason, QuotePositions},
        scans::PageOutcome,
        seen_result::SeenResult,
        spec::DocumentEntry,
        state::FileWrite,
        submitted_call::SubmittedCall,
    },
    message::{Reply, ToolCall},
};
use serde_json::Value;

/// The name of an effect: it follows from the state, and changes with each fact of its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId {
    /// The conversation that it is for.
    pub conversation: u32,
    /// Facts of that conversation before it.
    pub number: u64,
}

/// An effect that may be worked now.
#[derive(Clone, Debug, PartialEq)]
pub struct Owed {
    /// Its name, with which its outcome comes back.
    pub id: EffectId,
    /// The effect to be performed.
    pub effect: Effect,
}

/// The outcome of an effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is done.
    Done(EffectResult),
    /// A model call was submitted; its outcome comes later.
    Submitted(SubmittedCall),
    /// A model call brought no reply; if a retry helps, it comes after `wait_ms`.
    Failed {
        /// The failure.
        failure: Failure,
        /// The wait in milliseconds; 0 if there is no automatic retry.
        wait_ms: u64,
    },
}

/// One effect for the outside world to perform.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Nothing from outside is needed but the time.
    Decide,
    /// One model call with the prompt that `prompt::compose` makes of the state.
    Model,
    /// Work out what this change would do: the hashes of its file before and after.
    Prepare(FileChange),
    /// Make this change, unless it is made already.
    Change(FileChange, PreparedWrite),
    /// Do the first pending call, which reads.
    Read {
        /// The call as the model made it.
        call: ToolCall,
        /// The call in its parsed form.
        read: ReadCall,
    },
    /// Do the first pending call, which writes `workspace_summary.md`.
    GenerateSummary,
    /// Build the archive of the phase that ended.
    Archive {
        /// The folder's name under `archive/`.
        folder: String,
        /// Why the phase ended.
        why: Why,
    },
    /// Write `workspace_summary.md`.
    Summary,
    /// Compare the transcriptions of scanned pages, and put them into their documents' texts.
    ReadPages,
    /// Look for records of different readers that quote the same place.
    FindDoubled,
    /// Read plan, memory, instructions and summary from the disk.
    Examine,
    /// Put this file on the disk.
    Write(FileWrite),
    /// Check the deliverables against the contract, and the files that a completion names.
    Check(Option<Completion>),
    /// Look for the quotes of a verdict's faults.
    FindQuotes(GiveVerdict),
}

/// The result of an `Effect`.
#[derive(Clone, Debug, PartialEq)]
pub enum EffectResult {
    /// The time that was asked for.
    Now,
    /// The model has answered.
    Reply {
        /// The reply as the provider gave it.
        reply: Reply,
        /// USD; `None` if the price isn't known.
        cost_usd: Option<f64>,
        /// The cost at the standard tier, if it was answered at another and the price is known.
        standard_usd: Option<f64>,
        /// The provider's name for the batch in which it was answered.
        batch: Option<String>,
        /// The name of the prompt that it answers.
        prompt_sha256: String,
    },
    /// The change that the first pending call will make; with the new text if the file is the plan or the memory.
    Prepared(PreparedWrite, Option<SavedFile>),
    /// The result of the first pending call; with the new text if it changed the plan or the memory.
    Tool(ToolResult, Option<SavedFile>),
    /// The archive is on the disk.
    Archived {
        /// SHA-256 of its list of files.
        manifest_sha256: String,
    },
    /// The summary is on the disk.
    Summarised {
        /// SHA-256 of the file.
        sha256: String,
    },
    /// Scanned pages have their texts.
    PagesRead {
        /// The documents with such pages, as they are now.
        documents: Vec<DocumentEntry>,
        /// The outcome for each page.
        pages: Vec<PageOutcome>,
    },
    /// The list of all readers was searched for doubled records.
    Doubled(Vec<DoubledRecord>),
    /// The content of the files.
    Examined(ExaminedFiles),
    /// The file is on the disk.
    Written,
    /// The deliverables were checked.
    Checked {
        /// All checks that could be made.
        checks: Vec<Check>,
        /// The state of each deliverable after the checks.
        states: Vec<DeliverableState>,
        /// The files that are there.
        deliverables: Vec<Delivered>,
        /// The positions of the quotes; `None` if there were none to check.
        quotes: Option<QuotePositions>,
        /// Both readers' lists, once the second has read and a completion is claimed.
        lists: Option<Lists>,
    },
    /// The places of the quotes, one for each fault; `None` for a fault without a quote.
    QuotesFound(Vec<Option<super::FoundQuote>>),
}

/// A person's correction of a field of a deliverable.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldCorrection {
    /// The deliverable.
    pub file: String,
    /// The place: `$.requirements[3].text`.
    pub place: String,
    /// The value as the model wrote it; null if there is none.
    pub before: Value,
    /// The corrected value.
    pub after: Value,
    /// The file with this and all earlier corrections.
    pub path: String,
    /// SHA-256 of that file.
    pub sha256: String,
    /// Quotes that it changes, with the results of a new search.
    pub quotes: Vec<CorrectedQuote>,
    /// The person's name.
    pub by: String,
    /// The person's comment.
    pub comment: Option<String>,
}

/// A command to a job, from a person or from the runner.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// A process takes the job up.
    Open {
        /// The version of the program.
        version: String,
        /// The model: `provider:name`.
        model: String,
        /// Bytes of a line that a crash cut off; `None` if all lines were whole.
        torn_bytes: Option<u64>,
    },
    /// Another model or server is to be called from here on.
    Choose {
        /// The choice from the next call on.
        choice: ModelChoice,
    },
    /// The model is to be asked at another tier from here on.
    ChangeTier {
        /// The tier from the next call on.
        tier: Tier,
        /// The reason, one sentence.
        reason: String,
    },
    /// A person has edited files while the job was held.
    Edited {
        /// The plan, if it has changed.
        plan: Option<Plan>,
        /// The present text of `workspace.md`.
        memory: Option<String>,
    },
    /// The job is to wait.
    Hold {
        /// The reason.
        reason: HoldReason,
        /// One sentence for a person.
        detail: String,
    },
    /// A held job goes on.
    Resume {
        /// The bounds from here on.
        limits: Limits,
    },
    /// A result is accepted.
    Approve {
        /// The person's name.
        by: String,
        /// The person's comment.
        comment: Option<String>,
        /// The parts that the person had in view.
        seen: Option<Box<SeenResult>>,
    },
    /// One record of it is accepted.
    ApproveRecord {
        /// The deliverable.
        file: String,
        /// The record's place: `$.requirements[3]`.
        record: String,
        /// The person's name.
        by: String,
        /// The person's comment.
        comment: Option<String>,
    },
    /// One field of it is to have another value.
    Correct(Box<FieldCorrection>),
    /// The file with the corrections is on the disk.
    CorrectionWritten {
        /// The path, relative to the workspace.
        path: String,
    },
    /// A finding is no fault.
    Settle {
        /// The finding's id.
        id: String,
        /// The reason.
        reason: String,
        /// The person's name.
        by: String,
    },
    /// A result is sent back.
    Feedback {
        /// The changes that the person asks for.
        text: String,
        /// The text of `instructions.md` with the feedback.
        instructions: String,
        /// The person's name.
        by: String,
    },
    /// Documents were added later: the result must be updated with them.
    AddDocuments {
        /// The documents, which are in the workspace already.
        documents: Vec<DocumentEntry>,
        /// The feedback that says so.
        text: String,
        /// The text of `instructions.md` with the feedback.
        instructions: String,
        /// The person's name.
        by: String,
    },
    /// The job ends, without a result.
    Cancel,
    /// The job fails: no attempt is left.
    Fail {
        /// The reason, one sentence for a person.
        reason: String,
    },
}
