//! A golden set: the folder, and changes to it. Each change writes whole files, `gold.yaml` last.

use super::{
    free_name::free_name,
    gold_file::{CaseOrigin, GoldDeliverable, GoldDocument, GoldExpected, GoldFile, GoldenCase, HoldOut, VERSION},
    hold_out::HoldOutUse,
    judgement::{JudgeVerdict, VERDICTS_FILE},
};
use overnight_core::job::{corrected, digest::sha256, json_path, time::Timestamp};
use overnight_evals::{
    comparison::{RecordPlace, RecordPlaces},
    field_rule::FieldRule,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    io::{Read as _, Seek as _, Write as _},
    path::{Component, Path, PathBuf},
};

/// The file that makes a folder a golden set.
pub const GOLD_FILE: &str = "gold.yaml";
/// People's corrections of expected results.
const CHANGES_FILE: &str = "changes.jsonl";
/// The uses of held-out cases.
const USES_FILE: &str = "hold-out.jsonl";
/// Letters of a case's name.
const MOST_NAME: usize = 80;

/// The reason why a golden set can't be read or changed: a sentence without its end.
#[derive(Debug, thiserror::Error)]
pub enum GoldError {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{0}")]
    Invalid(String),
}

impl GoldError {
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }

    pub(super) fn unread(path: &Path, why: impl std::fmt::Display) -> Self {
        Self::Invalid(format!("{}: {why}", path.display()))
    }
}

/// A case that is to be added.
#[derive(Clone, Debug, Default)]
pub struct NewCase {
    /// The wanted name; a number is added if it is taken.
    pub name: String,
    /// Name and content.
    pub documents: Vec<(String, Vec<u8>)>,
    /// The expected contents, by deliverable, with the places of their records.
    pub expected: Vec<(GoldDeliverable, Value, RecordPlaces)>,
    /// The schema of this case alone.
    pub schema: Option<Value>,
    /// The schemas of its deliverables, in the order of `expected`.
    pub schemas: Vec<Option<Value>>,
    pub approved: Option<CaseOrigin>,
}

/// The result of adding a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddedCase {
    New(String),
    /// The existing case over the same documents, which now has the new content.
    Replaced(String),
}

/// A correction of an expected value: a line of `changes.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldChange {
    pub at: Timestamp,
    pub by: String,
    pub case: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliverable: Option<String>,
    /// `$.terms[3].rent`
    pub place: String,
    pub before: Value,
    pub after: Value,
}

/// A golden set.
#[derive(Clone, Debug)]
pub struct GoldenSet {
    folder: PathBuf,
    pub file: GoldFile,
}

impl GoldenSet {
    /// Reads the set in a folder.
    pub fn open(folder: &Path) -> Result<Self, GoldError> {
        let path = folder.join(GOLD_FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(GoldError::Invalid(format!(
                    "{} is no golden set, because there is no {GOLD_FILE} in it: make one with `overnight gold add`",
                    folder.display()
                )));
            }
            Err(error) => return Err(GoldError::at(&path)(error)),
        };
        let file: GoldFile = serde_yaml::from_str(&text).map_err(|error| GoldError::unread(&path, error))?;
        if file.version != VERSION {
            let why = format!("its version is {}, and this program reads version {VERSION}", file.version);
            return Err(GoldError::unread(&path, why));
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = file.cases.iter().find(|case| !names.insert(&case.name)) {
            return Err(GoldError::unread(&path, format!("two cases are called {}", twice.name)));
        }
        if let Some(bad) = file.cases.iter().find(|case| !is_name(&case.name)) {
            let why = format!("'{}' can't be the name of a case: letters, digits, '-', '_' and '.' can", bad.name);
            return Err(GoldError::unread(&path, why));
        }
        if file.hold_out.is_some_and(|hold_out| !(hold_out.share > 0.0 && hold_out.share < 1.0)) {
            return Err(GoldError::unread(&path, "hold_out.share must be over 0 and under 1"));
        }
        if let Some(out) = file.paths().find(|path| !is_within(path)) {
            return Err(GoldError::unread(&path, format!("'{out}' leads out of the set: files are named within it")));
        }
        Ok(Self { folder: folder.to_owned(), file })
    }

    /// The same, or a new one if the folder has none yet.
    pub fn open_or_new(folder: &Path) -> Result<Self, GoldError> {
        if folder.join(GOLD_FILE).exists() {
            return Self::open(folder);
        }
        Ok(Self { folder: folder.to_owned(), file: GoldFile::default() })
    }

    /// The time of the last change of `gold.yaml`, in milliseconds since 1970; 0 if it is unknown.
    pub fn made_ms(&self) -> u64 {
        let written = fs::metadata(self.path(GOLD_FILE)).and_then(|meta| meta.modified());
        let since = written.ok().and_then(|written| written.duration_since(std::time::UNIX_EPOCH).ok());
        since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of a file of the set.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.folder.join(relative)
    }

    /// The held-out cases, or the others.
    pub fn cases(&self, held_out: bool) -> Vec<&GoldenCase> {
        self.file.cases.iter().filter(|case| case.held_out == held_out).collect()
    }

    /// The case of that name, which must exist.
    pub fn case(&self, name: &str) -> Result<&GoldenCase, GoldError> {
        let unknown = || GoldError::Invalid(format!("no case is called {name}: `overnight gold list` names them"));
        self.file.cases.iter().find(|case| case.name == name).ok_or_else(unknown)
    }

    /// The expected content of a case's deliverable.
    pub fn expected(&self, expected: &GoldExpected) -> Result<Value, GoldError> {
        self.read_json(&expected.file)
    }

    /// The places of its records; empty if they are not known.
    pub fn places(&self, expected: &GoldExpected) -> Result<RecordPlaces, GoldError> {
        let Some(file) = &expected.places else { return Ok(RecordPlaces::default()) };
        let places: BTreeMap<String, RecordPlace> = self.read_json(file)?;
        Ok(RecordPlaces { expected: places, ..RecordPlaces::default() })
    }

    /// The facts about its deliverable.
    pub fn deliverable(&self, expected: &GoldExpected) -> GoldDeliverable {
        let known = self.file.deliverables.iter().find(|known| known.path == expected.deliverable);
        let known = known.cloned().unwrap_or_default();
        GoldDeliverable { schema: expected.schema.clone().or(known.schema), ..known }
    }

    /// The schema of its deliverable.
    pub fn schema(&self, expected: &GoldExpected) -> Result<Option<Value>, GoldError> {
        self.deliverable(expected).schema.map(|schema| self.read_json(&schema)).transpose()
    }

    /// The content of a document, which must not have changed since it was added.
    pub fn document(&self, document: &GoldDocument) -> Result<Vec<u8>, GoldError> {
        let path = self.path(&document.path());
        let content = fs::read(&path).map_err(GoldError::at(&path))?;
        if sha256(&content) != document.sha256 {
            return Err(GoldError::unread(&path, "it is not the file that was added: put that back, or drop the case"));
        }
        Ok(content)
    }

    /// The case over the same documents.
    pub fn case_over(&self, documents: &[(String, Vec<u8>)]) -> Option<&GoldenCase> {
        let same = |(known, (name, content)): (&GoldDocument, &(String, Vec<u8>))| {
            known.name == *name && known.sha256 == sha256(content)
        };
        self.file
            .cases
            .iter()
            .find(|case| case.documents.len() == documents.len() && case.documents.iter().zip(documents).all(same))
    }

    /// Adds a case, or replaces the one over the same documents.
    pub fn add(&mut self, new: NewCase) -> Result<AddedCase, GoldError> {
        let mut documents = Vec::with_capacity(new.documents.len());
        for (name, content) in &new.documents {
            let document = GoldDocument { name: name.clone(), sha256: sha256(content) };
            self.write(&document.path(), content)?;
            documents.push(document);
        }
        let known = self.file.cases.iter().position(|case| case.documents == documents);
        let name = match known {
            Some(at) => self.file.cases[at].name.clone(),
            None => self.free_name(&new.name),
        };
        let case_schema =
            new.schema.map(|schema| self.write_json(&format!("schemas/cases/{name}.json"), &schema)).transpose()?;
        let corrections = if known.is_some() { self.changes()? } else { Vec::new() };
        let mut expected = Vec::with_capacity(new.expected.len());
        for (at, (deliverable, mut content, places)) in new.expected.into_iter().enumerate() {
            // A name has no '/': so no two cases have a file in common.
            let part = if at == 0 { name.clone() } else { format!("{name}/{}", at + 1) };
            // People's corrections still apply if the same fault is in the new content.
            let own = corrections.iter().filter(|change| change.case == name && change.deliverable == deliverable.path);
            for change in own {
                if json_path::at_mut(&mut content, &change.place).is_some_and(|value| *value == change.before) {
                    corrected::put(&mut content, &change.place, &change.after);
                }
            }
            let file = self.write_json(&format!("expected/{part}.json"), &content)?;
            let places = match &places.expected {
                places if places.is_empty() => None,
                places => Some(self.write_json(&format!("places/{part}.json"), places)?),
            };
            let path = deliverable.path.clone();
            self.note_deliverable(deliverable, new.schemas.get(at).cloned().flatten())?;
            expected.push(GoldExpected { deliverable: path, file, places, schema: case_schema.clone() });
        }
        let case = GoldenCase { name: name.clone(), documents, expected, approved: new.approved, held_out: false };
        if let Some(at) = known {
            let held_out = self.file.cases[at].held_out;
            self.file.cases[at] = GoldenCase { held_out, ..case };
            return Ok(AddedCase::Replaced(name));
        }
        self.file.cases.push(case);
        Ok(AddedCase::New(name))
    }

    /// Adds rules for fields; the set's own rules take precedence.
    pub fn add_rules(&mut self, rules: BTreeMap<String, FieldRule>) {
        for (field, rule) in rules {
            self.file.fields.entry(field).or_insert(rule);
        }
    }

    /// Writes `gold.yaml`, and holds out as many cases as are wanted.
    pub fn save(&mut self, hold_out: Option<HoldOut>) -> Result<(), GoldError> {
        self.file.cases.sort_by(|one, other| one.name.cmp(&other.name));
        self.file.keep_back(hold_out);
        let path = self.path(GOLD_FILE);
        let text = serde_yaml::to_string(&self.file).map_err(|error| GoldError::unread(&path, error))?;
        self.write(GOLD_FILE, text.as_bytes())
    }

    /// Removes a case, and its files that no other case uses. False: there is no case of that name.
    pub fn remove(&mut self, name: &str) -> Result<bool, GoldError> {
        let Some(at) = self.file.cases.iter().position(|case| case.name == name) else { return Ok(false) };
        let case = self.file.cases.remove(at);
        self.save(None)?;
        let used: BTreeSet<String> = self.file.paths().collect();
        for path in case.files().collect::<BTreeSet<_>>().difference(&used).map(|path| self.path(path)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(GoldError::at(&path)(error)),
                Ok(()) | Err(_) => {}
            }
            // Best effort: a document's folder goes with it.
            let _ = path.parent().map(fs::remove_dir);
        }
        Ok(true)
    }

    /// Corrects an expected value, and keeps the name of the person.
    pub fn correct(&self, change: &GoldChange) -> Result<(), GoldError> {
        let case = self.case(&change.case)?;
        let expected = case.expected.iter().find(|expected| expected.deliverable == change.deliverable);
        let expected =
            expected.ok_or_else(|| GoldError::Invalid(format!("{} has no such deliverable", change.case)))?;
        let mut content = self.expected(expected)?;
        if !corrected::put(&mut content, &change.place, &change.after) {
            return Err(GoldError::Invalid(format!("{} has no place {}", expected.file, change.place)));
        }
        self.write_json(&expected.file, &content)?;
        self.append(CHANGES_FILE, change)
    }

    /// People's corrections, oldest first.
    pub fn changes(&self) -> Result<Vec<GoldChange>, GoldError> {
        self.lines(CHANGES_FILE)
    }

    /// The uses of held-out cases, oldest first.
    pub fn hold_out_uses(&self) -> Result<Vec<HoldOutUse>, GoldError> {
        self.lines(USES_FILE)
    }

    /// Checks that all logs beside the cases can be read.
    pub fn check_logs(&self) -> Result<(), GoldError> {
        self.changes()?;
        self.hold_out_uses()?;
        self.verdicts().map(|_| ())
    }

    /// The verdicts of judges.
    pub fn verdicts(&self) -> Result<Vec<JudgeVerdict>, GoldError> {
        self.lines(VERDICTS_FILE)
    }

    /// Keeps a verdict.
    pub fn keep_verdict(&self, verdict: &JudgeVerdict) -> Result<(), GoldError> {
        self.append(VERDICTS_FILE, verdict)
    }

    /// Records a use of the held-out cases.
    pub fn note_use(&self, used: &HoldOutUse) -> Result<(), GoldError> {
        self.append(USES_FILE, used)
    }

    /// A name that no other case's files have.
    fn free_name(&self, wanted: &str) -> String {
        let name = free_of_paths(wanted);
        // Some file systems don't distinguish capital and small letters.
        let taken: BTreeSet<String> = self.file.cases.iter().map(|case| case.name.to_lowercase()).collect();
        free_name(&name, |name| !taken.contains(&name.to_lowercase()))
    }

    /// Keeps the facts about a deliverable; the latest ones count.
    fn note_deliverable(&mut self, deliverable: GoldDeliverable, schema: Option<Value>) -> Result<(), GoldError> {
        let name = deliverable.path.as_deref().unwrap_or("schema.json");
        let schema = schema.map(|schema| self.write_json(&format!("schemas/{name}"), &schema)).transpose()?;
        let known = self.file.deliverables.iter().position(|known| known.path == deliverable.path);
        let deliverable = GoldDeliverable { schema, ..deliverable };
        match known {
            Some(at) if deliverable.schema.is_some() || !deliverable.quotes.is_empty() => {
                self.file.deliverables[at] = deliverable;
            }
            Some(_) => {}
            None => self.file.deliverables.push(deliverable),
        }
        Ok(())
    }

    fn read_json<T: DeserializeOwned>(&self, relative: &str) -> Result<T, GoldError> {
        read_json(&self.path(relative))
    }

    fn write_json(&self, relative: &str, content: &impl Serialize) -> Result<String, GoldError> {
        let text =
            serde_json::to_string_pretty(content).map_err(|error| GoldError::unread(&self.path(relative), error))?;
        self.write(relative, format!("{text}\n").as_bytes())?;
        Ok(relative.to_owned())
    }

    /// Writes a file completely or not at all.
    fn write(&self, relative: &str, content: &[u8]) -> Result<(), GoldError> {
        let path = self.path(relative);
        let write = || {
            let folder = path.parent().unwrap_or(&self.folder);
            fs::create_dir_all(folder)?;
            let mut new = tempfile::NamedTempFile::new_in(folder)?;
            new.write_all(content)?;
            new.as_file().sync_all()?;
            new.persist(&path).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(GoldError::at(&path))
    }

    fn append(&self, relative: &str, line: &impl Serialize) -> Result<(), GoldError> {
        let path = self.path(relative);
        let append = || {
            let mut line = serde_json::to_string(line)? + "\n";
            let mut file = fs::OpenOptions::new().create(true).read(true).append(true).open(&path)?;
            // A line that a crash cut off stays on a line of its own.
            let mut last = [b'\n'];
            if file.seek(io::SeekFrom::End(0))? > 0 {
                file.seek(io::SeekFrom::End(-1))?;
                file.read_exact(&mut last)?;
            }
            if last != *b"\n" {
                line.insert(0, '\n');
            }
            file.write_all(line.as_bytes())?;
            file.sync_all()
        };
        append().map_err(GoldError::at(&path))
    }

    fn lines<T: DeserializeOwned>(&self, relative: &str) -> Result<Vec<T>, GoldError> {
        let path = self.path(relative);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(GoldError::at(&path))?,
        };
        // A line that a crash cut off doesn't count.
        let is_whole = |line: &&str| !line.is_empty() && line.ends_with('}');
        let read = |line| serde_json::from_str(line).map_err(|error| GoldError::unread(&path, error));
        text.lines().filter(is_whole).map(read).collect()
    }
}

/// Whether the letter is allowed in a name, where it can't lead to another folder.
fn fitting(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.')
}

/// Whether the name, of any length, is valid for a case.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(fitting) && !name.starts_with(['-', '.'])
}

/// A valid name made from the wanted one.
fn free_of_paths(wanted: &str) -> String {
    let name: String =
        wanted.chars().map(|letter| if fitting(letter) { letter } else { '-' }).take(MOST_NAME).collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() { "case".to_owned() } else { name.to_owned() }
}

fn is_within(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Reads a JSON file.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, GoldError> {
    let content = fs::read(path).map_err(GoldError::at(path))?;
    serde_json::from_slice(&content).map_err(|error| GoldError::unread(path, format!("it is no JSON: {error}")))
}
