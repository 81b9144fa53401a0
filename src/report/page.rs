//! The report in words and tables, for all readable formats (terminal, Markdown, HTML). Every text is one safe line; each format escapes it further.
//!
//! - `needs`: what needs a person; `notes`: what models noted; `without_records`: jobs without one; `batches`: batches, and what waits in the queue
//! - `documents`: what was not read of the documents; `jobs`: the jobs and their deliverables; `spent`: what they cost

mod batches;
mod documents;
mod jobs;
mod needs;
mod notes;
mod spent;
mod without_records;

use super::{
    cell::{PageCell, Tone},
    count::{Called, Report},
    facts::{JobFacts, JobStanding},
    headline::headline,
    links::ReportLinks,
    spread::Spread,
    words::{counted, one_line, short},
};
use overnight_core::amount::percent;
use overnight_core::job::{
    id::JobId, record::HoldReason, refused_records::RefusedCounts, time::Timestamp, time::duration,
};

/// A report, ready to be written in any format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub title: String,
    /// Sentences; the first summarises the report: [`headline`].
    pub lines: Vec<String>,
    pub sections: Vec<Section>,
}

/// A heading, sentences, and at most one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub title: &'static str,
    pub lines: Vec<String>,
    pub table: Option<ReportTable>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportTable {
    pub columns: Vec<(&'static str, Column)>,
    /// Columns that are left out if there is no room, the least important first.
    pub minor: &'static [&'static str],
    pub rows: Vec<Vec<PageCell>>,
    /// The number of further rows, which only the JSON report has: a page is for people.
    pub more: u64,
}

/// Rows of a table, at most.
pub(super) const MOST_ROWS: usize = 10_000;

/// The kind of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Words,
    /// A document, a path, a label: cut in its middle if there is no room.
    Name,
    Number,
    /// Long text, cut first if there is no room.
    Sentence,
    /// A command that can be typed unchanged.
    Command,
}

impl Column {
    /// The style class of its cells.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Name => "name",
            Self::Number => "number",
            Self::Sentence => "sentence",
            Self::Command => "command",
        }
    }

    pub(super) fn is_typed(self) -> bool {
        self == Self::Command
    }
}

/// The format of times and ids.
#[derive(Clone, Copy)]
pub struct Style<'s> {
    pub minute: &'s dyn Fn(Timestamp) -> String,
    /// The shortest unambiguous form of an id.
    pub id: &'s dyn Fn(JobId) -> String,
    pub links: &'s ReportLinks,
}

impl std::fmt::Debug for Style<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Style").finish_non_exhaustive()
    }
}

impl Page {
    pub fn of(report: &Report, style: &Style<'_>) -> Self {
        let sections = [
            needs::needs(report, style),
            standings(report),
            batches::batches(report, style),
            batches::waiting(report, style),
            batches::given_up(report, style),
            reasons(report),
            without_records::without_records(report, style),
            notes::notes(report, style),
            documents::not_read(report, style),
            documents::recognised(report, style),
            documents::left_out(report),
            quality(report),
            checks(report),
            proofs(report, style),
            refused(report, style),
            doubts(report, style),
            retries(report),
            spent::spent(report),
            spent::ranked(report, style, "The slowest jobs", &report.slowest),
            spent::ranked(report, style, "The dearest jobs", &report.dearest),
            jobs::deliverables(report, style),
            jobs::jobs(report, style),
        ];
        Self {
            title: format!("Report on {}{}", counted(report.counts.jobs, "job"), batches::of_one(report)),
            lines: about(report, style),
            sections: sections.into_iter().flatten().collect(),
        }
    }
}

impl ReportTable {
    fn new(columns: &[(&'static str, Column)]) -> Self {
        Self { columns: columns.to_vec(), minor: &[], rows: Vec::new(), more: 0 }
    }

    fn with_minor(self, minor: &'static [&'static str]) -> Self {
        Self { minor, ..self }
    }

    fn with<C: Into<PageCell>>(mut self, rows: impl IntoIterator<Item = Vec<C>>) -> Self {
        let safe = |cell: PageCell| PageCell { text: one_line(&cell.text), ..cell };
        self.rows.extend(rows.into_iter().map(|row| row.into_iter().map(|cell| safe(cell.into())).collect()));
        self
    }

    /// The first of `all` rows.
    fn with_first_of<C: Into<PageCell>>(self, all: u64, rows: impl IntoIterator<Item = Vec<C>>) -> Self {
        let table = self.with(rows.into_iter().take(MOST_ROWS));
        let more = all.saturating_sub(table.rows.len() as u64);
        Self { more, ..table }
    }

    /// The line below a table that doesn't show all rows.
    pub fn more_line(&self) -> Option<String> {
        (self.more > 0)
            .then(|| format!("{} more: the report as JSON (--json, or -o report.json) has them all.", self.more))
    }
}

fn about(report: &Report, style: &Style<'_>) -> Vec<String> {
    let mut lines = vec![headline(report), format!("Made {}.", (style.minute)(report.made))];
    let stand =
        if report.statuses.is_empty() { String::new() } else { format!(" that are {}", report.statuses.join(" or ")) };
    match report.since {
        Some(since) => lines.push(format!("Jobs{stand} made or worked since {}.", (style.minute)(since))),
        None if stand.is_empty() => {}
        None => lines.push(format!("Jobs{stand}.")),
    }
    if report.made_before > 0 {
        let some = counted(report.made_before, "job");
        lines.push(format!("{some} of these began before that; the numbers are of the whole jobs all the same."));
    }
    if report.counts.running > 0 {
        let some = counted(report.counts.running, "job");
        lines.push(format!("{some} still running: the numbers are those of the last checkpoint."));
    }
    if let Some(waiting) = report.older_waiting.filter(|waiting| *waiting > 0) {
        let some = counted(waiting, "older job");
        lines.push(format!("Not in this report: {some} held or interrupted before that (overnight jobs)."));
    }
    lines
}

fn section(title: &'static str, table: ReportTable) -> Option<Section> {
    (!table.rows.is_empty()).then_some(Section { title, lines: Vec::new(), table: Some(table) })
}

fn standings(report: &Report) -> Option<Section> {
    let rows = JobStanding::ALL.into_iter().map(|standing| (standing, report.counts.number(standing)));
    let rows = rows.filter(|(_, number)| *number > 0);
    let table = ReportTable::new(&[("STATUS", Column::Words), ("JOBS", Column::Number)]);
    let mut section = section(
        "How the jobs stand",
        table.with(rows.map(|(standing, number)| {
            vec![PageCell::toned(standing.name().to_owned(), Tone::of(standing)), number.to_string().into()]
        })),
    )?;
    if report.counts.linked > 0 {
        let linked = counted(report.counts.linked, "job");
        section.lines.push(format!("Linked to what was done before, and not done again: {linked}."));
    }
    Some(section)
}

/// The heading of a column of [`JobFacts::called`].
fn called(report: &Report) -> &'static str {
    match report.page.called {
        Called::Document => "DOCUMENT",
        Called::Label => "LABEL",
        Called::Instructions => "INSTRUCTIONS",
        Called::Name => "NAME",
    }
}

/// A person's name for the job, with a link to its review, or else to its first deliverable.
fn named(job: &JobFacts, style: &Style<'_>) -> PageCell {
    let delivered = || job.deliverables.iter().find_map(|file| style.links.file(job, file));
    // A job without deliverables has nothing to review.
    let review = style.links.review(job.id).filter(|_| !job.deliverables.is_empty());
    PageCell::linked(short(job.called()), review.or_else(delivered))
}

fn job_id(job: &JobFacts, style: &Style<'_>) -> PageCell {
    (style.id)(job.id).into()
}

/// `held (budget)`.
fn state(job: &JobFacts) -> PageCell {
    PageCell::toned(standing(job.standing().name(), job.summary.hold_reason), Tone::of(job.standing()))
}

/// `held (budget)`.
fn standing(name: &str, hold: Option<HoldReason>) -> String {
    hold.map_or_else(|| name.to_owned(), |reason| format!("{name} ({reason})"))
}

fn reasons(report: &Report) -> Option<Section> {
    let table = ReportTable::new(&[("JOBS", Column::Number), ("STATUS", Column::Words), ("REASON", Column::Sentence)]);
    let rows = report.reasons.iter().map(|reason| {
        let status = standing(reason.status.name(), reason.hold_reason);
        let status = PageCell::toned(status, Tone::of_status(reason.status));
        vec![reason.jobs.to_string().into(), status, short(&reason.reason).into()]
    });
    section("Why", table.with(rows))
}

fn quality(report: &Report) -> Option<Section> {
    let table = ReportTable::new(&[
        ("WHAT", Column::Words),
        ("JOBS", Column::Number),
        ("LEAST", Column::Number),
        ("MIDDLE", Column::Number),
        ("MOST", Column::Number),
    ]);
    let row = |name: &str, spread: &Option<Spread>, show: &dyn Fn(f64) -> String| {
        let spread = (*spread)?;
        let numbers = [spread.least, spread.middle, spread.most].map(show);
        Some([vec![name.to_owned(), spread.jobs.to_string()], numbers.to_vec()].concat())
    };
    let rows = [
        row("confidence", &report.confidence, &|number| number.to_string()),
        row("coverage", &report.coverage, &percent),
    ];
    section("Confidence and coverage", table.with(rows.into_iter().flatten()))
}

fn checks(report: &Report) -> Option<Section> {
    let table = ReportTable::new(&[("JOBS", Column::Number), ("CHECK", Column::Sentence)]);
    let rows = report.checks_failed.iter().map(|failed| vec![failed.jobs.to_string(), short(&failed.check)]);
    section("Checks that were not met", table.with(rows))
}

/// Jobs whose results were read twice or judged.
fn proofs(report: &Report, style: &Style<'_>) -> Option<Section> {
    let table = ReportTable::new(&[
        (called(report), Column::Name),
        ("WHAT IS PROVED", Column::Sentence),
        ("JOB", Column::Words),
    ]);
    let row = |job: JobFacts| Some(vec![named(&job, style), job.proof.as_ref()?.told().into(), job_id(&job, style)]);
    let rows = report.jobs.iter().take_while(|_| report.page.proofs > 0).filter_map(row);
    section("Read twice, and judged", table.with_first_of(report.page.proofs, rows))
}

/// Jobs of which records were refused when they were added.
fn refused(report: &Report, style: &Style<'_>) -> Option<Section> {
    let table = ReportTable::new(&[
        (called(report), Column::Name),
        ("REFUSED", Column::Number),
        ("MENDED", Column::Number),
        ("NOT IN THE RESULT", Column::Number),
        ("JOB", Column::Words),
    ]);
    let row = |job: JobFacts| {
        let RefusedCounts { refused, mended, unmended } = job.refused_records?;
        let numbers = [refused, mended, unmended].map(|number| PageCell::from(number.to_string()));
        Some([vec![named(&job, style)], numbers.into(), vec![job_id(&job, style)]].concat())
    };
    let rows = report.jobs.iter().take_while(|_| report.page.refused > 0).filter_map(row);
    section("Records that were refused when they were added", table.with_first_of(report.page.refused, rows))
}

/// Jobs with values that a person should look at.
fn doubts(report: &Report, style: &Style<'_>) -> Option<Section> {
    let table = ReportTable::new(&[(called(report), Column::Name), ("VALUES", Column::Number), ("JOB", Column::Words)]);
    let row = |job: JobFacts| {
        (job.doubts > 0).then(|| vec![named(&job, style), job.doubts.to_string().into(), job_id(&job, style)])
    };
    let rows = report.jobs.iter().take_while(|_| report.page.doubtful > 0).filter_map(row);
    section("Values in doubt", table.with_first_of(report.page.doubtful, rows))
}

fn retries(report: &Report) -> Option<Section> {
    let table = ReportTable::new(&[
        ("WHAT", Column::Words),
        ("KIND", Column::Words),
        ("TIMES", Column::Number),
        ("JOBS", Column::Number),
        ("WAITED", Column::Number),
    ]);
    let row = |what: &str, kind: &str, times: u64, jobs: u64, waited: String| {
        vec![what.to_owned(), kind.to_owned(), times.to_string(), jobs.to_string(), waited]
    };
    let attempts = report
        .attempts_failed
        .iter()
        .map(|sum| row("failed attempt", sum.kind.name(), sum.times, sum.jobs, duration(sum.waited_ms)));
    let holds = report.holds.iter().map(|sum| row("hold", sum.reason.name(), sum.times, sum.jobs, String::new()));
    let (times, jobs) = report.page.lost_attempts;
    let lost = (jobs > 0).then(|| row("failed attempt at a job", "", times, jobs, String::new()));
    section("Retries, outages and holds", table.with(attempts.chain(holds).chain(lost)))
}
