//! A page's tree: nodes in one list, linked by number. Nothing about it recurses, so no depth of it can overflow a stack;
//! and the parser is stopped when a page nests deeper, or makes more of its bytes, than any honest page does: both make
//! HTML parsing quadratic (each new tag looks through the open ones, unclosed formatting is repeated in every paragraph).

use std::borrow::Cow;
use std::cell::{RefCell, RefMut};

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, LocalName, Namespace, ParseOpts, QualName, parse_document};

/// The maximum nesting depth of elements. Browsers stop at 512.
const MAX_DEPTH: u32 = 500;
/// The maximum number of nodes, and how many nodes may exceed one in two bytes (`<p>x` makes two from four).
const MAX_NODES: usize = 20_000_000;
const SPARE_NODES: usize = 10_000;
/// Attributes of one element: the parser compares each with all before it.
const MAX_ATTRIBUTES: usize = 20_000;
/// How many bytes are parsed between two checks of the limits.
const CHUNK: usize = 4096;
/// The maximum bytes of a picture's address.
const MOST_SOURCE: usize = 1_000;
/// The attributes that a reader or a pruner asks for; others are not kept.
const KEPT: &[&str] = &[
    "alt",
    "checked",
    "class",
    "close",
    "colspan",
    "face",
    "hidden",
    "href",
    "id",
    "linethickness",
    "multiple",
    "open",
    "reversed",
    "role",
    "rowspan",
    "selected",
    "separators",
    "src",
    "start",
    "style",
    "type",
    "value",
];

pub(super) type NodeId = u32;
const NONE: NodeId = NodeId::MAX;
/// The document itself.
pub(super) const ROOT: NodeId = 0;

enum Content {
    /// The document, a comment, a template's content: it has no text.
    Nothing,
    Text(String),
    Element {
        name: QualName,
        attributes: Vec<(LocalName, StrTendril)>,
    },
}

struct TreeNode {
    content: Content,
    parent: NodeId,
    first: NodeId,
    last: NodeId,
    before: NodeId,
    after: NodeId,
    depth: u32,
}

/// The steps of a walk: each node is entered, and left after everything in it.
pub(super) enum TreeStep {
    Enter(NodeId),
    Leave(NodeId),
}

pub(super) struct Tree {
    nodes: Vec<TreeNode>,
    too_deep: bool,
}

impl Tree {
    /// Parses a page; the error names the limit that it exceeded, as "it …".
    pub(super) fn parse(html: &str) -> Result<Self, String> {
        if has_attribute_flood(html) {
            return Err(format!("it has an element with over {MAX_ATTRIBUTES} attributes"));
        }
        let most_nodes = MAX_NODES.min(html.len() / 2 + SPARE_NODES);
        let sink = Sink(RefCell::new(Self { nodes: vec![TreeNode::new(Content::Nothing)], too_deep: false }));
        let mut options = ParseOpts::default();
        // Content for browsers without scripts is parsed as elements; the pruner decides about it.
        options.tree_builder.scripting_enabled = false;
        let mut parser = parse_document(sink, options);
        let mut rest = html;
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(rest.floor_char_boundary(CHUNK.min(rest.len())));
            parser.process(StrTendril::from_slice(chunk));
            rest = after;
            let tree = parser.tokenizer.sink.sink.0.borrow();
            if tree.too_deep {
                return Err(format!("it nests elements more than {MAX_DEPTH} deep"));
            }
            if tree.nodes.len() > most_nodes {
                return Err("it repeats unclosed elements without end".to_owned());
            }
        }
        Ok(parser.finish().0.into_inner())
    }

    /// An element's name, in lower case; `None` for text and everything else.
    pub(super) fn name(&self, id: NodeId) -> Option<&str> {
        match &self.node(id).content {
            Content::Element { name, .. } => Some(&name.local),
            Content::Nothing | Content::Text(_) => None,
        }
    }

    pub(super) fn text(&self, id: NodeId) -> Option<&str> {
        match &self.node(id).content {
            Content::Text(text) => Some(text),
            Content::Nothing | Content::Element { .. } => None,
        }
    }

    /// One of the attributes that are [`KEPT`].
    pub(super) fn attribute(&self, id: NodeId, wanted: &str) -> Option<&str> {
        match &self.node(id).content {
            Content::Element { attributes, .. } => {
                attributes.iter().find(|(name, _)| &**name == wanted).map(|(_, value)| &**value)
            }
            Content::Nothing | Content::Text(_) => None,
        }
    }

    pub(super) fn has_class(&self, id: NodeId, matches: impl Fn(&str) -> bool) -> bool {
        self.attribute(id, "class").is_some_and(|classes| classes.split_ascii_whitespace().any(matches))
    }

    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let some = |id: NodeId| Some(id).filter(|&id| id != NONE);
        std::iter::successors(some(self.node(id).first), move |&id| some(self.node(id).after))
    }

    /// The value of a property in an element's own style, in lower case.
    pub(super) fn style(&self, id: NodeId, property: &str) -> Option<String> {
        let declarations = self.attribute(id, "style")?.split(';').filter_map(|one| one.split_once(':'));
        let mut of_property = declarations.filter(|(name, _)| name.trim().eq_ignore_ascii_case(property));
        of_property.next_back().map(|(_, value)| value.replace("!important", "").trim().to_lowercase())
    }

    /// The elements that `id` is in, nearest first.
    pub(super) fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(Some(id), |&id| Some(self.node(id).parent).filter(|&up| up != NONE)).skip(1)
    }

    /// Goes through everything in `from`, itself included. If `visit` returns `false` for an `Enter`, that node is
    /// skipped, without a `Leave`; results for a `Leave` are ignored.
    pub(super) fn walk(&self, from: NodeId, mut visit: impl FnMut(TreeStep) -> bool) {
        let mut at = from;
        loop {
            let entered = visit(TreeStep::Enter(at));
            let first = self.node(at).first;
            if entered && first != NONE {
                at = first;
                continue;
            }
            if entered {
                visit(TreeStep::Leave(at));
            }
            while at != from && self.node(at).after == NONE {
                at = self.node(at).parent;
                visit(TreeStep::Leave(at));
            }
            if at == from {
                return;
            }
            at = self.node(at).after;
        }
    }

    fn node(&self, id: NodeId) -> &TreeNode {
        &self.nodes[id as usize]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut TreeNode {
        &mut self.nodes[id as usize]
    }

    fn add(&mut self, content: Content) -> NodeId {
        let id = NodeId::try_from(self.nodes.len()).unwrap_or(NONE);
        self.nodes.push(TreeNode::new(content));
        id
    }

    /// Inserts `child`, which has no parent, as the last one in `parent`, or before `next`.
    fn insert(&mut self, parent: NodeId, next: NodeId, child: NodeId) {
        let before = if next == NONE { self.node(parent).last } else { self.node(next).before };
        let depth = self.node(parent).depth + 1;
        self.too_deep |= depth > MAX_DEPTH;
        let node = self.node_mut(child);
        (node.parent, node.before, node.after, node.depth) = (parent, before, next, depth);
        if before == NONE {
            self.node_mut(parent).first = child;
        } else {
            self.node_mut(before).after = child;
        }
        if next == NONE {
            self.node_mut(parent).last = child;
        } else {
            self.node_mut(next).before = child;
        }
    }

    fn insert_any(&mut self, parent: NodeId, next: NodeId, child: NodeOrText<NodeId>) {
        match child {
            NodeOrText::AppendNode(child) => {
                self.remove(child);
                self.insert(parent, next, child);
            }
            NodeOrText::AppendText(more) => {
                let before = if next == NONE { self.node(parent).last } else { self.node(next).before };
                if before != NONE
                    && let Content::Text(text) = &mut self.node_mut(before).content
                {
                    text.push_str(&more);
                } else {
                    let child = self.add(Content::Text((*more).to_owned()));
                    self.insert(parent, next, child);
                }
            }
        }
    }

    fn remove(&mut self, id: NodeId) {
        let TreeNode { parent, before, after, .. } = *self.node(id);
        if parent == NONE {
            return;
        }
        if before == NONE {
            self.node_mut(parent).first = after;
        } else {
            self.node_mut(before).after = after;
        }
        if after == NONE {
            self.node_mut(parent).last = before;
        } else {
            self.node_mut(after).before = before;
        }
        let node = self.node_mut(id);
        (node.parent, node.before, node.after) = (NONE, NONE, NONE);
    }
}

impl TreeNode {
    const fn new(content: Content) -> Self {
        Self { content, parent: NONE, first: NONE, last: NONE, before: NONE, after: NONE, depth: 0 }
    }
}

/// A cheap look for a tag with absurdly many attributes: blanks outside quotes, from a `<` and a letter to the `>`.
fn has_attribute_flood(html: &str) -> bool {
    let bytes = html.as_bytes();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'<', &bytes[at..]) {
        at += open + 1;
        if !bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let (mut blanks, mut after_equals) = (0, false);
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'>' => break,
                b'"' | b'\'' if after_equals => {
                    at += memchr::memchr(byte, &bytes[at..]).map_or(bytes.len() - at, |end| end + 1);
                    (blanks, after_equals) = (blanks + 1, false);
                }
                b'=' => after_equals = true,
                _ if byte.is_ascii_whitespace() || byte == b'/' => blanks += 1,
                _ => after_equals = false,
            }
            if blanks > MAX_ATTRIBUTES {
                return true;
            }
        }
    }
    false
}

/// The interface through which the parser builds the tree.
struct Sink(RefCell<Tree>);

impl Sink {
    fn tree(&self) -> RefMut<'_, Tree> {
        self.0.borrow_mut()
    }
}

/// An element's name for the parser: a copy (mostly a number), since the tree may grow meanwhile.
#[derive(Debug)]
struct Name(Namespace, LocalName);

impl ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.0
    }

    fn local_name(&self) -> &LocalName {
        &self.1
    }
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Self;
    type ElemName<'a> = Name;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Name {
        match &self.0.borrow().node(*target).content {
            Content::Element { name, .. } => Name(name.ns.clone(), name.local.clone()),
            Content::Nothing | Content::Text(_) => Name(Namespace::default(), LocalName::default()),
        }
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> NodeId {
        // Pictures embedded in their addresses are not kept.
        let is_kept = |name: &str, bytes| KEPT.contains(&name) && (name != "src" || bytes <= MOST_SOURCE);
        let kept = attributes.into_iter().filter(|of| is_kept(&of.name.local, of.value.len()));
        let attributes = kept.map(|attribute| (attribute.name.local, attribute.value)).collect();
        self.tree().add(Content::Element { name, attributes })
    }

    fn create_comment(&self, _: StrTendril) -> NodeId {
        self.tree().add(Content::Nothing)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> NodeId {
        self.tree().add(Content::Nothing)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.tree().insert_any(*parent, NONE, child);
    }

    fn append_based_on_parent_node(&self, element: &NodeId, prev_element: &NodeId, child: NodeOrText<NodeId>) {
        if self.tree().node(*element).parent == NONE {
            self.append(prev_element, child);
        } else {
            self.append_before_sibling(element, child);
        }
    }

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        let mut tree = self.tree();
        let parent = tree.node(*sibling).parent;
        if parent != NONE {
            tree.insert_any(parent, *sibling, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// The content of a template hangs below it like any other, so that it counts in the depth; it is pruned with it.
    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        *target
    }

    fn same_node(&self, one: &NodeId, other: &NodeId) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    /// Only called for `html` and `body`, whose attributes aren't used.
    fn add_attrs_if_missing(&self, _: &NodeId, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, target: &NodeId) {
        self.tree().remove(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        let mut tree = self.tree();
        loop {
            let child = tree.node(*node).first;
            if child == NONE {
                break;
            }
            tree.remove(child);
            tree.insert(*new_parent, NONE, child);
        }
    }
}
