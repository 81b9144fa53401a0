//! PDF.

mod glyphs;
mod layout;
mod order;
mod paint;
mod read;
mod words;

pub(super) use read::Pdf;
