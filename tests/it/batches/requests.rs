//! `pause`, `resume`, `cancel` and `retry` of batches and of their jobs, and what a name means.

use super::{FUTURE, HOSTILE, TestDir, at, batch, id, is_plain, queued, wait};
use crate::{cli_run::whole_job, queue::batch_id};
use overnight::store::{JobTarget, QueuedJob};
use overnight_core::job::record::HoldReason;
use serde_json::json;

#[test]
fn a_batch_is_paused_resumed_and_cancelled() {
    let dir = TestDir::new();
    dir.submit(&batch(1, Some("night")), &(11..=14).map(queued).collect::<Vec<_>>());
    dir.submit(&batch(2, Some("other")), &[queued(21)]);
    dir.claim();
    assert_eq!(
        dir.says(0, &["pause", "night"]),
        "batch 'night': 3 jobs are held (paused); 1 job at work was asked to hold at the next turn; `overnight resume night` \
         goes on\n"
    );
    assert_eq!(
        dir.manifest(1),
        ["11 running, wants pause", "12 held (paused)", "13 held (paused)", "14 held (paused)"]
    );
    assert_eq!(
        dir.refuses(2, &["pause", "night"]),
        "error: nothing of batch 'night' can be paused: its jobs are 1 running, 3 held\n"
    );
    assert_eq!(
        dir.says(0, &["resume", "night"]),
        "4 jobs of batch 'night' are resumed; a worker takes what is queued (`overnight work`)\n"
    );
    assert_eq!(dir.manifest(1), ["11 running", "12 queued", "13 queued", "14 queued"]);
    assert_eq!(
        dir.refuses(2, &["resume", "night"]),
        "error: no job of batch 'night' can be resumed: its jobs are 3 queued, 1 running\n"
    );
    assert_eq!(
        dir.refuses(2, &["resume", "night", "--turns", "9"]),
        "error: for a batch only --budget-usd can be given: model, server and limits were set when it was submitted\n"
    );
    assert_eq!(
        dir.refuses(2, &["resume", "00000012", "--budget-usd", "9"]),
        "error: --budget-usd is for a batch; what one job may cost is set with --cost\n"
    );
    for amount in ["0", "-1", "NaN", "inf", "much"] {
        let refused = dir.refuses(2, &["resume", "night", "--budget-usd", amount]);
        assert!(refused.contains("it is an amount of USD over 0, such as 12.50"), "{refused}");
    }
    assert_eq!(
        dir.says(0, &["cancel", "night"]),
        "batch 'night': 3 jobs never begun are cancelled; 1 job already begun will be cancelled by the worker that has it or \
         next takes it; what was made stays\n"
    );
    assert_eq!(dir.manifest(1), ["11 running, wants cancel", "12 cancelled", "13 cancelled", "14 cancelled"]);
    assert_eq!(dir.manifest(2), ["21 queued"]);
    assert_eq!(
        dir.says(0, &["cancel", "other"]),
        "batch 'other': 1 job never begun is cancelled; what was made stays\n"
    );
    assert_eq!(
        dir.refuses(2, &["cancel", "other"]),
        "error: nothing of batch 'other' can be cancelled: its jobs are 1 cancelled\n"
    );
}

#[test]
fn the_rest_after_a_trial_waits_for_a_resume() {
    let dir = TestDir::new();
    let held = |number| QueuedJob { is_held: true, ..queued(number) };
    dir.submit(&batch(1, None), &[queued(11), held(12), held(13)]);
    let name = batch_id(1).to_string();
    assert_eq!(
        dir.says(0, &["resume", "00000001"]),
        format!("2 jobs of batch {name} are resumed; a worker takes what is queued (`overnight work`)\n")
    );
    assert_eq!(dir.manifest(1), ["11 queued", "12 queued", "13 queued"]);
}

#[test]
fn a_job_without_a_workspace_is_the_queues() {
    let dir = TestDir::new();
    dir.submit(&batch(1, Some("night")), &[queued(11), queued(12), queued(13), queued(14)]);
    let [first, second, third, last] = [11, 12, 13, 14].map(|number| id(number).to_string());
    assert_eq!(
        dir.says(0, &["pause", "00000011"]),
        format!("job {first} is held (paused); `overnight resume {first}` queues it again\n")
    );
    assert_eq!(dir.refuses(2, &["pause", "00000011"]), format!("error: job {first} is held already (paused)\n"));
    assert_eq!(
        dir.says(0, &["resume", &first]),
        format!("job {first} is queued again; a worker takes it (`overnight work`)\n")
    );
    assert_eq!(
        dir.says(0, &["resume", &first]),
        format!("job {first} is queued; a worker takes it (`overnight work`)\n")
    );
    wait(async {
        dir.store.hold(JobTarget::Job(id(12)), HoldReason::Window, Some(at(FUTURE))).await.unwrap();
    });
    dir.sql(&format!("update jobs set status = 'queued', hold_reason = null where id = '{second}'"));
    assert_eq!(
        dir.says(0, &["resume", &second]),
        format!("job {second} is queued until 2099-01-01 06:30 UTC; then a worker takes it (`overnight work`)\n")
    );
    assert_eq!(dir.says(0, &["cancel", &second]), format!("job {second} is cancelled; it was never begun\n"));
    assert_eq!(
        dir.refuses(2, &["cancel", &second]),
        format!("error: job {second} has ended already: it is cancelled\n")
    );
    assert_eq!(
        dir.says(5, &["resume", &second]),
        format!("job {second} has ended already: it is cancelled (cancelled before it was begun)\n")
    );
    assert_eq!(dir.claim().0.to_string(), first);
    assert_eq!(
        dir.says(0, &["pause", &first]),
        format!("job {first} is being worked on; that process was asked to hold it at its next turn\n")
    );
    assert_eq!(dir.says(0, &["resume", &first]), format!("job {first} is being worked on\n"));
    assert_eq!(
        dir.says(0, &["cancel", &first]),
        format!("job {first} is cancelled by the worker that has it, or by the next one that takes it\n")
    );

    // On another machine.
    let (job, lease) = dir.claim();
    assert_eq!(job.to_string(), third);
    wait(async {
        dir.store.set_workspace(job, lease, "/elsewhere/x", Some("elsewhere")).await.unwrap();
        dir.store.give_back(job, lease, 0, None).await.unwrap();
    });
    assert_eq!(
        dir.says(0, &["pause", &third]),
        format!("job {third} is held (paused); `overnight resume {third}` queues it again\n")
    );
    assert_eq!(
        dir.says(0, &["resume", &third]),
        format!(
            "job {third} is queued again; a worker on elsewhere, which has its workspace, takes it (`overnight work` there)\n"
        )
    );
    assert_eq!(
        dir.says(0, &["cancel", &third]),
        format!("job {third} is cancelled by the worker that has it, or by the next one that takes it\n")
    );
    for words in [&["logs", &third][..], &["audit", &third], &["approve", &third]] {
        let sentence =
            format!("error: the workspace of job {third} is on elsewhere: look at it, or work on it, there\n");
        assert_eq!(dir.refuses(1, words), sentence, "{words:?}");
    }
    assert_eq!(dir.manifest(1), ["11 running, wants cancel", "12 cancelled", "13 queued, wants cancel", "14 queued"]);
    for words in [&["logs", &last][..], &["audit", &last], &["audit", "verify", &last], &["feedback", &last, "more"]] {
        let sentence = format!("error: job {last} has no workspace yet: it waits for a worker (`overnight work`)\n");
        assert_eq!(dir.refuses(2, words), sentence, "{words:?}");
    }
    assert_eq!(
        dir.refuses(2, &["logs", &first]),
        format!("error: job {first} has no workspace yet: a worker is about to make it\n")
    );
}

#[test]
fn a_job_with_a_workspace_here_is_worked_here() {
    let dir = TestDir::new();
    dir.submit(&batch(1, Some("night")), &[queued(11), queued(12)]);
    let claimed = [dir.claim(), dir.claim()];
    for (job, lease) in claimed {
        dir.workspace(job, lease, Some(&overnight::workspace::lock::host()));
        wait(async { dir.store.give_back(job, lease, 0, None).await.unwrap() });
    }
    let name = id(11).to_string();
    assert_eq!(
        dir.says(0, &["pause", &name]),
        format!("job {name} is held (paused); `overnight resume {name}` goes on\n")
    );
    assert_eq!(dir.manifest(1), ["11 held (paused)", "12 queued"]);
    let worked = dir.says(0, &["resume", &name, "--quiet"]);
    assert!(worked.starts_with(&format!("job {name}: completed\n")), "{worked}");
    let name = id(12).to_string();
    assert_eq!(
        dir.says(0, &["cancel", &name]),
        format!("job {name} is cancelled; what it made stays in its workspace\n")
    );
    assert_eq!(dir.manifest(1), ["11 completed", "12 cancelled"]);
}

#[test]
fn only_the_failed_of_a_batch_are_queued_again() {
    let dir = TestDir::new();
    let jobs: Vec<QueuedJob> = (11..=14).map(|number| QueuedJob { max_attempts: 1, ..queued(number) }).collect();
    dir.submit(&batch(1, Some("night")), &jobs);
    for _ in 0..3 {
        let (job, lease) = dir.claim();
        wait(async { dir.store.give_back(job, lease, 0, Some("no room")).await.unwrap() });
    }
    let name = id(11).to_string();
    assert_eq!(
        dir.refuses(1, &["resume", &name]),
        format!(
            "error: job {name} has failed (given up: no room): `overnight retry {name}` \
             queues it again\n"
        )
    );
    assert_eq!(
        dir.says(0, &["retry", &name]),
        format!("1 job ({name}) is queued again; a worker takes it (`overnight work`)\n")
    );
    assert_eq!(
        dir.says(0, &["retry", "night"]),
        "2 jobs of batch 'night' are queued again; a worker takes them (`overnight work`)\n"
    );
    assert_eq!(dir.manifest(1), ["11 queued", "12 queued", "13 queued", "14 queued"]);
    assert_eq!(
        dir.refuses(2, &["retry", "night"]),
        "error: no job of batch 'night' has failed: its jobs are 4 queued\n"
    );
    assert_eq!(dir.refuses(2, &["retry", &name]), format!("error: job {name} has not failed: it is queued\n"));
    assert_eq!(dir.entry(1, 11).attempts, 0);
}

#[test]
fn a_job_of_no_batch_is_told_what_to_do_instead() {
    let dir = crate::cli_run::TestDir::new();
    dir.script("script.json", &whole_job());
    let held = dir.run_with(&[], &[&crate::cli_run::RUN[..], &["--turns", "2", "--quiet", "--json"]].concat());
    let name = serde_json::from_str::<serde_json::Value>(&held.stdout).unwrap()["id"].as_str().unwrap().to_owned();
    let refused = dir.run_with(&[], &["retry", "last"]);
    assert_eq!(
        (refused.code, refused.stderr),
        (
            2,
            format!(
                "error: job {name} is in no batch, and has not failed: `overnight resume {name}` goes on with it\n"
            )
        )
    );
    dir.run_with(&[], &["cancel", "last"]);
    let refused = dir.run_with(&[], &["retry", "last"]);
    let sentence = format!(
        "error: job {name} is in no batch, and what has ended stays so: `overnight run task --documents …` makes a new job\n"
    );
    assert_eq!((refused.code, refused.stderr), (2, sentence));
    let shown = dir.run_with(&[], &["show", "last", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["queue"], json!(null));
}

#[test]
fn a_name_means_one_thing_or_is_refused() {
    let dir = TestDir::new();
    assert_eq!(dir.refuses(2, &["pause", "last"]), "error: there is no job yet\n");
    dir.submit(&batch(31, Some("cafe")), &[queued(11), queued(12)]);
    dir.submit(&batch(12, Some("00000011")), &[queued(13)]);
    dir.submit(&batch(32, Some("last")), &[queued(14)]);
    dir.submit(&batch(33, Some("0000001")), &[queued(15)]);
    dir.submit(&batch(34, Some(HOSTILE)), &[queued(16)]);
    assert_eq!(
        dir.refuses(2, &["pause", "nobody"]),
        "error: no job has the id 'nobody' or one that begins so, and no batch has that name or id; `overnight jobs` lists \
         the jobs\n"
    );
    // A job's beginning and a batch's.
    assert_eq!(
        dir.refuses(2, &["pause", "00000012"]),
        format!("error: '00000012' may be job {} or batch {}; give more of the id\n", id(12), batch_id(12))
    );
    assert_eq!(
        dir.refuses(2, &["pause", "00000011"]),
        format!("error: '00000011' may be job {} or batch {}; give more of the id\n", id(11), batch_id(12))
    );
    // More than one job, and one batch.
    let paused = dir.says(0, &["pause", "0000001"]);
    assert!(paused.starts_with("batch '0000001': 1 job is held"), "{paused}");
    assert_eq!(
        dir.refuses(2, &["pause", "0000003"]),
        "error: the ids of more than one batch begin with '0000003'; give more of the id\n"
    );
    // The newest job, also where a batch has that name.
    let paused = dir.says(0, &["pause", "last"]);
    assert!(paused.starts_with(&format!("job {} is held", id(16))), "{paused}");
    for (words, batch) in [(&["pause", "cafe"][..], 31), (&["pause", &batch_id(32).to_string()], 32)] {
        dir.says(0, words);
        assert!(dir.manifest(batch).iter().all(|line| line.contains("held (paused)")), "{words:?}");
    }
    // Whatever a batch is called, it is told in one line, and never as something to type.
    let resumed = dir.says(0, &["resume", HOSTILE]);
    assert_eq!(
        resumed,
        "1 job of batch 'a [31m|b c `d` <script>' is resumed; a worker takes what is queued (`overnight work`)\n"
    );
    let paused = dir.says(0, &["pause", HOSTILE]);
    assert!(
        paused.ends_with(&format!("`overnight resume {}` goes on\n", batch_id(34))) && is_plain(&paused),
        "{paused}"
    );
    for name in [HOSTILE.repeat(400).as_str(), "", "%", "x' or '1'='1", "\u{7}"] {
        for verb in ["pause", "resume", "cancel", "retry", "show", "watch", "report"] {
            let refused = dir.refuses(2, &[verb, name]);
            assert!(is_plain(&refused) && refused.lines().count() == 1, "{verb} {name}: {refused}");
        }
    }
}
