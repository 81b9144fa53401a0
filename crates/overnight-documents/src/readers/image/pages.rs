//! How many pages a picture has, and one of them as pixels: turned upright as its file says (EXIF), within limits that are held
//! before anything is decoded.

use crate::refusal::Refusal;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};
use std::io::Cursor;
use tiff::decoder::Decoder;

/// Pixels of a page: an A3 page at 600 dots per inch has 70 million.
const MOST_PIXELS: u64 = 100_000_000;
/// A letter has some pixels.
const LEAST_SIDE: u32 = 8;
/// Bytes that decoding may take, beside the file.
const MOST_BYTES: u64 = 640 << 20;
/// Pages of a TIFF file that are told; what lies behind is a gap of its own.
const MOST_PAGES: u64 = 1_000;

/// Pages of the picture in `bytes`, at least 1.
pub(super) fn count(bytes: &[u8]) -> Result<u64, Refusal> {
    let format = format(bytes)?;
    let count = if format == ImageFormat::Tiff { tiff_pages(bytes, MOST_PAGES)?.len() as u64 } else { 1 };
    // Whoever can't decode its first page says so before anybody waits for it.
    check(decoder(bytes, 1)?.dimensions())?;
    Ok(count)
}

/// Page `page` of it, from 1.
pub(super) fn page(bytes: &[u8], page: u64) -> Result<DynamicImage, Refusal> {
    let mut decoder = decoder(bytes, page)?;
    check(decoder.dimensions())?;
    let orientation = decoder.orientation().ok();
    let mut image = DynamicImage::from_decoder(decoder).map_err(|error| damaged(&error))?;
    if let Some(orientation) = orientation {
        image.apply_orientation(orientation);
    }
    Ok(image)
}

/// Pixels of its first page, by the beginning of its file; none where that doesn't say.
pub(crate) fn size(head: &[u8]) -> Option<(u32, u32)> {
    ImageReader::with_format(Cursor::new(head), format(head).ok()?).into_dimensions().ok()
}

fn decoder(bytes: &[u8], page: u64) -> Result<Box<dyn ImageDecoder + '_>, Refusal> {
    let format = format(bytes)?;
    let mut content = std::borrow::Cow::Borrowed(bytes);
    if format == ImageFormat::Tiff && page > 1 {
        let pages = tiff_pages(bytes, page)?;
        let place = usize::try_from(page - 1).ok().and_then(|at| pages.get(at)).ok_or_else(no_such_page)?;
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

/// Where the images of a TIFF file are described, those of its first pages up to `most`.
fn tiff_pages(bytes: &[u8], most: u64) -> Result<Vec<u64>, Refusal> {
    let broken = |_| Refusal::Damaged { format: "TIFF".to_owned(), why: "its list of images is broken".to_owned() };
    let mut decoder = Decoder::new(Cursor::new(bytes)).map_err(broken)?;
    let mut places = Vec::new();
    loop {
        places.extend(decoder.ifd_pointer().map(|place| place.0));
        // An image that can't be read ends the list: those before it are there.
        if places.len() as u64 >= most || !decoder.more_images() || decoder.next_image().is_err() {
            return Ok(places);
        }
    }
}

/// Makes the image that is described at `place` the first one of a TIFF file: the library reads only that. The header says where
/// it is, in 32 bits, or in 64 where the file is a BigTIFF.
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
