//! Tokens of people and programs.

use super::{Served, TestDir, api::Caller, worked};
use reqwest::{Method, StatusCode, header::SET_COOKIE};

fn run(dir: &TestDir, arguments: &[&str]) -> (i32, String) {
    let ran = dir.run_with(&[], arguments);
    (ran.code, ran.stdout)
}

#[test]
fn a_token_is_shown_once_and_kept_as_its_hash() {
    let dir = TestDir::new();
    let (code, made) = run(&dir, &["token", "add", "Anna", "--role", "reviewer", "--expires", "90d", "-q"]);
    let token = made.trim();
    assert_eq!((code, token.starts_with("ovn_"), token.len()), (0, true, 68));
    let (_, listed) = run(&dir, &["token", "list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((&listed[0]["name"], &listed[0]["role"]), (&"Anna".into(), &"reviewer".into()));
    let files =
        walkdir::WalkDir::new(dir.path()).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    for file in files {
        let content = std::fs::read(file.path()).unwrap();
        assert!(!content.windows(token.len()).any(|part| part == token.as_bytes()), "{}", file.path().display());
    }
    for (arguments, sentence) in [
        (&["token", "add", "Anna", "--role", "king"][..], "it is one of reader, reviewer, operator"),
        (&["token", "add", " ", "--role", "reader"], "a name has 1 to 100 characters, on one line"),
        (&["token", "add", "Anna", "--role", "reader", "--expires", "2020-01-01"], "'2020-01-01' is over already"),
        (&["token", "revoke", "Bob"], "there is no token 'Bob' that isn't revoked"),
    ] {
        let ran = dir.run_with(&[], arguments);
        assert!(ran.code == 2 && ran.stderr.contains(sentence), "{}: {}", ran.code, ran.stderr);
    }
}

#[test]
fn a_revoked_token_lets_nobody_in() {
    let (dir, _) = worked();
    let served = Served::start(&dir, &[]);
    let anna = Caller::new(&dir, &served, "Anna", "reader");
    let status = |caller: &Caller<'_>| caller.send(Method::GET, "/api/v1/me", None).status();
    // (One that is known to be good is asked about again after some seconds.)
    assert_eq!(run(&dir, &["token", "revoke", "Anna"]).0, 0);
    assert_eq!(status(&anna), StatusCode::UNAUTHORIZED);
    let ben = Caller::new(&dir, &served, "Ben", "reader");
    assert_eq!((ben.get("/api/v1/me")["name"].clone(), status(&anna)), ("Ben".into(), StatusCode::UNAUTHORIZED));
}

/// The link with a token leaves a cookie, which stands for the person and not for the token.
#[test]
fn a_person_comes_with_a_link() {
    let (dir, ids) = worked();
    let served = Served::start(&dir, &[]);
    let made = run(&dir, &["token", "add", "Rita", "--role", "reader", "-q"]).1;
    let answer = served.bare(Method::GET, &format!("/?token={}", made.trim())).send().unwrap();
    let cookie = answer.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
    assert!(!cookie.contains(made.trim()), "{cookie}");
    let page = |path: &str| served.bare(Method::GET, path).header("cookie", &cookie).send().unwrap();
    let list = page("/").text().unwrap();
    assert!(list.contains("Read only") && !list.contains("href=\"/submit\""), "{list}");
    let review = page(&format!("/jobs/{}/review", ids[0])).text().unwrap();
    assert!(!review.contains("<form class=\"approve"), "{review}");
    let forged = cookie.replace(|letter: char| letter.is_ascii_digit(), "0");
    assert_eq!(
        served.bare(Method::GET, "/").header("cookie", forged).send().unwrap().status(),
        StatusCode::UNAUTHORIZED
    );
}

#[test]
fn wrong_tokens_are_looked_at_some_times_only() {
    let (dir, _) = worked();
    let served = Served::start(&dir, &[]);
    let anna = Caller::new(&dir, &served, "Anna", "reader");
    anna.get("/api/v1/me");
    let wrong = |number: u32| {
        let request = served.bare(Method::GET, "/api/v1/me").bearer_auth(format!("ovn_{number:064}"));
        request.send().unwrap().status()
    };
    let statuses: Vec<StatusCode> = (0..40).map(wrong).collect();
    assert_eq!(statuses[..20], [StatusCode::UNAUTHORIZED; 20]);
    assert_eq!(statuses[20..], [StatusCode::TOO_MANY_REQUESTS; 20]);
    // A cookie of another server is no attempt.
    let old = served.bare(Method::GET, "/").header("cookie", served.cookie().replace('=', "=0")).send().unwrap();
    assert_eq!(old.status(), StatusCode::UNAUTHORIZED);
    // Who was let in a moment ago still is, and so is who started the server.
    assert_eq!(anna.get("/api/v1/me")["name"], "Anna");
    assert_eq!(served.get("/").status(), StatusCode::OK);
}

/// What of the result was in view before it was accepted goes into the record: pages, records, doubts, for how long.
#[test]
fn what_a_reviewer_had_in_view_is_a_fact() {
    let (dir, ids) = worked();
    let served = Served::start(&dir, &[]);
    let rita = Caller::new(&dir, &served, "Rita", "reviewer");
    let approved = |job: &str| {
        let shown = rita.get(&format!("/api/v1/jobs/{job}"));
        shown["people"][0]["what"].as_str().unwrap().to_owned()
    };
    let post = |path: &str, body: &str| {
        let request = rita.request(Method::POST, path).header("content-type", "application/x-www-form-urlencoded");
        request.body(body.to_owned()).send().unwrap().status()
    };
    let address = format!("/jobs/{}", ids[0]);
    let page = rita.send(Method::GET, &format!("{address}/review"), None).text().unwrap();
    let record = page.split("<article class=\"record").nth(1).unwrap().split("id=\"").nth(1).unwrap();
    let record = record.split('"').next().unwrap();
    assert_eq!(
        post(&format!("{address}/seen"), &format!("seen_ms=1500&seen={record}+elsewhere")),
        StatusCode::NO_CONTENT
    );
    assert_eq!(post(&format!("{address}/approve"), "seen_ms=500&seen="), StatusCode::SEE_OTHER);
    assert_eq!(approved(&ids[0]), "approved the result with 1 of 1 records in view, for 2.0s");
    // Without a script the pages that were opened are known, and that nothing was where nothing was.
    let other = format!("/jobs/{}", ids[1]);
    assert_eq!(post(&format!("{other}/approve"), ""), StatusCode::SEE_OTHER);
    assert_eq!(approved(&ids[1]), "approved the result without opening its review page");
    let journal = dir.run_with(&[], &["logs", &ids[0]]).stdout;
    assert!(journal.contains("approved by Rita with 1 of 1 records in view, for 2.0s"), "{journal}");
    assert_eq!(dir.run_with(&[], &["audit", "verify", &ids[0]]).code, 0);
}
