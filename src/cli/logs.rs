//! `overnight logs`: the events of a job, line by line, from its journal.

use super::{CliError, exit, job_location::JobLocation, local_time, out};
use crate::{
    audit::{AuditError, event_text, tail::Tail},
    config::Settings,
    workspace::chain,
};
use overnight_core::job::{
    event::{Decision, Event, PhaseEvent},
    state::Job,
};
use std::{
    fmt::Write as _,
    io::{self, ErrorKind, Write},
    time::Duration,
};

/// The polling interval for a followed journal.
const POLL_EVERY: Duration = Duration::from_millis(500);

/// Bytes that are buffered before they are written.
const MOST_HELD: usize = 64 * 1024;

const EXAMPLES: &str = "\
Examples:
  overnight logs last --follow
  overnight logs 0193 --phase 3
  overnight logs last --json | jq -c '.events[] | select(.type == \"model_replied\") | .usage'";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct LogsArgs {
    /// Id of a job, the beginning of one, 'last', or the path of a workspace folder
    job: String,
    /// Go on until the job ends
    #[arg(long, short)]
    follow: bool,
    /// Only this phase, all its attempts, with the planning that led to each
    #[arg(long, value_name = "N")]
    phase: Option<u32>,
    /// Print the journal's lines as they are
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: Settings, args: &LogsArgs) -> Result<u8, CliError> {
    let location = JobLocation::find(settings, &args.job).await?;
    let mut tail = Tail::open(&location.path)?;
    let mut log = JobLog { phase: args.phase, as_json: args.json, ..JobLog::default() };
    loop {
        let mut fault = None;
        let read = tail.read(&mut |line, decision| {
            if fault.is_none() {
                fault = log.line(line, decision).err();
            }
            // A long journal is not held in memory; a closed stdout is detected below.
            if log.text.len() > MOST_HELD {
                let _ = put(&std::mem::take(&mut log.text));
            }
        });
        // Lines before a broken one are shown before the fault is reported.
        if !put(&std::mem::take(&mut log.text))? {
            return Ok(exit::COMPLETED);
        }
        read?;
        if let Some(fault) = fault {
            return Err(fault);
        }
        let Some(job) = &log.job else {
            return Err(AuditError::Empty { path: location.path.display().to_string() }.into());
        };
        if !args.follow || job.ended().is_some() {
            // The lines of planning in progress belong to a phase that has no number yet.
            log.check_phase()?;
            if let Some(damage) = location.damage(tail.journal_end()) {
                out::warn(&damage);
            }
            return Ok(exit::COMPLETED);
        }
        tokio::time::sleep(POLL_EVERY).await;
    }
}

/// Writes to stdout; `false` if it was closed by its reader.
pub(super) fn put(text: &str) -> Result<bool, CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(CliError::failed(format!("the result can't be written to stdout ({error})"))),
    }
}

/// The lines that are not written yet, and the job's state, which is needed to describe its events.
#[derive(Default)]
struct JobLog {
    job: Option<Job>,
    phase: Option<u32>,
    as_json: bool,
    text: String,
    /// With `--phase`: lines since the last phase ended, until it is known which phase they led to.
    waiting: String,
    /// The highest phase so far.
    last: Option<u32>,
    /// Whether the requested phase was found.
    found: bool,
}

impl JobLog {
    fn line(&mut self, bytes: &[u8], line: chain::JournalLine<Event>) -> Result<(), CliError> {
        let decision = Decision { at: line.at, events: line.events };
        let mut words = String::new();
        if self.as_json {
            words.push_str(&String::from_utf8_lossy(bytes));
            words.push('\n');
        }
        if self.job.is_none() {
            let job = Job::begin(&decision)
                .ok_or_else(|| CliError::failed("the journal's first line does not begin a job".to_owned()))?;
            for event in decision.events.iter().filter(|_| !self.as_json) {
                entry(&mut words, &decision, 0, event_text::of(&job, event));
            }
            self.job = Some(job);
        } else if let Some(job) = &mut self.job {
            for event in &decision.events {
                let said = event_text::of(job, event);
                job.apply(decision.at, event);
                if !self.as_json {
                    entry(&mut words, &decision, job.totals.spent.turns, said);
                }
            }
        }
        self.sort(&decision, &words);
        Ok(())
    }

    /// Shows the lines: all of them, or those of one phase.
    fn sort(&mut self, decision: &Decision, words: &str) {
        let Some(job) = &self.job else { return };
        let Some(wanted) = self.phase else {
            self.text.push_str(words);
            return;
        };
        self.waiting.push_str(words);
        let ended = decision.events.iter().any(|event| matches!(event, Event::Phase(PhaseEvent::PhaseEnded { .. })));
        if job.is_phase_open() || ended {
            self.last = self.last.max(Some(job.phase.number));
            let lines = std::mem::take(&mut self.waiting);
            if job.phase.number == wanted {
                self.found = true;
                self.text.push_str(&lines);
            }
        }
    }

    fn check_phase(&self) -> Result<(), CliError> {
        match self.phase {
            Some(number) if !self.found => Err(AuditError::NoPhase { number, last: self.last }.into()),
            Some(_) | None => Ok(()),
        }
    }
}

/// Adds an entry: time, turn, and event.
fn entry(text: &mut String, decision: &Decision, turn: u64, said: Option<String>) {
    let Some(said) = said else { return };
    let turn = if turn == 0 { String::new() } else { format!("turn {turn}") };
    let _ = writeln!(text, "{}  {turn:<9}  {}", local_time::second(decision.at), out::one_line(&said));
}
