//! The files that `overnight init` writes: instructions, the schema of their records, and settings. The texts for the
//! model are in the templates beside this file.

use super::{
    field::{FieldKind, TaskField},
    questions::Answers,
};
use crate::{cli::CliError, config::FILE, runner::RunError};
use askama::Template;
use overnight_core::job::instructions::{UnreadFile, parse};
use overnight_rules::rule::Rule;
use serde_json::{Map, Value, json};

/// The files of the task that lie among the documents, but are no documents.
const IGNORED: &str = "/instructions/\n/overnight.yaml\n";

/// The files of a new task: each with its path in the folder, and its text.
#[derive(Debug)]
pub(super) struct TaskFiles {
    pub(super) instructions: (String, String),
    schema: (String, String),
    settings: (String, String),
    ignored: Option<(String, String)>,
}

/// Instructions that ask for records.
#[derive(Template)]
#[template(path = "cli/init/records.md")]
struct RecordTask<'t> {
    name: &'t str,
    /// Quoted as a YAML string.
    description: &'t str,
    task: &'t str,
    fields: &'t [TaskField],
    quotes_each_field: bool,
    is_one_for_each: bool,
    /// Two dates that may have an order: a possible rule.
    dates: Option<(&'t str, &'t str)>,
    /// Three numbers, one of which may be the sum of the others: a possible rule.
    sum: Option<(&'t str, &'t str, &'t str)>,
}

impl<'t> RecordTask<'t> {
    fn of(answers: &'t Answers, description: &'t str) -> Self {
        let Answers { task, fields, name, quotes_each_field, is_one_for_each, .. } = answers;
        // Some names are reserved words of CEL.
        let of_kind = |is_it: &dyn Fn(&FieldKind) -> bool| -> Vec<&'t str> {
            let named = fields.iter().filter(|field| is_it(&field.kind)).map(|field| field.name.as_str());
            named.filter(|name| Rule::parse(&format!("{name} == null")).is_ok()).collect()
        };
        let dates = match of_kind(&|kind| *kind == FieldKind::Date)[..] {
            [first, second, ..] => Some((first, second)),
            _ => None,
        };
        let sum = match of_kind(&FieldKind::is_amount)[..] {
            [one, other, total, ..] => Some((one, other, total)),
            _ => None,
        };
        Self {
            name,
            description,
            task,
            fields,
            quotes_each_field: *quotes_each_field,
            is_one_for_each: *is_one_for_each,
            dates,
            sum,
        }
    }
}

/// Instructions that ask for a report.
#[derive(Template)]
#[template(path = "cli/init/report.md")]
struct ReportTask<'t> {
    name: &'t str,
    description: &'t str,
    task: &'t str,
}

/// The settings of the folder.
#[derive(Template)]
#[template(path = "cli/init/overnight.yml")]
struct TaskSettings<'t> {
    model: &'t str,
}

impl TaskFiles {
    /// `is_inside`: the documents are in the same folder, or above it.
    pub(super) fn of(answers: &Answers, is_inside: bool) -> Result<Self, CliError> {
        let Answers { task, fields, model, name, .. } = answers;
        // JSON is YAML.
        let description = &json!(task).to_string();
        let text = if fields.is_empty() {
            ReportTask { name, description, task }.render()
        } else {
            RecordTask::of(answers, description).render()
        };
        let settings = TaskSettings { model: &json!(model).to_string() }.render();
        let failed = |error: askama::Error| CliError::failed(format!("the files can't be made ({error})"));
        let schema = if fields.is_empty() { points_schema() } else { records_schema(answers) };
        Ok(Self {
            instructions: (format!("instructions/{name}.md"), text.map_err(failed)? + "\n"),
            schema: (format!("instructions/schemas/{name}.schema.json"), format!("{schema:#}\n")),
            settings: (FILE.to_owned(), settings.map_err(failed)? + "\n"),
            ignored: is_inside.then(|| (".overnightignore".to_owned(), IGNORED.to_owned())),
        })
    }

    /// The task's own files.
    pub(super) fn of_task(&self) -> impl Iterator<Item = (&str, &str)> {
        [&self.instructions, &self.schema].into_iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The folder's files, which other tasks in the folder share.
    pub(super) fn of_folder(&self) -> impl Iterator<Item = (&str, &str)> {
        [&self.settings].into_iter().chain(&self.ignored).map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Checks that the program itself accepts the files.
    pub(super) fn checked(&self) -> Result<(), CliError> {
        let (path, text) = &self.instructions;
        let beside = |_: &str| Ok::<_, UnreadFile>(self.schema.1.clone());
        parse(path, text, &beside).map_err(RunError::from)?;
        Ok(())
    }
}

fn records_schema(answers: &Answers) -> Value {
    let Answers { fields, quotes_each_field, is_one_for_each, .. } = answers;
    let mut properties = Map::new();
    for field in fields {
        properties.insert(field.name.clone(), field.schema());
        if *quotes_each_field {
            properties.insert(field.quote(), json!({"type": ["string", "null"], "minLength": 1}));
        }
    }
    properties.insert("quote".to_owned(), json!({"type": "string", "minLength": 1}));
    properties.insert("document".to_owned(), json!({"type": "string", "minLength": 1}));
    properties.insert("page".to_owned(), json!({"type": ["integer", "null"], "minimum": 1}));
    list_schema("records", &properties, u64::from(*is_one_for_each))
}

/// The same schema as that of `summarize-documents`, so that the offline rules can fill it too.
fn points_schema() -> Value {
    let place = json!({"type": ["integer", "null"], "minimum": 1});
    let text = json!({"type": "string", "minLength": 1});
    let properties = [("document", &text), ("page", &place), ("line", &place), ("quote", &text)];
    let properties = properties.map(|(name, schema)| (name.to_owned(), schema.clone()));
    list_schema("points", &properties.into_iter().collect(), 1)
}

fn list_schema(name: &str, properties: &Map<String, Value>, least: u64) -> Value {
    let required: Vec<&String> = properties.keys().collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": false,
        "required": [name],
        "properties": {
            name: {
                "type": "array",
                "minItems": least,
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": required,
                    "properties": properties,
                },
            },
        },
    })
}
