//! One document's text, also over its reader's falls: what was told before stays, the page it fell on is a gap, and it is
//! started again behind that page.

use super::{
    limits::{DOCUMENT, MOST_FALLS, MOST_KILLS, PAGE},
    message::{Question, Told},
    parent::{End, Heard, ask},
};
use overnight_documents::{Collected, Extracted, Format, Pages, Refusal, Stopped, Unit};
use std::{io, path::Path, time::Duration};

/// The text of `bytes`, read by processes of `program`, and what is left of a document's time. Only the ending of `name`
/// matters. A reader that is ended from outside begins anew.
pub(super) fn read(program: &Path, name: &str, bytes: &[u8]) -> io::Result<(Result<Extracted, Refusal>, Duration)> {
    let mut kills = 0;
    loop {
        match attempt(program, name, bytes)? {
            Attempt::Killed(signal) if kills == MOST_KILLS => {
                return Ok((Err(Refusal::Killed { signal }), Duration::ZERO));
            }
            Attempt::Killed(_) => kills += 1,
            Attempt::Ended(read, left) => return Ok((read, left)),
        }
    }
}

enum Attempt {
    /// With the time that is left.
    Ended(Result<Extracted, Refusal>, Duration),
    /// By this signal.
    Killed(i32),
}

fn attempt(program: &Path, name: &str, bytes: &[u8]) -> io::Result<Attempt> {
    let mut hearing = Hearing::default();
    let mut spent = Duration::ZERO;
    for _ in 0..MOST_FALLS {
        let after = hearing.collected.page();
        let left = DOCUMENT.saturating_sub(spent);
        let left_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        hearing.used = Duration::ZERO;
        let end =
            ask(program, &Question::Read { name: name.to_owned(), after, left_ms }, bytes, &mut |heard| match heard {
                Heard::Line(told) => hearing.hear(told).is_ok(),
                Heard::Bytes(_) => false,
            })?;
        if let End::Killed(signal) = end {
            return Ok(Attempt::Killed(signal));
        }
        if hearing.unit.is_some() || hearing.collected.is_full() {
            let left = left.saturating_sub(hearing.used);
            return Ok(Attempt::Ended(Ok(hearing.finish(None)), left));
        }
        let begun = hearing.collected.page();
        if let Some(refusal) = hearing.refusal.take() {
            let left = left.saturating_sub(hearing.used);
            if hearing.collected.is_blank() {
                return Ok(Attempt::Ended(Err(refusal), left));
            }
            let why = refusal.fragment();
            hearing.collected.add_gap(&why);
            return Ok(Attempt::Ended(Ok(hearing.finish(Some(&why))), left));
        }
        let is_page = hearing.is_paged() && begun > after;
        spent += hearing.used + if is_page { PAGE } else { Duration::ZERO };
        let is_over = spent >= DOCUMENT;
        let left = if end == End::Time && !is_page { Duration::ZERO } else { DOCUMENT.saturating_sub(spent) };
        let limit = if is_page && !is_over { PAGE } else { DOCUMENT };
        if begun == 0 || (!hearing.is_paged() && hearing.collected.is_blank()) {
            return Ok(Attempt::Ended(Err(end.refusal(limit)), left));
        }
        let why = end.why(limit);
        if !is_page || is_over {
            return Ok(Attempt::Ended(Ok(hearing.finish(Some(&why))), left));
        }
        hearing.collected.add_gap(&why);
        hearing.falls = Some(why);
    }
    let why = hearing.falls.take().map(|why| format!("given up after {MOST_FALLS} pages on which {why}"));
    Ok(Attempt::Ended(Ok(hearing.finish(why.as_deref())), DOCUMENT.saturating_sub(spent)))
}

#[derive(Default)]
struct Hearing {
    collected: Collected,
    format: Option<(Format, String)>,
    unit: Option<Unit>,
    refusal: Option<Refusal>,
    /// Processor time that the reader had used when it began its last page.
    used: Duration,
    falls: Option<String>,
}

impl Hearing {
    fn hear(&mut self, told: Told) -> Result<(), Stopped> {
        match told {
            Told::Format { format, reader } => self.format = Some((format, reader)),
            Told::Expect { pages } => self.collected.expect(pages)?,
            Told::Begin { page, used_ms } => {
                self.used = Duration::from_millis(used_ms);
                self.collected.begin(page)?;
            }
            Told::Text { text } => self.collected.text(&text)?,
            Told::Gap { why } => self.collected.gap(&why)?,
            Told::Note { note } => self.collected.note(note)?,
            Told::Done { unit } => self.unit = Some(unit),
            Told::Refused { refusal } => self.refusal = Some(refusal),
            Told::Members { .. } | Told::Content { .. } => return Err(Stopped),
        }
        Ok(())
    }

    fn is_paged(&self) -> bool {
        self.collected.expected() > 1
    }

    /// `why`: what became of the pages that were never begun.
    fn finish(self, why: Option<&str>) -> Extracted {
        let several = self.is_paged() || self.collected.page() > 1;
        let unit = self.unit.unwrap_or(if several { Unit::Page } else { Unit::Line });
        let (format, reader) = self.format.unwrap_or((Format::Text, String::new()));
        self.collected.finish(format, reader, unit, why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn a_reader_that_is_ended_from_outside_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let script = |body: &str| {
            let path = folder.path().join("reader");
            fs::write(&path, format!("#!/bin/sh\ncd {}\n{body}", folder.path().display())).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let said = [
            r#"{"told":"format","format":"text","reader":"plain"}"#,
            r#"{"told":"begin","page":1,"used_ms":0}"#,
            r#"{"told":"text","text":"One."}"#,
        ]
        .join("\n");
        let done = r#"{"told":"done","unit":"line"}"#;
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
