//! Documents → text, each in a process of its own: what a document does to its reader (crash, hang, memory, endless output)
//! costs that document, or that page of it, and never the program that works hundreds of jobs.
//!
//! - `extractor`: the interface for the rest of the program: the text of a document, the members of an archive
//! - `limits`: what a reader process may use; `confinement`: what it may reach; `message`: the protocol between the two processes
//! - `child`: the reader process, behind a hidden command of our own program; `parent`: starts it and reads its messages
//! - `resumed_read`: puts pages together, and restarts a reader that crashed behind the page that it crashed on
//! - `ocr`: which other programs may help; `helper_programs`: what they add to a text: `pdftotext`, `tesseract`
//! - `use_mode`: whether help is used with what has no text; `recognition`: what `tesseract` says of a page;
//!   `scanned_pages`: which ones a model looks at; `second_look`: whether a text is what its pages show
//! - `cache`: texts kept by their document's content, shared by all jobs
//!
//! *Invariants.* A reader has no way to the program's memory, files, database or environment; what it says is taken as text of
//! bounded length. The same content read by the same readers gives the same text, whoever asks.

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
