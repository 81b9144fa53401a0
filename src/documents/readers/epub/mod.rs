//! EPUB, both versions: an archive of web pages, one for each chapter.
//!
//! - `files`: the archive, with bounds on what is unpacked of it
//! - `package`: which chapters there are, in which order, what they are called, and which are locked
//! - `read`: the reader

mod files;
mod package;
mod read;

pub(in crate::documents) use read::Epub;

#[cfg(test)]
mod tests;
