//! What one rule may do: the steps that it may take, the time that all rules of a file may, and what it has to ask of the caller.

use crate::date;
use cel::ExecutionError;
use chrono::NaiveDate;
use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Steps of one rule for one record: rounds of its macros, elements of lists and, many at once, characters of texts.
pub(crate) const MOST_STEPS: u64 = 2_000_000;
/// All rules of one file together may take so long.
pub(crate) const MOST_TIME: Duration = Duration::from_secs(10);
/// Characters that are one step.
pub(crate) const CHARACTERS: u64 = 32;
/// Dates that are kept as they were read, and the characters of each.
const MOST_DATES: usize = 10_000;
const MOST_DATE: usize = 40;

/// A question about what is outside of the record's file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    Text { document: String, page: Option<u64> },
    Rows { document: String, sheet: Option<String> },
    Records { file: String, path: String },
}

impl Question {
    /// The name by which the answer is looked up.
    pub(crate) fn name(&self) -> String {
        format!("@{self:?}")
    }
}

/// What the rules of a file have used up, and what one of them would have to know.
#[derive(Debug)]
pub(crate) struct RuleBounds {
    steps: AtomicU64,
    until: Instant,
    asked: Mutex<Option<Question>>,
    /// Several rules look at the same dates, and to read one takes longer than the rest of a rule.
    dates: Mutex<HashMap<String, Result<NaiveDate, String>>>,
}

impl RuleBounds {
    pub(crate) fn new() -> Self {
        let until = Instant::now() + MOST_TIME;
        Self { steps: AtomicU64::new(0), until, asked: Mutex::new(None), dates: Mutex::default() }
    }

    pub(crate) fn date(&self, text: &str) -> Result<NaiveDate, String> {
        let mut dates = self.dates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = dates.get(text) {
            return known.clone();
        }
        let date = date::date(text);
        if dates.len() < MOST_DATES && text.len() <= MOST_DATE {
            dates.insert(text.to_owned(), date.clone());
        }
        date
    }

    /// Begins to count anew, for the next rule or record.
    pub(crate) fn reset(&self) {
        self.steps.store(0, Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() > self.until
    }

    pub(crate) fn ask(&self, question: Question) {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(question);
    }

    pub(crate) fn take_asked(&self) -> Option<Question> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn charge(&self, steps: u64) -> Result<(), ExecutionError> {
        let before = self.steps.fetch_add(steps, Relaxed);
        if before + steps > MOST_STEPS {
            return Err(ExecutionError::function_error("", format!("it takes more than {MOST_STEPS} steps")));
        }
        if before / 1_000 != (before + steps) / 1_000 && self.is_over() {
            let what = format!("the rules of this file take more than {} seconds", MOST_TIME.as_secs());
            return Err(ExecutionError::function_error("", what));
        }
        Ok(())
    }
}
