//! What the system says a process used: processor time, waiting, memory. Linux only, from `/proc`.

use std::{
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

/// Processor time of this process, user and system, all threads.
pub(crate) fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap()
}

/// Wall and processor time of `body`.
pub(crate) fn timed<T>(body: impl FnOnce() -> T) -> (T, Duration, Duration) {
    let (began, used) = (Instant::now(), cpu());
    let value = body();
    (value, began.elapsed(), cpu().saturating_sub(used))
}

/// The middle one.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// What a program used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub(crate) status: ExitStatus,
    pub(crate) wall: Duration,
    /// In steps of 10 ms.
    pub(crate) cpu: Duration,
    /// Most memory that was resident at once, in KiB; looked at every millisecond.
    pub(crate) peak_kib: u64,
    /// The part of it that is its own at most, in KiB: how much of the program's file is mapped in beside it is the kernel's
    /// choice, and differs between kernels by more than the rest.
    pub(crate) own_kib: u64,
}

/// Runs a program to its end, its output thrown away.
pub(crate) fn run(command: &mut Command) -> Used {
    run_on(command, Stdio::null())
}

/// [`run`], with something on its standard input.
pub(crate) fn run_on(command: &mut Command, stdin: Stdio) -> Used {
    command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null());
    let (began, before) = (Instant::now(), of_children());
    let mut child = command.spawn().unwrap();
    let (mut peak_kib, mut own_kib) = (0, 0);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        let field = |name| field(&child, name);
        peak_kib = field("VmHWM:").unwrap_or(peak_kib);
        own_kib =
            own_kib.max(field("RssAnon:").zip(field("RssShmem:")).map_or(0, |(anonymous, shared)| anonymous + shared));
        std::thread::sleep(Duration::from_millis(1));
    };
    Used { status, wall: began.elapsed(), cpu: of_children().saturating_sub(before), peak_kib, own_kib }
}

/// Wall time of a program, without looking at it meanwhile.
pub(crate) fn wall(command: &mut Command) -> Duration {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let status = command.status().unwrap();
    let elapsed = began.elapsed();
    // Completed, partial or held: what was refused at once took no time.
    assert!(matches!(status.code(), Some(0 | 3 | 4)), "{command:?}: {status}");
    elapsed
}

/// What the kernel says of a running program, in KiB.
fn field(child: &Child, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// Processor time of the children that have ended.
fn of_children() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name in brackets may hold blanks; what follows it begins with the third field.
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[13].parse::<u64>().unwrap() + fields[14].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

/// How often each system call was made by a program that is run under `strace`; `None` without it.
pub(crate) fn calls(command: &Command, names: &str) -> Option<u64> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut traced = Command::new("strace");
    traced.args(["-f", "-c", "-e", &format!("trace={names}"), "-o"]).arg(file.path());
    traced.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        traced.current_dir(folder);
    }
    traced.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    traced.status().ok().filter(ExitStatus::success)?;
    let table = std::fs::read_to_string(file.path()).ok()?;
    let total = table.lines().find(|line| line.ends_with("total"))?;
    // The columns: share, seconds, microseconds a call, calls, errors (where there were some).
    total.split_whitespace().nth(3)?.parse().ok()
}

/// The most memory that this process held at once, in MiB.
pub(crate) fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}
