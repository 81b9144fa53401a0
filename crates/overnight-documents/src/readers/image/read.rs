//! The reader of pictures: it reports their pages, without text.

use super::pages::{self, PictureFile};
use crate::readers::reader::{PageSink, ReadFailure, Reader, Source};
use crate::units::Unit;

/// The reason why a page of a picture is a gap.
pub(crate) const PICTURE: &str = "a picture, whose characters nobody has recognised";

/// The maximum number of pages that are read: the others are a gap of their own.
const MOST_PAGES: u64 = 1_000;
const TOO_MANY: &str = "a picture behind the first 1,000 of its file, which are read";
const BROKEN: &str = "are named in the file and can't be found there: some may be missing";

/// Reports pages without text.
pub(crate) struct ImageReader;

impl Reader for ImageReader {
    fn version(&self) -> &'static str {
        "image 0.25.10+1"
    }

    fn read(&self, source: Source<'_>, sink: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let PictureFile { pages, is_broken, is_cut } = pages::file(source.bytes)?;
        sink.expect(pages)?;
        for page in 1..=pages {
            if sink.begin(page)? {
                sink.gap(if page > MOST_PAGES { TOO_MANY } else { PICTURE })?;
            }
        }
        if is_broken {
            sink.note(format!("pictures behind page {pages} {BROKEN}"))?;
        }
        if is_cut {
            sink.note(
                "its file ends before its picture does: what is grey or white at its foot may be missing".to_owned(),
            )?;
        }
        Ok(Unit::Page)
    }
}
