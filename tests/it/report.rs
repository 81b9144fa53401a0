//! `overnight report` over a night in which nearly everything happened: the real program on real jobs. Its numbers are
//! computed here again, from the database's rows and the journals' bytes, and its readable forms are compared whole, with
//! ids and places replaced; `UPDATE=1` rewrites what is expected.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]
#![expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small numbers")]

mod collected;
mod night;

use crate::support::{events, golden};
use night::{Night, normal};
use overnight::store::JobRow;
use overnight_core::job::record::JobStatus;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs};

#[track_caller]
fn check(name: &str, text: &str) {
    golden(&format!("report/expected/{name}"), text);
}

fn sum(rows: &[JobRow], of: fn(&JobRow) -> u64) -> u64 {
    rows.iter().map(of).sum()
}

/// The least, the middle (the lower of two) and the most.
fn spread(mut numbers: Vec<f64>) -> Value {
    numbers.sort_by(f64::total_cmp);
    let middle = if numbers.len() % 2 == 1 { numbers.len() / 2 } else { numbers.len() / 2 - 1 };
    json!({"jobs": numbers.len(), "least": numbers[0], "middle": numbers[middle], "most": numbers[numbers.len() - 1]})
}

#[test]
fn report_numbers_are_those_of_the_database_and_the_workspaces() {
    let night = Night::whole();
    let report = night.json(&["report", "--json"]);
    let rows = night.rows();
    assert_eq!(
        report["counts"],
        json!({
            "jobs": 14, "completed": 4, "partial": 2, "blocked": 1, "failed": 1, "held": 4, "interrupted": 1, "running": 0,
            "waiting": 0, "queued": 0, "cancelled": 1, "linked": 0,
        })
    );
    let number = |status: JobStatus| rows.iter().filter(|row| row.state.status == status).count();
    assert_eq!(report["counts"]["completed"], json!(number(JobStatus::Completed)));
    assert_eq!(report["counts"]["partial"], json!(number(JobStatus::Partial)));
    assert_eq!(report["counts"]["held"], json!(number(JobStatus::Held)));
    assert_eq!(report["counts"]["interrupted"], json!(number(JobStatus::Running)));

    let ids: Vec<String> = rows.iter().map(|row| row.job.id.to_string()).collect();
    let reported: Vec<&str> =
        report["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect();
    assert_eq!(reported, ids);

    // What was spent: from the rows.
    let spent = &report["spent"];
    assert_eq!(spent["turns"], json!(sum(&rows, |row| row.state.turns)));
    assert_eq!(spent["tokens_in"], json!(sum(&rows, |row| row.state.tokens_in)));
    assert_eq!(spent["tokens_out"], json!(sum(&rows, |row| row.state.tokens_out)));
    assert_eq!(spent["tokens_cached"], json!(sum(&rows, |row| row.state.tokens_cached)));
    assert_eq!(spent["worked_ms"], json!(sum(&rows, |row| row.state.worked_ms)));
    let share = sum(&rows, |row| row.state.tokens_cached) as f64 / sum(&rows, |row| row.state.tokens_in) as f64;
    assert!(share > 0.0);
    assert_eq!(spent["cached_share"], json!(share));

    // What only the journals know: from their bytes. Two of the workspaces can't be read.
    let (mut priced_usd, mut unpriced_turns, mut unpriced_jobs) = (0_i64, 0, 0);
    let mut attempts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut holds: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for row in &rows {
        let mut of_job: BTreeMap<(&str, String), u64> = BTreeMap::new();
        let mut unpriced = 0;
        let is_readable = ![night.gone(), night.broken()].contains(&row.job.id);
        let events = if is_readable { events(&night.workspace(row.job.id)) } else { Vec::new() };
        for event in &events {
            match event["type"].as_str().unwrap() {
                "model_replied" => match event["cost_usd"].as_f64() {
                    // The model of the test costs whole millionths.
                    Some(cost) => priced_usd += (cost * 1e6).round() as i64,
                    None => unpriced += 1,
                },
                "attempt_failed" => {
                    *of_job.entry(("attempt", event["kind"].as_str().unwrap().to_owned())).or_default() += 1;
                }
                "held" => *of_job.entry(("hold", event["reason"].as_str().unwrap().to_owned())).or_default() += 1,
                _ => {}
            }
        }
        unpriced_turns += unpriced;
        unpriced_jobs += u64::from(unpriced > 0);
        for ((what, kind), times) in of_job {
            let sums = if what == "attempt" { &mut attempts } else { &mut holds }.entry(kind).or_default();
            *sums = (sums.0 + times, sums.1 + 1);
        }
    }
    assert!(priced_usd > 0 && unpriced_turns > 0);
    assert_eq!(spent["priced_usd"], json!(priced_usd as f64 / 1e6));
    assert_eq!((&spent["cost_usd"], &spent["unpriced_jobs"]), (&Value::Null, &json!(unpriced_jobs)));
    assert_eq!(spent["unpriced_turns"], json!(unpriced_turns));
    assert_eq!(attempts.keys().collect::<Vec<_>>(), ["context_length", "key_refused"]);
    for (field, name, expected) in [("attempts_failed", "kind", attempts), ("holds", "reason", holds)] {
        let told: BTreeMap<String, (u64, u64)> = report[field]
            .as_array()
            .unwrap()
            .iter()
            .map(|sums| {
                let number = |of: &str| sums[of].as_u64().unwrap();
                (sums[name].as_str().unwrap().to_owned(), (number("times"), number("jobs")))
            })
            .collect();
        assert_eq!(told, expected, "{field}");
    }

    // Spreads: from the rows.
    assert_eq!(report["confidence"], spread(rows.iter().filter_map(|row| row.state.confidence).collect()));
    let worked = rows.iter().filter(|row| row.state.turns > 0);
    assert_eq!(report["coverage"], spread(worked.map(|row| row.state.coverage).collect()));

    // Reasons: from the rows, counted.
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for reason in rows.iter().filter_map(|row| row.state.reason.as_deref()) {
        *reasons.entry(overnight::report::words::one_line(reason)).or_default() += 1;
    }
    let told: Vec<(String, u64)> = report["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reason| (reason["reason"].as_str().unwrap().to_owned(), reason["jobs"].as_u64().unwrap()))
        .collect();
    assert!(told.is_sorted_by(|a, b| a.1 >= b.1), "{told:?}");
    assert_eq!(told[0].1, 3, "{told:?}");
    assert_eq!(told.into_iter().collect::<BTreeMap<_, _>>(), reasons);

    // Deliverables: from the rows, and as they lie there.
    let files: Vec<_> = rows.iter().flat_map(|row| row.state.deliverables.clone()).collect();
    assert_eq!(
        report["deliverables"],
        json!({
            "jobs": rows.iter().filter(|row| !row.state.deliverables.is_empty()).count(),
            "files": files.len(),
            "bytes": files.iter().map(|file| file.bytes).sum::<u64>(),
            "changed": 1, "missing": 1, "unreadable": 0, "elsewhere": 0, "stored": 0,
        })
    );

    // The order of the slowest and of the dearest.
    let of = |field: &str| -> Vec<String> {
        report[field].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
    };
    let mut slowest: Vec<&JobRow> = rows.iter().filter(|row| row.state.worked_ms > 0).collect();
    slowest.sort_by_key(|row| (std::cmp::Reverse(row.state.worked_ms), row.job.id));
    assert_eq!(of("slowest"), slowest.iter().take(10).map(|row| row.job.id.to_string()).collect::<Vec<_>>());
    assert_eq!(of("dearest")[0], night.priced().to_string());
}

#[test]
fn report_tells_the_same_in_each_form() {
    let night = Night::whole();
    // What differs from run to run.
    night.level();
    check("report.txt", &normal(&night, &night.says(0, &["report"])));
    check("report.md", &normal(&night, &night.says(0, &["report", "--format", "markdown"])));
    check("report.html", &normal(&night, &night.says(0, &["report", "--format", "html"])));
    let report = night.json(&["report", "--format", "json"]);
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    let first = |field: &str| names(&report[field][0]);
    let fields = [
        ("report", names(&report)),
        ("counts", names(&report["counts"])),
        ("reasons", first("reasons")),
        ("checks_failed", first("checks_failed")),
        ("confidence", names(&report["confidence"])),
        ("attempts_failed", first("attempts_failed")),
        ("holds", first("holds")),
        ("spent", names(&report["spent"])),
        ("needs_person", first("needs_person")),
        ("deliverables", names(&report["deliverables"])),
        ("jobs", first("jobs")),
        ("jobs.deliverables", names(&report["jobs"][0]["deliverables"][0])),
    ]
    .map(|(what, names)| format!("{what}: {names}\n"));
    check("json-fields.txt", &fields.concat());

    // The page is one file that loads nothing and runs nothing, whatever models wrote.
    let html = night.says(0, &["report", "--format", "html"]);
    for word in ["<script", "<img", "<b>", "javascript:", "src=", "http://", "https://", "@import", "url("] {
        assert!(!html.contains(word), "{word}");
    }
    assert!(html.contains(&format!("<a href=\"./workspaces/{}/output/report.md\">", night.priced())));
    assert!(html.contains("&#60;script&#62;alert(1)&#60;/script&#62;"), "{html}");
    // No form has what a terminal obeys.
    for form in ["text", "markdown", "html"] {
        let text = night.says(0, &["report", "--format", form]);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{form}");
    }
}

#[test]
fn report_is_about_what_is_asked_for() {
    let night = Night::whole();
    let ids = |words: &[&str]| -> Vec<String> {
        let report = night.json(words);
        report["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap().to_owned()).collect()
    };
    let rows = night.rows();
    let with = |fits: &dyn Fn(&JobRow) -> bool| -> Vec<String> {
        rows.iter().filter(|row| fits(row)).map(|row| row.job.id.to_string()).collect()
    };
    let held = with(&|row| row.state.status == JobStatus::Held);
    assert_eq!(ids(&["report", "--json", "--status", "held"]), held);
    let both = with(&|row| matches!(row.state.status, JobStatus::Held | JobStatus::Blocked));
    assert_eq!(ids(&["report", "--json", "--status", "held,blocked"]), both);
    assert_eq!(ids(&["report", "--json", "--status", "blocked", "--status", "held"]), both);
    let interrupted = with(&|row| row.state.status == JobStatus::Running);
    assert_eq!(ids(&["report", "--json", "--status", "interrupted"]), interrupted);
    assert_eq!(ids(&["report", "--json", "last"]), [rows.last().unwrap().job.id.to_string()]);
    let two = [rows[0].job.id.to_string(), rows[3].job.id.to_string()];
    assert_eq!(ids(&["report", "--json", &two[1], &two[0], &two[0]]), two);

    // A job of yesterday that was worked today is in it, with a word on it; one that only waits is counted.
    night.age(3, "2 days");
    let since = night.json(&["report", "--json", "--since", "1h"]);
    assert_eq!((&since["counts"]["jobs"], &since["made_before"]), (&json!(14), &json!(1)));
    assert_eq!(since["older_waiting"], json!(0));
    let future = night.json(&["report", "--json", "--since", "2999-01-01"]);
    assert_eq!((&future["counts"]["jobs"], &future["older_waiting"]), (&json!(0), &json!(5)));
    let nothing = night.says(0, &["report", "--since", "2999-01-01"]);
    assert_eq!(
        nothing.lines().filter(|line| !line.starts_with("Made ")).collect::<Vec<_>>(),
        [
            "Report on 0 jobs",
            "There is no job to report on.",
            "Jobs made or worked since 2999-01-01 00:00 UTC.",
            "Not in this report: 5 older jobs held or interrupted before that (overnight jobs).",
            "",
            "What needs a person",
            "  Nothing needs a person."
        ]
    );

    for (words, sentence) in [
        (&["report", "feedbeef"][..], "error: no job has the id 'feedbeef' or one that begins so"),
        (&["report", "--output", "nowhere/report.md"], "error: there is no folder "),
        (
            &["report", "--status", "done"],
            "error: invalid value 'done' for '--status <STATUS>': it is one of completed",
        ),
        (&["report", "--since", "late"], "error: invalid value 'late' for '--since <TIME>': 'late' is not a time"),
        (&["report", "--json", "--format", "html"], "error: the argument '--json' cannot be used with '--format"),
    ] {
        let refused = night.refuses(2, words);
        assert!(refused.starts_with(sentence), "{refused}");
    }
}

#[test]
fn report_goes_into_a_file_in_the_form_of_its_name() {
    let night = Night::new();
    night.run(0, "task", "", &night::usual(), &[]);
    for (file, begins) in [
        ("a.html", "<!doctype html>"),
        ("a.md", "# Report on 1 job\n"),
        ("a.json", "{"),
        ("a.txt", "Report on 1 job\n"),
    ] {
        // Twice: a report of the night before is replaced.
        for _ in 0..2 {
            assert_eq!(night.says(0, &["report", "-o", file]), "");
            let text = fs::read_to_string(night.path(file)).unwrap();
            assert!(text.starts_with(begins), "{file}: {text}");
        }
    }
    assert_eq!(night.says(0, &["report", "-o", "b.html", "--format", "text"]), "");
    let text = fs::read_to_string(night.path("b.html")).unwrap();
    assert!(text.starts_with("Report on 1 job\n"), "{text}");
    assert_eq!(night.says(0, &["report", "--json", "-o", "/dev/stdout"]).lines().next(), Some("{"));
}
