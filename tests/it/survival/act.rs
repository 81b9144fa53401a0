//! A command on a job, how it goes undisturbed, and how a person gets to its end after a crash.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::{
    leftovers::left,
    test_dir::{Ran, TestDir, UNFINISHED},
};
use std::fs;

/// Resumed more often than this, a job doesn't come to its end.
const MOST_TRIES: usize = 100;

/// Which word of a person the act is: it decides what is done after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Run,
    Resume,
    Feedback,
    Approve,
    Correct,
    Cancel,
}

pub(super) struct Act {
    pub(super) word: Word,
    pub(super) arguments: &'static [&'static str],
    /// The exit code where nothing comes between.
    code: i32,
    /// The desk before the act.
    pub(super) before: TestDir,
    /// What is left after the undisturbed act.
    pub(super) left: String,
    /// Model calls of the undisturbed act; none are counted without failpoints.
    calls: Option<usize>,
}

const OFFLINE: &[&str] = &["run", "extract-requirements", "-d", "small", "-q"];
const SCRIPTED: &[&str] = &["run", "./task.md", "-d", "docs", "-m", "scripted:script.json", "-q"];
const APPROVE: &[&str] = &["approve", "last", "-q"];
const LIMITED: &[&str] = &["run", "./task.md", "-d", "docs", "-m", "scripted:script.json", "-q", "--turns", "8"];

impl Act {
    /// The embedded model's work on a new job.
    pub(super) fn offline() -> Self {
        Self::new(Word::Run, OFFLINE, 0, TestDir::new())
    }

    /// The script up to the review.
    pub(super) fn scripted() -> Self {
        Self::new(Word::Run, SCRIPTED, 4, TestDir::new())
    }

    /// The same with a model that is handed its calls and answers later.
    #[cfg(feature = "failpoints")]
    pub(super) fn scripted_later() -> Self {
        let dir = TestDir::new();
        dir.answer_later();
        Self::new(Word::Run, SCRIPTED, 4, dir)
    }

    pub(super) fn feedback() -> Self {
        let arguments = &["feedback", "last", "The key is missing.", "-q"];
        Self::new(Word::Feedback, arguments, 4, after(&[(SCRIPTED, 4)]))
    }

    /// The same of a job that has ended.
    pub(super) fn feedback_after_the_end() -> Self {
        let arguments = &["feedback", "last", "The key is missing.", "-q"];
        Self::new(Word::Feedback, arguments, 4, after(&[(SCRIPTED, 4), (APPROVE, 0)]))
    }

    pub(super) fn approve() -> Self {
        let feedback: &[&str] = &["feedback", "last", "The key is missing.", "-q"];
        Self::new(Word::Approve, APPROVE, 0, after(&[(SCRIPTED, 4), (feedback, 4)]))
    }

    /// A field of a completed job.
    pub(super) fn correct() -> Self {
        let arguments = &["correct", "last", "$.requirements[0].section", "Elsewhere", "-q"];
        Self::new(Word::Correct, arguments, 0, after(&[(OFFLINE, 0)]))
    }

    /// A job that a limit holds.
    pub(super) fn resume() -> Self {
        Self::new(Word::Resume, &["resume", "last", "-q", "--turns", "100"], 4, after(&[(LIMITED, 4)]))
    }

    pub(super) fn cancel() -> Self {
        Self::new(Word::Cancel, &["cancel", "last"], 0, after(&[(LIMITED, 4)]))
    }

    fn new(word: Word, arguments: &'static [&'static str], code: i32, before: TestDir) -> Self {
        let mut act = Self { word, arguments, code, before, left: String::new(), calls: None };
        let dir = act.before.copy();
        let ran = dir.run(arguments, "");
        assert_eq!(ran.code, Some(code), "{ran:?}");
        act.left = left(&dir, &dir.workspaces()[0]);
        act.calls = dir.calls();
        act
    }

    /// Whether the command came to its end as it does undisturbed.
    pub(super) fn is_done(&self, ran: &Ran) -> bool {
        ran.code == Some(self.code)
    }

    /// Whether the job that the command was to go on with was not made before the crash.
    pub(super) fn was_never_begun(&self, ran: &Ran) -> bool {
        self.word == Word::Run && ran.code == Some(2) && ran.stderr.contains("there is no job")
    }

    /// Whether the command had come to its end before the crash, and is refused now.
    pub(super) fn was_done_before(&self, ran: &Ran) -> bool {
        let refusal = match self.word {
            Word::Cancel => "has ended already: it is cancelled",
            Word::Correct => "has this value already",
            Word::Run | Word::Resume | Word::Feedback | Word::Approve => return false,
        };
        ran.code == Some(2) && ran.stderr.contains(refusal)
    }

    /// What a person tries first after a crash.
    pub(super) fn again(&self) -> &'static [&'static str] {
        match self.word {
            Word::Cancel | Word::Resume | Word::Correct => self.arguments,
            Word::Run | Word::Feedback | Word::Approve => &["resume", "last", "-q"],
        }
    }

    /// Does what a person does after a crash, until the act has come to its end; `disturb` runs the command, and may kill
    /// it. What went wrong, otherwise.
    pub(super) fn finish(
        &self,
        dir: &TestDir,
        disturb: &mut dyn FnMut(&TestDir, &[&str]) -> Ran,
    ) -> Result<(), String> {
        for _ in 0..MOST_TRIES {
            let ran = disturb(dir, self.again());
            let Some(code) = ran.code else { continue };
            let waits = code == 4 && ran.stderr.contains("waits for a review");
            let is_result = waits || code == 0 && ran.stdout.contains(": completed");
            let ended = if self.was_never_begun(&ran)
                || waits && self.word == Word::Approve
                || is_result && self.word == Word::Feedback && !is_fed_back(dir)
            {
                disturb(dir, self.arguments)
            } else {
                ran
            };
            match ended.code {
                None | Some(130) => {}
                Some(_) if self.was_done_before(&ended) => return Ok(()),
                Some(code) if code == self.code => return Ok(()),
                Some(_) => return Err(format!("{ended:?}")),
            }
        }
        Err(format!("{:?} does not come to its end", self.word))
    }

    /// Whether all is as if nothing had come between but `kills` kills; what isn't, otherwise.
    pub(super) fn check(&self, dir: &TestDir, kills: usize) -> Result<(), String> {
        let workspaces = dir.workspaces();
        let found = left(dir, workspaces.last().unwrap());
        if found != self.left {
            return Err(format!("left otherwise than undisturbed:\n{}", difference(&self.left, &found)));
        }
        verify(dir, "last")?;
        // What `run` made before it got to the row: whole, but for the row, or to be swept.
        let unfinished = dir.unfinished();
        if workspaces.len() > 1 || !unfinished.is_empty() {
            for (number, path) in (0_u128..).zip(unfinished) {
                if path.parent() != Some(&dir.path().join("workspaces")) {
                    return Err(format!("{} is left", path.display()));
                }
                // As old as one has to be that nobody works on any more.
                let old = format!("{UNFINISHED}{:032x}", (0x7000_8000_u128 << 48) + number);
                fs::rename(&path, path.with_file_name(old)).unwrap();
            }
            let ran = dir.run(&["reindex"], "");
            if ran.code != Some(0) || !dir.unfinished().is_empty() {
                return Err(format!("{:?} is left, and {ran:?}", dir.unfinished()));
            }
            verify(dir, "--all")?;
        }
        match (dir.calls(), self.calls) {
            (Some(calls), Some(undisturbed)) if !(undisturbed..=undisturbed + kills).contains(&calls) => {
                Err(format!("{calls} model calls, {undisturbed} undisturbed"))
            }
            (Some(_) | None, _) => Ok(()),
        }
    }
}

/// A desk on which commands were run before, each with its exit code.
fn after(commands: &[(&[&str], i32)]) -> TestDir {
    let dir = TestDir::new();
    for (arguments, code) in commands {
        let ran = dir.run(arguments, "");
        assert_eq!(ran.code, Some(*code), "{ran:?}");
    }
    // So that copies find the workspace below their own folder: rows hold the whole path. The calls are counted anew.
    let copied = dir.copy();
    fs::remove_file(copied.list()).ok();
    copied
}

fn is_fed_back(dir: &TestDir) -> bool {
    let workspace = &dir.workspaces()[0];
    fs::read_to_string(workspace.join("instructions.md")).unwrap().contains("## Feedback 1")
}

fn verify(dir: &TestDir, job: &str) -> Result<(), String> {
    let ran = dir.run(&["audit", "verify", job], "");
    if ran.code == Some(0) { Ok(()) } else { Err(format!("{ran:?}")) }
}

/// The first lines that differ, cut to where they do.
fn difference(expected: &str, found: &str) -> String {
    let mut lines = (expected.lines(), found.lines());
    loop {
        let (expected, found) = (lines.0.next(), lines.1.next());
        if expected == found {
            continue;
        }
        let (expected, found) = (expected.unwrap_or("(nothing)"), found.unwrap_or("(nothing)"));
        let same = expected.chars().zip(found.chars()).take_while(|(left, right)| left == right).count();
        let cut = |line: &str| line.chars().skip(same.saturating_sub(150)).take(400).collect::<String>();
        return format!("- {}\n+ {}", cut(expected), cut(found));
    }
}
