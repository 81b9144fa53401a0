//! Scanned pages of a new job: their selection and pictures. Their transcriptions are compared in `page_reading`.

use super::{
    RunError,
    create::NewJobRequest,
    scan_file::{self, ScanLine},
};
use crate::{
    extraction::{MOST_SCANNED_PAGES, PageForEyes, UseMode, pages_for_eyes, transcription_key},
    workspace::Workspace,
};
use overnight_core::{
    job::{
        digest::sha256,
        scans::{KeptReading, ScannedPage},
        spec::DocumentEntry,
    },
    message::Image,
};
use overnight_documents::{MAX_BYTES, PagePainter, PaintedPlace, PictureOptions, RecognisedWord, quarter_turns};

/// The height of small words as a share of the page's height: print of 7 points on A4.
const SMALL: f32 = 0.007;
/// The most consecutive pages of a document that can't be rendered; the pages after them are not tried.
const MOST_FAILURES: usize = 3;

/// The pages of a job that a model has to read, rendered. Empty if no model reads them.
pub(super) fn of_new_job(
    workspace: &Workspace,
    documents: &mut [DocumentEntry],
    request: &NewJobRequest<'_>,
) -> Result<Vec<ScannedPage>, RunError> {
    let Some(eyes) = request.eyes else { return Ok(Vec::new()) };
    let mut scans = Vec::new();
    for document in documents.iter_mut().filter(|document| document.paged) {
        let text = workspace.read_text_at_most(&document.text_path(), u64::MAX)?;
        let bytes = workspace.read_at_most(&format!("documents/{}", document.name), MAX_BYTES)?;
        let all = request.extractor.looks_at_all(&document.format, &bytes, &text);
        let is_doubtful = all && request.extractor.vision() == UseMode::Auto;
        let ranges = document.gaps.iter().filter_map(|gap| gap.pages).chain(document.recognised.iter().copied());
        let of = (document.format.as_str(), text.as_str(), document.units);
        let pages = pages_for_eyes(of, ranges.map(|pages| (pages.from, pages.to)), all);
        if pages.is_empty() || scans.len() == MOST_SCANNED_PAGES {
            continue;
        }
        let mut lines = scan_file::read(workspace, document);
        let known = lines.len();
        let mut failures = 0;
        for (page, PageForEyes { place, has_text }) in pages.into_iter().take(MOST_SCANNED_PAGES - scans.len()) {
            // A text of unknown origin is not used as the second reading if there can be another one.
            if let PaintedPlace::Page(number) = place
                && (has_text && is_doubtful || !has_text && is_recognised(document, page))
                && !lines.contains_key(&page)
            {
                let words = request.extractor.recognised_words(&bytes, number).map(ScanLine::recognised);
                lines.extend(words.map(|line| (page, line)));
            }
            // A page that can't be rendered stays as it is, and states the reason.
            let Ok((picture, png)) = request.extractor.paint(&bytes, &place, options(lines.get(&page))) else {
                failures += 1;
                if failures == MOST_FAILURES {
                    break;
                }
                continue;
            };
            failures = 0;
            let Some(tokens) = eyes.image_tokens(picture.width, picture.height) else { continue };
            let hash = sha256(&png);
            let kept = kept(request, &hash);
            let (width, height) = (picture.width, picture.height);
            let image = Image { sha256: hash, media: "image/png".to_owned(), width, height, tokens };
            workspace.write(&image.path(), &png)?;
            let part = if let PaintedPlace::Embedded(name) = place { Some(name) } else { None };
            scans.push(ScannedPage {
                document: document.name.clone(),
                page,
                part,
                has_text,
                image,
                ink: picture.ink,
                kept,
            });
        }
        if lines.len() > known {
            document.scan_sha256 = scan_file::write(workspace, &document.scan_path(), &lines)?.map(|hash| hash.sha256);
        }
    }
    Ok(scans)
}

/// Whether the characters of a page were recognised, by whomever.
fn is_recognised(document: &DocumentEntry, page: u64) -> bool {
    document.recognised.iter().any(|pages| (pages.from..=pages.to).contains(&page))
}

/// The options for rendering a page: upright, and sharper if its letters are small, as far as recognised words show.
fn options(recognised: Option<&ScanLine>) -> PictureOptions {
    let Some(ScanLine { words, .. }) = recognised else { return PictureOptions::FOR_MODELS };
    let turns = quarter_turns(words);
    // Words that run up or down are as high as they are long.
    let height = |word: &RecognisedWord| if turns.is_multiple_of(2) { word.height } else { word.width };
    let mut heights: Vec<f32> = words.iter().map(height).collect();
    heights.sort_by(f32::total_cmp);
    let are_small = heights.get(heights.len() / 2).is_some_and(|height| *height < SMALL);
    let options = if are_small { PictureOptions::FOR_SMALL_LETTERS } else { PictureOptions::FOR_MODELS };
    PictureOptions { turns, ..options }
}

/// Earlier readings of the same picture.
fn kept(request: &NewJobRequest<'_>, image: &str) -> Vec<KeptReading> {
    let kept = |(reader, model)| {
        Some(KeptReading { reader, text: request.extractor.kept_text(&transcription_key(model, image))? })
    };
    request.instructions.page_readers(request.model.name()).filter_map(kept).collect()
}
