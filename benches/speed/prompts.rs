//! (b) What the prompts come to, against an agent that keeps everything in one conversation. Counted on the bytes of a wire
//! form (tools, then messages, as one JSON object): four bytes a token; a prefix that stood in the call before costs a tenth.

use crate::{
    load::{Load, Notes, Place, model, wait},
    table,
};
use async_trait::async_trait;
use overnight::{
    model::{Failure, Model, Request},
    runner::JobOutcome,
};
use overnight_core::{
    job::{
        event::{ConversationEvent, Decision, Event, ToolEvent},
        record::JobStatus,
        state::Job,
    },
    message::{Message, Prompt, Reply, Usage},
    prompt::{compose, tools::ToolList},
};
use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

/// Of 8 phases, and of more.
const PEAK: (f64, f64) = (30_000.0, 36_000.0);
const COST: f64 = 550_000.0;
const FIXED: f64 = 2_500.0;
const JOURNAL: f64 = 2.5;
/// Phases up to which the one conversation is counted too.
const MOST_PLAIN: usize = 64;
/// What a token in a repeated prefix costs.
const CACHED: f64 = 0.1;
const BYTES_A_TOKEN: f64 = 4.0;

/// Sums over the prompts of a job, in tokens.
#[derive(Clone, Debug, Default)]
struct Sums {
    last: Vec<u8>,
    peak: f64,
    total: f64,
    cost: f64,
}

impl Sums {
    fn add(&mut self, prompt: &Prompt) {
        let wire = serde_json::to_vec(prompt).unwrap();
        let repeated = wire.iter().zip(&self.last).take_while(|(new, old)| new == old).count() as f64 / BYTES_A_TOKEN;
        let all = wire.len() as f64 / BYTES_A_TOKEN;
        self.peak = self.peak.max(all);
        self.total += all;
        self.cost += all - repeated * (1.0 - CACHED);
        self.last = wire;
    }
}

/// Counts the prompts that a model is handed.
#[derive(Debug)]
struct Counting {
    model: Arc<dyn Model>,
    sums: Mutex<Sums>,
}

#[async_trait]
impl Model for Counting {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn window_tokens(&self) -> u64 {
        self.model.window_tokens()
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        self.sums.lock().unwrap().add(request.prompt);
        self.model.reply(request).await
    }

    fn cost(&self, usage: &Usage) -> Option<f64> {
        self.model.cost(usage)
    }
}

/// The same replies and results in one conversation that only grows.
#[derive(Debug)]
struct Baseline {
    messages: Vec<Message>,
    sums: Sums,
    /// Bytes of all replies and results.
    said: usize,
    /// Its prompts are counted: they grow with the square of the phases.
    counts: bool,
}

impl Baseline {
    fn hear(&mut self, job: &Job, decision: &Decision) {
        if self.messages.is_empty() {
            self.messages.push(Message::System { text: compose::system_prompt() });
            self.messages.push(Message::user(job.spec.instructions.task_text()));
        }
        for event in &decision.events {
            match event {
                Event::Conversation(ConversationEvent::ModelReplied { text, calls, .. }) => {
                    self.said += text.len()
                        + calls.iter().map(|call| serde_json::to_vec(&call.said).unwrap().len()).sum::<usize>();
                    if self.counts {
                        self.sums.add(&Prompt::new(ToolList::usual().specs.clone(), self.messages.clone()));
                    }
                    self.messages.push(Message::Assistant {
                        text: text.clone(),
                        calls: calls.iter().map(|call| call.said.clone()).collect(),
                        carried: None,
                    });
                }
                Event::Tool(ToolEvent::ToolReturned { call, name, result, .. }) => {
                    self.said += result.text.len();
                    let (call, name, text) = (call.clone(), name.clone(), result.text.clone());
                    self.messages.push(Message::Tool { call, name, text, images: Vec::new() });
                }
                _ => {}
            }
        }
    }
}

pub(crate) fn measure() {
    let fixed = Prompt::new(ToolList::usual().specs.clone(), vec![Message::System { text: compose::system_prompt() }]);
    let fixed = serde_json::to_vec(&fixed).unwrap().len() as f64 / BYTES_A_TOKEN;
    table::limited("fixed part of a prompt: tools and system prompt", fixed, FIXED, "tokens");
    for (phases, notes) in [(8, Notes::Appended), (8, Notes::Added), (64, Notes::Appended), (128, Notes::Appended)] {
        let (ours, plain, journal) = both(Load { phases, notes });
        let name = format!(
            "{phases} phases, notes {}",
            match notes {
                Notes::Appended => "appended",
                Notes::Added => "added",
            }
        );
        let most = if phases == 8 { PEAK.0 } else { PEAK.1 };
        table::limited(format!("peak prompt, {name}"), ours.peak, most, "tokens");
        if phases == 8 {
            table::plain(format!("all prompts, {name}"), ours.total, "tokens");
            table::limited(format!("cost, {name}"), ours.cost, COST, "tokens");
        } else {
            table::plain(format!("all prompts, {name}"), ours.total, "tokens");
            table::plain(format!("cost, {name}"), ours.cost, "tokens");
        }
        let (what, unit) = (format!("journal, {name}"), "× replies and results");
        match notes {
            Notes::Appended if phases == 8 => table::limited(what, journal, JOURNAL, unit),
            // Notes that the runner keeps stand in each phase's summary again.
            Notes::Appended | Notes::Added => table::plain(what, journal, unit),
        }
        if phases > MOST_PLAIN {
            continue;
        }
        table::plain(format!("one conversation: peak prompt, {name}"), plain.peak, "tokens");
        table::plain(format!("one conversation: all prompts, {name}"), plain.total, "tokens");
        table::plain(format!("one conversation: cost, {name}"), plain.cost, "tokens");
    }
}

/// The sums of a job of the load, and of the baseline; and the bytes of the job's journal, in those of replies and results.
fn both(load: Load) -> (Sums, Sums, f64) {
    wait(async {
        let place = Place::in_memory().await;
        load.put(place.path());
        let model = Arc::new(Counting { model: model(load), sums: Mutex::default() });
        let path = place.create("", &*model);
        let mut baseline =
            Baseline { messages: Vec::new(), sums: Sums::default(), said: 0, counts: load.phases <= MOST_PLAIN };
        let outcome = place.work(&path, model.clone(), &mut |job, decision| baseline.hear(job, decision)).await;
        assert_eq!(outcome, JobOutcome::Ended(JobStatus::Completed));
        let ours = model.sums.lock().unwrap().clone();
        let archives = std::fs::read_dir(path.join("archive")).unwrap().map(|entry| entry.unwrap().path());
        let size = |folder: PathBuf| std::fs::metadata(folder.join("journal.jsonl")).map_or(0, |file| file.len());
        let journal: u64 = archives.chain([path.clone()]).map(size).sum();
        (ours, baseline.sums, journal as f64 / baseline.said as f64)
    })
}
