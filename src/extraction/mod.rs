//! Documents → text, each in a process of its own: what a document does to its reader (crash, hang, memory, endless output)
//! costs that document, or that page of it, and never the program that works hundreds of jobs.
//!
//! - `extractor`: what the rest of the house asks: the text of a document, what lies inside an archive
//! - `limits`: what a reader may use; `message`: what both sides say to each other
//! - `child`: the reader's side, behind a hidden command of our own program; `parent`: the asking side
//! - `resumed_read`: page after page put together, also over a reader's fall
//! - `ocr`: which other programs may help; `helper_programs`: what they add to a text: `pdftotext`, `tesseract`
//! - `cache`: texts kept by their document's content, shared by all jobs
//!
//! *Invariants.* A reader has no way to the program's memory, files or database; what it says is taken as text of bounded
//! length. The same content read by the same readers gives the same text, whoever asks.

mod cache;
mod child;
mod extractor;
mod helper_programs;
mod limits;
mod message;
mod ocr;
mod parent;
mod resumed_read;

pub use cache::FOLDER as CACHE_FOLDER;
pub use child::answer;
pub use extractor::Extractor;
pub use ocr::OcrMode;

/// The hidden command of our program that [`answer`]s.
pub const COMMAND: &str = "extract-document";
