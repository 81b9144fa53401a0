//! The spans of whole jobs, in a world where time is passed in: every name, parent, time and attribute.

use super::{
    properties::night::{happenings, play, settings},
    world::*,
};
use crate::support::property;
use opentelemetry::{
    Array, Value,
    trace::{SpanId, SpanKind, Status},
};
use opentelemetry_sdk::trace::SpanData;
use overnight::{runner::RunReport, telemetry::JobSpans};
use overnight_core::{
    job::{
        event::{CallEnd, ConversationEvent, Decision, Event, LifeEvent, PhaseEvent, ToolEvent},
        failure::{Failure, FailureKind},
        state::Job,
    },
    machine::effect::{Command, Effect, Outcome},
};
use proptest::prelude::*;
use std::{
    collections::{HashMap, HashSet},
    fmt::Write,
};

/// A world, and who watches it.
struct Watched {
    world: World,
    spans: Option<JobSpans>,
    finished: Vec<SpanData>,
}

impl Watched {
    fn new(world: World) -> Self {
        let mut watched = Self { world, spans: None, finished: Vec::new() };
        watched.take_up();
        watched
    }

    /// A process takes the job up.
    fn take_up(&mut self) {
        let now = moment(self.world.clock_ms);
        self.spans = Some(JobSpans::begin(&self.world.job, "openai:gpt-small", now));
    }

    /// The process leaves it.
    fn leave(&mut self) {
        let now = moment(self.world.clock_ms);
        self.finished.extend(self.spans.take().unwrap().finish(&self.world.job, false, now));
    }

    fn on(&mut self, report: &RunReport<'_>) {
        let now = moment(self.world.clock_ms);
        self.finished.extend(self.spans.as_mut().unwrap().on(&self.world.job, report, || now));
    }

    /// Tells of the decisions since there were `count`.
    fn tell(&mut self, count: usize) {
        let decisions = self.world.decisions[count..].to_vec();
        for decision in &decisions {
            self.on(&RunReport::Decided(decision));
        }
    }

    /// As [`World::play`], with what the runner reports; what isn't the model's takes 10 ms.
    fn play(&mut self, replies: impl IntoIterator<Item = overnight_core::message::Reply>) -> &mut Self {
        self.world.replies.extend(replies);
        loop {
            let count = self.world.decisions.len();
            match self.world.owed().map(|owed| owed.effect) {
                Some(Effect::Model) if self.world.replies.is_empty() => return self,
                Some(Effect::Model) => self.on(&RunReport::Calling(self.world.at_work().number)),
                _ => drop(self.world.wait_ms(10)),
            }
            if !self.world.step() {
                return self;
            }
            self.tell(count);
        }
    }

    /// An attempt that brings nothing, after a second; the next comes after `wait_ms`.
    fn fails(&mut self, kind: FailureKind, status: Option<u16>, wait_ms: u64) -> &mut Self {
        self.on(&RunReport::Calling(0));
        self.world.wait_ms(1_000);
        let failure = Failure { status, ..Failure::new(kind, "it said: <document>secret</document>") };
        let at = moment(self.world.clock_ms);
        let events = self.world.job.decide(at, self.world.next_id(), Outcome::Failed { failure, wait_ms });
        let decision = Decision { at, events };
        self.world.job.apply_all(&decision);
        self.on(&RunReport::Decided(&decision));
        self.world.wait_ms(i64::try_from(wait_ms).unwrap());
        self
    }

    fn command(&mut self, command: Command) -> &mut Self {
        let count = self.world.decisions.len();
        self.world.command(command);
        self.tell(count);
        self
    }

    /// The spans as a tree, each under its parent, in the order in which they began.
    fn tree(&self) -> String {
        let ids: HashSet<SpanId> = self.finished.iter().map(|span| span.span_context.span_id()).collect();
        assert_eq!(ids.len(), self.finished.len(), "an id is used twice");
        let mut below: HashMap<SpanId, Vec<&SpanData>> = HashMap::new();
        for span in &self.finished {
            assert!(span.start_time <= span.end_time, "{span:?}");
            assert_eq!(span.span_context.trace_id().to_bytes(), *self.world.job.spec.id.0.as_bytes());
            let parent = span.parent_span_id;
            assert!(parent == SpanId::INVALID || ids.contains(&parent), "a span without its parent: {span:?}");
            below.entry(parent).or_default().push(span);
        }
        for spans in below.values_mut() {
            spans.sort_by_key(|span| (span.start_time, span.end_time));
        }
        let mut text = String::new();
        show(&mut text, &below, SpanId::INVALID, 0);
        text
    }
}

fn show(text: &mut String, below: &HashMap<SpanId, Vec<&SpanData>>, parent: SpanId, depth: usize) {
    let begin = std::time::SystemTime::from(moment(0).utc());
    for span in below.get(&parent).into_iter().flatten() {
        let ms = |at: std::time::SystemTime| at.duration_since(begin).unwrap().as_millis();
        let kind = if span.span_kind == SpanKind::Client { " (client)" } else { "" };
        let (start, end) = (ms(span.start_time), ms(span.end_time));
        let _ = write!(text, "{}{}{kind} {start}-{end}", "  ".repeat(depth), span.name);
        if let Status::Error { description } = &span.status {
            let _ = write!(text, " ERROR {description}");
        }
        for known in &span.attributes {
            let value = match &known.value {
                Value::Array(Array::String(texts)) => {
                    texts.iter().map(opentelemetry::StringValue::as_str).collect::<Vec<_>>().join("+")
                }
                value => value.to_string(),
            };
            let name = known.key.as_str().replace("gen_ai.", "g.").replace("overnight.", "o.");
            let _ = write!(text, " {name}={value}");
        }
        text.push('\n');
        show(text, below, span.span_context.span_id(), depth + 1);
    }
}

#[test]
fn a_whole_job() {
    let mut world = World::new();
    world.cost_usd = Some(0.25);
    let mut watched = Watched::new(world);
    watched.play([say([read_document("south.md", 1, 9), write_file("main_plan.md", PLAN)])]);
    // An attempt fails, a tool fails, a tool is unknown.
    watched.fails(FailureKind::Overloaded, Some(529), 1_500).fails(FailureKind::Stalled, None, 2_500);
    watched.play([say([read_file("nothing.md"), call("fly", serde_json::json!({})), read_document("north.md", 1, 4)])]);
    // Held in the middle of a todo, and taken up again an hour later by another process.
    let held = Command::Hold {
        reason: overnight_core::job::record::HoldReason::Paused,
        detail: "paused by a person".to_owned(),
    };
    watched.command(held).leave();
    watched.world.wait_ms(3_600_000);
    watched.take_up();
    let limits = watched.world.job.limits;
    watched.command(Command::Resume { limits });
    while watched.world.job.is_executing() {
        let id = watched.world.job.phase.todos.current().unwrap().id;
        watched.play([say([write_file(&format!("notes/{id}.md"), "checked"), done("checked it")])]);
    }
    watched.play([plan_for(5)]);
    // The second phase is given up and planned again, then done in one reply.
    watched.play([say([call("todo_rewind", serde_json::json!({"issue": "the secret pump is missing"}))])]);
    watched.play([plan_for(5)]);
    watched.play([say((0..5).flat_map(|id| [write_file(&format!("south/{id}.md"), "checked"), done("ok")]))]);
    watched.play([say([
        write_file("output/report.md", "All pumps ran well."),
        done("verified"),
        read_file("output/report.md"),
        done("written"),
        job_complete(0.9),
    ])]);
    assert_eq!(watched.world.status(), "completed");
    watched.leave();
    let tree = watched.tree();
    assert!(!tree.contains("secret"), "what was written or said stands in a span");
    snapshot("spans_whole_job", &tree);
}

#[test]
fn a_call_that_nobody_waits_for() {
    let mut watched = Watched::new(World::new());
    watched.play([]).on(&RunReport::Calling(0));
    watched.world.wait_ms(700);
    watched.command(Command::Cancel).leave();
    snapshot("spans_cancelled", &watched.tree());
}

#[test]
fn a_model_with_nothing_more_to_say_and_one_whose_server_is_down() {
    let mut watched = Watched::new(World::new());
    watched.play([]).fails(FailureKind::Unreachable, None, 0);
    let outage =
        || Command::Hold { reason: overnight_core::job::record::HoldReason::Outage, detail: "it is down".to_owned() };
    // Probed while it is held; then it answers.
    watched.command(outage()).fails(FailureKind::Unreachable, None, 5_000);
    watched.on(&RunReport::Calling(0));
    let limits = watched.world.job.limits;
    watched.command(Command::Resume { limits });
    let count = watched.world.decisions.len();
    watched.world.replies.push_back(say([call("generate_workspace_summary", serde_json::json!({}))]));
    assert!(watched.world.step());
    watched.tell(count);
    watched.play([]);
    // The clock was set back meanwhile.
    watched.world.wait_ms(-60_000);
    watched.fails(FailureKind::Exhausted, None, 0);
    watched.play([]).leave();
    snapshot("spans_given_up", &watched.tree());
}

/// The spans of a job that is over, told again from its decisions; a new process begins with each opening.
fn told_again(decisions: &[Decision]) -> Vec<SpanData> {
    let mut job = Job::begin(&decisions[0]).unwrap();
    let mut spans = JobSpans::begin(&job, "ollama:tiny", job.last_at);
    let mut begun = job.last_at;
    let mut finished = Vec::new();
    for decision in &decisions[1..] {
        // No two processes take a job up in the same moment.
        let is_opening = decision.events.iter().any(|event| matches!(event, Event::Life(LifeEvent::Opened { .. })));
        if is_opening && decision.at > begun {
            begun = decision.at;
            finished.extend(spans.finish(&job, false, job.last_at));
            // The words that a process begins with are not reported.
            job.apply_all(decision);
            spans = JobSpans::begin(&job, "ollama:tiny", begun);
            continue;
        }
        if decision
            .events
            .iter()
            .any(|event| matches!(event, Event::Conversation(ConversationEvent::ModelReplied { .. })))
        {
            let now = job.last_at;
            finished.extend(spans.on(&job, &RunReport::Calling(0), || now));
        }
        job.apply_all(decision);
        finished.extend(spans.on(&job, &RunReport::Decided(decision), || unreachable!()));
    }
    finished.extend(spans.finish(&job, false, job.last_at));
    finished
}

fn has(span: &SpanData, name: &str, value: &'static str) -> bool {
    span.attributes.iter().any(|known| known.key.as_str() == name && known.value == Value::from(value))
}

proptest! {
    #![proptest_config(property(10))]

    /// Whatever happens in a night: each fact that has a span has one, within what it belongs to.
    #[test]
    fn any_night_is_told_whole(night in happenings(60), settings in settings()) {
        let world = play(&settings, &night);
        let spans = told_again(&world.decisions);
        let known: HashMap<SpanId, &SpanData> = spans.iter().map(|span| (span.span_context.span_id(), span)).collect();
        prop_assert_eq!(known.len(), spans.len());
        for span in &spans {
            prop_assert!(span.start_time <= span.end_time);
            if span.parent_span_id == SpanId::INVALID {
                prop_assert_eq!(&span.name, "invoke_agent audit-stations");
            } else {
                let parent = known[&span.parent_span_id];
                prop_assert!(parent.start_time <= span.start_time, "{:?} in {:?}", span, parent);
            }
        }
        let named = |what: &str| spans.iter().filter(|span| span.name.starts_with(what)).count();
        let is_handed_in = |span: &SpanData| span.attributes.iter().any(|known| known.key.as_str() == "overnight.submitted_as");
        let is_reply = |span: &&SpanData| {
            span.name.starts_with("chat ") && !matches!(span.status, Status::Error { .. }) && !is_handed_in(span)
        };
        let replies = spans.iter().filter(is_reply).count();
        prop_assert_eq!(replies, world.count(|event| matches!(event, Event::Conversation(ConversationEvent::ModelReplied { .. }))));
        prop_assert_eq!(
            named("execute_tool "),
            world.count(|event| matches!(event, Event::Tool(ToolEvent::ToolReturned { result, .. }) if result.end != CallEnd::Skipped))
        );
        prop_assert_eq!(
            spans.iter().filter(|span| has(span, "overnight.todo.status", "completed")).count(),
            world.count(|event| matches!(event, Event::Phase(PhaseEvent::TodoCompleted { .. })))
        );
        prop_assert_eq!(
            spans
                .iter()
                .filter(|span| span.name.starts_with("phase") && !has(span, "overnight.phase.outcome", "unfinished"))
                .count(),
            world.count(|event| matches!(event, Event::Phase(PhaseEvent::PhaseEnded { .. })))
        );
    }
}
