//! The readers: bytes of one format in, text out, page after page.
//!
//! - `reader`: the interface of readers, and of the receivers of their pages
//! - `plain`: text of any sort; `csv`: values with separators; `html`: web pages; `epub`: books of them
//! - `word`, `slides`, `workbook`: office files; `package`: shared code for those of today
//! - `open_document`, `rtf`, by libraries `old_office`, `one_note`: other texts and slides; `flow`: their shared code
//! - `iwork`: the previews that documents of Pages, Numbers and Keynote hold
//! - `data`: JSON, XML, notebooks
//! - `chart`: the figures that a chart was drawn from
//! - `equation_field`: formulas that stand in fields of texts
//! - `inline_text`: runs of text in a line, with marks for raised or struck text
//! - `pdf`: PDF; `image`: pictures; `embedded`: those within documents, by their names
//! - `mail`: mails and their attachments

mod chart;
mod csv;
mod data;
mod embedded;
mod epub;
mod equation_field;
mod flow;
mod html;
pub(super) mod image;
mod inline_text;
mod iwork;
pub(super) mod mail;
mod old_office;
mod one_note;
mod open_document;
pub(super) mod package;
pub(super) mod pdf;
mod plain;
mod reader;
mod rtf;
mod slides;
mod word;
mod workbook;

pub(super) use chart::chart;
pub(super) use csv::{CsvReader, csv_delimiter};
pub(super) use data::{JsonReader, NotebookReader, XmlReader};
pub use embedded::{EmbeddedPicture, embedded_picture, embedded_pictures, is_pictures_only};
pub(super) use epub::EpubReader;
pub(super) use html::HtmlReader;
pub(super) use image::ImageReader;
pub(super) use inline_text::{InlineText, RunStyle};
pub(super) use iwork::{IWORK, IWorkReader};
pub(super) use mail::MailReader;
pub(super) use old_office::OldOfficeReader;
pub(super) use one_note::OneNoteReader;
pub(super) use open_document::OpenDocumentReader;
pub(super) use pdf::PdfReader;
pub use pdf::header as pdf_header;
pub use pdf::is_gibberish;
pub(super) use plain::PlainReader;
pub(super) use reader::{InPieces, ReadFailure, Reader, Source, note_counts};
pub use reader::{PageSink, Stopped};
pub(super) use rtf::RtfReader;
pub(super) use slides::SlidesReader;
pub(super) use word::{WordReader, is_single_file, read_single_file};
pub(super) use workbook::WorkbookReader;
