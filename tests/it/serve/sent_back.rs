//! What the pages say of a job that was sent back: it is queued, and who could take it.

use super::{Served, worked};
use crate::cli_run::PROGRAM;
use chrono::{TimeDelta, Utc};
use reqwest::{StatusCode, header::LOCATION};
use std::process::{Child, Command, Stdio};

/// Ended when dropped.
struct Waiting(Child);

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn who_sends_a_job_back_is_told_what_it_waits_for() {
    let (dir, ids) = worked();
    let served = Served::start(&dir, &["--as", "Ann"]);
    let job = format!("/jobs/{}", ids[1]);
    let review = format!("{job}/review");
    assert!(!served.page(&review).contains("id=\"next\""));
    let answer = served.post(&format!("{job}/feedback"), &[("text", "Once more."), ("result", "0")]).send().unwrap();
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(answer.headers()[LOCATION].to_str().unwrap(), format!("{review}#next"));
    let said = |path: &str| {
        let page = served.page(path);
        page.split("id=\"next\"").nth(1).unwrap().split(['>', '<']).nth(1).unwrap().to_owned()
    };
    let nobody = "The job is queued: it waits for a worker, and none is running. Start one with `overnight work`.";
    assert_eq!([said(&review), said(&job)], [nobody, nobody].map(str::to_owned));
    let page = served.page(&review);
    assert!(page.contains("is <strong>queued</strong>") && page.contains("It was sent back: "), "{page}");

    // A worker that is there, and works at other hours.
    let hour = |hours| (Utc::now() + TimeDelta::hours(hours)).format("%H:00").to_string();
    let window = format!("{}-{} UTC", hour(2), hour(3));
    let mut command = Command::new(PROGRAM);
    command.current_dir(dir.path()).env_clear().args(["work", "-q", "--window", &window]);
    let _worker = Waiting(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    while said(&review) == nobody {}
    let one = "The job is queued: it waits for a worker, and one is running.";
    assert_eq!([said(&review), said(&job)], [one, one].map(str::to_owned));
}
