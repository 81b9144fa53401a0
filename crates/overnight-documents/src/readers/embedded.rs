//! Pictures within documents, by their names: a text names each picture, `[picture image1.png, 640×480 pixels]`, and a
//! program that shows pages can request it by that name. Small pictures are ornaments.

use super::image;
use super::package::Package;
use crate::page_picture::{PagePicture, PictureOptions};
use crate::refusal::Refusal;
use regex::Regex;
use std::io::Read;
use std::ops::Range;
use std::sync::LazyLock;

/// Pixels of the shorter side of a picture that is named, and of all of it, at least.
const LEAST_SIDE: u32 = 40;
const LEAST_PIXELS: u64 = 10_000;
/// The first bytes of a file, which include the size of its picture: cameras put a small one before it.
const HEAD_BYTES: u64 = 256 << 10;
/// The maximum number of characters of a name.
const MOST_NAME: usize = 100;
/// Bytes of a picture within a document.
const MOST_BYTES: u64 = 64 << 20;

static MARKER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\[picture ([^\[\],\n]{1,100}), (\d{1,6})×(\d{1,6}) pixels\]").ok());

/// A picture that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddedPicture {
    /// Bytes of its marker in the text.
    pub at: Range<usize>,
    /// The name in the text.
    pub name: String,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
}

/// The pictures that a text names, in their order.
pub fn embedded_pictures(text: &str) -> impl Iterator<Item = EmbeddedPicture> + '_ {
    let found = MARKER.iter().flat_map(move |marker| marker.captures_iter(text));
    found.filter_map(|found| {
        Some(EmbeddedPicture {
            at: found.get(0)?.range(),
            name: found.get(1)?.as_str().to_owned(),
            width: found.get(2)?.as_str().parse().ok()?,
            height: found.get(3)?.as_str().parse().ok()?,
        })
    })
}

/// Whether a text consists only of names of pictures.
pub fn is_pictures_only(text: &str) -> bool {
    let Some(marker) = MARKER.as_ref() else { return text.trim().is_empty() };
    marker.replace_all(text, "").trim().is_empty()
}

/// The marker for the picture in the part `part` of `package`; none if it is small, or its format isn't decoded here.
pub(crate) fn marker(package: &Package<'_>, part: &str) -> Option<String> {
    let (width, height) = image::size(&package.head(part, HEAD_BYTES)?)?;
    let name = part.rsplit('/').next().unwrap_or(part);
    let is_named = name.chars().count() <= MOST_NAME && !name.contains(['[', ']', ',', '\n']);
    let is_large = width.min(height) >= LEAST_SIDE && u64::from(width) * u64::from(height) >= LEAST_PIXELS;
    (is_named && is_large).then(|| format!("[picture {name}, {width}×{height} pixels]"))
}

/// Paints the picture that the text of the document in `bytes` names so, as a PNG. There is no limit on time here.
pub fn embedded_picture(bytes: &[u8], name: &str, options: PictureOptions) -> Result<(PagePicture, Vec<u8>), Refusal> {
    let damaged =
        |why: &str| Refusal::Damaged { format: "a picture within a document".to_owned(), why: why.to_owned() };
    let package = Package::open(bytes).ok_or_else(|| damaged("nothing can be unpacked of the document"))?;
    let ending = format!("/{}", name.to_ascii_lowercase());
    let part = if package.has(name) { Some(name) } else { package.ending(&ending) };
    let part = part.and_then(|part| package.part(part)).ok_or_else(|| damaged("there is none of this name in it"))?;
    let mut content = Vec::new();
    let read = part.and_then(|part| part.take(MOST_BYTES + 1).read_to_end(&mut content));
    read.map_err(|error| damaged(&error.to_string()))?;
    if content.len() as u64 > MOST_BYTES {
        return Err(Refusal::Overlong { why: format!("the picture has more than {} MiB", MOST_BYTES >> 20) });
    }
    image::paint_page(&content, 1, &[], options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_their_pictures() {
        let text =
            "The seal [picture image1.png, 640×480 pixels] holds.\n\n[picture: a gate]\n[picture, top right, 85×19 mm]";
        let found: Vec<_> = embedded_pictures(text).map(|found| (found.name, found.width, found.height)).collect();
        assert_eq!(found, [("image1.png".to_owned(), 640, 480)]);
        let only = ["[picture a b.jpg, 40×900 pixels]\n\n", "\x0c", "x[picture a.jpg, 40×900 pixels]", "[picture: a]"];
        assert_eq!(only.map(is_pictures_only), [true, true, false, false]);
    }
}
