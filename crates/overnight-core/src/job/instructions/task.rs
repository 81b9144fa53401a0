//! The task and the contract in plain words, for the model. Everything that is checked at the end must have been stated
//! at the beginning, so this text is made from the same data as the checks.

use super::{CheckLevel, Deliverable, Instructions, Quotes, ValueCheck};
use crate::job::{
    digest::sha256,
    schema::{may_be_left_out, takes_null},
};
use std::fmt::Write;

/// Bytes of compact JSON up to which a schema is shown where it applies; a larger one is named by its place.
const SCHEMA_SHOWN: usize = 3 * 1024;

impl Instructions {
    /// The text of the workspace's `instructions.md`: the task, then the deliverables with every check.
    pub fn task_text(&self) -> String {
        let mut text = self.body.trim_end().to_owned();
        text.push_str("\n\n## Deliverables\n\n");
        text.push_str("The job is accepted only when every check below holds; they are made by a program.\n");
        for deliverable in &self.deliverables {
            let _ = write!(text, "\n### `{}`\n\n- Must exist and must not be empty.\n", deliverable.path);
            deliverable.describe(&mut text);
        }
        text.push_str("\n### The job as a whole\n\n");
        if self.coverage > 0.0 {
            let _ = writeln!(
                text,
                "- Coverage: at least {} of each document's readable text must have been shown to you by `read_document`.",
                percent(self.coverage)
            );
        }
        let _ = writeln!(
            text,
            "- Confidence: call `job_complete` with an honest confidence from 0 to 1; below {} the job counts as partial.",
            self.confidence_floor
        );
        text
    }

    /// The files that a job needs of its instructions, as (path relative to the workspace, content): schemas, agent
    /// prompts and the rubric, all under `assets/`.
    pub fn assets(&self) -> Vec<(String, String)> {
        let schemas = self.deliverables.iter().filter_map(|deliverable| {
            Some((deliverable.schema_asset()?, format!("{:#}\n", deliverable.schema.as_ref()?)))
        });
        let prompts =
            self.agents.iter().map(|(name, agent)| (format!("assets/agents/{name}.md"), agent.prompt.clone()));
        let rubric = self.verify.iter().map(|verify| ("assets/rubric.md".to_owned(), verify.rubric.clone()));
        schemas.chain(prompts).chain(rubric).collect()
    }

    /// The hash that identifies instructions: that of their file, whose text is `text`; if files beside it belong to
    /// them (schemas, agents' prompts, the rubric), that of the list of all, one line each as `sha256sum` prints them.
    pub fn hash(&self, text: &str) -> String {
        let mut files = self.assets();
        let whole = sha256(text.as_bytes());
        if files.is_empty() {
            return whole;
        }
        files.sort_unstable();
        let lines = files.iter().fold(format!("{whole}  instructions.md\n"), |mut lines, (path, text)| {
            let _ = writeln!(lines, "{}  {path}", sha256(text.as_bytes()));
            lines
        });
        sha256(lines.as_bytes())
    }
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.fract().abs() < 1e-9 { format!("{percent:.0} %") } else { format!("{percent:.2} %") }
}

impl Deliverable {
    /// The place of the schema in a workspace: `assets/schemas/report.json` for `output/report.json`.
    pub(crate) fn schema_asset(&self) -> Option<String> {
        self.schema.as_ref()?;
        Some(format!("assets/schemas/{}", self.path.strip_prefix("output/").unwrap_or(&self.path)))
    }

    /// Whether the schema lets the value `key` of an object at `each` be null.
    fn takes_null(&self, each: &str, key: &str) -> bool {
        self.schema.as_ref().is_none_or(|schema| takes_null(schema, each, key))
    }

    /// The advice for a missing value: null, no key, or a value all the same.
    fn otherwise(&self, each: &str, key: &str, [null, left_out]: [&'static str; 2]) -> &'static str {
        if self.takes_null(each, key) {
            return null;
        }
        let is_optional = self.schema.as_ref().is_none_or(|schema| may_be_left_out(schema, each, key));
        if is_optional { left_out } else { "" }
    }

    fn describe(&self, text: &mut String) {
        if let (Some(schema), Some(place)) = (&self.schema, self.schema_asset()) {
            let compact = schema.to_string();
            if compact.len() <= SCHEMA_SHOWN {
                let _ =
                    writeln!(text, "- Must be JSON that matches this JSON Schema:\n\n  ```json\n  {compact}\n  ```\n");
            } else {
                let _ = writeln!(text, "- Must be JSON that matches the JSON Schema in `{place}`: read that first.");
            }
        }
        for Quotes { each, text: quote, document, page, line, of_field, carries, context, same_as: _ } in &self.quotes {
            let _ = write!(
                text,
                "- Quotes: for each object at `{each}`, `{quote}` must be copied word for word (white space may differ) from \
                 the document named in `{document}`, as list_documents names it",
            );
            if let Some(field) = of_field {
                let _ = write!(text, ", and is for the value of `{field}`");
            }
            if let Some(page) = page {
                let _ =
                    write!(text, ", and must stand on the page in `{page}`, the N of the `[page N]` marks in its text");
                text.push_str(self.otherwise(
                    each,
                    page,
                    [" (null where the document has no pages)", " (leave the key out where the document has no pages)"],
                ));
            }
            if let Some(line) = line {
                let _ = write!(text, ", and on the line in `{line}`, by the numbers before the lines of its text");
                text.push_str(self.otherwise(
                    each,
                    line,
                    [" (null where the document has pages)", " (leave the key out where the document has pages)"],
                ));
            }
            text.push('.');
            if self.takes_null(each, quote) {
                let _ = write!(text, " Where `{quote}` is null, nothing is checked.");
            }
            if let Some(carries) = carries.as_ref().filter(|carries| !carries.is_empty()) {
                let fields: Vec<String> = carries.iter().map(|field| format!("`{field}`")).collect();
                let _ = write!(text, " The value of {} must stand in that quote", fields.join(", "));
                if *context > 0 {
                    let _ = write!(text, " or at most {context} lines before or behind it");
                }
                text.push_str(", in any usual notation.");
            }
            text.push('\n');
        }
        for ValueCheck { rule, each, message, level } in &self.checks {
            let which = each.as_ref().map_or_else(|| "the file".to_owned(), |each| format!("each object at `{each}`"));
            let must = match level {
                CheckLevel::Fail => "must hold",
                CheckLevel::Doubt => "should hold, or a person will look at it",
            };
            let rule = rule.split_whitespace().collect::<Vec<_>>().join(" ");
            let _ = write!(text, "- Rule for {which}: `{rule}` {must}");
            let _ = match message {
                Some(message) => writeln!(text, " ({}).", message.trim_end_matches('.')),
                None => writeln!(text, "."),
            };
        }
        if let Some(words) = self.min_words {
            let _ = writeln!(text, "- Must have at least {words} words.");
        }
        if !self.forbid.is_empty() {
            let listed: Vec<String> = self.forbid.iter().map(|text| format!("\"{text}\"")).collect();
            let _ = writeln!(text, "- Must not contain {} (upper or lower case).", listed.join(", "));
        }
    }
}
