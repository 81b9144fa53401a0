//! Pictures as documents: photographs, scans and faxes as JPEG, PNG, TIFF (a page for each image in it), GIF, WebP and
//! BMP. They have no text of their own: each page is a gap until its text is recognised.
//!
//! - `pages`: the number of pages of a picture, and one of them as upright pixels, within limits
//! - `read`: its pages, without text; `paint`: a page as a PNG
//!
//! Decoding is the library's (`image`, with `tiff` for the chain of a TIFF file's images); it is done in a limited process.

mod pages;
mod paint;
mod read;

pub(crate) use pages::size;
pub(crate) use paint::{mark, paint_page, png};
pub(crate) use read::ImageReader;

#[cfg(test)]
mod tests;
