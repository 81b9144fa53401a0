//! From the text of an instructions file to [`Instructions`]: every key, its type, its range, its default.

use super::{
    BatchUntil, CompactionPolicy, ContextSettings, Deliverable, EffortSteps, InlineDocuments, Instructions, MAX_BYTES,
    MIN_BUDGET_TOKENS, MOST_PARALLEL, PARALLEL, PhaseBounds, Quotes, ReadBeside, Review, SummaryBy, ToolSettings,
    cascade, checks, completeness,
    files_beside::read_file,
    schema_files,
    values::{name_model, or_default},
};
use crate::{
    amount::shown,
    job::{
        json_path::JsonPath,
        lessons::ApprovedLessons,
        limits::Limits,
        models::{ModelRoles, Tier},
        schema,
    },
    message::{MOST_LEVELS, is_within},
    yaml::{ValueError, YamlError, YamlFile, YamlMapping, YamlNode, YamlValue},
};

const KEYS: [&str; 23] = [
    "name",
    "description",
    "model",
    "models",
    "tier",
    "batch_until",
    "effort",
    "cascade",
    "fallback",
    "phase",
    "context",
    "limits",
    "parallel",
    "coverage",
    "confidence_floor",
    "deliverables",
    "review",
    "finale",
    "agents",
    "second_reader",
    "readers",
    "verify",
    "tools",
];

/// The most deliverables: each is looked up among the others.
const MAX_DELIVERABLES: usize = 500;

pub(super) fn parse(text: &str, read_beside: ReadBeside<'_>) -> Result<Instructions, YamlError> {
    let parts = split(text)?;
    let below = |fault: YamlError| YamlError { line: fault.line + 1, ..fault };
    let yaml = YamlFile::parse(parts.front).map_err(below)?;
    let mut instructions = front_matter(&yaml.root(), read_beside).map_err(|wrong| below(yaml.fault(wrong)))?;
    if parts.body.trim().is_empty() {
        let what = "no task below the front matter; say there in Markdown what is to be done".to_owned();
        return Err(YamlError { line: parts.body_line, what });
    }
    parts.body.trim().clone_into(&mut instructions.body);
    Ok(instructions)
}

struct SplitFile<'t> {
    /// The text between the fences; its first line is the file's second.
    front: &'t str,
    body: &'t str,
    body_line: u64,
}

fn split(text: &str) -> Result<SplitFile<'_>, YamlError> {
    let at = |line: u64, what: &str| Err(YamlError { line, what: what.to_owned() });
    if text.len() > MAX_BYTES {
        return at(1, "the file is larger than 1 MiB; put long material into a document");
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let is_fence = |line: &str| line.trim_end() == "---";
    let first = lines.next().unwrap_or("");
    if !is_fence(first) {
        return at(1, "no front matter; the first line must be '---', then name: and deliverables:, then '---'");
    }
    let mut end = first.len();
    for (number, line) in (2..).zip(lines) {
        if is_fence(line) {
            let front = text.get(first.len()..end).unwrap_or("");
            let body = text.get(end + line.len()..).unwrap_or("");
            return Ok(SplitFile { front, body, body_line: number + 1 });
        }
        end += line.len();
    }
    at(1, "the front matter is not closed; put a line '---' before the task")
}

fn front_matter(root: &YamlValue<'_>, read_beside: ReadBeside<'_>) -> Result<Instructions, ValueError> {
    if *root.node() == YamlNode::Null {
        return Err(root.wrong("front matter is empty; it must have at least name: and deliverables:"));
    }
    let keys = root.table(&KEYS)?;
    let name = keys.required("name")?.line(100)?;
    let (mut model, mut models) = models(&keys)?;
    let deliverables = deliverables(keys.required("deliverables")?, read_beside)?;
    let second_reader = keys
        .get("second_reader")
        .map(|at| completeness::second_reader(at, &deliverables, &mut models.second_reader))
        .transpose()?;
    let readers =
        keys.get("readers").map(|at| completeness::readers(at, &deliverables, &mut models.readers)).transpose()?;
    let verify = keys.get("verify").map(|at| completeness::verify(at, read_beside, &mut models.verify)).transpose()?;
    let cascade = keys.get("cascade").map(|at| cascade::cascade(at, second_reader.is_some())).transpose()?;
    if let (Some(cascade), Some(at)) = (&cascade, keys.get("cascade")) {
        if model.is_some() {
            return Err(at.wrong("names the models itself: leave model out"));
        }
        model = Some(cascade.cheap.clone());
    }
    Ok(Instructions {
        name,
        description: or_default(keys.get("description").map(|at| at.line(500)))?,
        model,
        models,
        tier: keys.get("tier").map_or(Ok(Tier::Standard), |at| at.word(&Tier::ALL.map(|tier| (tier.name(), tier))))?,
        batch_until: keys.get("batch_until").map(|at| at.duration_ms().map(BatchUntil::AfterMs)).transpose()?,
        effort: keys.get("effort").map(effort).transpose()?,
        cascade,
        fallback: or_default(keys.get("fallback").map(|at| at.lines(200)))?,
        lessons: ApprovedLessons::default(),
        phase: or_default(keys.get("phase").map(phase))?,
        context: or_default(keys.get("context").map(context))?,
        limits: or_default(keys.get("limits").map(limits))?,
        parallel: keys.get("parallel").map_or(Ok(PARALLEL), parallel)?,
        coverage: keys.get("coverage").map_or(Ok(1.0), |at| at.number(0.0, 1.0))?,
        confidence_floor: keys.get("confidence_floor").map_or(Ok(0.5), |at| at.number(0.0, 1.0))?,
        deliverables,
        review: keys
            .get("review")
            .map_or(Ok(Review::None), |at| at.word(&[("none", Review::None), ("required", Review::Required)]))?,
        finale: keys.get("finale").map_or_else(
            || Ok(vec!["Verify all deliverables".to_owned(), "Generate summary report".to_owned()]),
            |at| at.lines(500),
        )?,
        agents: or_default(keys.get("agents").map(|at| completeness::agents(at, read_beside)))?,
        second_reader,
        readers,
        verify,
        tools: or_default(keys.get("tools").map(tools))?,
        body: String::new(),
    })
}

fn effort(at: &YamlValue<'_>) -> Result<EffortSteps, ValueError> {
    let keys = at.table(&["first", "again"])?;
    let first = keys.required("first")?.line(40)?;
    let again = keys.get("again").map(|at| at.line(40)).transpose()?.filter(|level| level != "default");
    Ok(EffortSteps { first, again })
}

/// The model for the work, which `models.work` names too, and those for other work.
fn models(keys: &YamlMapping<'_>) -> Result<(Option<String>, ModelRoles), ValueError> {
    let mut model = keys.get("model").map(|at| at.line(200)).transpose()?;
    let Some(at) = keys.get("models") else { return Ok((model, ModelRoles::default())) };
    let keys = at.table(&["work", "second_reader", "readers", "verify", "helpers", "vision", "vision_second"])?;
    name_model(&mut model, "model", keys.get("work"))?;
    let line = |key: &str| keys.get(key).map(|at| at.line(200)).transpose();
    let roles = ModelRoles {
        second_reader: line("second_reader")?,
        readers: line("readers")?,
        verify: line("verify")?,
        helpers: line("helpers")?,
        vision: line("vision")?,
        vision_second: line("vision_second")?,
    };
    Ok((model, roles))
}

pub(super) fn parallel(at: &YamlValue<'_>) -> Result<u32, ValueError> {
    let wrong = || at.wrong(format!("must be at most {MOST_PARALLEL}"));
    u32::try_from(at.count(1)?).ok().filter(|calls| *calls <= MOST_PARALLEL).ok_or_else(wrong)
}

fn phase(at: &YamlValue<'_>) -> Result<PhaseBounds, ValueError> {
    let keys = at.table(&["min_todos", "max_todos"])?;
    let bound = |key: &str, default: u32| {
        keys.get(key).map_or(Ok(default), |at| {
            u32::try_from(at.count(1)?).ok().filter(|n| *n <= 1_000).ok_or_else(|| at.wrong("must be at most 1000"))
        })
    };
    let default = PhaseBounds::default();
    let mut bounds = PhaseBounds {
        min_todos: bound("min_todos", default.min_todos)?,
        max_todos: bound("max_todos", default.max_todos)?,
    };
    if bounds.min_todos > bounds.max_todos {
        // A bound that isn't written gives way to the one that is.
        match (keys.get("min_todos"), keys.get("max_todos")) {
            (Some(min), Some(_)) => {
                let PhaseBounds { min_todos, max_todos } = bounds;
                return Err(min.wrong(format!("is {min_todos}, more than 'phase.max_todos', which is {max_todos}")));
            }
            (Some(_), None) => bounds.max_todos = bounds.min_todos,
            (None, Some(_) | None) => bounds.min_todos = bounds.max_todos,
        }
    }
    Ok(bounds)
}

fn context(at: &YamlValue<'_>) -> Result<ContextSettings, ValueError> {
    let keys = at.table(&["budget_tokens", "compact", "summary", "inline"])?;
    let default = ContextSettings::default();
    Ok(ContextSettings {
        budget_tokens: keys.get("budget_tokens").map_or(Ok(default.budget_tokens), |at| at.count(MIN_BUDGET_TOKENS))?,
        compact: keys.get("compact").map_or(Ok(default.compact), |at| {
            at.word(&[("auto", CompactionPolicy::Auto), ("always", CompactionPolicy::Always)])
        })?,
        summary: keys
            .get("summary")
            .map_or(Ok(default.summary), |at| at.word(&[("digest", SummaryBy::Digest), ("model", SummaryBy::Model)]))?,
        inline: keys.get("inline").map_or(Ok(default.inline), |at| {
            at.word(&[("auto", InlineDocuments::Auto), ("never", InlineDocuments::Never)])
        })?,
    })
}

fn limits(at: &YamlValue<'_>) -> Result<Limits, ValueError> {
    let keys = at.table(&[
        "turns",
        "turns_per_todo",
        "turns_per_phase",
        "tokens",
        "cost_usd",
        "wall_clock",
        "model_call",
        "tool_call",
    ])?;
    let default = Limits::default();
    let count = |key: &str, default: u64| keys.get(key).map_or(Ok(default), |at| at.count(1));
    let duration = |key: &str, default: u64| keys.get(key).map_or(Ok(default), YamlValue::duration_ms);
    Ok(Limits {
        turns_per_todo: count("turns_per_todo", default.turns_per_todo)?,
        turns_per_phase: count("turns_per_phase", default.turns_per_phase)?,
        turns: count("turns", default.turns)?,
        tokens: keys.get("tokens").map(|at| at.count(1)).transpose()?,
        cost_usd: keys.get("cost_usd").map(|at| at.number(0.0, f64::INFINITY)).transpose()?,
        wall_clock_ms: keys.get("wall_clock").map(YamlValue::duration_ms).transpose()?,
        model_call_ms: duration("model_call", default.model_call_ms)?,
        tool_call_ms: duration("tool_call", default.tool_call_ms)?,
    })
}

fn deliverables(at: &YamlValue<'_>, read_beside: ReadBeside<'_>) -> Result<Vec<Deliverable>, ValueError> {
    let items = at.list()?;
    if items.is_empty() {
        return Err(at.wrong("must name at least one file under output/"));
    }
    if items.len() > MAX_DELIVERABLES {
        return Err(at.wrong(format!("must name at most {MAX_DELIVERABLES} files")));
    }
    let mut found: Vec<Deliverable> = Vec::new();
    for item in items {
        let keys = item.table(&["path", "schema", "quotes", "checks", "min_words", "forbid"])?;
        let at_path = keys.required("path")?;
        let path = at_path.line(500)?;
        output_path(&path).map_err(|why| at_path.wrong(format!("is '{}', {why}", shown(&path))))?;
        for other in &found {
            let (mine, theirs) = (path.to_lowercase(), other.path.to_lowercase());
            if mine == theirs {
                return Err(at_path.wrong(format!("is '{}', which is there before; keep one", shown(&path))));
            }
            if mine.starts_with(&format!("{theirs}/")) || theirs.starts_with(&format!("{mine}/")) {
                let other = shown(&other.path);
                return Err(at_path.wrong(format!("is '{}', but '{other}' can't be file and folder", shown(&path))));
            }
        }
        let schema = keys.get("schema").map(|at| schema(at, read_beside)).transpose()?;
        let quotes = or_default(keys.get("quotes").map(quotes))?;
        for (at, rule) in keys.get("quotes").into_iter().flat_map(|at| quotes.iter().map(move |rule| (at, rule))) {
            checks::check_carried(at, rule, schema.as_ref())?;
        }
        found.push(Deliverable {
            path,
            quotes,
            checks: or_default(keys.get("checks").map(|at| checks::checks(at, schema.as_ref())))?,
            schema,
            min_words: keys.get("min_words").map(|at| at.count(1)).transpose()?,
            forbid: or_default(keys.get("forbid").map(|at| at.lines(200)))?,
        });
    }
    Ok(found)
}

/// Checks the path of a deliverable. The error is a phrase that follows the path.
fn output_path(path: &str) -> Result<(), &'static str> {
    let rest = path.strip_prefix("output/").ok_or("but deliverables lie under output/, such as output/report.md")?;
    if path.contains(['\\', ':']) {
        return Err("but a path has neither '\\' nor ':'");
    }
    if rest.split('/').any(|part| part.is_empty() || part.ends_with(['.', ' ']) || part.len() > 255) {
        return Err(
            "but each part of a path must be a plain name, not '..', '.' or empty, and end in neither dot nor blank",
        );
    }
    Ok(())
}

fn schema(at: &YamlValue<'_>, read_beside: ReadBeside<'_>) -> Result<serde_json::Value, ValueError> {
    let (mut value, folder): (serde_json::Value, String) = match at.node() {
        YamlNode::Map(_) => {
            let value = serde_json::to_value(at.node()).map_err(|error| at.wrong(format!("can't be JSON: {error}")))?;
            (value, String::new())
        }
        YamlNode::Text(_) => {
            let (path, text) = read_file(at, read_beside)?;
            let value = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(&text))
                .map_err(|error| at.wrong(format!("is '{}', which is not JSON: {error}", shown(&path))))?;
            (value, path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/")))
        }
        YamlNode::Null | YamlNode::Flag(_) | YamlNode::Whole(_) | YamlNode::Number(_) | YamlNode::List(_) => {
            return Err(at.wrong("must be a file beside the instructions, or a JSON Schema written here"));
        }
    };
    if !value.is_object() {
        return Err(at.wrong("must be a JSON object"));
    }
    if !is_within(&value, MOST_LEVELS) {
        return Err(at.wrong(format!("is nested more than {MOST_LEVELS} levels deep; say it with `$defs` and `$ref`")));
    }
    schema_files::bundle(&mut value, &folder, read_beside).map_err(|why| at.wrong(why))?;
    schema::compile(&value)
        .map_err(|why| at.wrong(format!("is not a usable JSON Schema: {}", shown(&why.to_string()))))?;
    Ok(value)
}

/// Reads one rule or a list of rules.
fn quotes(at: &YamlValue<'_>) -> Result<Vec<Quotes>, ValueError> {
    let rule = |at: &YamlValue<'_>| -> Result<Quotes, ValueError> {
        let keys = at.table(&["each", "text", "document", "page", "line", "for", "carries", "context", "same_as"])?;
        let each = keys.required("each")?;
        let path = each.line(500)?;
        JsonPath::parse(&path).map_err(|why| each.wrong(format!("is '{}', {why}", shown(&path))))?;
        Ok(Quotes {
            each: path,
            text: keys.required("text")?.line(100)?,
            document: keys.required("document")?.line(100)?,
            page: keys.get("page").map(|at| at.line(100)).transpose()?,
            line: keys.get("line").map(|at| at.line(100)).transpose()?,
            of_field: keys.get("for").map(|at| at.line(100)).transpose()?,
            carries: keys.get("carries").map(|at| at.lines(100)).transpose()?,
            context: or_default(keys.get("context").map(|at| at.count(0)))?,
            same_as: or_default(keys.get("same_as").map(checks::same_as))?,
        })
    };
    match at.node() {
        YamlNode::List(_) => at.list()?.iter().map(rule).collect(),
        YamlNode::Null
        | YamlNode::Flag(_)
        | YamlNode::Whole(_)
        | YamlNode::Number(_)
        | YamlNode::Text(_)
        | YamlNode::Map(_) => Ok(vec![rule(at)?]),
    }
}

fn tools(at: &YamlValue<'_>) -> Result<ToolSettings, ValueError> {
    let keys = at.table(&["shell", "mcp"])?;
    Ok(ToolSettings {
        shell: or_default(keys.get("shell").map(YamlValue::flag))?,
        mcp: or_default(keys.get("mcp").map(|at| at.lines(100)))?,
    })
}
