//! Reads one document's text even if its reader crashes: earlier pages are kept, the page on which it crashed is a gap,
//! and the reader is restarted after that page.

use super::{
    limits::{DOCUMENT, MOST_CRASHES, MOST_KILLS, PAGE},
    message::{ReaderMessage, ReaderRequest},
    parent::{ReaderEnd, ReaderOutput, ReaderProgram, ask},
};
use overnight_documents::{CollectedPages, Extracted, Format, PageSink, Refusal, Stopped, Unit};
use std::{io, time::Duration};

/// The text of `bytes`, read by processes of `program`, and the rest of the document's time. Only the ending of `name`
/// matters. A reader that is killed from outside begins anew.
pub(super) fn read(
    program: &ReaderProgram,
    name: &str,
    bytes: &[u8],
) -> io::Result<(Result<Extracted, Refusal>, Duration)> {
    let mut kills = 0;
    loop {
        match attempt(program, name, bytes)? {
            ReadOutcome::Killed(signal) if kills == MOST_KILLS => {
                return Ok((Err(Refusal::Killed { signal }), Duration::ZERO));
            }
            ReadOutcome::Killed(_) => kills += 1,
            ReadOutcome::Ended(read, left) => return Ok((read, left)),
        }
    }
}

enum ReadOutcome {
    /// With the time that is left.
    Ended(Result<Extracted, Refusal>, Duration),
    /// By this signal.
    Killed(i32),
}

fn attempt(program: &ReaderProgram, name: &str, bytes: &[u8]) -> io::Result<ReadOutcome> {
    let mut partial = PartialText::default();
    let mut spent = Duration::ZERO;
    for _ in 0..MOST_CRASHES {
        let after = partial.collected.page();
        let left = DOCUMENT.saturating_sub(spent);
        let left_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        partial.used = Duration::ZERO;
        let end =
            ask(
                program,
                &ReaderRequest::Read { name: name.to_owned(), after, left_ms },
                bytes,
                &mut |heard| match heard {
                    ReaderOutput::Line(message) => partial.hear(message).is_ok(),
                    ReaderOutput::Bytes(_) => false,
                },
            )?;
        if let ReaderEnd::Killed(signal) = end {
            return Ok(ReadOutcome::Killed(signal));
        }
        if partial.unit.is_some() || partial.collected.is_full() {
            let left = left.saturating_sub(partial.used);
            return Ok(ReadOutcome::Ended(Ok(partial.finish(None)), left));
        }
        let begun = partial.collected.page();
        if let Some(refusal) = partial.refusal.take() {
            let left = left.saturating_sub(partial.used);
            if partial.collected.is_blank() {
                return Ok(ReadOutcome::Ended(Err(refusal), left));
            }
            let why = refusal.fragment();
            partial.collected.add_gap(&why);
            return Ok(ReadOutcome::Ended(Ok(partial.finish(Some(&why))), left));
        }
        let is_page = partial.is_paged() && begun > after;
        spent += partial.used + if is_page { PAGE } else { Duration::ZERO };
        let is_over = spent >= DOCUMENT;
        let left = if end == ReaderEnd::Time && !is_page { Duration::ZERO } else { DOCUMENT.saturating_sub(spent) };
        let limit = if is_page && !is_over { PAGE } else { DOCUMENT };
        if begun == 0 || (!partial.is_paged() && partial.collected.is_blank()) {
            return Ok(ReadOutcome::Ended(Err(end.refusal(limit)), left));
        }
        let why = end.why(limit);
        if !is_page || is_over {
            return Ok(ReadOutcome::Ended(Ok(partial.finish(Some(&why))), left));
        }
        partial.collected.add_gap(&why);
        partial.crashes = Some(why);
    }
    let why = partial.crashes.take().map(|why| format!("given up after {MOST_CRASHES} pages on which {why}"));
    Ok(ReadOutcome::Ended(Ok(partial.finish(why.as_deref())), DOCUMENT.saturating_sub(spent)))
}

#[derive(Default)]
struct PartialText {
    collected: CollectedPages,
    format: Option<(Format, String)>,
    unit: Option<Unit>,
    refusal: Option<Refusal>,
    /// Processor time that the reader had used when it began its last page.
    used: Duration,
    crashes: Option<String>,
}

impl PartialText {
    fn hear(&mut self, message: ReaderMessage) -> Result<(), Stopped> {
        match message {
            ReaderMessage::Format { format, reader } => self.format = Some((format, reader)),
            ReaderMessage::Expect { pages } => self.collected.expect(pages)?,
            ReaderMessage::Begin { page, used_ms } => {
                self.used = Duration::from_millis(used_ms);
                self.collected.begin(page)?;
            }
            ReaderMessage::Text { text } => self.collected.text(&text)?,
            ReaderMessage::Gap { why } => self.collected.gap(&why)?,
            ReaderMessage::Recognised => self.collected.recognised()?,
            ReaderMessage::Note { note } => self.collected.note(note)?,
            ReaderMessage::Done { unit } => self.unit = Some(unit),
            ReaderMessage::Refused { refusal } => self.refusal = Some(refusal),
            ReaderMessage::Members { .. }
            | ReaderMessage::Picture { .. }
            | ReaderMessage::Boxes { .. }
            | ReaderMessage::Answer { .. }
            | ReaderMessage::Content { .. } => {
                return Err(Stopped);
            }
        }
        Ok(())
    }

    fn is_paged(&self) -> bool {
        self.collected.expected() > 1
    }

    /// `why`: the reason why the remaining pages were never begun.
    fn finish(self, why: Option<&str>) -> Extracted {
        let several = self.is_paged() || self.collected.page() > 1;
        let unit = self.unit.unwrap_or(if several { Unit::Page } else { Unit::Line });
        let (format, reader) = self.format.unwrap_or((Format::Text, String::new()));
        self.collected.finish(format, reader, unit, why)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::confinement::SandboxMode, *};
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn a_reader_that_is_ended_from_outside_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let script = |body: &str| {
            let path = folder.path().join("reader");
            fs::write(&path, format!("#!/bin/sh\ncd {}\n{body}", folder.path().display())).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            ReaderProgram { path, sandbox: SandboxMode::Off, tell_unconfined: |_| {} }
        };
        let said = [
            r#"{"format":{"format":"text","reader":"plain"}}"#,
            r#"{"begin":{"page":1,"used_ms":0}}"#,
            r#"{"text":{"text":"One."}}"#,
        ]
        .join("\n");
        let done = r#"{"done":{"unit":"line"}}"#;
        let say = format!("printf '%s\\n' '{said}'");
        let once = script(&format!("{say}\n[ -e again ] || {{ touch again; kill -9 $$; }}\necho '{done}'"));
        let (read, left) = read(&once, "a.txt", b"").unwrap();
        assert_eq!((read.map(|one| (one.text, one.gaps)), left), (Ok(("One.".to_owned(), Vec::new())), DOCUMENT));

        let always = script(&format!("{say}\necho x >> tries\nkill -15 $$"));
        let (read, _) = super::read(&always, "a.txt", b"").unwrap();
        assert_eq!(read, Err(Refusal::Killed { signal: 15 }));
        assert_eq!(fs::read_to_string(folder.path().join("tries")).unwrap(), "x\n".repeat(MOST_KILLS + 1));
    }
}
