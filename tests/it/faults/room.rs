//! A small disk of its own: a tmpfs in a mount namespace, so that nothing of it is seen outside and all of it is gone with the
//! shell that holds it. It works for root, and for anybody where the kernel gives out user namespaces.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by it; what can't be tested here is said")]

use super::test_dir::{PROGRAM, Ran, TestDir};
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// A desk whose folder `disk` is a file system of its own, for the commands that are run here.
pub(super) struct Room {
    pub(super) dir: TestDir,
    shell: Shell,
    url: String,
    /// What the program is run with.
    before: String,
}

struct Shell {
    child: Child,
    words: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Shell {
    fn new(dir: &TestDir, flags: &[&str]) -> Self {
        let mut child = Command::new("unshare")
            .args(flags)
            .arg("sh")
            .current_dir(dir.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (words, answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, words, answers }
    }

    /// The exit code; `None` where the shell is gone.
    fn run(&mut self, line: &str) -> Option<i32> {
        writeln!(self.words, "({line}) >out 2>err </dev/null; echo $?").ok()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).ok()?;
        answer.trim().parse().ok()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // It ends with its input anyway.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Room {
    /// A disk of 16 MiB, with the workspaces on it, and the database there as well or beside it. `None`, and a word on
    /// stderr, where this machine lets nobody mount anything: a test must say what it does then.
    pub(super) fn new(database_too: bool) -> Option<Self> {
        let dir = TestDir::new();
        std::fs::create_dir(dir.path("disk")).unwrap();
        let place = if database_too { "disk/database" } else { "database" };
        let url = format!("sqlite://{}/{place}/overnight.db", dir.folder.path().display());
        for flags in [&["--mount"][..], &["--mount", "--map-root-user"]] {
            let mut shell = Shell::new(&dir, flags);
            if shell.run(&format!("mount -t tmpfs -o size=16m overnight disk && mkdir {place}")) == Some(0) {
                return Some(Self { dir, shell, url, before: "env -i".to_owned() });
            }
        }
        eprintln!(
            "NOT TESTED: nothing can be mounted here, neither by this account nor in a user namespace of its own"
        );
        None
    }

    /// The same with another database.
    pub(super) fn with_database(self, url: String) -> Self {
        Self { url, ..self }
    }

    /// A line of shell in the desk's folder.
    pub(super) fn sh(&mut self, line: &str) -> Ran {
        let code = self.shell.run(line).unwrap();
        Ran { code, stdout: self.dir.read("out"), stderr: self.dir.read("err") }
    }

    /// A line that must succeed; what it prints.
    pub(super) fn must(&mut self, line: &str) -> String {
        let ran = self.sh(line);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        ran.stdout
    }

    /// The program, with its workspaces on the disk.
    pub(super) fn run(&mut self, arguments: &[&str]) -> Ran {
        let line = self.line(arguments);
        self.sh(&line)
    }

    /// As [`Self::run`], beside what follows. What it says is in the file `talk`, its number in `number`, and when it has
    /// ended, its code in `code`, all in the desk's folder.
    pub(super) fn start(&mut self, arguments: &[&str]) {
        let line = self.line(arguments);
        self.must(&format!("({line} >shown 2>talk & echo $! >number; wait $!; echo $? >code) &"));
    }

    fn line(&self, arguments: &[&str]) -> String {
        let words = [&["--workspaces", "disk/workspaces"], arguments].concat();
        let words: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        format!("{} DATABASE_URL='{}' '{PROGRAM}' {}", self.before, self.url, words.join(" "))
    }

    /// Has the program run under another account.
    pub(super) fn account(&mut self, number: u32) {
        self.before = format!("setpriv --reuid={number} --regid={number} --clear-groups env -i");
    }

    /// Leaves so much room on the disk.
    pub(super) fn leave_kib(&mut self, kib: u64) {
        self.must(&format!(
            "rm -f disk/filler; cat /dev/zero >disk/filler; truncate -s $(($(stat -c %s disk/filler) - {kib} * 1024)) disk/filler"
        ));
    }

    pub(super) fn make_room(&mut self) {
        self.must("rm -f disk/filler");
    }
}
