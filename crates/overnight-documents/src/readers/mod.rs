//! The readers: bytes of one format in, text out, page after page.
//!
//! - `reader`: what a reader is, and whom it tells
//! - `plain`: text of any sort; `csv`: values with separators; `html`: web pages; `epub`: books of them
//! - `word`, `slides`, `workbook`: office files; `package`: what those of today share
//! - `pdf`: PDF
//! - `mail`: mails, and what is attached to them

mod csv;
mod epub;
mod html;
pub(super) mod mail;
pub(super) mod package;
mod pdf;
mod plain;
mod reader;
mod slides;
mod word;
mod workbook;

pub(super) use csv::CsvReader;
pub(super) use epub::EpubReader;
pub(super) use html::HtmlReader;
pub(super) use mail::MailReader;
pub(super) use pdf::PdfReader;
pub use pdf::header as pdf_header;
pub use pdf::{MarkedBox, PagePicture, QuoteOnPage, page_picture};
pub(super) use plain::PlainReader;
pub(super) use reader::{InPieces, ReadFailure, Reader, Source, note_counts};
pub use reader::{PageSink, Stopped};
pub(super) use slides::SlidesReader;
pub(super) use word::WordReader;
pub(super) use workbook::WorkbookReader;
