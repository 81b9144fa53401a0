//! The keys for what checks can't prove: agents, the second reader, the verifier, and the models that do their work.

use super::*;
use overnight_core::job::tool::Tool;

/// The smallest front matter whose one deliverable has quotes; `more` is on line 6.
fn with_quotes(more: &str) -> Result<Instructions, String> {
    with(&format!("    quotes: {{ each: $, text: a, document: b }}\n{more}"))
}

#[test]
fn a_model_may_be_named_in_both_places() {
    let in_roles = "models: { second_reader: a, verify: b, work: c }\n";
    let reader = |more: &str| format!("second_reader: {{ deliverable: output/a.md{more} }}\n");
    let verify = |more: &str| format!("verify: {{ rubric: rubrics/items.md{more} }}\n");
    let expected = with_quotes(&format!("{in_roles}{}{}", reader(""), verify(""))).unwrap();
    assert_eq!(expected.model.as_deref(), Some("c"));
    assert_eq!(expected.second_reader.clone().map(|it| (it.share, it.seed, it.tolerance)), Some((1.0, None, 0)));
    let (reader, verify) = (reader(", model: a"), verify(", model: b"));
    assert_eq!(with_quotes(&format!("{in_roles}model: c\n{reader}{verify}")), Ok(expected.clone()));
    assert_eq!(with_quotes(&format!("model: c\n{reader}{verify}")), Ok(expected));
}

#[test]
fn what_cannot_be_done_is_refused() {
    let reader = |more: &str| format!("second_reader: {{ deliverable: output/a.md, {more} }}");
    for (line, expected) in [
        (
            "agents: { a: { prompt: agents/validator.md, tools: [read_file, check_deliverables] } }",
            "'agents.a.tools[1]' is 'check_deliverables', which no sub-agent may call; it may call read_file, list_records, list_files, \
             search_files, list_documents, read_document, write_file, append_file, edit_file, add_records, edit_records",
        ),
        (
            "agents: { a: { prompt: agents/long.md } }",
            "'agents.a.prompt' is 'agents/long.md', which is larger than 1 MiB",
        ),
        (
            "agents: { a: { prompt: agents/validator.md, model: 4 } }",
            "'agents.a.model' must be text (put it in quotes), not 4",
        ),
        ("second_reader: true", "'second_reader' must be a mapping (key: value), not true"),
        ("second_reader: { share: 1.0 }", "the key 'deliverable' is missing in 'second_reader'"),
        (
            "second_reader: { deliverable: output/b.json }",
            "'second_reader.deliverable' is 'output/b.json', which is not among the deliverables; second_reader needs one \
             that has `quotes`",
        ),
        (&reader("share: 1.5"), "'second_reader.share' must be a number from 0 to 1, not 1.5"),
        (
            &reader("share: 0"),
            "'second_reader.share' must be more than 0; without `second_reader` nothing is read again",
        ),
        (&reader("seed: x"), "'second_reader.seed' must be a whole number such as 500k, 20M or 20000000, not 'x'"),
        (
            &reader("tolerance: -1"),
            "'second_reader.tolerance' must be a whole number such as 500k, 20M or 20000000, not -1",
        ),
        (&reader("tolerence: 1"), "unknown key 'tolerence' in 'second_reader'; did you mean 'tolerance'?"),
        ("verify: { model: a }", "the key 'rubric' is missing in 'verify'"),
        (
            "verify: { rubric: rubrics/none.md }",
            "'verify.rubric' is 'rubrics/none.md', a file that can't be read: no such file",
        ),
        ("verify: { rubric: agents/empty.md }", "'verify.rubric' is 'agents/empty.md', which is empty"),
        ("verify: { rubric: agents/long.md }", "'verify.rubric' is 'agents/long.md', which is larger than 1 MiB"),
        (
            "verify: { rubric: ../a.md }",
            "'verify.rubric' is '../a.md', which is not a plain path below the instructions' folder",
        ),
    ] {
        assert_eq!(with_quotes(line), Err(format!("instructions/x.md:6: {expected}")), "for:\n{line}");
    }
    // The first line of each is line 6; the second one is at fault.
    for (lines, expected) in [
        ("model: a\nmodels: { work: b }", "'models.work' is 'b', but 'model' is 'a'; keep one of them"),
        (
            &format!("models: {{ second_reader: a }}\n{}", reader("model: b")),
            "'second_reader.model' is 'b', but 'models.second_reader' is 'a'; keep one of them",
        ),
        (
            "models: { verify: a }\nverify: { rubric: rubrics/items.md, model: b }",
            "'verify.model' is 'b', but 'models.verify' is 'a'; keep one of them",
        ),
    ] {
        assert_eq!(with_quotes(lines), Err(format!("instructions/x.md:7: {expected}")), "for:\n{lines}");
    }
    refused_with(
        "second_reader: { deliverable: output/a.md }",
        "5: 'second_reader.deliverable' is 'output/a.md', but second_reader needs a deliverable with `quotes`, by which \
         both readings are compared: add `quotes` to it, or name another",
    );
}

#[test]
fn an_agent_has_the_tools_that_it_names_or_those_that_read() {
    let agent = |tools: &[&str]| Agent {
        prompt: "You check.".to_owned(),
        tools: tools.iter().map(|name| (*name).to_owned()).collect(),
        model: None,
    };
    let reading = [
        Tool::ReadFile,
        Tool::ListRecords,
        Tool::ListFiles,
        Tool::SearchFiles,
        Tool::ListDocuments,
        Tool::ReadDocument,
    ];
    assert_eq!(agent(&[]).may_call(), reading);
    assert_eq!(agent(&["add_records", "read_file", "add_records"]).may_call(), [Tool::ReadFile, Tool::AddRecords]);
}

#[test]
fn other_models_are_all_that_are_named() {
    let mut instructions = everything();
    let names = [
        "openai:small",
        "anthropic:large",
        "anthropic:large",
        "openai:reader",
        "openai:small",
        "offline",
        "openai:tiny",
    ];
    assert_eq!(instructions.other_models_mut().collect::<Vec<_>>(), names);
    assert_eq!(instructions.not_acted_on(), ["tools.shell", "tools.mcp"]);
}
