//! Readers side by side: after the bootstrap, a phase of the system has all parts of the documents read at once, each
//! by a sub-agent that sees its part and can only add records. The job's own model continues with their results.

pub use super::given_documents::shown_to;
use super::{phase_end, plan_file, sub_agent_end, sub_agent_start};
use crate::{
    amount::counted,
    answer,
    job::{
        conversation::Conversation,
        event::{EpochCause, Event, PhaseEvent, PhaseKind, ProofEvent, Why},
        instructions::Readers,
        part_reading::{DoubledRecord, PartReading, ReadPart},
        plan::Plan,
        read_unit::ReadUnit,
        second_reading::units,
        spec::JobSpec,
        state::Job,
        sub_agent_role::{SubAgentEnd, SubAgentRole},
        time::Timestamp,
        todo_list::TodoList,
    },
    prompt::bounds,
    tokens::head,
};

/// The title of the phase.
const TITLE: &str = "Read the documents side by side";
/// Percent of the bound for given documents that a part may have: its marks and headings come in addition.
const PART_PERCENT: u64 = 85;
/// Documents of a part that its todo names.
const MOST_NAMED: usize = 3;

/// The phase in which all parts are read, before `plan`; `None` if no readers are wanted, or they are done.
pub(super) fn begin_part_reading(job: &Job, plan: &Plan, at: Timestamp) -> Option<Vec<Event>> {
    let readers = job.spec.instructions.readers.as_ref().filter(|_| job.part_reading.is_none())?;
    let parts = parts(&job.spec, readers);
    if parts.is_empty() {
        return None;
    }
    let steps: Vec<String> = parts.iter().map(|units| told(&job.spec, units)).collect();
    let plan = plan.insert_after(0, TITLE, &steps).mark_current();
    let next = plan.current()?;
    let (number, attempt) = job.next_number();
    let pairs: Vec<(String, String)> =
        (1..).zip(&steps).map(|(part, step)| (step.clone(), format!("Reader {part} is at work"))).collect();
    Some(vec![
        plan_file::plan_set(&plan, "readers work the documents first, side by side".to_owned()),
        Event::Phase(PhaseEvent::PhaseStarted {
            number,
            attempt,
            kind: PhaseKind::Planned,
            title: TITLE.to_owned(),
            plan_phase: Some(next.number),
            todos: TodoList::from_pairs(&pairs, at),
        }),
        Event::Proof(ProofEvent::PartReadingBegun { parts }),
    ])
}

/// Readers begin, as many as may work at once; when all have ended, so does the phase, unless a part is left.
pub(super) fn owed_to_readers(job: &Job) -> Option<Vec<Event>> {
    let reading = job.part_reading.as_ref().filter(|_| job.is_executing() && job.is_part_reading())?;
    let wanted = job.spec.instructions.readers.as_ref()?.parallel;
    let free = sub_agent_start::readers_at_once(job, wanted).saturating_sub(job.sub_agents.len());
    let waiting = (1..).zip(&reading.parts).filter(|(_, part)| !part.is_begun).take(free);
    let begun: Vec<Event> = (job.sub_agents_begun + 1..)
        .zip(waiting)
        .flat_map(|(number, (part, ReadPart { units, .. }))| {
            let role = SubAgentRole::Reader { part, units: units.clone() };
            sub_agent_start::start_sub_agent_as(job, number, role, "")
        })
        .collect();
    if !begun.is_empty() {
        return Some(begun);
    }
    let is_at_end = reading.is_over
        && job.sub_agents.is_empty()
        && job.own.calls.pending.is_empty()
        && job.phase.todos.counts().remaining() == 0;
    is_at_end.then(|| phase_end::end_phase(job, Vec::new(), Why::PhaseDone))
}

/// Whether all readers have ended, and doubled records are still to be looked for.
pub(super) fn owes_doubled(job: &Job) -> bool {
    let is_read = |reading: &PartReading| !reading.is_over && reading.parts.iter().all(|part| part.has_ended);
    job.sub_agents.is_empty() && job.part_reading.as_ref().is_some_and(is_read)
}

/// The end of a reader, if its reply has added the records of its part, and no problem was returned.
pub(super) fn owed_by_reader(job: &Job, sub_agent: &Conversation) -> Option<Vec<Event>> {
    let calls = &sub_agent.calls;
    // A reply without a record is asked about once: it may have been the announcement of one.
    let is_empty = sub_agent.effort.silent && sub_agent.effort.records == 0 && sub_agent.asked == 0;
    let is_done = sub_agent.turns > 0
        && !is_empty
        && !sub_agent.epoch.is_complete()
        && !sub_agent.is_cut
        && calls.sent_back.is_empty()
        && calls.unreadable.is_none()
        && calls.skipped.is_none();
    let said = || sub_agent.epoch.last_reply().unwrap_or_default();
    is_done.then(|| sub_agent_end::end_sub_agent(job, sub_agent, SubAgentEnd::Reported, said()))
}

/// If records of several readers quote the same place, the job's own model decides.
pub(super) fn on_parts_read(job: &mut Job, doubled: &[DoubledRecord]) {
    if let Some(reading) = &mut job.part_reading {
        reading.is_over = true;
    }
    // The next prompt shows the readers' results and reports.
    job.compaction.forced = Some(EpochCause::PhaseEnded);
    let told = |DoubledRecord { first, second, quote }: &DoubledRecord| {
        answer!("note.doubled", first, second, quote = head(quote, 20))
    };
    job.phase.notes.extend(doubled.iter().map(told));
}

/// The parts of all documents, in their order: whole documents together as far as they have room, larger ones divided.
pub fn parts(spec: &JobSpec, readers: &Readers) -> Vec<Vec<ReadUnit>> {
    let most = readers.part_tokens.min(bounds::given_tokens(spec) * PART_PERCENT / 100);
    let tokens = spec.document_tokens();
    let even = tokens.div_ceil(readers.parts_for(tokens, most));
    let units = units(&spec.documents, even, 1.0, 0);
    // With this bound, no part is closed below an even share of all, so there are no more parts than planned.
    let most = most.min(even + units.iter().map(|unit| unit.tokens).max().unwrap_or_default());
    let mut parts: Vec<Vec<ReadUnit>> = Vec::new();
    let mut left = 0;
    for unit in units {
        let tokens = unit.tokens;
        if let Some(part) = parts.last_mut().filter(|_| tokens <= left) {
            part.push(unit);
        } else {
            left = most;
            parts.push(vec![unit]);
        }
        left = left.saturating_sub(tokens);
    }
    parts
}

/// `Read lease-1.pdf, lease-2.pdf and 3 more documents`, `Read book.pdf 41-80`.
fn told(spec: &JobSpec, units: &[ReadUnit]) -> String {
    let of_one = |unit: &ReadUnit| match spec.document(&unit.document) {
        Some(document) if (unit.from, unit.to) != (1, document.units) => {
            format!("{} {}-{}", unit.document, unit.from, unit.to)
        }
        Some(_) | None => unit.document.clone(),
    };
    let named: Vec<String> = units.iter().take(MOST_NAMED).map(of_one).collect();
    let more = units.len().saturating_sub(MOST_NAMED) as u64;
    let more = if more > 0 { format!(" and {}", counted(more, "more document")) } else { String::new() };
    head(&format!("Read {}{more}", named.join(", ")), 110).to_owned()
}
