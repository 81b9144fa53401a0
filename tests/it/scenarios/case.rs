//! One scenario as its file describes it (`tests/scenarios/README.md`), and the list of all.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by them, and says how long it took"
)]

use super::{ground::DOCUMENTS, later::Later, story};
use crate::sections;
use overnight::model::{Model, rules::Offline, scripted::Scripted};
use overnight_core::{
    job::{
        record::{HoldReason, JobStatus},
        state::INSTRUCTIONS_FILE,
    },
    message::{Stop, ToolCall},
};
use serde::Deserialize;
use serde_yaml::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

/// More replies than any scenario has.
const MOST_NAMED: u64 = 1000;

/// A job from its beginning to its rest.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// The file's name without its end.
    pub(crate) name: String,
    /// The whole file, and the sections of it that were written by hand.
    pub(crate) file: String,
    pub(crate) written: Vec<(String, String)>,
    /// The files that the job starts from.
    pub(crate) given: Vec<(String, String)>,
    /// The shipped instructions of this name are its own.
    pub(crate) shipped: Option<String>,
    /// A rough model, of which no more is expected than that it delivers.
    pub(crate) is_rough: bool,
    /// Of which turns the reply is a common one, by its name.
    pub(crate) names: Vec<Option<String>>,
    /// The reply of each turn, as the story tells it.
    replies: Vec<String>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) steps: Vec<Step>,
    /// Turns whose prompts are part of what is expected.
    pub(crate) prompts: Vec<u64>,
    /// Files, and folders of files, that are shown though they follow from the journal.
    pub(crate) show: Vec<String>,
}

/// What happens to the job next.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Step {
    /// It is worked until it rests, and must rest so.
    Work(Rest),
    /// A person's word: it is sent back.
    Feedback(String),
    Approve,
    Resume(Bounds),
    Pause,
    Cancel,
    /// A person's hand on a file while nobody works on the job: one occurrence of `old` becomes `new`.
    Edit {
        path: String,
        old: String,
        new: String,
    },
    Write {
        path: String,
        text: String,
    },
    Delete(String),
    Symlink {
        path: String,
        to: String,
    },
}

impl Step {
    /// Whether it changes files and nothing else.
    pub(crate) fn is_hand(&self) -> bool {
        match self {
            Self::Edit { .. } | Self::Write { .. } | Self::Delete(_) | Self::Symlink { .. } => true,
            Self::Work(_) | Self::Feedback(_) | Self::Approve | Self::Resume(_) | Self::Pause | Self::Cancel => false,
        }
    }
}

/// How a job comes to rest.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rest {
    Completed,
    Partial,
    Blocked,
    Failed,
    Cancelled,
    Held(HoldReason),
    /// A person stops the work after the reply of this turn.
    Interrupted(u64),
    /// The work stops with an error that has this text in it.
    Stopped(String),
}

impl Rest {
    pub(crate) fn status(&self) -> Option<JobStatus> {
        match self {
            Self::Completed => Some(JobStatus::Completed),
            Self::Partial => Some(JobStatus::Partial),
            Self::Blocked => Some(JobStatus::Blocked),
            Self::Failed => Some(JobStatus::Failed),
            Self::Cancelled => Some(JobStatus::Cancelled),
            Self::Held(_) | Self::Interrupted(_) | Self::Stopped(_) => None,
        }
    }
}

/// New limits of the whole job.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Bounds {
    pub(crate) turns: Option<u64>,
    pub(crate) tokens: Option<u64>,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) wall_clock_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// What is proved, in a sentence.
    about: String,
    #[serde(default)]
    model: Provider,
    /// As in a scripted model's file; a bare word stands for the replies of that name in `replies.yaml`.
    #[serde(default)]
    replies: Vec<Value>,
    #[serde(default)]
    then: Option<String>,
    /// Of sub-agents that have replies of their own, as in a scripted model's file.
    #[serde(default)]
    helpers: Option<Value>,
    /// Calls are handed in, and answered later.
    #[serde(default)]
    later: bool,
    #[serde(default = "one_step", with = "serde_yaml::with::singleton_map_recursive")]
    steps: Vec<Step>,
    #[serde(default)]
    prompts: Vec<u64>,
    #[serde(default)]
    show: Vec<String>,
    #[serde(default)]
    shipped: Option<String>,
    /// The end of the front matter, behind what the given one says.
    #[serde(default)]
    front: String,
    #[serde(default)]
    many: Vec<Many>,
}

/// `{n}` in both stands for 1 and so on; texts of one path are one file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Many {
    path: String,
    text: String,
    times: usize,
}

fn one_step() -> Vec<Step> {
    vec![Step::Work(Rest::Completed)]
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Provider {
    #[default]
    Scripted,
    Offline,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}

/// The header line below which everything is generated.
pub(crate) const GENERATED: &str = "what follows is generated: UPDATE=1 rewrites it";

impl Scenario {
    fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        let written: Vec<(String, String)> =
            sections::read(&text).into_iter().take_while(|(name, _)| name != GENERATED).collect();
        let (_, story) = written.first().filter(|(name, _)| name.is_empty()).ok_or("it has no story")?;
        let File { about, model, replies, then, helpers, later, steps, prompts, show, shipped, front, many } =
            serde_yaml::from_str(story).map_err(|error| error.to_string())?;
        if about.trim().is_empty() {
            return Err("about says what is proved".to_owned());
        }
        let mut given = written[1..].to_vec();
        for (Many { path, text, .. }, n) in many.iter().flat_map(|many| (1..=many.times).map(move |n| (many, n))) {
            let [path, text] = [path, text].map(|text| text.replace("{n}", &n.to_string()));
            match given.iter_mut().find(|(name, _)| *name == path) {
                Some((_, file)) => file.push_str(&text),
                None => given.push((path, text)),
            }
        }
        let usual = fs::read_to_string(root().join("given.txt")).map_err(|error| error.to_string())?;
        for (name, text) in sections::read(&usual).into_iter().filter(|(name, _)| !name.is_empty()) {
            let is_its_own = |path: &str| path == name || name.starts_with(DOCUMENTS) && path.starts_with(DOCUMENTS);
            let is_shipped = shipped.is_some() && name == INSTRUCTIONS_FILE;
            if !is_shipped && !given.iter().any(|(path, _)| is_its_own(path)) {
                let text = if name == INSTRUCTIONS_FILE { with_front(&text, &front) } else { text };
                given.push((name, text));
            }
        }
        let (mut names, mut told) = (Vec::new(), Vec::new());
        let is_rough = model == Provider::Offline;
        let model: Arc<dyn Model> = match model {
            Provider::Offline => Arc::new(Offline(None)),
            Provider::Scripted => Arc::new(script(replies, then, helpers, &mut names, &mut told)?),
        };
        let model = if later { Arc::new(Later::new(model)) } else { model };
        let name = name(path);
        let (file, replies) = (text, told);
        Ok(Self { name, file, written, given, shipped, is_rough, names, replies, model, steps, prompts, show })
    }

    /// What the model is to reply in this turn; a script that repeats begins again.
    pub(crate) fn reply(&self, turn: u64) -> Option<&str> {
        let place = usize::try_from(turn.checked_sub(1)?).ok()?;
        self.replies.get(place.checked_rem(self.replies.len())?).map(String::as_str)
    }
}

/// Instructions with more at the end of their front matter.
fn with_front(text: &str, front: &str) -> String {
    let more = if front.is_empty() { String::new() } else { format!("\n{}", front.trim_end()) };
    text.replacen("\n---\n", &format!("{more}\n---\n"), 1)
}

/// As the story tells it.
fn told(reply: &Value) -> Result<String, serde_yaml::Error> {
    #[derive(Deserialize)]
    struct Reply {
        #[serde(default)]
        text: String,
        #[serde(default)]
        calls: Vec<BTreeMap<String, serde_json::Value>>,
        #[serde(default)]
        stop: Option<Stop>,
    }
    let Reply { text, calls, stop } = serde_yaml::from_value(reply.clone())?;
    let calls = calls
        .into_iter()
        .flatten()
        .map(|(name, arguments)| story::call(&ToolCall { id: String::new(), name, arguments }));
    let told = story::reply(&text, calls, stop.unwrap_or(Stop::Done));
    Ok(format!("  {}\n", told.replace('\n', "\n    ")))
}

/// The scripted model; names of common replies are replaced by what they stand for, and kept for each turn.
fn script(
    replies: Vec<Value>,
    then: Option<String>,
    helpers: Option<Value>,
    names: &mut Vec<Option<String>>,
    said: &mut Vec<String>,
) -> Result<Scripted, String> {
    let common = fs::read_to_string(root().join("replies.yaml")).map_err(|error| error.to_string())?;
    let common: BTreeMap<String, Vec<Value>> = serde_yaml::from_str(&common).map_err(|error| error.to_string())?;
    let mut whole = Vec::new();
    for reply in replies {
        let (meant, name) = match reply {
            Value::String(name) => {
                (common.get(&name).ok_or(format!("there are no replies named '{name}'"))?.clone(), Some(name))
            }
            other => (vec![other], None),
        };
        for reply in meant {
            let times = reply.get("times").and_then(Value::as_u64).unwrap_or(1);
            let told = told(&reply).map_err(|error| error.to_string())?;
            said.extend((0..times.min(MOST_NAMED)).map(|_| told.clone()));
            names.extend((0..times.min(MOST_NAMED)).map(|_| name.clone()));
            whole.push(reply);
        }
    }
    let mut script = serde_yaml::Mapping::new();
    script.insert("version".into(), 1.into());
    script.insert("replies".into(), Value::Sequence(whole));
    if let Some(then) = then {
        script.insert("then".into(), then.into());
    }
    if let Some(helpers) = helpers {
        script.insert("helpers".into(), helpers);
    }
    let text = serde_yaml::to_string(&script).map_err(|error| error.to_string())?;
    Scripted::parse("scenario.yaml", &text).map_err(|error| error.to_string())
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// All scenarios in the order of their names, or those that `SCENARIO` names a part of.
pub(crate) fn all() -> Vec<Result<Scenario, (String, String)>> {
    let wanted = std::env::var("SCENARIO").unwrap_or_default();
    let is_wanted = |path: &PathBuf| {
        let name = name(path);
        path.extension().is_some_and(|end| end == "txt")
            && name.starts_with(|first: char| first.is_ascii_digit())
            && name.contains(&wanted)
    };
    let mut files: Vec<PathBuf> =
        fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()).filter(is_wanted).collect();
    files.sort();
    assert!(!files.is_empty(), "no scenario's name contains '{wanted}'");
    files.iter().map(|path| Scenario::read(path).map_err(|fault| (name(path), fault))).collect()
}

/// Calls `check` for every scenario, on all processors, and fails with the faults of all that fail.
pub(crate) fn each(check: &(dyn Fn(&Scenario) -> Result<(), String> + Sync)) {
    let all = all();
    let next = AtomicUsize::new(0);
    let faults: Mutex<BTreeMap<String, String>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(scenario) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let began = Instant::now();
                    let (name, result) = match scenario {
                        Ok(scenario) => (&scenario.name, check(scenario)),
                        Err((name, fault)) => (name, Err(fault.clone())),
                    };
                    println!("{name}: {} ms", began.elapsed().as_millis());
                    if let Err(fault) = result {
                        faults.lock().unwrap().insert(name.clone(), fault);
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    if !faults.is_empty() {
        let told: Vec<String> = faults.iter().map(|(name, fault)| format!("── {name}\n{fault}")).collect();
        panic!("{} of {} scenarios fail:\n{}\n", faults.len(), all.len(), told.join("\n"));
    }
}
