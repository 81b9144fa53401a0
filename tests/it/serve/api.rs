//! `/api/v1`, as a program asks it.

use super::{PROGRAM, Served, TestDir, worked};
use reqwest::{
    Method, StatusCode,
    blocking::{RequestBuilder, Response},
    header::CONTENT_TYPE,
};
use serde_json::{Value, json};
use std::{fmt::Write, process::Command};

/// A server, and who asks it with a token of their own.
pub(super) struct Caller<'s> {
    pub(super) served: &'s Served,
    pub(super) token: String,
}

impl<'s> Caller<'s> {
    pub(super) fn new(dir: &TestDir, served: &'s Served, name: &str, role: &str) -> Self {
        let made = dir.run_with(&[], &["token", "add", name, "--role", role, "-q"]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        Self { served, token: made.stdout.trim().to_owned() }
    }

    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.served.bare(method, path).bearer_auth(&self.token)
    }

    pub(super) fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Response {
        let request = self.request(method, path);
        let request = match body {
            Some(body) => request.header(CONTENT_TYPE, "application/json").body(body.to_string()),
            None => request,
        };
        request.send().unwrap()
    }

    pub(super) fn json(&self, method: Method, path: &str, body: Option<&Value>) -> (u16, Value) {
        let answer = self.send(method, path, body);
        let (status, kind) = (answer.status(), answer.headers()[CONTENT_TYPE].to_str().unwrap().to_owned());
        let expected = if status.is_success() { "application/json" } else { "application/problem+json" };
        let text = answer.text().unwrap();
        assert_eq!(kind, expected, "{path}: {text}");
        (status.as_u16(), serde_json::from_str(&text).unwrap())
    }

    pub(super) fn get(&self, path: &str) -> Value {
        let (status, value) = self.json(Method::GET, path, None);
        assert_eq!(status, 200, "{path}: {value}");
        value
    }
}

/// What the command prints as JSON.
fn command(dir: &TestDir, arguments: &[&str]) -> Value {
    serde_json::from_str(&dir.run_with(&[], arguments).stdout).unwrap()
}

#[test]
fn the_answers_are_what_the_commands_print() {
    let (dir, ids) = worked();
    let served = Served::start(&dir, &[]);
    let anna = Caller::new(&dir, &served, "Anna", "reader");
    let job = &ids[1];
    assert_eq!(anna.get(&format!("/api/v1/jobs/{job}")), command(&dir, &["show", job, "--json"]));
    let listed = anna.get("/api/v1/jobs");
    assert_eq!((&listed["items"], &listed["next"]), (&command(&dir, &["jobs", "--json"]), &Value::Null));
    let batch = listed["items"][0]["batch"].as_str().unwrap();
    let mut shown = anna.get(&format!("/api/v1/batches/{batch}"));
    // What can be done next is said with the name by which a batch was asked for.
    shown["next"] = command(&dir, &["show", batch, "--json"])["next"].clone();
    assert_eq!(shown, command(&dir, &["show", batch, "--json"]));
    let lines = dir.run_with(&[], &["export", batch, "--format", "jsonl", "-q"]).stdout;
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(anna.get(&format!("/api/v1/batches/{batch}/records")), json!({ "records": rows }));
    let csv = anna.send(Method::GET, &format!("/api/v1/batches/{batch}/export?format=csv"), None);
    assert_eq!(csv.headers()[CONTENT_TYPE], "text/csv");
    assert_eq!(csv.text().unwrap(), dir.run_with(&[], &["export", batch, "-q"]).stdout);
    let text = anna.send(Method::GET, &format!("/api/v1/jobs/{job}/documents/plain.md"), None).text().unwrap();
    assert_eq!(text, "# Plain\n\nA guest must leave.\n");
    let files = anna.get(&format!("/api/v1/jobs/{job}/files"));
    let paths: Vec<&str> =
        files["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"output/requirements.json") && !paths.contains(&"job.lock"), "{paths:?}");
    // A piece of a list says where the next one begins.
    let first = anna.get("/api/v1/jobs?limit=1");
    let second = anna.get(&format!("/api/v1/jobs?limit=1&cursor={}", first["next"].as_str().unwrap()));
    assert_eq!(json!([first["items"][0], second["items"][0]]), listed["items"]);
    assert_eq!(anna.get(&format!("/api/v1/jobs?cursor={}", second["next"].as_str().unwrap()))["items"], json!([]));
}

#[test]
fn each_act_has_the_name_of_the_token() {
    let (dir, ids) = worked();
    let served = Served::start(&dir, &[]);
    let [rita, otto] =
        [("Rita", "reviewer"), ("Otto", "operator")].map(|(name, role)| Caller::new(&dir, &served, name, role));
    let job = format!("/api/v1/jobs/{}", ids[1]);
    let place = "$.requirements[0].strength";
    let correction = json!({ "place": place, "value": "SHOULD", "comment": "It is a wish" });
    assert_eq!(rita.json(Method::POST, &format!("{job}/correct"), Some(&correction)).0, 200);
    let (status, shown) = otto.json(Method::POST, &format!("{job}/approve"), Some(&json!({ "as": "Olga" })));
    let people: Vec<(&str, &str)> = (shown["people"].as_array().unwrap().iter())
        .map(|act| (act["who"].as_str().unwrap(), act["what"].as_str().unwrap()))
        .collect();
    assert_eq!(status, 200);
    assert!(people[0].1.starts_with("corrected $.requirements[0].strength"), "{people:?}");
    assert_eq!((people[0].0, people[1]), ("Rita", ("Olga", "approved the result without opening its review page")));
    // Nobody but an operator speaks for another.
    let (status, refused) = rita.json(Method::POST, &format!("{job}/approve"), Some(&json!({ "as": "Olga" })));
    assert_eq!(
        (status, &refused["detail"]),
        (403, &json!("This needs the role operator, and your token has reviewer."))
    );
    let (status, back) =
        rita.json(Method::POST, &format!("{job}/feedback"), Some(&json!({ "text": "Name the guest." })));
    assert_eq!((status, &back["status"], &back["people"][2]["who"]), (200, &json!("queued"), &json!("Rita")));
    assert_eq!(dir.run_with(&[], &["audit", "verify", &ids[1]]).code, 0);
}

#[test]
fn what_is_wrong_is_told_as_a_problem() {
    let (dir, ids) = worked();
    let served = Served::start(&dir, &[]);
    let otto = Caller::new(&dir, &served, "Otto", "operator");
    let job = format!("/api/v1/jobs/{}", ids[0]);
    let nobody = "/api/v1/jobs/00000000-0000-0000-0000-000000000000";
    for (method, path, body, status, detail) in [
        (Method::GET, nobody, None, 404, "There is no such job."),
        (Method::GET, "/api/v1/nothing", None, 404, "There is no such page."),
        (Method::GET, "/api/v1/jobs?limit=0", None, 400, "limit is 1 to 1000."),
        (Method::DELETE, "/api/v1/jobs", None, 405, "There is no such operation: the header Allow names the methods."),
        (
            Method::POST,
            &format!("{job}/cancel"),
            None,
            409,
            &format!("job {} has ended already: it is completed", ids[0]),
        ),
    ] {
        let (found, told) = otto.json(method, path, body);
        assert_eq!((found, told["detail"].as_str().unwrap()), (status, detail), "{path}");
    }
    for (path, body) in [
        ("correct", json!({ "place": 7 })),
        ("approve", json!({ "coment": "x" })),
        ("correct", json!({ "place": "$.requirements[99].text", "value": "x" })),
        // The journal would not give it back.
        ("correct", json!({ "place": "$.requirements[0].line", "value": u128::from(u64::MAX) + 1 })),
    ] {
        let (status, told) = otto.json(Method::POST, &format!("{job}/{path}"), Some(&body));
        assert!((400..500).contains(&status), "{status}: {told}");
    }
    assert_eq!(otto.get(&job)["status"], "completed");
    // It is not said to be compressed where it is not.
    let request = otto.request(Method::GET, nobody).header("accept-encoding", "gzip");
    let answer = request.send().unwrap();
    assert_eq!(answer.headers().get("content-encoding"), None);
    assert!(answer.text().unwrap().starts_with('{'));
}

/// The same request again means the same batch, whatever has become of the answer to the first one.
#[test]
fn a_key_makes_a_submission_safe_to_repeat() {
    let dir = TestDir::new();
    dir.put("in/one.md", "# One\n\nA guest must leave.\n");
    let served = Served::start(&dir, &["--documents-root", "in"]);
    let otto = Caller::new(&dir, &served, "Otto", "operator");
    let submit = |body: &Value, key: &str| {
        let request = served.bare(Method::POST, "/api/v1/batches").bearer_auth(&otto.token);
        let request = request.header("idempotency-key", key).header(CONTENT_TYPE, "application/json");
        let answer = request.body(body.to_string()).send().unwrap();
        (answer.status(), serde_json::from_str::<Value>(&answer.text().unwrap()).unwrap())
    };
    let wanted = json!({ "instructions": "extract-requirements", "paths": ["one.md"], "name": "night" });
    let (made, first) = submit(&wanted, "k1");
    let (again, second) = submit(&wanted, "k1");
    assert_eq!((made, again, &first["batch"]), (StatusCode::CREATED, StatusCode::OK, &second["batch"]));
    assert_eq!(
        (submit(&wanted, "k2").0, otto.get("/api/v1/batches")["items"].as_array().unwrap().len()),
        (StatusCode::CREATED, 2)
    );
    let other = json!({ "instructions": "extract-requirements", "paths": ["one.md"], "name": "day" });
    let (refused, told) = submit(&other, "k1");
    assert_eq!(refused, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(told["detail"], "This Idempotency-Key was used for another submission: send a new one.");
    dir.put("other.md", "# Other\n");
    let outside = json!({ "instructions": "extract-requirements", "paths": ["../other.md"] });
    assert_eq!(submit(&outside, "k3").0, StatusCode::BAD_REQUEST);
    let (refused, told) =
        submit(&json!({ "instructions": "extract-requirements", "paths": vec!["one.md"; 10_001] }), "k4");
    let too_many = "At most 10000 paths are taken at once; name their folder instead.";
    assert_eq!((refused, told["detail"].as_str()), (StatusCode::BAD_REQUEST, Some(too_many)));
    // An answer doesn't repeat megabytes.
    let long = json!({ "instructions": "extract-requirements", "paths": ["x".repeat(3_000_000)] });
    assert!(submit(&long, "k5").1["detail"].as_str().unwrap().chars().count() <= 2_001);
    // What was refused has not used its key.
    assert_eq!(submit(&wanted, "k3").0, StatusCode::CREATED);
}

/// Each operation of the document is there, and says who may call it.
#[test]
fn a_reader_can_change_nothing() {
    let (dir, ids) = worked();
    let served = Served::start(&dir, &[]);
    let [reader, reviewer] = ["reader", "reviewer"].map(|role| Caller::new(&dir, &served, role, role));
    let before = command(&dir, &["jobs", "--json"]);
    let document = reader.get("/api/v1/openapi.json");
    let batch = before[0]["batch"].as_str().unwrap();
    let mut posts = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        let id = if path.starts_with("/batches") { batch } else { &ids[0] };
        let at = format!("/api/v1{}", path.replace("{id}", id));
        if let Some(operation) = methods.get("post") {
            posts += 1;
            assert_eq!(reader.send(Method::POST, &at, Some(&json!({}))).status(), StatusCode::FORBIDDEN, "{at}");
            let is_review = operation["description"] == "Needs the role reviewer.";
            let as_reviewer = reviewer.send(Method::POST, &at, Some(&json!([])));
            assert_eq!(as_reviewer.status() == StatusCode::FORBIDDEN, !is_review, "{at}");
        }
        let is_plain = methods.get("get").is_some() && !path.contains("{path}") && path != "/events";
        if is_plain {
            assert!(reader.send(Method::GET, &at, None).status().is_success(), "{at}");
        }
    }
    assert_eq!(posts, 14);
    let job = &ids[0];
    for path in [
        format!("/jobs/{job}/approve"),
        format!("/jobs/{job}/correct"),
        format!("/jobs/{job}/feedback"),
        "/all/cancel".to_owned(),
        format!("/batches/{batch}/approve"),
        format!("/batches/{batch}/all/cancel"),
        "/submit".to_owned(),
        "/submit/0193".to_owned(),
    ] {
        assert_eq!(reader.send(Method::POST, &path, None).status(), StatusCode::FORBIDDEN, "{path}");
    }
    assert_eq!(reader.send(Method::GET, "/submit", None).status(), StatusCode::FORBIDDEN);
    assert_eq!(command(&dir, &["jobs", "--json"]), before);
    let verified = Command::new(PROGRAM).current_dir(dir.path()).args(["audit", "verify", job]).output().unwrap();
    assert!(verified.status.success());
}

/// The page of the book with all operations is made from the document: `UPDATE=1` writes it.
#[test]
fn the_page_of_operations_is_what_the_document_says() {
    let dir = TestDir::new();
    let served = Served::start(&dir, &[]);
    let document = Caller::new(&dir, &served, "Anna", "reader").get("/api/v1/openapi.json");
    let mut page =
        "# Operations of the HTTP API\n\nMade from `/api/v1/openapi.json`, which has the schemas of all answers. \
                    [The HTTP API](api.md) tells how they are used.\n"
            .to_owned();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let text = |value: &Value| value.as_str().unwrap_or_default().replace('\n', " ");
            let role = text(&operation["description"]).to_lowercase().replace('.', "");
            let summary = text(&operation["summary"]);
            let _ = write!(
                page,
                "\n## `{} {path}`\n\n{summary} ({}; {role})\n",
                method.to_uppercase(),
                text(&operation["operationId"])
            );
            let mut fields: Vec<[String; 3]> = Vec::new();
            for parameter in operation["parameters"].as_array().into_iter().flatten().filter(|it| it["in"] != "path") {
                let place = text(&parameter["in"]);
                fields.push([text(&parameter["name"]), place, text(&parameter["description"])]);
            }
            for (kind, body) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
                let name = body["schema"]["$ref"].as_str().unwrap_or_default().rsplit('/').next().unwrap();
                for (field, schema) in
                    document["components"]["schemas"][name]["properties"].as_object().into_iter().flatten()
                {
                    fields.push([field.clone(), kind.clone(), text(&schema["description"])]);
                }
            }
            if !fields.is_empty() {
                page += "\n| field | in | |\n|---|---|---|\n";
            }
            for [name, place, what] in fields {
                let _ = writeln!(page, "| `{name}` | {place} | {} |", what.replace('|', "\\|"));
            }
            for (status, answer) in
                operation["responses"].as_object().unwrap().iter().filter(|(status, _)| *status != "default")
            {
                let kinds = answer["content"].as_object().into_iter().flatten().map(|(kind, content)| {
                    let name = content["schema"]["$ref"].as_str().and_then(|path| path.rsplit('/').next());
                    name.map_or_else(|| kind.clone(), |name| format!("{kind} (`{name}`)"))
                });
                let _ = write!(page, "\nAnswers {status}: {}\n", kinds.collect::<Vec<_>>().join(", "));
            }
        }
    }
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/operations.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), page, "UPDATE=1 takes it as it is");
}
