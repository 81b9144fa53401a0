//! What a judge says of texts that are not the same by their words: a model that a set names with a rubric, and never without. Each
//! verdict is kept in the set, so that the same question is asked, and paid, once.

use super::{
    gold_file::GoldJudge,
    golden_set::{GoldError, GoldenSet},
};
use overnight_core::job::{digest::sha256, time::Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

/// The verdicts.
pub(super) const VERDICTS_FILE: &str = "verdicts.jsonl";

/// Two values that a judge is asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeQuestion {
    pub key: String,
    pub field: String,
    pub expected: Value,
    pub found: Value,
}

/// A verdict: a line of `verdicts.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeVerdict {
    /// The hash of model, rubric, field and both values.
    pub key: String,
    pub at: Timestamp,
    pub model: String,
    pub field: String,
    pub expected: Value,
    pub found: Value,
    pub is_right: bool,
    /// What the model said.
    pub words: String,
}

/// The verdicts that are known, and the questions that nobody has answered yet.
#[derive(Debug)]
pub struct Judgements {
    judge: GoldJudge,
    known: HashMap<String, bool>,
    open: Mutex<BTreeMap<String, JudgeQuestion>>,
}

impl Judgements {
    /// Those of a set; none where it names no judge.
    pub fn of(set: &GoldenSet) -> Result<Option<Self>, GoldError> {
        let Some(judge) = set.file.judge.clone() else { return Ok(None) };
        let known = set.verdicts()?.into_iter().map(|verdict| (verdict.key, verdict.is_right)).collect();
        Ok(Some(Self { judge, known, open: Mutex::default() }))
    }

    /// What is known of the values; else the question is kept for who asks the judge.
    pub fn verdict(&self, field: &str, expected: &Value, found: &Value) -> Option<bool> {
        let GoldJudge { model, rubric } = &self.judge;
        let key = sha256(format!("{model}\n{rubric}\n{field}\n{expected}\n{found}").as_bytes());
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let question = || JudgeQuestion {
            key: key.clone(),
            field: field.to_owned(),
            expected: expected.clone(),
            found: found.clone(),
        };
        self.open.lock().unwrap_or_else(PoisonError::into_inner).entry(key.clone()).or_insert_with(question);
        None
    }

    /// The questions that are open.
    pub fn open(&self) -> Vec<JudgeQuestion> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}
