//! The parent of a reader process: starts it, gives it the document, reads its messages, and names how it ended.

use super::{
    child::{OUT_OF_MEMORY, PANICKED, UNCONFINED},
    confinement::{Confinement, SandboxMode},
    limits::{self, SILENCE},
    message::{ReaderMessage, ReaderOrder, ReaderRequest},
};
use overnight_documents::Refusal;
use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::PathBuf,
    process::{ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::Duration,
};

/// Bytes of the longest line that is taken: a piece of text of 1 MiB, each byte escaped.
const MOST_LINE_BYTES: u64 = 8 << 20;
/// Lines, or pieces of content, that wait to be heard.
const MOST_WAITING: usize = 16;
/// The most bytes of its standard error that are examined.
const MOST_COMPLAINT_BYTES: u64 = 16 << 10;
const PIECE_BYTES: u64 = 256 << 10;

/// The program that reads, and its confinement.
#[derive(Clone, Debug)]
pub struct ReaderProgram {
    /// Our own program.
    pub path: PathBuf,
    pub sandbox: SandboxMode,
    /// Receives the missing parts of the confinement, each time that a reader starts without them.
    pub tell_unconfined: fn(&str),
}

impl ReaderProgram {
    fn tell(&self) {
        if self.sandbox == SandboxMode::Auto
            && let Some(missing) = Confinement::in_force().missing()
        {
            (self.tell_unconfined)(&missing);
        }
    }

    /// Why nothing may be read, as a sentence.
    pub(super) fn unconfined(&self) -> Option<String> {
        let missing = (self.sandbox == SandboxMode::Required).then(|| Confinement::in_force().missing()).flatten()?;
        Some(format!(
            "`documents.sandbox` is `required`, and readers and OCR programs can't be confined: {missing}; set `auto` to read as \
             well as this system can"
        ))
    }
}

/// How a reader process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReaderEnd {
    /// It finished its output.
    Done,
    /// A limit on processor time ended it.
    Time,
    /// The limit on memory did.
    Memory,
    /// Why, as a clause: "it is nested too deeply".
    Fell(String),
    /// Killed from outside by this signal: by a person, or by a system short of memory. The document is not to blame.
    Killed(i32),
    /// An exit code of another program.
    Code(u8),
}

impl ReaderEnd {
    /// The reason why the answer ends, as a clause; `limit` is the time limit.
    pub(super) fn why(self, limit: Duration) -> String {
        match self {
            Self::Time => format!("reading it took more than {} s of processor time", limit.as_secs()),
            Self::Memory => "its reader needed more than 1 GiB of memory".to_owned(),
            Self::Fell(why) => why,
            Self::Killed(signal) => format!("its reader was ended by signal {signal}"),
            Self::Done | Self::Code(_) => "its reader ended without a word".to_owned(),
        }
    }

    /// Why nothing of the document was read.
    pub(super) fn refusal(self, limit: Duration) -> Refusal {
        match self {
            Self::Killed(signal) => Refusal::Killed { signal },
            Self::Time | Self::Memory => Refusal::Overlong { why: self.why(limit) },
            Self::Done | Self::Fell(_) | Self::Code(_) => Refusal::Ended { why: self.why(limit) },
        }
    }
}

/// A piece of a reader's output.
pub(super) enum ReaderOutput {
    Line(ReaderMessage),
    /// Bytes as they come: announced content, or all output of another program.
    Bytes(Vec<u8>),
}

/// The output of another program for `input`, and how it ended. It is stopped after more than `most` bytes.
pub(super) fn heard_from(
    program: &ReaderProgram,
    request: &ReaderRequest,
    input: &[u8],
    most: usize,
) -> std::io::Result<(ReaderEnd, Vec<u8>)> {
    let mut said = Vec::new();
    let end = ask(program, request, input, &mut |heard| match heard {
        ReaderOutput::Bytes(piece) => {
            said.extend_from_slice(&piece);
            said.len() <= most
        }
        ReaderOutput::Line(_) => false,
    })?;
    Ok((end, said))
}

/// Asks `request` about the document `bytes`. `hear` gets the answer piece by piece, and ends it by saying false.
pub(super) fn ask(
    program: &ReaderProgram,
    request: &ReaderRequest,
    bytes: &[u8],
    hear: &mut dyn FnMut(ReaderOutput) -> bool,
) -> std::io::Result<ReaderEnd> {
    program.tell();
    let order = ReaderOrder { sandbox: program.sandbox, request }.head()?;
    let mut child = limits::command(&program.path)
        .arg(super::COMMAND)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A Ctrl-C is meant for the parent only.
        .process_group(0)
        .spawn()?;
    let is_told = !matches!(request, ReaderRequest::Run { .. });
    let (sender, receiver) = sync_channel(MOST_WAITING);
    let (input, output, complaint) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        scope.spawn(move || {
            // A reader that needs no more input closes its end.
            let _ = input.map(|mut input| input.write_all(&order).and_then(|()| input.write_all(bytes)));
        });
        scope.spawn(move || output.map(|output| listen(BufReader::new(output), is_told, &sender)));
        let complaint = scope.spawn(move || complaint.map(last_words).unwrap_or_default());
        let heard = take_all(&receiver, hear);
        drop(receiver);
        if heard != OutputEnd::All {
            // It may have ended by itself in this moment.
            let _ = child.kill();
        }
        let status = child.wait()?;
        let complaint = complaint.join().unwrap_or_default();
        Ok(match heard {
            OutputEnd::Enough => ReaderEnd::Done,
            OutputEnd::Silence => {
                ReaderEnd::Fell(format!("its reader said nothing for {} minutes", SILENCE.as_secs() / 60))
            }
            OutputEnd::All => end(status, &complaint),
        })
    })
}

#[derive(PartialEq, Eq)]
enum OutputEnd {
    All,
    Enough,
    Silence,
}

fn take_all(receiver: &Receiver<ReaderOutput>, hear: &mut dyn FnMut(ReaderOutput) -> bool) -> OutputEnd {
    loop {
        match receiver.recv_timeout(SILENCE) {
            Ok(heard) => {
                if !hear(heard) {
                    return OutputEnd::Enough;
                }
            }
            Err(RecvTimeoutError::Disconnected) => return OutputEnd::All,
            Err(RecvTimeoutError::Timeout) => return OutputEnd::Silence,
        }
    }
}

/// Passes on the output until it ends, can't be parsed, or has no receiver any more.
fn listen(mut output: impl BufRead, is_told: bool, sender: &SyncSender<ReaderOutput>) {
    if !is_told {
        pass_on(&mut output, u64::MAX, sender);
        return;
    }
    let mut line = Vec::new();
    loop {
        line.clear();
        match output.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        let Ok(message) = serde_json::from_slice::<ReaderMessage>(&line) else { return };
        let follow = if let ReaderMessage::Content { bytes } = &message { *bytes } else { 0 };
        if sender.send(ReaderOutput::Line(message)).is_err() || !pass_on(&mut output, follow, sender) {
            return;
        }
    }
}

/// Passes on this many bytes, or all if there are fewer; false if there is no receiver any more.
fn pass_on(output: &mut impl Read, bytes: u64, sender: &SyncSender<ReaderOutput>) -> bool {
    let mut left = bytes;
    while left > 0 {
        let mut piece = Vec::new();
        match output.by_ref().take(left.min(PIECE_BYTES)).read_to_end(&mut piece) {
            Ok(1..) => {}
            Ok(0) | Err(_) => return true,
        }
        left -= piece.len() as u64;
        if sender.send(ReaderOutput::Bytes(piece)).is_err() {
            return false;
        }
    }
    true
}

/// The beginning of standard error; the rest is read and dropped, so that the child isn't blocked.
fn last_words(mut from: impl Read) -> String {
    let mut words = Vec::new();
    let _ = from.by_ref().take(MOST_COMPLAINT_BYTES).read_to_end(&mut words);
    let _ = std::io::copy(&mut from, &mut std::io::sink());
    String::from_utf8_lossy(&words).into_owned()
}

fn end(status: ExitStatus, complaint: &str) -> ReaderEnd {
    /// Processor time is over. The number is the same on every Unix that we know.
    const SIGXCPU: i32 = 24;
    /// SIGHUP, SIGINT, SIGKILL, SIGTERM.
    const FROM_OUTSIDE: [i32; 4] = [1, 2, 9, 15];
    let fell = |why: &str| ReaderEnd::Fell(why.to_owned());
    match (status.code(), status.signal()) {
        (Some(0), _) => ReaderEnd::Done,
        (_, Some(SIGXCPU)) => ReaderEnd::Time,
        _ if complaint.contains("memory allocation of") || complaint.contains("capacity overflow") => ReaderEnd::Memory,
        _ if complaint.contains("overflowed its stack") => fell("it is nested too deeply"),
        (Some(code), _) if code == i32::from(OUT_OF_MEMORY) => ReaderEnd::Memory,
        (Some(code), _) if code == i32::from(PANICKED) => fell("its reader met something in it that it can't handle"),
        (Some(code), _) if code == i32::from(UNCONFINED) => {
            fell("its reader can't be confined, as `documents.sandbox` asks")
        }
        (Some(code), _) => u8::try_from(code).map_or_else(|_| fell("its reader failed"), ReaderEnd::Code),
        (None, Some(signal)) if FROM_OUTSIDE.contains(&signal) => ReaderEnd::Killed(signal),
        (None, Some(signal)) => ReaderEnd::Fell(format!("its reader was ended by signal {signal}")),
        (None, None) => fell("its reader was ended"),
    }
}
