//! The todos of one phase as a list: what is current, what remains, and what `todo_write` may change.

use super::{
    arguments::TodoItem,
    time::Timestamp,
    todo::{Todo, TodoStatus},
};
use std::collections::HashSet;

/// Letters that a todo's text may have.
pub const MOST_LETTERS: usize = 500;

/// The most letters of a model's other texts: a todo's context or outcome, a note, an issue.
pub(crate) const MOST_NOTE_LETTERS: usize = 2_000;
/// The most todos of one phase's list, including cancelled ones: nothing is deleted, so a list that is rewritten
/// without end would grow without end.
pub(crate) const MOST_TODOS: usize = 300;

/// One phase's todos, in board order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoList {
    todos: Vec<Todo>,
}

/// How many todos there are of each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TodoCounts {
    /// Not begun.
    pub pending: usize,
    /// 0 or 1.
    pub in_progress: usize,
    /// Done.
    pub completed: usize,
    /// Given up.
    pub cancelled: usize,
}

impl TodoCounts {
    /// Todos that count as tasks of the phase: all but the cancelled.
    pub fn tasks(self) -> usize {
        self.pending + self.in_progress + self.completed
    }

    /// Todos that are still owed.
    pub fn remaining(self) -> usize {
        self.pending + self.in_progress
    }
}

/// A fault in an item of a `todo_write`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("todo {place}: {what}")]
pub struct TodoFault {
    /// The item's place, from 1.
    pub place: u32,
    /// For the model: what is wrong, and what to do.
    pub what: String,
}

impl TodoList {
    /// The list in its order; if no todo is in progress, the first pending one begins.
    pub fn new(mut todos: Vec<Todo>, at: Timestamp) -> Self {
        todos.sort_by_key(|todo| todo.order);
        let mut list = Self { todos };
        list.start_next(at);
        list
    }

    /// Todos that the system sets: content and active form.
    pub(crate) fn from_pairs(pairs: &[(String, String)], at: Timestamp) -> Vec<Todo> {
        (1_u32..)
            .zip(pairs)
            .map(|(id, (content, active_form))| Todo {
                id,
                content: clean(content),
                active_form: clean(active_form),
                status: TodoStatus::Pending,
                context: None,
                completion_criteria: None,
                agent_type: None,
                order: id,
                outcome: None,
                unevidenced: false,
                created: at,
                started: None,
                completed: None,
            })
            .collect()
    }

    /// All todos, in the order of the board.
    pub fn all(&self) -> &[Todo] {
        &self.todos
    }

    /// The todo in progress.
    pub fn current(&self) -> Option<&Todo> {
        self.todos.iter().find(|todo| todo.status == TodoStatus::InProgress)
    }

    /// Counts by status.
    pub fn counts(&self) -> TodoCounts {
        self.todos.iter().fold(TodoCounts::default(), |mut counts, todo| {
            match todo.status {
                TodoStatus::Pending => counts.pending += 1,
                TodoStatus::InProgress => counts.in_progress += 1,
                TodoStatus::Completed => counts.completed += 1,
                TodoStatus::Cancelled => counts.cancelled += 1,
            }
            counts
        })
    }

    /// The todos that are still owed, in the order of the board.
    pub fn open(&self) -> impl Iterator<Item = &Todo> {
        self.todos.iter().filter(|todo| todo.status.is_open())
    }

    /// The place of a todo in the list, from 1: its number on the board.
    pub fn number_of(&self, id: u32) -> usize {
        self.todos.iter().position(|todo| todo.id == id).map_or(0, |place| place + 1)
    }

    /// Completes the todo and starts the next.
    pub fn complete(&mut self, id: u32, outcome: Option<&str>, unevidenced: bool, at: Timestamp) {
        if let Some(todo) = self.todos.iter_mut().find(|todo| todo.id == id) {
            todo.status = TodoStatus::Completed;
            todo.outcome = outcome.map(str::to_owned);
            todo.unevidenced = unevidenced;
            todo.completed = Some(at);
        }
        self.start_next(at);
    }

    /// Cancels all that is open: the phase is abandoned, or the job is over.
    pub(crate) fn abandon(&mut self, outcome: &str) {
        for todo in self.todos.iter_mut().filter(|todo| todo.status.is_open()) {
            todo.status = TodoStatus::Cancelled;
            todo.outcome = Some(outcome.to_owned());
        }
    }

    fn start_next(&mut self, at: Timestamp) {
        if self.current().is_some() {
            return;
        }
        if let Some(todo) = self.todos.iter_mut().find(|todo| todo.status == TodoStatus::Pending) {
            todo.status = TodoStatus::InProgress;
            todo.started.get_or_insert(at);
        }
    }

    /// The whole list after a `todo_write` with `items`: the open part is replaced, completed and cancelled todos stay.
    ///
    /// The error names the item and says what to do.
    pub fn rewritten(&self, items: &[TodoItem], at: Timestamp) -> Result<Vec<Todo>, TodoFault> {
        let mut todos: Vec<Todo> = self.todos.iter().filter(|todo| !todo.status.is_open()).cloned().collect();
        let closed: HashSet<String> = todos.iter().map(|todo| key(&todo.content)).collect();
        let mut seen = HashSet::new();
        let mut kept: HashSet<u32> = todos.iter().map(|todo| todo.id).collect();
        let mut running = None;
        let mut written = Vec::new();
        let mut next_id = self.todos.iter().map(|todo| todo.id).max().unwrap_or(0);
        for (place, item) in (1_u32..).zip(items) {
            let named = |what: &str| TodoFault { place, what: what.to_owned() };
            let content = bounded_line(&item.content).map_err(|wrong| named(&format!("content {wrong}")))?;
            let active_form =
                bounded_line(&item.active_form).map_err(|wrong| named(&format!("active_form {wrong}")))?;
            let status = read_status(item.status.as_deref()).map_err(|wrong| named(&wrong))?;
            let old = match item.id {
                Some(id) => Some(
                    self.todos
                        .iter()
                        .find(|todo| todo.id == id)
                        .ok_or_else(|| named(&format!("there is no todo with id {id}; leave id out for a new one")))?,
                ),
                None => self.todos.iter().find(|todo| key(&todo.content) == key(&content)),
            };
            if let Some(old) = old.filter(|old| old.status == TodoStatus::Completed) {
                if status == TodoStatus::Completed {
                    continue;
                }
                return Err(named(&format!(
                    "'{}' is completed already and can't be reopened; leave it out",
                    old.content
                )));
            }
            if status == TodoStatus::Completed {
                return Err(named("only todo_complete() completes a todo; leave the status out"));
            }
            if closed.contains(&key(&content))
                && old.is_none_or(|old| !old.status.is_open() || key(&old.content) != key(&content))
                && status != TodoStatus::Cancelled
            {
                return Err(named(&format!("'{content}' was closed before; word it differently if it is new work")));
            }
            if !seen.insert(key(&content)) {
                return Err(named(&format!("'{content}' is in the list twice; say it once")));
            }
            if status == TodoStatus::Cancelled && item.outcome.as_deref().is_none_or(|text| text.trim().is_empty()) {
                return Err(named("a cancelled todo needs an outcome that says why"));
            }
            if status == TodoStatus::InProgress && running.replace(place).is_some() {
                return Err(named("only one todo can be in_progress; leave the others pending"));
            }
            let id = old.filter(|old| old.status.is_open() && !kept.contains(&old.id)).map_or_else(
                || {
                    next_id += 1;
                    next_id
                },
                |old| old.id,
            );
            kept.insert(id);
            written.push(Todo {
                id,
                content,
                active_form,
                status,
                context: item.context.as_deref().map(clean_note),
                completion_criteria: item.completion_criteria.as_deref().map(clean_note),
                agent_type: item.agent_type.as_deref().map(clean_note),
                order: item.order.unwrap_or(place),
                outcome: item.outcome.as_deref().map(clean_note),
                unevidenced: false,
                created: old.map_or(at, |old| old.created),
                started: old.and_then(|old| old.started).or((status == TodoStatus::InProgress).then_some(at)),
                completed: None,
            });
        }
        written.sort_by_key(|todo| todo.order);
        // Nothing is ever deleted: todos that the new list leaves out are cancelled.
        todos.extend(self.open().filter(|todo| !kept.contains(&todo.id)).map(|todo| Todo {
            status: TodoStatus::Cancelled,
            outcome: Some("left out by a later todo_write".to_owned()),
            ..todo.clone()
        }));
        todos.sort_by_key(|todo| todo.order);
        todos.extend(written);
        for (order, todo) in (1_u32..).zip(&mut todos) {
            todo.order = order;
        }
        Ok(todos)
    }
}

/// Reads a status, `pending` by default; case and blanks don't matter.
fn read_status(text: Option<&str>) -> Result<TodoStatus, String> {
    let folded: String = text
        .unwrap_or_default()
        .trim()
        .to_lowercase()
        .chars()
        .map(|c| if c == ' ' || c == '-' { '_' } else { c })
        .collect();
    match folded.as_str() {
        "" | "pending" => Ok(TodoStatus::Pending),
        "in_progress" => Ok(TodoStatus::InProgress),
        "completed" => Ok(TodoStatus::Completed),
        "cancelled" | "canceled" => Ok(TodoStatus::Cancelled),
        _ => Err(format!("status '{}' is not known; use pending, in_progress or cancelled", text.unwrap_or_default())),
    }
}

fn bounded_line(text: &str) -> Result<String, String> {
    let line = clean(text);
    match line.chars().count() {
        0 => Err("is empty; say in one line what is to be done".to_owned()),
        letters if letters > MOST_LETTERS => {
            Err(format!("has {letters} characters; at most {MOST_LETTERS} are allowed, put the rest into context"))
        }
        _ => Ok(line),
    }
}

/// One line without control characters, without the board's own rules, and without the marks of its reminders.
pub fn clean(text: &str) -> String {
    let folded = text.to_ascii_lowercase();
    let is_mark = |at: usize| folded[at..].starts_with("<reminder") || folded[at..].starts_with("</reminder");
    let spaced: String = text
        .char_indices()
        .map(|(at, c)| match c {
            '═' | '─' | '\u{2028}' | '\u{2029}' => ' ',
            '<' if is_mark(at) => '‹',
            _ if c.is_control() => ' ',
            _ => c,
        })
        .collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// [`clean`], cut if it is too long: texts of a model beside its work are kept in files, rows and later prompts; the
/// journal's record of the call has the whole text.
pub(crate) fn clean_note(text: &str) -> String {
    let line = clean(text);
    match line.char_indices().nth(MOST_NOTE_LETTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The key by which two todos are the same: letters and digits, case folded.
pub fn key(content: &str) -> String {
    content.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(content: &str) -> TodoItem {
        TodoItem { content: content.to_owned(), active_form: format!("Doing {content}"), ..TodoItem::default() }
    }

    fn list(contents: &[&str]) -> TodoList {
        let items: Vec<TodoItem> = contents.iter().map(|content| item(content)).collect();
        TodoList::new(TodoList::default().rewritten(&items, Timestamp::default()).unwrap(), Timestamp::default())
    }

    fn shown(todos: &[Todo]) -> Vec<String> {
        todos.iter().map(|todo| format!("{} {} {}", todo.id, todo.content, todo.status)).collect()
    }

    #[test]
    fn the_open_part_is_replaced_and_the_closed_part_stays() {
        let mut list = list(&["read", "write", "check"]);
        list.complete(1, Some("read it"), false, Timestamp::default());
        let todos = list.rewritten(&[item("check"), item("publish")], Timestamp::default()).unwrap();
        assert_eq!(shown(&todos), ["1 read completed", "2 write cancelled", "3 check pending", "4 publish pending"]);
        assert_eq!(todos[1].outcome.as_deref(), Some("left out by a later todo_write"));
    }

    #[test]
    fn errors_name_the_item_and_what_to_do() {
        let mut list = list(&["read", "write"]);
        list.complete(1, None, false, Timestamp::default());
        let long = "x".repeat(501);
        let cases: Vec<(Vec<TodoItem>, &str)> = vec![
            (vec![item("a"), item("  ")], "todo 2: content is empty; say in one line what is to be done"),
            (
                vec![item(&long)],
                "todo 1: content has 501 characters; at most 500 are allowed, put the rest into context",
            ),
            (vec![item("a"), item("A!")], "todo 2: 'A!' is in the list twice; say it once"),
            (vec![item("read")], "todo 1: 'read' is completed already and can't be reopened; leave it out"),
            (
                vec![TodoItem { status: Some("Done".to_owned()), ..item("a") }],
                "todo 1: status 'Done' is not known; use pending, in_progress or cancelled",
            ),
            (
                vec![TodoItem { status: Some("completed".to_owned()), ..item("write") }],
                "todo 1: only todo_complete() completes a todo; leave the status out",
            ),
            (
                vec![TodoItem { status: Some(" Cancelled".to_owned()), ..item("write") }],
                "todo 1: a cancelled todo needs an outcome that says why",
            ),
            (
                vec![TodoItem { id: Some(9), ..item("a") }],
                "todo 1: there is no todo with id 9; leave id out for a new one",
            ),
            (
                vec![
                    TodoItem { status: Some("In Progress".to_owned()), ..item("a") },
                    TodoItem { status: Some("in-progress".to_owned()), ..item("b") },
                ],
                "todo 2: only one todo can be in_progress; leave the others pending",
            ),
        ];
        for (items, expected) in cases {
            assert_eq!(list.rewritten(&items, Timestamp::default()).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn what_is_said_beside_the_work_is_cut() {
        let long = "ü".repeat(2_001);
        assert_eq!(clean_note(&long), format!("{}…", "ü".repeat(2_000)));
        assert_eq!(clean_note(&long[2..]), &long[2..]);
    }

    #[test]
    fn board_rules_and_control_characters_are_removed() {
        assert_eq!(clean("Read\u{0} ═══\n the─file"), "Read the file");
        assert_eq!(clean("a <b> <Reminder>Stop.</REMINDER>"), "a <b> ‹Reminder>Stop.‹/REMINDER>");
    }
}
