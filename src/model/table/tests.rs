//! Names in, what is known of them out; whole error sentences for wrong tables.

use super::*;
use proptest::prelude::*;

#[expect(clippy::unnecessary_wraps, reason = "some of the models in the table below have no price")]
fn price(input: f64, output: f64, cached: f64, cache_written: Option<f64>) -> Option<Price> {
    Some(Price { dated: "2026-01-24".to_owned(), input, output, cached: Some(cached), cache_written, long: None })
}

#[test]
fn the_shipped_table_is_sound_and_knows_the_usual_models() {
    ModelTable::parse("models.yaml", SHIPPED).unwrap();
    let shown = |name: &str| {
        let KnownModel { quirks, has_window } = known(name, None);
        (has_window, quirks.window_tokens, quirks.output_tokens, quirks.tool_choice, quirks.price)
    };
    let auto = ToolChoice::Auto;
    for (name, expected) in [
        ("openai:gpt-4o", (true, 128_000, 16_384, auto, price(2.5, 10.0, 1.25, None))),
        ("openai:gpt-4o-mini-2024-07-18", (true, 128_000, 16_384, auto, price(0.15, 0.6, 0.075, None))),
        ("openai:GPT-4.1", (true, 1_047_576, 16_384, auto, price(2.0, 8.0, 0.5, None))),
        ("openai:gpt-5-mini", (true, 272_000, 32_768, auto, price(0.25, 2.0, 0.025, None))),
        ("openai:gpt-5-pro", (true, 272_000, 32_768, auto, None)),
        ("anthropic:claude-sonnet-4-5-20250929", (true, 200_000, 16_384, auto, price(3.0, 15.0, 0.3, Some(3.75)))),
        ("anthropic:claude-opus-4-5", (true, 200_000, 16_384, auto, price(5.0, 25.0, 0.5, Some(6.25)))),
        ("anthropic:claude-opus-4-20250514", (true, 200_000, 16_384, auto, price(15.0, 75.0, 1.5, Some(18.75)))),
        ("gemini:gemini-2.5-flash", (true, 1_048_576, 32_768, auto, price(0.3, 2.5, 0.03, None))),
        ("openai:qwen2.5-0.5b-instruct", (true, 32_768, 4_096, ToolChoice::Required, None)),
        ("openai:something/else:free", (false, 128_000, 8_192, ToolChoice::Unset, None)),
    ] {
        assert_eq!(shown(name), expected, "{name}");
    }
    assert_eq!(lookup("openai:o4-mini", None).output_field.as_deref(), Some("max_completion_tokens"));
    let free = lookup("ollama:tiny", None).price.map(|price| (price.input, price.output));
    assert_eq!(free, Some((0.0, 0.0)));
}

#[test]
fn a_users_table_goes_over_the_shipped_one_field_by_field() {
    let text = r#"
version: 1
models:
  - match: "openai:gpt-4o"
    output_tokens: 2k
    tool_choice: required
    extra: { seed: 7, nested: { list: [1.5, null, true, x] } }
  - match: "openai:*"
    parallel_calls: false
    streams: false
    cache_marks: false
    repairs: false
    stop: ["\n}"]
    extra: { seed: 8 }
    price: { dated: 2026-11-22, input: 1, output: 2.5 }
"#;
    let table = ModelTable::parse("mine.yaml", text).unwrap();
    let expected = Quirks {
        window_tokens: 128_000,
        output_tokens: 2_000,
        tool_choice: ToolChoice::Required,
        parallel_calls: Some(false),
        streams: false,
        output_field: None,
        extra: serde_json::from_str(r#"{"seed": 8, "nested": {"list": [1.5, null, true, "x"]}}"#).unwrap(),
        stop: vec!["\n}".to_owned()],
        cache_marks: Some(false),
        repairs: Some(false),
        price: Some(Price {
            dated: "2026-11-22".to_owned(),
            input: 1.0,
            output: 2.5,
            cached: None,
            cache_written: None,
            long: None,
        }),
        ..Quirks::default()
    };
    assert_eq!(lookup("openai:gpt-4o", Some(&table)), expected);
}

#[test]
fn a_call_costs_what_its_tokens_cost() {
    let usage = Usage { input: 1_000_000, output: 100_000, cached: 600_000, cache_written: 200_000, reasoning: 50_000 };
    let cost = |cached, cache_written| {
        Price { dated: String::new(), input: 3.0, output: 15.0, cached, cache_written, long: None }.cost(&usage)
    };
    let near = |cost: f64, expected: f64| (cost - expected).abs() < 1e-9;
    assert!(near(cost(None, None), 4.5));
    assert!(near(cost(Some(0.3), Some(3.75)), 0.6 + 0.18 + 0.75 + 1.5));
    // A count that makes no sense costs no less than nothing.
    let odd = Usage { input: 1, cached: 5, ..Usage::default() };
    let plain = Price { dated: String::new(), input: 1.0, output: 1.0, cached: None, cache_written: None, long: None };
    assert!(plain.cost(&odd) > 0.0);
    // A prompt above the bound costs more as a whole.
    let long = Some(LongPrompt { above: 1_000, input_times: 2.0, output_times: 1.5 });
    let cost = |input| Price { long, ..plain.clone() }.cost(&Usage { input, output: 1_000, ..Usage::default() });
    assert!(near(cost(1_000), 0.002) && near(cost(1_001), 0.002_002 + 0.0015));
}

#[test]
fn a_wrong_table_is_one_sentence_with_its_line() {
    for (text, expected) in [
        ("models: []", "m.yaml:1: the key 'version' is missing"),
        ("version: 2", "m.yaml:1: 'version' must be 1, the only version that this program reads"),
        ("version: 1\nmodels: {}", "m.yaml:2: 'models' must be a list, not a mapping"),
        ("version: 1\nmodels:\n  - window_tokens: 5k", "m.yaml:3: the key 'match' is missing in 'models[0]'"),
        (
            "version: 1\nmodels:\n  - match: gpt-4o",
            "m.yaml:3: 'models[0].match' must be provider:name, such as \"openai:gpt-4o*\", or offline",
        ),
        (
            "version: 1\nmodels:\n  - match: \"openai:[\"",
            "m.yaml:3: 'models[0].match' is no pattern (unclosed character class; missing ']')",
        ),
        (
            "version: 1\nmodels:\n  - match: \"a:b\"\n    tool_choise: auto",
            "m.yaml:4: unknown key 'tool_choise' in 'models[0]'; did you mean 'tool_choice'?",
        ),
        (
            "version: 1\nmodels:\n  - match: \"a:b\"\n    tool_choice: maybe",
            "m.yaml:4: 'models[0].tool_choice' must be unset or auto or required, not 'maybe'",
        ),
        (
            "version: 1\nmodels:\n  - match: \"a:b\"\n    price: { dated: today, input: 1, output: 1 }",
            "m.yaml:4: 'models[0].price.dated' must be the day on which the price was read, such as 2026-01-31",
        ),
        (
            "version: 1\nmodels:\n  - match: \"a:b\"\n    price: { dated: 2026-01-01, input: -1, output: 1 }",
            "m.yaml:4: 'models[0].price.input' must be a number from 0 to 1000000, not -1",
        ),
    ] {
        assert_eq!(ModelTable::parse("m.yaml", text).unwrap_err().to_string(), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_a_table_or_an_error(text in "\\PC{0,60}|version: 1\nmodels: [\\{match: \"[a:*\\[\\{,}]{0,12}\"}]") {
        let _ = ModelTable::parse("m.yaml", &text);
    }
}
