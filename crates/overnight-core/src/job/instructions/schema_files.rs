//! Schemas that refer to files beside them: `{ "$ref": "address.json#/$defs/city" }`. The files are copied into the
//! schema, so that a job depends on nothing outside its workspace, and references are changed to lead there.

use super::{ReadBeside, files_beside::beside};
use crate::{
    amount::shown,
    message::{MOST_LEVELS, is_within},
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Files that one schema refers to.
const MOST_FILES: usize = 50;
/// The key of the schema that holds them.
const DEFINITIONS: &str = "$defs";

/// Copies all files into `schema`, which lies in `folder` (`schemas/`, or nothing). The error is a phrase that follows
/// the schema's key.
pub(super) fn bundle(schema: &mut Value, folder: &str, read_beside: ReadBeside<'_>) -> Result<(), String> {
    let mut files = Files { read_beside, taken: BTreeMap::new() };
    files.rewrite(schema, folder, None)?;
    if files.taken.is_empty() {
        return Ok(());
    }
    let Some(fields) = schema.as_object_mut() else { return Ok(()) };
    let definitions = fields.entry(DEFINITIONS).or_insert_with(|| Value::Object(Map::new()));
    let Some(definitions) = definitions.as_object_mut() else { return Ok(()) };
    for (path, content) in files.taken {
        definitions.insert(path, content);
    }
    Ok(())
}

struct Files<'r> {
    read_beside: ReadBeside<'r>,
    /// The copied files by path, as they stand in the schema.
    taken: BTreeMap<String, Value>,
}

impl Files<'_> {
    /// Rewrites the references in `value`, which is of the file `own`, or of the schema itself.
    fn rewrite(&mut self, value: &mut Value, folder: &str, own: Option<&str>) -> Result<(), String> {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(target)) = fields.get_mut("$ref") {
                    *target = self.target(target, folder, own)?;
                }
                fields.values_mut().try_for_each(|value| self.rewrite(value, folder, own))
            }
            Value::Array(items) => items.iter_mut().try_for_each(|value| self.rewrite(value, folder, own)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    /// The target of a reference in the whole schema.
    fn target(&mut self, target: &str, folder: &str, own: Option<&str>) -> Result<String, String> {
        let (file, place) = target.split_once('#').unwrap_or((target, ""));
        if file.is_empty() {
            return Ok(match own {
                Some(path) => format!("{}{place}", definition(path)),
                None => target.to_owned(),
            });
        }
        if file.contains("://") || file.starts_with("urn:") {
            return Err(format!("refers to '{}', and nothing is fetched; put the file beside the schema", shown(file)));
        }
        let path = format!("{folder}{}", file.trim_start_matches("./"));
        beside(&path).map_err(|why| format!("refers to '{}', {why}", shown(file)))?;
        if !self.taken.contains_key(&path) {
            if self.taken.len() == MOST_FILES {
                return Err(format!("refers to more than {MOST_FILES} files"));
            }
            let cannot = |why: String| format!("refers to '{}', which {why}", shown(&path));
            let text = (self.read_beside)(&path)
                .map_err(|why| cannot(format!("can't be read: {}", shown(&why.to_string()))))?;
            let mut content: Value = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(&text))
                .map_err(|error| cannot(format!("is not JSON: {error}")))?;
            if !is_within(&content, MOST_LEVELS) {
                return Err(cannot(format!("is nested more than {MOST_LEVELS} levels deep")));
            }
            // Inserted before its own references are followed, which may lead back here.
            self.taken.insert(path.clone(), Value::Bool(true));
            let inner = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
            if let Some(fields) = content.as_object_mut() {
                // Its own name would make its references lead elsewhere.
                fields.remove("$id");
            }
            self.rewrite(&mut content, &inner, Some(&path))?;
            self.taken.insert(path.clone(), content);
        }
        Ok(format!("{}{place}", definition(&path)))
    }
}

/// `#/$defs/schemas~1address.json`.
fn definition(path: &str) -> String {
    format!("#/{DEFINITIONS}/{}", path.replace('~', "~0").replace('/', "~1"))
}
