//! The machine that moves a job. [`Job::owed`](crate::job::state::Job::owed) says which effects may be performed now,
//! `decide` turns the outcome of one into facts, and `apply` turns facts into state. Resuming needs nothing else: a job
//! is defined by its facts, so its journal is applied, and the work continues with what is owed.
//!
//! ```
//! use overnight_core::{
//!     job::{digest::sha256, event::{LifeEvent, Decision, Event}, id::JobId, instructions, spec::{FORMAT, JobSpec}, state::Job, time::Timestamp},
//!     machine::effect::{Effect, EffectResult, Outcome},
//!     message::{Reply, Stop, ToolCall, Usage},
//!     prompt::{compose, tools::ToolList},
//! };
//!
//! let text = "---\nname: notes\ndescription: Notes\ndeliverables:\n  - path: output/notes.md\n---\n\nWrite notes.\n";
//! let instructions = instructions::parse("notes.md", text, &|_| Err(instructions::UnreadFile("no such file".to_owned())))?;
//! let at = Timestamp::default();
//! let spec = JobSpec {
//!     format: FORMAT,
//!     id: "0193a5c0-0000-7000-8000-000000000000".parse::<JobId>()?,
//!     created: at,
//!     version: "1.0.0".to_owned(),
//!     model: "openai:gpt-4.1".to_owned(),
//!     base_url: None,
//!     api_key_env: None,
//!     budget_tokens: 100_000,
//!     instructions_sha256: sha256(text.as_bytes()),
//!     instructions,
//!     system_prompt: compose::system_prompt(),
//!     documents: Vec::new(),
//!     left_out: Default::default(),
//!     assets: Vec::new(),
//!     sees: false,
//!     scans: Vec::new(),
//!     has_tables: false,
//!     earlier: None,
//! };
//! let created = Event::Life(LifeEvent::JobCreated { spec_sha256: sha256(b"job.yaml"), spec: Box::new(spec), tools_sha256: ToolList::usual().sha256.clone() });
//! let mut job = Job::begin(&Decision { at, events: vec![created] }).ok_or("the first fact makes the job")?;
//!
//! // The machine opens the history that the model is shown: it asks for nothing but the time.
//! let owed = job.owed().remove(0);
//! assert_eq!(owed.effect, Effect::Decide);
//! let events = job.decide(at, owed.id, Outcome::Done(EffectResult::Now));
//! job.apply_all(&Decision { at, events });
//! let owed = job.owed().remove(0);
//! assert_eq!(owed.effect, Effect::Model);
//!
//! // A model would answer to `compose::prompt(&job.own)`; here it takes a note.
//! let call = ToolCall { id: String::new(), name: "add_note".to_owned(), arguments: serde_json::json!({"text": "It is dark."}) };
//! let reply = Reply {
//!     text: String::new(),
//!     calls: vec![call],
//!     usage: Usage { input: 1_200, output: 20, ..Usage::default() },
//!     stop: Stop::Done,
//!     model: "gpt-4.1".to_owned(),
//!     carried: None,
//!     tier: None,
//!     mended: Vec::new(),
//! };
//! let reply = EffectResult::Reply { reply, cost_usd: None, standard_usd: None, batch: None, prompt_sha256: sha256(b"prompt") };
//! let events = job.decide(at, owed.id, Outcome::Done(reply));
//! job.apply_all(&Decision { at, events });
//!
//! // It decides a note alone, and puts the board behind its result.
//! while let Some(owed) = job.owed().into_iter().find(|owed| owed.effect == Effect::Decide) {
//!     let events = job.decide(at, owed.id, Outcome::Done(EffectResult::Now));
//!     job.apply_all(&Decision { at, events });
//! }
//! assert_eq!(job.notes, ["It is dark."]);
//! assert_eq!(job.owed()[0].effect, Effect::Model);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod apply;
mod apply_conversation;
mod apply_result;
mod attempts;
mod budget;
mod control;
mod decide;
pub mod effect;
mod ending;
mod given_documents;
mod next_prompt;
mod owed;
pub mod part_reading;
mod phase_end;
mod plan_file;
pub mod planning;
mod proof;
mod review;
mod scans;
mod sub_agent;
mod sub_agent_end;
mod sub_agent_start;
mod verifier;
pub use verifier::FoundQuote;
