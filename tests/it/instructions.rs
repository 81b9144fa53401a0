//! Instructions files in, whole results or whole error sentences out.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use overnight_core::job::{
    contract,
    instructions::*,
    lessons::ApprovedLessons,
    limits::Limits,
    models::{ModelRoles, Tier},
};
use proptest::prelude::*;
use serde_json::json;
use std::{collections::BTreeMap, fmt::Write};

mod completeness;

const SCHEMA: &str = r#"{"type": "object", "required": ["items"]}"#;

fn beside(path: &str) -> Result<String, UnreadFile> {
    match path {
        "schemas/items.schema.json" => Ok(SCHEMA.to_owned()),
        "schemas/order.json" => Ok(r#"{"type": "object", "properties": {"to": {"$ref": "parts/address.json"},
            "day": {"$ref": "parts/address.json#/$defs/day"},
            "pay": {"oneOf": [{"required": ["card"], "properties": {"card": {"type": "string"}}},
                {"required": ["iban"], "properties": {"iban": {"type": "string"}}}]}}}"#
            .to_owned()),
        "schemas/parts/address.json" => {
            Ok(r##"{"$id": "x", "type": "object", "properties": {"city": {"$ref": "#/$defs/name"},
            "next": {"anyOf": [{"type": "null"}, {"$ref": "address.json"}]}},
            "$defs": {"name": {"type": "string", "minLength": 2}, "day": {"type": "string", "format": "date"}}}"##
                .to_owned())
        }
        "schemas/broken.json" => Ok("{\"type\": }".to_owned()),
        "schemas/wrong.json" => Ok("{\"type\": \"objekt\"}".to_owned()),
        "agents/validator.md" => Ok("You check.\n".to_owned()),
        "agents/empty.md" => Ok(" \n".to_owned()),
        "agents/long.md" => Ok("x".repeat(MAX_BYTES + 1)),
        "rubrics/items.md" => Ok("Nothing is missing.\n".to_owned()),
        _ => Err(UnreadFile("no such file".to_owned())),
    }
}

fn read(text: &str) -> Result<Instructions, String> {
    parse("instructions/x.md", text, &beside).map_err(|error| error.to_string())
}

/// The smallest valid front matter, with `more` below it.
fn with(more: &str) -> Result<Instructions, String> {
    read(&format!("---\nname: x\ndeliverables:\n  - path: output/a.md\n{more}\n---\nDo it.\n"))
}

fn minimal() -> Instructions {
    Instructions {
        name: "x".to_owned(),
        description: String::new(),
        model: None,
        models: ModelRoles::default(),
        tier: Tier::Standard,
        batch_until: None,
        effort: None,
        cascade: None,
        fallback: Vec::new(),
        lessons: ApprovedLessons::default(),
        phase: PhaseBounds { min_todos: 5, max_todos: 20 },
        context: ContextSettings {
            budget_tokens: 100_000,
            compact: CompactionPolicy::Auto,
            summary: SummaryBy::Digest,
            inline: InlineDocuments::Auto,
        },
        limits: Limits::default(),
        parallel: 4,
        coverage: 1.0,
        confidence_floor: 0.5,
        deliverables: vec![Deliverable { path: "output/a.md".to_owned(), ..Deliverable::default() }],
        review: Review::None,
        finale: vec!["Verify all deliverables".to_owned(), "Generate summary report".to_owned()],
        agents: BTreeMap::new(),
        readers: None,
        second_reader: None,
        verify: None,
        tools: ToolSettings { shell: false, mcp: Vec::new() },
        body: "Do it.".to_owned(),
    }
}

const EVERYTHING: &str = r#"---
name: everything
description: Uses every key
model: offline
models: { helpers: offline }
tier: flex
batch_until: 6h
effort: { first: low, again: default }
fallback: ["openai:small", anthropic:large]
phase: { min_todos: 3, max_todos: 7 }
context: { budget_tokens: 32k, compact: always, summary: model, inline: never }
limits:
  turns: 5000
  turns_per_todo: 4
  turns_per_phase: 50
  cost_usd: 5
  wall_clock: 1h30m
  tokens: 20M
  model_call: 90s
  tool_call: 3s
parallel: 7
coverage: 0.95
confidence_floor: 0
deliverables:
  - path: output/items.json
    schema: schemas/items.schema.json
    quotes:
      { each: "$.items[*]", text: quote, document: document, page: page, carries: [amount], context: 2, same_as: { MM: [month], Y: year } }
    checks:
      - { rule: "sum(items.map(i, i.amount)) == total", message: "lines add up" }
      - { rule: amount > 0, each: "$.items[*]", level: doubt }
  - path: output/more/inline.json
    schema: { type: array, items: { type: integer, minimum: 2 } }
    quotes:
      - { each: "$[*]", text: a, document: b }
      - { each: "$.x[*].y[*]", text: c, document: d, page: e }
    min_words: 150
    forbid: ["TODO", "to be decided"]
review: required
finale: ["Check it all"]
agents: { validator: { prompt: agents/validator.md, tools: [read_document, search_files], model: "openai:tiny" } }
readers: { deliverable: output/items.json, parallel: 6, part_tokens: 15k, model: "openai:reader" }
second_reader: { deliverable: output/items.json, share: 0.25, seed: 7, tolerance: 2, model: "anthropic:large" }
verify: { rubric: rubrics/items.md, model: "openai:small" }
tools: { shell: true, mcp: [files] }
---

# Task

Do it.
"#;

fn everything() -> Instructions {
    let rule = |each: &str, text: &str, document: &str, page: Option<&str>| Quotes {
        each: each.to_owned(),
        text: text.to_owned(),
        document: document.to_owned(),
        page: page.map(str::to_owned),
        ..Quotes::default()
    };
    Instructions {
        name: "everything".to_owned(),
        description: "Uses every key".to_owned(),
        model: Some("offline".to_owned()),
        models: ModelRoles {
            second_reader: Some("anthropic:large".to_owned()),
            readers: Some("openai:reader".to_owned()),
            verify: Some("openai:small".to_owned()),
            helpers: Some("offline".to_owned()),
            vision: None,
            vision_second: None,
        },
        tier: Tier::Flex,
        batch_until: Some(BatchUntil::AfterMs(6 * 3_600_000)),
        effort: Some(EffortSteps { first: "low".to_owned(), again: None }),
        cascade: None,
        fallback: vec!["openai:small".to_owned(), "anthropic:large".to_owned()],
        lessons: ApprovedLessons::default(),
        phase: PhaseBounds { min_todos: 3, max_todos: 7 },
        context: ContextSettings {
            budget_tokens: 32_000,
            compact: CompactionPolicy::Always,
            summary: SummaryBy::Model,
            inline: InlineDocuments::Never,
        },
        limits: Limits {
            turns_per_todo: 4,
            turns_per_phase: 50,
            turns: 5_000,
            tokens: Some(20_000_000),
            cost_usd: Some(5.0),
            wall_clock_ms: Some(5_400_000),
            model_call_ms: 90_000,
            tool_call_ms: 3_000,
        },
        parallel: 7,
        coverage: 0.95,
        confidence_floor: 0.0,
        deliverables: vec![
            Deliverable {
                path: "output/items.json".to_owned(),
                schema: Some(json!({"type": "object", "required": ["items"]})),
                quotes: vec![Quotes {
                    carries: Some(vec!["amount".to_owned()]),
                    context: 2,
                    same_as: BTreeMap::from([
                        ("MM".to_owned(), vec!["month".to_owned()]),
                        ("Y".to_owned(), vec!["year".to_owned()]),
                    ]),
                    ..rule("$.items[*]", "quote", "document", Some("page"))
                }],
                checks: vec![
                    ValueCheck {
                        rule: "sum(items.map(i, i.amount)) == total".to_owned(),
                        each: None,
                        message: Some("lines add up".to_owned()),
                        level: CheckLevel::Fail,
                    },
                    ValueCheck {
                        rule: "amount > 0".to_owned(),
                        each: Some("$.items[*]".to_owned()),
                        message: None,
                        level: CheckLevel::Doubt,
                    },
                ],
                ..Deliverable::default()
            },
            Deliverable {
                path: "output/more/inline.json".to_owned(),
                schema: Some(json!({"type": "array", "items": {"type": "integer", "minimum": 2}})),
                quotes: vec![rule("$[*]", "a", "b", None), rule("$.x[*].y[*]", "c", "d", Some("e"))],
                min_words: Some(150),
                forbid: vec!["TODO".to_owned(), "to be decided".to_owned()],
                ..Deliverable::default()
            },
        ],
        review: Review::Required,
        finale: vec!["Check it all".to_owned()],
        agents: BTreeMap::from([(
            "validator".to_owned(),
            Agent {
                prompt: "You check.\n".to_owned(),
                tools: vec!["read_document".to_owned(), "search_files".to_owned()],
                model: Some("openai:tiny".to_owned()),
            },
        )]),
        readers: Some(Readers { deliverable: "output/items.json".to_owned(), parallel: 6, part_tokens: 15_000 }),
        second_reader: Some(SecondReader {
            deliverable: "output/items.json".to_owned(),
            share: 0.25,
            seed: Some(7),
            tolerance: 2,
        }),
        verify: Some(Verify { rubric: "Nothing is missing.\n".to_owned() }),
        tools: ToolSettings { shell: true, mcp: vec!["files".to_owned()] },
        body: "# Task\n\nDo it.".to_owned(),
    }
}

#[test]
fn every_key_is_read() {
    assert_eq!(read(EVERYTHING), Ok(everything()));
    // A byte-order mark and CRLF line ends change nothing.
    let windows = format!("\u{feff}{}", EVERYTHING.replace('\n', "\r\n"));
    assert_eq!(read(&windows).map(|found| Instructions { body: everything().body, ..found }), Ok(everything()));
}

#[test]
fn everything_but_name_and_deliverables_has_a_default() {
    assert_eq!(with(""), Ok(minimal()));
    assert_eq!(with("model:\nlimits: ~\nreview: ~"), Ok(minimal()));
}

#[test]
fn one_written_bound_moves_the_other() {
    assert_eq!(with("phase: { max_todos: 2 }").map(|i| i.phase), Ok(PhaseBounds { min_todos: 2, max_todos: 2 }));
    assert_eq!(with("phase: { min_todos: 30 }").map(|i| i.phase), Ok(PhaseBounds { min_todos: 30, max_todos: 30 }));
}

#[test]
fn stored_shape_reads_back() {
    let stored = serde_yaml::to_string(&everything()).unwrap();
    assert_eq!(serde_yaml::from_str::<Instructions>(&stored).unwrap(), everything());
    let stored = serde_json::to_string(&everything()).unwrap();
    assert_eq!(serde_json::from_str::<Instructions>(&stored).unwrap(), everything());
}

/// The error of the whole file `text`, which must begin with `x.md:LINE: `.
#[track_caller]
fn refused(text: &str, expected: &str) {
    assert_eq!(read(text), Err(format!("instructions/x.md:{expected}")), "in:\n{text}");
}

/// The error of a line put below the smallest front matter, which is line 5.
#[track_caller]
fn refused_with(more: &str, expected: &str) {
    assert_eq!(with(more), Err(format!("instructions/x.md:{expected}")), "for:\n{more}");
}

#[test]
fn unknown_keys_are_refused_at_every_level() {
    refused(
        "---\nname: x\n\n# note\n\n\ndelivrables: []\n---\nx",
        "7: unknown key 'delivrables'; did you mean 'deliverables'?",
    );
    refused_with("phase: { min_todo: 5 }", "5: unknown key 'min_todo' in 'phase'; did you mean 'min_todos'?");
    refused_with(
        "limits:\n  turns: 3\n  wall-clok: 8h",
        "7: unknown key 'wall-clok' in 'limits'; did you mean 'wall_clock'?",
    );
    refused_with("tools: { shel: true }", "5: unknown key 'shel' in 'tools'; did you mean 'shell'?");
    refused_with(
        "context: { colour: red }",
        "5: unknown key 'colour' in 'context'; known here: budget_tokens, compact, summary, inline",
    );
    refused_with(
        "  - path: output/b.md\n    Forbid: []",
        "6: unknown key 'Forbid' in 'deliverables[1]'; did you mean 'forbid'?",
    );
    refused_with(
        "    quotes:\n    - each: $\n      text: a\n      document: b\n      pages: c",
        "9: unknown key 'pages' in 'deliverables[0].quotes[0]'; did you mean 'page'?",
    );
    refused_with(
        "agents:\n  a:\n    promt: agents/validator.md",
        "7: unknown key 'promt' in 'agents.a'; did you mean 'prompt'?",
    );
    refused_with(
        "<<: { model: x }",
        "5: unknown key '<<'; known here: name, description, model, models, tier, batch_until, effort, cascade, fallback, phase, context, limits, parallel, coverage, confidence_floor, deliverables, review, finale, agents, second_reader, readers, verify, tools",
    );
}

#[test]
fn wrong_types_and_ranges_are_refused() {
    for (line, expected) in [
        ("parallel: 0", "'parallel' must be at least 1, not 0"),
        ("parallel: 65", "'parallel' must be at most 64"),
        ("coverage: 1.5", "'coverage' must be a number from 0 to 1, not 1.5"),
        ("coverage: .nan", "'coverage' must be a number from 0 to 1, not NaN"),
        ("coverage: most", "'coverage' must be a number from 0 to 1, not 'most'"),
        ("confidence_floor: -0.1", "'confidence_floor' must be a number from 0 to 1, not -0.1"),
        ("model: 4", "'model' must be text (put it in quotes), not 4"),
        ("model: [a]", "'model' must be text, not a list"),
        ("model: ' '", "'model' must not be empty"),
        (
            "models: { read: a }",
            "unknown key 'read' in 'models'; known here: work, second_reader, readers, verify, helpers, vision, vision_second",
        ),
        (
            "cascade: { models: [openai:a] }",
            "'cascade.models' must name two models: the cheap one, then the strong one",
        ),
        ("cascade: { models: [openai:a, openai:a] }", "'cascade.models' must name two models, not one twice"),
        (
            "cascade: { models: [openai:a, openai:b], accept: { second_reader: true } }",
            "'cascade.accept' asks for a second reader: say with second_reader what is read a second time",
        ),
        (
            "cascade: { models: [openai:a, openai:b], certify: { right: 1 } }",
            "'cascade.certify.right' must be a number from 0.5 to 0.999, not 1",
        ),
        ("effort: { again: high }", "the key 'first' is missing in 'effort'"),
        ("batch_until: late", "'batch_until' must be a duration with its unit, such as 30m, 8h or 1h30m, not 'late'"),
        ("tier: cheap", "'tier' must be standard or flex or batch, not 'cheap'"),
        ("fallback: openai:x", "'fallback' must be a list, not 'openai:x'"),
        ("fallback: [a, {}]", "'fallback[1]' must be text, not a mapping"),
        ("phase: 5", "'phase' must be a mapping (key: value), not 5"),
        ("phase: { min_todos: 0 }", "'phase.min_todos' must be at least 1, not 0"),
        ("phase: { min_todos: 9, max_todos: 3 }", "'phase.min_todos' is 9, more than 'phase.max_todos', which is 3"),
        ("phase: { max_todos: 4294967296 }", "'phase.max_todos' must be at most 1000"),
        ("context: { budget_tokens: 7999 }", "'context.budget_tokens' must be at least 8000, not 7999"),
        ("context: { compact: never }", "'context.compact' must be auto or always, not 'never'"),
        ("limits: { turns: -3 }", "'limits.turns' must be a whole number such as 500k, 20M or 20000000, not -3"),
        (
            "limits: { tokens: 20MB }",
            "'limits.tokens' must be a whole number such as 500k, 20M or 20000000, not '20MB'",
        ),
        ("limits: { cost_usd: .inf }", "'limits.cost_usd' must be a number from 0, not inf"),
        (
            "limits: { wall_clock: 8 }",
            "'limits.wall_clock' must be a duration with its unit, such as 30m, 8h or 1h30m, not 8",
        ),
        (
            "limits: { wall_clock: 8x }",
            "'limits.wall_clock' must be a duration with its unit, such as 30m, 8h or 1h30m, not '8x'",
        ),
        ("limits: { wall_clock: 0s }", "'limits.wall_clock' must be longer than 0"),
        ("review: maybe", "'review' must be none or required, not 'maybe'"),
        ("finale: ['a\n\n    b']", "'finale[0]' must be one line without control characters"),
        ("agents: { 'a/b': {} }", "'agents.a/b' must be a name of letters, digits, '-' and '_'"),
        ("agents: { a: {} }", "the key 'prompt' is missing in 'agents.a'"),
        (
            "agents: { a: { prompt: agents/none.md } }",
            "'agents.a.prompt' is 'agents/none.md', a file that can't be read: no such file",
        ),
        ("agents: { a: { prompt: agents/empty.md } }", "'agents.a.prompt' is 'agents/empty.md', which is empty"),
        ("tools: { shell: 'yes' }", "'tools.shell' must be true or false, not 'yes'"),
        ("limits: 20\nreview: 5", "'limits' must be a mapping (key: value), not 20"),
    ] {
        refused_with(line, &format!("5: {expected}"));
    }
}

#[test]
fn deliverables_are_checked() {
    for (line, expected) in [
        ("- path: notes/a.md", "path' is 'notes/a.md', but deliverables lie under output/, such as output/report.md"),
        (
            "- path: output/../x",
            "path' is 'output/../x', but each part of a path must be a plain name, not '..', '.' or empty, and end in neither dot nor blank",
        ),
        ("- path: /output/x", "path' is '/output/x', but deliverables lie under output/, such as output/report.md"),
        ("- path: output/a:b", "path' is 'output/a:b', but a path has neither '\\' nor ':'"),
        ("- path: OUTPUT/x", "path' is 'OUTPUT/x', but deliverables lie under output/, such as output/report.md"),
        ("- path: output/A.md", "path' is 'output/A.md', which is there before; keep one"),
        ("- path: output/a.md/b", "path' is 'output/a.md/b', but 'output/a.md' can't be file and folder"),
        ("- { path: output/b, min_words: 0 }", "min_words' must be at least 1, not 0"),
        (
            "- { path: output/b, schema: schemas/none.json }",
            "schema' is 'schemas/none.json', a file that can't be read: no such file",
        ),
        (
            "- { path: output/b, schema: ../secret.json }",
            "schema' is '../secret.json', which is not a plain path below the instructions' folder",
        ),
        (
            "- { path: output/b, schema: /etc/passwd }",
            "schema' is '/etc/passwd', which is not a plain path below the instructions' folder",
        ),
        (
            "- { path: output/b, schema: schemas/broken.json }",
            "schema' is 'schemas/broken.json', which is not JSON: expected value at line 1 column 10",
        ),
        (
            "- { path: output/b, schema: [1] }",
            "schema' must be a file beside the instructions, or a JSON Schema written here",
        ),
        (
            "- { path: output/b, quotes: { each: requirements, text: a, document: b } }",
            "quotes.each' is 'requirements', but a path begins with '$', such as $.requirements[*]",
        ),
        (
            "- { path: output/b, quotes: { each: '$..a', text: a, document: b } }",
            "quotes.each' is '$..a', which can't be read from '..a' on; steps are .key, ['key'], [*] and [0]",
        ),
    ] {
        refused_with(&format!("  {line}"), &format!("5: 'deliverables[1].{expected}"));
    }
    refused_with("  - {}", "5: the key 'path' is missing in 'deliverables[1]'");
    refused_with(
        "  - path: output/b\n    quotes: { each: $ }",
        "6: the key 'text' is missing in 'deliverables[1].quotes'",
    );
    refused("---\nname: x\ndeliverables: []\n---\nx", "3: 'deliverables' must name at least one file under output/");
    refused("---\nname: x\n---\nx", "2: the key 'deliverables' is missing");
    refused("---\ndeliverables: [{path: output/a}]\n---\nx", "2: the key 'name' is missing");
}

#[test]
fn unusable_schemas_are_refused() {
    let unusable = "is not a usable JSON Schema: ";
    for (schema, why) in [
        ("schemas/wrong.json", unusable),
        ("{ $ref: '#/$defs/none' }", unusable),
        ("{ pattern: '(' }", unusable),
        ("{ format: datum }", unusable),
        ("{ $ref: 'http://127.0.0.1:9/x' }", "refers to 'http://127.0.0.1:9/x', and nothing is fetched"),
        ("{ $ref: '../x.json' }", "refers to '../x.json', which is not a plain path"),
        ("{ $ref: none.json }", "refers to 'none.json', which can't be read: no such file"),
    ] {
        let error = with(&format!("  - path: output/b\n    schema: {schema}")).unwrap_err();
        let expected = format!("instructions/x.md:6: 'deliverables[1].schema' {why}");
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn a_schema_may_have_files_beside_it() {
    let read = with("  - path: output/b.json\n    schema: schemas/order.json").unwrap();
    let wrong = |content: serde_json::Value| -> Vec<String> {
        let mut found = |_: contract::QuoteQuery<'_>| contract::QuoteResult::Found;
        let content = content.to_string();
        let memory = &mut contract::RuleMemory::default();
        let checked = contract::check_deliverable(&read.deliverables[1], Some(content.as_bytes()), &mut found, memory);
        checked.checks.into_iter().filter(|check| !check.passed).map(|check| check.detail).collect()
    };
    let order = |city: &str, day: &str, pay: serde_json::Value| json!({"to": {"city": city, "next": null}, "day": day, "pay": pay});
    assert_eq!(wrong(order("Rouen", "2024-02-29", json!({"card": "1234"}))), [""; 0]);
    assert_eq!(
        wrong(order("R", "2023-02-29", json!({"iban": 7}))),
        ["$.to.city: this value is shorter than 2 characters. $.day: this value is not a \"date\". \
          $.pay: none of its 2 forms fits; the nearest is form 2, where $.pay.iban: this value is not of type \"string\"."]
    );
}

#[test]
fn the_frame_of_the_file_is_checked() {
    let none = "1: no front matter; the first line must be '---', then name: and deliverables:, then '---'";
    refused("", none);
    refused("# Task\n---\nname: x\n---\n", none);
    refused("---\nname: x\n", "1: the front matter is not closed; put a line '---' before the task");
    refused("---\n---\nx", "2: this front matter is empty; it must have at least name: and deliverables:");
    refused("---\n- a\n---\nx", "2: this must be a mapping (key: value), not a list");
    refused(
        "---\nname: x\ndeliverables: [{path: output/a}]\n---\n \n\n",
        "5: no task below the front matter; say there in Markdown what is to be done",
    );
}

#[test]
fn bad_yaml_is_refused_with_its_line() {
    refused_with("a: [1, 2", "6: not valid YAML: did not find expected ',' or ']'");
    refused_with("a: b: c", "5: not valid YAML: mapping values are not allowed in this context");
    refused_with("model: a\nmodel: b", "6: the key 'model' stands here twice; keep one");
    refused_with("limits: { turns: 3,\n  turns: 4 }", "6: the key 'turns' stands here twice; keep one");
    refused_with("model: *nowhere", "5: not valid YAML: unknown anchor");
    refused_with("model: !secret x", "5: a tag (a word that begins with '!'); remove it, or put the text in quotes");
    refused_with("? [a]\n: b", "5: not valid YAML: invalid type: sequence, expected a key that is text");
    refused_with("model: a\u{7}b", "5: a control character; remove it");
    refused_with("...\nb: c", "2: not valid YAML: deserializing from YAML containing more than one document is…");
}

#[test]
fn lines_stay_right_below_blocks_quotes_and_odd_characters() {
    let above = concat!(
        "description: \"two\n  lines, one with --- in it\"\n", // 5, 6
        "# ümläute — and 日本語, 𝄞\n",                         // 7
        "? fallback\n: [a,\n\n  'ü \u{2028} \u{2029} b']\n",   // 8 to 11
    );
    // YAML takes U+2028 and U+2029 for line ends; editors don't.
    refused_with(
        &format!("{above}limits:\n\n  turns: many\n"),
        "14: 'limits.turns' must be a whole number such as 500k, 20M or 20000000, not 'many'",
    );
    let folded = "model: >-\n  a\n  ---\n\ncoverage: 7";
    refused_with(folded, "9: 'coverage' must be a number from 0 to 1, not 7");
    // The same with CRLF.
    let file = format!("---\nname: x\ndeliverables:\n  - path: output/a.md\n{folded}\n---\nx").replace('\n', "\r\n");
    refused(&file, "9: 'coverage' must be a number from 0 to 1, not 7");
}

#[test]
fn hostile_yaml_is_an_error() {
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let below = format!("*a{}, ", level - 1).repeat(10);
        let _ = writeln!(laughs, "a{level}: &a{level} [{below}]");
    }
    assert!(with(&laughs).is_err());
    refused_with(&format!("model: {}", "x".repeat(70_000)), "2: 70052 bytes of YAML; at most 65536 are read");
    for nested in [
        format!("a: {}", "[".repeat(60_000)),
        format!("a: {}{}", "[".repeat(100), "]".repeat(100)),
        format!("a: {}", "{a: ".repeat(10_000)),
        "- ".repeat(20_000),
        "? ".repeat(20_000),
        "&a ".repeat(20_000),
        (0..8_000).fold(String::new(), |text, n| text + "k" + &n.to_string() + ": 1\n"),
        "a: &a\n  b: *a".to_owned(),
    ] {
        assert!(with(&nested).is_err());
    }
    assert!(read(&"---\n".repeat(300_000)).is_err());
    assert!(read(&format!("---\n{}", "name: x\n".repeat(120_000))).is_err());
}

#[test]
fn the_task_says_every_check() {
    let expected = r#"# Task

Do it.

## Deliverables

The job is accepted only when every check below holds; they are made by a program.

### `output/items.json`

- Must exist and must not be empty.
- Must be JSON that matches this JSON Schema:

  ```json
  {"type":"object","required":["items"]}
  ```

- Quotes: for each object at `$.items[*]`, `quote` must be copied word for word (white space may differ) from the document named in `document`, as list_documents names it, and must stand on the page in `page`, the N of the `[page N]` marks in its text (null where the document has no pages). Where `quote` is null, nothing is checked. The value of `amount` must stand in that quote or at most 2 lines before or behind it, in any usual notation.
- Rule for the file: `sum(items.map(i, i.amount)) == total` must hold (lines add up).
- Rule for each object at `$.items[*]`: `amount > 0` should hold, or a person will look at it.

### `output/more/inline.json`

- Must exist and must not be empty.
- Must be JSON that matches this JSON Schema:

  ```json
  {"type":"array","items":{"type":"integer","minimum":2}}
  ```

- Quotes: for each object at `$[*]`, `a` must be copied word for word (white space may differ) from the document named in `b`, as list_documents names it. Where `a` is null, nothing is checked.
- Quotes: for each object at `$.x[*].y[*]`, `c` must be copied word for word (white space may differ) from the document named in `d`, as list_documents names it, and must stand on the page in `e`, the N of the `[page N]` marks in its text (null where the document has no pages). Where `c` is null, nothing is checked.
- Must have at least 150 words.
- Must not contain "TODO", "to be decided" (upper or lower case).

### The job as a whole

- Coverage: at least 95 % of each document's readable text must have been shown to you by `read_document`.
- Confidence: call `job_complete` with an honest confidence from 0 to 1; below 0 the job counts as partial.
"#;
    assert_eq!(everything().task_text(), expected);
}

#[test]
fn a_large_schema_is_named_by_its_place() {
    let mut instructions = minimal();
    let words: Vec<String> = (0..1_000).map(|n| format!("word{n}")).collect();
    instructions.deliverables[0].schema = Some(json!({ "enum": words }));
    let line = "- Must be JSON that matches the JSON Schema in `assets/schemas/a.md`: read that first.\n";
    assert!(instructions.task_text().contains(line));
    let content = format!("{:#}\n", json!({ "enum": words }));
    assert_eq!(instructions.assets(), vec![("assets/schemas/a.md".to_owned(), content)]);
}

#[test]
fn assets_are_schemas_prompts_and_the_rubric() {
    let paths: Vec<String> = everything().assets().into_iter().map(|(path, _)| path).collect();
    let expected = [
        "assets/schemas/items.json",
        "assets/schemas/more/inline.json",
        "assets/agents/validator.md",
        "assets/rubric.md",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn shipped_instructions_are_read() {
    let read: Vec<(String, Vec<String>)> = shipped::NAMES
        .iter()
        .filter_map(|name| shipped::parse_shipped(name))
        .map(|parsed| parsed.unwrap())
        .map(|it| (it.name, it.deliverables.into_iter().map(|d| d.path).collect()))
        .collect();
    let expected = [
        ("extract-requirements", &["output/requirements.json", "output/summary.md"][..]),
        ("summarize-documents", &["output/summary.md", "output/key_points.json"]),
        ("audit-policy", &["output/findings.json", "output/audit.md"]),
        ("extract-invoices", &["output/invoices.json"][..]),
        ("extract-contracts", &["output/contracts.json"]),
    ];
    let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    let expected = expected.map(|(name, paths)| (name.to_owned(), owned(paths)));
    assert_eq!(read, expected);
    assert_eq!(shipped::shipped("schemas/requirements.schema.json"), None);
    assert_eq!(shipped::shipped("nothing"), None);
}

proptest! {
    #[test]
    fn any_text_is_a_value_or_an_error(
        front in prop::collection::vec(
            prop::sample::select(vec![
                "name: x\n", "deliverables:\n", "  - path: output/a.md\n", "    quotes: { each: $, text: a, document: b }\n",
                "limits: { tokens: 2M }\n", "\"", "'", "|\n", ">-\n", "[", "]", "{", "}", "&a ", "*a", "? ", ": ", "- ", "\u{85}",
                "!t ", "ü", "\u{2028}", "\r", "\t", "#", "---\n", "%YAML 1.1\n", "~", ".nan\n", "0x1F", "1e999\n", "<<: ",
            ]),
            0..40,
        ),
        noise in "\\PC{0,20}",
    ) {
        let text = format!("---\n{}{noise}\n---\nDo it.", front.concat());
        match read(&text) {
            Ok(instructions) => {
                let stored = serde_json::to_string(&instructions).unwrap();
                prop_assert_eq!(serde_json::from_str::<Instructions>(&stored).unwrap(), instructions);
            }
            Err(error) => prop_assert!(error.lines().count() == 1, "{}", error),
        }
    }
}

/// The checks of the deliverable `path` of the shipped instructions `name`, where every quote is found.
fn failed(name: &str, path: &str, content: &serde_json::Value) -> Vec<String> {
    let instructions = shipped::parse_shipped(name).unwrap().unwrap();
    let deliverable = instructions.deliverables.iter().find(|d| d.path == path).unwrap();
    let found = |_: contract::QuoteQuery<'_>| contract::QuoteResult::Found;
    let checks = contract::check_deliverable(
        deliverable,
        Some(content.to_string().as_bytes()),
        &mut { found },
        &mut contract::RuleMemory::default(),
    );
    checks.checks.into_iter().filter(|check| !check.passed).map(|check| check.detail).collect()
}

#[test]
fn shipped_schemas_accept_what_their_texts_ask_for() {
    let requirement = json!({
        "id": "R-001", "document": "a.pdf", "page": 3, "line": null, "section": "2 Keys", "strength": "SHALL NOT",
        "quote": "It shall not."
    });
    let list = json!({ "requirements": [requirement] });
    assert_eq!(failed("extract-requirements", "output/requirements.json", &list), [""; 0]);
    let mut wrong = list;
    wrong["requirements"][0]["strength"] = json!("WILL");
    assert_eq!(failed("extract-requirements", "output/requirements.json", &wrong).len(), 1);

    let point = json!({ "document": "a.md", "page": null, "line": 7, "quote": "It is." });
    assert_eq!(failed("summarize-documents", "output/key_points.json", &json!({ "points": [point] })), [""; 0]);

    let missing = json!({
        "id": "F-001", "standard": "s.md", "standard_page": null, "standard_line": 4, "standard_quote": "It must.",
        "strength": "MUST", "verdict": "missing", "policy": null, "policy_page": null, "policy_line": null,
        "policy_quote": null, "reason": "No policy treats it."
    });
    let mut covered = missing.clone();
    covered["verdict"] = json!("covered");
    let unproved = json!({ "findings": [covered] });
    covered["policy"] = json!("policies/p.md");
    covered["policy_quote"] = json!("It must.");
    let proved = json!({ "findings": [missing, covered] });
    assert_eq!(failed("audit-policy", "output/findings.json", &proved), [""; 0]);
    let expected = "$.findings[0].policy: this value is not of type \"string\". \
        $.findings[0].policy_quote: this value is not of type \"string\".";
    assert_eq!(failed("audit-policy", "output/findings.json", &unproved), [expected]);
}
