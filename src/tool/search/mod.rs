//! `search_files`: over the documents' text and the workspace's own files.
//!
//! - `run`: which texts, each searched by one of a few threads, and what a search falls back to
//! - `pattern`: the ways to look for a pattern: as a regular expression, or as words
//! - `lines`: lines that match, by ripgrep's searcher; `spans`: what matches over line ends too; `words`: passages that hold
//!   most of the words
//! - `hit`: one hit with its page and line; `window`: the hits from an offset on; `results`: these as the model is shown them
//!
//! *Invariants.* The same texts and pattern give the same result, whatever the threads do. Going on from offset to offset
//! shows each match once. No more than a text for each thread is in memory.

mod hit;
mod lines;
mod pattern;
mod results;
mod run;
mod spans;
mod window;
mod words;

pub(super) use run::search;
