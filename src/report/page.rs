//! The report in words and tables, for all readable formats (terminal, Markdown, HTML). Every text is one safe line; each format escapes it further.
//!
//! - `batches`: batches, and what waits in the queue; `needs`: what needs a person; `documents`: what was not read of the documents

mod batches;
mod documents;
mod needs;

use super::{
    count::{Report, tokens},
    facts::{JobFacts, JobStanding},
    spread::Spread,
    words::{counted, one_line, short, usd},
};
use overnight_core::amount::percent;
use overnight_core::job::{
    id::JobId,
    models,
    record::{HoldReason, JobStatus},
    time::Timestamp,
    time::duration,
};

/// A report, ready to be written in any format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub title: String,
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
    pub rows: Vec<Vec<String>>,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Words,
    Number,
    /// Long text, cut first where there is no room.
    Sentence,
    /// What can be typed as it stands.
    Command,
}

/// How times and ids are written.
#[derive(Clone, Copy)]
pub struct Style<'s> {
    pub minute: &'s dyn Fn(Timestamp) -> String,
    /// As short as it is unambiguous.
    pub id: &'s dyn Fn(JobId) -> String,
}

impl std::fmt::Debug for Style<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Style").finish_non_exhaustive()
    }
}

impl Page {
    pub fn of(report: &Report, style: &Style<'_>) -> Self {
        let sections = [
            standings(report),
            batches::batches(report, style),
            batches::waiting(report, style),
            batches::given_up(report, style),
            reasons(report),
            needs::needs(report, style),
            quality(report),
            checks(report),
            proofs(report, style),
            retries(report),
            spent(report),
            ranked(report, style, "The slowest jobs", &report.slowest),
            ranked(report, style, "The dearest jobs", &report.dearest),
            documents::not_read(report, style),
            documents::recognised(report, style),
            documents::left_out(report),
            deliverables(report, style),
            jobs(report, style),
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
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    fn with(mut self, rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        self.rows.extend(rows.into_iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()));
        self
    }
}

fn about(report: &Report, style: &Style<'_>) -> Vec<String> {
    let mut lines = vec![format!("Made {}.", (style.minute)(report.made))];
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
        table.with(rows.map(|(standing, number)| vec![standing.name().to_owned(), number.to_string()])),
    )?;
    if report.counts.linked > 0 {
        let linked = counted(report.counts.linked, "completed job");
        section.lines.push(format!("Linked to what was done before, and not done again: {linked}."));
    }
    Some(section)
}

/// What stands in a column of [`JobFacts::called`].
fn called(report: &Report) -> &'static str {
    let labelled = report.jobs.iter().filter(|job| job.label.is_some()).count();
    match labelled {
        0 => "INSTRUCTIONS",
        _ if labelled == report.jobs.len() => "LABEL",
        _ => "LABEL OR INSTRUCTIONS",
    }
}

/// `held (budget)`.
fn standing(name: &str, hold: Option<HoldReason>) -> String {
    hold.map_or_else(|| name.to_owned(), |reason| format!("{name} ({reason})"))
}

fn reasons(report: &Report) -> Option<Section> {
    let table = ReportTable::new(&[("JOBS", Column::Number), ("STATUS", Column::Words), ("REASON", Column::Sentence)]);
    let rows = report.reasons.iter().map(|reason| {
        vec![reason.jobs.to_string(), standing(reason.status.name(), reason.hold_reason), short(&reason.reason)]
    });
    section("Why", table.with(rows))
}

fn quality(report: &Report) -> Option<Section> {
    let table = ReportTable::new(&[
        ("", Column::Words),
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

/// Whose result was read twice or judged.
fn proofs(report: &Report, style: &Style<'_>) -> Option<Section> {
    let table = ReportTable::new(&[("JOB", Column::Words), ("WHAT IS PROVED", Column::Sentence)]);
    let rows = report.jobs.iter().filter_map(|job| Some(vec![(style.id)(job.id), job.proof.as_ref()?.told()]));
    section("Read twice, and judged", table.with(rows))
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
    let lost: Vec<u64> =
        report.jobs.iter().filter_map(|job| job.attempts).filter(|times| *times > 0).map(u64::from).collect();
    let lost = (!lost.is_empty())
        .then(|| row("failed attempt at a job", "", lost.iter().sum(), lost.len() as u64, String::new()));
    section("Retries, outages and holds", table.with(attempts.chain(holds).chain(lost)))
}

fn spent(report: &Report) -> Option<Section> {
    let spent = &report.spent;
    let table = ReportTable::new(&[("WHAT", Column::Words), ("SUM", Column::Number)]);
    let cached = spent.cached_share.map(|share| format!(" ({})", percent(share))).unwrap_or_default();
    let mut rows = vec![
        vec!["turns".to_owned(), spent.turns.to_string()],
        vec!["tokens in".to_owned(), spent.tokens_in.to_string()],
        vec!["of these cached".to_owned(), format!("{}{cached}", spent.tokens_cached)],
        vec!["tokens out".to_owned(), spent.tokens_out.to_string()],
        vec!["time of work".to_owned(), duration(spent.worked_ms)],
    ];
    let mut lines = Vec::new();
    if let Some(cost) = spent.cost_usd {
        rows.push(vec!["USD".to_owned(), usd(cost)]);
    } else {
        rows.push(vec!["USD, where known".to_owned(), usd(spent.priced_usd)]);
        let turns = spent.unpriced_turns.map(|turns| format!(" ({})", counted(turns, "turn"))).unwrap_or_default();
        lines.push(format!(
            "The price is not known in {}{turns}: the cost is more than the sum says.",
            counted(spent.unpriced_jobs, "job")
        ));
    }
    (report.counts.jobs > 0).then(|| Section { title: "Spent", lines, table: Some(table.with(rows)) })
}

/// What a job cost; a lower bound says so.
fn cost(job: &JobFacts) -> String {
    match job.cost_usd {
        _ if job.turns == 0 => "–".to_owned(),
        Some(cost) => usd(cost),
        None if job.priced_usd > 0.0 => format!("more than {}", usd(job.priced_usd)),
        None => "not known".to_owned(),
    }
}

fn ranked(report: &Report, style: &Style<'_>, title: &'static str, ids: &[JobId]) -> Option<Section> {
    let table = ReportTable::new(&[
        ("JOB", Column::Words),
        (called(report), Column::Words),
        ("WORKED", Column::Number),
        ("TURNS", Column::Number),
        ("TOKENS", Column::Number),
        ("USD", Column::Number),
    ]);
    let rows = ids.iter().filter_map(|id| report.job(*id)).map(|job| {
        vec![
            (style.id)(job.id),
            short(job.called()),
            duration(job.worked_ms),
            job.turns.to_string(),
            tokens(job).to_string(),
            cost(job),
        ]
    });
    section(title, table.with(rows))
}

fn deliverables(report: &Report, style: &Style<'_>) -> Option<Section> {
    let sums = &report.deliverables;
    let table = ReportTable::new(&[
        ("JOB", Column::Words),
        ("STATUS", Column::Words),
        ("BYTES", Column::Number),
        ("STATE", Column::Words),
        ("FILE", Column::Words),
    ]);
    let rows = report.jobs.iter().flat_map(|job| {
        job.deliverables.iter().map(|file| {
            vec![
                (style.id)(job.id),
                standing(job.standing().name(), job.hold_reason),
                file.bytes.to_string(),
                file.state.name().to_owned(),
                format!("{}/{}", job.workspace, file.path),
            ]
        })
    });
    let mut section = section("Deliverables", table.with(rows))?;
    section.lines.push(format!(
        "{} of {}, {}.",
        counted(sums.files, "file"),
        counted(sums.jobs, "job"),
        counted(sums.bytes, "byte")
    ));
    let lost = [
        (sums.changed, "changed since"),
        (sums.missing, "missing"),
        (sums.unreadable, "unreadable"),
        (sums.elsewhere, "on other machines, and not looked at"),
        (sums.stored, "in the workspace store, and not looked at"),
    ];
    let lost: Vec<String> =
        lost.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")).collect();
    if !lost.is_empty() {
        section.lines.push(format!("Not as delivered: {}.", lost.join(", ")));
    }
    if let Some(collected) = &report.collected {
        section.lines.push(format!(
            "Collected: {}, {}, in {}; index.csv and index.json there list them.",
            counted(collected.files, "file"),
            counted(collected.bytes, "byte"),
            one_line(&collected.folder)
        ));
        section.lines.extend(collected.faults.iter().map(|fault| format!("Not as delivered: {}.", one_line(fault))));
    }
    Some(section)
}

fn jobs(report: &Report, style: &Style<'_>) -> Option<Section> {
    let table = ReportTable::new(&[
        ("JOB", Column::Words),
        ("STATUS", Column::Words),
        (called(report), Column::Words),
        ("MODEL", Column::Words),
        ("DOCUMENTS", Column::Number),
        ("CREATED", Column::Words),
        ("WORKED", Column::Number),
        ("TURNS", Column::Number),
        ("USD", Column::Number),
        ("COVERAGE", Column::Number),
        ("CONFIDENCE", Column::Number),
    ]);
    let rows = report.jobs.iter().map(|job| {
        vec![
            (style.id)(job.id),
            standing(job.standing().name(), job.hold_reason),
            short(job.called()),
            models::list_models(&job.models, &job.model),
            job.documents.to_string(),
            (style.minute)(job.created),
            worked(job),
            job.turns.to_string(),
            cost(job),
            if job.turns > 0 || job.same_as.is_some() { percent(job.coverage) } else { "–".to_owned() },
            job.confidence.map_or_else(|| "–".to_owned(), |confidence| confidence.to_string()),
        ]
    });
    section("All jobs", table.with(rows))
}

fn worked(job: &JobFacts) -> String {
    if job.worked_ms == 0 && job.status != JobStatus::Running { "–".to_owned() } else { duration(job.worked_ms) }
}
