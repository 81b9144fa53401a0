//! EPUB, both versions: an archive of web pages, one for each chapter.
//!
//! - `book`: which chapters there are, in which order, what they are called, and which are locked
//! - `read`: the reader

mod book;
mod read;

pub(crate) use read::EpubReader;

#[cfg(test)]
mod tests;
