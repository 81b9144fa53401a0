//! Checks that the expected results of a case are still valid: its schema, its rules, and its quotes in its documents.

use super::{
    gold_file::{GoldDeliverable, GoldenCase},
    golden_set::{GoldError, GoldenSet},
};
use crate::extraction::Extractor;
use overnight_core::job::{
    contract::{QuoteQuery, QuoteResult, RuleMemory, Sources, check_deliverable},
    instructions::Deliverable,
};
use overnight_documents::{QuoteIndex, Unit};
use overnight_rules::date::{DayOrder, day_order};
use std::collections::BTreeMap;

/// The faults of a case; none if it is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseFaults {
    pub case: String,
    /// Sentences.
    pub faults: Vec<String>,
}

/// Checks a case.
pub fn check_case(set: &GoldenSet, case: &GoldenCase, extractor: &Extractor) -> CaseFaults {
    let mut faults = Vec::new();
    let mut sources = GoldSources::default();
    for document in &case.documents {
        match set.document(document).map(|content| extractor.extract(&document.name, &content, true)) {
            Ok(Ok(extracted)) => {
                let index = QuoteIndex::new(extracted.unit, extracted.text);
                sources.indexes.insert(document.name.clone(), (extracted.unit, index));
            }
            Ok(Err(error)) => faults.push(error.to_string()),
            Err(error) => faults.push(error.to_string()),
        }
    }
    for expected in &case.expected {
        let mut checked = || {
            let GoldDeliverable { path, quotes, checks, .. } = set.deliverable(expected);
            let schema = set.schema(expected)?;
            let content = std::fs::read(set.path(&expected.file)).map_err(GoldError::at(&set.path(&expected.file)))?;
            let deliverable = Deliverable {
                path: path.unwrap_or_else(|| expected.file.clone()),
                schema,
                quotes,
                checks,
                min_words: None,
                forbid: Vec::new(),
            };
            Ok(check_deliverable(&deliverable, Some(&content), &mut sources, &mut RuleMemory::default()).checks)
        };
        match checked() {
            Ok(checks) => {
                let failed = checks.into_iter().filter(|check| !check.passed);
                faults.extend(failed.map(|check| format!("{}: {}", check.name, check.detail)));
            }
            Err::<_, GoldError>(error) => faults.push(error.to_string()),
        }
    }
    CaseFaults { case: case.name.clone(), faults }
}

/// The texts of a case's documents.
#[derive(Default)]
struct GoldSources {
    indexes: BTreeMap<String, (Unit, QuoteIndex)>,
}

impl Sources for GoldSources {
    fn find_quote(&mut self, query: QuoteQuery<'_>) -> QuoteResult {
        let Some((unit, index)) = self.indexes.get(query.document) else { return QuoteResult::NoSuchDocument };
        let unit_name = if *unit == Unit::Page { "page" } else { "line" };
        let wanted = query.at.in_document(*unit == Unit::Page);
        let at = wanted.map(|unit| unit.number);
        match (index.find(query.quote, at), index.find(query.quote, None)) {
            (Some(_), _) => QuoteResult::Found,
            (None, Some(_)) if wanted.is_none_or(|unit| !unit.is_required) => QuoteResult::Found,
            (None, Some(place)) => QuoteResult::Elsewhere { unit: unit_name, found_on: place.from.unit_number() },
            (None, None) => QuoteResult::NotFound { nearest: None },
        }
    }

    fn day_order(&mut self, document: &str) -> Option<DayOrder> {
        day_order(self.indexes.get(document)?.1.text())
    }

    fn text(&mut self, document: &str, page: Option<u64>) -> Result<String, String> {
        let (_, index) = self.indexes.get(document).ok_or_else(|| format!("there is no document '{document}'"))?;
        let text = index.text();
        let page = page.and_then(|page| usize::try_from(page).ok()?.checked_sub(1));
        Ok(page.map_or(text, |page| text.split('\u{c}').nth(page).unwrap_or_default()).to_owned())
    }
}
