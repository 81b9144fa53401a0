//! Finds the tool that a name means. Case and separators are ignored, and what chat templates and other clients' habits put around
//! a name: `functions.read_file:0`, `read_file<|channel|>commentary`, `"read_file()"`, a name that is said twice. Mere similarity
//! is never enough.

use overnight_core::message::ToolSpec;

/// Bytes of a name that is looked at: no tool's name is near as long; a text that stands for a name isn't looked through.
const MOST_NAME: usize = 200;

/// The one known tool that is meant.
pub(super) fn known<'a>(name: &str, tools: &'a [ToolSpec]) -> Option<&'a ToolSpec> {
    if let Some(exact) = tools.iter().find(|tool| tool.name == name) {
        return Some(exact);
    }
    if name.len() > MOST_NAME {
        return None;
    }
    let wanted = plain(name);
    if let Some(tool) = only(tools, |known| *known == wanted) {
        return Some(tool);
    }
    // What stands around it are words of a template or of another client, none of which is a tool.
    let parts: Vec<String> = name.split(|letter| !is_in_name(letter)).map(plain).collect();
    if let Some(tool) = only(tools, |known| parts.contains(known)) {
        return Some(tool);
    }
    only(tools, |known| !known.is_empty() && wanted.len() > known.len() && wanted.replace(known, "").is_empty())
}

/// The tool for which `is_meant` holds, by its plain name, if it is one.
fn only(tools: &[ToolSpec], is_meant: impl Fn(&String) -> bool) -> Option<&ToolSpec> {
    let mut meant = tools.iter().filter(|tool| {
        let known = plain(&tool.name);
        !known.is_empty() && is_meant(&known)
    });
    let first = meant.next()?;
    meant.next().is_none().then_some(first)
}

/// Letters that a tool's name may have, or a blank in their place.
fn is_in_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | ' ')
}

/// A name without case and separators.
fn plain(name: &str) -> String {
    name.chars().filter(|character| !matches!(character, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}
