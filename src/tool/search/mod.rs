//! `search_files`: over the documents' text and the workspace's own files.
//!
//! - `run`: which texts, each searched by one of a few threads, and what a search falls back to
//! - `pattern`: a pattern as a regular expression, or as words
//! - `lines`: lines that match, by ripgrep's searcher; `phrase`: words one after another, over line ends too; `words`:
//!   passages that hold most of the words
//! - `hit`: one hit with its page and line; `results`: all of them as the model is shown them
//!
//! *Invariants.* The same texts and pattern give the same result, whatever the threads do. No more than a text for each
//! thread is in memory.

mod hit;
mod lines;
mod pattern;
mod phrase;
mod results;
mod run;
mod words;

pub(super) use run::search;
