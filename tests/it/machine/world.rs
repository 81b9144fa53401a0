//! The world around the pure machine, in memory: it answers each question of a job from a script of replies and a map of
//! files, with time passed in. What happened is kept as decisions, so that a test can compare all of it.

use overnight_core::{
    job::{
        call::{FileChange, ParsedCall, PendingCall, ReadCall, WorkCall},
        contract::{
            QuoteQuery, QuoteResult, RuleMemory, check_deliverable, edited_records::edit_records, records::add_records,
        },
        conversation::Conversation,
        digest::sha256,
        event::{
            CallEnd, ChangedFile, ConversationEvent, Decision, Event, ExaminedFiles, LifeEvent, PersonEvent,
            PhaseEvent, PhaseKind, PlanEvent, PlanningEnd, PreparedWrite, ProofEvent, SavedFile, ShownPart,
            SpilledResult, ToolEvent, ToolResult,
        },
        failure::{Failure, FailureKind},
        id::JobId,
        instructions::{self, InlineDocuments},
        left_out::LeftOut,
        part::Part,
        record::{Delivered, HoldReason},
        spec::{DocumentEntry, FORMAT, JobSpec},
        state::{INSTRUCTIONS_FILE, Job, MEMORY_FILE, PLAN_FILE, SUMMARY_FILE, Status},
        submitted_call::SubmittedCall,
        time::Timestamp,
    },
    machine::{
        effect::{Command, Effect, EffectId, EffectResult, Outcome, Owed},
        planning::bootstrap_todos,
    },
    message::{Message, Prompt, Reply, Stop, ToolCall, Usage},
    prompt::{
        compose, measure,
        summary::{self, FileEntry},
        todo_board,
        tools::ToolList,
    },
    tokens::{bounded, estimate},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write,
};

/// Answers that one job may need before a test gives up on it.
const MOST_ANSWERS: usize = 60_000;
/// How long a model call takes in this world.
const CALL_MS: i64 = 2_000;

/// Looks at each decision: the state before, the decision, the state after.
pub(crate) type Invariant = Box<dyn FnMut(&Job, &Decision, &Job)>;

/// What becomes of a work tool's call in a bad world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    Well,
    /// The tool can't, and says so in so many letters.
    Fails(usize),
    /// Cut off by a crash.
    Interrupted,
    /// The change can't even be prepared.
    Unprepared,
}

/// A job and everything around it.
pub(crate) struct World {
    pub(crate) job: Job,
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) decisions: Vec<Decision>,
    /// Replies still to be given; where there are none left, the world stops.
    pub(crate) replies: VecDeque<Reply>,
    /// The prompt of each model call, in order.
    pub(crate) prompts: Vec<Prompt>,
    /// Letters of a page of a document or of a file that doesn't exist.
    pub(crate) page_letters: usize,
    /// The price of each turn.
    pub(crate) cost_usd: Option<f64>,
    /// What the provider counts for a prompt, in percent of the local estimate.
    pub(crate) counted_percent: u64,
    /// Called with the state before, the decision, and the state after it.
    pub(crate) invariant: Option<Invariant>,
    /// How the next calls of work tools fare, where not as they should.
    pub(crate) fates: VecDeque<Fate>,
    /// Calls are handed in, and answered later.
    pub(crate) answers_later: bool,
    /// Which of the effects that are owed is worked: the first, where it is 0, else any.
    pub(crate) order: u64,
    pub(crate) clock_ms: i64,
    /// Decisions that `log` has already shown.
    logged: usize,
}

/// Instructions whose front matter also has `more`.
pub(crate) fn spec(more: &str, documents: &[(&str, u64)]) -> JobSpec {
    let text = format!(
        "---\nname: audit-stations\ndescription: A test\ncoverage: 0.0\ndeliverables:\n  - path: output/report.md\n    min_words: 3\n{more}---\n\n# Audit the stations\n\nRead every station's log and write down what is wrong.\n"
    );
    let mut instructions = instructions::parse("audit-stations.md", &text, &|_| {
        Err(instructions::UnreadFile("nothing is there".to_owned()))
    })
    .unwrap();
    // The models of most tests read for themselves.
    if !more.contains("inline:") {
        instructions.context.inline = InlineDocuments::Never;
    }
    let documents = documents
        .iter()
        .map(|(name, units)| DocumentEntry {
            name: (*name).to_owned(),
            sha256: sha256(name.as_bytes()),
            bytes: units * 100,
            dated: None,
            format: "Markdown".to_owned(),
            paged: false,
            units: *units,
            tokens: units * 25,
            text_sha256: sha256(b"text"),
            reader: String::new(),
            gaps: Vec::new(),
            unreadable: Vec::new(),
            recognised: Vec::new(),
            notes: Vec::new(),
            scan_sha256: None,
        })
        .collect();
    JobSpec {
        format: FORMAT,
        id: JobId(uuid::Uuid::nil()),
        created: moment(0),
        version: "0.1.0".to_owned(),
        model: "scripted".to_owned(),
        base_url: None,
        api_key_env: None,
        budget_tokens: instructions.context.budget_tokens,
        instructions_sha256: sha256(text.as_bytes()),
        instructions,
        system_prompt: compose::system_prompt(),
        documents,
        left_out: LeftOut::default(),
        assets: Vec::new(),
        sees: false,
        scans: Vec::new(),
        has_tables: false,
        earlier: None,
    }
}

/// `ms` after the evening on which all these jobs begin.
pub(crate) fn moment(ms: i64) -> Timestamp {
    Timestamp::new(chrono::DateTime::from_timestamp_millis(1_795_212_000_000 + ms).unwrap())
}

impl World {
    /// A job with two documents.
    pub(crate) fn new() -> Self {
        Self::with("")
    }

    /// The same with more front matter.
    pub(crate) fn with(more: &str) -> Self {
        Self::of(spec(more, &[("north.md", 40), ("south.md", 60)]))
    }

    #[expect(clippy::needless_pass_by_value, reason = "a test makes the specification for this world")]
    pub(crate) fn of(spec: JobSpec) -> Self {
        let at = spec.created;
        let first = Decision {
            at,
            events: vec![
                Event::Life(LifeEvent::JobCreated {
                    spec_sha256: sha256(b"job.yaml"),
                    spec: Box::new(spec.clone()),
                    tools_sha256: ToolList::usual().sha256.clone(),
                }),
                Event::Phase(PhaseEvent::PhaseStarted {
                    number: 0,
                    attempt: 1,
                    kind: PhaseKind::Bootstrap,
                    title: "Bootstrap".to_owned(),
                    plan_phase: None,
                    todos: bootstrap_todos(&spec, at),
                }),
            ],
        };
        let files = BTreeMap::from([(INSTRUCTIONS_FILE.to_owned(), spec.task_text())]);
        Self {
            job: Job::begin(&first).unwrap(),
            files,
            decisions: vec![first],
            replies: VecDeque::new(),
            prompts: Vec::new(),
            page_letters: 80,
            cost_usd: None,
            counted_percent: 100,
            invariant: None,
            fates: VecDeque::new(),
            answers_later: false,
            order: 0,
            clock_ms: 0,
            logged: 1,
        }
    }

    /// Gives `replies` and answers whatever else is asked, until nothing is owed or the next reply is asked for.
    pub(crate) fn play(&mut self, replies: impl IntoIterator<Item = Reply>) -> &mut Self {
        self.replies.extend(replies);
        for _ in 0..MOST_ANSWERS {
            if !self.step() {
                return self;
            }
        }
        panic!("after {MOST_ANSWERS} answers the job still has questions: {:?}", self.job.progress);
    }

    /// Answers one question; `false` where nothing is owed or the next reply is asked for and there is none.
    pub(crate) fn step(&mut self) -> bool {
        let Some((id, effect)) = self.next() else { return false };
        let is_new = self.job.submitted().all(|(submitted, _)| submitted != id);
        let answer = match &effect {
            Effect::Model if self.answers_later && is_new => Outcome::Submitted(self.hand_in(id)),
            Effect::Model => match self.replies.pop_front() {
                Some(reply) => Outcome::Done(self.answer_model(id, reply)),
                None => return false,
            },
            other => Outcome::Done(self.answer(id, other)),
        };
        let events = self.job.decide(moment(self.clock_ms), id, answer.clone());
        assert!(!events.is_empty(), "nothing was decided on the machine's own question {effect:?}");
        // The same answer at the same state means the same facts, whenever it is asked: else no journal could be resumed.
        assert_eq!(self.job.decide(moment(self.clock_ms), id, answer), events);
        self.apply(events);
        true
    }

    /// What is worked next, or what was handed in and is answered next.
    fn next(&self) -> Option<(EffectId, Effect)> {
        let owed = self.owed().map(|Owed { id, effect }| (id, effect));
        // What comes for a job that is held waits until it goes on.
        let is_heard = |id: &EffectId| self.job.is_owed(*id);
        let mut submitted = self.job.submitted().map(|(id, _)| id).filter(is_heard).map(|id| (id, Effect::Model));
        let is_late = owed.is_none() || self.drawn().is_multiple_of(3);
        submitted.next().filter(|_| is_late).or(owed)
    }

    /// A call as its provider takes it.
    fn hand_in(&self, id: EffectId) -> SubmittedCall {
        let conversation = self.job.conversation(id.conversation).unwrap();
        let prompt_sha256 = conversation.epoch.prompt_sha256();
        let key = conversation.submission_key(self.job.spec.id, &prompt_sha256);
        let handle = format!("handed-in:{key}");
        let waits_until = moment(self.clock_ms + 1_000_000);
        SubmittedCall { key, handle, model: self.job.spec.model.clone(), prompt_sha256, waits_until }
    }

    /// As good as chance, and the same each time: the number of the decision, multiplied.
    fn drawn(&self) -> u64 {
        (self.decisions.len() as u64).wrapping_mul(self.order).wrapping_add(self.order) >> 7
    }

    /// The effect that is worked next; none where nothing is owed.
    pub(crate) fn owed(&self) -> Option<Owed> {
        let mut owed = self.job.owed();
        let place = self.drawn().checked_rem(owed.len() as u64)?;
        Some(owed.swap_remove(usize::try_from(place).unwrap()))
    }

    /// Whether the model is asked next.
    pub(crate) fn asks(&self) -> bool {
        self.next().is_some_and(|(_, effect)| effect == Effect::Model)
    }

    /// The conversation that is worked or answered next; the job's own, where there is none.
    pub(crate) fn at_work(&self) -> &Conversation {
        let next = self.next().and_then(|(id, _)| self.job.conversation(id.conversation));
        next.unwrap_or(&self.job.own)
    }

    /// The name of what is worked next.
    pub(crate) fn next_id(&self) -> EffectId {
        let Conversation { number, facts, .. } = self.at_work();
        EffectId { conversation: *number, number: *facts }
    }

    /// A word from a person or the runner; the number of facts that followed.
    pub(crate) fn command(&mut self, command: Command) -> usize {
        let events = self.job.command(moment(self.clock_ms), command);
        let count = events.len();
        if count > 0 {
            self.apply(events);
        }
        count
    }

    /// The model can't be asked.
    pub(crate) fn model_fails(&mut self, reason: &str) {
        self.answer_with(Outcome::Failed { failure: Failure::new(FailureKind::Exhausted, reason), wait_ms: 0 });
    }

    /// An answer that means something.
    pub(crate) fn answer_with(&mut self, outcome: Outcome) {
        let events = self.job.decide(moment(self.clock_ms), self.next_id(), outcome);
        assert!(!events.is_empty());
        self.apply(events);
    }

    /// Time goes by.
    pub(crate) fn wait_ms(&mut self, ms: i64) -> &mut Self {
        self.clock_ms += ms;
        self
    }

    fn apply(&mut self, events: Vec<Event>) {
        let decision = Decision { at: moment(self.clock_ms), events };
        if let Some(mut invariant) = self.invariant.take() {
            let before = self.job.clone();
            self.job.apply_all(&decision);
            invariant(&before, &decision, &self.job);
            self.invariant = Some(invariant);
        } else {
            self.job.apply_all(&decision);
        }
        self.decisions.push(decision);
    }

    fn answer_model(&mut self, id: EffectId, mut reply: Reply) -> EffectResult {
        let conversation = self.job.conversation(id.conversation).unwrap();
        let prompt = compose::prompt(conversation);
        check_calls_and_results(&prompt);
        let prompt_sha256 = conversation.epoch.prompt_sha256();
        let local = overnight_core::prompt::measure::local_tokens(conversation);
        self.prompts.push(prompt);
        self.clock_ms += CALL_MS;
        reply.usage.input = local * self.counted_percent / 100;
        EffectResult::Reply { reply, cost_usd: self.cost_usd, standard_usd: None, batch: None, prompt_sha256 }
    }

    fn answer(&mut self, id: EffectId, effect: &Effect) -> EffectResult {
        match effect {
            Effect::Decide | Effect::Model => EffectResult::Now,
            Effect::ReadPages => EffectResult::PagesRead { documents: Vec::new(), pages: Vec::new() },
            Effect::FindDoubled => EffectResult::Doubled(Vec::new()),
            Effect::Prepare(_) if self.fates.front() == Some(&Fate::Unprepared) => {
                self.fates.pop_front();
                EffectResult::Tool(ToolResult::plain(CallEnd::Failed, "the file can't be opened"), None)
            }
            Effect::Prepare(change) => match self.after(change) {
                Ok(after) => {
                    let before = self.files.get(change.path()).map(|text| sha256(text.as_bytes()));
                    let prepared =
                        PreparedWrite { before, after: sha256(after.as_bytes()), records: None, mended: Vec::new() };
                    EffectResult::Prepared(prepared, saved(change.path(), &after))
                }
                Err(text) => EffectResult::Tool(ToolResult::plain(CallEnd::Failed, text), None),
            },
            Effect::Change(..) | Effect::Read { .. } | Effect::GenerateSummary => {
                let PendingCall { said, call, .. } =
                    self.job.conversation(id.conversation).unwrap().calls.pending[0].clone();
                let ParsedCall::Work(work) = call else { panic!("{call:?} is no work") };
                let (result, saved) = match self.fates.pop_front().unwrap_or(Fate::Well) {
                    Fate::Well | Fate::Unprepared => self.work(&said, &work),
                    Fate::Fails(letters) => {
                        (ToolResult::plain(CallEnd::Failed, "no such luck. ".repeat(letters / 14)), None)
                    }
                    Fate::Interrupted => (ToolResult::plain(CallEnd::Interrupted, "interrupted by a crash"), None),
                };
                EffectResult::Tool(self.spill(&said, result), saved)
            }
            Effect::Archive { folder, .. } => {
                self.files.insert(format!("archive/{folder}/todos.md"), todo_board::file(&self.job));
                EffectResult::Archived { manifest_sha256: sha256(folder.as_bytes()) }
            }
            Effect::Summary => EffectResult::Summarised { sha256: self.write_summary() },
            Effect::Examine => EffectResult::Examined(ExaminedFiles {
                plan: self.files.get(PLAN_FILE).cloned().map(Part::from),
                memory: self.files.get(MEMORY_FILE).cloned().map(Part::from),
                instructions: self.files[INSTRUCTIONS_FILE].clone().into(),
                summary: self.files[SUMMARY_FILE].clone().into(),
            }),
            Effect::Write(write) => {
                self.files.insert(write.path.to_owned(), write.text.clone());
                EffectResult::Written
            }
            Effect::FindQuotes(given) => EffectResult::QuotesFound(vec![None; given.findings.len()]),
            Effect::Check(_) => {
                let mut deliverables = Vec::new();
                let mut checks = Vec::new();
                let mut states = Vec::new();
                for wanted in &self.job.spec.instructions.deliverables {
                    let text = self.files.get(&wanted.path);
                    let checked = check_deliverable(
                        wanted,
                        text.map(String::as_bytes),
                        &mut |_: QuoteQuery<'_>| QuoteResult::Found,
                        &mut RuleMemory::default(),
                    );
                    states.push(checked.state());
                    checks.extend(checked.checks);
                    deliverables.extend(text.map(|text| Delivered {
                        path: wanted.path.clone(),
                        sha256: sha256(text.as_bytes()),
                        bytes: text.len() as u64,
                    }));
                }
                EffectResult::Checked { checks, states, deliverables, quotes: None, lists: None }
            }
        }
    }

    fn write_summary(&mut self) -> String {
        let at = moment(self.clock_ms);
        let entries: Vec<FileEntry> = self
            .files
            .iter()
            .map(|(path, text)| FileEntry { path: path.clone(), bytes: text.len() as u64, modified: at })
            .collect();
        let text = summary::workspace_summary(&self.job, at, &entries);
        let hash = sha256(text.as_bytes());
        self.files.insert(SUMMARY_FILE.to_owned(), text);
        hash
    }

    /// What a file will hold after a change.
    fn after(&self, change: &FileChange) -> Result<String, String> {
        let before = self.files.get(change.path());
        match change {
            FileChange::Whole(write) => Ok(write.content.clone()),
            FileChange::Append(write) => Ok(before.cloned().unwrap_or_default() + &write.content),
            FileChange::Edit(edit) => match before {
                Some(text) if text.matches(&edit.old).count() == 1 => Ok(text.replacen(&edit.old, &edit.new, 1)),
                Some(_) => Err(format!("old does not occur exactly once in {}", edit.path)),
                None => Err(format!("{} does not exist; create it with write_file", edit.path)),
            },
            FileChange::EditRecords(edit) => {
                let deliverables = &self.job.spec.instructions.deliverables;
                let wanted = deliverables.iter().find(|wanted| wanted.path == edit.path).ok_or("no deliverable")?;
                let mut found = |_: QuoteQuery<'_>| QuoteResult::Found;
                edit_records(wanted, before.ok_or("not there")?, &edit.edits, &mut found)
            }
            FileChange::Records(add) => {
                let deliverables = &self.job.spec.instructions.deliverables;
                let wanted = deliverables.iter().find(|wanted| wanted.path == add.path).ok_or("no deliverable")?;
                let current = before.map(String::as_str);
                let mut found = |_: QuoteQuery<'_>| QuoteResult::Found;
                add_records(wanted, current, &add.records, add.list.as_deref(), &mut found).map(|added| added.text)
            }
        }
    }

    fn work(&mut self, call: &ToolCall, work: &WorkCall) -> (ToolResult, Option<SavedFile>) {
        let done = |text: String| ToolResult::plain(CallEnd::Done, text);
        let result = match work {
            WorkCall::Change(change) => {
                let after = self.after(change).unwrap();
                let path = change.path().to_owned();
                self.files.insert(path.clone(), after.clone());
                let (bytes, saved) = (after.len() as u64, saved(&path, &after));
                let text = format!("{} {path} ({bytes} bytes now).", call.name);
                let changed = Some(ChangedFile { path, sha256: sha256(after.as_bytes()), bytes });
                return (ToolResult { changed, ..done(text) }, saved);
            }
            WorkCall::CheckDeliverables | WorkCall::Read(ReadCall::ViewPage(_) | ReadCall::QueryTables(_)) => {
                done("checked".to_owned())
            }
            WorkCall::GenerateWorkspaceSummary => {
                self.write_summary();
                done(format!("Wrote {SUMMARY_FILE}; read it with read_file."))
            }
            WorkCall::Read(ReadCall::ReadFile(wanted)) => match self.files.get(&wanted.path) {
                Some(text) => done(text.clone()),
                None => ToolResult::plain(CallEnd::Failed, format!("{} does not exist", wanted.path)),
            },
            WorkCall::Read(ReadCall::ListFiles(_)) => done(self.files.keys().cloned().collect::<Vec<_>>().join("\n")),
            WorkCall::Read(ReadCall::ListRecords(wanted)) => done(format!("the records of {}", wanted.path)),
            WorkCall::Read(ReadCall::SearchFiles(wanted)) => done(format!("no line matches {}", wanted.pattern)),
            WorkCall::Read(ReadCall::ListDocuments(_)) => done(
                self.job.spec.documents.iter().map(|document| document.name.as_str()).collect::<Vec<_>>().join("\n"),
            ),
            WorkCall::Read(ReadCall::ReadDocument(wanted)) => match self.job.spec.document(&wanted.name) {
                Some(document) => {
                    let from = wanted.from.unwrap_or(1).clamp(1, document.units);
                    let to = wanted.to.unwrap_or(document.units).clamp(from, document.units);
                    let sentence = "The pump ran without a fault all night. ";
                    let text: String = sentence.chars().cycle().take(self.page_letters).collect();
                    ToolResult {
                        shown: Some(ShownPart { document: document.name.clone(), from, to, lines: None }),
                        ..done(format!(
                            "<document 982d9e3e name=\"{}\" lines=\"{from}-{to}\">\n{}\n</document 982d9e3e>",
                            document.name,
                            text.trim_end()
                        ))
                    }
                }
                None => ToolResult::plain(CallEnd::Failed, format!("there is no document {}", wanted.name)),
            },
        };
        (result, None)
    }

    /// What is larger than a result may be goes to a file, whole.
    fn spill(&mut self, call: &ToolCall, result: ToolResult) -> ToolResult {
        let most = measure::room(&self.job.spec) / 10;
        if result.shown.is_some() || estimate(&result.text) <= most {
            return result;
        }
        let path = format!("tool_results/{}.txt", call.id);
        let sha256 = sha256(result.text.as_bytes());
        let text = bounded(&result.text, most, &path);
        self.files.insert(path.clone(), result.text);
        ToolResult { text, spilled: Some(SpilledResult { path, sha256 }), ..result }
    }

    /// What happened since the last call, a line for each fact.
    pub(crate) fn log(&mut self) -> String {
        let mut text = String::new();
        for decision in &self.decisions[self.logged..] {
            for event in &decision.events {
                let _ = writeln!(text, "{}", line(event));
            }
        }
        self.logged = self.decisions.len();
        text
    }

    /// Forgets what happened so far, for `log`.
    pub(crate) fn skip_log(&mut self) -> &mut Self {
        self.logged = self.decisions.len();
        self
    }

    /// The board of the next prompt.
    pub(crate) fn board(&self) -> String {
        todo_board::render(&self.job)
    }

    /// What the runner itself says last in the next prompt.
    pub(crate) fn word(&self) -> &str {
        let (Message::System { text }
        | Message::User { text, .. }
        | Message::Assistant { text, .. }
        | Message::Tool { text, .. }) = self.job.own.epoch.messages().last().unwrap().as_ref();
        &text[text.rfind("[runner ").unwrap()..]
    }

    /// The texts of the last `count` results.
    pub(crate) fn results(&self, count: usize) -> Vec<String> {
        let all: Vec<&ToolResult> = self
            .decisions
            .iter()
            .flat_map(|decision| &decision.events)
            .filter_map(|event| {
                if let Event::Tool(ToolEvent::ToolReturned { result, .. }) = event { Some(result) } else { None }
            })
            .collect();
        all[all.len() - count..].iter().map(|result| format!("{:?}: {}", result.end, result.text)).collect()
    }

    /// How many facts fit.
    pub(crate) fn count(&self, fits: impl Fn(&Event) -> bool) -> usize {
        self.decisions.iter().flat_map(|decision| &decision.events).filter(|event| fits(event)).count()
    }

    /// `held limit: …`, `completed`, `running`.
    pub(crate) fn status(&self) -> String {
        match &self.job.status {
            Status::Running => "running".to_owned(),
            Status::Held { reason, detail } => format!("held {reason}: {detail}"),
            Status::Ended(ending) => match &ending.reason {
                Some(reason) => format!("{}: {reason}", ending.status),
                None => ending.status.to_string(),
            },
        }
    }

    pub(crate) fn is_held(&self, wanted: HoldReason) -> bool {
        matches!(self.job.status, Status::Held { reason, .. } if reason == wanted)
    }

    /// The next prompt as a person reads it.
    pub(crate) fn prompt(&self) -> String {
        show(&compose::prompt(self.at_work()))
    }

    // ── Ways to a place in the loops

    /// Through bootstrap with `plan`, up to the first task of phase 1.
    pub(crate) fn bootstrapped(&mut self, plan: &str) -> &mut Self {
        self.play([say([write_file(PLAN_FILE, plan)])])
    }

    /// Up to the first task of phase 1 of [`PLAN`].
    pub(crate) fn in_phase_one(&mut self) -> &mut Self {
        self.bootstrapped(PLAN)
    }

    /// The whole current phase, one task a reply, each with a file of its own.
    pub(crate) fn work_phase(&mut self) -> &mut Self {
        let number = self.job.phase.number;
        while self.job.is_executing() && self.job.is_running() && self.job.phase.number == number {
            let task = self.job.phase.todos.current().unwrap().id;
            let path = format!("notes/{}-{task}.md", self.job.phase.number);
            self.play([say([write_file(&path, "checked"), done("checked it")])]);
        }
        self
    }

    /// Up to the first task of the review, with the deliverable written where `delivered`.
    pub(crate) fn in_review(&mut self, delivered: bool) -> &mut Self {
        if delivered {
            self.files.insert("output/report.md".to_owned(), "All pumps ran well.".to_owned());
        }
        self.in_phase_one().work_phase().play([remembered()]).work_phase()
    }
}

/// Every call of a reply has exactly one result, right after it and in order; no result is without its call; and the runner's
/// word is a message of its own only at the beginning and behind a reply without calls.
fn check_calls_and_results(prompt: &Prompt) {
    let mut open: VecDeque<&ToolCall> = VecDeque::new();
    let mut is_behind_result = false;
    for message in prompt.messages() {
        match message {
            Message::Tool { call, name, .. } => {
                let asked = open.pop_front().expect("a result without its call");
                assert_eq!((&asked.id, &asked.name), (call, name));
                is_behind_result = true;
            }
            Message::System { .. } | Message::User { .. } => {
                assert!(open.is_empty(), "no result for {open:?}");
                assert!(!is_behind_result, "a user message behind a result");
            }
            Message::Assistant { calls, .. } => {
                assert!(open.is_empty(), "no result for {open:?}");
                open = calls.iter().collect();
                is_behind_result = false;
            }
        }
    }
    assert!(open.is_empty(), "no result for {open:?}");
}

fn saved(path: &str, text: &str) -> Option<SavedFile> {
    match path {
        PLAN_FILE => Some(SavedFile::Plan { text: text.to_owned() }),
        MEMORY_FILE => Some(SavedFile::Memory { text: text.to_owned() }),
        _ => None,
    }
}

/// Two phases to work and a review of the model's own, which merges into the system's.
pub(crate) const PLAN: &str = "# Execution Plan\n\n## Overview\n\nFirst north, then south.\n\n## Phase 1: North station\n\n- [ ] Check pump 1\n- [ ] Check pump 2\n- [ ] Check pump 3\n- [ ] Check pump 4\n- [ ] Check pump 5\n\n## Phase 2: South station\n\n- [ ] Check pump 1\n- [ ] Check pump 2\n- [ ] Check pump 3\n- [ ] Check pump 4\n- [ ] Check pump 5\n\n## Phase 3: Final Review\n\n- [ ] Check everything\n";

pub(crate) fn say(calls: impl IntoIterator<Item = ToolCall>) -> Reply {
    Reply {
        text: String::new(),
        calls: calls.into_iter().collect(),
        usage: Usage { input: 0, output: 50, ..Usage::default() },
        stop: Stop::Done,
        model: "scripted".to_owned(),
        carried: None,
        tier: None,
        mended: Vec::new(),
    }
}

pub(crate) fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall { id: String::new(), name: name.to_owned(), arguments }
}

pub(crate) fn done(outcome: &str) -> ToolCall {
    call("todo_complete", json!({"outcome": outcome}))
}

pub(crate) fn read_file(path: &str) -> ToolCall {
    call("read_file", json!({"path": path}))
}

pub(crate) fn read_document(name: &str, from: u64, to: u64) -> ToolCall {
    call("read_document", json!({"name": name, "from": from, "to": to}))
}

pub(crate) fn write_file(path: &str, content: &str) -> ToolCall {
    call("write_file", json!({"path": path, "content": content}))
}

pub(crate) fn todo_write(count: u32) -> ToolCall {
    let todos: Vec<Value> = (1..=count)
        .map(|place| json!({"content": format!("Check pump {place}"), "active_form": format!("Checking pump {place}")}))
        .collect();
    call("todo_write", json!({ "todos": todos }))
}

/// All that planning asks for.
pub(crate) fn remembered() -> Reply {
    say([write_file(MEMORY_FILE, "# Memory\n\nPumps matter.")])
}

/// Memory and `count` todos in one reply.
pub(crate) fn plan_for(count: u32) -> Reply {
    say([write_file(MEMORY_FILE, "# Memory\n\nPumps matter."), todo_write(count)])
}

pub(crate) fn job_complete(confidence: f64) -> ToolCall {
    call(
        "job_complete",
        json!({"summary": "All was read.", "deliverables": ["output/report.md"], "confidence": confidence}),
    )
}

/// The text of a result as `log` tells it.
pub(crate) fn short(text: &str) -> String {
    let line = text.replace('\n', " / ");
    if line.chars().count() > 160 { line.chars().take(160).collect::<String>() + "…" } else { line }
}

fn names(calls: &[PendingCall]) -> String {
    let names: Vec<&str> = calls.iter().map(|call| call.said.name.as_str()).collect();
    if names.is_empty() { "no call".to_owned() } else { names.join(", ") }
}

/// One fact in one line.
pub(crate) fn line(event: &Event) -> String {
    match event {
        Event::Life(LifeEvent::JobCreated { .. }) => "job created".to_owned(),
        Event::Life(LifeEvent::Opened { .. }) => "opened".to_owned(),
        Event::Phase(PhaseEvent::PhaseStarted { number, attempt, kind, title, todos, .. }) => {
            format!("PHASE {number}.{attempt} {} '{title}': {} todos", kind.name(), todos.len())
        }
        Event::Phase(PhaseEvent::PhaseEnded { why, folder }) => {
            format!("PHASE ENDED {} ({}) -> {folder}", why.outcome(), why.issue().unwrap_or("-"))
        }
        Event::Phase(PhaseEvent::ArchiveStored { folder, .. }) => format!("archived {folder}"),
        Event::Phase(PhaseEvent::SummaryWritten { .. }) => "summary written".to_owned(),
        Event::Conversation(ConversationEvent::DocumentsGiven { calls, .. }) => {
            format!("documents given: {}", calls.len())
        }
        Event::Proof(ProofEvent::PartReadingBegun { parts }) => format!("part reading begun: {}", parts.len()),
        Event::Proof(ProofEvent::PartsRead { doubled }) => format!("parts read, {} doubled", doubled.len()),
        Event::Proof(ProofEvent::PagesRead { pages, .. }) => format!("pages read: {}", pages.len()),
        Event::Plan(PlanEvent::FilesExamined { files }) => {
            format!("examined (plan: {}, memory: {})", files.plan.is_some(), files.memory.is_some())
        }
        Event::Plan(PlanEvent::PlanSet { because, .. }) => format!("plan set: {because}"),
        Event::Plan(PlanEvent::FileWritten { path }) => format!("file written: {path}"),
        Event::Plan(PlanEvent::PlanRead { phases, .. }) => format!("plan read: {} phases", phases.len()),
        Event::Plan(PlanEvent::PlanSaved { phases, .. }) => format!("plan saved: {} phases", phases.len()),
        Event::Plan(PlanEvent::MemorySaved { .. }) => "memory saved".to_owned(),
        Event::Person(PersonEvent::FilesEdited { files, .. }) => format!("edited: {}", files.join(", ")),
        Event::Plan(PlanEvent::PlanningRefused { reason }) => format!("planning refused: {reason}"),
        Event::Plan(PlanEvent::PlanningEnded { end, memory_waived }) => {
            let end = match end {
                PlanningEnd::Done => "planning done",
                PlanningEnd::FellBack => "planning fell back",
            };
            format!("{end}{}", if *memory_waived { ", memory waived" } else { "" })
        }
        Event::Plan(PlanEvent::TodosWarned { warning }) => format!("todos warned: {warning}"),
        Event::Phase(PhaseEvent::TodosWritten { todos }) => format!("todos written: {}", todos.len()),
        Event::Phase(PhaseEvent::TodoCompleted { id, outcome, unevidenced }) => {
            let mark = if *unevidenced { " unevidenced" } else { "" };
            format!("todo {id} completed{mark}: {}", outcome.as_deref().unwrap_or("-"))
        }
        Event::Phase(PhaseEvent::TodoCompletionRefused { id, .. }) => format!("todo {id} not completed"),
        Event::Conversation(ConversationEvent::CallSubmitted { turn, .. }) => format!("turn {turn} handed in"),
        Event::Conversation(ConversationEvent::AttemptFailed { turn, attempt, kind, .. }) => {
            format!("turn {turn}, attempt {attempt}: {kind}")
        }
        Event::Conversation(ConversationEvent::EpochOpened { number, cause, .. }) => {
            format!("epoch {number}: {cause:?}")
        }
        Event::Conversation(ConversationEvent::BoardShown { kind, board, .. }) => {
            format!("board {kind:?}{}", if board.is_some() { ", in full" } else { "" })
        }
        Event::Conversation(ConversationEvent::CompactionNotDue { .. }) => "compaction not due".to_owned(),
        Event::Proof(ProofEvent::ChecksMade { checks }) => {
            format!("checks made: {} of {} pass", checks.iter().filter(|check| check.passed).count(), checks.len())
        }
        Event::Conversation(ConversationEvent::ModelReplied { turn, calls, stop, .. }) => match stop {
            Stop::Done => format!("turn {turn}: {}", names(calls)),
            Stop::Length => format!("turn {turn} (cut): {}", names(calls)),
            Stop::Refused => format!("turn {turn} (withheld): {}", names(calls)),
        },
        Event::Tool(ToolEvent::ToolStarted { .. }) => "  started".to_owned(),
        Event::Tool(ToolEvent::ToolReturned { name, result, .. }) => {
            format!("  {name} {:?}: {}", result.end, short(&result.text))
        }
        Event::Phase(PhaseEvent::AccomplishmentAdded { text }) => format!("accomplishment: {text}"),
        Event::Conversation(ConversationEvent::SubAgentStarted { conversation, role, .. }) => {
            format!("sub-agent {conversation}: {}", role.told())
        }
        Event::Conversation(ConversationEvent::SubAgentEnded { conversation, end, .. }) => {
            format!("sub-agent {conversation} {}", end.told())
        }
        Event::Proof(ProofEvent::SecondReadingBegun { units, .. }) => {
            format!("second reading of {} parts", units.len())
        }
        Event::Proof(ProofEvent::ListsCompared { comparison, findings }) => {
            format!("lists compared: {} in both, {} findings", comparison.both, findings.len())
        }
        Event::Proof(ProofEvent::VerdictGiven { round, verdict, findings, .. }) => {
            format!("verdict {round}: {}, {} findings", verdict.told(), findings.len())
        }
        Event::Proof(ProofEvent::FindingSettled { id, settlement, by }) => {
            format!("finding {id} settled by {by}: {}", settlement.told())
        }
        Event::Phase(PhaseEvent::LessonProposed { lesson }) => format!("lesson: {} ({})", lesson.text, lesson.evidence),
        Event::Phase(PhaseEvent::NoteAdded { text }) => format!("note: {text}"),
        Event::Proof(ProofEvent::CompletionRefused { checks }) => {
            format!("completion refused: {} checks failed", checks.len())
        }
        Event::Life(LifeEvent::EndingDecided { ending }) => format!("ending decided: {}", ending.status),
        Event::Life(LifeEvent::Held { reason, detail }) => format!("HELD {reason}: {detail}"),
        Event::Life(LifeEvent::Resumed { .. }) => "resumed".to_owned(),
        Event::Person(PersonEvent::FeedbackGiven { number, text, .. }) => format!("feedback {number}: {text}"),
        Event::Person(PersonEvent::ModelChosen { choice }) => format!("model {}", choice.model),
        Event::Life(LifeEvent::TierChanged { tier, .. }) => format!("tier {}", tier.name()),
        Event::Person(PersonEvent::Approved { .. }) => "approved".to_owned(),
        Event::Person(PersonEvent::RecordApproved { record, .. }) => format!("approved {record}"),
        Event::Person(PersonEvent::FieldCorrected { finding, .. }) => format!("corrected {}", finding.id),
        Event::Person(PersonEvent::DocumentsAdded { documents, .. }) => format!("{} documents added", documents.len()),
        Event::Life(LifeEvent::JobEnded { ending }) => {
            format!("JOB ENDED {}: {}", ending.status, ending.reason.as_deref().unwrap_or("-"))
        }
    }
}

/// A prompt without its tools, as a person reads it.
pub(crate) fn show(prompt: &Prompt) -> String {
    let mut text = String::new();
    for message in prompt.messages() {
        let _ = match message {
            // The same in every prompt; it has a snapshot of its own.
            Message::System { .. } => writeln!(text, "[system]\n…\n"),
            Message::User { text: said, .. } => writeln!(text, "[user]\n{said}\n"),
            Message::Assistant { text: said, calls, .. } => {
                let calls: Vec<String> =
                    calls.iter().map(|call| format!("{}({})", call.name, call.arguments)).collect();
                writeln!(text, "[assistant]\n{}\n", [std::slice::from_ref(said), &calls[..]].concat().join("\n").trim())
            }
            Message::Tool { name, text: result, .. } => writeln!(text, "[tool {name}]\n{result}\n"),
        };
    }
    text
}

/// Compares `text` with the committed `tests/it/snapshots/<name>.snap`.
pub(crate) fn snapshot(name: &str, text: &str) {
    insta::with_settings!({
        snapshot_path => "../snapshots",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, { insta::assert_snapshot!(name, text); });
}
