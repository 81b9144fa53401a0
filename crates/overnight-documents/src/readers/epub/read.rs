//! The reader of books: a chapter is a page.

use super::book::{Book, Chapter, content};
use crate::encoding;
use crate::readers::embedded::marker;
use crate::readers::html::{HtmlOmissions, of_chapter};
use crate::readers::package::{Package, one_line, resolve};
use crate::readers::{PageSink, ReadFailure, Reader, Source};
use crate::refusal::Refusal;
use crate::units::Unit;

/// Reads EPUB.
pub(crate) struct EpubReader;

const SCAN: &str = "no text on it, probably a scan";

impl Reader for EpubReader {
    fn version(&self) -> &'static str {
        "html5ever 0.38.0+10"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let package = Package::of(source.bytes, "EPUB", pages)?;
        let book = Book::read(&package)?;
        if book.chapters.iter().all(|chapter| book.locked.contains(&chapter.file)) {
            return Err(Refusal::Protected { format: "an EPUB book".to_owned() }.into());
        }
        pages.expect(book.chapters.len() as u64)?;
        let mut left_out = HtmlOmissions::default();
        for (page, chapter) in (1..).zip(&book.chapters) {
            if pages.begin(page)? {
                read_chapter(&package, &book, chapter, &mut left_out, pages)?;
            }
        }
        left_out.notes().into_iter().try_for_each(|note| pages.note(note))?;
        Ok(Unit::Page)
    }
}

fn read_chapter(
    package: &Package<'_>,
    book: &Book,
    chapter: &Chapter,
    left_out: &mut HtmlOmissions,
    pages: &mut dyn PageSink,
) -> Result<(), ReadFailure> {
    if book.locked.contains(&chapter.file) {
        return Ok(pages.gap("it is locked by copy protection (DRM)")?);
    }
    if chapter.media.starts_with("image/") {
        if !chapter.is_cover {
            pages.gap(SCAN)?;
            pages.text(&marker(package, &chapter.file).unwrap_or_default())?;
        }
        return Ok(());
    }
    let bytes = match content(package, &chapter.file) {
        Ok(bytes) => bytes,
        Err(why) => return Ok(pages.gap(&why)?),
    };
    if bytes.is_empty() {
        return Ok(pages.gap("its file is empty")?);
    }
    let declared = encoding::declared_in_html(&bytes);
    let html = match encoding::decode(&bytes, declared.as_deref()) {
        Ok(decoded) => decoded.text,
        Err(refusal) => return Ok(pages.gap(&format!("its file {refusal}"))?),
    };
    let folder = chapter.file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (text, own_title) = match of_chapter(&html, &|source| marker(package, &resolve(folder, source))) {
        Ok((read, title)) => {
            *left_out = left_out.and(read.left_out);
            (read.text, title)
        }
        Err(ReadFailure::Refused(refusal)) => return Ok(pages.gap(&format!("its file {refusal}"))?),
        Err(stopped @ ReadFailure::Stopped(_)) => return Err(stopped),
    };
    if text.trim().is_empty() {
        let shows = ["<img", "<image", "<svg"].iter().any(|tag| html.contains(tag));
        if shows && !chapter.is_cover {
            pages.gap(SCAN)?;
        } else if own_title.contains('<') {
            pages.gap("its words stand where no text is shown: a tag in it is broken")?;
        }
        return Ok(());
    }
    let is_picture = |line: &str| line.trim().is_empty() || line.starts_with("[picture") && line.ends_with(']');
    if text.lines().all(is_picture) && !chapter.is_cover {
        pages.gap(SCAN)?;
    }
    // The chapter's own title, unless it is only the book's title.
    let own_title = (book.title.as_deref().map(one_line).as_ref() != Some(&own_title)).then_some(&own_title);
    let title = book.titles.get(&chapter.file).or(own_title);
    let title = title.filter(|title| !title.is_empty() && !text.contains(title.as_str()) && !has_heading(&text));
    match title {
        Some(title) => pages.text(&format!("# {title}\n\n{text}"))?,
        None => pages.text(&text)?,
    }
    Ok(())
}

fn has_heading(text: &str) -> bool {
    text.lines().any(|line| line.starts_with('#') && line.trim_start_matches('#').starts_with(' '))
}
