//! PDF.

mod accents;
mod glyphs;
mod layout;
mod notes;
mod order;
mod paint;
mod read;
mod words;
mod write;

pub(super) use read::Pdf;
