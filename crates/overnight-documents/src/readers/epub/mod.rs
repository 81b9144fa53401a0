//! EPUB, both versions: an archive of web pages, one for each chapter.
//!
//! - `book`: the chapters, their order and titles, and which files are locked
//! - `read`: the reader

mod book;
mod read;

pub(crate) use read::EpubReader;

#[cfg(test)]
mod tests;
