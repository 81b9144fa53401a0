//! The fields of a record, one line of its table each: those of objects and lists in it have names with dots and
//! numbers. Each field has its quote and its doubts.

use super::{FieldInput, ReviewedQuote};
use overnight_core::job::{contract::records::VALUE, instructions::Quotes, json_path::within};
use serde_json::Value;

/// Objects of a list, at most, that are split into fields; a longer list is shown as JSON.
const MOST_LINES: usize = 100;
/// Letters of a field that identifies a record, and number of such fields of one record, at most.
const TELLING: usize = 40;
const MOST_TELLING: usize = 3;

/// One field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewedField {
    /// `party.name`, `lines[2].amount`.
    pub name: String,
    /// Its place in the deliverable: `$.requirements[3].party.name`.
    pub place: String,
    /// The value as the model wrote it: a text unchanged, any other value as JSON.
    pub value: String,
    pub is_text: bool,
    /// The model states that there is no value.
    pub is_null: bool,
    /// It is a quote, or names the place of a quote.
    pub is_of_quote: bool,
    /// The value that a person put there instead.
    pub corrected: Option<String>,
    /// Index of its quote among those of its record.
    pub quote: Option<usize>,
    /// The input with which a person corrects it.
    pub input: FieldInput,
}

/// A line of a record's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableLine<'r> {
    /// One field.
    Field(&'r ReviewedField),
    /// A list of objects: its name, their fields, and a line for each object.
    Grid { name: &'r str, columns: Vec<&'r str>, lines: Vec<Vec<Option<&'r ReviewedField>>> },
}

/// A text as it is, everything else as JSON.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// The fields of `record`, which stands at `place` and has `quotes`.
pub(super) fn fields(record: &Value, place: &str, quotes: &[(&Quotes, &ReviewedQuote)]) -> Vec<ReviewedField> {
    let mut fields = Vec::new();
    Collector { quotes, fields: &mut fields }.collect(record, "", place);
    for (at, (rule, quote)) in quotes.iter().enumerate() {
        let carried = rule.carries.iter().flatten().map(|field| quote.name_of(field));
        let of_quote: Vec<String> =
            if let Some(field) = &quote.field { vec![field.clone()] } else { carried.collect() };
        for field in fields.iter_mut().filter(|field| field.quote.is_none() && !field.is_of_quote) {
            if of_quote.iter().any(|name| within(&field.name, name).is_some()) {
                field.quote = Some(at);
            }
        }
    }
    fields
}

struct Collector<'c> {
    quotes: &'c [(&'c Quotes, &'c ReviewedQuote)],
    fields: &'c mut Vec<ReviewedField>,
}

impl Collector<'_> {
    fn collect(&mut self, value: &Value, name: &str, place: &str) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                let is_field = !name.is_empty() && self.quotes.iter().any(|(_, quote)| quote.object == place);
                for (key, value) in map {
                    let place = format!("{place}.{key}");
                    match name {
                        "" => self.collect(value, key, &place),
                        name if is_field && key == VALUE => self.collect(value, name, &place),
                        name => self.collect(value, &format!("{name}.{key}"), &place),
                    }
                }
            }
            Value::Array(items) if is_taken_apart(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.collect(item, &format!("{name}[{at}]"), &format!("{place}[{at}]"));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                let is_of_quote = self.quotes.iter().any(|(rule, quote)| {
                    let keys = [&rule.text, &rule.document].into_iter().chain(&rule.page).chain(&rule.line);
                    let within = place.strip_prefix(&quote.object).and_then(|rest| rest.strip_prefix('.'));
                    within.is_some_and(|within| keys.into_iter().any(|key| key == within))
                });
                self.fields.push(ReviewedField {
                    name: name.to_owned(),
                    place: place.to_owned(),
                    value: shown(value),
                    is_text: value.is_string(),
                    is_null: value.is_null(),
                    is_of_quote,
                    corrected: None,
                    quote: None,
                    input: FieldInput::default(),
                });
            }
        }
    }
}

fn is_taken_apart(items: &[Value]) -> bool {
    (1..=MOST_LINES).contains(&items.len())
        && items.iter().all(|item| item.as_object().is_some_and(|map| !map.is_empty()))
}

/// The first short fields, which identify a record for a person.
pub(super) fn telling(fields: &[ReviewedField]) -> Vec<&str> {
    let is_own = |field: &&ReviewedField| {
        let is_list = field.value == "[]" || in_list(&field.name).is_some();
        !(field.is_of_quote || field.is_null || is_list || field.name == "confidence")
    };
    let own = fields.iter().filter(is_own);
    let values = own.map(|field| field.corrected.as_deref().unwrap_or(&field.value).trim());
    values.filter(|value| (1..=TELLING).contains(&value.chars().count())).take(MOST_TELLING).collect()
}

/// Fields as lines of a table; a list of objects becomes a table of its own.
pub(super) fn table<'r>(fields: impl Iterator<Item = &'r ReviewedField>) -> Vec<TableLine<'r>> {
    let mut table: Vec<TableLine<'r>> = Vec::new();
    for field in fields {
        let Some((list, (line, column))) = in_list(&field.name) else {
            table.push(TableLine::Field(field));
            continue;
        };
        if !matches!(table.last(), Some(TableLine::Grid { name, .. }) if *name == list) {
            table.push(TableLine::Grid { name: list, columns: Vec::new(), lines: Vec::new() });
        }
        let Some(TableLine::Grid { columns, lines, .. }) = table.last_mut() else { continue };
        let place = columns.iter().position(|known| *known == column).unwrap_or_else(|| {
            columns.push(column);
            columns.len() - 1
        });
        lines.resize_with(lines.len().max(line + 1), Vec::new);
        let cells = &mut lines[line];
        cells.resize(cells.len().max(place + 1), None);
        cells[place] = Some(field);
    }
    for line in &mut table {
        if let TableLine::Grid { columns, lines, .. } = line {
            for cells in lines {
                cells.resize(columns.len(), None);
            }
        }
    }
    table
}

/// `lines`, 2 and `amount` of `lines[2].amount`.
pub(super) fn in_list(name: &str) -> Option<(&str, (usize, &str))> {
    let (list, rest) = name.split_once('[')?;
    let (line, column) = rest.split_once(']')?;
    Some((list, (line.parse().ok()?, column.strip_prefix('.')?)))
}
