//! Finds a phase's steps and brings them into their one form, `- [ ] step` at the margin. Which of a phase's lists are
//! steps is a guess where no boxes are drawn: lists of deliverables, risks and the like are left as they are.

use super::Step;
use super::heading::{self, Rank};
use super::lines::{Document, Line, dedent, list_marker};
use super::marks::{self, Mark};
use super::scan::{Block, Item, Kind, Scan, scan};

/// What a label such as "Steps:" or "**Deliverables**" announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    Steps,
    Objective,
    Other,
}

impl Label {
    pub(super) fn is_steps(self) -> bool {
        self == Self::Steps
    }
}

const STEPS: &[&str] = &[
    "steps",
    "step",
    "tasks",
    "todos",
    "to-dos",
    "to do",
    "actions",
    "action items",
    "activities",
    "checklist",
    "task list",
    "work items",
    "key tasks",
    "key steps",
    "key activities",
    "schritte",
    "aufgaben",
    "arbeitsschritte",
    "maßnahmen",
    "ステップ",
    "タスク",
    "手順",
    "作業",
    "步骤",
    "任务",
    "pasos",
    "tareas",
    "étapes",
    "tâches",
    "todo list",
    "todo",
];
const OBJECTIVE: &[&str] = &[
    "objective",
    "objectives",
    "goal",
    "goals",
    "purpose",
    "aim",
    "description",
    "ziel",
    "ziele",
    "zweck",
    "beschreibung",
    "目的",
    "目標",
    "目标",
    "objectif",
    "objetivo",
];
const OTHER: &[&str] = &[
    "deliverable",
    "deliverables",
    "output",
    "outputs",
    "result",
    "results",
    "expected output",
    "expected outputs",
    "expected outcome",
    "expected outcomes",
    "expected results",
    "outcome",
    "outcomes",
    "success criteria",
    "completion criteria",
    "acceptance criteria",
    "exit criteria",
    "done when",
    "definition of done",
    "input",
    "inputs",
    "dependency",
    "dependencies",
    "prerequisites",
    "risk",
    "risks",
    "note",
    "notes",
    "tools",
    "estimate",
    "estimated time",
    "estimated effort",
    "estimated turns",
    "duration",
    "time",
    "rationale",
    "status",
    "priority",
    "ergebnis",
    "ergebnisse",
    "erfolgskriterien",
    "abnahmekriterien",
    "abhängigkeiten",
    "risiken",
    "hinweis",
    "hinweise",
    "eingaben",
    "ausgaben",
    "dauer",
    "成果物",
    "完了条件",
    "入力",
    "出力",
    "備考",
    "リスク",
    "交付物",
    "产出",
    "完成标准",
    "注意",
    "风险",
    "entregables",
    "livrables",
];

/// Reads a line as a label: the text before its colon, or all of it.
pub(super) fn label(text: &str) -> Option<Label> {
    let head = text.split([':', '：']).next().unwrap_or_default();
    if head.len() > 80 {
        return None;
    }
    let head = head.split(['(', '（']).next().unwrap_or_default().to_lowercase();
    let head = head.trim_matches(|char: char| !char.is_alphanumeric());
    [
        (STEPS, Label::Steps),
        (OBJECTIVE, Label::Objective),
        (OTHER, Label::Other),
    ]
    .into_iter()
    .find_map(|(words, label)| words.contains(&head).then_some(label))
}

/// A label with its text on the same line counts for that line, not for the list below it.
fn label_over(text: &str) -> Option<Label> {
    let line = text.lines().next_back()?.trim();
    let bare = line.split([':', '：']).nth(1).is_none_or(|rest| rest.trim().is_empty());
    label(line).filter(|_| bare)
}

/// The top-level blocks of each phase: from its heading to the next heading of level 1 or 2.
pub(super) fn sections(scan: &Scan) -> Vec<&[Block]> {
    let is_end = |block: &Block| matches!(block.kind, Kind::Heading(..2 | 2, _));
    let mut sections = Vec::new();
    for (at, block) in scan.blocks.iter().enumerate() {
        if let Kind::Heading(2, text) = &block.kind
            && heading::recognise(text).is_some_and(|named| named.rank == Rank::Phase)
        {
            let rest = &scan.blocks[at..];
            let end = rest.iter().skip(1).position(is_end).map_or(rest.len(), |end| end + 1);
            sections.push(&rest[..end]);
        }
    }
    sections
}

/// Whether an item of a list is drawn with a box, a mark or both.
fn drawn(item: &Item) -> bool {
    item.task.is_some() || !item.text.is_empty() && marks::take_leading(&item.text).is_some()
}

/// The lists of a section that hold its steps, as positions in it.
pub(super) fn chosen(section: &[Block]) -> Vec<usize> {
    let (mut over, mut under) = (None, None);
    // Drawn, said to be steps, neither, drawn but said to be something else: the first that occurs is taken.
    let mut kinds: [Vec<usize>; 4] = Default::default();
    for (at, block) in section.iter().enumerate().skip(1) {
        match &block.kind {
            Kind::Heading(_, text) => (over, under) = (label(text), None),
            Kind::Paragraph(text) => under = label_over(text),
            Kind::List(items) => {
                let label = under.or(over);
                let drawn = items.iter().any(drawn);
                let other = matches!(label, Some(Label::Other | Label::Objective));
                let kind = match (drawn, other) {
                    (true, false) => 0,
                    (false, false) => usize::from(label != Some(Label::Steps)) + 1,
                    (true, true) => 3,
                    (false, true) => continue,
                };
                kinds[kind].push(at);
            }
            Kind::Table(_) | Kind::Fence(..) | Kind::Rule | Kind::Html | Kind::Other => under = None,
        }
    }
    kinds.into_iter().find(|lists| !lists.is_empty()).unwrap_or_default()
}

/// The steps of a section in their one form, with the line of each.
pub(super) fn steps(document: &Document, section: &[Block]) -> Vec<(usize, Step)> {
    let mut steps = Vec::new();
    for at in chosen(section) {
        let Kind::List(items) = &section[at].kind else { continue };
        for item in items {
            let Some(done) = item.task.filter(|_| !item.text.trim().is_empty()) else {
                continue;
            };
            let text = item.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let mut details: Vec<String> = document.lines[item.first..=item.last]
                .iter()
                .map(|line| dedent(&line.text, 2))
                .collect();
            // The first paragraph is the step itself, on as many lines as its text has.
            let own = item.text.trim().lines().count().min(details.len());
            let details = details.split_off(own).join("\n");
            steps.push((
                item.first,
                Step {
                    text,
                    done,
                    details: details.trim_matches('\n').trim_end().to_owned(),
                },
            ));
        }
    }
    steps
}

/// The prose between a phase's heading and its first list, table or other heading, on one line.
pub(super) fn objective(section: &[Block]) -> String {
    let mut said: Vec<String> = Vec::new();
    for block in section.iter().skip(1) {
        match &block.kind {
            Kind::Paragraph(text) => {
                for line in text.lines() {
                    match label(line).filter(|_| line.contains([':', '：']) || label_over(line).is_some()) {
                        Some(Label::Steps | Label::Other) => return said.join(" "),
                        Some(Label::Objective) => said.extend(line.split_once([':', '：']).map(|(_, rest)| tidy(rest))),
                        None => said.push(tidy(line)),
                    }
                }
            }
            Kind::Heading(_, text) if label(text) == Some(Label::Objective) => {}
            Kind::Html => {}
            Kind::Heading(..) | Kind::List(_) | Kind::Table(_) | Kind::Fence(..) | Kind::Rule | Kind::Other => break,
        }
    }
    said.retain(|line| !line.is_empty());
    said.join(" ")
}

fn tidy(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What becomes of the lines of a block.
struct Edit {
    first: usize,
    last: usize,
    lines: Vec<Line>,
}

/// Brings the steps of all phases into their one form; one layer of nesting at a time, so call it until nothing changes.
pub(super) fn shape(document: Document) -> Document {
    let scan = scan(&document);
    let mut edits: Vec<Edit> = Vec::new();
    for section in sections(&scan) {
        let mut raised = lift(&document, section);
        if raised.is_empty() {
            raised = draw(&document, section);
        }
        edits.append(&mut raised);
    }
    let mut lines = Vec::with_capacity(document.lines.len());
    let mut edits = edits.into_iter().peekable();
    let mut skip = 0;
    for (at, line) in document.lines.into_iter().enumerate() {
        if let Some(edit) = edits.next_if(|edit| edit.first == at) {
            lines.extend(edit.lines);
            skip = edit.last + 1;
        }
        if at >= skip {
            lines.push(line);
        }
    }
    Document {
        front: document.front,
        lines,
    }
}

/// Lifts items out of lists that only group: "- **Steps:**" with the steps inside, "- Objective: …" among the steps.
fn lift(document: &Document, section: &[Block]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for block in section {
        let Kind::List(items) = &block.kind else { continue };
        if items.iter().any(drawn) {
            continue;
        }
        let groups = items
            .iter()
            .any(|item| item.nested_tasks || item.nested && label(&item.text).is_some_and(Label::is_steps));
        for item in items {
            let has_label = label(&item.text).is_some() && (item.nested || item.text.contains([':', '：']));
            if item.text.trim().is_empty() || !(groups || has_label) {
                continue;
            }
            let Some((_, _, content)) = list_marker(&document.lines[item.first].text) else {
                continue;
            };
            let source = document.lines[item.first].source;
            let mut lines = vec![Line::new("", source)];
            for (at, line) in document.lines[item.first..=item.last].iter().enumerate() {
                let text = if at == 0 {
                    line.text.get(content..).unwrap_or_default().to_owned()
                } else {
                    dedent(&line.text, content)
                };
                // A list right below the words would be read as their continuation if it is numbered from two.
                if at == 1 && list_marker(&text).is_some() {
                    lines.push(Line::new("", line.source));
                }
                lines.push(Line::new(text, line.source));
            }
            lines.push(Line::new("", source));
            edits.push(Edit {
                first: item.first,
                last: item.last,
                lines,
            });
        }
    }
    edits
}

/// Draws boxes: for the items of the chosen lists, else for lines that begin with a mark, for a table's rows, for headings
/// that are numbered as steps.
fn draw(document: &Document, section: &[Block]) -> Vec<Edit> {
    let lists = chosen(section);
    if !lists.is_empty() {
        let items = lists.iter().filter_map(|&at| match &section[at].kind {
            Kind::List(items) => Some(items),
            Kind::Heading(..)
            | Kind::Paragraph(_)
            | Kind::Table(_)
            | Kind::Fence(..)
            | Kind::Rule
            | Kind::Html
            | Kind::Other => None,
        });
        return items.flatten().filter_map(|item| boxed(document, item)).collect();
    }
    let marked: Vec<Edit> = section
        .iter()
        .filter_map(|block| marked_lines(document, block))
        .collect();
    if !marked.is_empty() {
        return marked;
    }
    if let Some(edit) = section
        .iter()
        .find_map(|block| super::table::steps(document, block).map(|lines| (block, lines)))
    {
        let (block, lines) = edit;
        return vec![Edit {
            first: block.first,
            last: block.last,
            lines,
        }];
    }
    section[1..]
        .iter()
        .filter_map(|block| step_heading(document, block))
        .collect()
}

/// One item as `- [ ] step`, what belongs to it indented by two.
fn boxed(document: &Document, item: &Item) -> Option<Edit> {
    let first = &document.lines[item.first];
    let (_, _, content) = list_marker(&first.text)?;
    if item.text.trim().is_empty() {
        return None;
    }
    let (text, done) = read_step(first.text.get(content..)?);
    if text.is_empty() {
        return None;
    }
    let mut lines = vec![Line::new(boxed_line(&text, done), first.source)];
    for line in &document.lines[item.first + 1..=item.last] {
        let text = dedent(&line.text, content);
        lines.push(Line::new(
            if text.trim().is_empty() {
                String::new()
            } else {
                format!("  {text}")
            },
            line.source,
        ));
    }
    Some(Edit {
        first: item.first,
        last: item.last,
        lines,
    })
}

pub(super) fn boxed_line(text: &str, done: bool) -> String {
    format!("- [{}] {text}", if done { 'x' } else { ' ' })
}

/// The text of a step without boxes, emoji and its own numbering, and whether it was marked as done.
pub(super) fn read_step(text: &str) -> (String, bool) {
    let (mut text, mut done) = (text.trim(), false);
    for _ in 0..64 {
        let before = text.len();
        if let Some((mark, rest)) = marks::take_leading(text) {
            done |= mark == Mark::Done;
            text = rest;
        }
        if let Some((_, _, content)) = list_marker(text).filter(|&(indent, _, _)| indent == 0) {
            text = text.get(content..).unwrap_or_default().trim();
        }
        if let Some((_, rest)) = text
            .ends_with(['✅', '✔', '✓', '☑'])
            .then(|| marks::take_trailing(text))
            .flatten()
        {
            done = true;
            text = rest;
        }
        if text.len() == before {
            break;
        }
    }
    (text.to_owned(), done)
}

/// A paragraph of lines that begin with boxes or marks but are no list.
fn marked_lines(document: &Document, block: &Block) -> Option<Edit> {
    let Kind::Paragraph(_) = &block.kind else { return None };
    let lines = &document.lines[block.first..=block.last];
    let begins = |line: &Line| marks::take_leading(&line.text).is_some_and(|(_, rest)| !rest.is_empty());
    let has_box = lines
        .iter()
        .any(|line| begins(line) && line.text.trim_start().starts_with('['));
    if !has_box && !lines.iter().all(begins) {
        return None;
    }
    let lines = lines.iter().map(|line| {
        let (text, done) = read_step(&line.text);
        if begins(line) && !text.is_empty() {
            Line::new(boxed_line(&text, done), line.source)
        } else {
            line.clone()
        }
    });
    Some(Edit {
        first: block.first,
        last: block.last,
        lines: lines.collect(),
    })
}

/// "### Step 2: Read the annex", in a phase without any list.
fn step_heading(document: &Document, block: &Block) -> Option<Edit> {
    let Kind::Heading(3.., text) = &block.kind else {
        return None;
    };
    let named = heading::recognise(text).or_else(|| heading::numbered(text))?;
    if named.title.is_empty() || named.rank == Rank::Phase {
        return None;
    }
    let done = named.state == super::PhaseState::Complete;
    let source = document.lines[block.first].source;
    let lines = vec![Line::new(boxed_line(&named.title, done), source), Line::new("", source)];
    Some(Edit {
        first: block.first,
        last: block.last,
        lines,
    })
}
