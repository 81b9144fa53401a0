//! The page of all jobs of a review: their records, the most doubtful first, and the jobs.

use super::{
    DoubtKind, JobReview, Mode, ReviewedRecord, content_policy,
    doubt::{DoubtOrder, by_doubt},
    job_review::refused_told,
    page::{SCRIPT, STYLE},
};
use askama::Template;
use overnight_core::{
    amount::grouped,
    job::{id::JobId, record::JobStatus, refused_records::RefusedRecord},
};
use std::{cmp::Reverse, fmt::Write};

/// Records in the list, at most: the others are on the pages of their jobs.
const MOST_ROWS: usize = 5_000;
/// Jobs without records that are named.
const MOST_NAMED: usize = 20;
/// Letters of a record's headline.
const HEADLINE: usize = 300;

/// The content of the page, gathered job by job.
#[derive(Debug, Default)]
pub(super) struct ReviewIndex {
    rows: Vec<IndexRow>,
    jobs: Vec<IndexedJob>,
    pub(super) records: u64,
    pub(super) doubtful: u64,
    refused: u64,
}

/// A record in the list.
#[derive(Debug)]
struct IndexRow {
    order: DoubtOrder,
    /// The file of the page with the record.
    file: String,
    job_title: String,
    anchor: String,
    headline: String,
    document: String,
    located: String,
    kinds: Vec<DoubtKind>,
    doubt_keys: String,
    is_approved: bool,
}

impl IndexRow {
    fn is_doubtful(&self) -> bool {
        !self.kinds.is_empty() && !self.is_approved
    }
}

/// A job in the list.
#[derive(Debug)]
struct IndexedJob {
    id: JobId,
    title: String,
    status: JobStatus,
    counted: String,
    has_records: bool,
    /// Files of its pages.
    pages: Vec<String>,
}

#[derive(Template)]
#[template(path = "review/index.html")]
struct IndexPage<'p> {
    policy: String,
    counted: String,
    rows: &'p [IndexRow],
    jobs: &'p [IndexedJob],
    left_out: u64,
}

#[expect(clippy::unused_self, reason = "the template asks the page")]
impl IndexPage<'_> {
    fn style(&self) -> &'static str {
        STYLE
    }

    fn script(&self) -> &'static str {
        SCRIPT
    }

    fn kinds(&self) -> [DoubtKind; 10] {
        DoubtKind::ALL
    }

    fn has_forms(&self) -> bool {
        false
    }
}

impl ReviewIndex {
    /// Adds a page of a job; its first page also adds the job.
    pub(super) fn add(&mut self, review: &JobReview) {
        let title = review.title();
        let file = review.file(review.page);
        self.rows.extend(review.refused_here().iter().map(|record| refused_row(&file, &title, record)));
        let present = review.records.iter().filter(|record| !record.is_deleted);
        self.rows.extend(present.map(|record| row(&file, &title, record)));
        if self.rows.len() > 2 * MOST_ROWS {
            self.shorten();
        }
        if review.page > 1 {
            return;
        }
        self.records += review.present();
        self.doubtful += review.doubtful;
        self.refused += review.refused.len() as u64;
        self.jobs.push(IndexedJob {
            id: review.id,
            title,
            status: review.status,
            counted: review.counted(),
            has_records: review.present() > 0,
            pages: (1..=review.pages()).map(|page| review.file(page)).collect(),
        });
    }

    fn shorten(&mut self) {
        // Accepted records come last. The sort is stable: equally doubtful records stay in the order of their jobs.
        self.rows.sort_by_key(|row| (row.is_approved, row.order));
        self.rows.truncate(MOST_ROWS);
    }

    /// A sentence on how many records of how many jobs are doubtful.
    pub(super) fn counted(&self) -> String {
        let jobs = self.jobs.len() as u64;
        let jobs = if jobs == 1 { "1 job".to_owned() } else { format!("{} jobs", grouped(jobs)) };
        let (doubtful, records) = (grouped(self.doubtful), grouped(self.records));
        let refused = refused_told(self.refused);
        let mut text = format!("{doubtful} of {records} records of {jobs} are doubtful.{refused}");
        let without: Vec<&str> =
            self.jobs.iter().filter(|job| !job.has_records).map(|job| job.title.as_str()).collect();
        if !without.is_empty() {
            let _ = write!(text, " {}.", without_records(&without));
        }
        text
    }

    pub(super) fn html(&mut self) -> String {
        self.shorten();
        let page = IndexPage {
            policy: content_policy(&Mode::Static),
            counted: self.counted(),
            rows: &self.rows,
            jobs: &self.jobs,
            left_out: self.records + self.refused - self.rows.len() as u64,
        };
        page.render().unwrap_or_default()
    }
}

/// The jobs without a record: `No record has a.md; nor have 3 more`.
fn without_records(names: &[&str]) -> String {
    let first = names[..names.len().min(MOST_NAMED)].join(", ");
    match names.len().saturating_sub(MOST_NAMED) {
        0 => format!("Without any record: {first}"),
        more => format!("Without any record: {first} and {} more", grouped(more as u64)),
    }
}

fn row(file: &str, title: &str, record: &ReviewedRecord) -> IndexRow {
    let mut kinds: Vec<DoubtKind> = record.doubts.iter().map(|doubt| doubt.kind).collect();
    kinds.dedup();
    let quote = record.quotes.first();
    IndexRow {
        order: by_doubt(record),
        file: file.to_owned(),
        job_title: title.to_owned(),
        anchor: record.anchor.clone(),
        headline: shortened(&record.headline()),
        document: record.document().to_owned(),
        located: quote.map_or_else(|| title.to_owned(), super::ReviewedQuote::located),
        kinds,
        doubt_keys: record.doubt_keys(),
        is_approved: record.approval.is_some(),
    }
}

fn refused_row(file: &str, title: &str, record: &RefusedRecord) -> IndexRow {
    let kind = DoubtKind::Refused;
    IndexRow {
        order: (false, Some(kind), Reverse(1)),
        file: file.to_owned(),
        job_title: title.to_owned(),
        anchor: format!("refused-{}", record.number),
        headline: shortened(&record.content()),
        document: String::new(),
        located: title.to_owned(),
        kinds: vec![kind],
        doubt_keys: kind.key().to_owned(),
        is_approved: false,
    }
}

fn shortened(text: &str) -> String {
    let end = text.char_indices().nth(HEADLINE).map_or(text.len(), |(at, _)| at);
    if end < text.len() { format!("{}…", &text[..end]) } else { text.to_owned() }
}
