//! The house rules that a program can check (DESIGN: the rooms): imports run downward, the pure floor stays pure, files
//! are small, and nothing of one machine stands in the source.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what the tests share fails as a test does")]

use std::{collections::BTreeMap, path::Path};

/// Each room's floor. A room may use its own floor's other rooms only on floor 0 and 3, and nothing above.
fn floor(room: &str) -> Option<u32> {
    Some(match room {
        "job" | "context" => 0,
        "workspace" | "documents" | "store" | "model" => 1,
        "tool" | "extraction" => 2,
        "batch" | "workspace_store" | "worker" | "runner" | "audit" | "report" | "telemetry" => 3,
        "cli" => 4,
        // Beside the floors: configuration is read by the command line and by whoever it hands it to; every effect may have
        // a place to die at.
        "config" | "failpoint" | "lib" | "main" => return None,
        other => panic!("room '{other}' has no floor: give it one in tests/it/tidy.rs and in DESIGN.md"),
    })
}

/// `mod.rs` files that hold functions, and why.
const MOD_WITH_LOGIC: [(&str, &str); 2] = [
    ("cli/mod.rs", "the command line's table of commands and its entry"),
    ("model/mod.rs", "the trait and the choice of a model by name"),
];
const MOST_LINES: usize = 450;

/// Every source file by its path below `src`.
fn sources() -> BTreeMap<String, String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    walkdir::WalkDir::new(&src)
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"))
        .map(|entry| {
            let path = entry.path().strip_prefix(&src).unwrap().to_string_lossy().replace('\\', "/");
            (path, std::fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

fn room(path: &str) -> &str {
    path.split(['/', '.']).next().unwrap()
}

fn is_test(path: &str) -> bool {
    path.ends_with("tests.rs")
}

/// The code without its tests and comments.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end].lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The rooms that `code` names: `crate::room`, `crate::{room…`, and from a room's top file `super::room`.
fn used(code: &str) -> Vec<&str> {
    let mut rooms = Vec::new();
    for (at, prefix) in code.match_indices("crate::") {
        let rest = &code[at + prefix.len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0_i32;
            let mut begins = true;
            for (place, letter) in group.char_indices() {
                if depth == 0 && begins && letter.is_ascii_lowercase() {
                    rooms.push(word(&group[place..]));
                    begins = false;
                }
                match letter {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => begins = true,
                    _ => {}
                }
            }
        } else {
            rooms.push(word(rest));
        }
    }
    rooms
}

fn word(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())]
}

fn none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn imports_run_downward_and_rooms_of_floor_one_do_not_know_each_other() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let own = room(&path);
        let Some(here) = floor(own) else { continue };
        for other in used(&code(&text)).into_iter().filter(|other| *other != own) {
            let allowed = match floor(other) {
                Some(there) if there == here => here == 0 || here == 3,
                Some(there) => there < here,
                None => (other == "config" && here >= 4) || (other == "failpoint" && here >= 1),
            };
            if !allowed {
                faults.push(format!("src/{path} uses crate::{other}"));
            }
        }
    }
    none(&faults);
}

#[test]
fn imports_are_really_found() {
    assert_eq!(used("use overnight_core::job::state::Job;"), ["job"]);
    assert_eq!(
        used("use crate::{\n    context::{board, compose},\n    job::event::Event,\n};\nuse std::fmt;"),
        ["context", "job"]
    );
    assert_eq!(used("let x = crate::store::connect(1);"), ["store"]);
}

#[test]
fn the_pure_floor_touches_nothing() {
    let outside = [
        "std::fs",
        "std::env",
        "std::net",
        "std::process",
        "std::thread",
        "tokio",
        "sqlx",
        "env!(",
        "env::var",
        "Utc::now",
        "Local::now",
        "SystemTime",
        "Instant::now",
        "fs::read",
        "File::open",
    ];
    let mut faults = Vec::new();
    for (path, text) in sources() {
        if floor(room(&path)) == Some(0) && !is_test(&path) {
            let code = code(&text);
            faults.extend(outside.iter().filter(|word| code.contains(*word)).map(|word| format!("src/{path}: {word}")));
        }
    }
    none(&faults);
}

#[test]
fn only_the_configuration_reads_the_environment() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        if room(&path) != "config" && !is_test(&path) {
            let code = code(&text);
            faults.extend(
                ["env::var", "env::vars"]
                    .iter()
                    .filter(|word| code.contains(*word))
                    .map(|word| format!("src/{path}: {word}")),
            );
        }
    }
    none(&faults);
}

#[test]
fn files_are_read_in_one_sitting() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        if lines > MOST_LINES {
            faults.push(format!("src/{path} has {lines} lines: look for the second thing in it"));
        }
    }
    none(&faults);
}

#[test]
fn mod_files_hold_no_logic() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let has_body = code(&text).lines().any(|line| {
            let line = line.trim_start();
            let is_function = line.starts_with("fn ") || line.contains(" fn ");
            is_function && line.ends_with('{')
        });
        if path.ends_with("mod.rs") && has_body && !MOD_WITH_LOGIC.iter().any(|(named, _)| *named == path) {
            faults.push(format!("src/{path} has a function with a body: move it into a file named for it"));
        }
    }
    none(&faults);
}

#[test]
fn nothing_is_left_to_do_and_nothing_of_one_machine_stands_here() {
    // Put together here, so that this file doesn't find itself.
    let words = [["// TO", "DO"].concat(), ["to", "do!("].concat(), ["FIX", "ME"].concat(), ["XX", "X "].concat()];
    let paths = [["/ho", "me/"].concat(), ["/ro", "ot/"].concat(), ["/wo", "rk/"].concat(), ["/Us", "ers/"].concat()];
    let mut faults = Vec::new();
    for (path, text) in sources() {
        for (number, line) in (1..).zip(text.lines()) {
            let number: usize = number;
            if words.iter().chain(&paths).any(|word| line.contains(word.as_str())) {
                faults.push(format!("src/{path}:{number}: {}", line.trim()));
            }
        }
    }
    none(&faults);
}

#[test]
fn every_file_says_what_it_is_for() {
    let faults: Vec<String> = sources()
        .into_iter()
        .filter(|(path, text)| !is_test(path) && !path.ends_with("_tests.rs") && !text.starts_with("//! "))
        .map(|(path, _)| format!("src/{path} has no header"))
        .collect();
    none(&faults);
}
