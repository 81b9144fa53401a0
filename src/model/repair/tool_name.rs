//! Finds the tool that a name means. Case and separators are ignored; mere similarity is never enough.

use overnight_core::prompt::message::ToolSpec;

/// The one known tool that is meant.
pub(super) fn known<'a>(name: &str, tools: &'a [ToolSpec]) -> Option<&'a ToolSpec> {
    if let Some(exact) = tools.iter().find(|tool| tool.name == name) {
        return Some(exact);
    }
    // No tool's name is near as long; a text that stands for a name isn't looked through.
    let wanted = Some(plain(name)).filter(|wanted| !wanted.is_empty() && name.len() <= 200)?;
    let mut equal = tools.iter().filter(|tool| plain(&tool.name) == wanted);
    let first = equal.next()?;
    equal.next().is_none().then_some(first)
}

/// A name without case and separators.
fn plain(name: &str) -> String {
    name.chars().filter(|character| !matches!(character, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}
