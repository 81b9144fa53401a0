//! The made samples as bytes.

mod layout;
mod package;
mod pdf;
mod source;
mod widths;
mod word;
mod workbook;

pub(crate) use source::documents;
