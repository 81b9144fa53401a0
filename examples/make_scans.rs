//! Scans of our own making, each with the words that stand on it: printed, turned by a camera, skewed, noisy, faxed, photographed
//! with a shadow; a letter, an invoice with a ruled table, a form with boxes, and a contract whose last page is signed.
//!
//! ```text
//! cargo run --example make_scans
//! ```
//!
//! The pages are drawn as PDF, painted, and then worn. They lie in `examples/scans/pages`; what stands on `NAME` is
//! in `NAME.txt` in `examples/scans/truth`, with a form feed between pages.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "places of pixels, and how bright they are"
)]

use image::{DynamicImage, GrayImage, ImageFormat, Luma, RgbImage, codecs::jpeg::JpegEncoder};
use overnight_documents::{PictureOptions, page_picture};
use std::{error::Error, fmt::Write as _, fs, io::Cursor, path::Path};
use tiff::encoder::{Compression, DeflateLevel, TiffEncoder, colortype::Gray8};

/// A line of a page: its font (`F1` Helvetica, `F2` bold, `F3` Times, `F4` italic), size, place in points, and words.
type Line = (&'static str, f32, f32, f32, &'static str);

const LETTER: &[Line] = &[
    ("F2", 13.0, 70.0, 780.0, "Harbour Mill Ltd."),
    ("F1", 11.0, 70.0, 764.0, "12 Quay Street, Bristol"),
    ("F1", 11.0, 430.0, 730.0, "4 March 2026"),
    ("F2", 15.0, 70.0, 690.0, "Notice of rent review, Unit 7"),
    ("F3", 12.0, 70.0, 655.0, "Dear Ms Okafor,"),
    ("F3", 12.0, 70.0, 630.0, "Under clause 8.2 of the lease dated 17 June 2021 the annual rent of Unit 7 is raised"),
    ("F3", 12.0, 70.0, 614.0, "from EUR 48,250.00 to EUR 51,900.00 with effect from 1 July 2026. The deposit of"),
    ("F3", 12.0, 70.0, 598.0, "EUR 12,062.50 remains unchanged."),
    ("F3", 12.0, 70.0, 570.0, "If you wish to dispute the review you must give notice in writing within 21 days of"),
    ("F3", 12.0, 70.0, 554.0, "receiving this letter. No fee is charged for a review by the surveyor."),
    ("F3", 12.0, 70.0, 520.0, "Yours sincerely,"),
    ("F4", 14.0, 70.0, 490.0, "J. Marlowe"),
];
const INVOICE: &[Line] = &[
    ("F2", 16.0, 70.0, 780.0, "Invoice 2026-0317"),
    ("F1", 11.0, 70.0, 750.0, "Date: 17 March 2026"),
    ("F1", 11.0, 70.0, 734.0, "Customer: Old Mill Cooperative"),
    ("F2", 11.0, 80.0, 690.0, "Item"),
    ("F2", 11.0, 300.0, 690.0, "Quantity"),
    ("F2", 11.0, 420.0, 690.0, "Amount"),
    ("F1", 11.0, 80.0, 666.0, "Pump set large"),
    ("F1", 11.0, 300.0, 666.0, "2"),
    ("F1", 11.0, 420.0, 666.0, "2,401.00"),
    ("F1", 11.0, 80.0, 642.0, "Seal of rubber"),
    ("F1", 11.0, 300.0, 642.0, "14"),
    ("F1", 11.0, 420.0, 642.0, "241.50"),
    ("F1", 11.0, 80.0, 618.0, "Fitting and test"),
    ("F1", 11.0, 300.0, 618.0, "1"),
    ("F1", 11.0, 420.0, 618.0, "380.00"),
    ("F2", 11.0, 80.0, 594.0, "Total"),
    ("F2", 11.0, 420.0, 594.0, "3,022.50"),
    ("F1", 11.0, 70.0, 550.0, "Payable within 30 days to account 4471 2290 0086."),
];
const FORM: &[Line] = &[
    ("F2", 15.0, 70.0, 780.0, "Entry permit"),
    ("F1", 12.0, 70.0, 740.0, "Name: Adaeze Okafor"),
    ("F1", 12.0, 70.0, 716.0, "Badge: 70-4418"),
    ("F1", 12.0, 96.0, 680.0, "Visitor"),
    ("F1", 12.0, 96.0, 656.0, "Contractor"),
    ("F1", 12.0, 96.0, 632.0, "Employee"),
    ("F1", 12.0, 70.0, 590.0, "Valid until 30 September 2026, for the boiler house only."),
];
const LAST_PAGE: &[Line] = &[
    ("F3", 12.0, 70.0, 780.0, "14. This contract ends on 31 December 2028 unless it is renewed in writing."),
    ("F3", 12.0, 70.0, 756.0, "15. The law of Ireland governs it."),
    ("F3", 12.0, 70.0, 700.0, "Signed for the supplier"),
    ("F3", 12.0, 330.0, 700.0, "Signed for the buyer"),
    ("F1", 9.0, 280.0, 60.0, "Page 3 of 3"),
];

/// A page of A4 as a picture; `drawn` are lines and curves in PDF's own words.
fn page(lines: &[Line], drawn: &str) -> Result<GrayImage, Box<dyn Error>> {
    let mut content = format!("{drawn}\n");
    for (font, size, x, y, words) in lines {
        let words = words.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
        writeln!(content, "BT /{font} {size} Tf {x} {y} Td ({words}) Tj ET")?;
    }
    let fonts = ["Helvetica", "Helvetica-Bold", "Times-Roman", "Times-Italic"];
    let fonts: Vec<String> = (1..)
        .zip(fonts)
        .map(|(nth, name)| {
            format!("/F{nth} << /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >> ")
        })
        .collect();
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << {}>> >> >>",
            fonts.concat()
        ),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
    ];
    let pdf = pdf(&objects.map(String::into_bytes));
    let options = PictureOptions { dpi: 200, ..PictureOptions::FOR_PEOPLE };
    let (_, png) = page_picture(&pdf, 1, &[], options)?;
    Ok(image::load_from_memory(&png)?.into_luma8())
}

/// A file of these objects, numbered from 1.
fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (nth, object) in (1..).zip(objects) {
        places.push(file.len());
        file.extend(format!("{nth} 0 obj\n").bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let at = file.len();
    let rows: Vec<String> = places.iter().map(|place| format!("{place:010} 00000 n \n")).collect();
    let count = objects.len() + 1;
    file.extend(
        format!("xref\n0 {count}\n0000000000 65535 f \n{}trailer << /Size {count} /Root 1 0 R >>\n", rows.concat())
            .bytes(),
    );
    file.extend(format!("startxref\n{at}\n%%EOF\n").bytes());
    file
}

/// Turned about its middle by so many degrees, on white.
fn skewed(image: &GrayImage, degrees: f32) -> GrayImage {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let (width, height) = (image.width() as f32, image.height() as f32);
    GrayImage::from_fn(image.width(), image.height(), |x, y| {
        let (dx, dy) = (x as f32 - width / 2.0, y as f32 - height / 2.0);
        let (x, y) = (cos * dx + sin * dy + width / 2.0, cos * dy - sin * dx + height / 2.0);
        let pixel = |x: f32, y: f32| {
            let is_in = x >= 0.0 && y >= 0.0 && x < width && y < height;
            if is_in { f32::from(image.get_pixel(x as u32, y as u32).0[0]) } else { 255.0 }
        };
        let (left, top) = (x.floor(), y.floor());
        let (right, bottom) = (x - left, y - top);
        let above = pixel(left, top) * (1.0 - right) + pixel(left + 1.0, top) * right;
        let below = pixel(left, top + 1.0) * (1.0 - right) + pixel(left + 1.0, top + 1.0) * right;
        Luma([(above * (1.0 - bottom) + below * bottom) as u8])
    })
}

/// Grains of so much, the same each time.
fn noisy(image: &GrayImage, most: i32) -> GrayImage {
    let mut state = 0x2545_f491_u32;
    let mut worn = image.clone();
    for pixel in worn.pixels_mut() {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        let grain = i32::try_from(state % (2 * most as u32 + 1)).unwrap_or_default() - most;
        pixel.0[0] = u8::try_from((i32::from(pixel.0[0]) + grain).clamp(0, 255)).unwrap_or_default();
    }
    worn
}

/// On warm paper, with a shadow from the lower right.
fn photographed(image: &GrayImage) -> RgbImage {
    let (width, height) = (image.width() as f32, image.height() as f32);
    RgbImage::from_fn(image.width(), image.height(), |x, y| {
        let shade = 1.0 - 0.55 * (x as f32 / width) * (y as f32 / height);
        let grey = f32::from(image.get_pixel(x, y).0[0]) * 0.9 * shade;
        image::Rgb([grey as u8, (grey * 0.97) as u8, (grey * 0.9) as u8])
    })
}

fn jpeg(image: &DynamicImage, quality: u8) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = Vec::new();
    image.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, quality))?;
    Ok(bytes)
}

/// As a camera keeps it that was turned: the pixels lie on their side, and EXIF says so.
fn turned(image: &GrayImage) -> Result<Vec<u8>, Box<dyn Error>> {
    let jpeg = jpeg(&DynamicImage::ImageLuma8(image.clone()).rotate270(), 80)?;
    let exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    let length = u16::try_from(exif.len() + 2)?.to_be_bytes();
    Ok([&jpeg[..2], b"\xff\xe1", &length, exif, &jpeg[2..]].concat())
}

fn png(image: &GrayImage) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Png)?;
    Ok(bytes.into_inner())
}

/// Black and white only, page after page.
fn fax(pages: &[&GrayImage]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut bytes)?.with_compression(Compression::Deflate(DeflateLevel::Best));
    for page in pages {
        let dots: Vec<u8> = page.pixels().map(|pixel| if pixel.0[0] < 128 { 0 } else { 255 }).collect();
        encoder.write_image::<Gray8>(page.width(), page.height(), &dots)?;
    }
    Ok(bytes.into_inner())
}

/// A PDF whose pages are pictures.
fn scanned_pdf(pages: &[&GrayImage]) -> Result<Vec<u8>, Box<dyn Error>> {
    let kids: Vec<String> = (0..pages.len()).map(|nth| format!("{} 0 R ", 3 + nth * 3)).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.concat(), pages.len()).into_bytes(),
    ];
    for (nth, page) in pages.iter().enumerate() {
        let (content, picture) = (4 + nth * 3, 5 + nth * 3);
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R \
                 /Resources << /XObject << /P {picture} 0 R >> >> >>"
            )
            .into_bytes(),
        );
        objects.push(b"<< /Length 30 >>\nstream\nq 595 0 0 842 0 0 cm /P Do Q  \nendstream".to_vec());
        let jpeg = jpeg(&DynamicImage::ImageLuma8((*page).clone()), 75)?;
        let head = format!(
            "<< /Type /XObject /Subtype /Image /Width {} /Height {} /ColorSpace /DeviceGray /BitsPerComponent 8 \
             /Filter /DCTDecode /Length {} >>\nstream\n",
            page.width(),
            page.height(),
            jpeg.len()
        );
        objects.push([head.as_bytes(), &jpeg, b"\nendstream"].concat());
    }
    Ok(pdf(&objects))
}

/// What stands on a page, in the order in which a person reads it.
fn words(lines: &[Line]) -> String {
    let words: Vec<&str> = lines.iter().flat_map(|(.., words)| [*words, "\n"]).collect();
    words.concat()
}

/// A file: its name, its content, and what stands on it.
type Scan = (&'static str, Vec<u8>, String);

/// All of them.
pub(crate) fn scans() -> Result<Vec<Scan>, Box<dyn Error>> {
    let letter = page(LETTER, "")?;
    let rows: Vec<String> = (0..6).map(|row| format!("70 {} m 520 {0} l S ", 704 - row * 24)).collect();
    let columns: Vec<String> = [70, 290, 410, 520].iter().map(|x| format!("{x} 704 m {x} 584 l S ")).collect();
    let invoice = page(INVOICE, &[rows, columns].concat().concat())?;
    let boxes: Vec<String> = [676, 652, 628].iter().map(|y| format!("70 {y} 14 14 re S ")).collect();
    let form = page(FORM, &format!("{}1.5 w 72 654 m 82 664 l S 72 664 m 82 654 l S", boxes.concat()))?;
    let scribble =
        "1.2 w 80 660 m 100 700 110 640 130 670 c 150 690 160 650 190 668 c S 340 656 m 360 690 380 640 400 672 c S";
    let last = page(LAST_PAGE, scribble)?;
    let form_words = words(FORM).replace("Visitor", "[ ] Visitor").replace("Contractor", "[x] Contractor");
    let form_words = form_words.replace("Employee", "[ ] Employee");
    let contract = format!("{}\x0c{}\x0c{}", words(LETTER), words(INVOICE), words(LAST_PAGE));
    Ok(vec![
        ("printed.png", png(&letter)?, words(LETTER)),
        ("turned.jpg", turned(&letter)?, words(LETTER)),
        ("skewed.png", png(&skewed(&letter, 2.0))?, words(LETTER)),
        ("noisy.jpg", jpeg(&DynamicImage::ImageLuma8(noisy(&letter, 90)), 30)?, words(LETTER)),
        (
            "fax.tiff",
            fax(&[&noisy(&letter, 40), &noisy(&invoice, 40)])?,
            format!("{}\x0c{}", words(LETTER), words(INVOICE)),
        ),
        ("shadow.jpg", jpeg(&DynamicImage::ImageRgb8(photographed(&skewed(&letter, -1.0))), 75)?, words(LETTER)),
        ("invoice.png", png(&invoice)?, words(INVOICE)),
        ("form.png", png(&form)?, form_words),
        ("contract.pdf", scanned_pdf(&[&letter, &invoice, &last])?, contract),
        (
            "blank.jpg",
            jpeg(&DynamicImage::ImageLuma8(noisy(&GrayImage::from_pixel(1_240, 1_754, Luma([246])), 6)), 60)?,
            String::new(),
        ),
    ])
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scans");
    let [pages, truth] = ["pages", "truth"].map(|name| folder.join(name));
    fs::create_dir_all(&pages)?;
    fs::create_dir_all(&truth)?;
    for (name, content, words) in scans()? {
        fs::write(pages.join(name), content)?;
        fs::write(truth.join(format!("{name}.txt")), words)?;
    }
    Ok(())
}
