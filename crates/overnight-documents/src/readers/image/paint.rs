//! Encodes pixels as a PNG: no larger than requested, and in grey if nothing in it has a colour.

use super::pages;
use crate::page_picture::{Colours, MarkedBox, PagePicture, PictureOptions, QuoteOnPage};
use crate::refusal::Refusal;
use image::{
    DynamicImage, GenericImageView, ImageFormat, Rgba, RgbaImage,
    imageops::{self, FilterType},
};
use std::io::Cursor;

/// Dots per inch at which a page of A4 has [`PAGE_PIXELS`] pixels.
const PAGE_DPI: u64 = 150;
const PAGE_PIXELS: u64 = 1_240 * 1_754;
/// How much a marked place keeps of its red, green and blue, of 255.
const MARK: [u16; 3] = [255, 229, 138];
/// The number of pixels that are checked for colours.
const LOOKED_AT: u32 = 100_000;
/// The maximum difference of red, green and blue in a grey: cameras and JPEG tint it.
const TINT: u8 = 24;
/// The side of a block of pixels, evenly bright but for ink; and the brightness limit of ink, in percent of the mean.
const BLOCK: usize = 64;
const DARKER: u64 = 65;
/// How many of 1,000 pixels may be more coloured in a grey picture.
const COLOURED: usize = 2;

/// Page `page` of the picture in `bytes`, from 1, as a PNG with no more pixels than an A4 page has at `dpi`.
pub(crate) fn paint_page(
    bytes: &[u8],
    page: u64,
    quotes: &[QuoteOnPage],
    PictureOptions { is_marked, dpi, colours, rows, turns }: PictureOptions,
) -> Result<(PagePicture, Vec<u8>), Refusal> {
    let image = flat(part(pages::page(bytes, page)?, rows), colours);
    let most = PAGE_PIXELS * u64::from(dpi) * u64::from(dpi) / (PAGE_DPI * PAGE_DPI);
    let (width, height) = image.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    let image = if pixels > most {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a part of a side in pixels"
        )]
        let side = |side: u32| ((f64::from(side) * (most as f64 / pixels as f64).sqrt()) as u32).max(1);
        image.resize_exact(side(width), side(height), FilterType::Triangle)
    } else {
        image
    };
    let (width, height) = image.dimensions();
    let ink = ink(&image);
    let boxes: Vec<MarkedBox> = quotes.iter().flat_map(|quote| quote.boxes.iter().copied()).collect();
    let image = if is_marked {
        let mut image = image.into_rgb8();
        for marked in &boxes {
            mark((width, height), &mut image, 3, marked);
        }
        DynamicImage::ImageRgb8(image)
    } else {
        image
    };
    let image = turned(image, turns);
    let (width, height) = image.dimensions();
    Ok((PagePicture { width, height, boxes, ink, told: Vec::new() }, encoded(&image)?))
}

/// A page of another reader as a PNG, from the red, green, blue and opacity of each pixel.
pub(crate) fn png(
    (width, height): (u32, u32),
    rgba: Vec<u8>,
    boxes: Vec<MarkedBox>,
    PictureOptions { colours, rows, turns, .. }: PictureOptions,
) -> Option<Result<(PagePicture, Vec<u8>), Refusal>> {
    let image = RgbaImage::from_raw(width, height, rgba)?;
    let image = turned(flat(part(DynamicImage::ImageRgba8(image), rows), colours), turns);
    let (width, height) = image.dimensions();
    let picture = PagePicture { width, height, boxes, ink: ink(&image), told: Vec::new() };
    Some(encoded(&image).map(|png| (picture, png)))
}

fn turned(image: DynamicImage, turns: u8) -> DynamicImage {
    match turns % 4 {
        1 => image.rotate90(),
        2 => image.rotate180(),
        3 => image.rotate270(),
        _ => image,
    }
}

/// The requested rows.
fn part(image: DynamicImage, (from, to): (u8, u8)) -> DynamicImage {
    let (width, height) = image.dimensions();
    let [top, bottom] = [from, to].map(|percent| height * u32::from(percent.min(100)) / 100);
    if bottom - top < height { image.crop_imm(0, top, width, bottom.saturating_sub(top).max(1)) } else { image }
}

/// Colours a place in pixels of `bytes` bytes each.
pub(crate) fn mark((width, height): (u32, u32), pixels: &mut [u8], bytes: usize, marked: &MarkedBox) {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of the image, from 0 to 1"
    )]
    let pixel = |part: f32, of: u32| (part.clamp(0.0, 1.0) * of as f32).round() as usize;
    let columns = pixel(marked.x, width)..pixel(marked.x + marked.width, width);
    let width = width as usize;
    for row in pixel(marked.y, height)..pixel(marked.y + marked.height, height) {
        for column in columns.clone() {
            let at = (row * width + column) * bytes;
            for (value, kept) in pixels.iter_mut().skip(at).take(3).zip(MARK) {
                *value = u8::try_from(u16::from(*value) * kept / 255).unwrap_or(u8::MAX);
            }
        }
    }
}

/// Puts the image on white paper and removes unwanted colours.
fn flat(image: DynamicImage, colours: Colours) -> DynamicImage {
    let is_grey = match colours {
        Colours::AsTheyAre => false,
        Colours::WhereThereAreSome => is_colourless(&image),
        Colours::Greys => true,
    };
    let image = if image.color().has_alpha() {
        let mut image = image.into_rgba8();
        for pixel in image.pixels_mut() {
            let [red, green, blue, alpha] = pixel.0;
            let on_white = |value: u8| {
                let value = u16::from(value) * u16::from(alpha) + 255 * (255 - u16::from(alpha));
                u8::try_from(value / 255).unwrap_or(u8::MAX)
            };
            *pixel = Rgba([on_white(red), on_white(green), on_white(blue), u8::MAX]);
        }
        DynamicImage::ImageRgba8(image)
    } else {
        image
    };
    if is_grey { DynamicImage::ImageLuma8(image.into_luma8()) } else { DynamicImage::ImageRgb8(image.into_rgb8()) }
}

fn encoded(image: &DynamicImage) -> Result<Vec<u8>, Refusal> {
    let mut png = Cursor::new(Vec::new());
    let failed = |_| Refusal::Damaged { format: "an image".to_owned(), why: "it can't be painted".to_owned() };
    image.write_to(&mut png, ImageFormat::Png).map_err(failed)?;
    Ok(png.into_inner())
}

/// Pixels, of 10,000, that are much darker than the mean of the block around them: shadows and grey paper don't count.
fn ink(image: &DynamicImage) -> u32 {
    let grey = image.to_luma8();
    let (width, height) = grey.dimensions();
    let mut dark = 0_u64;
    for top in (0..height).step_by(BLOCK) {
        for left in (0..width).step_by(BLOCK) {
            let side = u32::try_from(BLOCK).unwrap_or(u32::MAX);
            let block = imageops::crop_imm(&grey, left, top, side.min(width - left), side.min(height - top));
            let pixels: Vec<u8> = block.to_image().into_raw();
            let sum: u64 = pixels.iter().map(|pixel| u64::from(*pixel)).sum();
            let mean = sum / (pixels.len() as u64).max(1);
            dark += pixels.iter().filter(|pixel| u64::from(**pixel) * 100 < mean * DARKER).count() as u64;
        }
    }
    u32::try_from(dark * 10_000 / (u64::from(width) * u64::from(height)).max(1)).unwrap_or(u32::MAX)
}

/// Whether hardly a pixel has a colour.
fn is_colourless(image: &DynamicImage) -> bool {
    if !image.color().has_color() {
        return true;
    }
    let (width, height) = image.dimensions();
    let step = (u64::from(width) * u64::from(height) / u64::from(LOOKED_AT)).isqrt().max(1);
    let step = usize::try_from(step).unwrap_or(usize::MAX);
    let (mut seen, mut coloured) = (0, 0);
    for y in (0..height).step_by(step) {
        for x in (0..width).step_by(step) {
            let [red, green, blue, _] = image.get_pixel(x, y).0;
            seen += 1;
            coloured += usize::from(red.max(green).max(blue) - red.min(green).min(blue) > TINT);
        }
    }
    coloured * 1_000 <= seen * COLOURED
}
