//! The rules for values (`checks` of a deliverable), and the words for values (`quotes.same_as`). A rule that can't be
//! read, or names a field that the schema doesn't have, is a fault of the instructions.

use super::{CheckLevel, Quotes, ValueCheck, values::or_default};
use crate::{
    amount::shown,
    job::{json_path::JsonPath, schema::schema_fields},
    yaml::{ValueError, YamlNode, YamlValue, nearest},
};
use overnight_rules::rule::{MOST_CHARACTERS, Rule};
use serde_json::Value;
use std::collections::BTreeMap;

/// Rules of one deliverable.
const MOST_RULES: usize = 200;

/// The value of `checks`.
pub(super) fn checks(at: &YamlValue<'_>, schema: Option<&Value>) -> Result<Vec<ValueCheck>, ValueError> {
    let items = at.list()?;
    if items.len() > MOST_RULES {
        return Err(at.wrong(format!("must have at most {MOST_RULES} rules")));
    }
    items.iter().map(|item| check(item, schema)).collect()
}

fn check(item: &YamlValue<'_>, schema: Option<&Value>) -> Result<ValueCheck, ValueError> {
    let keys = item.table(&["rule", "each", "message", "level"])?;
    let at = keys.required("rule")?;
    let YamlNode::Text(text) = at.node() else {
        return Err(at.wrong("must be a condition, such as net + tax == total"));
    };
    let rule = Rule::parse(text).map_err(|error| {
        let line = if text.trim_end().contains('\n') { format!("line {}, ", error.at.line) } else { String::new() };
        let place = format!("{line}column {}", error.at.column);
        at.wrong(format!("is no rule at {place}: {}", shown(&error.what)))
    })?;
    let each = keys.get("each").map(|at| path(at)).transpose()?;
    let whole = JsonPath::parse("$").ok();
    if let Some(fields) = schema
        .zip(each.as_ref().map(|(_, path)| path).or(whole.as_ref()))
        .and_then(|(schema, path)| schema_fields(schema, path))
        && let Some((name, place)) = rule.fields().find(|(name, _)| !fields.contains(*name))
    {
        let hint = nearest(name, fields.iter().map(String::as_str)).map_or_else(
            || format!("its fields are {}", fields.iter().take(20).cloned().collect::<Vec<_>>().join(", ")),
            |like| format!("did you mean '{like}'?"),
        );
        let what =
            format!("names '{}' at column {}, which the schema does not have; {hint}", shown(name), place.column);
        return Err(at.wrong(what));
    }
    Ok(ValueCheck {
        rule: text.trim().chars().take(MOST_CHARACTERS).collect(),
        each: each.map(|(text, _)| text),
        message: keys.get("message").map(|at| at.line(300)).transpose()?,
        level: or_default(
            keys.get("level").map(|at| at.word(&[("fail", CheckLevel::Fail), ("doubt", CheckLevel::Doubt)])),
        )?,
    })
}

fn path(at: &YamlValue<'_>) -> Result<(String, JsonPath), ValueError> {
    let text = at.line(500)?;
    let path = JsonPath::parse(&text).map_err(|why| at.wrong(format!("is '{}', {why}", shown(&text))))?;
    Ok((text, path))
}

/// The value of `quotes.same_as`: words of documents by the values that stand for them.
pub(super) fn same_as(at: &YamlValue<'_>) -> Result<BTreeMap<String, Vec<String>>, ValueError> {
    let mut words = BTreeMap::new();
    for entry in at.entries()? {
        let list = match entry.node() {
            YamlNode::List(_) => entry.lines(200)?,
            YamlNode::Null
            | YamlNode::Flag(_)
            | YamlNode::Whole(_)
            | YamlNode::Number(_)
            | YamlNode::Text(_)
            | YamlNode::Map(_) => vec![entry.line(200)?],
        };
        words.insert(entry.key().to_owned(), list);
    }
    Ok(words)
}

/// Checks that the fields which a quote carries, or proves, exist in the schema.
pub(super) fn check_carried(at: &YamlValue<'_>, quotes: &Quotes, schema: Option<&Value>) -> Result<(), ValueError> {
    let path = JsonPath::parse(&quotes.each).ok();
    let Some(fields) = schema.zip(path).and_then(|(schema, path)| schema_fields(schema, &path)) else { return Ok(()) };
    let carried = quotes.carries.iter().flatten().map(|field| ("carries", field));
    match carried.chain(quotes.of_field.iter().map(|field| ("is for", field))).find(|(_, of)| !fields.contains(*of)) {
        None => Ok(()),
        Some((verb, unknown)) => {
            let hint = nearest(unknown, fields.iter().map(String::as_str))
                .map_or_else(String::new, |like| format!("; did you mean '{like}'?"));
            Err(at.wrong(format!("{verb} '{}', a field that the schema does not have{hint}", shown(unknown))))
        }
    }
}
