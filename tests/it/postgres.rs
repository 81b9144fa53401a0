//! A PostgreSQL server of one's own, with every commit on the disk (`fsync` on), gone when dropped. Found and started as
//! `test.sh` does it: PostgreSQL's programs refuse root, so root uses the account that the package brings.
//!
//! Benchmarks include this file by its path: nothing here uses the tests around it.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]
#![allow(dead_code, reason = "tests use some of it, measurements some other")]

use std::{
    net::TcpListener,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};
use tempfile::TempDir;

pub(crate) struct Server {
    bin: PathBuf,
    folder: TempDir,
    port: u16,
}

impl Server {
    /// With settings of one's own (`-c name=value …`). `None`: PostgreSQL's programs are missing.
    pub(crate) fn start(settings: &str) -> Option<Self> {
        let bin = programs()?;
        // Not under TMPDIR: a socket's path may have about 100 bytes, and the account must reach it. `test.sh` stops what
        // is still running in its folder at its end.
        let parent = std::env::var_os("OVERNIGHT_TEST_POSTGRES_FOLDER").unwrap_or_else(|| "/tmp".into());
        let folder = tempfile::Builder::new().prefix("overnight-postgres.").tempdir_in(parent).unwrap();
        if is_root() {
            assert!(Command::new("chown").arg("postgres").arg(folder.path()).status().unwrap().success());
        }
        let port = port();
        let server = Self { bin, folder, port };
        let data = server.data();
        let mut initdb = server.program("initdb");
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--pgdata"]);
        run(initdb.arg(&data).stderr(Stdio::null()));
        let sockets = server.folder.path().display();
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={sockets} -c max_connections=200 \
             {settings}"
        );
        run(server.control("start").args(["--wait", "--options", &options]));
        Some(server)
    }

    /// As after a power cut: every connection is gone, and the server goes on from its log. Returns when it answers again.
    pub(crate) fn restart(&self) {
        run(self.control("restart").args(["--wait", "--mode=immediate"]));
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}", self.port)
    }

    /// Processor time of the whole server so far, in steps of 10 ms.
    pub(crate) fn cpu(&self) -> Duration {
        let pid = std::fs::read_to_string(self.data().join("postmaster.pid")).unwrap();
        let postmaster: u32 = pid.lines().next().unwrap().trim().parse().unwrap();
        let processes = std::fs::read_dir("/proc").unwrap();
        let ticks: u64 = processes
            .filter_map(|process| process.ok()?.file_name().to_str()?.parse::<u32>().ok())
            .filter_map(|process| {
                let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
                let fields: Vec<u64> =
                    stat.rsplit_once(')')?.1.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
                let own = fields[11] + fields[12];
                if process == postmaster {
                    // With those of its children that have ended.
                    Some(own + fields[13] + fields[14])
                } else {
                    (fields[1] == u64::from(postmaster)).then_some(own)
                }
            })
            .sum();
        Duration::from_millis(ticks * 10)
    }

    fn control(&self, word: &str) -> Command {
        let mut control = self.program("pg_ctl");
        control.args([word, "--silent", "--log"]).arg(self.data().join("server.log")).arg("--pgdata").arg(self.data());
        control
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn program(&self, name: &str) -> Command {
        let path = self.bin.join(name);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.control("stop").arg("--mode=immediate").status();
    }
}

fn run(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

/// A free one, and none that the system gives to who calls: it must be free again at a restart.
fn port() -> u16 {
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    std::iter::repeat_with(|| fastrand::u16(20_000..32_000)).take(1000).find(is_free).unwrap()
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Those that `test.sh` found, or the newest that is installed.
fn programs() -> Option<PathBuf> {
    let mut places: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.filter_map(|version| Some(version.ok()?.path().join("bin"))).collect())
        .unwrap_or_default();
    places.sort();
    places.extend(std::env::var_os("OVERNIGHT_TEST_POSTGRES_PROGRAMS").map(PathBuf::from));
    places.reverse();
    let path = std::env::var_os("PATH").unwrap_or_default();
    places.extend(std::env::split_paths(&path));
    places.into_iter().find(|place| ["initdb", "postgres", "pg_ctl"].iter().all(|name| is_file(&place.join(name))))
}

fn is_file(path: &Path) -> bool {
    path.is_file()
}
