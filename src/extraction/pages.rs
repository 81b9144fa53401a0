//! One document's text, also over its reader's falls: what was told before stays, the page it fell on is a gap, and it is
//! started again behind that page.

use super::{
    limits::{DOCUMENT, MOST_FALLS, PAGE},
    message::{Question, Told},
    parent::{Heard, ask},
};
use crate::documents::{Collected, Extracted, Format, Pages, Refusal, Stopped, Unit};
use std::{io, path::Path, time::Duration};

/// The text of `bytes`, read by processes of `program`. Only the ending of `name` matters.
pub(super) fn read(program: &Path, name: &str, bytes: &[u8]) -> io::Result<Result<Extracted, Refusal>> {
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
        if hearing.unit.is_some() || hearing.collected.is_full() {
            return Ok(Ok(hearing.finish(None)));
        }
        let begun = hearing.collected.page();
        if let Some(refusal) = hearing.refusal.take() {
            if hearing.collected.is_blank() {
                return Ok(Err(refusal));
            }
            let why = refusal.fragment();
            hearing.collected.add_gap(&why);
            return Ok(Ok(hearing.finish(Some(&why))));
        }
        let is_page = hearing.is_paged() && begun > after;
        spent += hearing.used + if is_page { PAGE } else { Duration::ZERO };
        let is_over = spent >= DOCUMENT;
        let why = end.why(if is_page && !is_over { PAGE } else { DOCUMENT });
        if begun == 0 || (!hearing.is_paged() && hearing.collected.is_blank()) {
            return Ok(Err(Refusal::Ended { why }));
        }
        if !is_page || is_over {
            return Ok(Ok(hearing.finish(Some(&why))));
        }
        hearing.collected.add_gap(&why);
        hearing.falls = Some(why);
    }
    let why = hearing.falls.take().map(|why| format!("given up after {MOST_FALLS} pages on which {why}"));
    Ok(Ok(hearing.finish(why.as_deref())))
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
