//! A page as an image, and the places of quotes on it. The image is the library's; the places are those of the words
//! from which the page's text was made, so that a quote of the text is found on the image by its bytes.

use std::collections::BTreeMap;
use unpdf::parser::PdfParser;
use unpdf::parser::backend::{PageBox, PdfBackend};
use unpdf::parser::raster::{RasterOptions, RasteredPage};

use super::glyphs::QUARTERS;
use super::layout::PlacedWord;
use super::read::{damaged, guarded, load, refusal, without_prefix, written};
use super::write::WrittenPage;
use crate::page_picture::{MarkedBox, PagePicture, PictureOptions, QuoteOnPage};
use crate::quotes::QuoteIndex;
use crate::readers::image::{mark, png};
use crate::refusal::Refusal;
use crate::units::Unit;

/// The maximum number of pixels of a page, at any sharpness.
const MOST_PIXELS: f32 = 4_000_000.0;
/// The margin of a box around its words, as a share of their height.
const MARGIN: f32 = 0.08;

/// Paints page `page` of the PDF in `bytes`: see [`crate::page_picture`].
pub(crate) fn paint_page(
    bytes: &[u8],
    page: u64,
    quotes: &[QuoteOnPage],
    options: PictureOptions,
) -> Result<(PagePicture, Vec<u8>), Refusal> {
    let bytes = without_prefix(bytes);
    let loaded = load(bytes)?;
    let number = u32::try_from(page).unwrap_or(u32::MAX);
    let pages = loaded.document.pages();
    let &id = pages.get(&number).ok_or_else(|| damaged("it has no such page"))?;
    let paper = Paper { seen: loaded.document.crop_box(id), rotation: loaded.document.page_rotation(id) };
    let readable = loaded.repaired.as_deref().unwrap_or(bytes);
    let painted = guarded(|| {
        let parser = PdfParser::from_bytes(readable).map_err(|error| refusal(&error, readable))?;
        let options = RasterOptions { dpi: paper.dpi(options.dpi), ..RasterOptions::default() };
        parser.render_page(number, &options).map_err(|_| damaged("the page can't be painted"))
    });
    let mut painted = painted.unwrap_or_else(|| Err(damaged("the page can't be painted")))?;
    let mut told = unpainted(&painted);
    if loaded.overlays.contains_key(&id) {
        told.push("form fields, stamps and comments over the page are not painted".to_owned());
    }
    let mut boxes = Vec::new();
    boxes.extend(quotes.iter().flat_map(|quote| quote.boxes.iter().copied()));
    let sought: Vec<&QuoteOnPage> = quotes.iter().filter(|quote| quote.boxes.is_empty()).collect();
    let on_page = if sought.is_empty() { None } else { written(&loaded, id) };
    if let Some(on_page) = on_page {
        let mut index = None;
        for quote in sought {
            let found = paper.places(quote, &on_page, &mut index);
            if found.is_empty() {
                told.push("a quote could not be marked in the image: look for it in the text".to_owned());
            }
            boxes.extend(found);
        }
    }
    told.dedup();
    if options.is_marked {
        for marked in &boxes {
            mark((painted.width, painted.height), &mut painted.rgba, 4, marked);
        }
    }
    let size = (painted.width, painted.height);
    let encoded = png(size, painted.rgba, boxes, options).ok_or_else(|| damaged("the page can't be painted"))?;
    encoded.map(|(picture, png)| (PagePicture { told, ..picture }, png))
}

/// The places of quotes on their pages, without painting; quotes that aren't found have no box.
pub(crate) fn quote_boxes(bytes: &[u8], quotes: &[(u64, QuoteOnPage)]) -> Result<Vec<(u64, MarkedBox)>, Refusal> {
    let loaded = load(without_prefix(bytes))?;
    let pages = loaded.document.pages();
    let mut by_page: BTreeMap<u64, Vec<&QuoteOnPage>> = BTreeMap::new();
    for (page, quote) in quotes {
        by_page.entry(*page).or_default().push(quote);
    }
    let mut boxes = Vec::new();
    for (page, quotes) in by_page {
        let Some(&id) = u32::try_from(page).ok().and_then(|number| pages.get(&number)) else { continue };
        let Some(on_page) = written(&loaded, id) else { continue };
        let paper = Paper { seen: loaded.document.crop_box(id), rotation: loaded.document.page_rotation(id) };
        let mut index = None;
        for quote in quotes {
            boxes.extend(paper.places(quote, &on_page, &mut index).into_iter().map(|found| (page, found)));
        }
    }
    Ok(boxes)
}

/// The visible part of a page, and its rotation in degrees.
struct Paper {
    seen: PageBox,
    rotation: u16,
}

impl Paper {
    fn dpi(&self, most: u16) -> f32 {
        let points = (self.seen.width() * self.seen.height()).max(1.0);
        f32::from(most).min(72.0 * (MOST_PIXELS / points).sqrt())
    }

    /// The place of a quote: its bytes if the page's text has it there, else its first match. `index` is the page's.
    fn places(&self, quote: &QuoteOnPage, on_page: &WrittenPage, index: &mut Option<QuoteIndex>) -> Vec<MarkedBox> {
        let end = quote.at + quote.text.len();
        let bytes = if on_page.text.get(quote.at..end) == Some(quote.text.as_str()) {
            Some((quote.at, end))
        } else {
            let index = index.get_or_insert_with(|| QuoteIndex::new(Unit::Line, on_page.text.as_str()));
            let span = index.find(&quote.text, None).map(|place| index.span(place));
            span.and_then(|span| Some((usize::try_from(span.start).ok()?, usize::try_from(span.end).ok()?)))
        };
        bytes.map(|bytes| self.boxes(quote.mark, &on_page.words, bytes)).unwrap_or_default()
    }

    /// The boxes of the text between two bytes, one for each line.
    fn boxes(&self, mark: usize, words: &[PlacedWord], (from, to): (usize, usize)) -> Vec<MarkedBox> {
        let mut lines: Vec<PlacedWord> = Vec::new();
        for word in words.iter().filter(|word| word.from < to && from < word.to && word.turn < QUARTERS) {
            let word = part_of(word, from, to);
            match lines.last_mut() {
                Some(line) if line.turn == word.turn && is_beside(line, &word) => {
                    line.start = line.start.min(word.start);
                    line.end = line.end.max(word.end);
                    line.top = line.top.min(word.top);
                    line.bottom = line.bottom.max(word.bottom);
                }
                _ => lines.push(word),
            }
        }
        lines.iter().filter_map(|line| self.on_image(mark, line)).collect()
    }

    /// Converts a place on a line, relative to the page turned with its text, to a place on the image.
    fn on_image(&self, mark: usize, line: &PlacedWord) -> Option<MarkedBox> {
        let margin = MARGIN * (line.bottom - line.top);
        let corners = [(line.start - margin, line.top - margin), (line.end + margin, line.bottom + margin)];
        let [one, other] = corners.map(|(along, down)| {
            let (x, y) = match line.turn {
                0 => (along, -down),
                1 => (down, along),
                2 => (-along, down),
                _ => (-down, -along),
            };
            let (x, y) = ((x - self.seen.llx) / self.seen.width(), (self.seen.ury - y) / self.seen.height());
            let (x, y) = match self.rotation {
                90 => (1.0 - y, x),
                180 => (1.0 - x, 1.0 - y),
                270 => (y, 1.0 - x),
                _ => (x, y),
            };
            (x.clamp(0.0, 1.0), y.clamp(0.0, 1.0))
        });
        let (x, y) = (one.0.min(other.0), one.1.min(other.1));
        let (width, height) = ((one.0 - other.0).abs(), (one.1 - other.1).abs());
        (width > 0.0 && height > 0.0).then_some(MarkedBox { mark, x, y, width, height })
    }
}

/// The part of a word between two bytes of the text, as if all its letters were equally wide.
fn part_of(word: &PlacedWord, from: usize, to: usize) -> PlacedWord {
    #[expect(clippy::cast_precision_loss, reason = "as many as a word has bytes")]
    let share = |bytes: usize| bytes as f32 / (word.to - word.from).max(1) as f32;
    let width = word.end - word.start;
    let start = word.start + width * share(from.saturating_sub(word.from));
    let end = word.end - width * share(word.to.saturating_sub(to));
    PlacedWord { start, end, ..*word }
}

/// Whether a word continues the line: the middles of both are close.
fn is_beside(line: &PlacedWord, word: &PlacedWord) -> bool {
    let middle = |of: &PlacedWord| f32::midpoint(of.top, of.bottom);
    let height = (line.bottom - line.top).max(word.bottom - word.top);
    (middle(line) - middle(word)).abs() < 0.5 * height && word.start >= line.start
}

/// The parts that the library could not paint.
fn unpainted(page: &RasteredPage) -> Vec<String> {
    let gaps = &page.gaps;
    let counts = [
        (gaps.text_runs, "piece of text", "pieces of text"),
        (gaps.images + gaps.inline_images, "image", "images"),
        (gaps.shadings, "shading", "shadings"),
        (gaps.soft_masks, "mask", "masks"),
        (gaps.undecodable_content_streams, "damaged part", "damaged parts"),
    ];
    let some = counts.into_iter().filter(|(count, ..)| *count > 0);
    let mut told: Vec<String> = some
        .map(|(count, one, many)| match count {
            1 => format!("1 {one} could not be painted"),
            _ => format!("{count} {many} could not be painted"),
        })
        .collect();
    if page.substituted_text_runs > 0 {
        told.push("a standard font stands for one that is not in the file".to_owned());
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::pdf::tests::pages;

    const TEXT: &str = "BT /F 10 Tf 100 700 Td (alpha beta gamma) Tj 0 -12 Td (delta end.) Tj ET";

    /// Places in points of a page of 600 by 800, from the left and from the top.
    fn points(boxes: &[MarkedBox]) -> Vec<[i32; 4]> {
        #[expect(clippy::cast_possible_truncation, reason = "a page has a few hundred points")]
        let round = |share: f32, of: f32| (share * of).round() as i32;
        let point =
            |of: &MarkedBox| [round(of.x, 600.0), round(of.y, 800.0), round(of.width, 600.0), round(of.height, 800.0)];
        boxes.iter().map(point).collect()
    }

    #[test]
    fn a_quote_is_found_on_the_image_line_by_line() {
        let pdf = pages(&[TEXT, ""]);
        let quote = QuoteOnPage { mark: 7, at: 6, text: "beta gamma\ndelta".to_owned(), boxes: Vec::new() };
        let (picture, png) = paint_page(&pdf, 1, std::slice::from_ref(&quote), PictureOptions::FOR_PEOPLE).unwrap();
        assert_eq!((picture.width, picture.height), (900, 1200));
        assert_eq!(points(&picture.boxes), [[135, 92, 62, 12], [99, 104, 32, 12]]);
        assert!(picture.boxes.iter().all(|marked| marked.mark == 7));
        assert!(png.starts_with(b"\x89PNG"));
        // In the text of another reader, the words are searched.
        let moved = QuoteOnPage { at: 900, ..quote.clone() };
        assert_eq!(paint_page(&pdf, 1, &[moved], PictureOptions::FOR_PEOPLE).unwrap().0.boxes, picture.boxes);
        let (marked, other) = paint_page(
            &pdf,
            1,
            std::slice::from_ref(&quote),
            PictureOptions { is_marked: true, ..PictureOptions::FOR_PEOPLE },
        )
        .unwrap();
        assert!(marked == picture && other != png, "the places are marked in the image");
        let strange = QuoteOnPage { mark: 1, at: 0, text: "epsilon".to_owned(), boxes: Vec::new() };
        let (picture, _) = paint_page(&pdf, 1, &[strange], PictureOptions::FOR_PEOPLE).unwrap();
        let told = "a quote could not be marked in the image: look for it in the text";
        assert!(picture.boxes.is_empty() && picture.told.iter().any(|line| line == told), "{:?}", picture.told);
        assert!(
            paint_page(&pdf, 3, &[], PictureOptions::FOR_PEOPLE).is_err()
                && paint_page(b"%PDF-1.7", 1, &[], PictureOptions::FOR_PEOPLE).is_err()
        );
    }

    #[test]
    fn places_turn_with_the_page() {
        let seen = PageBox { llx: 0.0, lly: 0.0, urx: 600.0, ury: 800.0 };
        let word = PlacedWord { from: 0, to: 4, start: 60.0, end: 120.0, top: -720.0, bottom: -640.0, turn: 0 };
        let corner = |rotation| {
            let boxes = Paper { seen, rotation }.boxes(0, &[word], (0, 4));
            [boxes[0].x + boxes[0].width / 2.0, boxes[0].y + boxes[0].height / 2.0]
        };
        let near = |[x, y]: [f32; 2], to: [f32; 2]| (x - to[0]).abs() < 0.01 && (y - to[1]).abs() < 0.01;
        for (rotation, middle) in [(0, [0.15, 0.15]), (90, [0.85, 0.15]), (180, [0.85, 0.85]), (270, [0.15, 0.85])] {
            assert!(near(corner(rotation), middle), "{rotation}: {:?}", corner(rotation));
        }
    }
}
