//! The limits of a rule: its steps and the time of all rules of a file; and the question that it has for the caller.

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

/// The maximum steps of one rule for one record: rounds of macros, list elements, and characters of texts in bulk.
pub(crate) const MOST_STEPS: u64 = 2_000_000;
/// The maximum time of all rules of one file together.
pub(crate) const MOST_TIME: Duration = Duration::from_secs(10);
/// The number of characters that count as one step.
pub(crate) const CHARACTERS: u64 = 32;
/// The maximum number of dates that are cached once they are read, and the maximum characters of each.
const MOST_DATES: usize = 10_000;
const MOST_DATE: usize = 40;

/// A question about something outside of the record's file.
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

/// The resources that the rules of a file have used, and the question that one of them has.
#[derive(Debug)]
pub(crate) struct RuleBounds {
    steps: AtomicU64,
    until: Instant,
    asked: Mutex<Option<Question>>,
    /// A cache: several rules look at the same dates, and reading a date takes longer than the rest of a rule.
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

    /// Restarts the count of steps for the next rule or record.
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
