//! One RTF document, from bytes to text.

use super::story::{RtfOmissions, RtfStory};
use super::tokens::RtfTokens;
use crate::readers::{PageSink, ReadFailure, Reader, Source, Stopped, note_counts};
use crate::units::Unit;

/// Reads RTF.
pub(crate) struct RtfReader;

impl Reader for RtfReader {
    fn version(&self) -> &'static str {
        "rtf+4"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let mut story = RtfStory::new();
        for token in RtfTokens::new(source.bytes) {
            story.take(token);
        }
        let (mut flow, is_whole, omitted) = story.finish();
        if !is_whole {
            flow.gap("its end is missing: the file is cut off, or its groups are damaged");
        }
        let unit = flow.tell(pages)?;
        tell(&omitted, pages)?;
        Ok(unit)
    }
}

/// Reports the omissions that a person should know.
fn tell(omitted: &RtfOmissions, pages: &mut dyn PageSink) -> Result<(), Stopped> {
    let counts = [
        (omitted.images, "1 image was left out", "images were left out"),
        (omitted.comments, "1 comment was left out", "comments were left out"),
        (omitted.signs, "1 sign of a symbol font stands as •", "signs of symbol fonts stand as •"),
    ];
    note_counts(pages, &counts)?;
    if omitted.deletions > 0 {
        pages.note("it has tracked changes: insertions were read, deletions left out".to_owned())?;
    }
    if omitted.hidden > 0 {
        pages.note("hidden text was left out".to_owned())?;
    }
    if omitted.behind.is_some_and(|behind| behind > 0) {
        pages.note("something lies behind the document's end in the file, and was left out".to_owned())?;
    }
    if omitted.has_around {
        pages.note("headers and footers were left out".to_owned())?;
    }
    Ok(())
}
