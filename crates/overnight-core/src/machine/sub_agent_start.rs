//! The beginning of a sub-agent: its role, its tools and its opening.

use super::{answers::refusal, given_documents::reads_of};
use crate::{
    answer,
    job::{
        arguments::Delegate,
        conversation::Conversation,
        event::{ConversationEvent, EpochCause, Event},
        instructions::Agent,
        models::Tier,
        read_unit::ReadUnit,
        state::Job,
        sub_agent_role::SubAgentRole,
        tool::{Tool, ToolSet},
    },
    message::{Image, ToolCall, image_tokens},
    prompt::{compact::FRAME, compose::sub_agent_system_prompt, sub_agent_opening, tools::ToolList},
    tokens::estimate,
};

/// A sub-agent begins: its conversation, and its opening.
pub(super) fn start_sub_agent(job: &Job, role: SubAgentRole, task: &str) -> Vec<Event> {
    start_sub_agent_as(job, job.sub_agents_begun + 1, role, task)
}

pub(super) fn start_sub_agent_as(job: &Job, conversation: u32, role: SubAgentRole, task: &str) -> Vec<Event> {
    let tools = tools_of(job, &role);
    let system_prompt = sub_agent_system_prompt(&role);
    let sub_agent = Conversation::new(conversation, Some(role.clone()), tools, &system_prompt);
    let first = match &role {
        // Its part is read first.
        SubAgentRole::Reader { units, .. } => {
            Event::Conversation(ConversationEvent::DocumentsGiven { conversation, calls: reads_of(&job.spec, units) })
        }
        _ => opening_of(job, &sub_agent, task),
    };
    let started = Event::Conversation(ConversationEvent::SubAgentStarted {
        conversation,
        model: job.spec.instructions.model_of(&role).map(str::to_owned),
        role,
        tools,
        tools_sha256: ToolList::of(tools).sha256.clone(),
        system_prompt: system_prompt.into(),
    });
    vec![started, first]
}

pub(super) fn opening_of(job: &Job, sub_agent: &Conversation, task: &str) -> Event {
    let opening = sub_agent_opening::parts(job, sub_agent, task);
    let images = sub_agent.role.as_ref().map(|role| images_of(job, role)).unwrap_or_default();
    let tokens = FRAME + opening.iter().map(|part| estimate(part.text())).sum::<u64>() + image_tokens(&images);
    let conversation = sub_agent.number;
    Event::Conversation(ConversationEvent::EpochOpened {
        conversation,
        number: 1,
        cause: EpochCause::Begun,
        opening,
        images,
        tokens,
    })
}

/// Second readers begin, one for each list of parts; they read side by side.
pub(super) fn start_readers(job: &Job, parts: Vec<Vec<ReadUnit>>) -> Vec<Event> {
    let start = |(number, units)| start_sub_agent_as(job, number, SubAgentRole::SecondReader { units }, "");
    (job.sub_agents_begun + 1..).zip(parts).flat_map(start).collect()
}

fn images_of(job: &Job, role: &SubAgentRole) -> Vec<Image> {
    let SubAgentRole::Transcriber { document, page, .. } = role else { return Vec::new() };
    job.spec.scanned_page(document, *page).map(|scan| scan.image.clone()).into_iter().collect()
}

fn tools_of(job: &Job, role: &SubAgentRole) -> ToolSet {
    match role {
        SubAgentRole::Delegate { agent } => {
            let agent = job.spec.instructions.agents.get(agent);
            agent.map(Agent::may_call).unwrap_or_default().into_iter().chain([Tool::Report]).collect()
        }
        SubAgentRole::SecondReader { .. } => {
            [Tool::AddRecords, Tool::ListDocuments, Tool::ReadDocument, Tool::Report].into_iter().collect()
        }
        SubAgentRole::Verifier { .. } => {
            [Tool::ReadFile, Tool::ListRecords, Tool::ListDocuments, Tool::ReadDocument, Tool::Verdict]
                .into_iter()
                .collect()
        }
        SubAgentRole::Reader { .. } => [Tool::AddRecords].into_iter().collect(),
        SubAgentRole::Transcriber { .. } => ToolSet::default(),
    }
}

/// The call of `delegate`: a sub-agent begins, and the call waits for its end.
pub(super) fn delegate(job: &Job, said: &ToolCall, call: &Delegate) -> Vec<Event> {
    let agents = &job.spec.instructions.agents;
    let agent = call.agent_type.trim();
    if !agents.contains_key(agent) {
        let names: Vec<&str> = agents.keys().map(String::as_str).collect();
        let text = match names.as_slice() {
            [] => answer!("refused.no_agents"),
            names => answer!("refused.no_such_agent", agent, names = names.join(", ")),
        };
        return vec![refusal(said, text)];
    }
    let context = call.context.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let task = match context {
        Some(context) => format!("{}\n\n{context}", call.task.trim()),
        None => call.task.trim().to_owned(),
    };
    start_sub_agent(job, SubAgentRole::Delegate { agent: agent.to_owned() }, &task)
}

/// Readers at work at once: as many as were requested, or all if submitted calls are answered within hours.
pub(super) fn readers_at_once(job: &Job, wanted: u32) -> usize {
    if job.answered.tier == Tier::Batch { usize::MAX } else { wanted as usize }
}
