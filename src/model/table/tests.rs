//! Names as input, the known facts as output; whole error sentences for wrong tables.

use super::*;
use proptest::prelude::*;

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

#[expect(clippy::unnecessary_wraps, reason = "some of the models in the table below have no price")]
fn price(input: f64, output: f64, cached: f64, cache_written: Option<f64>) -> Option<Price> {
    Some(Price { dated: "2026-01-24".to_owned(), input, output, cached: Some(cached), cache_written, long: None })
}

#[test]
fn the_shipped_table_is_sound_and_knows_the_usual_models() {
    ModelTable::parse("models.yaml", SHIPPED).unwrap();
    let shown = |name: &str| {
        let KnownModel { quirks, has_window } = known(name, None, day("2026-11-25"));
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
        ("openai:gpt-6-nova", (true, 922_000, 32_768, auto, None)),
        ("anthropic:claude-opus-4-1-20250805", (true, 200_000, 16_384, auto, price(15.0, 75.0, 1.5, Some(18.75)))),
        ("gemini:gemini-2.5-flash", (true, 1_048_576, 32_768, auto, price(0.3, 2.5, 0.03, None))),
        ("openai:qwen2.5-0.5b-instruct", (true, 32_768, 4_096, ToolChoice::Required, None)),
        ("openai:something/else:free", (false, 128_000, 8_192, ToolChoice::Unset, None)),
    ] {
        assert_eq!(shown(name), expected, "{name}");
    }
    // The usual field of Responses.
    assert_eq!(lookup("openai:o4-mini", None, day("2026-11-25")).output_field, None);
    let free = lookup("ollama:tiny", None, day("2026-11-25")).price.map(|price| (price.input, price.output));
    assert_eq!(free, Some((0.0, 0.0)));
}

#[test]
fn todays_models_are_asked_and_priced_as_their_vendors_say() {
    let long = |above, input_times, output_times| Some(LongPrompt { above, input_times, output_times });
    let shown = |name: &str| {
        let Quirks { api, reasoning, flex, retires, price, .. } = lookup(name, None, day("2026-11-25"));
        let levels = reasoning.map(|reasoning| reasoning.levels.join(" "));
        (levels, api, flex, retires, price.and_then(|price| price.long))
    };
    for (name, levels, api, flex, retires, expected_long) in [
        (
            "openai:gpt-6-luna",
            Some("none low medium high xhigh max"),
            Api::Responses,
            None,
            None,
            long(272_000, 2.0, 1.5),
        ),
        ("openai:gpt-6.2-sol", Some("low medium high xhigh max"), Api::Responses, None, None, long(272_000, 2.0, 1.5)),
        ("openai:gpt-5.4-mini", Some("none low medium high xhigh"), Api::Responses, Some(0.5), None, None),
        ("openai:gpt-5-nano", Some("minimal low medium high"), Api::Responses, Some(0.5), Some("2026-12-11"), None),
        ("openai:gpt-5.1", Some("none low medium high"), Api::Responses, None, Some("2027-04-01"), None),
        ("openai:o3-mini", Some("low medium high"), Api::Responses, None, Some("2026-10-23"), None),
        ("openai:gpt-4.1-mini", None, Api::Chat, None, Some("2027-01-14"), None),
        (
            "anthropic:claude-haiku-5-5",
            Some("low medium high xhigh max"),
            Api::Chat,
            None,
            None,
            long(100_000, 5.0, 5.0),
        ),
        ("anthropic:claude-sonnet-4-6", Some("low medium high max"), Api::Chat, None, None, None),
        ("anthropic:claude-sonnet-4-20250514", None, Api::Chat, None, Some("2026-06-15"), None),
        ("gemini:gemini-3.1-pro-preview", Some("low medium high"), Api::Chat, Some(0.5), None, long(200_000, 2.0, 1.5)),
        ("gemini:gemini-2.5-pro", None, Api::Chat, Some(0.5), Some("2026-12-01"), long(200_000, 2.0, 1.5)),
        ("openai:deepseek-flash", Some("low high max"), Api::Chat, None, None, None),
        ("openai:grok-4.7", Some("low medium high xhigh"), Api::Chat, None, None, long(199_999, 2.0, 2.0)),
    ] {
        let expected = (levels.map(str::to_owned), api, flex, retires.map(day), expected_long);
        assert_eq!(shown(name), expected, "{name}");
    }
}

#[test]
fn a_price_holds_from_its_day_on() {
    let text = "version: 1\nmodels:\n  - match: \"openai:x\"\n    price:\n      - { dated: 2026-11-01, input: 1, output: 2 }\n      - { from: 2026-12-01, dated: 2026-11-01, input: 3, output: 4 }\n";
    let table = ModelTable::parse("mine.yaml", text).unwrap();
    let input = |name, today| lookup(name, Some(&table), day(today)).price.map(|price| price.input);
    let days = ["2026-10-01", "2026-11-30", "2026-12-01", "2027-01-01"];
    assert_eq!(days.map(|today| input("openai:x", today)), [Some(1.0), Some(1.0), Some(3.0), Some(3.0)]);
    let argon = days.map(|today| input("gemini:gemini-4-argon", today));
    assert_eq!(argon, [Some(2.0), Some(2.0), Some(4.0), Some(4.0)]);
}

#[test]
fn the_list_says_what_holds_for_each_model_and_what_is_the_users() {
    let text = "version: 1\nmodels:\n  - match: \"openai:{gpt-6-luna,b{,-c}}{,-20*}\"\n    flex: 0.4\n  - match: \"openai:gpt-6*\"\n    output_tokens: 2k\n    flex: 0.6\n  - match: \"x:[ab]\"\n    streams: false\n";
    let table = ModelTable::parse("mine.yaml", text).unwrap();
    let list = |word| -> Vec<_> {
        let models = listed(Some(word), Some(&table), day("2026-11-25")).into_iter();
        let shown = |ListedModel { pattern, quirks, overridden }| {
            (pattern, quirks.output_tokens, quirks.flex, quirks.price.is_some(), overridden.join(" "))
        };
        models.map(shown).collect()
    };
    let row = |pattern: &str, tokens, flex, has_price, fields: &str| {
        (pattern.to_owned(), tokens, flex, has_price, fields.to_owned())
    };
    let luna = |name| row(name, 2_000, Some(0.6), true, "flex output_tokens");
    assert_eq!(list("GPT-6-Luna"), [luna("openai:gpt-6-luna")]);
    // A name that is not itself in the list.
    assert_eq!(list("openai:gpt-6-luna-2026-09-22"), [luna("openai:gpt-6-luna-2026-09-22")]);
    assert_eq!(list("openai:gpt-4.1-nano"), [row("openai:gpt-4.1-nano", 16_384, None, true, "")]);
    let b = |name| row(name, 8_192, Some(0.4), false, "flex");
    assert_eq!(list("openai:b"), [b("openai:b"), b("openai:b-c")]);
    assert_eq!(list("x:["), [row("x:[ab]", 8_192, None, false, "streams")]);
    assert_eq!(list("openai:gpt-6*"), [row("openai:gpt-6*", 2_000, Some(0.6), false, "flex output_tokens")]);
    assert_eq!(list("nobody:knows"), []);
    let both = ["anthropic:claude-fable-5-2", "anthropic:claude-mythos-5-2"];
    assert_eq!(list("-5-2"), both.map(|name| row(name, 32_768, None, true, "")));
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
    retires: 2027-02-28
"#;
    let table = ModelTable::parse("mine.yaml", text).unwrap();
    let expected = Quirks {
        window_tokens: 128_000,
        batch: Some(0.5),
        output_tokens: 2_000,
        tool_choice: ToolChoice::Required,
        parallel_calls: Some(false),
        streams: false,
        output_field: None,
        extra: serde_json::from_str(r#"{"seed": 8, "nested": {"list": [1.5, null, true, "x"]}}"#).unwrap(),
        stop: vec!["\n}".to_owned()],
        cache_marks: Some(false),
        repairs: Some(false),
        images: TakesImages::BehindResults,
        price: Some(Price {
            dated: "2026-11-22".to_owned(),
            input: 1.0,
            output: 2.5,
            cached: None,
            cache_written: None,
            long: None,
        }),
        retires: Some(day("2027-02-28")),
        ..Quirks::default()
    };
    assert_eq!(lookup("openai:gpt-4o", Some(&table), day("2026-11-25")), expected);
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
    // An impossible count never makes the cost negative.
    let odd = Usage { input: 1, cached: 5, ..Usage::default() };
    let plain = Price { dated: String::new(), input: 1.0, output: 1.0, cached: None, cache_written: None, long: None };
    assert!(plain.cost(&odd) > 0.0);
    // A prompt above the bound costs more for all of its tokens.
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
        (
            "version: 1\nmodels:\n  - match: \"a:b\"\n    price: [{ dated: 2026-01-01, input: 1, output: 1 }, { dated: 2026-01-01, input: 1, output: 1 }]",
            "m.yaml:4: the key 'from' is missing in 'models[0].price[1]'",
        ),
        (
            "version: 1\nmodels:\n  - match: \"a:b\"\n    price: []",
            "m.yaml:4: 'models[0].price' must have at least one price",
        ),
        (
            "version: 1\nmodels:\n  - match: \"a:b\"\n    retires: soon",
            "m.yaml:4: 'models[0].retires' must be the day from which the model is gone, such as 2026-01-31",
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
