//! Removes parts that a reader of a page would not call its text (scripts, navigation, links for machines), and finds
//! the main part. Too little pruned costs tokens; too much loses text that someone will ask for. So only elements are
//! removed whose names, roles or well-known classes mean navigation.

use super::tree::{NodeId, ROOT, Tree, TreeStep};

/// Elements without text, or without any of the page's own.
const DROPPED: &[&str] =
    &["datalist", "defs", "desc", "head", "metadata", "noembed", "noframes", "script", "style", "template", "title"];
/// Elements that show something other than text; they are counted.
const OBJECTS: &[&str] = &["applet", "audio", "canvas", "embed", "frameset", "iframe", "object", "video"];
const DROPPED_ROLES: &[&str] = &["navigation", "search", "contentinfo"];
/// Classes and names of elements for navigation, or for the numbers of code lines.
const DROPPED_NAMES: [&str; 11] = [
    "nav",
    "navbar",
    "navigation",
    "navheader",
    "navfooter",
    "breadcrumb",
    "breadcrumbs",
    "pagination",
    "sphinxsidebar",
    "linenos",
    "lineno",
];
/// In these elements a `footer` signs or explains its content; elsewhere it is the page's.
const OWN_FOOTER: &[&str] = &["article", "main", "section", "blockquote", "figure", "dialog", "td"];

/// Whether a node is always left out, with everything in it.
pub(super) fn is_unseen(tree: &Tree, id: NodeId) -> bool {
    tree.name(id).is_some_and(|name| {
        DROPPED.contains(&name)
            || is_object(tree, id)
            || is_hidden(tree, id)
            || name == "option" && !is_chosen(tree, id)
    })
}

/// Whether an element shows something other than text.
pub(super) fn is_object(tree: &Tree, id: NodeId) -> bool {
    tree.name(id).is_some_and(|name| OBJECTS.contains(&name))
}

/// Whether an element is hidden in a browser by its own attributes.
pub(super) fn is_hidden(tree: &Tree, id: NodeId) -> bool {
    let Some(name) = tree.name(id) else { return false };
    let is = |property: &str, values: &[&str]| tree.style(id, property).is_some_and(|value| values.contains(&&*value));
    tree.attribute(id, "hidden").is_some()
        || (name == "dialog" && tree.attribute(id, "open").is_none())
        || tree.attribute(id, "style").is_some()
            && (is("display", &["none"])
                || is("visibility", &["hidden", "collapse"])
                || is("opacity", &["0"])
                || is("font-size", &["0", "0px", "0pt"]))
}

/// Whether an option of a list is the selected one: the first, if none is selected.
fn is_chosen(tree: &Tree, id: NodeId) -> bool {
    let list = tree.ancestors(id).find(|&up| tree.name(up) == Some("select"));
    let Some(list) = list.filter(|_| tree.attribute(id, "selected").is_none()) else { return true };
    let (mut first, mut has_chosen) = (None, false);
    tree.walk(list, |step| {
        if let TreeStep::Enter(option) = step
            && tree.name(option) == Some("option")
        {
            first.get_or_insert(option);
            has_chosen |= tree.attribute(option, "selected").is_some();
        }
        // An option that isn't the first needs no further check.
        !has_chosen && first.is_none_or(|first| first == id)
    });
    first == Some(id) && !has_chosen && tree.attribute(list, "multiple").is_none()
}

/// Whether an element only has links elsewhere. Its name may mislead: a chapter on navigation has running text.
fn leads_elsewhere(tree: &Tree, id: NodeId) -> bool {
    const SENTENCE: usize = 5;
    let (mut in_link, mut words, mut longest) = (0_usize, [0_usize; 2], 0);
    tree.walk(id, |step| {
        match step {
            TreeStep::Enter(id) if is_unseen(tree, id) => return false,
            TreeStep::Enter(id) => {
                in_link += usize::from(tree.name(id) == Some("a"));
                let count = tree.text(id).map_or(0, |text| text.split_whitespace().count());
                words[usize::from(in_link > 0)] += count;
                longest = if in_link == 0 { count.max(longest) } else { longest };
            }
            TreeStep::Leave(id) => in_link -= usize::from(tree.name(id) == Some("a")),
        }
        true
    });
    words[0] <= words[1] || longest < SENTENCE
}

/// Whether a node of a web page is left out, with everything in it.
pub(super) fn is_dropped(tree: &Tree, id: NodeId) -> bool {
    let Some(name) = tree.name(id) else { return false };
    if is_unseen(tree, id) {
        return true;
    }
    if tree.attribute(id, "role").is_some_and(|role| DROPPED_ROLES.contains(&role.trim())) {
        return leads_elsewhere(tree, id);
    }
    match name {
        // A browser with scripts doesn't show it.
        "noscript" => true,
        "nav" => leads_elsewhere(tree, id),
        "body" | "html" | "main" | "article" => false,
        "footer" => {
            let is_own = tree.ancestors(id).any(|up| tree.name(up).is_some_and(|name| OWN_FOOTER.contains(&name)));
            !is_own && leads_elsewhere(tree, id)
        }
        "a" => is_dropped_link(tree, id),
        "aside" if tree.has_class(id, |class| class.split(['-', '_']).any(|part| part == "toc")) => true,
        _ => {
            let is_dropped = |name: &str| DROPPED_NAMES.contains(&name);
            let is_called_so = tree.has_class(id, is_dropped) || tree.attribute(id, "id").is_some_and(is_dropped);
            is_called_so && leads_elsewhere(tree, id)
        }
    }
}

/// "¶" beside a heading, "Skip to content" above the page.
fn is_dropped_link(tree: &Tree, id: NodeId) -> bool {
    if !tree.attribute(id, "href").is_some_and(|href| href.starts_with('#')) {
        return false;
    }
    let mut text = String::new();
    tree.walk(id, |step| {
        if let TreeStep::Enter(id) = step
            && let Some(more) = tree.text(id)
        {
            text.extend(more.chars().take(16));
        }
        text.len() < 16
    });
    let text = text.trim().to_lowercase();
    matches!(text.as_str(), "¶" | "\u{f0c1}" | "§" | "#")
        || text.starts_with("skip to ")
        || tree.has_class(id, |class| class.starts_with("skip"))
}

/// The part of a page with its text.
pub(super) struct MainPart {
    pub(super) root: NodeId,
    /// Characters of text outside it, blanks not counted.
    pub(super) left_out: usize,
}

/// The page's main part, if the page marks one that contains most of its text; else the whole page.
pub(super) fn main_part(tree: &Tree) -> MainPart {
    let mut all = 0_usize;
    // For each kind of candidate the one with the most text; kinds are in order of trust.
    let mut best: [Option<(usize, NodeId)>; 3] = [None; 3];
    let mut open: Vec<(NodeId, usize)> = Vec::new();
    tree.walk(ROOT, |step| {
        match step {
            TreeStep::Enter(id) if is_dropped(tree, id) => return false,
            TreeStep::Enter(id) => {
                if let Some(text) = tree.text(id) {
                    all += text.chars().filter(|c| !c.is_whitespace()).count();
                } else if candidate(tree, id).is_some() {
                    open.push((id, all));
                }
            }
            TreeStep::Leave(id) => {
                if let Some(&(candidate_id, before)) = open.last()
                    && candidate_id == id
                {
                    open.pop();
                    if let Some(sort) = candidate(tree, id) {
                        best[sort] = best[sort].max(Some((all - before, id)));
                    }
                }
            }
        }
        true
    });
    let main = best.into_iter().flatten().find(|(size, _)| size * 2 > all);
    main.map_or(MainPart { root: ROOT, left_out: 0 }, |(size, root)| MainPart { root, left_out: all - size })
}

fn candidate(tree: &Tree, id: NodeId) -> Option<usize> {
    let name = tree.name(id)?;
    if name == "main" || tree.attribute(id, "role") == Some("main") {
        Some(0)
    } else if name == "article" {
        Some(1)
    } else if name == "div" && tree.has_class(id, |class| class == "body") {
        Some(2)
    } else {
        None
    }
}
