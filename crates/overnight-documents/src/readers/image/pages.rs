//! The number of pages of a picture, and one of them as pixels: turned upright according to its file (EXIF), within
//! limits that are checked before anything is decoded.

use crate::refusal::Refusal;
use image::{
    DynamicImage, GenericImageView, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, imageops::FilterType,
};
use std::{io::Cursor, ops::RangeInclusive};
use tiff::{
    decoder::{Decoder, ifd::Value},
    tags::Tag,
};

/// Pixels of a page: an A3 page at 600 dots per inch has 70 million.
const MOST_PIXELS: u64 = 100_000_000;
/// The minimum side in pixels: a letter has some pixels.
const LEAST_SIDE: u32 = 8;
/// The maximum bytes that decoding may use, in addition to the file.
const MOST_BYTES: u64 = 640 << 20;
/// Images of a TIFF file that are counted.
const MOST_PAGES: u64 = 100_000;
/// The range of a pixel's aspect ratio that counts as square: faxes have half as many lines as columns.
const SQUARE: RangeInclusive<f64> = 0.95..=1.05;
const MOST_STRETCHED: f64 = 8.0;

/// The properties of a picture's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PictureFile {
    /// At least 1.
    pub(super) pages: u64,
    /// The image named behind the last one can't be found.
    pub(super) is_broken: bool,
    /// The file ends before its picture does.
    pub(super) is_cut: bool,
}

/// The properties of the picture file in `bytes`.
pub(super) fn file(bytes: &[u8]) -> Result<PictureFile, Refusal> {
    let format = format(bytes)?;
    let is_cut = format == ImageFormat::Jpeg && is_cut_off(bytes);
    let (pages, is_broken) = match format {
        ImageFormat::Tiff => tiff_pages(bytes, MOST_PAGES).map(|found| (found.places.len() as u64, found.is_broken))?,
        _ => (1, false),
    };
    // If the first page can't be decoded, the error is reported before anybody waits for it.
    check(decoder(bytes, 1)?.dimensions())?;
    Ok(PictureFile { pages, is_broken, is_cut })
}

/// Whether no end mark (ITU-T T.81, B.1.1.3) follows the image data of a JPEG file: decoders paint the rest grey.
fn is_cut_off(bytes: &[u8]) -> bool {
    // A thumbnail in the header has an end mark of its own.
    memchr::memmem::rfind(bytes, b"\xff\xda")
        .is_some_and(|scan| memchr::memmem::find(&bytes[scan..], b"\xff\xd9").is_none())
}

/// Page `page` of it, from 1.
pub(super) fn page(bytes: &[u8], page: u64) -> Result<DynamicImage, Refusal> {
    let mut decoder = decoder(bytes, page)?;
    check(decoder.dimensions())?;
    let orientation = decoder.orientation().ok();
    let mut image = DynamicImage::from_decoder(decoder).map_err(|error| damaged(&error))?;
    if let Some((width, height)) = square_pixels(bytes, page, image.dimensions()) {
        image = image.resize_exact(width, height, FilterType::Triangle);
    }
    if let Some(orientation) = orientation {
        image.apply_orientation(orientation);
    }
    Ok(image)
}

/// The size of the first page in pixels, from the beginning of the file; none if it isn't there.
pub(crate) fn size(head: &[u8]) -> Option<(u32, u32)> {
    ImageReader::with_format(Cursor::new(head), format(head).ok()?).into_dimensions().ok()
}

fn decoder(bytes: &[u8], page: u64) -> Result<Box<dyn ImageDecoder + '_>, Refusal> {
    let format = format(bytes)?;
    let mut content = std::borrow::Cow::Borrowed(bytes);
    if format == ImageFormat::Tiff && page > 1 {
        let pages = tiff_pages(bytes, page)?;
        let place = usize::try_from(page - 1).ok().and_then(|at| pages.places.get(at)).ok_or_else(no_such_page)?;
        begin_at(content.to_mut(), *place).ok_or_else(no_such_page)?;
    } else if page != 1 {
        return Err(no_such_page());
    }
    let mut reader = ImageReader::with_format(Cursor::new(content), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST_BYTES);
    reader.limits(limits);
    reader.into_decoder().map(|decoder| Box::new(decoder) as Box<dyn ImageDecoder>).map_err(|error| damaged(&error))
}

/// The images of a TIFF file.
struct TiffImages {
    /// The offset of each image's description.
    places: Vec<u64>,
    /// The image named behind the last one can't be read, or is one of those before.
    is_broken: bool,
}

/// The images of a TIFF file, those of its first pages up to `most`.
fn tiff_pages(bytes: &[u8], most: u64) -> Result<TiffImages, Refusal> {
    let broken = |_| Refusal::Damaged { format: "TIFF".to_owned(), why: "its list of images is broken".to_owned() };
    let mut decoder = Decoder::new(Cursor::new(bytes)).map_err(broken)?;
    let mut places = Vec::new();
    loop {
        places.extend(decoder.ifd_pointer().map(|place| place.0));
        if places.len() as u64 >= most || !decoder.more_images() {
            return Ok(TiffImages { places, is_broken: false });
        }
        if decoder.next_image().is_err() {
            return Ok(TiffImages { places, is_broken: true });
        }
    }
}

/// The size of a TIFF image after stretching its pixels to squares; none if they are square.
fn square_pixels(bytes: &[u8], page: u64, (width, height): (u32, u32)) -> Option<(u32, u32)> {
    if format(bytes).ok()? != ImageFormat::Tiff {
        return None;
    }
    let mut decoder = Decoder::new(Cursor::new(bytes)).ok()?;
    for _ in 1..page {
        decoder.next_image().ok()?;
    }
    let mut dots = |tag| match decoder.get_tag(tag) {
        Ok(Value::Rational(dots, per)) if dots > 0 && per > 0 => Some(f64::from(dots) / f64::from(per)),
        _ => None,
    };
    let (across, down) = (dots(Tag::XResolution)?, dots(Tag::YResolution)?);
    let stretch = across / down;
    if SQUARE.contains(&stretch) || !(1.0 / MOST_STRETCHED..=MOST_STRETCHED).contains(&stretch) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a side in pixels, some times as long")]
    let longer = |side: u32, by: f64| (f64::from(side) * by).round() as u32;
    let size = if stretch > 1.0 { (width, longer(height, stretch)) } else { (longer(width, 1.0 / stretch), height) };
    (u64::from(size.0) * u64::from(size.1) <= MOST_PIXELS).then_some(size)
}

/// Makes the image described at `place` the first one of a TIFF file, because the library reads only that. The header
/// has its offset, in 32 bits, or in 64 for a BigTIFF.
fn begin_at(bytes: &mut [u8], place: u64) -> Option<()> {
    let is_little = bytes.starts_with(b"II");
    let is_big = bytes.get(2..4)?.contains(&43);
    let (at, place) = if is_big {
        (8..16, if is_little { place.to_le_bytes().to_vec() } else { place.to_be_bytes().to_vec() })
    } else {
        let place = u32::try_from(place).ok()?;
        (4..8, if is_little { place.to_le_bytes().to_vec() } else { place.to_be_bytes().to_vec() })
    };
    bytes.get_mut(at)?.copy_from_slice(&place);
    Some(())
}

fn format(bytes: &[u8]) -> Result<ImageFormat, Refusal> {
    let format = image::guess_format(bytes).map_err(|_| Refusal::Image)?;
    Some(format).filter(ImageFormat::reading_enabled).ok_or(Refusal::Image)
}

fn check((width, height): (u32, u32)) -> Result<(), Refusal> {
    if width.min(height) < LEAST_SIDE {
        let why = format!("a picture of {width} × {height} pixels is too small to be read");
        return Err(Refusal::Damaged { format: "an image".to_owned(), why });
    }
    if u64::from(width) * u64::from(height) <= MOST_PIXELS {
        return Ok(());
    }
    let why = format!("it is an image of {width} × {height} pixels, and an image may have 100 million");
    Err(Refusal::Overlong { why })
}

fn no_such_page() -> Refusal {
    Refusal::Damaged { format: "an image".to_owned(), why: "it has no such page".to_owned() }
}

fn damaged(error: &ImageError) -> Refusal {
    match error {
        ImageError::Limits(_) => Refusal::Overlong { why: "its pixels take more memory than an image may".to_owned() },
        ImageError::Unsupported(_) => Refusal::Unsupported {
            format: "an image of a kind that is not decoded".to_owned(),
            advice: "save it as PNG or JPEG".to_owned(),
        },
        ImageError::Decoding(_) | ImageError::Encoding(_) | ImageError::Parameter(_) | ImageError::IoError(_) => {
            Refusal::Damaged {
                format: "an image".to_owned(),
                why: "what is packed there is damaged or cut off".to_owned(),
            }
        }
    }
}
