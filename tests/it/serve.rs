//! `overnight serve`: the real program on a free port, asked as a browser asks, and as an attacker does.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod api;
mod assignments;
mod bulk;
mod evaluations;
mod families;
mod invoice_lines;
mod mcp;
mod sent_back;
mod tokens;
mod unpriced;

use crate::cli_run::{PROGRAM, TestDir};
use reqwest::{
    Method, StatusCode, Url,
    blocking::{Client, RequestBuilder, Response},
    header::{CONTENT_DISPOSITION, CONTENT_TYPE, LOCATION, ORIGIN, SET_COOKIE},
    redirect::Policy,
};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

const HOSTILE_NAME: &str = "<img src=x onerror=alert(1)>.md";
const HOSTILE_TEXT: &str = "# <script>alert(2)</script>\n\nThe keeper must sign \"twice\" & <b>now</b>.\n";

/// A running server, ended when dropped.
struct Served {
    child: Child,
    base: String,
    token: String,
    client: Client,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    fn start(dir: &TestDir, flags: &[&str]) -> Self {
        let mut command = Command::new(PROGRAM);
        command.current_dir(dir.path()).env_clear().env("PATH", "/usr/bin:/bin");
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(flags);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut link = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut link).unwrap();
        let (base, token) = link.trim().split_once("/?token=").unwrap();
        let client = Client::builder().redirect(Policy::none()).no_proxy().build().unwrap();
        Self { child, base: base.to_owned(), token: token.to_owned(), client }
    }

    /// Without any proof of who asks.
    fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    fn get(&self, path: &str) -> Response {
        self.bare(Method::GET, path).bearer_auth(&self.token).send().unwrap()
    }

    fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.text().unwrap()
    }

    /// The cookie that the printed link leaves.
    fn cookie(&self) -> String {
        let answer = self.bare(Method::GET, &format!("/?token={}", self.token)).send().unwrap();
        assert_eq!((answer.status(), &answer.headers()[LOCATION]), (StatusCode::SEE_OTHER, &"/".parse().unwrap()));
        let cookie = answer.headers()[SET_COOKIE].to_str().unwrap().to_owned();
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        cookie.split(';').next().unwrap().to_owned()
    }

    /// As a browser posts a form of this server's own page.
    fn post(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let cookie = self.cookie();
        let page = self.bare(Method::GET, "/submit").header("cookie", &cookie).send().unwrap().text().unwrap();
        let token = page.split("name=\"token\" value=\"").nth(1).map_or("", |rest| rest.split('"').next().unwrap());
        self.form(path, &[&[("token", token)], fields].concat()).header("cookie", cookie).header(ORIGIN, &self.base)
    }

    fn form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let body = Url::parse_with_params("http://localhost/", fields).unwrap().query().unwrap().to_owned();
        self.bare(Method::POST, path).header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)
    }

    /// The status of a request that is sent as it stands here, with the token and without a body.
    fn raw(&self, head: &str) -> u16 {
        self.raw_answer(head).split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// All that is answered to it.
    fn raw_answer(&self, head: &str) -> String {
        let mut stream = TcpStream::connect(self.base.trim_start_matches("http://")).unwrap();
        let host = self.base.trim_start_matches("http://");
        write!(stream, "{head}\r\nhost: {host}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n", self.token)
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

/// A batch of two worked jobs, one with a hostile document; and the ids of its jobs, the hostile one's first.
fn worked() -> (TestDir, Vec<String>) {
    let dir = TestDir::new();
    dir.put(&format!("many/{HOSTILE_NAME}"), HOSTILE_TEXT);
    dir.put("many/plain.md", "# Plain\n\nA guest must leave.\n");
    let submitted = ["submit", "extract-requirements", "-d", "many", "--each", "--batch", "night", "-q"];
    assert_eq!(dir.run_with(&[], &submitted).code, 0);
    assert_eq!(dir.run_with(&[], &["work", "--until-empty", "-q"]).code, 0);
    let ids = jobs(&dir).iter().rev().map(|job| job["id"].as_str().unwrap().to_owned()).collect();
    (dir, ids)
}

/// The newest first.
fn jobs(dir: &TestDir) -> Vec<Value> {
    serde_json::from_str(&dir.run_with(&[], &["jobs", "--json"]).stdout).unwrap()
}

type Fields<'f> = &'f [(&'f str, &'f str)];

#[test]
fn without_the_token_nothing_is_answered() {
    let (dir, ids) = worked();
    let served = Served::start(&dir, &["--as", "Ann"]);
    let job = format!("/jobs/{}", ids[0]);
    let paths = ["/", &job, "/submit", "/events", "/assets/web.css", "/nowhere", "/?token=wrong", "/%2e%2e/etc/passwd"];
    for path in paths {
        // (Fewer in all than the wrong tokens after which no other is looked at.)
        for method in [Method::GET, Method::POST] {
            let answer = served.bare(method.clone(), path).header("cookie", "overnight=x").bearer_auth("x").send();
            assert_eq!(answer.unwrap().status(), StatusCode::UNAUTHORIZED, "{method} {path}");
        }
    }
    let with_cookie = served.bare(Method::GET, "/").header("cookie", served.cookie()).send().unwrap();
    assert_eq!(with_cookie.status(), StatusCode::OK);
    let headers = with_cookie.headers().clone();
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'") && policy.ends_with("frame-ancestors 'none'"), "{policy}");
    assert_eq!([&headers["x-content-type-options"], &headers["referrer-policy"]], ["nosniff", "no-referrer"]);
    assert!(with_cookie.text().unwrap().contains("You are Ann"));
    let other_host = served.bare(Method::GET, "/").header("host", "evil.example").bearer_auth(&served.token);
    assert_eq!(other_host.send().unwrap().status(), StatusCode::FORBIDDEN);
}

#[test]
fn tricks_do_nothing() {
    let (dir, ids) = worked();
    let served = Served::start(&dir, &["--as", "Ann"]);
    let job = format!("/jobs/{}", ids[0]);
    let journal = dir.path().join("workspaces").join(&ids[0]).join("journal.jsonl");
    let before = std::fs::read(&journal).unwrap();
    let approve = format!("{job}/approve");
    for (header, value) in [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")] {
        let answer = served.post(&approve, &[("comment", "x")]);
        let answer = answer.headers([(header.parse().unwrap(), value.parse().unwrap())].into_iter().collect());
        assert_eq!(answer.send().unwrap().status(), StatusCode::FORBIDDEN, "{header}");
    }
    let without_form_token = served.form(&approve, &[("comment", "x")]).header("cookie", served.cookie());
    assert_eq!(without_form_token.send().unwrap().status(), StatusCode::FORBIDDEN);
    for path in [
        "../../etc/passwd",
        "..%2f..%2foutside.txt",
        "%2e%2e/%2e%2e/docs/a.md",
        "output/../job.yaml",
        "output//requirements.json",
        "./todos.md",
        "%00",
        "%ff",
        "/etc/passwd",
        ".lock",
        "",
    ] {
        for place in ["files", "archive"] {
            assert_eq!(served.raw(&format!("GET {job}/{place}/{path} HTTP/1.1")), 404, "{place}/{path}");
        }
    }
    assert_eq!(served.raw("GET /jobs/..%2f..%2fetc HTTP/1.1"), 404);
    let form = "content-type: application/x-www-form-urlencoded\r\ncontent-length: 10485760";
    let told = served.raw_answer(&format!("POST {approve} HTTP/1.1\r\n{form}"));
    assert!(told.starts_with("HTTP/1.1 413 ") && told.contains("more than the 1 MB"), "{told}");
    assert_eq!(std::fs::read(&journal).unwrap(), before);
}

#[test]
fn hostile_documents_are_texts_like_others() {
    let (dir, ids) = worked();
    let served = Served::start(&dir, &["--as", "Ann"]);
    let batch = served.page("/").split("href=\"/batches/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let job = format!("/jobs/{}", ids[0]);
    let name = "documents/%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E.md";
    let pages = ["/", &format!("/batches/{batch}"), &job, &format!("{job}/prompts/1"), &format!("{job}/files/{name}")]
        .map(|path| served.page(path));
    for page in &pages {
        assert!(page.contains("img src=x onerror=alert(1)&#62;"), "the name is there: {page}");
        for tag in ["<img", "<script>", "<b>now"] {
            assert!(!page.contains(tag), "{tag} in {page}");
        }
    }
    assert!(pages[4].contains("&#60;script&#62;alert(2)&#60;/script&#62;"), "{}", pages[4]);
    let saved = served.get(&format!("{job}/files/{name}?download"));
    assert_eq!(saved.headers()[CONTENT_TYPE], "application/octet-stream");
    let disposition = saved.headers()[CONTENT_DISPOSITION].to_str().unwrap();
    assert!(disposition.starts_with("attachment; filename=\"_img src_x onerror_alert_1__.md\";"), "{disposition}");
    assert_eq!(saved.text().unwrap(), HOSTILE_TEXT);
    let list = served.page("/?q=plain&status=completed");
    assert!(list.contains("1 to 1 of 1") && list.contains("plain.md"), "{list}");
}

#[test]
fn what_a_person_says_on_the_page_is_in_the_record() {
    let (dir, ids) = worked();
    let served = Served::start(&dir, &["--as", "Ann"]);
    let job = format!("/jobs/{}", ids[0]);
    let (file, place) = ("output/requirements.json", "$.requirements[0].strength");
    let correct = [("file", file), ("place", place), ("value", "SHALL"), ("comment", "<i>")];
    let lines = [("file", file), ("place", "$.requirements[0].section"), ("value", "One\r\nTwo")];
    let wrong = [("file", file), ("place", "$.nowhere"), ("value", "<b>\r\nx")];
    let posts =
        [("correct", &correct[..]), ("correct", &lines), ("correct", &wrong), ("approve", &[]), ("nonsense", &[])];
    let answers = posts.map(|(act, fields)| served.post(&format!("{job}/{act}"), fields).send().unwrap());
    let expected = [303, 303, 400, 303, 404].map(|status| StatusCode::from_u16(status).unwrap());
    assert_eq!(answers.each_ref().map(Response::status), expected);
    let at_record = format!("{job}/review#record-requirements-requirements-0");
    assert_eq!(answers[0].headers()[LOCATION].to_str().unwrap(), at_record);
    let again = answers.into_iter().nth(2).unwrap().text().unwrap();
    let typed = "<textarea name=\"value\" rows=\"4\">\n&#60;b&#62;\nx</textarea>";
    assert!(again.contains("$.nowhere of output/requirements.json can") && again.contains(typed), "{again}");
    let workspace = dir.path().join("workspaces").join(&ids[0]);
    let journal = std::fs::read_to_string(workspace.join("journal.jsonl")).unwrap();
    let lines = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let events: Vec<Value> = lines.flat_map(|line| line["events"].as_array().unwrap().clone()).collect();
    let said = |kind: &str| events.iter().find(|event| event["type"] == kind).unwrap();
    let (finding, approved) = (&said("field_corrected")["finding"], said("approved"));
    let told = json!([finding["place"], finding["settled"]["after"], finding["settled"]["by"], finding["text"]]);
    assert_eq!((told, &approved["by"]), (json!([place, "SHALL", "Ann", "<i>"]), &json!("Ann")));
    let corrected = std::fs::read(workspace.join("output/requirements.corrected.json")).unwrap();
    let corrected: Value = serde_json::from_slice(&corrected).unwrap();
    let first = &corrected["requirements"][0];
    assert_eq!([&first["strength"], &first["section"]], ["SHALL", "One\nTwo"]);
    let page = served.page(&job);
    assert!(
        page.contains("Ann corrected $.requirements[0].strength of output/requirements.json (c1)")
            && !page.contains("<i>"),
        "{page}"
    );
}

#[test]
fn two_people_lose_nothing_and_decide_on_what_they_saw() {
    let (dir, ids) = worked();
    let served = [Served::start(&dir, &["--as", "Ann"]), Served::start(&dir, &["--as", "Bob"])];
    let job = format!("/jobs/{}", ids[0]);
    let file = ("file", "output/requirements.json");
    let comments: Vec<String> = (0..8).map(|number| format!("said {number}")).collect();
    std::thread::scope(|scope| {
        for (number, comment) in comments.iter().enumerate() {
            let fields = [file, ("record", "$.requirements[0]"), ("comment", comment)];
            let request = served[number % 2].post(&format!("{job}/approve-record"), &fields);
            scope.spawn(|| assert_eq!(request.send().unwrap().status(), StatusCode::SEE_OTHER));
        }
    });
    let journal = std::fs::read_to_string(dir.path().join("workspaces").join(&ids[0]).join("journal.jsonl")).unwrap();
    assert!(comments.iter().all(|comment| journal.matches(&format!("{comment}\"")).count() == 1), "{journal}");
    // Both opened the page before anything was corrected or sent back.
    let correct = |value| [file, ("place", "$.requirements[0].strength"), ("value", value), ("corrections", "0")];
    let feedback = [("text", "Once more."), ("result", "0")];
    let posts: [(usize, &str, Fields); 5] = [
        (0, "correct", &correct("SHALL")),
        (1, "correct", &correct("MAY")),
        (1, "approve", &[("corrections", "0"), ("result", "0")]),
        (0, "feedback", &feedback),
        (1, "approve", &[("corrections", "1"), ("result", "0")]),
    ];
    let answers = posts.map(|(who, act, fields)| served[who].post(&format!("{job}/{act}"), fields).send().unwrap());
    let (done, refused) = (StatusCode::SEE_OTHER, StatusCode::CONFLICT);
    assert_eq!(answers.each_ref().map(Response::status), [done, refused, refused, done, refused]);
    let [_, told, ..] = answers.map(|answer| answer.text().unwrap());
    let words = ["A field was corrected since you opened the page", &format!("href=\"{job}/review\"")];
    assert!(words.iter().all(|words| told.contains(words)), "{told}");
}

#[test]
fn uploads_become_one_batch() {
    let dir = TestDir::new();
    let served = Served::start(&dir, &["--as", "Ann"]);
    let part = |name: &str, rest: &str| format!("--x\r\ncontent-disposition: form-data; name=\"{name}\"{rest}");
    let file = |name: &str, text: &str| part("files", &format!("; filename=\"{name}\"\r\n\r\n{text}\r\n"));
    let field = |name: &str, value: &str| part(name, &format!("\r\n\r\n{value}\r\n"));
    let common = [field("token", "bearer"), field("instructions", "extract-requirements"), field("name", "sent")];
    let send = |parts: &[String]| {
        let body = format!("{}{}--x--\r\n", common.concat(), parts.concat());
        let request = served.bare(Method::POST, "/submit").bearer_auth(&served.token);
        request.header(CONTENT_TYPE, "multipart/form-data; boundary=x").body(body).send().unwrap()
    };
    let refused = [file("../a.md", "x"), file(".hidden", "x"), String::new()].map(|part| send(&[part]).status());
    assert_eq!(refused, [StatusCode::BAD_REQUEST; 3]);
    let two = [file("a.md", "# A\n\nThe keeper must sign.\n"), file("<b>.md", "# B\n\nNo guest may stay.\n")];
    let estimate = send(&[&two[..], &[field("each", "on")]].concat()).text().unwrap();
    assert!(estimate.contains("<li>jobs: 2</li>") && estimate.contains("cost: about 0.00 USD"), "{estimate}");
    assert!(jobs(&dir).is_empty(), "nothing is queued before it is said");
    let path = estimate.split("action=\"").nth(1).unwrap().split('"').next().unwrap();
    let fields = [("instructions", "extract-requirements"), ("name", "sent"), ("each", "on")];
    for _ in 0..2 {
        let answer = served.post(path, &fields).send().unwrap();
        let batch = path.replace("/submit/", "/batches/");
        assert_eq!((answer.status(), answer.headers()[LOCATION].to_str().unwrap()), (StatusCode::SEE_OTHER, &*batch));
        assert!(served.page(&batch).contains("<h1>sent</h1>"));
    }
    assert_eq!(dir.run_with(&[], &["work", "--until-empty", "-q"]).code, 0);
    let done: Vec<_> = jobs(&dir).iter().map(|job| (job["label"].clone(), job["status"].clone())).collect();
    assert_eq!(done, [("a.md".into(), "completed".into()), ("<b>.md".into(), "completed".into())]);
}

#[test]
fn viewers_are_told_of_changes() {
    let dir = TestDir::new();
    let submitted = ["submit", "extract-requirements", "-d", "docs", "--each", "-q"];
    assert_eq!(dir.run_with(&[], &submitted).code, 0);
    let served = Served::start(&dir, &["--read-only"]);
    let newest = jobs(&dir)[0]["id"].as_str().unwrap().to_owned();
    let paths = ["/events".to_owned(), format!("/events?job={newest}")];
    let mut streams = paths.map(|path| BufReader::new(served.get(&path)).lines());
    assert!(streams.iter_mut().all(|lines| lines.next().unwrap().unwrap() == ": watching"));
    assert_eq!(dir.run_with(&[], &["work", "--until-empty", "-q"]).code, 0);
    for lines in &mut streams {
        assert!(lines.any(|line| line.unwrap() == "event: changed"));
    }
    assert!(served.page("/").contains("<b>2</b> completed"));
    let refused = served.form("/submit/0193", &[("token", "x")]).bearer_auth(&served.token).send().unwrap();
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let pages = ["/", &format!("/jobs/{newest}"), &format!("/jobs/{newest}/review")].map(|path| served.page(path));
    assert!(pages.iter().all(|page| !page.contains("method=\"post\"")), "there is no form");
    let mut rest = Vec::new();
    served.get("/assets/web.js").take(1 << 20).read_to_end(&mut rest).unwrap();
    assert_eq!(rest, include_bytes!("../../src/web/web.js"));
}

/// Document, what is to be done, and records of each row of a queue.
fn queue_rows(page: &str) -> Vec<[String; 3]> {
    let text = |cell: &str| {
        let words = cell.split(['<', '>']).enumerate().filter(|(at, _)| at % 2 == 0).map(|(_, word)| word.trim());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let body = page.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap();
    let rows = body.split("<tr>").skip(1).map(|row| {
        let mut cells = row.split("\n<t").skip(1).map(|cell| text(&format!("<t{cell}")));
        std::array::from_fn(|_| cells.next().unwrap())
    });
    rows.collect()
}

#[test]
fn a_person_goes_through_the_queue_of_a_batch() {
    let dir = TestDir::new();
    dir.put("many/a.md", "# A\n\nThe supplier must deliver.\n");
    dir.put("many/b.md", "# B\n\nThe buyer must pay.\n");
    dir.put("many/empty.md", "Nothing is said here.\n");
    dir.put("many/picture.bin", "\u{0}\u{1}");
    let submitted = ["submit", "extract-requirements", "-d", "many", "--each", "--batch", "night", "-q"];
    assert_eq!(dir.run_with(&[], &submitted).code, 0);
    assert_eq!(dir.run_with(&[], &["work", "--until-empty", "-q"]).code, 0);
    let batch = format!("/batches/{}", jobs(&dir)[0]["batch"].as_str().unwrap());
    let served = Served::start(&dir, &["--as", "Ann"]);
    let queue = || queue_rows(&served.page(&format!("{batch}/queue")));
    let row = |name: &str, to_do: &str, records: &str| [name, to_do, records].map(str::to_owned);
    let (one, none) = ("1 record, no doubts", "no record");
    // What has no record comes first.
    assert_eq!(queue(), [row("empty.md", "open", none), row("a.md", "open", one), row("b.md", "open", one)]);
    assert!(served.page(&format!("{batch}/queue")).contains("picture.bin"));
    let approve = |jobs: &str| served.post(&format!("{batch}/approve"), &[("jobs", jobs)]).send().unwrap().status();
    assert_eq!(approve("3"), StatusCode::CONFLICT);
    assert_eq!(approve("2"), StatusCode::SEE_OTHER);
    let left = [row("empty.md", "open", none), row("a.md", "approved", one), row("b.md", "approved", one)];
    assert_eq!(queue(), left);
    assert_eq!(queue_rows(&served.page(&format!("{batch}/queue?mark=open"))), left[..1]);
    let to = |path: &str| served.get(path).headers()[LOCATION].to_str().unwrap().to_owned();
    let review = to(&format!("{batch}/next"));
    let job = review.strip_suffix("/review?queue=1").unwrap().to_owned();
    assert!(served.page(&review).contains("Approve the result and go to the next"));
    let approved = served.post(&format!("{job}/approve?queue=1"), &[]).send().unwrap();
    let next = approved.headers()[LOCATION].to_str().unwrap().to_owned();
    assert_eq!(next, format!("{batch}/next?after={}", job.strip_prefix("/jobs/").unwrap()));
    assert_eq!(to(&next), format!("{batch}/queue"));
    assert!(queue().iter().all(|[_, to_do, _]| to_do == "approved"));
    // What was decided needs nobody any more.
    let report: Value = serde_json::from_str(&dir.run_with(&[], &["report", "night", "--json"]).stdout).unwrap();
    assert_eq!(report["needs_person"], json!([]));
    assert!(served.page(&format!("{batch}/report.html")).contains("night"));
    assert!(served.get(&format!("{batch}/table.xlsx")).bytes().unwrap().starts_with(b"PK"));
    // A program is told in its own form why something was refused.
    let refused =
        served.post(&format!("{job}/correct"), &[("file", "output/x.json"), ("place", "$.a"), ("value", "1")]);
    let refused = refused.header("accept", "application/json").send().unwrap();
    assert_eq!(
        (refused.status(), &refused.headers()[CONTENT_TYPE]),
        (StatusCode::BAD_REQUEST, &"application/problem+json".parse().unwrap())
    );
    let problem: Value = serde_json::from_str(&refused.text().unwrap()).unwrap();
    assert_eq!(
        problem["detail"],
        json!("output/x.json is no deliverable of this job; it has output/requirements.json, output/summary.md")
    );
}
