//! One scenario as its file describes it (`tests/scenarios/README.md`), and the list of all.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by them, and says how long it took"
)]

use overnight::{
    job::record::{HoldReason, JobStatus},
    model::{Model, offline::Offline, scripted::Scripted},
};
use serde::Deserialize;
use serde_yaml::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

/// A job from its beginning to its rest.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// The folder's name.
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) steps: Vec<Step>,
    /// Turns whose prompts are part of what is expected.
    pub(crate) prompts: Vec<u64>,
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
    version: u32,
    /// What is proved, in a sentence.
    about: String,
    #[serde(default)]
    model: Provider,
    /// As in a scripted model's file; a bare word stands for the replies of that name in `replies.yaml`.
    #[serde(default)]
    replies: Vec<Value>,
    #[serde(default)]
    then: Option<String>,
    #[serde(default = "one_step", with = "serde_yaml::with::singleton_map_recursive")]
    steps: Vec<Step>,
    #[serde(default)]
    prompts: Vec<u64>,
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

impl Scenario {
    fn read(folder: PathBuf) -> Result<Self, String> {
        let text = std::fs::read_to_string(folder.join("scenario.yaml")).map_err(|error| error.to_string())?;
        let file: File = serde_yaml::from_str(&text).map_err(|error| format!("scenario.yaml: {error}"))?;
        if file.version != 1 || file.about.trim().is_empty() {
            return Err("scenario.yaml: version is 1, and about says what is proved".to_owned());
        }
        let model: Arc<dyn Model> = match file.model {
            Provider::Offline => Arc::new(Offline),
            Provider::Scripted => Arc::new(script(file.replies, file.then)?),
        };
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        Ok(Self { name, folder, model, steps: file.steps, prompts: file.prompts })
    }
}

/// The scripted model; names of common replies are replaced by what they stand for.
fn script(replies: Vec<Value>, then: Option<String>) -> Result<Scripted, String> {
    let common = std::fs::read_to_string(root().join("replies.yaml")).map_err(|error| error.to_string())?;
    let common: BTreeMap<String, Vec<Value>> = serde_yaml::from_str(&common).map_err(|error| error.to_string())?;
    let mut whole = Vec::new();
    for reply in replies {
        match reply {
            Value::String(name) => {
                whole.extend(common.get(&name).ok_or(format!("there are no replies named '{name}'"))?.iter().cloned());
            }
            other => whole.push(other),
        }
    }
    let mut script = serde_yaml::Mapping::new();
    script.insert("version".into(), 1.into());
    script.insert("replies".into(), Value::Sequence(whole));
    if let Some(then) = then {
        script.insert("then".into(), then.into());
    }
    let text = serde_yaml::to_string(&script).map_err(|error| error.to_string())?;
    Scripted::parse("scenario.yaml", &text).map_err(|error| error.to_string())
}

/// All scenarios in the order of their names, or those that `SCENARIO` names a part of.
pub(crate) fn all() -> Vec<Result<Scenario, (String, String)>> {
    let wanted = std::env::var("SCENARIO").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir() && path.file_name().unwrap().to_string_lossy().contains(&wanted))
        .collect();
    folders.sort();
    assert!(!folders.is_empty(), "no scenario's name contains '{wanted}'");
    folders
        .into_iter()
        .map(|folder| {
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            Scenario::read(folder).map_err(|fault| (name, fault))
        })
        .collect()
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
