//! The verdicts of a judge on texts whose words differ: a model that the set names with a rubric, never one without.
//! Each verdict is kept in the set, so that the same question is asked, and paid for, only once.

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

/// The file of verdicts.
pub(super) const VERDICTS_FILE: &str = "verdicts.jsonl";

/// Two values that a judge is to compare.
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
    /// The model's answer.
    pub words: String,
}

/// The known verdicts, and the questions without an answer.
#[derive(Debug)]
pub struct Judgements {
    judge: GoldJudge,
    known: HashMap<String, bool>,
    open: Mutex<BTreeMap<String, JudgeQuestion>>,
}

impl Judgements {
    /// The verdicts of a set; `None` if it names no judge.
    pub fn of(set: &GoldenSet) -> Result<Option<Self>, GoldError> {
        let Some(judge) = set.file.judge.clone() else { return Ok(None) };
        let known = set.verdicts()?.into_iter().map(|verdict| (verdict.key, verdict.is_right)).collect();
        Ok(Some(Self { judge, known, open: Mutex::default() }))
    }

    /// The known verdict on the values; without one, the question is added to the open ones.
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
