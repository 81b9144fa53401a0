//! Documents → text, each in its own process: a document that harms its reader (crash, hang, memory, endless output)
//! costs only itself, or a page of it, and never the program that works hundreds of jobs.
//!
//! - `extractor`: the interface for the rest of the program: the text of a document, the members of an archive
//! - `limits`: the resources of a reader process; `confinement`: its access; `message`: the protocol of both processes
//! - `child`: the reader process, behind a hidden command of our own program; `parent`: starts it and reads its messages
//! - `resumed_read`: assembles pages, and restarts a crashed reader after the page on which it crashed
//! - `ocr`: the helper programs that may be used; `helper_programs`: what `pdftotext` and `tesseract` add to a text
//! - `use_mode`: whether help is used for pages without text; `recognition`: parses the output of `tesseract`;
//!   `scanned_pages`: the pages that a model looks at; `second_look`: whether a text is what its pages show
//! - `cache`: texts kept by their document's content, shared by all jobs
//!
//! *Invariants.* A reader has no access to the program's memory, files, database or environment; its output is treated
//! as text of bounded length. The same content read by the same readers gives the same text, for any caller.

mod cache;
mod child;
mod confinement;
mod extractor;
mod helper_programs;
mod limits;
mod message;
mod ocr;
mod parent;
mod recognition;
mod resumed_read;
mod scanned_pages;
mod second_look;

mod use_mode;

pub use cache::FOLDER as CACHE_FOLDER;
pub use child::answer;
pub use confinement::{Confinement, SandboxMode};
pub use extractor::Extractor;
pub use parent::ReaderProgram;
pub use scanned_pages::{MOST_SCANNED_PAGES, PageForEyes, pages_for_eyes, transcribed_pages_key, transcription_key};
pub use use_mode::UseMode;

/// The hidden command of our program that [`answer`]s.
pub const COMMAND: &str = "extract-document";
