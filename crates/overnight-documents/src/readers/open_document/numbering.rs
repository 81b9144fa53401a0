//! The numbers before items and headings. The document doesn't store them: each is counted from the previous ones.

use std::collections::HashMap;

use super::styles::OpenListLevel;
use crate::readers::flow::counted;

const LEVELS: usize = 10;
/// The most lists whose counts are kept.
const MAX_LISTS: usize = 50_000;

/// The current counts of a list, by level.
pub(super) type Counts = [Option<u32>; LEVELS];

/// The current counts of all lists.
#[derive(Debug, Default)]
pub(super) struct OpenNumbering {
    by_list: HashMap<String, Counts>,
    pub(super) outline: Counts,
}

impl OpenNumbering {
    /// The counts at the beginning of a list: those at the end of another one, by its identifier or its style, or none.
    pub(super) fn begin(&self, goes_on: Option<&str>) -> Counts {
        goes_on.and_then(|list| self.by_list.get(list)).copied().unwrap_or_default()
    }

    /// Ends a list; others may continue its counts.
    pub(super) fn end(&mut self, names: [Option<String>; 2], counts: Counts) {
        for name in names.into_iter().flatten() {
            if self.by_list.len() < MAX_LISTS || self.by_list.contains_key(&name) {
                self.by_list.insert(name, counts);
            }
        }
    }
}

/// Counts one more item on a level, from 0, and returns its label.
pub(super) fn next(levels: &[OpenListLevel], at: usize, counts: &mut Counts, restart: Option<u32>) -> String {
    let at = at.min(LEVELS - 1);
    let start = |at: usize| levels.get(at).map_or(1, |level| level.start);
    counts[at] = Some(restart.unwrap_or_else(|| counts[at].map_or(start(at), |count| count.saturating_add(1))));
    counts.iter_mut().skip(at + 1).for_each(|count| *count = None);
    for (above, count) in counts.iter_mut().enumerate().take(at) {
        count.get_or_insert(start(above));
    }
    let Some(level) = levels.get(at) else { return "-".to_owned() };
    let Some(format) = &level.format else { return "-".to_owned() };
    if format.is_empty() {
        return String::new();
    }
    let from = (at + 1).saturating_sub(level.shown);
    let numbers: Vec<String> = (from..=at)
        .filter_map(|at| {
            let format = levels.get(at)?.format.as_deref()?.chars().next()?;
            Some(counted(counts.get(at).copied().flatten().unwrap_or(1), format))
        })
        .collect();
    format!("{}{}{}", level.prefix, numbers.join("."), level.suffix).trim().to_owned()
}
