//! The data that a deliverable's checks read from documents and files: lines near quotes, pages' texts, tables' rows.

use super::{
    quote_line::ValueStatus,
    quote_positions::{MOST_BYTES, QuoteCheck},
};
use overnight_core::job::{
    contract::{DoubtfulValue, QuoteQuery, QuoteResult, Sources},
    spec::DocumentEntry,
};
use overnight_documents::{TableHeader, TableSink, tables};
use overnight_rules::date::{DayOrder, day_order};
use serde_json::Value;
use std::{ops::ControlFlow, time::Instant};

impl Sources for QuoteCheck<'_> {
    fn find_quote(&mut self, query: QuoteQuery<'_>) -> QuoteResult {
        if self.until.is_some_and(|until| Instant::now() > until) {
            return QuoteResult::NotLookedFor;
        }
        self.find(query)
    }

    fn around_quote(&mut self, lines: u64) -> Option<String> {
        let line = self.last.as_ref()?;
        let (start, end) = (usize::try_from(line.start?).ok()?, usize::try_from(line.end?).ok()?);
        let text = self.index(self.job.spec.named(&line.document)?)?.text();
        let is_end = |c: char| c == '\n' || c == '\x0c';
        let nth = usize::try_from(lines).ok()?;
        let from = text.get(..start)?.rmatch_indices(is_end).nth(nth).map_or(0, |(at, _)| at + 1);
        let to = text.get(end..)?.match_indices(is_end).nth(nth).map_or(text.len(), |(at, _)| end + at);
        text.get(from..to).map(str::to_owned)
    }

    fn doubts_of_quote(&mut self) -> Vec<String> {
        let of_one = self.last.iter().flat_map(|line| &line.one_reading).filter(|words| words.has_digit());
        of_one.map(|words| format!("in its quote {}", words.told())).collect()
    }

    fn keep_values(&mut self, doubtful: &[DoubtfulValue]) {
        let Some(line) = &mut self.last else { return };
        for DoubtfulValue { field, unclear } in doubtful {
            let status = unclear.clone().map_or(ValueStatus::NotInQuote, ValueStatus::Unclear);
            line.values.insert(field.clone(), status);
        }
    }

    fn day_order(&mut self, document: &str) -> Option<DayOrder> {
        let document = self.job.spec.named(document)?;
        if let Some(known) = self.day_orders.get(&document.name) {
            return *known;
        }
        let order = day_order(&self.plain_text(document).ok()?);
        self.day_orders.insert(document.name.clone(), order);
        order
    }

    fn text(&mut self, document: &str, page: Option<u64>) -> Result<String, String> {
        let document = self.document(document)?;
        let text = self.plain_text(document)?;
        let Some(page) = page else { return Ok(text) };
        let wanted = usize::try_from(page).ok().and_then(|page| page.checked_sub(1));
        let found = wanted.filter(|_| document.paged).and_then(|page| text.split('\x0c').nth(page));
        found.map(str::to_owned).ok_or_else(|| format!("'{}' has no page {page}", document.name))
    }

    fn rows(&mut self, document: &str, sheet: Option<&str>) -> Result<u64, String> {
        let document = self.document(document)?;
        let text = self.plain_text(document)?;
        let mut count = RowCount { sheet, ..RowCount::default() };
        tables(&document.format, &text, &mut count);
        match (count.is_any, sheet) {
            (true, _) => Ok(count.rows),
            (false, None) => Err(format!("'{}' has no table", document.name)),
            (false, Some(sheet)) => Err(format!("'{}' has no sheet '{sheet}'", document.name)),
        }
    }

    fn deliverable(&mut self, path: &str) -> Result<Value, String> {
        if self.job.spec.instructions.deliverables.iter().all(|deliverable| deliverable.path != path) {
            return Err(format!("'{path}' is no deliverable"));
        }
        let content = self.workspace.read_at_most(path, MOST_BYTES as u64);
        let content = content.map_err(|_| format!("'{path}' is not there, or can't be read"))?;
        serde_json::from_slice(&content).map_err(|error| format!("'{path}' is no JSON: {error}"))
    }
}

/// Rows of a document, or of one of its sheets.
#[derive(Debug, Default)]
struct RowCount<'s> {
    sheet: Option<&'s str>,
    is_wanted: bool,
    is_any: bool,
    rows: u64,
}

impl TableSink for RowCount<'_> {
    fn begin(&mut self, header: TableHeader) -> ControlFlow<()> {
        self.is_wanted = self.sheet.is_none_or(|sheet| header.name.eq_ignore_ascii_case(sheet));
        self.is_any |= self.is_wanted;
        ControlFlow::Continue(())
    }

    fn row(&mut self, _: &[&str]) -> ControlFlow<()> {
        self.rows += u64::from(self.is_wanted);
        ControlFlow::Continue(())
    }
}

impl<'j> QuoteCheck<'j> {
    /// The text without an index of its quotes, which takes time to build.
    fn plain_text(&self, document: &DocumentEntry) -> Result<String, String> {
        let text = self.workspace.read_text(&document.text_path());
        text.map_err(|_| format!("the text of '{}' can't be read", document.name))
    }

    fn document(&self, name: &str) -> Result<&'j DocumentEntry, String> {
        self.job.spec.named(name).ok_or_else(|| format!("there is no document '{name}'"))
    }
}
