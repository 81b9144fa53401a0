//! Tests with the four sources as input, and whole settings or whole error sentences as output.

use super::*;
use proptest::prelude::*;
use std::path::Path;

fn load(flags: &Flags, environment: &[(&str, &str)], file: Option<&str>) -> Result<Settings, String> {
    let file = file.map(|text| ConfigFile { path: PathBuf::from("overnight.yaml"), text: text.to_owned() });
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Settings::load(flags, environment, file.as_ref(), Path::new("")).map_err(|error| error.to_string())
}

fn masked(url: &str) -> String {
    DatabaseUrl::parse(url).unwrap().to_string()
}

/// Name, value and origin, one line each.
fn shown_rows(settings: &Settings) -> Vec<String> {
    settings.rows().into_iter().map(|(name, value, origin)| format!("{name} = {value} ({origin})")).collect()
}

#[test]
fn defaults() {
    let expected = [
        "database_url = sqlite://workspaces/overnight.db (default)",
        "workspaces = workspaces (default)",
        "workspace_store = not set (default)",
        "instructions = instructions (default)",
        "model = not set (default)",
        "tier = not set (default)",
        "budget_tokens = not set (default)",
        "turns = not set (default)",
        "cost_usd = not set (default)",
        "unpriced = false (default)",
        "wall_clock = not set (default)",
        "tokens = not set (default)",
        "base_url = not set (default)",
        "api_key_env = not set (default)",
        "allow_http = false (default)",
        "models_file = not set (default)",
        "requests_per_minute = not set (default)",
        "tokens_per_minute = not set (default)",
        "parallel_calls = not set (default)",
        "idle_timeout = not set (default)",
        "documents.ocr = auto (default)",
        "documents.vision = auto (default)",
        "documents.sandbox = auto (default)",
        "documents.cache_mib = 4096 (default)",
        "log_format = text (default)",
    ];
    let empty = Flags::default();
    assert_eq!(load(&empty, &[], None).map(|s| shown_rows(&s)), Ok(expected.map(str::to_owned).to_vec()));
    let strangers =
        [("PATH", "/bin"), ("OVERNIGHT_TEST_DATABASE", "x"), ("OVERNIGHT_MODEL", ""), ("DATABASE_URL", " ")];
    let nothing = Some("# nothing here\n");
    assert_eq!(load(&empty, &strangers, nothing).map(|s| shown_rows(&s)), Ok(expected.map(str::to_owned).to_vec()));
}

#[test]
fn flags_over_environment_over_file_over_defaults() {
    let flags = Flags { model: Some("offline".to_owned()), wall_clock: Some("1h30m".to_owned()), ..Flags::default() };
    let environment = [
        ("OVERNIGHT_BASE_URL", "http://localhost:8080/v1"),
        ("OVERNIGHT_PARALLEL_CALLS", "4"),
        ("OVERNIGHT_MODEL", "openai:small"),
        ("OVERNIGHT_TURNS", "50"),
        ("OVERNIGHT_WORKSPACE_STORE", "s3://nights/a"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://me:secret@traces.example:4318"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret"),
        ("DATABASE_URL", "postgres://me:secret@db.example/jobs?sslmode=require&password=also"),
    ];
    let file = "# limits\nturns: 7\n\ncost_usd: 5.50\nmodel: ollama:tiny\ntokens: 20M\nworkspaces: \"../work spaces\"\nbudget_tokens: 32000\napi_key_env: NIGHT_KEY\nmodels_file: models.yaml\nrequests_per_minute: 500\ntokens_per_minute: 200k\nidle_timeout: 90s\nlog_format: json\ndocuments:\n  ocr: never\n  cache_mib: 512\n  sandbox: required\nallow_http: true\n";
    let expected = [
        "database_url = postgres://me:***@db.example/jobs?sslmode=require&password=*** (environment, DATABASE_URL)",
        "workspaces = ../work spaces (overnight.yaml:7)",
        "workspace_store = s3://nights/a (environment, OVERNIGHT_WORKSPACE_STORE)",
        "instructions = instructions (default)",
        "model = offline (command line)",
        "tier = not set (default)",
        "budget_tokens = 32000 (overnight.yaml:8)",
        "turns = 50 (environment, OVERNIGHT_TURNS)",
        "cost_usd = 5.5 (overnight.yaml:4)",
        "unpriced = false (default)",
        "wall_clock = 1h 30m (command line)",
        "tokens = 20000000 (overnight.yaml:6)",
        "base_url = http://localhost:8080/v1 (environment, OVERNIGHT_BASE_URL)",
        "api_key_env = NIGHT_KEY (overnight.yaml:9)",
        "allow_http = true (overnight.yaml:19)",
        "models_file = models.yaml (overnight.yaml:10)",
        "requests_per_minute = 500 (overnight.yaml:11)",
        "tokens_per_minute = 200000 (overnight.yaml:12)",
        "parallel_calls = 4 (environment, OVERNIGHT_PARALLEL_CALLS)",
        "idle_timeout = 1m 30s (overnight.yaml:13)",
        "documents.ocr = never (overnight.yaml:16)",
        "documents.vision = auto (default)",
        "documents.sandbox = required (overnight.yaml:18)",
        "documents.cache_mib = 512 (overnight.yaml:17)",
        "log_format = json (overnight.yaml:14)",
        "traces = https://traces.example:4318/v1/traces (environment, OTEL_EXPORTER_OTLP_ENDPOINT)",
    ];
    let settings = load(&flags, &environment, Some(file));
    assert_eq!(settings.as_ref().map(shown_rows), Ok(expected.map(str::to_owned).to_vec()));
    let url = settings.as_ref().map(|s| s.database_url.value.reveal());
    assert_eq!(url, Ok("postgres://me:secret@db.example/jobs?sslmode=require&password=also"));
    assert!(!format!("{settings:?}").contains("secret"), "debug output must not show the password");
}

#[test]
fn relative_paths_begin_in_the_files_folder_and_default_ones_where_it_was_found() {
    let text = "models_file: m.yaml\nmodel: scripted:s.yaml\ndatabase_url: sqlite://jobs.db\n";
    let file = ConfigFile { path: PathBuf::from("/project/overnight.yaml"), text: text.to_owned() };
    let flags = Flags { instructions: Some("here".to_owned()), ..Flags::default() };
    let settings = Settings::load(&flags, std::iter::empty(), Some(&file), Path::new("/project")).unwrap();
    let shown: Vec<String> = shown_rows(&settings).into_iter().filter(|row| !row.contains("not set")).take(8).collect();
    assert_eq!(
        shown,
        [
            "database_url = sqlite:///project/jobs.db (/project/overnight.yaml:3)",
            "workspaces = /project/workspaces (default)",
            "instructions = here (command line)",
            "model = scripted:/project/s.yaml (/project/overnight.yaml:2)",
            "unpriced = false (default)",
            "allow_http = false (default)",
            "models_file = /project/m.yaml (/project/overnight.yaml:1)",
            "documents.ocr = auto (default)",
        ]
    );
}

#[test]
fn our_own_database_variable_comes_first() {
    let environment = [("DATABASE_URL", "postgres://other/app"), ("OVERNIGHT_DATABASE_URL", "sqlite:x.db")];
    let found = load(&Flags::default(), &environment, None).map(|s| s.database_url.value.to_string());
    assert_eq!(found, Ok("sqlite:x.db".to_owned()));
}

#[test]
fn mistakes_are_named_with_their_place() {
    let file =
        |text: &str| load(&Flags::default(), &[], Some(text)).map(|_| ()).map_err(|e| e.replace("overnight.yaml", "F"));
    for (text, expected) in [
        ("\nworkspace: a", "F:2: unknown key 'workspace'; did you mean 'workspaces'?"),
        (
            "colour: red",
            "F:1: unknown key 'colour'; known here: database_url, workspaces, workspace_store, instructions, model, tier, budget_tokens, turns, cost_usd, unpriced, wall_clock, tokens, base_url, api_key_env, allow_http, models_file, requests_per_minute, tokens_per_minute, parallel_calls, idle_timeout, documents, log_format, notify",
        ),
        ("model: a\nmodel: b", "F:2: the key 'model' stands here twice; keep one"),
        ("model: [a]", "F:1: 'model' must be text, a number, true or false"),
        ("turns: 0", "F:1: 'turns' must be at least 1, not 0"),
        ("turns: 1.5", "F:1: 'turns' must be a whole number such as 500k, 20M or 20000000, not '1.5'"),
        ("# x\nbudget_tokens: 7k", "F:2: 'budget_tokens' must be at least 8000, not 7000"),
        ("cost_usd: .inf", "F:1: 'cost_usd' must be an amount in USD such as 5.00, not 'inf'"),
        ("wall_clock: 8", "F:1: 'wall_clock' must be a duration with its unit, such as 30m, 8h or 1h30m, not '8'"),
        ("database_url: hunter2", "F:1: 'database_url' must begin with sqlite:, postgres:// or postgresql://"),
        (
            "workspace_store: nights",
            "F:1: 'workspace_store' must begin with s3://, gs://, az:// or file://, not 'nights'",
        ),
        (
            "workspace_store: s3://id:planted@nights",
            "F:1: 'workspace_store' must hold no user name, password, query or blank: keys go by variables such as AWS_SECRET_ACCESS_KEY",
        ),
        ("documents:\n  ocr: maybe", "F:2: 'documents.ocr' must be auto, never or always"),
        ("documents:\n  sandbox: true", "F:2: 'documents.sandbox' must be auto, required or off"),
        ("allow_http: maybe", "F:1: 'allow_http' must be true or false, not 'maybe'"),
        ("documents:\n  ocrs: auto", "F:2: unknown key 'ocrs' in 'documents'; did you mean 'ocr'?"),
        (
            "documents:\n  cache_mib: much",
            "F:2: 'documents.cache_mib' must be a whole number such as 500k, 20M or 20000000, not 'much'",
        ),
        ("log_format: xml", "F:1: 'log_format' must be text or json, not 'xml'"),
        ("model: a: b", "F:1: not valid YAML: mapping values are not allowed in this context"),
        ("base_url: localhost:8080/v1", "F:1: 'base_url' must begin with http:// or https://, not 'localhost'"),
        (
            "base_url: \"http://me:planted@h/v1\"",
            "F:1: 'base_url' must hold no user name, password or blank: the key goes by --api-key-env",
        ),
        (
            "api_key_env: sk-planted",
            "F:1: 'api_key_env' must be the name of an environment variable, such as OPENAI_API_KEY, not the key itself",
        ),
        ("parallel_calls: 0", "F:1: 'parallel_calls' must be at least 1, not 0"),
        ("- a", "F:1: this must be a mapping (key: value), not a list"),
    ] {
        assert_eq!(file(text), Err(expected.to_owned()), "{text}");
    }
    let environment = |name: &str, value: &str| load(&Flags::default(), &[(name, value)], None).map(|_| ());
    for (name, value, expected) in [
        (
            "OVERNIGHT_WORKSPACE",
            "x",
            "unknown environment variable OVERNIGHT_WORKSPACE; did you mean OVERNIGHT_WORKSPACES?",
        ),
        ("OVERNIGHT_CONFG", "", "unknown environment variable OVERNIGHT_CONFG; did you mean OVERNIGHT_CONFIG?"),
        (
            "OVERNIGHT_DOCUMENTS_OCR",
            "yes",
            "environment variable OVERNIGHT_DOCUMENTS_OCR must be auto, never or always",
        ),
        ("OVERNIGHT_WALL_CLOCK", "0s", "environment variable OVERNIGHT_WALL_CLOCK must be longer than 0"),
    ] {
        assert_eq!(environment(name, value), Err(expected.to_owned()));
    }
    let flags = Flags { cost: Some("five".to_owned()), ..Flags::default() };
    let expected = "--cost must be an amount in USD such as 5.00, not 'five'";
    assert_eq!(load(&flags, &[], None).map(|_| ()), Err(expected.to_owned()));
}

#[test]
fn keys_and_headers_are_handed_on_and_never_shown() {
    let headers = ["x-project=night", "Authorization = Bearer planted=1"].map(str::to_owned).to_vec();
    let flags = Flags { headers, ..Flags::default() };
    let settings = load(&flags, &[("NIGHT_KEY", " sk-planted\n"), ("EMPTY_KEY", " ")], None).unwrap();
    assert_eq!(settings.key("NIGHT_KEY"), Key::new("sk-planted"));
    assert_eq!((settings.key("EMPTY_KEY"), settings.key("OTHER_KEY")), (None, None));
    let expected = [("x-project", "night"), ("Authorization", "Bearer planted=1")];
    assert_eq!(settings.headers.reveal(), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let shown = format!("{settings:?} {flags:?} {:?}", settings.rows());
    assert!(!shown.contains("planted"), "{shown}");
    for typed in ["planted", "=planted", "a b=planted", "a=", "a=plan\nted"] {
        let flags = Flags { headers: vec![typed.to_owned()], ..Flags::default() };
        let expected = "--header must be NAME=VALUE, such as x-project=night";
        assert_eq!(load(&flags, &[], None).map(|_| ()), Err(expected.to_owned()), "{typed}");
    }
}

#[test]
fn passwords_are_hidden_in_odd_urls() {
    for (url, expected) in [
        ("postgres://u:p@ss:w/rd@h/db", "postgres://u:***@h/db"),
        ("postgres://u@h/db", "postgres://u@h/db"),
        ("postgres://h/db?user=u&sslpassword=x&SSLMODE=off", "postgres://h/db?user=u&sslpassword=***&SSLMODE=off"),
        ("sqlite://a@b.db?mode=rwc", "sqlite://a@b.db?mode=rwc"),
        ("sqlite::memory:", "sqlite::memory:"),
    ] {
        assert_eq!(masked(url), expected);
    }
}

proptest! {
    #[test]
    fn a_password_is_never_shown(password in "[a-zA-Z0-9:@/%?&=#]{1,12}zzz9") {
        let shown = masked(&format!("postgres://user:{password}@host:5432/db?application_name=x"));
        prop_assert_eq!(shown, "postgres://user:***@host:5432/db?application_name=x");
    }

    #[test]
    fn any_file_is_settings_or_an_error(text in "\\PC{0,60}|([a-z_]{1,12}: [0-9a-zA-Z.:/*&!]{0,9}\n){0,6}") {
        let _ = load(&Flags::default(), &[], Some(&text));
    }
}
