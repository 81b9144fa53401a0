//! Finds the tool that a name means. Ignores case and separators, and whatever chat templates and other clients put
//! around a name: `functions.read_file:0`, `read_file<|channel|>commentary`, `"read_file()"`, a name that is given
//! twice. Mere similarity is never enough.

use overnight_core::message::ToolSpec;

/// The most bytes of a name that is examined: tool names are far shorter, and a whole text given as a name is skipped.
const MOST_NAME: usize = 200;

/// The only known tool that the name can mean.
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
    // The other parts are words of a template or of another client, none of which is a tool.
    let parts: Vec<String> = name.split(|letter| !is_in_name(letter)).map(plain).collect();
    if let Some(tool) = only(tools, |known| parts.contains(known)) {
        return Some(tool);
    }
    only(tools, |known| !known.is_empty() && wanted.len() > known.len() && wanted.replace(known, "").is_empty())
}

/// The only tool whose plain name satisfies `is_meant`; none if there are several.
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
