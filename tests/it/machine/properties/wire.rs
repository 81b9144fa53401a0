//! What the model was shown, and what the stored facts give again: the prompts of a whole night, checked afterwards.

use super::invariants::has_room;
use crate::machine::world::*;
use overnight_core::job::conversation::Conversation;
use overnight_core::{
    job::{
        digest::sha256,
        event::{ConversationEvent, Decision, Event, ToolEvent},
        state::Job,
    },
    machine::effect::{Effect, Owed},
    message::{Message, Prompt},
    prompt::compose,
};
use std::collections::BTreeMap;

/// Every fact goes through its stored form, and the state that follows is the same: the same prompts, byte for byte, the
/// same questions, the same state at the end.
pub(crate) fn check(world: &World) {
    let mut job: Option<Job> = None;
    let mut last = BTreeMap::new();
    for decision in &world.decisions {
        let decision = Decision { at: decision.at, events: decision.events.iter().map(stored).collect() };
        let Some(job) = &mut job else {
            job = Job::begin(&decision);
            continue;
        };
        if let Some(Event::Conversation(ConversationEvent::ModelReplied {
            conversation, prompt_sha256, turn, ..
        })) = decision.events.first()
        {
            let prompt = compose::prompt(job.conversation(*conversation).unwrap());
            assert_eq!(&compose::prompt_sha256(&prompt), prompt_sha256, "the prompt of turn {turn}");
        }
        job.apply_all(&decision);
        for Owed { id, effect } in job.owed() {
            if effect == Effect::Model {
                let number = id.conversation;
                let before = last.remove(&number);
                last.insert(number, asked(job, job.conversation(number).unwrap(), before));
            }
        }
        for event in &decision.events {
            // What was too large for the conversation is still there, whole.
            if let Event::Tool(ToolEvent::ToolReturned { result, .. }) = event
                && let Some(spilled) = &result.spilled
            {
                let whole = world.files.get(&spilled.path).expect("the whole result is kept");
                assert_eq!(sha256(whole.as_bytes()), spilled.sha256, "{} was changed", spilled.path);
            }
        }
    }
    let job = job.unwrap();
    assert_eq!(format!("{job:#?}"), format!("{:#?}", world.job), "the state that the stored facts say");
    assert_eq!(compose::prompt(&job.own), compose::prompt(&world.job.own));
    assert_eq!(job.owed(), world.job.owed());
}

/// An event as it comes back from the journal.
fn stored(event: &Event) -> Event {
    let text = serde_json::to_string(event).unwrap();
    // A journal's line holds its events one level deeper than they are here.
    let line = format!("{{\"events\":[{text}]}}");
    assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok(), "the line can't be read again: {line:.400}");
    let read: Event = serde_json::from_value(serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(&read, event, "{text}");
    read
}

/// The prompt that the model is about to be asked with, whether or not a reply comes: tools and system prompt are those of
/// the whole job, and of what the same epoch has sent before nothing has changed. Gives the epoch's number with it.
fn asked(job: &Job, of: &Conversation, last: Option<(u32, Prompt)>) -> (u32, Prompt) {
    has_room(job, of);
    let prompt = compose::prompt(of);
    assert_eq!(*prompt.messages[0], Message::System { text: of.system_prompt.clone() });
    if let Some(board) = of.epoch.board().filter(|_| of.is_own()) {
        assert!(show(&prompt).contains(board), "the newest board is not in the epoch:\n{board}");
    }
    if let Some((epoch, last)) = last {
        assert!(last.tools == prompt.tools, "the tools never change during a job");
        assert_eq!(last.messages[0], prompt.messages[0], "the system prompt never changes");
        if epoch == of.epoch.number {
            let before = prompt.messages.get(..last.messages.len());
            assert_eq!(before, Some(&last.messages[..]), "an epoch only grows");
        } else {
            assert_eq!(of.epoch.number, epoch + 1, "an epoch was opened and nothing sent in it");
            assert_eq!(prompt.messages.len(), 2, "an epoch begins with its opening");
        }
    }
    (of.epoch.number, prompt)
}
