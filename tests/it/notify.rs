//! Who is told of a batch: what a web address and a mail server get, and that each thing is told once by one of many workers.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::{TestDir, whole_job},
    queue::{batch, batch_id, queued},
    store::{MINUTE, Place, on_both},
};
use hmac::{Hmac, KeyInit, Mac};
use overnight::store::{NoticeClaim, NoticeSubject, QueuedJob};
use serde_json::{Value, json};
use sha2::Sha256;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

/// Takes so many connections, one after the other, and hands each to `talk`: what came of them.
fn served<T: Send + 'static>(
    connections: usize,
    talk: impl Fn(usize, &mut BufReader<TcpStream>) -> T + Send + 'static,
) -> (u16, thread::JoinHandle<Vec<T>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = thread::spawn(move || {
        let talk_to = |number| talk(number, &mut BufReader::new(listener.accept().unwrap().0));
        (0..connections).map(talk_to).collect()
    });
    (port, serving)
}

fn line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

/// Headers and body of a request, which is answered with `status`.
fn request(stream: &mut BufReader<TcpStream>, status: &str) -> (Vec<String>, String) {
    let head: Vec<String> = std::iter::repeat_with(|| line(stream)).take_while(|line| !line.is_empty()).collect();
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    write!(stream.get_mut(), "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
    (head, String::from_utf8(body).unwrap())
}

/// With a batch of one job, which waits for its review when a worker has worked it.
fn reviewed() -> TestDir {
    let dir = TestDir::new();
    let task = std::fs::read_to_string(dir.path().join("task.md")).unwrap();
    dir.put("task.md", task.replace("description:", "review: required\ndescription:"));
    dir.script("script.json", &whole_job());
    let submit = ["submit", "./task.md", "--documents", "docs", "--batch", "night", "--model", "scripted:script.json"];
    assert_eq!(dir.run_with(&[], &submit).code, 0);
    dir
}

#[test]
fn a_web_address_is_told_under_a_signature_and_again_where_it_fails() {
    let dir = reviewed();
    let (port, served) = served(2, |number, stream| {
        request(stream, if number == 0 { "503 Service Unavailable" } else { "204 No Content" })
    });
    dir.put(
        "overnight.yaml",
        format!("notify:\n  webhook: {{ url: 'http://127.0.0.1:{port}/night', secret_env: TOLD }}\n"),
    );
    let missing = dir.run_with(&[], &["work", "--until-empty"]);
    let why = "error: environment variable TOLD is not set, and 'notify.webhook.secret_env' names it: set it, or leave that away\n";
    assert_eq!((missing.code, missing.stderr.as_str()), (2, why));
    let ran = dir.run_with(&[("TOLD", "hunter2")], &["work", "--until-empty"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (4, "1 held (review)\n"), "{ran:?}");
    let told = served.join().unwrap();
    assert_eq!(told[0].1, told[1].1);
    let (head, body) = &told[1];
    let mut mac = Hmac::<Sha256>::new_from_slice(b"hunter2").unwrap();
    mac.update(body.as_bytes());
    let signature: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(head[0], "POST /night HTTP/1.1");
    for line in [&format!("x-overnight-signature: sha256={signature}"), "x-overnight-event: needs_person"] {
        assert!(head.iter().any(|one| one == line), "{line} {head:?}");
    }
    let mut body: Value = serde_json::from_str(body).unwrap();
    let job = body["needs"][0]["job"].clone();
    for name in ["batch", "created", "model"] {
        assert!(body[name].take().is_string(), "{name}");
    }
    let reason = "a person approves it (overnight approve) or sends it back (overnight feedback)";
    assert_eq!(
        body,
        json!({
            "event": "needs_person", "batch": null, "name": "night", "instructions": "task",
            "model": null, "created": null, "jobs": 1, "queued": 0, "running": 0, "held": 1,
            "completed": 0, "partial": 0, "blocked": 0, "failed": 0, "cancelled": 0, "linked": 0, "cost_usd": 0.0,
            "budget_usd": null, "need": 1,
            "needs": [{
                "job": job, "label": "a.md and 1 more", "status": "held", "hold_reason": "review", "reason": reason,
                "command": format!("overnight approve {}", job.as_str().unwrap()),
            }],
            "message": "batch night: 1 job needs you; 0 of 1 ended, for 0.00 USD",
        })
    );
}

/// A mail server of a few lines: what was said after its greeting, and the mail.
fn mail(stream: &mut BufReader<TcpStream>) -> (Vec<String>, Vec<String>) {
    let (mut said, mut mail) = (Vec::new(), Vec::new());
    let mut answer = "220 here";
    loop {
        write!(stream.get_mut(), "{answer}\r\n").unwrap();
        let word = line(stream);
        match word.split([' ', ':']).next().unwrap() {
            "DATA" => {
                write!(stream.get_mut(), "354 go on\r\n").unwrap();
                mail = std::iter::repeat_with(|| line(stream)).take_while(|line| line != ".").collect();
            }
            "QUIT" | "" => return (said, mail),
            _ => said.push(word),
        }
        answer = "250 ok";
    }
}

#[test]
fn an_e_mail_says_who_is_needed_and_what_to_type() {
    let dir = reviewed();
    let (port, served) = served(1, |_, stream| mail(stream));
    dir.put(
        "overnight.yaml",
        format!(
            "notify:\n  email: {{ smtp: 'smtp://127.0.0.1:{port}', from: 'Night <night@example.org>', to: 'a@example.org, b@example.org' }}\n"
        ),
    );
    let ran = dir.run_with(&[], &["work", "--until-empty"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (4, "1 held (review)\n"), "{ran:?}");
    let (said, mail) = served.join().unwrap().remove(0);
    assert_eq!(
        said[1..],
        ["MAIL FROM:<night@example.org>", "RCPT TO:<a@example.org>", "RCPT TO:<b@example.org>"].map(str::to_owned)
    );
    for line in ["From: Night <night@example.org>", "To: a@example.org, b@example.org"] {
        assert!(mail.iter().any(|one| one.eq_ignore_ascii_case(line)), "{line} {mail:?}");
    }
    let text: Vec<&str> = mail.iter().skip_while(|line| !line.is_empty()).skip(1).map(String::as_str).collect();
    // Long lines are sent in pieces.
    let text = text.join("\n").replace("=\n", "");
    let expected = "batch night: 1 job needs you; 0 of 1 ended, for 0.00 USD\n\na.md and 1 more: held (review): a person approves \
        it (overnight approve) or sends it back (overnight feedback)\n    overnight approve ID\n\nThe report: overnight report ID\n";
    let id = regex::Regex::new(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b").unwrap();
    assert_eq!(id.replace_all(&text, "ID"), expected);
}

#[test]
fn half_a_channel_is_a_mistake() {
    let dir = TestDir::new();
    for (notify, why) in [
        ("email: { to: a@b.org }", "overnight.yaml:1: 'notify.email.to' needs 'notify.email.smtp' too"),
        ("webhok: {}", "overnight.yaml:1: unknown key 'webhok' in 'notify'; did you mean 'webhook'?"),
    ] {
        dir.put("overnight.yaml", format!("notify: {{ {notify} }}\n"));
        let ran = dir.run_with(&[], &["work", "--until-empty"]);
        assert_eq!((ran.code, ran.stderr), (2, format!("error: {why}\n")));
    }
}

async fn each_thing_is_told_by_one_and_needs_are_gathered(place: Place) {
    let store = place.store().await;
    let minutes = |count: u64| Duration::from_secs(60 * count);
    for (number, jobs) in [(1, 1..3), (2, 3..4)] {
        let jobs: Vec<QueuedJob> = jobs.map(queued).collect();
        store.submit(&batch(number), &jobs, false).await.unwrap();
    }
    let now = store.clock().await.unwrap().after(minutes(1));
    assert_eq!(store.claim_notice(now, true, MINUTE).await, Ok(None));
    let set =
        |number: u32, what: &str| format!("update jobs set status = {what} where id = '{}'", crate::store::id(number));

    // A review and a failure are told together, to one; who is told nothing is a person who paused.
    place.sql(set(1, "'failed'")).await;
    place.sql(set(2, "'held', hold_reason = 'review'")).await;
    place.sql(set(3, "'held', hold_reason = 'paused', reason = 'paused by a person'")).await;
    let claim = store.claim_notice(now, false, MINUTE).await.unwrap().unwrap();
    assert!(matches!(claim, NoticeClaim { batch, subject: NoticeSubject::Needs { .. } } if batch == batch_id(1)));
    assert_eq!(store.claim_notice(now, true, MINUTE).await, Ok(None));
    store.notice_told(claim).await.unwrap();
    assert_eq!(store.claim_notice(now.after(minutes(60)), true, MINUTE).await, Ok(None));

    // What comes later waits for its quarter of an hour; who takes it and is lost leaves it to others.
    let later = now.after(minutes(5));
    place.sql(set(1, &format!("'held', hold_reason = 'limit', updated = '{}'", now.after(minutes(4))))).await;
    assert_eq!(store.claim_notice(later, false, MINUTE).await, Ok(None));
    let later = now.after(minutes(20));
    assert!(store.claim_notice(later, false, 1).await.unwrap().is_some());
    place.sql("update batches set telling_until = '2020-01-01T00:00:00.000Z'").await;
    let claim = store.claim_notice(later, false, MINUTE).await.unwrap().unwrap();
    store.notice_told(claim).await.unwrap();

    // An outage is told when it has lasted an hour.
    place.sql(set(3, "'held', hold_reason = 'outage', reason = null")).await;
    assert_eq!(store.claim_notice(later, true, MINUTE).await, Ok(None));
    let claim = store.claim_notice(now.after(minutes(90)), true, MINUTE).await.unwrap().unwrap();
    assert_eq!(claim.batch, batch_id(2));
    store.notice_told(claim).await.unwrap();

    // An end is told once, and that of another day not at all.
    place.sql("update jobs set status = 'completed'").await;
    for number in [1, 2] {
        assert!(store.mark_ended(batch_id(number)).await.unwrap());
    }
    place.sql(format!("update batches set ended_at = '2020-01-01T00:00:00.000Z' where id = '{}'", batch_id(2))).await;
    let end: NoticeClaim = store.claim_notice(now, false, MINUTE).await.unwrap().unwrap();
    assert_eq!(end, NoticeClaim { batch: batch_id(1), subject: NoticeSubject::End });
    store.notice_told(end).await.unwrap();
    assert_eq!(store.claim_notice(now, true, MINUTE).await, Ok(None));
}

on_both! {
    each_thing_is_told_by_one_and_needs_are_gathered
}
