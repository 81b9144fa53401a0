//! The opening of a sub-agent's conversation: its task, and the parts of the job that it may know.

use super::{bounds, measure, opening::runner_mark};
use crate::{
    amount::grouped,
    answer,
    job::{
        conversation::Conversation,
        instructions::Deliverable,
        part::Part,
        read_unit::ReadUnit,
        state::{INSTRUCTIONS_FILE, Job},
        sub_agent_role::SubAgentRole,
    },
    tokens::bounded,
};

/// Percent of the room for the task, for an agent's prompt or a rubric, for a schema, and for the list of documents.
const TASK_PERCENT: u64 = 20;
const PROMPT_PERCENT: u64 = 10;
const SCHEMA_PERCENT: u64 = 5;
const DOCUMENTS_PERCENT: u64 = 5;

/// The parts of a sub-agent's opening. `task` is the task delegated to it; other sub-agents have the job's.
pub(crate) fn parts(job: &Job, sub_agent: &Conversation, task: &str) -> Vec<Part> {
    if let Some(SubAgentRole::Transcriber { .. }) = &sub_agent.role {
        return vec![Part::from(answer!("sub_agent.page"))];
    }
    let room = measure::room(&job.spec);
    let whole = || bounded(job.instructions.trim(), room * TASK_PERCENT / 100, INSTRUCTIONS_FILE);
    let mut parts = vec![format!("# Your task\n\n{}\n\n", answer!("sub_agent.runners_word", mark = runner_mark(job)))];
    match &sub_agent.role {
        // The job's own conversation has another opening; the transcriber's is returned above.
        None | Some(SubAgentRole::Transcriber { .. }) => {}
        Some(SubAgentRole::Delegate { agent }) => {
            let agent = job.spec.instructions.agents.get(agent);
            let prompt = agent.map(|agent| agent.prompt.trim()).unwrap_or_default();
            let writes = sub_agent.tools.iter().any(|tool| tool.family() == crate::job::tool::Family::Writing);
            let folder = if writes {
                format!(" {}", answer!("sub_agent.folder", folder = sub_agent.folder()))
            } else {
                String::new()
            };
            parts.push(
                include_str!("../../../../instructions/runner/delegate.md")
                    .trim()
                    .replace("{{report}}", &grouped(bounds::answer_tokens(&job.spec)))
                    .replace("{{folder}}", &folder),
            );
            parts.push(format!("\n\n## Who you are\n{}", bounded(prompt, room * PROMPT_PERCENT / 100, "assets/")));
            parts.push(format!("\n\n## Task\n{}", bounded(task, room * TASK_PERCENT / 100, "the journal")));
            parts.push(documents(job));
        }
        Some(SubAgentRole::SecondReader { units }) => {
            let deliverable = second_list(job);
            let path = deliverable.map(|found| found.path.as_str()).unwrap_or_default();
            let listed: Vec<String> = units.iter().map(|unit| format!("- {}", unit_told(unit))).collect();
            parts.push(
                include_str!("../../../../instructions/runner/second_reader.md")
                    .trim()
                    .replace("{{deliverable}}", path)
                    .replace("{{units}}", &listed.join("\n"))
                    .replace("{{file}}", &format!("{}{}", sub_agent.folder(), name(path))),
            );
            if let Some(schema) = deliverable.and_then(|found| found.schema.as_ref()) {
                parts.push(format!("\n\n## The schema of {path}\n{}", schema_told(schema, room)));
            }
            parts.push(format!("\n\n## The task as the other reader was given it\n{}", whole()));
        }
        Some(SubAgentRole::Reader { .. }) => {
            let path = job.spec.instructions.readers.as_ref().map(|readers| readers.deliverable.as_str());
            let deliverable = job.spec.instructions.deliverables.iter().find(|known| Some(known.path.as_str()) == path);
            let reader = include_str!("../../../../instructions/runner/reader.md").trim();
            parts.push(reader.replace("{{deliverable}}", path.unwrap_or_default()));
            if let Some(schema) = deliverable.and_then(|found| found.schema.as_ref()) {
                parts.push(format!("\n\n## The schema of {}\n{}", path.unwrap_or_default(), schema_told(schema, room)));
            }
            parts.push(format!("\n\n## The task of the whole job\n{}", whole()));
            // The part comes last: everything before it is the same for all readers, so the provider's cache serves it.
            parts.push("\n\n## Your part".to_owned());
            parts.extend(sub_agent.epoch.unanswered().iter().map(|result| format!("\n\n{}", result.text)));
        }
        Some(SubAgentRole::Verifier { .. }) => {
            let rubric = job.spec.instructions.verify.as_ref().map(|verify| verify.rubric.trim()).unwrap_or_default();
            parts.push(include_str!("../../../../instructions/runner/verifier.md").trim().to_owned());
            parts.push(format!("\n\n## The rubric\n{}", bounded(rubric, room * PROMPT_PERCENT / 100, "assets/")));
            parts.push(format!("\n\n## The deliverables\n{}", deliverables(job)));
            parts.push(documents(job));
            parts.push(format!("\n\n## The task\n{}", whole()));
        }
    }
    parts.into_iter().map(Part::from).collect()
}

fn schema_told(schema: &serde_json::Value, room: u64) -> String {
    bounded(&schema.to_string(), room * SCHEMA_PERCENT / 100, "assets/")
}

/// The deliverable whose records are listed a second time.
pub(crate) fn second_list(job: &Job) -> Option<&Deliverable> {
    let wanted = job.spec.instructions.second_reader.as_ref()?;
    job.spec.instructions.deliverables.iter().find(|deliverable| deliverable.path == wanted.deliverable)
}

/// The file name of a path.
pub(crate) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `contract.pdf 4-6 (about 2,100 tokens)`.
pub(crate) fn unit_told(unit: &ReadUnit) -> String {
    let place = if unit.from == unit.to { unit.from.to_string() } else { format!("{}-{}", unit.from, unit.to) };
    format!("{} {place} (about {} tokens)", unit.document, grouped(unit.tokens))
}

fn deliverables(job: &Job) -> String {
    let lines: Vec<String> = job
        .spec
        .instructions
        .deliverables
        .iter()
        .map(|deliverable| {
            let records = job.deliverables.get(&deliverable.path).and_then(|state| state.records);
            records.map_or_else(
                || format!("- {}", deliverable.path),
                |records| format!("- {} ({records} records)", deliverable.path),
            )
        })
        .collect();
    lines.join("\n")
}

fn documents(job: &Job) -> String {
    let lines: Vec<String> = job
        .spec
        .documents
        .iter()
        .map(|document| {
            format!(
                "- {} ({} {}s, about {} tokens)",
                document.name,
                document.units,
                document.unit(),
                grouped(document.tokens)
            )
        })
        .collect();
    let most = measure::room(&job.spec) * DOCUMENTS_PERCENT / 100;
    format!("\n\n## The documents\n{}", bounded(&lines.join("\n"), most, "list_documents()"))
}
