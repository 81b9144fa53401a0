//! What the machine asks of the outside world, and what it is told: results, and the wishes of people.

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

/// The name of an effect: it follows from the state, and is another one once a fact of its conversation has come.
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
    /// What is to be done.
    pub effect: Effect,
}

/// What became of an effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is done.
    Done(EffectResult),
    /// A model call was handed in; its outcome comes later.
    Submitted(SubmittedCall),
    /// A model call brought no reply; where a retry helps, it comes after `wait_ms`.
    Failed {
        /// What went wrong.
        failure: Failure,
        /// 0 where it is not tried again by itself.
        wait_ms: u64,
    },
}

/// One effect for the outside world to perform.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Nothing outside is needed: only the time.
    Decide,
    /// One model call with the prompt that `prompt::compose` makes of the state.
    Model,
    /// Work out what this change would do: the hashes of its file before and after.
    Prepare(FileChange),
    /// Make this change, unless it is made already.
    Change(FileChange, PreparedWrite),
    /// Do the first pending call, which reads.
    Read {
        /// As it was said.
        call: ToolCall,
        /// As it is understood.
        read: ReadCall,
    },
    /// Do the first pending call, which writes `workspace_summary.md`.
    GenerateSummary,
    /// Build the archive of the phase that ended.
    Archive {
        /// Its name under `archive/`.
        folder: String,
        /// Why the phase ended.
        why: Why,
    },
    /// Write `workspace_summary.md`.
    Summary,
    /// Compare what was read on scanned pages, and put it into their documents' texts.
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
        /// As the provider gave it.
        reply: Reply,
        /// None where the price isn't known.
        cost_usd: Option<f64>,
        /// What it would have cost at the standard tier, where it was answered at another and the price is known.
        standard_usd: Option<f64>,
        /// The provider's name for the batch in which it was answered.
        batch: Option<String>,
        /// The name of the prompt that it answers.
        prompt_sha256: String,
    },
    /// What the first pending call is going to do; with the new text where the file is the plan or the memory.
    Prepared(PreparedWrite, Option<SavedFile>),
    /// What the first pending call gave back; with the new text where it changed the plan or the memory.
    Tool(ToolResult, Option<SavedFile>),
    /// The archive is on the disk.
    Archived {
        /// Of its list of files.
        manifest_sha256: String,
    },
    /// The summary is on the disk.
    Summarised {
        /// Of the file.
        sha256: String,
    },
    /// Scanned pages have their texts.
    PagesRead {
        /// Those with such pages, as they are now.
        documents: Vec<DocumentEntry>,
        /// What came of each page.
        pages: Vec<PageOutcome>,
    },
    /// The list of all readers was looked through.
    Doubled(Vec<DoubledRecord>),
    /// What the files hold.
    Examined(ExaminedFiles),
    /// The file is on the disk.
    Written,
    /// The deliverables were looked at.
    Checked {
        /// All that could be made.
        checks: Vec<Check>,
        /// How each deliverable stands by them.
        states: Vec<DeliverableState>,
        /// The files that are there.
        deliverables: Vec<Delivered>,
        /// Where the quotes stand; none where there were none to check.
        quotes: Option<QuotePositions>,
        /// Both readers' lists, once the second has read and a completion is claimed.
        lists: Option<Lists>,
    },
    /// Where the quotes stand, one for each fault; none where it has none.
    QuotesFound(Vec<Option<super::FoundQuote>>),
}

/// A field of a deliverable as a person wants it.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldCorrection {
    /// The deliverable.
    pub file: String,
    /// `$.requirements[3].text`.
    pub place: String,
    /// As the model wrote it; null where it is not there.
    pub before: Value,
    /// As it is to be.
    pub after: Value,
    /// The file with this and all earlier corrections.
    pub path: String,
    /// Of that file.
    pub sha256: String,
    /// Quotes that it makes others of, looked for anew.
    pub quotes: Vec<CorrectedQuote>,
    /// A name.
    pub by: String,
    /// In that person's words.
    pub comment: Option<String>,
}

/// A command to a job, from a person or from the runner.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// A process takes the job up.
    Open {
        /// Of the program.
        version: String,
        /// `provider:name`.
        model: String,
        /// Bytes of a line that a crash cut off; none: all lines were whole.
        torn_bytes: Option<u64>,
    },
    /// Another model or server is to be called from here on.
    Choose {
        /// From the next call on.
        choice: ModelChoice,
    },
    /// The model is to be asked at another tier from here on.
    ChangeTier {
        /// From the next call on.
        tier: Tier,
        /// One sentence.
        reason: String,
    },
    /// A person has edited files while the job was held.
    Edited {
        /// The plan, where it is another one.
        plan: Option<Plan>,
        /// `workspace.md` as it is.
        memory: Option<String>,
    },
    /// The job is to wait.
    Hold {
        /// The word for it.
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
        /// A name.
        by: String,
        /// In that person's words.
        comment: Option<String>,
        /// What they had in view.
        seen: Option<Box<SeenResult>>,
    },
    /// One record of it is accepted.
    ApproveRecord {
        /// The deliverable.
        file: String,
        /// `$.requirements[3]`.
        record: String,
        /// A name.
        by: String,
        /// In that person's words.
        comment: Option<String>,
    },
    /// One field of it is to have another value.
    Correct(Box<FieldCorrection>),
    /// The file with the corrections is on the disk.
    CorrectionWritten {
        /// Relative to the workspace.
        path: String,
    },
    /// A finding is no fault.
    Settle {
        /// Of the finding.
        id: String,
        /// Why.
        reason: String,
        /// A name.
        by: String,
    },
    /// A result is sent back.
    Feedback {
        /// What is to be done about it.
        text: String,
        /// `instructions.md` with it.
        instructions: String,
        /// A name.
        by: String,
    },
    /// Documents came later: the result is to be brought up to date with them.
    AddDocuments {
        /// They are in the workspace already.
        documents: Vec<DocumentEntry>,
        /// The feedback that says so.
        text: String,
        /// `instructions.md` with it.
        instructions: String,
        /// A name.
        by: String,
    },
    /// The job ends, without a result.
    Cancel,
    /// No attempt is left.
    Fail {
        /// One sentence for a person.
        reason: String,
    },
}
