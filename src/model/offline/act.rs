//! What to do at each board: bootstrap, planning, todos, review.

use super::{
    calls::{Call, blocked, call, complete, read, write},
    comparison, ends,
    listing::listing,
    plans::{self, Kind, active_form},
    position::{PATH, Position},
    report,
    seen::{Board, Exchange, Seen},
    stretch::{self, Into},
};
use serde_json::{Value, json};
use std::fmt::Write;

const PLAN: &str = "main_plan.md";
const INSTRUCTIONS: &str = "instructions.md";
const TOO_LONG_A_LIST: &str = "the documents are too many, or too long, for these rules to keep their list and the plan for \
    them in sight: divide them among several jobs (submit --each makes a job of each)";

/// The calls of the next reply.
pub(super) fn next(seen: &Seen<'_>) -> Vec<Call> {
    match &seen.board {
        // what is recorded from here on would hide what is missing
        Board::Todo { .. } if let Some(refusal) = ends::refusal(seen) => {
            vec![blocked(&format!("a result file can't be written: {refusal}"))]
        }
        Board::Todo { is_last_of_review: true, .. } => finish(seen),
        Board::Todo { content, is_last_of_review: false } => todo(seen, content),
        Board::UpdateMemory | Board::UpdatePlan | Board::CreateTodos { .. } if lacks_number(seen) => vec![read(PATH)],
        Board::UpdateMemory => {
            let mut calls = vec![memory(seen)];
            calls.extend(plan(seen));
            calls.extend(current_title(seen).and_then(|title| todos(seen, &title)));
            calls
        }
        Board::UpdatePlan => {
            let mut calls = plan(seen);
            calls.extend(current_title(seen).and_then(|title| todos(seen, &title)));
            calls
        }
        Board::CreateTodos { title } => match todos(seen, title) {
            Some(call) => vec![call],
            None => vec![read_on(seen, PLAN).unwrap_or_else(|| read(PLAN))],
        },
        Board::Digest | Board::Unknown => Vec::new(),
    }
}

fn no_change(reason: &str) -> Call {
    call("no_change", json!({"reason": reason}))
}

fn todo(seen: &Seen<'_>, content: &str) -> Vec<Call> {
    let starts = |verb: &str| content.starts_with(verb);
    if starts("Generate the workspace summary") {
        return vec![
            call("generate_workspace_summary", json!({})),
            complete("written"),
            read("workspace_summary.md"),
            complete("read"),
            read(INSTRUCTIONS),
            call("list_documents", json!({})),
        ];
    }
    if starts("Read workspace_summary.md") {
        return vec![read("workspace_summary.md"), complete("read")];
    }
    if starts("Read instructions.md") || starts("Write the plan") || starts("Divide the plan") {
        return bootstrap(seen, content);
    }
    if starts("Extract the statements of") {
        stretch::work(seen, content, Into::Requirements)
    } else if starts("Choose the key sentences of") {
        stretch::work(seen, content, Into::KeyPoints)
    } else if starts("Collect the standard statements of") {
        stretch::work(seen, content, Into::Standards)
    } else if starts("Collect the policy statements of") {
        stretch::work(seen, content, Into::Policies)
    } else if starts("Compare standard statements") {
        comparison::work(seen, content)
    } else if starts(plans::START) {
        start(seen)
    } else if starts(plans::LIST) || starts(plans::CHECK_READ) {
        vec![call("list_documents", json!({})), complete("listed")]
    } else if starts(plans::RESUME) {
        vec![read(PATH), complete("read")]
    } else if starts(plans::READ_COUNTS) {
        vec![read("work/counts.tsv"), complete("read")]
    } else if let Some(kind) =
        kind_of(seen).filter(|kind| content == format!("{} {}", plans::WRITE_REPORT, kind.report()))
    {
        report::work(seen, kind)
    } else if let Some(path) = content.strip_prefix(plans::READ_AGAIN) {
        vec![read(path.trim()), complete("read again")]
    } else {
        vec![call("list_files", json!({"path": "output"})), complete("looked at the files under output/")]
    }
}

/// The plan: changed where its next phase is to be divided, and written where bootstrap was given up before it was there.
fn plan(seen: &Seen<'_>) -> Vec<Call> {
    if kind_of(seen).is_none() && seen.standing.contains(&format!("{PLAN} does not exist yet.")) {
        return new_plan(seen).map_or_else(|calls| calls, |plan| vec![write(PLAN, &plan)]);
    }
    vec![plan_update(seen).unwrap_or_else(|| no_change("the plan holds"))]
}

fn bootstrap(seen: &Seen<'_>, content: &str) -> Vec<Call> {
    let plan = match new_plan(seen) {
        Ok(plan) => plan,
        Err(calls) => return calls,
    };
    let mut calls = Vec::new();
    if content.starts_with("Read instructions.md") {
        calls.push(complete("read"));
    }
    if !content.starts_with("Divide the plan") {
        calls.push(write(PLAN, &plan));
        calls.push(complete("the plan is written"));
    }
    calls.push(read(PLAN));
    calls.push(complete("each phase has its steps"));
    calls
}

/// A plan, made of the task and the list of documents; or the calls that read these to their ends.
fn new_plan(seen: &Seen<'_>) -> Result<String, Vec<Call>> {
    // asked for from its beginning twice, and each time gone before its end was there
    let is_first_part =
        |exchange: &&Exchange<'_>| exchange.name == "list_documents" && exchange.argument("from").is_empty();
    if seen.exchanges.iter().filter(is_first_part).filter(|exchange| exchange.is_folded()).count() > 1 {
        return Err(vec![blocked(TOO_LONG_A_LIST)]);
    }
    let Some(task) = whole(seen, INSTRUCTIONS) else {
        return Err(vec![read_on(seen, INSTRUCTIONS).unwrap_or_else(|| read(INSTRUCTIONS))]);
    };
    let answers = seen.exchanges.iter().filter(|exchange| exchange.name == "list_documents" && exchange.is_answered());
    let documents = match listing(answers.map(|exchange| exchange.result)) {
        Ok(documents) => documents,
        Err(rest) => return Err(rest.calls()),
    };
    let kind = match plans::kind(&task) {
        Ok(kind) => kind,
        Err(reason) => return Err(vec![blocked(&reason)]),
    };
    if documents.iter().all(|document| document.units == 0) {
        return Err(vec![blocked("none of the documents has readable text")]);
    }
    Ok(plans::plan(kind, &documents))
}

/// The text of a file that was read to its end, in one read or several.
fn whole(seen: &Seen<'_>, path: &str) -> Option<String> {
    let mut reads =
        seen.exchanges.iter().filter(|exchange| exchange.name == "read_file" && exchange.argument("path") == path);
    let ends = reads.any(|exchange| exchange.result.ends_with("This is the end of the file."));
    ends.then(|| Seen::lines_of(&seen.exchanges, path).into_values().collect::<Vec<_>>().join("\n"))
}

/// The read that goes on where the last one of `path` stopped.
pub(super) fn read_on(seen: &Seen<'_>, path: &str) -> Option<Call> {
    let last = seen
        .exchanges
        .iter()
        .rev()
        .find(|exchange| exchange.name == "read_file" && exchange.argument("path") == path)?;
    let (_, offset) = last.result.rsplit_once("offset: ")?;
    let offset: u64 = offset.trim_end_matches(')').parse().ok()?;
    Some(call("read_file", json!({"path": path, "offset": offset})))
}

fn kind_of(seen: &Seen<'_>) -> Option<Kind> {
    Kind::of_plan(&seen.standing)
}

/// The result files, empty.
fn start(seen: &Seen<'_>) -> Vec<Call> {
    let Some(kind) = kind_of(seen) else {
        return vec![call("list_files", json!({})), complete("no plan of these rules is in sight")];
    };
    let name = match kind {
        Kind::Extract => "requirements",
        Kind::Summarise => "points",
        Kind::Audit => "findings",
    };
    let records = format!("{{\"{name}\": [\n]}}\n");
    let mut files = vec![(kind.records(), records.as_str()), ("work/counts.tsv", "")];
    match kind {
        Kind::Extract => {}
        Kind::Summarise => files.push((
            kind.report(),
            "# Summary\n\nThe key sentences of each document, word for word, in the order of the text.\n",
        )),
        Kind::Audit => {
            let collected = [
                "work/standards.tsv",
                "work/policies.tsv",
                "work/contradicted.md",
                "work/missing.md",
                "work/partial.md",
            ];
            files.extend(collected.map(|path| (path, "")));
        }
    }
    let lines = files.iter().map(|(path, text)| ((*path).to_owned(), text.lines().count() as u64)).collect();
    let mut calls: Vec<Call> = files.iter().map(|(path, text)| write(path, text)).collect();
    calls.push(Position { lines, ..Position::default() }.save());
    calls.push(complete("the result files are there"));
    calls
}

fn memory(seen: &Seen<'_>) -> Call {
    let Some(position) = Position::seen(seen) else {
        return match kind_of(seen) {
            Some(kind) => write(
                "workspace.md",
                &format!("# Memory\n\n- Records go to {}, the report to {}.\n", kind.records(), kind.report()),
            ),
            None => no_change("nothing to remember yet"),
        };
    };
    let kind = kind_of(seen).unwrap_or(Kind::Extract);
    let mut text = format!(
        "# Memory\n\n- Records go to {}, the report to {}; working files are under work/.\n- Recorded so far: {}{}.\n",
        kind.records(),
        kind.report(),
        position.count,
        position.totals_in_brackets()
    );
    if !position.document.is_empty() {
        let _ = writeln!(text, "- Read last: {}.", position.document);
    }
    if position.standards > 0 {
        let _ = writeln!(
            text,
            "- Collected: {} statements of standards, {} of policies.",
            position.standards, position.policies
        );
    }
    write("workspace.md", &text)
}

/// The comparison is divided once the number of statements is known.
fn plan_update(seen: &Seen<'_>) -> Option<Call> {
    let position = Position::seen(seen)?;
    let text = plan_text(seen)?;
    let steps = divided(&text, &position)?;
    let steps: Vec<String> = steps.iter().map(|step| format!("- [ ] {step}")).collect();
    Some(call(
        "edit_file",
        json!({"path": PLAN, "old": format!("- [ ] {}", plans::TO_DIVIDE), "new": steps.join("\n")}),
    ))
}

/// Whether the next phase is to be divided, and the position that says by how much is out of sight.
fn lacks_number(seen: &Seen<'_>) -> bool {
    let section = plan_text(seen).and_then(|plan| section(&plan, &current_of(&plan)?));
    section.is_some_and(|section| section.contains(plans::TO_DIVIDE))
        && Position::seen(seen).is_none()
        && !seen.did("read_file", "path", PATH)
}

/// The steps that replace the one to be divided, when its phase is the next.
fn divided(plan: &str, position: &Position) -> Option<Vec<String>> {
    let section = section(plan, &current_of(plan)?)?;
    let steps = comparison::steps(position.standards);
    (section.contains(plans::TO_DIVIDE) && !steps.is_empty()).then_some(steps)
}

/// The plan as the planning prompt shows it, or as it was read just now.
fn plan_text(seen: &Seen<'_>) -> Option<String> {
    if let Some(text) = whole(seen, PLAN).filter(|text| text.contains("← CURRENT")) {
        return Some(text);
    }
    let (_, rest) = seen.standing.rsplit_once("<file name=\"main_plan.md\">\n")?;
    rest.split_once("\n</file>").map(|(text, _)| text.to_owned())
}

fn current_of(plan: &str) -> Option<String> {
    let heading = plan.lines().find(|line| line.starts_with("## Phase ") && line.contains("← CURRENT"))?;
    heading.split_once(": ").map(|(_, title)| title.replace("← CURRENT", "").trim().to_owned())
}

fn current_title(seen: &Seen<'_>) -> Option<String> {
    current_of(&plan_text(seen)?)
}

/// The lines of the phase `title`; `None` where the plan is cut before its end.
fn section(plan: &str, title: &str) -> Option<String> {
    let mut lines = plan.lines().skip_while(|line| !is_heading_of(line, title));
    lines.next()?;
    let body: Vec<&str> = lines.clone().take_while(|line| !line.starts_with("## ")).collect();
    let is_cut = body.iter().any(|line| line.starts_with("[cut here"));
    (!is_cut).then(|| body.join("\n"))
}

fn is_heading_of(line: &str, title: &str) -> bool {
    line.starts_with("## Phase ")
        && line
            .split_once(": ")
            .is_some_and(|(_, rest)| rest.replace("← CURRENT", "").replace("✓ COMPLETE", "").trim() == title)
}

/// The todos of the phase `title`: its steps that are not ticked.
fn todos(seen: &Seen<'_>, title: &str) -> Option<Call> {
    let plan = plan_text(seen)?;
    let section = section(&plan, title)?;
    let mut steps: Vec<String> =
        section.lines().filter_map(|line| line.strip_prefix("- [ ] ")).map(str::to_owned).collect();
    if let Some(place) = steps.iter().position(|step| step == plans::TO_DIVIDE)
        && let Some(parts) = Position::seen(seen).and_then(|position| divided(&plan, &position))
    {
        steps.splice(place..=place, parts);
    }
    let todos: Vec<Value> =
        steps.iter().map(|step| json!({"content": step, "active_form": active_form(step)})).collect();
    (!todos.is_empty()).then(|| call("todo_write", json!({"todos": todos})))
}

/// `job_complete`, after reading what a refusal says was not shown yet.
fn finish(seen: &Seen<'_>) -> Vec<Call> {
    let Some(kind) = kind_of(seen) else {
        return vec![blocked("no plan of these rules is in sight")];
    };
    let refusal =
        seen.of_todo().iter().rev().find(|exchange| exchange.name == "job_complete").map(|exchange| exchange.result);
    if Position::seen(seen).is_none() && !seen.did("read_file", "path", PATH) {
        return vec![read(PATH)];
    }
    let position = Position::seen(seen).unwrap_or_default();
    let mut calls: Vec<Call> = refusal.map(unread_parts).unwrap_or_default();
    let summary = format!(
        "The offline rules read all readable text of the documents and recorded {} entries in {}{}. The report is {}.{}",
        position.count,
        kind.records(),
        position.totals_in_brackets(),
        kind.report(),
        if position.count == 0 {
            " They know English words only: must, shall, should, may, required and their like."
        } else {
            ""
        }
    );
    calls.push(call(
        "job_complete",
        json!({
            "summary": summary,
            "deliverables": [kind.records(), kind.report()],
            "confidence": 0.8,
            "notes": "Made by rules, without a language model: wording is exact, meaning was not weighed.",
        }),
    ));
    calls
}

/// Reads for what a refusal lists as not shown: `spec.md lines 4-6, line 9; other.txt page 2`.
fn unread_parts(refusal: &str) -> Vec<Call> {
    let Some((_, rest)) = refusal.split_once("not shown yet: ") else {
        return Vec::new();
    };
    let listed = rest.split_once("; read them").map_or(rest, |(listed, _)| listed);
    let mut calls = Vec::new();
    for entry in listed.split("; ") {
        let mut name = String::new();
        for part in entry.split(", ") {
            let mut words: Vec<&str> = part.split(' ').collect();
            let (Some(range), Some(_unit)) = (words.pop(), words.pop()) else {
                continue;
            };
            if !words.is_empty() {
                name = words.join(" ");
            }
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            if let (Ok(from), Ok(to)) = (from.parse::<u64>(), to.parse::<u64>()) {
                calls.push(call("read_document", json!({"name": name, "from": from, "to": to})));
            }
        }
    }
    calls.truncate(6);
    calls
}
