//! The part of a scenario's file that is generated: the story, what became of each file, the texts that stand nowhere else.

use super::{
    case::{GENERATED, Scenario},
    common::{Usual, but, marked},
    derived,
    golden::{Expected, PROMPT},
    ground::DOCUMENTS,
    mask::Mask,
    story::{self, Part},
    tree::Tree,
};
use crate::sections;
use overnight_core::job::{
    event::{ConversationEvent, Event, LifeEvent},
    state::PLAN_FILE,
};
use serde_json::Value;
use std::{collections::BTreeMap, path::Path};

/// Lines of a text in which a marker may stand for some.
const LEAST_MARKED: usize = 20;

/// A run, masked.
#[derive(Debug, Default)]
pub(crate) struct GeneratedPart {
    /// With the name of the common reply.
    parts: Vec<(Option<String>, Part)>,
    /// What is to be said of files in a line.
    files: Vec<(String, String)>,
    /// Files and prompts that are to be shown.
    texts: Vec<(String, String)>,
    /// Where lines of prompts and large results come from.
    known: Vec<(String, String)>,
}

impl GeneratedPart {
    pub(crate) fn of(scenario: &Scenario, path: &Path, found: &Expected) -> Result<Self, String> {
        let (mask, decisions) = Mask::of(path)?;
        let events: Vec<&Event> = decisions.iter().flat_map(|(_, events)| events).collect();
        let mut told = Self::default();
        if scenario.is_rough {
            let Some(Event::Life(LifeEvent::JobEnded { ending })) = events.last() else {
                return Err("the job has not ended".to_owned());
            };
            told.files.push(("the job".to_owned(), ending.status.to_string()));
            let delivered = ending.deliverables.iter().map(|file| (file.path.clone(), "delivered".to_owned()));
            told.files.extend(delivered);
            return Ok(told);
        }
        let derived = derived::files(path, &Tree::read(path, None), &mask)?;
        let mut files = found.0.clone();
        files.remove(story::NAME);
        for (name, text) in &files {
            let is_shown = scenario.show.iter().any(|shown| name.starts_with(shown.as_str()));
            match written_in(&events, name, text) {
                Some(turn) => told.files.push((name.clone(), format!("as written in turn {turn}"))),
                None if derived.get(name) == Some(text) && !is_shown => {}
                None => told.texts.push((name.clone(), text.clone())),
            }
        }
        let missing = derived.keys().filter(|name| !files.contains_key(*name));
        told.files.extend(missing.map(|name| (name.clone(), "missing".to_owned())));
        let kinds = [Some("start".to_owned())].into_iter().chain(scenario.names.iter().cloned());
        let kinds: BTreeMap<u64, String> = (0..).zip(kinds).filter_map(|(turn, name)| Some((turn, name?))).collect();
        let masked = |part: Part| {
            let reply = if scenario.reply(part.turn) == Some(part.reply.as_str()) { "" } else { &part.reply };
            (kinds.get(&part.turn).cloned(), Part { text: mask.text(&format!("{reply}{}", part.text)), ..part })
        };
        told.parts = story::parts(&decisions).into_iter().map(masked).collect();
        files.retain(|name, _| !name.starts_with("archive/") && !name.starts_with(PROMPT));
        let documents = scenario.given.iter().filter(|(name, _)| name.starts_with(DOCUMENTS)).cloned();
        told.known = documents.chain(files).chain(events.iter().filter_map(|event| calls(event))).collect();
        Ok(told)
    }

    /// What may be usual.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, &str)> {
        let parts = self.parts.iter().filter_map(|(name, part)| Some((name.as_deref()?, part.text.as_str())));
        let texts = self.texts.iter().filter(|(name, _)| name == PLAN_FILE || name.starts_with(PROMPT));
        parts.chain(texts.map(|(name, text)| (kind(name), text.as_str())))
    }

    /// The whole file of the scenario, as it is to be.
    pub(crate) fn file(&self, scenario: &Scenario, usual: &Usual) -> String {
        let mut sections = scenario.written.clone();
        let mut head = self.story(usual);
        let mut known = self.known.clone();
        known.push((format!("usual {PROMPT}"), usual.first(PROMPT).to_owned()));
        let mut texts = Vec::new();
        for (name, text) in &self.texts {
            let others: Vec<(String, String)> = known.iter().filter(|(known, _)| known != name).cloned().collect();
            match usual.told(kind(name), text) {
                Some(told) => head.extend([name, ": ", &told, "\n"]),
                None if text.lines().count() < LEAST_MARKED => texts.push((name.clone(), text.clone())),
                None => texts.push((name.clone(), marked(text, &others))),
            }
            if name.starts_with(PROMPT) {
                known.push((name.clone(), text.clone()));
            }
        }
        self.files.iter().for_each(|(name, what)| head.extend([name, ": ", what, "\n"]));
        sections.push((GENERATED.to_owned(), head));
        sections.extend(texts);
        sections::write(&sections)
    }

    /// Every part in a line where it is much like a usual one, or like one that is told whole above.
    fn story(&self, usual: &Usual) -> String {
        let mut story = String::new();
        let mut whole: Vec<&Part> = Vec::new();
        for (name, part) in &self.parts {
            let as_usual = name.as_ref().and_then(|name| usual.told(name, &part.text));
            let as_above =
                whole.iter().filter_map(|above| Some(format!("as {}{}", above.label, but(&above.text, &part.text)?)));
            let told = as_usual.into_iter().chain(as_above).min_by_key(String::len);
            story.push_str(&part.label);
            story.extend(told.as_ref().map_or(["\n", &part.text, ""], |told| [": ", told, "\n"]));
            if told.is_none() {
                whole.push(part);
            }
        }
        story
    }
}

/// What was called in a turn, as prompts have it.
fn calls(event: &Event) -> Option<(String, String)> {
    let Event::Conversation(ConversationEvent::ModelReplied { turn, calls, .. }) = event else { return None };
    let calls: Vec<String> = calls.iter().map(|made| story::call(&made.said)).collect();
    Some((format!("calls of turn {turn}"), calls.join("\n")))
}

/// Prompts are all of one kind.
fn kind(name: &str) -> &str {
    if name.starts_with(PROMPT) { PROMPT } else { name }
}

/// The turn in which a reply has this text for that file.
fn written_in(events: &[&Event], path: &str, text: &str) -> Option<u64> {
    let replies = events.iter().rev().filter_map(|event| match event {
        Event::Conversation(ConversationEvent::ModelReplied { turn, calls, .. }) => Some((*turn, calls)),
        _ => None,
    });
    let mut writes = replies.flat_map(|(turn, calls)| calls.iter().map(move |call| (turn, &call.said.arguments)));
    let is_it = |given: &Value| {
        given["path"] == path && given["content"].as_str().is_some_and(|content| content.trim_end() == text.trim_end())
    };
    writes.find(|(_, given)| is_it(given)).map(|(turn, _)| turn)
}
