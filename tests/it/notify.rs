//! Who is told of a batch: what a web address and a mail server get, and that each thing is told once by one of many workers.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::{TestDir, whole_job},
    queue::{batch, batch_id, queued},
    store::{MINUTE, Place, id, on_both},
};
use hmac::{Hmac, KeyInit, Mac};
use overnight::store::{NoticeClaim, NoticeSubject};
use overnight_core::job::digest::hex;
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

/// A mail server of a few lines: what was said after its greeting, and the mail.
fn mail(stream: &mut BufReader<TcpStream>) -> (Vec<String>, String) {
    let (mut said, mut mail) = (Vec::new(), Vec::new());
    let mut answer = "220 here";
    loop {
        write!(stream.get_mut(), "{answer}\r\n").unwrap();
        let word = line(stream);
        answer = "250 ok";
        match word.as_str() {
            "DATA" => {
                write!(stream.get_mut(), "354 go on\r\n").unwrap();
                mail = std::iter::repeat_with(|| line(stream)).take_while(|line| line != ".").collect();
            }
            // Long lines are sent in pieces.
            "QUIT" | "" => return (said, mail.join("\n").replace("=\n", "")),
            _ => said.push(word),
        }
    }
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

#[test]
fn a_web_address_and_a_mail_server_are_told_of_a_review() {
    let dir = TestDir::new();
    let task = std::fs::read_to_string(dir.path().join("task.md")).unwrap();
    dir.put("task.md", task.replace("description:", "review: required\ndescription:"));
    dir.script("script.json", &whole_job());
    let submit = ["submit", "./task.md", "--documents", "docs", "--batch", "night", "--model", "scripted:script.json"];
    assert_eq!(dir.run_with(&[], &submit).code, 0);
    let (web, requests) = served(2, |number, stream| {
        request(stream, if number == 0 { "503 Service Unavailable" } else { "204 No Content" })
    });
    let (smtp, mails) = served(1, |_, stream| mail(stream));
    let webhook = format!("webhook: {{ url: 'http://127.0.0.1:{web}/night', secret_env: TOLD }}");
    let email = format!("smtp: 'smtp://127.0.0.1:{smtp}', from: 'Night <n@x.org>', to: 'a@x.org, b@x.org'");
    let unset =
        "environment variable TOLD is not set, and 'notify.webhook.secret_env' names it: set it, or leave that out";
    for (notify, why) in [
        ("email: { to: a@b.org }", "overnight.yaml:1: 'notify.email.to' needs 'notify.email.smtp' too"),
        ("webhok: {}", "overnight.yaml:1: unknown key 'webhok' in 'notify'; did you mean 'webhook'?"),
        (&format!("{webhook}, email: {{ {email} }}"), unset),
    ] {
        dir.put("overnight.yaml", format!("notify: {{ {notify} }}\n"));
        let ran = dir.run_with(&[], &["work", "--until-empty"]);
        assert_eq!((ran.code, ran.stderr), (2, format!("error: {why}\n")));
    }
    let ran = dir.run_with(&[("TOLD", "hunter2")], &["work", "--until-empty"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (4, "1 held (review)\n"), "{ran:?}");

    // The address is asked again where it fails, with the same body under a signature.
    let told = requests.join().unwrap();
    let (head, body) = &told[1];
    assert_eq!(told[0].1, *body);
    let mut mac = Hmac::<Sha256>::new_from_slice(b"hunter2").unwrap();
    mac.update(body.as_bytes());
    let signature = hex(&mac.finalize().into_bytes());
    let signature = format!("x-overnight-signature: sha256={signature}");
    for line in ["POST /night HTTP/1.1", &signature, "x-overnight-event: needs_person"] {
        assert!(head.iter().any(|one| one == line), "{line} {head:?}");
    }
    let mut body: Value = serde_json::from_str(body).unwrap();
    let job = body["needs"][0]["job"].as_str().unwrap().to_owned();
    for name in ["batch", "created", "model"] {
        assert!(body[name].take().is_string(), "{name}");
    }
    let reason = body["needs"][0]["reason"].as_str().unwrap().to_owned();
    let message = "batch night: 1 job needs you; 0 of 1 ended, for 0.00 USD";
    let expected = json!({
        "event": "needs_person", "batch": null, "name": "night", "instructions": "task", "model": null, "created": null,
        "jobs": 1, "queued": 0, "running": 0, "waiting": 0, "held": 1, "completed": 0, "partial": 0, "blocked": 0, "failed": 0,
        "cancelled": 0, "linked": 0, "cost_usd": 0.0, "budget_usd": null, "need": 1,
        "needs": [{
            "job": job, "label": "a.md and 1 more", "status": "held", "hold_reason": "review", "reason": reason,
            "command": format!("overnight approve {job}"),
        }],
        "message": message,
    });
    assert_eq!(body, expected);

    let (said, mail) = mails.join().unwrap().remove(0);
    assert_eq!(said[1..], ["MAIL FROM:<n@x.org>", "RCPT TO:<a@x.org>", "RCPT TO:<b@x.org>"].map(str::to_owned));
    let (head, text) = mail.split_once("\n\n").unwrap();
    for line in ["From: Night <n@x.org>", "To: a@x.org, b@x.org", &format!("Subject: overnight: {message}")] {
        assert!(head.lines().any(|one| one == line), "{line} {head}");
    }
    let need = format!("a.md and 1 more: held (review): {reason}\n    overnight approve {job}");
    assert!(text.starts_with(&format!("{message}\n\n{need}\n\nThe report: overnight report ")), "{text}");
}

async fn each_thing_is_told_by_one_and_needs_are_gathered(place: Place) {
    let store = place.store().await;
    store.submit(&batch(1), &[queued(1), queued(2)], false).await.unwrap();
    store.submit(&batch(2), &[queued(3)], false).await.unwrap();
    let now = store.clock().await.unwrap().after(Duration::from_mins(1));
    assert_eq!(store.claim_notice(now, true, MINUTE).await, Ok(None));
    let set = |number: u32, what: &str| format!("update jobs set status = {what} where id = '{}'", id(number));

    // A review and a failure are told together, to one; who is told nothing is a person who paused.
    place.sql(set(1, "'failed'")).await;
    place.sql(set(2, "'held', hold_reason = 'review'")).await;
    place.sql(set(3, "'held', hold_reason = 'paused', reason = 'paused by a person'")).await;
    let claim = store.claim_notice(now, false, MINUTE).await.unwrap().unwrap();
    assert!(matches!(claim, NoticeClaim { batch, subject: NoticeSubject::Needs { .. } } if batch == batch_id(1)));
    assert_eq!(store.claim_notice(now, true, MINUTE).await, Ok(None));
    store.notice_told(claim).await.unwrap();
    assert_eq!(store.claim_notice(now.after(Duration::from_hours(1)), true, MINUTE).await, Ok(None));
    // What comes later waits for its quarter of an hour; who takes it and is lost leaves it to others.
    place
        .sql(set(1, &format!("'held', hold_reason = 'limit', updated = '{}'", now.after(Duration::from_mins(4)))))
        .await;
    assert_eq!(store.claim_notice(now.after(Duration::from_mins(5)), false, MINUTE).await, Ok(None));
    let later = now.after(Duration::from_mins(20));
    assert!(store.claim_notice(later, false, 1).await.unwrap().is_some());
    place.sql("update batches set telling_until = '2020-01-01T00:00:00.000Z'").await;
    let claim = store.claim_notice(later, false, MINUTE).await.unwrap().unwrap();
    store.notice_told(claim).await.unwrap();
    // An outage is told when it has lasted an hour.
    place.sql(set(3, "'held', hold_reason = 'outage', reason = null")).await;
    assert_eq!(store.claim_notice(later, true, MINUTE).await, Ok(None));
    let claim = store.claim_notice(now.after(Duration::from_mins(90)), true, MINUTE).await.unwrap().unwrap();
    assert_eq!(claim.batch, batch_id(2));
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
