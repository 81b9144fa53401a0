use super::*;
use crate::report::{
    facts::{FailedAttempts, FileFacts, FileState, JobHolds, RecordState},
    headline::headline,
    links::ReportLinks,
    needs::NeedKind,
};
use crate::store::BatchTotals;
use overnight_core::job::record::JobSummary;
use overnight_documents::AGAINST_GAPS;
use proptest::prelude::*;
use std::path::Path;
use uuid::Uuid;

fn moment(text: &str) -> Timestamp {
    serde_json::from_value(text.into()).unwrap()
}

/// A completed job; its id is made from `place`.
fn job(place: u128) -> JobFacts {
    JobFacts {
        id: JobId(Uuid::from_u128(place)),
        summary: JobSummary {
            status: JobStatus::Completed,
            hold_reason: None,
            reason: None,
            completed_at: None,
            turns: 3,
            tokens_in: 10,
            tokens_out: 2,
            tokens_cached: 5,
            cost_usd: Some(0.1),
            worked_ms: 1_000,
            coverage: 1.0,
            confidence: Some(0.9),
            notes: None,
            approved_by: None,
            corrections: 0,
            phase_number: 0,
            phase_title: String::new(),
            phases_planned: 0,
            phases_complete: 0,
            summary: None,
            deliverables: Vec::new(),
            journal_seq: 0,
            journal_head: String::new(),
        },
        interrupted: false,
        worked_on: false,
        instructions: "task".to_owned(),
        instructions_sha256: "0".repeat(64),
        model: "offline".to_owned(),
        models: Vec::new(),
        documents: 1,
        not_read: Vec::new(),
        recognised: Vec::new(),
        document_names: vec!["a.md".to_owned()],
        created: moment("2026-11-21T20:00:00.000Z"),
        last: moment("2026-11-21T23:00:00.000Z"),
        paid: Vec::new(),
        priced_usd: 0.1,
        unpriced_turns: Some(0),
        checks_failed: Vec::new(),
        without_records: false,
        open_todos: Vec::new(),
        proof: None,
        refused_records: None,
        doubts: 0,
        attempts_failed: Vec::new(),
        holds: Vec::new(),
        deliverables: Vec::new(),
        workspace: "w".to_owned(),
        packed: false,
        record: RecordState::Whole,
        record_fault: None,
        batch: None,
        batch_name: None,
        label: None,
        attempts: None,
        max_attempts: None,
        run_after: None,
        host: None,
        same_as: None,
    }
}

fn with(mut job: JobFacts, change: impl FnOnce(&mut JobSummary)) -> JobFacts {
    change(&mut job.summary);
    job
}

fn standing(job: JobFacts, status: JobStatus, hold: Option<HoldReason>) -> JobFacts {
    with(job, |facts| (facts.status, facts.hold_reason) = (status, hold))
}

fn of(made: Timestamp, filter: &ReportFilter, mut jobs: Vec<JobFacts>) -> Report {
    jobs.sort_by_key(|job| job.id);
    Report::of(made, filter, jobs, &std::env::temp_dir()).unwrap()
}

fn report(jobs: Vec<JobFacts>) -> Report {
    of(Timestamp::default(), &ReportFilter::default(), jobs)
}

#[test]
fn money_is_added_without_what_binary_fractions_leave() {
    let jobs: Vec<JobFacts> = (0..10)
        .map(|place| JobFacts { priced_usd: 0.1, ..with(job(place), |facts| facts.cost_usd = Some(0.1)) })
        .collect();
    assert_eq!(report(jobs).spent.cost_usd, Some(1.0));
    let nothing = report(Vec::new()).spent;
    assert_eq!((nothing.cost_usd, nothing.cached_share), (Some(0.0), None));
    assert!(nothing.priced_usd.is_sign_positive());
}

#[test]
fn a_price_that_is_not_known_leaves_a_lower_bound() {
    let unknown = JobFacts { priced_usd: 0.25, unpriced_turns: Some(2), ..with(job(2), |facts| facts.cost_usd = None) };
    let spent = report(vec![job(1), unknown.clone()]).spent;
    assert_eq!((spent.cost_usd, spent.priced_usd), (None, 0.35));
    assert_eq!((spent.unpriced_jobs, spent.unpriced_turns), (1, Some(2)));
    // For a job that can't be read, not even the number of turns is known.
    let unread = JobFacts { priced_usd: 0.0, unpriced_turns: None, ..with(job(3), |facts| facts.cost_usd = None) };
    let spent = report(vec![job(1), unknown, unread]).spent;
    assert_eq!((spent.priced_usd, spent.unpriced_jobs, spent.unpriced_turns), (0.35, 2, None));
}

#[test]
fn attempts_and_holds_are_added_by_kind() {
    let attempts = |kind, times, waited_ms| FailedAttempts { kind, times, waited_ms };
    let holds = |reason, times| JobHolds { reason, times };
    let jobs = vec![
        JobFacts {
            attempts_failed: vec![
                attempts(FailureKind::RateLimited, 2, 700),
                attempts(FailureKind::Server, 4, u64::MAX),
            ],
            holds: vec![holds(HoldReason::Outage, 1)],
            ..job(1)
        },
        JobFacts {
            attempts_failed: vec![attempts(FailureKind::RateLimited, 3, 300), attempts(FailureKind::Server, 1, 9)],
            holds: vec![holds(HoldReason::Paused, 1), holds(HoldReason::Outage, 2)],
            ..job(2)
        },
    ];
    let report = report(jobs);
    let sum = |kind, times, jobs, waited_ms| AttemptTotals { kind, times, jobs, waited_ms };
    assert_eq!(
        report.attempts_failed,
        [sum(FailureKind::RateLimited, 5, 2, 1_000), sum(FailureKind::Server, 5, 2, u64::MAX)]
    );
    assert_eq!(
        report.holds,
        [
            HoldTotals { reason: HoldReason::Outage, times: 3, jobs: 2 },
            HoldTotals { reason: HoldReason::Paused, times: 1, jobs: 1 }
        ]
    );
}

#[test]
fn reasons_are_counted_by_status_and_words() {
    let held = |place, hold, reason: &str| {
        with(standing(job(place), JobStatus::Held, Some(hold)), |facts| facts.reason = Some(reason.to_owned()))
    };
    let report = report(vec![
        held(1, HoldReason::Limit, "no more"),
        held(2, HoldReason::Budget, "no more"),
        held(3, HoldReason::Budget, "no\n more"),
        with(standing(job(4), JobStatus::Failed, None), |facts| facts.reason = Some("no more".to_owned())),
    ]);
    let counted: Vec<_> =
        report.reasons.iter().map(|reason| (reason.status, reason.hold_reason, reason.jobs)).collect();
    assert_eq!(
        counted,
        [
            (JobStatus::Held, Some(HoldReason::Budget), 2),
            (JobStatus::Held, Some(HoldReason::Limit), 1),
            (JobStatus::Failed, None, 1)
        ]
    );
    assert_eq!(report.reasons[0].ids, [2, 3].map(|place| JobId(Uuid::from_u128(place))));
}

#[test]
fn jobs_are_in_it_that_were_made_or_worked_since() {
    let since = moment("2026-11-21T22:00:00.000Z");
    let before = moment("2026-11-21T21:59:59.999Z");
    let held =
        |place, created, last| JobFacts { created, last, ..with(job(place), |facts| facts.status = JobStatus::Held) };
    let jobs = vec![held(4, before, before), held(3, since, since), held(2, before, since), job(1)];
    let filter = ReportFilter { since: Some(since), older_waiting: 5, ..ReportFilter::default() };
    let report = of(since, &filter, jobs.clone());
    let ids: Vec<u128> = report.jobs.iter().map(|job| job.id.0.as_u128()).collect();
    assert_eq!((ids, report.made_before, report.older_waiting), (vec![1, 2, 3], 2, Some(6)));
    let filter = ReportFilter { standings: vec![JobStanding::Held], ..filter };
    let report = of(since, &filter, jobs);
    assert_eq!((report.counts.jobs, report.counts.held, report.older_waiting), (2, 2, None));
}

#[test]
fn who_is_needed_is_told_once_for_each_cause() {
    let file = |state| FileFacts { path: "output/a".to_owned(), sha256: String::new(), bytes: 1, state };
    // Rules state the same confidence for every result.
    let by_rules = with(job(10), |facts| facts.confidence = Some(0.3));
    let running = JobFacts { worked_on: true, ..with(job(1), |facts| facts.status = JobStatus::Running) };
    let waits = JobFacts { worked_on: true, ..standing(job(2), JobStatus::Held, Some(HoldReason::Outage)) };
    let left = JobFacts { worked_on: false, ..waits.clone() };
    let odd = JobFacts {
        model: "some/model".to_owned(),
        deliverables: vec![file(FileState::AsDelivered), file(FileState::Changed)],
        ..with(job(4), |facts| facts.confidence = Some(0.69))
    };
    let gone = JobFacts {
        record: RecordState::Gone,
        record_fault: Some("it is gone".to_owned()),
        deliverables: vec![file(FileState::Missing)],
        ..job(5)
    };
    let jobs = vec![by_rules, running, waits, JobFacts { id: JobId(Uuid::from_u128(3)), ..left }, odd, gone];
    let report = report(jobs);
    let needs: Vec<_> = report.needs_person.iter().map(|need| (need.why, need.job.0.as_u128())).collect();
    assert_eq!(
        needs,
        [(NeedKind::Held, 3), (NeedKind::Gone, 5), (NeedKind::Deliverable, 4), (NeedKind::Confidence, 4)]
    );
    let commands: Vec<&str> = report.needs_person.iter().map(|need| need.commands[0].as_str()).collect();
    let id = |place| JobId(Uuid::from_u128(place));
    assert_eq!(
        commands,
        [
            format!("overnight resume {}", id(3)),
            format!("overnight show {} --workspaces FOLDER", id(5)),
            format!("overnight audit verify {}", id(4)),
            format!("overnight show {}", id(4)),
        ]
    );
}

#[test]
fn a_report_begins_with_what_is_done_what_it_cost_and_what_needs_a_person() {
    let named = |place: u128, name: &str| JobFacts { label: Some(name.to_owned()), ..job(place) };
    let ended = |place, name, status| JobFacts {
        priced_usd: 0.0,
        ..with(named(place, name), |facts| (facts.status, facts.cost_usd) = (status, Some(0.0)))
    };
    for (jobs, sentence) in [
        (vec![], "There is no job to report on."),
        (vec![named(1, "a.md")], "1 of 1 document is done for 0.10 USD; nothing needs you."),
        (vec![named(1, "a.md"), named(2, "a.md")], "2 of 2 jobs are done for 0.20 USD; nothing needs you."),
        (
            vec![JobFacts { priced_usd: 0.0, documents: 2, ..with(named(1, "a"), |facts| facts.cost_usd = Some(0.0)) }],
            "1 of 1 job is done at no cost; nothing needs you.",
        ),
        (
            vec![with(named(1, "a.md"), |facts| facts.cost_usd = None), ended(2, "b.md", JobStatus::Failed)],
            "1 of 2 documents is done for more than 0.10 USD; 1 needs you.",
        ),
        (
            vec![
                named(1, "a.md"),
                ended(2, "b.md", JobStatus::Queued),
                ended(3, "c.md", JobStatus::Partial),
                ended(4, "d.md", JobStatus::Blocked),
                ended(5, "e.md", JobStatus::Cancelled),
            ],
            "1 of 5 documents is done for 0.10 USD, 1 is still to come, 1 is cancelled; 2 need you.",
        ),
    ] {
        assert_eq!(headline(&report(jobs)), sentence);
    }
}

#[test]
fn a_page_shows_some_of_very_many_jobs_and_says_so() {
    use crate::report::{
        markdown::markdown,
        page::{Page, Style},
    };
    let file =
        FileFacts { path: "output/a".to_owned(), sha256: "0".repeat(64), bytes: 2, state: FileState::AsDelivered };
    let failed = |place| JobFacts {
        deliverables: vec![file.clone()],
        ..with(standing(job(place), JobStatus::Failed, None), |facts| facts.reason = Some("x".repeat(400)))
    };
    // More jobs than are kept in memory.
    let report = report((1..=12_001).map(failed).collect());
    let links = ReportLinks::default();
    let style = Style { minute: &|_| String::new(), id: &|id| id.to_string(), links: &links };
    let page = Page::of(&report, &style);
    report.jobs.check().unwrap();
    let shown = page.sections.iter().filter_map(|section| {
        let table = section.table.as_ref()?;
        (table.rows.len() > 9).then_some((section.title, table.rows.len(), table.more))
    });
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            ("What needs a person", 10_000, 7_001),
            ("The slowest jobs", 10, 0),
            ("The dearest jobs", 10, 0),
            ("Deliverables", 10_000, 2_001),
            ("All jobs", 10_000, 2_001)
        ]
    );
    assert!(markdown(&page).contains("\n2001 more: the report as JSON"));
    let last = page.sections.last().and_then(|section| section.table.as_ref()?.rows.last()?.last()).unwrap();
    assert_eq!(last.text, JobId(Uuid::from_u128(10_000)).to_string());
    assert_eq!(serde_json::to_value(&report).unwrap()["jobs"].as_array().unwrap().len(), 12_001);
}

#[test]
fn links_are_seen_from_the_folder_of_the_report() {
    let file = |path: &str, state| FileFacts { path: path.to_owned(), sha256: String::new(), bytes: 1, state };
    let done = JobFacts { workspace: "/night/ws/1".to_owned(), ..job(1) };
    let links = ReportLinks::new(Path::new("/night/out"), Some("/night/out/re:view"));
    let to = |path| links.file(&done, &file(path, FileState::AsDelivered));
    assert_eq!(to("output/a b|(c)&<d>.md").as_deref(), Some("../ws/1/output/a%20b%7C%28c%29%26%3Cd%3E.md"));
    assert_eq!(links.file(&done, &file("a", FileState::Missing)), None);
    let packed = JobFacts { packed: true, ..done.clone() };
    assert_eq!(links.file(&packed, &file("output/a", FileState::AsDelivered)).as_deref(), Some("../ws/1.zip"));
    assert_eq!(links.review(done.id), Some(format!("./re:view/{}.html", done.id)));
    let served = ReportLinks::new(Path::new("/night"), Some("https://desk.example/review"));
    assert_eq!(served.review(done.id), Some(format!("https://desk.example/review/{}.html", done.id)));
}

proptest! {
    #[test]
    fn every_job_is_counted_once(places in prop::collection::vec((0_usize..9, 0_u64..1_000, any::<bool>()), 0..40)) {
        let statuses = [
            JobStatus::Queued, JobStatus::Running, JobStatus::Held, JobStatus::Completed, JobStatus::Partial,
            JobStatus::Blocked, JobStatus::Failed, JobStatus::Cancelled, JobStatus::Running,
        ];
        let jobs: Vec<JobFacts> = places
            .iter()
            .zip(1..)
            .map(|(&(status, worked_ms, interrupted), place)| {
                JobFacts { interrupted, ..with(job(place), |facts| { facts.status = statuses[status]; facts.worked_ms = worked_ms; }) }
            })
            .collect();
        let report = report(jobs.clone());
        let sum: u64 = JobStanding::ALL.iter().map(|standing| report.counts.number(*standing)).sum();
        prop_assert_eq!((sum, report.counts.jobs), (jobs.len() as u64, jobs.len() as u64));
        for standing in JobStanding::ALL {
            let number = jobs.iter().filter(|job| job.standing() == standing).count() as u64;
            prop_assert_eq!(report.counts.number(standing), number);
        }
        prop_assert_eq!(report.spent.worked_ms, places.iter().map(|place| place.1).sum::<u64>());
        let slowest: Vec<u64> = report.slowest.iter().map(|id| report.job(*id).unwrap().summary.worked_ms).collect();
        prop_assert!(slowest.is_sorted_by(|a, b| a >= b));
    }
}

#[test]
fn what_was_not_read_is_on_the_page() {
    use crate::report::{
        batch::BatchFacts,
        facts::{NotRead, Recognised},
        page::{Column, Page, ReportTable, Section, Style},
    };
    use overnight_core::job::left_out::LeftOutFile;
    let part = |document: &str, pages: Option<(u64, u64)>, why: &str| NotRead {
        document: document.to_owned(),
        from: pages.map(|(from, _)| from),
        to: pages.map(|(_, to)| to),
        why: why.to_owned(),
        whole: pages.is_none() && why == "a password",
    };
    let not_read = vec![
        part("a.pdf", Some((3, 4)), "a scan"),
        part("b.md", None, "its end is cut off"),
        part("c.pdf", None, "a password"),
    ];
    let recognised = vec![Recognised { document: "d.pdf".to_owned(), from: 2, to: 2 }];
    let mut report = report(vec![job(1), JobFacts { not_read, recognised, ..job(2) }]);
    report.batches = vec![BatchFacts {
        id: Uuid::nil(),
        name: Some("night".to_owned()),
        created: Timestamp::default(),
        instructions: "task".to_owned(),
        instructions_sha256: "0".repeat(64),
        model: "offline".to_owned(),
        time_window: None,
        budget_usd: None,
        spent_usd: 0.0,
        unpriced_jobs: 0,
        jobs: 2,
        totals: BatchTotals { completed: 2, ..BatchTotals::default() },
        left_out_files: 3,
        left_out: vec![LeftOutFile { path: "in/c.zip".to_owned(), why: "damaged".to_owned() }],
        cascade: None,
    }];
    let links = ReportLinks::default();
    let style = Style { minute: &|_| String::new(), id: &|id| id.to_string()[35..].to_owned(), links: &links };
    let told = |title: &str| Page::of(&report, &style).sections.into_iter().find(|section| section.title == title);
    let cell = |cell: &&str| (*cell).to_owned().into();
    let rows = |rows: &[&[&str]]| rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    assert_eq!(
        told("Not read"),
        Some(Section {
            title: "Not read",
            lines: vec![
                "Of these parts of the documents of 1 job not all was read, and WHY says what is missing; what was read on the same pages may be in a result."
                    .to_owned(),
                format!("To have a document read: {AGAINST_GAPS}."),
            ],
            table: Some(ReportTable {
                columns: vec![
                    ("DOCUMENT", Column::Name),
                    ("PART", Column::Words),
                    ("WHY", Column::Sentence),
                    ("JOB", Column::Words)
                ],
                minor: &[],
                rows: rows(&[
                    &["a.pdf", "pages 3-4", "a scan", "2"],
                    &["b.md", "not known where", "its end is cut off", "2"],
                    &["c.pdf", "all of it", "a password", "2"],
                ]),
                more: 0,
            }),
        })
    );
    let told_recognised = told("Recognised by OCR").and_then(|section| section.table).map(|table| table.rows);
    assert_eq!(told_recognised, Some(rows(&[&["d.pdf", "page 2", "2"]])));
    assert_eq!(
        told("Left out when submitted"),
        Some(Section {
            title: "Left out when submitted",
            lines: vec!["Of batch 'night', the first 1 of 3: more are not kept.".to_owned()],
            table: Some(ReportTable {
                columns: vec![("BATCH", Column::Name), ("FILE", Column::Name), ("WHY", Column::Sentence)],
                minor: &[],
                rows: rows(&[&["'night'", "in/c.zip", "damaged"]]),
                more: 0,
            }),
        })
    );
}
