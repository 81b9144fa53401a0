//! The fields of a record in the syntax of `overnight init`: `party, amount:money, due:date?, kind:lease|order,
//! rooms:lines(name, area:number)`.

use overnight_core::amount::shown;
use serde_json::{Map, Value, json};

/// The longest name of a field, in letters.
const MOST_NAME: usize = 60;
/// Fields that every record has anyway.
const OWN_FIELDS: [&str; 3] = ["quote", "document", "page"];
/// The allowed kinds, for the error message on any other.
const KINDS: &str = "text, number, integer, money, date, yes/no, list, a|b|c or lines(a, b)";

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TaskField {
    pub(super) name: String,
    pub(super) kind: FieldKind,
    /// A document may lack it: the field is null then.
    pub(super) is_optional: bool,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    Text,
    Number,
    Integer,
    Money,
    Boolean,
    Date,
    /// One of these words.
    Choice(Vec<String>),
    /// Several texts.
    List,
    /// Several objects with these fields.
    Lines(Vec<TaskField>),
}

/// Reads the fields of a record. The error is a fragment that follows the flag's name.
pub(super) fn fields(text: &str) -> Result<Vec<TaskField>, String> {
    let mut fields: Vec<TaskField> = Vec::new();
    for part in parts(text) {
        let field = TaskField::read(part)?;
        if OWN_FIELDS.contains(&field.name.as_str()) {
            return Err(format!("has '{}', which every record has by itself: leave it out", field.name));
        }
        if fields.iter().any(|known| known.name == field.name) {
            return Err(format!("has '{}' twice", field.name));
        }
        fields.push(field);
    }
    Ok(fields)
}

/// The parts between commas, except commas in brackets.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let all = text.split(|letter: char| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    });
    all.map(str::trim).filter(|part| !part.is_empty()).collect()
}

impl TaskField {
    fn read(part: &str) -> Result<Self, String> {
        let (is_optional, text) = match part.strip_suffix('?') {
            Some(text) => (true, text),
            None => (false, part),
        };
        let (name, kind) = text.split_once(':').unwrap_or((text, "text"));
        let name = name.split_whitespace().collect::<Vec<_>>().join("_");
        let kind =
            FieldKind::read(kind.trim())?.ok_or_else(|| format!("has '{}': a field is a {KINDS}", shown(part)))?;
        let is_name = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
            && name.starts_with(|first: char| !first.is_ascii_digit());
        if !is_name || name.chars().count() > MOST_NAME {
            return Err(format!("has '{}': a field's name has letters, digits and '_'", shown(part)));
        }
        Ok(Self { name, kind, is_optional })
    }

    /// The name of the field with its quote.
    pub(super) fn quote(&self) -> String {
        format!("{}_quote", self.name)
    }

    /// Its description for the model.
    pub(super) fn told(&self) -> String {
        let null = if self.is_optional { "; `null` where the document doesn't say" } else { "" };
        format!("{}{null}", self.kind.told())
    }

    pub(super) fn schema(&self) -> Value {
        let mut schema = self.kind.schema();
        if self.is_optional {
            if let Some(kind) = schema.get_mut("type") {
                *kind = json!([kind.take(), "null"]);
            }
            if let Some(Value::Array(choices)) = schema.get_mut("enum") {
                choices.push(Value::Null);
            }
        }
        schema
    }
}

impl FieldKind {
    /// `None`: there is no such kind.
    fn read(word: &str) -> Result<Option<Self>, String> {
        if let Some(inner) = word.strip_prefix("lines(").and_then(|rest| rest.strip_suffix(')')) {
            let fields = fields(inner)?;
            return Ok((!fields.is_empty()).then_some(Self::Lines(fields)));
        }
        if word.contains('|') {
            let words: Vec<String> = word.split('|').map(|word| word.trim().to_owned()).collect();
            return Ok(words.iter().all(|word| !word.is_empty()).then_some(Self::Choice(words)));
        }
        Ok(match word {
            "text" => Some(Self::Text),
            "number" => Some(Self::Number),
            "integer" => Some(Self::Integer),
            "money" => Some(Self::Money),
            "boolean" | "yes/no" => Some(Self::Boolean),
            "date" => Some(Self::Date),
            "list" => Some(Self::List),
            _ => None,
        })
    }

    /// Its values are copied rather than rephrased.
    pub(super) fn is_literal(&self) -> bool {
        matches!(self, Self::Number | Self::Integer | Self::Money | Self::Date)
    }

    /// Its values, if short, are words of the document.
    pub(super) fn is_copied(&self) -> bool {
        *self == Self::Text
    }

    /// Its values can be summed.
    pub(super) fn is_amount(&self) -> bool {
        matches!(self, Self::Number | Self::Money)
    }

    fn told(&self) -> String {
        match self {
            Self::Text => "in the words of the document".to_owned(),
            Self::Number => "a number, without unit and without marks between thousands".to_owned(),
            Self::Integer => "a whole number".to_owned(),
            Self::Money => "an amount of money as a number, such as `1250.5`, without its currency".to_owned(),
            Self::Boolean => "`true` or `false`".to_owned(),
            Self::Date => "a date, as `YYYY-MM-DD`".to_owned(),
            Self::Choice(words) => format!("one of `{}`", words.join("`, `")),
            Self::List => "a list of texts, each in the words of the document".to_owned(),
            Self::Lines(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|field| format!("`{}` ({})", field.name, field.told())).collect();
                format!("a list with an object for each line: {}", fields.join(", "))
            }
        }
    }

    fn schema(&self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Number | Self::Money => json!({"type": "number"}),
            Self::Integer => json!({"type": "integer"}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Date => json!({"type": "string", "format": "date"}),
            Self::Choice(words) => json!({ "enum": words }),
            Self::List => json!({"type": "array", "items": {"type": "string"}}),
            Self::Lines(fields) => {
                let properties: Map<String, Value> =
                    fields.iter().map(|field| (field.name.clone(), field.schema())).collect();
                let required: Vec<&String> = properties.keys().collect();
                let line = json!({
                    "type": "object", "additionalProperties": false, "required": required, "properties": properties,
                });
                json!({"type": "array", "items": line})
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_names_with_a_kind() {
        let field = |name: &str, kind, is_optional| TaskField { name: name.to_owned(), kind, is_optional };
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let lines = vec![field("item", FieldKind::Text, false), field("amount", FieldKind::Money, true)];
        assert_eq!(
            fields(" party, due date:date?,kind: lease | order, paid:yes/no, rows:lines(item, amount:money?)"),
            Ok(vec![
                field("party", FieldKind::Text, false),
                field("due_date", FieldKind::Date, true),
                field("kind", FieldKind::Choice(words(&["lease", "order"])), false),
                field("paid", FieldKind::Boolean, false),
                field("rows", FieldKind::Lines(lines), false),
            ])
        );
        let schemas: Vec<Value> =
            fields("kind:a|b?, rows:lines(day:date)").unwrap().iter().map(TaskField::schema).collect();
        let line = json!({
            "type": "object", "additionalProperties": false, "required": ["day"], "properties": {"day": {"type": "string", "format": "date"}},
        });
        assert_eq!(schemas, [json!({"enum": ["a", "b", null]}), json!({"type": "array", "items": line})]);
        for (wrong, why) in [
            ("a, a", "has 'a' twice"),
            ("quote", "has 'quote', which every record has by itself: leave it out"),
            (
                "a:colour",
                "has 'a:colour': a field is a text, number, integer, money, date, yes/no, list, a|b|c or lines(a, b)",
            ),
            ("a:x|", "has 'a:x|': a field is a text, number, integer, money, date, yes/no, list, a|b|c or lines(a, b)"),
            ("1st", "has '1st': a field's name has letters, digits and '_'"),
        ] {
            assert_eq!(fields(wrong), Err(why.to_owned()), "{wrong}");
        }
    }
}
