//! Cases from outside, as public benchmarks have them: a folder with `documents/`, `expected/NAME.json`, and a schema for all
//! (`schema.json`) or for each (`schemas/NAME.json`). A case has the document of its name, or all in the folder of its name.

use super::{
    gold_file::GoldDeliverable,
    golden_set::{GoldError, NewCase, read_json},
};
use overnight_evals::{comparison::RecordPlaces, field_rule::FieldRule};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};
use walkdir::WalkDir;

/// Cases, the rules for comparing their fields, and the files and rows that make no case.
#[derive(Debug, Default)]
pub struct GivenCases {
    pub cases: Vec<NewCase>,
    pub fields: BTreeMap<String, FieldRule>,
    /// The file or row, and the reason, a clause.
    pub left_out: Vec<(String, String)>,
}

/// Reads the folder.
pub fn given_cases(folder: &Path) -> Result<GivenCases, GoldError> {
    let mut given = GivenCases::default();
    let rules = folder.join("fields.yaml");
    if rules.exists() {
        let text = fs::read_to_string(&rules).map_err(GoldError::at(&rules))?;
        given.fields = serde_yaml::from_str(&text).map_err(|error| GoldError::unread(&rules, error))?;
    }
    let of_all = json_where_there(&folder.join("schema.json"))?;
    let expected = folder.join("expected");
    let mut files: Vec<PathBuf> = fs::read_dir(&expected)
        .map_err(GoldError::at(&expected))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(GoldError::unread(&expected, "there is no NAME.json in it"));
    }
    for path in files {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()).map(str::to_owned) else { continue };
        let content: Value = read_json(&path)?;
        let documents = documents_of(&folder.join("documents"), &name)?;
        if documents.is_empty() {
            given.left_out.push((format!("expected/{name}.json"), "there is no document of its name".to_owned()));
            continue;
        }
        let schema = json_where_there(&folder.join(format!("schemas/{name}.json")))?;
        given.cases.push(NewCase {
            name,
            documents,
            expected: vec![(GoldDeliverable::default(), content, RecordPlaces::default())],
            schema,
            schemas: vec![of_all.clone()],
            approved: None,
        });
    }
    Ok(given)
}

/// The documents called `name`: the file of that name, with or without its ending, or all files of a folder.
pub(super) fn documents_of(folder: &Path, name: &str) -> Result<Vec<(String, Vec<u8>)>, GoldError> {
    // Files outside of the folder are never read, even if a table or a link in the folder names them.
    let root = folder.canonicalize().map_err(GoldError::at(folder))?;
    let is_inside = |path: &Path| path.canonicalize().is_ok_and(|path| path.starts_with(&root) && path != root);
    let within = folder.join(name);
    if within.exists() && !is_inside(&within) {
        return Ok(Vec::new());
    }
    let files: Vec<PathBuf> = if within.is_dir() {
        let files = WalkDir::new(&within).sort_by_file_name().into_iter().filter_map(Result::ok);
        files.filter(|entry| entry.file_type().is_file()).map(|entry| entry.path().to_owned()).collect()
    } else if within.is_file() {
        vec![within.clone()]
    } else {
        let entries = fs::read_dir(folder).map_err(GoldError::at(folder))?.filter_map(Result::ok);
        let mut found: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| path.is_file() && path.file_stem().is_some_and(|stem| stem == name))
            .collect();
        found.sort();
        found.truncate(1);
        found
    };
    let base = if within.is_dir() { &within } else { folder };
    let read = |path: PathBuf| {
        let name = path.strip_prefix(base).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        Ok((name, fs::read(&path).map_err(GoldError::at(&path))?))
    };
    files.into_iter().filter(|path| is_inside(path)).map(read).collect()
}

fn json_where_there(path: &Path) -> Result<Option<Value>, GoldError> {
    if path.exists() { read_json(path).map(Some) } else { Ok(None) }
}
