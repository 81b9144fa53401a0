//! Batches as the server keeps them, and how they and their calls end.

use super::super::{
    answer, cache,
    check::Checked,
    format::{Asked, Format},
    http::Asking,
    serve::Shared,
};
use super::{BatchCounts, Batching, Denied, anthropic, gemini, name_of, openai, unknown};
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::Value;
use std::collections::BTreeMap;

/// How a batch stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BatchState {
    Working,
    Cancelling,
    Ended,
    Expired,
    Cancelled,
    /// Nothing of it was taken.
    Failed,
}

impl BatchState {
    pub(super) fn is_over(self) -> bool {
        !matches!(self, Self::Working | Self::Cancelling)
    }
}

/// How a call of a batch has ended.
#[derive(Debug)]
pub(super) enum LineEnd {
    Replied(Value),
    /// Not taken, in these words.
    Refused(String),
    Expired,
    Cancelled,
}

/// A call of a batch.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) key: String,
    /// What it asks for with its body, or why it can't.
    pub(super) asked: Checked<(Asked, Value)>,
    pub(super) end: Option<LineEnd>,
}

impl Line {
    /// Checks a call as one that comes alone.
    pub(super) fn read(format: Format, asking: &Asking, key: &str, body: Value, shared: &Shared) -> Self {
        let asked = answer::read(format, asking, &body, shared).map(|asked| (asked, body));
        if let Err(words) = &asked {
            shared.complain(format!("{}, in a batch: {words}", format.name()));
        }
        Self { key: key.to_owned(), asked, end: None }
    }

    pub(super) fn tokens(&self) -> u64 {
        self.asked.as_ref().map_or(0, |(asked, _)| cache::tokens(&asked.blocks))
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.end, Some(LineEnd::Replied(_)))
    }

    pub(super) fn is_refused(&self) -> bool {
        matches!(self.end, Some(LineEnd::Refused(_)))
    }

    pub(super) fn is_expired(&self) -> bool {
        matches!(self.end, Some(LineEnd::Expired))
    }

    pub(super) fn is_cancelled(&self) -> bool {
        matches!(self.end, Some(LineEnd::Cancelled))
    }
}

/// A batch as the server keeps it.
#[derive(Debug)]
pub(super) struct KeptBatch {
    pub(super) id: String,
    /// Of its calls.
    pub(super) format: Format,
    /// The client's own: metadata of OpenAI, a name of Gemini, none of Anthropic.
    pub(super) name: Value,
    /// The file that it is made of, of OpenAI; the model, of Gemini.
    pub(super) source: String,
    pub(super) created: DateTime<Utc>,
    pub(super) lines: Vec<Line>,
    /// How often it was asked about.
    pub(super) polls: u64,
    pub(super) state: BatchState,
    /// Why it fails as a whole, as OpenAI tells it.
    pub(super) errors: Vec<Value>,
}

impl KeptBatch {
    pub(super) fn new(prefix: &str, number: usize, format: Format, lines: Vec<Line>) -> Self {
        Self {
            id: format!("{prefix}{number:04}"),
            format,
            name: Value::Null,
            source: String::new(),
            created: Utc::now(),
            lines,
            polls: 0,
            state: BatchState::Working,
            errors: Vec::new(),
        }
    }

    pub(super) fn count(&self, is_counted: impl Fn(&Line) -> bool) -> usize {
        self.lines.iter().filter(|line| is_counted(line)).count()
    }

    /// When it was made, in the form of RFC 3339.
    pub(super) fn created_at(&self) -> String {
        self.created.to_rfc3339_opts(SecondsFormat::Micros, true)
    }

    /// The same in seconds since 1970.
    pub(super) fn created_s(&self) -> i64 {
        self.created.timestamp()
    }
}

/// All that the server keeps of batches.
#[derive(Debug, Default)]
pub(in super::super) struct Batches {
    /// What was uploaded to OpenAI, by its name.
    pub(super) files: BTreeMap<String, String>,
    kept: Vec<KeptBatch>,
    lost: u64,
    early_403: u64,
    rubbish: u64,
    early_404: u64,
    expired: u64,
    /// The wrong call was told.
    is_told: bool,
}

impl Batches {
    /// The number of the next batch.
    pub(super) fn next_number(&self) -> usize {
        self.kept.len() + 1
    }

    /// Keeps a batch. The error: its answer is lost.
    pub(super) fn keep(&mut self, batch: KeptBatch, setup: &Batching, shared: &Shared) -> Result<(), Denied> {
        let (format, calls, own) = (batch.format, batch.lines.len(), batch.name.clone());
        let begins = prefix(&batch.id);
        let is_lost = self.lost < setup.loses_creations;
        self.lost += u64::from(is_lost);
        count(shared, |counts| {
            counts.created.push(calls);
            counts.lost += u64::from(is_lost);
        });
        self.kept.push(batch);
        if !is_lost {
            return Ok(());
        }
        for _ in 0..setup.others {
            let line = |number: usize| Line {
                key: format!("not-yours-{number}"),
                asked: Err("of somebody else".to_owned()),
                end: Some(LineEnd::Cancelled),
            };
            let other = KeptBatch::new(begins, self.next_number(), format, (1..=calls).map(line).collect());
            self.kept.push(KeptBatch { name: of_others(&own), state: BatchState::Ended, ..other });
        }
        Err(Denied::now(500, "Internal server error"))
    }

    /// The place of the wrong call, counted from 0, where it is time to tell of it.
    pub(super) fn wrong_line(&mut self, calls: usize, setup: &Batching) -> Option<usize> {
        let line = setup.wrong_line.filter(|line| !self.is_told && *line <= calls)?;
        self.is_told = true;
        line.checked_sub(1)
    }

    /// The vendor's batches, the newest first; their names begin with `begins`.
    pub(super) fn newest(&self, begins: &'static str) -> impl Iterator<Item = &KeptBatch> {
        self.kept.iter().rev().filter(move |batch| prefix(&batch.id) == begins)
    }

    pub(super) fn get(&self, id: &str) -> Result<&KeptBatch, Denied> {
        self.place(id).map(|place| &self.kept[place])
    }

    fn place(&self, id: &str) -> Result<usize, Denied> {
        self.kept.iter().position(|batch| batch.id == id).ok_or_else(|| unknown(id))
    }

    /// A batch that is asked about, which may end by that.
    pub(super) async fn poll(&mut self, id: &str, setup: &Batching, shared: &Shared) -> Result<&KeptBatch, Denied> {
        let place = self.place(id)?;
        if self.early_404 < setup.early_404 {
            self.early_404 += 1;
            return Err(Denied::now(404, &format!("No batch found with id '{id}'.")));
        }
        let is_stuck = place < setup.stuck;
        let expires = self.expired < setup.expiring;
        let batch = &mut self.kept[place];
        batch.polls += 1;
        let state = match batch.state {
            BatchState::Cancelling => BatchState::Cancelled,
            BatchState::Working if !batch.errors.is_empty() => BatchState::Failed,
            BatchState::Working if is_stuck || batch.polls < setup.polls => BatchState::Working,
            BatchState::Working if expires => BatchState::Expired,
            BatchState::Working => BatchState::Ended,
            over => over,
        };
        if state != batch.state {
            self.expired += u64::from(state == BatchState::Expired);
            self.end(place, state, shared).await;
        }
        Ok(&self.kept[place])
    }

    /// Tells a batch to end, which it has done with the next question: what is done stays done. One that is over is refused with
    /// this status.
    pub(super) fn cancel(&mut self, id: &str, status: u16, shared: &Shared) -> Result<usize, Denied> {
        let place = self.place(id)?;
        let batch = &mut self.kept[place];
        if batch.state.is_over() {
            return Err(Denied::now(status, "Cannot cancel a batch that has ended."));
        }
        let is_first = batch.state == BatchState::Working;
        batch.state = BatchState::Cancelling;
        count(shared, |counts| counts.cancelled += u64::from(is_first));
        Ok(place)
    }

    /// Ends a batch: answers what is done of it.
    pub(super) async fn end(&mut self, place: usize, state: BatchState, shared: &Shared) {
        let batch = &mut self.kept[place];
        batch.state = state;
        count(shared, |counts| {
            counts.failed += u64::from(state == BatchState::Failed);
            counts.expired += u64::from(state == BatchState::Expired);
        });
        if state == BatchState::Failed {
            return;
        }
        let format = batch.format;
        for (number, line) in (1_usize..).zip(&mut batch.lines) {
            // Gemini gives nothing of a batch that came to no end of its own.
            let is_done = state == BatchState::Ended || (format != Format::Gemini && !number.is_multiple_of(2));
            let end = match &line.asked {
                _ if !is_done && state == BatchState::Expired => LineEnd::Expired,
                _ if !is_done => LineEnd::Cancelled,
                Err(words) => LineEnd::Refused(words.clone()),
                Ok((asked, body)) => match answer::of_batch(format, asked, body, shared).await {
                    Ok(reply) => {
                        let name = name_of(&asked.prompt);
                        count(shared, |counts| *counts.in_batches.entry(name).or_default() += 1);
                        LineEnd::Replied(reply)
                    }
                    Err(words) => LineEnd::Refused(words),
                },
            };
            line.end = Some(end);
        }
    }

    /// What comes in place of results this time, if something does.
    pub(super) fn rubbish(&mut self, setup: &Batching) -> Option<super::Answered> {
        let is_rubbish = self.rubbish < setup.rubbish;
        self.rubbish += u64::from(is_rubbish);
        let body = "<html><body>Bad gateway</body></html>".to_owned();
        is_rubbish.then_some(super::Answered { status: 200, mime: "text/html", body })
    }

    /// Whether results are refused this time.
    pub(super) fn is_too_early(&mut self, setup: &Batching) -> bool {
        let is_early = self.early_403 < setup.early_403;
        self.early_403 += u64::from(is_early);
        is_early
    }
}

/// Counts something.
fn count(shared: &Shared, add: impl FnOnce(&mut BatchCounts)) {
    add(&mut shared.batch_counts());
}

/// What the name of a vendor's batch begins with.
fn prefix(id: &str) -> &'static str {
    [openai::PREFIX, anthropic::PREFIX].into_iter().find(|prefix| id.starts_with(prefix)).unwrap_or(gemini::PREFIX)
}

/// The same kind of name as one of the client's, of somebody else.
fn of_others(own: &Value) -> Value {
    match own {
        Value::Object(fields) => fields.keys().map(|name| (name.clone(), Value::from("of somebody else"))).collect(),
        Value::String(_) => Value::from("of somebody else"),
        _ => Value::Null,
    }
}
