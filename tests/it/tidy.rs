//! The house rules that a program can check and Cargo can't: imports run downward, the core stays pure, files are small,
//! a type's name stands once, and nothing of one machine stands in the source.

#![expect(clippy::unwrap_used, reason = "what the tests share fails as a test does")]

mod imports;

use imports::Modules;
use regex::Regex;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// The rooms of the program, from the ground up. A room uses those in the lines above its own, and nothing else.
const ROOMS: [&[&str]; 15] = [
    &["failpoint", "exposure", "subprocess", "built_without"],
    &["blocking", "table_query"],
    &["workspace", "store"],
    &["model"],
    &["tool", "extraction", "workspace_store"],
    &["batch"],
    &["runner"],
    &["report", "export", "review", "telemetry", "audit"],
    &["compare", "gold"],
    &["eval", "cascade"],
    &["view"],
    &["notify", "web"],
    // Configuration is read by the command line, which hands each room what is its.
    &["worker", "config"],
    &["cli"],
    &["lib", "main"],
];
const CRATES: [&str; 5] = [
    "src/",
    "crates/overnight-core/src/",
    "crates/overnight-documents/src/",
    "crates/overnight-evals/src/",
    "crates/overnight-rules/src/",
];
/// `mod.rs` files that hold functions, and why.
const MOD_WITH_LOGIC: [(&str, &str); 2] = [
    ("src/cli/mod.rs", "the command line's table of commands and its entry"),
    ("src/model/mod.rs", "the trait that every model implements"),
];
/// Names of types that stand more than once, and why.
const NAMESAKES: [(&str, &str); 0] = [];
const MOST_LINES: usize = 450;
const LARGEST_CIRCLE: usize = 3;
/// Files that say which others there are.
const DECLARING: [&str; 3] = ["mod", "lib", "main"];

/// Every source file of the crates by its path.
fn sources() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = CRATES.iter().flat_map(|src| walkdir::WalkDir::new(root.join(src))).map(Result::unwrap);
    files
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"))
        .map(|entry| {
            let path = entry.path().strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            (path, std::fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

fn is_test(path: &str) -> bool {
    path.ends_with("tests.rs") || path.contains("/tests/")
}

/// The code without its tests and comments.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end].lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The code of each file that is no test.
fn all_code() -> impl Iterator<Item = (String, String)> {
    sources().into_iter().filter(|(path, _)| !is_test(path)).map(|(path, text)| (path, code(&text)))
}

fn none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// The room of a file of the program.
fn room(path: &str) -> Option<&str> {
    path.strip_prefix("src/")?.split(['/', '.']).next()
}

#[test]
fn imports_run_downward_between_rooms() {
    let level = |room: &str| ROOMS.iter().position(|rooms| rooms.contains(&room));
    let mut faults = BTreeSet::new();
    let sources = sources();
    for (path, used) in Modules::of("src/", &sources).graph() {
        let own = room(path).unwrap();
        if level(own).is_none() {
            faults.insert(format!(
                "room '{own}' has no line: give it one in tests/it/tidy.rs and in docs/src/architecture.md"
            ));
        }
        for other in used.into_iter().filter_map(room).filter(|other| *other != own && level(other) >= level(own)) {
            faults.insert(format!("{path} uses crate::{other}"));
        }
    }
    none(&faults.into_iter().collect::<Vec<_>>());
}

/// The folder with a `mod.rs` or `lib.rs` in which a file lies, and what of it the file belongs to: `x.rs` and all in `x/`
/// are one thing.
fn thing<'p>(path: &'p str, sources: &BTreeMap<String, String>) -> (&'p str, &'p str) {
    let mut end = path.len();
    while let Some(slash) = path[..end].rfind('/') {
        let folder = &path[..slash];
        if ["mod.rs", "lib.rs"].iter().any(|file| sources.contains_key(&format!("{folder}/{file}"))) {
            return (folder, path[slash + 1..].split(['/', '.']).next().unwrap());
        }
        end = slash;
    }
    ("", path)
}

/// What is used from `from` on, directly or through others.
fn reached<T: Copy + Ord>(graph: &BTreeMap<T, BTreeSet<T>>, from: T) -> BTreeSet<T> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(one) = next.pop() {
        next.extend(graph.get(&one).into_iter().flatten().copied().filter(|other| reached.insert(*other)));
    }
    reached
}

#[test]
fn no_files_of_different_folders_use_each_other() {
    let sources = sources();
    let mut faults = Vec::new();
    for src in CRATES {
        let modules = Modules::of(src, &sources);
        let mut graph: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for (path, used) in modules.graph() {
            graph.entry(thing(path, &sources)).or_default().extend(used.iter().map(|used| thing(used, &sources)));
        }
        for (&from, used) in &graph {
            for &to in used.iter().filter(|to| to.0 != from.0) {
                if reached(&graph, to).contains(&from) {
                    faults.push(format!("{}/{} uses {}/{}, and is used by it", from.0, from.1, to.0, to.1));
                }
            }
        }
    }
    none(&faults);
}

/// The circles of more files than are understood at once, in which each file needs every other.
fn circles<'p>(graph: &BTreeMap<&'p str, BTreeSet<&'p str>>) -> BTreeSet<BTreeSet<&'p str>> {
    let all: BTreeMap<&str, BTreeSet<&str>> = graph.keys().map(|from| (*from, reached(graph, *from))).collect();
    let circle = |from: &&'p str| -> BTreeSet<&'p str> {
        all[*from].iter().copied().filter(|to| all.get(to).is_some_and(|back| back.contains(from))).collect()
    };
    graph.keys().map(circle).filter(|files| files.len() > LARGEST_CIRCLE).collect()
}

/// In each folder, `x.rs` and all that lies in `x/` are one file; those that only declare the others are left out.
#[test]
fn no_circle_of_a_folder_is_larger_than_three_files() {
    let sources = sources();
    let mut folders: BTreeMap<&str, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    let graphs: Vec<Modules> = CRATES.iter().map(|src| Modules::of(src, &sources)).collect();
    for (from, used) in graphs.iter().flat_map(Modules::graph) {
        for (folder, own) in from.match_indices('/').map(|(slash, _)| (&from[..slash], &from[slash + 1..])) {
            let file =
                |path: &'_ str| path.split(['/', '.']).next().filter(|name| !DECLARING.contains(name)).map(str::len);
            let Some(end) = file(own) else { continue };
            let used = used.iter().filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
            let others =
                used.filter_map(|path| file(path).map(|end| &path[..end])).filter(|other| *other != &own[..end]);
            folders.entry(folder).or_default().entry(&own[..end]).or_default().extend(others);
        }
    }
    let told = |folder: &str, files: BTreeSet<&str>| {
        format!("files of {folder} that use each other: {}", files.into_iter().collect::<Vec<_>>().join(", "))
    };
    let circles =
        folders.iter().flat_map(|(folder, graph)| circles(graph).into_iter().map(|files| told(folder, files)));
    none(&circles.collect::<Vec<_>>());
}

#[test]
fn imports_are_really_found() {
    let sources = [
        ("src/lib.rs", "pub mod a;\nmod b;\n"),
        ("src/a/mod.rs", "mod one;\n\npub use one::{One, other as Another};\n"),
        ("src/a/one.rs", "use super::{super::b::{self, B}};\n\npub struct One;\n"),
        ("src/b.rs", "mod c;\n\nfn x() {\n    crate::a::Another();\n    c::y();\n}\n"),
        ("src/b/c.rs", "use std::fmt;\n\n#[cfg(test)]\nmod tests {\n    use crate::a::One;\n}\n"),
    ];
    let sources = BTreeMap::from(sources.map(|(path, text)| (path.to_owned(), text.to_owned())));
    let modules = Modules::of("src/", &sources);
    let found: Vec<(&str, Vec<&str>)> =
        modules.graph().into_iter().map(|(path, used)| (path, used.into_iter().collect())).collect();
    let expected = [
        ("src/a/mod.rs", vec![]),
        ("src/a/one.rs", vec!["src/b.rs"]),
        ("src/b.rs", vec!["src/a/one.rs", "src/b/c.rs"]),
        ("src/b/c.rs", vec![]),
        ("src/lib.rs", vec![]),
    ];
    assert_eq!(found, expected);
    assert_eq!([thing("src/b/c.rs", &sources), thing("src/a/one.rs", &sources)], [("src", "b"), ("src/a", "one")]);
}

#[test]
fn the_core_touches_nothing() {
    let outside = "std::fs std::env std::net std::process std::thread tokio sqlx env!( env::var Utc::now Local::now SystemTime \
        Instant::now fs::read File::open";
    let core = all_code().filter(|(path, _)| path.starts_with("crates/overnight-core/"));
    let found = core.flat_map(|(path, code)| {
        outside.split_whitespace().filter(move |word| code.contains(word)).map(move |word| format!("{path}: {word}"))
    });
    none(&found.collect::<Vec<_>>());
}

#[test]
fn only_the_configuration_reads_the_environment() {
    // What starts other programs copies some variables into theirs.
    let may_read = ["config", "subprocess"].map(Some);
    let reading = all_code().filter(|(path, code)| !may_read.contains(&room(path)) && code.contains("env::var"));
    none(&reading.map(|(path, _)| path).collect::<Vec<_>>());
}

#[test]
fn programs_are_started_in_one_place_where_their_environment_is_empty() {
    let starting = |code: &str| code.contains("Command::new(") || code.contains("process::Command::default");
    let places: Vec<String> = all_code().filter(|(_, code)| starting(code)).map(|(path, _)| path).collect();
    assert_eq!(places, ["src/subprocess.rs"]);
}

#[test]
fn files_are_read_in_one_sitting() {
    let lines = sources().into_iter().map(|(path, text)| (path, text.lines().count()));
    let long = lines.filter(|(_, lines)| *lines > MOST_LINES);
    none(
        &long
            .map(|(path, lines)| format!("{path} has {lines} lines: look for the second thing in it"))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn mod_files_hold_no_logic() {
    let with_body = all_code().filter(|(path, code)| {
        let mut lines = code.lines().map(str::trim_start);
        path.ends_with("mod.rs")
            && lines.any(|line| (line.starts_with("fn ") || line.contains(" fn ")) && line.ends_with('{'))
            && !MOD_WITH_LOGIC.iter().any(|(named, _)| named == path)
    });
    none(&with_body.map(|(path, _)| format!("{path} has a function with a body: give it a file")).collect::<Vec<_>>());
}

#[test]
fn a_types_name_stands_once() {
    let types =
        Regex::new(r"(?m)^(?: *(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait)|(?:pub(?:\([^)]*\))? )?type) ([A-Z]\w*)");
    let types = types.unwrap();
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, code) in all_code() {
        for found in types.captures_iter(&code) {
            places.entry(found[1].to_owned()).or_default().push(path.clone());
        }
    }
    let twice = places.iter().filter(|(name, paths)| (paths.len() > 1) != NAMESAKES.iter().any(|one| one.0 == *name));
    none(&twice.map(|(name, paths)| format!("{name}: {}", paths.join(", "))).collect::<Vec<_>>());
}

#[test]
fn nothing_is_left_to_do_and_nothing_of_one_machine_stands_here() {
    // Put together here, so that this file doesn't find itself.
    let words = [["// TO", "DO"].concat(), ["to", "do!("].concat(), ["FIX", "ME"].concat(), ["XX", "X "].concat()];
    let paths = [["/ho", "me/"].concat(), ["/ro", "ot/"].concat(), ["/wo", "rk/"].concat(), ["/Us", "ers/"].concat()];
    let mut faults = Vec::new();
    for (path, text) in sources() {
        for (number, line) in (1_usize..).zip(text.lines()) {
            if words.iter().chain(&paths).any(|word| line.contains(word.as_str())) {
                faults.push(format!("{path}:{number}: {}", line.trim()));
            }
        }
    }
    none(&faults);
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent = sources().into_iter().filter(|(path, text)| !is_test(path) && !text.starts_with("//! "));
    none(&silent.map(|(path, _)| format!("{path} has no header")).collect::<Vec<_>>());
}
