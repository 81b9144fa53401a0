//! The reader process: one request and one document on standard input, messages on standard output, under limits and confined.

use super::{
    confinement::{SandboxMode, confine},
    limits,
    message::{ReaderMessage, ReaderOrder, ReaderRequest},
};
use crate::{failpoint, table_query};
use overnight_documents::{PageSink, Refusal, Stopped};
use std::{
    fs::File,
    io::{self, BufWriter, Read, StdoutLock, Write},
    os::{fd::AsFd, unix::process::CommandExt},
    process::ExitCode,
    thread,
    time::Duration,
};

/// Answers one request. The parent process names what goes wrong here: this process just ends.
pub fn answer() -> ExitCode {
    limits::end_with_parent();
    // Not by way of Rust's own standard input, which reads ahead.
    let Ok(mut input) = io::stdin().as_fd().try_clone_to_owned().map(File::from) else { return ExitCode::from(2) };
    let Ok(ReaderOrder { sandbox, request }) = ReaderOrder::read(&mut input) else { return ExitCode::from(2) };
    let left = match &request {
        ReaderRequest::Read { left_ms, .. } | ReaderRequest::Run { left_ms, .. } => Duration::from_millis(*left_ms),
        ReaderRequest::Members { .. }
        | ReaderRequest::Take { .. }
        | ReaderRequest::Picture { .. }
        | ReaderRequest::Boxes { .. }
        | ReaderRequest::Query { .. } => limits::DOCUMENT,
    };
    limits::hold_memory();
    limits::hold_time(left);
    let program = if let ReaderRequest::Run { program, .. } = &request { Some(program) } else { None };
    if sandbox != SandboxMode::Off {
        let readable = program.map(|program| limits::readable_by(program)).unwrap_or_default();
        if confine(&readable).missing().is_some() && sandbox == SandboxMode::Required {
            return ExitCode::from(UNCONFINED);
        }
    }
    if let ReaderRequest::Run { program, arguments, is_merged, .. } = &request {
        let mut command = limits::command(program);
        if *is_merged {
            command.stderr(io::stdout());
        }
        // Returns only if there is no such program.
        let _ = command.args(arguments).exec();
        return ExitCode::from(NO_PROGRAM);
    }
    let reader = thread::Builder::new().stack_size(limits::STACK_BYTES).spawn(move || {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes)?;
        tell(&request, &bytes, left)
    });
    match reader.map(thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(Ok(Err(error))) if error.kind() == io::ErrorKind::OutOfMemory => ExitCode::from(OUT_OF_MEMORY),
        Ok(Ok(Err(_))) | Err(_) => ExitCode::FAILURE,
        Ok(Err(_)) => ExitCode::from(PANICKED),
    }
}

/// Exit code of a reader that panicked.
pub(super) const PANICKED: u8 = 101;
/// Exit code of a reader that ran out of memory.
pub(super) const OUT_OF_MEMORY: u8 = 102;
/// Exit code of a reader that can't be confined as it must be.
pub(super) const UNCONFINED: u8 = 103;
/// Exit code if another program doesn't exist.
pub(super) const NO_PROGRAM: u8 = 127;

fn tell(request: &ReaderRequest, bytes: &[u8], left: Duration) -> io::Result<()> {
    let out = BufWriter::new(io::stdout().lock());
    let mut writer = MessageWriter { out, after: 0, is_paged: false, begun: limits::used(), left };
    match request {
        ReaderRequest::Read { name, after, .. } => {
            writer.after = *after;
            let last = match read(name, bytes, &mut writer) {
                Ok(Some(unit)) => ReaderMessage::Done { unit },
                // The other side wanted no more.
                Ok(None) => return Ok(()),
                Err(refusal) => ReaderMessage::Refused { refusal },
            };
            writer.say(&last)?;
        }
        ReaderRequest::Members { name } => {
            let message = overnight_documents::members(name, bytes);
            writer.say(&message.map_or_else(
                |refusal| ReaderMessage::Refused { refusal },
                |members| ReaderMessage::Members { members },
            ))?;
        }
        ReaderRequest::Take { name, paths } => {
            let paths: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
            let mut said = Ok(());
            overnight_documents::take_all(name, bytes, &paths, &mut |taken| {
                limits::hold_time(limits::DOCUMENT);
                if said.is_ok() {
                    said = writer.give(taken);
                }
            });
            said?;
        }
        ReaderRequest::Picture { place, quotes, options } => {
            match overnight_documents::picture_of(bytes, place, quotes, *options) {
                Ok((picture, png)) => {
                    writer.say(&ReaderMessage::Picture { picture })?;
                    writer.give(Ok(png))?;
                }
                Err(refusal) => writer.give(Err(refusal))?,
            }
        }
        ReaderRequest::Boxes { quotes } => {
            let boxes = overnight_documents::quote_boxes(bytes, quotes).unwrap_or_default();
            writer.say(&ReaderMessage::Boxes { boxes })?;
        }
        ReaderRequest::Query { query } => {
            writer.say(&ReaderMessage::Answer { answer: table_query::answer(query, bytes) })?;
        }
        ReaderRequest::Run { .. } => {}
    }
    writer.out.flush()
}

fn read(
    name: &str,
    bytes: &[u8],
    writer: &mut MessageWriter<'_>,
) -> Result<Option<overnight_documents::Unit>, Refusal> {
    let format = overnight_documents::detect(name, bytes)?;
    let reader = format.reader_version().to_owned();
    if writer.say(&ReaderMessage::Format { format, reader }).is_err() {
        return Ok(None);
    }
    overnight_documents::read(format, name, bytes, writer)
}

struct MessageWriter<'o> {
    out: BufWriter<StdoutLock<'o>>,
    after: u64,
    is_paged: bool,
    /// Processor time used before the document.
    begun: Duration,
    left: Duration,
}

impl MessageWriter<'_> {
    fn say(&mut self, message: &ReaderMessage) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, message)?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }

    /// Outputs a member taken out of an archive.
    fn give(&mut self, taken: Result<Vec<u8>, Refusal>) -> io::Result<()> {
        match taken {
            Ok(content) => {
                self.say(&ReaderMessage::Content { bytes: content.len() as u64 })?;
                self.out.write_all(&content)?;
                self.out.flush()
            }
            Err(refusal) => self.say(&ReaderMessage::Refused { refusal }),
        }
    }

    fn tell(&mut self, message: &ReaderMessage) -> Result<(), Stopped> {
        self.say(message).map_err(|_| Stopped)
    }
}

impl PageSink for MessageWriter<'_> {
    fn expect(&mut self, pages: u64) -> Result<(), Stopped> {
        self.is_paged = pages > 1;
        self.tell(&ReaderMessage::Expect { pages })
    }

    fn begin(&mut self, page: u64) -> Result<bool, Stopped> {
        if page <= self.after {
            return Ok(false);
        }
        let used = limits::used().saturating_sub(self.begun);
        let used_ms = u64::try_from(used.as_millis()).unwrap_or(u64::MAX);
        self.tell(&ReaderMessage::Begin { page, used_ms })?;
        if self.is_paged {
            limits::hold_time(limits::PAGE.min(self.left.saturating_sub(used)));
        }
        failpoint::misbehave("extraction.page");
        Ok(true)
    }

    fn text(&mut self, text: &str) -> Result<(), Stopped> {
        self.tell(&ReaderMessage::Text { text: text.to_owned() })
    }

    fn gap(&mut self, why: &str) -> Result<(), Stopped> {
        self.tell(&ReaderMessage::Gap { why: why.to_owned() })
    }

    fn recognised(&mut self) -> Result<(), Stopped> {
        self.tell(&ReaderMessage::Recognised)
    }

    fn note(&mut self, note: String) -> Result<(), Stopped> {
        self.tell(&ReaderMessage::Note { note })
    }
}
