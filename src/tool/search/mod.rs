//! `search_files`: over the documents' text and the workspace's own files.
//!
//! - `run`: the texts to search, each by one of a few threads, and the fallbacks of a search
//! - `pattern`: the ways to look for a pattern: as a regular expression, or as words
//! - `lines`: lines that match, by ripgrep's searcher; `spans`: matches across line ends; `words`: passages that hold
//!   most of the words
//! - `hit`: one hit with its page and line; `window`: the hits from an offset on; `results`: these as the model is shown them
//!
//! *Invariants.* The same texts and pattern give the same result, whatever the threads do. Following the offsets shows
//! each match once. At most one text per thread is in memory.

mod hit;
mod lines;
mod pattern;
mod results;
mod run;
mod spans;
mod window;
mod words;

pub(super) use run::search;
