use super::{pages, read::PICTURE};
use crate::{
    Format, Gap, PageSpan, Refusal, extract, page_picture,
    page_picture::{Colours, PictureOptions},
};
use image::{
    DynamicImage, GenericImageView, GrayImage, ImageFormat, ImageReader, Luma, Rgb, RgbImage, Rgba, RgbaImage,
};
use std::io::Cursor;
use tiff::encoder::{Rational, TiffEncoder, colortype::Gray8};

/// A black rectangle at the upper left on white, wider than high.
fn sample() -> DynamicImage {
    let is_black = |x, y| x < 20 && y < 10;
    DynamicImage::ImageRgb8(RgbImage::from_fn(80, 40, |x, y| {
        if is_black(x, y) { Rgb([0, 0, 0]) } else { Rgb([255, 255, 255]) }
    }))
}

fn as_file(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn tiff(pages: u8) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut bytes).unwrap();
    for page in 0..pages {
        encoder.write_image::<Gray8>(16, 8, &[page * 40; 128]).unwrap();
    }
    bytes.into_inner()
}

fn painted(bytes: &[u8], page: u64) -> DynamicImage {
    let (picture, png) = page_picture(bytes, page, &[], PictureOptions::FOR_MODELS).unwrap();
    let image = ImageReader::with_format(Cursor::new(png), ImageFormat::Png).decode().unwrap();
    assert_eq!((picture.width, picture.height), image.dimensions());
    image
}

/// A JPEG from a camera that was turned: EXIF states that in its first segment.
fn turned(orientation: u8) -> Vec<u8> {
    let jpeg = as_file(&sample(), ImageFormat::Jpeg);
    let tiff =
        [b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".as_slice(), &[orientation, 0, 0, 0, 0, 0, 0, 0]].concat();
    let exif = [b"Exif\0\0", tiff.as_slice()].concat();
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    [&jpeg[..2], b"\xff\xe1", &length, &exif, &jpeg[2..]].concat()
}

#[test]
fn pictures_have_pages_without_text() {
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::Gif, ImageFormat::WebP, ImageFormat::Bmp] {
        let bytes = as_file(&sample(), format);
        let found = extract("a.txt", &bytes).unwrap();
        let page = Gap { pages: Some(PageSpan { from: 1, to: 1 }), why: PICTURE.to_owned() };
        assert_eq!((found.format, &*found.text, found.gaps), (Format::Image, "", vec![page]), "{format:?}");
        assert_eq!(painted(&bytes, 1).dimensions(), (80, 40));
        let none = page_picture(&bytes, 2, &[], PictureOptions::FOR_MODELS).unwrap_err();
        assert!(none.to_string().contains("it has no such page"), "{none}");
    }
}

#[test]
fn each_image_of_a_tiff_is_a_page() {
    let bytes = tiff(3);
    let gaps = extract("fax.tiff", &bytes).unwrap().gaps;
    assert_eq!(gaps, [Gap { pages: Some(PageSpan { from: 1, to: 3 }), why: PICTURE.to_owned() }]);
    let greys: Vec<Luma<u8>> = (1..=3).map(|page| *painted(&bytes, page).to_luma8().get_pixel(0, 0)).collect();
    assert_eq!(greys, [0, 40, 80].map(|grey| Luma([grey])));
    assert!(page_picture(&bytes, 4, &[], PictureOptions::FOR_MODELS).is_err());
}

/// Faxes have half as many lines as columns.
#[test]
fn pixels_that_are_not_square_are_made_square() {
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut bytes).unwrap();
    let mut image = encoder.new_image::<Gray8>(40, 20).unwrap();
    image.x_resolution(Rational { n: 204, d: 1 });
    image.y_resolution(Rational { n: 102, d: 1 });
    image.write_data(&[0; 800]).unwrap();
    assert_eq!(painted(&bytes.into_inner(), 1).dimensions(), (40, 40));
}

#[test]
fn what_is_missing_of_a_file_is_told() {
    let notes = |bytes: &[u8]| extract("scan", bytes).unwrap().notes;
    let jpeg = as_file(&sample(), ImageFormat::Jpeg);
    let cut = "its file ends before its picture does: what is grey or white at its foot may be missing";
    assert_eq!((notes(&jpeg), notes(&jpeg[..jpeg.len() - 30])), (vec![], vec![cut.to_owned()]));
    let mut broken = tiff(3);
    let first = usize::try_from(u32::from_le_bytes(broken[4..8].try_into().unwrap())).unwrap();
    let entries = usize::from(u16::from_le_bytes(broken[first..first + 2].try_into().unwrap()));
    let next = first + 2 + 12 * entries;
    broken[next..next + 4].copy_from_slice(&9_999_999_u32.to_le_bytes());
    let told = notes(&broken);
    let expected = "pictures behind page 1 are named in the file and can't be found there: some may be missing";
    assert_eq!(told, [expected]);
}

#[test]
fn a_picture_is_turned_where_that_is_asked_for() {
    let bytes = as_file(&sample(), ImageFormat::Png);
    let black = |turns| {
        let options = PictureOptions { turns, ..PictureOptions::FOR_MODELS };
        let (picture, png) = page_picture(&bytes, 1, &[], options).unwrap();
        let image = image::load_from_memory(&png).unwrap().to_luma8();
        assert_eq!((picture.width, picture.height), image.dimensions());
        (image.dimensions(), image.get_pixel(picture.width - 1, 0).0[0] < 100)
    };
    assert_eq!([black(0), black(1), black(2)], [((80, 40), false), ((40, 80), true), ((80, 40), false)]);
}

#[test]
fn pages_are_upright() {
    // The black corner and the size, for the eight orientations of EXIF.
    let corner = |orientation| {
        let image = painted(&turned(orientation), 1).to_luma8();
        let (width, height) = image.dimensions();
        let is_black = |x, y| image.get_pixel(x, y).0[0] < 100;
        let corners =
            [is_black(2, 2), is_black(width - 3, 2), is_black(width - 3, height - 3), is_black(2, height - 3)];
        (width > height, corners.iter().position(|black| *black))
    };
    let expected = [(1, true, 0), (3, true, 2), (6, false, 1), (8, false, 3)];
    for (orientation, is_wide, at) in expected {
        assert_eq!(corner(orientation), (is_wide, Some(at)), "{orientation}");
    }
    // A number that does not exist turns nothing.
    assert_eq!(corner(99), (true, Some(0)));
}

#[test]
fn a_page_is_as_large_as_wanted_and_grey_where_that_is_enough() {
    let tinted = DynamicImage::ImageRgb8(RgbImage::from_pixel(3_000, 2_000, Rgb([200, 195, 190])));
    let image = painted(&as_file(&tinted, ImageFormat::Png), 1);
    assert_eq!((image.dimensions(), image.color().has_color()), ((1_806, 1_204), false));
    let mut stamped = tinted.to_rgb8();
    (0..200).for_each(|at| (0..100).for_each(|down| stamped.put_pixel(at, down, Rgb([200, 0, 0]))));
    let bytes = as_file(&DynamicImage::ImageRgb8(stamped), ImageFormat::Png);
    assert!(painted(&bytes, 1).color().has_color());
    let grey = PictureOptions { colours: Colours::Greys, ..PictureOptions::FOR_MODELS };
    let (_, png) = page_picture(&bytes, 1, &[], grey).unwrap();
    assert!(!image::load_from_memory(&png).unwrap().color().has_color());
    // Transparent pixels stand on white paper.
    let clear = DynamicImage::ImageRgba8(RgbaImage::from_pixel(8, 8, Rgba([0, 0, 0, 0])));
    assert_eq!(painted(&as_file(&clear, ImageFormat::Png), 1).to_luma8().get_pixel(1, 1), &Luma([255]));
}

#[test]
fn hostile_pictures_are_refused_in_a_sentence() {
    // A bomb: a PNG that claims to have 50,000 × 50,000 pixels.
    let mut bomb = as_file(&DynamicImage::ImageLuma8(GrayImage::new(8, 8)), ImageFormat::Png);
    bomb[16..24].copy_from_slice(&[50_000_u32.to_be_bytes(), 50_000_u32.to_be_bytes()].concat());
    let mut sum = flate2::Crc::new();
    sum.update(&bomb[12..29]);
    bomb[29..33].copy_from_slice(&sum.sum().to_be_bytes());
    let told = |bytes: &[u8]| pages::file(bytes).unwrap_err().to_string();
    let expected = "can't be read, because it is an image of 50000 × 50000 pixels, and an image may have 100 million: split it, or leave it out";
    assert_eq!(told(&bomb), expected);
    let png = as_file(&sample(), ImageFormat::Png);
    assert!(matches!(pages::file(&png[..20]), Err(Refusal::Damaged { .. })));
    // A picture cut off in its pixels is recognised, but its page can't be painted.
    let jpeg = as_file(&sample(), ImageFormat::Jpeg);
    for bytes in [&png[..png.len() - 30], &jpeg[..jpeg.len() / 2]] {
        let told = page_picture(bytes, 1, &[], PictureOptions::FOR_MODELS).map(|(picture, _)| picture.width);
        assert!(!matches!(told, Err(ref refusal) if !matches!(refusal, Refusal::Damaged { .. })), "{told:?}");
    }
    // A chain of images that leads back to its beginning ends.
    let mut circle = tiff(2);
    let first = u32::from_le_bytes(circle[4..8].try_into().unwrap());
    let at = circle.windows(4).rposition(|four| four == [0, 0, 0, 0]).unwrap();
    circle[at..at + 4].copy_from_slice(&first.to_le_bytes());
    assert!(pages::file(&circle).is_ok_and(|file| file.pages <= 2 && file.is_broken));
}
