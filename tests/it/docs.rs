//! The README, CONTRIBUTING and the book under `docs/`: their commands run, their examples are read by the program's own
//! parsers, and their links lead somewhere. `CONTRIBUTING.md` says how the blocks of a page are marked.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    cli_run::PROGRAM,
    support::{copy, samples, wait},
};
use overnight::model::{scripted::Scripted, table::ModelTable};
use overnight_core::job::instructions;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use regex::Regex;
use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::LazyLock,
    thread,
};

const MOST_README_BYTES: usize = 9 * 1024;
/// Pages are run side by side, because a job mostly waits for the disk.
const AT_ONCE: usize = 4;
/// Between the outputs of a session's commands.
const BETWEEN: char = '\u{1e}';

/// A block of code: the words behind its fence, and its text.
struct Block {
    words: Vec<String>,
    text: String,
}

impl Block {
    fn is(&self, word: &str) -> bool {
        self.words.iter().any(|one| one == word)
    }

    fn file(&self) -> Option<&str> {
        self.words.iter().find_map(|word| word.strip_prefix("file="))
    }
}

#[derive(Default)]
struct Page {
    path: PathBuf,
    blocks: Vec<Block>,
    links: Vec<String>,
    /// As they are linked to.
    headings: Vec<String>,
}

impl Page {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let mut page = Self { path: path.to_owned(), ..Self::default() };
        let mut inside = String::new();
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Heading { .. }) => inside.clear(),
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    inside.clear();
                    let words = info.split(',').map(str::to_owned).collect();
                    page.blocks.push(Block { words, text: String::new() });
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.to_string());
                }
                Event::Text(text) | Event::Code(text) => inside.push_str(&text),
                Event::End(TagEnd::Heading(_)) => page.headings.push(anchor(&inside)),
                Event::End(TagEnd::CodeBlock) => page.blocks.last_mut().unwrap().text.clone_from(&inside),
                _ => {}
            }
        }
        page
    }
}

/// How a heading is linked to.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The README, CONTRIBUTING, then the pages of the book.
fn pages() -> Vec<Page> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(root().join("docs/src")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.splice(0..0, ["README.md", "CONTRIBUTING.md"].map(|name| root().join(name)));
    paths.iter().map(|path| Page::read(path)).collect()
}

/// The folder in which the blocks of one page are run.
struct Shell(tempfile::TempDir);

impl Shell {
    fn new() -> Self {
        let shell = Self(tempfile::tempdir().unwrap());
        copy(&samples(), &shell.0.path().join("work/samples"));
        // Stands for the program where only the flags are looked at.
        let stub = format!("#!/bin/sh\n{PROGRAM} \"$@\" --help > /dev/null && echo \"$*\" >> \"$SEEN\"\n");
        fs::create_dir(shell.0.path().join("stub")).unwrap();
        let path = shell.0.path().join("stub/overnight");
        fs::write(&path, stub).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        shell
    }

    fn run(&self, script: &str, programs: &str) -> Output {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script]).current_dir(self.0.path().join("work"));
        shell.env_clear().env("PATH", programs).env("HOME", self.0.path()).env("SEEN", self.0.path().join("seen"));
        shell.output().unwrap()
    }

    fn try_block(&self, block: &Block) -> Result<(), String> {
        if let Some(file) = block.file() {
            fs::write(self.0.path().join("work").join(file), &block.text).unwrap();
        }
        let folder = Path::new(PROGRAM).parent().unwrap();
        let programs = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display());
        match block.words[0].as_str() {
            "sh" if block.is("no_run") => self.try_flags(&block.text),
            "sh" => {
                let ran = self.run(&format!("set -eu\n{}", block.text), &programs);
                let told = String::from_utf8_lossy(&ran.stderr);
                ran.status.success().then_some(()).ok_or_else(|| format!("{}: {told}", ran.status))
            }
            "console" => self.try_session(&block.text, &programs),
            "sql" => {
                let url = format!("sqlite://{}/work/workspaces/overnight.db", self.0.path().display());
                wait(async {
                    let mut database = <sqlx::SqliteConnection as sqlx::Connection>::connect(&url).await.unwrap();
                    let asked = sqlx::raw_sql(sqlx::AssertSqlSafe(block.text.clone())).execute(&mut database).await;
                    sqlx::Connection::close(database).await.unwrap();
                    asked.map(drop).map_err(|error| error.to_string())
                })
            }
            // A configuration is read by the command after it.
            "yaml" if block.file() == Some("overnight.yaml") => Ok(()),
            "yaml" | "markdown" => try_example(&block.text),
            _ => Ok(()),
        }
    }

    /// Whether the program knows the flags of its commands; other programs are left out.
    fn try_flags(&self, text: &str) -> Result<(), String> {
        let text = text.replace("cargo run --release -- ", "overnight ");
        let (stub, seen) = (self.0.path().join("stub"), self.0.path().join("seen"));
        for line in text.lines().filter(|line| line.contains("overnight ")) {
            let _ = fs::remove_file(&seen);
            let ran = self.run(line, &stub.display().to_string());
            let known = fs::read_to_string(&seen).unwrap_or_default().lines().count();
            if known != line.matches("overnight ").count() {
                return Err(format!("{line}\n{}", String::from_utf8_lossy(&ran.stderr)));
            }
        }
        Ok(())
    }

    /// Runs a session's commands, and compares what each prints.
    fn try_session(&self, text: &str, programs: &str) -> Result<(), String> {
        let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in text.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => commands.push((command, Vec::new())),
                None => commands.last_mut().ok_or("a session begins with `$ `")?.1.push(line),
            }
        }
        let mut script = "exec 2>&1\n".to_owned();
        for (command, _) in &commands {
            writeln!(script, "{command}\nstatus=$?; printf '{BETWEEN}'; (exit $status)").unwrap();
        }
        let printed = self.run(&script, programs).stdout;
        let printed = String::from_utf8_lossy(&printed);
        for ((command, expected), found) in commands.iter().zip(printed.split(BETWEEN)) {
            let expected: Vec<String> = expected.iter().map(|line| masked(line)).collect();
            let found: Vec<String> = found.lines().map(masked).collect();
            if !fits(&expected, &found) {
                let (expected, found) = (expected.join("\n"), found.join("\n"));
                return Err(format!("$ {command}\n-- the page says\n{expected}\n-- it prints\n{found}"));
            }
        }
        Ok(())
    }
}

/// Ids, times and other numbers look the same, and so do runs of blanks.
fn masked(line: &str) -> String {
    static ID: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b[0-9a-f]{8,64}(-[0-9a-f]{2,12})*\b").unwrap());
    static TIME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\d+(\.\d+)?(ms|s|m|h)\b ?)+").unwrap());
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\d+([.,:]\d+)*[kM]?").unwrap());
    let line = TIME.replace_all(&ID.replace_all(line, "ID"), "TIME ").into_owned();
    NUMBER.replace_all(&line, "N").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A line `…` stands for any lines.
fn fits(expected: &[String], found: &[String]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((first, rest)) if first == "…" => (0..=found.len()).any(|skipped| fits(rest, &found[skipped..])),
        Some((first, rest)) => found.first() == Some(first) && fits(rest, &found[1..]),
    }
}

/// Instructions, a table of models or a script, as its own parser reads it.
fn try_example(text: &str) -> Result<(), String> {
    if text.starts_with("---\n") {
        let read = instructions::parse("example", text, &|_| Ok("{}".to_owned()));
        read.map(drop).map_err(|error| error.to_string())
    } else if text.contains("\nmodels:") {
        ModelTable::parse("example", text).map(drop).map_err(|error| error.to_string())
    } else {
        Scripted::parse("example", text).map(drop).map_err(|error| error.to_string())
    }
}

#[test]
fn every_command_and_example_in_the_documents_works() {
    let pages = pages();
    let run = |page: &Page| -> Vec<String> {
        let shell = Shell::new();
        let faults = page.blocks.iter().filter_map(|block| Some((block, shell.try_block(block).err()?)));
        faults.map(|(block, why)| format!("{}:\n{}{why}\n", page.path.display(), block.text)).collect()
    };
    let faults: Vec<String> = thread::scope(|scope| {
        let share = pages.len().div_ceil(AT_ONCE);
        let shares = pages.chunks(share).map(|pages| scope.spawn(|| pages.iter().flat_map(run).collect::<Vec<_>>()));
        let started: Vec<_> = shares.collect();
        started.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_link_leads_somewhere_and_every_page_is_in_the_summary() {
    let pages = pages();
    let mut faults = Vec::new();
    for page in &pages {
        for link in page.links.iter().filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.path.clone() } else { page.path.with_file_name(file) };
            let has_heading =
                || pages.iter().any(|page| page.path == target && page.headings.iter().any(|h| h == heading));
            // Web pages of the book have nothing beside them.
            let stays_in_the_book = !page.path.starts_with(root().join("docs")) || !file.contains('/');
            if !target.is_file() || !(heading.is_empty() || has_heading()) || !stays_in_the_book {
                faults.push(format!("{}: {link}", page.path.display()));
            }
        }
    }
    let summary = pages.iter().find(|page| page.path.ends_with("SUMMARY.md")).unwrap();
    let mut listed: Vec<PathBuf> = summary.links.iter().map(|link| summary.path.with_file_name(link)).collect();
    listed.push(summary.path.clone());
    listed.sort();
    let mut there: Vec<PathBuf> = pages.iter().skip(2).map(|page| page.path.clone()).collect();
    there.sort();
    assert_eq!((faults, listed), (Vec::new(), there));
}

#[test]
fn every_path_of_the_repository_that_is_named_is_there() {
    let named = Regex::new(r"`((?:src|crates|examples|benches|migrations|tests/it)/[\w./-]+)`").unwrap();
    let files = ["", "docs", "src", "crates", "tests", "benches", "examples"].map(|folder| {
        let depth = if folder.is_empty() { 1 } else { usize::MAX };
        walkdir::WalkDir::new(root().join(folder)).max_depth(depth).into_iter().map(Result::unwrap)
    });
    let is_text = |path: &Path| path.extension().is_some_and(|ending| ending == "md" || ending == "rs");
    let mut faults = Vec::new();
    for path in files.into_iter().flatten().map(walkdir::DirEntry::into_path).filter(|path| is_text(path)) {
        let text = fs::read_to_string(&path).unwrap();
        let missing = named.captures_iter(&text).filter(|found| !root().join(&found[1]).exists());
        faults.extend(missing.map(|found| format!("{}: {}", path.display(), &found[1])));
    }
    assert_eq!(faults, [""; 0]);
}

/// The types of events with their fields, as the code has them.
fn event_fields() -> Vec<(String, Vec<String>)> {
    let group = Regex::new(r"(?ms)^pub enum \w+Event \{$(.*?)^\}").unwrap();
    let variant =
        Regex::new(r#"(?ms)^    (?:#\[serde\(rename = "(\w+)"\)\]\n    #[^\n]*\n    )?([A-Z]\w+) \{(.*?)\},$"#)
            .unwrap();
    let (capital, field) = (Regex::new("(.)([A-Z])").unwrap(), Regex::new(r"(\w+): ").unwrap());
    let mut all = Vec::new();
    for file in fs::read_dir(root().join("crates/overnight-core/src/job/event")).unwrap() {
        let code = fs::read_to_string(file.unwrap().path()).unwrap();
        let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let code = code.join("\n");
        for events in group.captures_iter(&code) {
            all.extend(variant.captures_iter(&events[1]).map(|found| {
                let named = capital.replace_all(&found[2], "${1}_$2").to_lowercase();
                let name = found.get(1).map_or(named, |name| name.as_str().to_owned());
                (name, field.captures_iter(&found[3]).map(|field| field[1].to_owned()).collect())
            }));
        }
    }
    assert!(all.len() > 25, "this looks for the wrong thing");
    all
}

/// The types of events, as they are stored.
pub(crate) fn event_types() -> Vec<String> {
    event_fields().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn the_journals_events_are_described_with_their_fields() {
    let page = fs::read_to_string(root().join("docs/src/journal-format.md")).unwrap();
    let mut faults = Vec::new();
    for (name, fields) in event_fields() {
        let is_its = |row: &&str| row.split('|').nth(1).is_some_and(|cell| cell.contains(&format!("`{name}`")));
        let row = page.lines().find(is_its).unwrap_or_default();
        faults.extend([name.clone()].into_iter().chain(fields).filter(|word| !row.contains(&format!("`{word}`"))));
    }
    assert_eq!(faults, [""; 0]);
}

#[test]
fn the_readme_is_short() {
    let bytes = fs::metadata(root().join("README.md")).unwrap().len();
    assert!(bytes <= MOST_README_BYTES as u64, "README.md has {bytes} bytes; move a subject into a page of docs/src");
}
