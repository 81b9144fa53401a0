//! A formula in MathML on one line, as a formula of an office document is written.

use super::tree::{NodeId, Tree};
use crate::readers::package::{group, one_line, side_by_side};

/// Accents over a letter, and the combining characters for them.
const ACCENTS: [(&str, char); 10] = [
    ("¯", '\u{305}'),
    ("‾", '\u{305}'),
    ("_", '\u{305}'),
    ("^", '\u{302}'),
    ("ˆ", '\u{302}'),
    ("~", '\u{303}'),
    ("˜", '\u{303}'),
    ("→", '\u{20d7}'),
    (".", '\u{307}'),
    ("˙", '\u{307}'),
];

/// The formula that the element is.
pub(super) fn formula(tree: &Tree, id: NodeId) -> String {
    let Some(name) = tree.name(id) else { return tree.text(id).map(one_line).unwrap_or_default() };
    let operands: Vec<NodeId> = tree.children(id).filter(|&child| tree.name(child).is_some()).collect();
    let at = |index: usize| operands.get(index).map(|&child| formula(tree, child)).unwrap_or_default();
    let script = |sign: char, index: usize| match at(index).as_str() {
        "" => String::new(),
        text => format!("{sign}{}", group(text)),
    };
    match name {
        "mi" | "mn" | "mo" | "mtext" | "ms" => {
            let text: String = tree.children(id).filter_map(|child| tree.text(child)).collect();
            one_line(&text.replace(|found| ('\u{2061}'..='\u{2064}').contains(&found), ""))
        }
        "mphantom" | "annotation" | "annotation-xml" | "mspace" => String::new(),
        "semantics" => at(0),
        "mfrac" => {
            let is_bare = tree.attribute(id, "linethickness").is_some_and(|width| width.starts_with('0'));
            format!("{}{}{}", group(&at(0)), if is_bare { '¦' } else { '/' }, group(&at(1)))
        }
        "msup" | "mover" if name == "msup" || accent(&at(1)).is_none() => group(&at(0)) + &script('^', 1),
        "mover" => group(&at(0)) + &accent(&at(1)).map(String::from).unwrap_or_default(),
        "msub" | "munder" => group(&at(0)) + &script('_', 1),
        "msubsup" | "munderover" => group(&at(0)) + &script('_', 1) + &script('^', 2),
        "mmultiscripts" => {
            let is_before = |&child: &NodeId| tree.name(child) == Some("mprescripts");
            let before = operands.iter().position(is_before).unwrap_or(operands.len());
            let scripts = |from: usize, to: usize| -> String {
                (from..to)
                    .map(|index| script(if (index - from).is_multiple_of(2) { '_' } else { '^' }, index))
                    .collect()
            };
            let left = scripts(before + 1, operands.len());
            let left = if left.is_empty() { left } else { format!("({left})") };
            left + &group(&at(0)) + &scripts(1, before)
        }
        "msqrt" => format!("√({})", row(tree, id)),
        "mroot" => format!("√[{}]({})", at(1), at(0)),
        "mfenced" => {
            let [open, close] =
                [("open", "("), ("close", ")")].map(|(name, usual)| tree.attribute(id, name).unwrap_or(usual));
            let separator = tree.attribute(id, "separators").unwrap_or(",").trim().chars().next().map(String::from);
            let parts: Vec<String> = operands.iter().map(|&child| formula(tree, child)).collect();
            format!("{open}{}{close}", parts.join(&separator.unwrap_or_default()))
        }
        "mtable" => {
            let rows: Vec<String> = operands.iter().map(|&child| formula(tree, child)).collect();
            format!("[{}]", rows.join("; "))
        }
        "mtr" | "mlabeledtr" => {
            let cells: Vec<String> = operands.iter().map(|&child| formula(tree, child)).collect();
            cells.join(", ")
        }
        _ => row(tree, id),
    }
}

/// The content of an element, side by side.
fn row(tree: &Tree, id: NodeId) -> String {
    let shown = tree.children(id).map(|child| {
        let text = formula(tree, child);
        let is_word = text.chars().all(char::is_alphabetic) && text.chars().nth(1).is_some();
        let is_run = !is_word && matches!(tree.name(child), Some("mi" | "mn" | "mo" | "mtext") | None);
        (text, !is_run)
    });
    side_by_side(shown.filter(|(text, _)| !text.is_empty()))
}

fn accent(over: &str) -> Option<char> {
    ACCENTS.iter().find(|(sign, _)| *sign == over).map(|(_, accent)| *accent)
}
