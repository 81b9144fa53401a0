//! The readers: bytes of one format in, text out, page after page.
//!
//! - `reader`: what a reader is, and whom it tells
//! - `plain`: text of any sort; `comma`: CSV; `html`: web pages; `epub`: books of them
//! - `word`, `slides`, `workbook`: office files; `package`: what those of today share
//! - `pdf`: PDF
//! - `mail`: mails, and what is attached to them

mod comma;
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

pub(super) use comma::Comma;
pub(super) use epub::Epub;
pub(super) use html::Html;
pub(super) use mail::Mail;
pub(super) use pdf::Pdf;
pub use pdf::header as pdf_header;
pub(super) use plain::Plain;
pub(super) use reader::{Failure, InPieces, Reader, Source, note_counts};
pub use reader::{Pages, Stopped};
pub(super) use slides::Slides;
pub(super) use word::Word;
pub(super) use workbook::Workbook;
