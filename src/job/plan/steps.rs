//! Reads a phase's section: which of its lists are the steps, and the prose above them. That is a guess where no boxes
//! are drawn: lists of deliverables, risks and the like are left as they are.

use super::Step;
use super::heading::{self, Rank};
use super::lines::{Document, dedent};
use super::marks;
use super::scan::{Block, Item, Kind, Scan};

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
    [(STEPS, Label::Steps), (OBJECTIVE, Label::Objective), (OTHER, Label::Other)]
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
pub(super) fn drawn(item: &Item) -> bool {
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
            // An item that couldn't be brought into the one form has no box to tick.
            if !document.lines[item.first].text.starts_with("- [") {
                continue;
            }
            let text = item.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let mut details: Vec<String> =
                document.lines[item.first..=item.last].iter().map(|line| dedent(&line.text, 2)).collect();
            // The first paragraph is the step itself, on as many lines as its text has.
            let own = item.text.trim().lines().count().min(details.len());
            let details = details.split_off(own).join("\n");
            steps.push((item.first, Step { text, done, details: details.trim_matches('\n').trim_end().to_owned() }));
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
