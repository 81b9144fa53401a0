//! Which documents the paths given by a user mean, and what they are called.
//! Reads no more content than is needed to see that a file holds other documents: what can't be read as text shows when it
//! is extracted.
//!
//! Folders are walked to the end. Hidden files and what an `.overnightignore` (written like a `.gitignore`) names are not
//! documents; a `.gitignore` says nothing about documents, so it doesn't count. Symbolic links inside a folder are not
//! followed, because they may lead anywhere, but listed; one that a user names is meant. Archives are gone into, and the
//! attachments of mails are documents as well.
//!
//! - `found`: what comes of it; `search`: path after path; `given_path`: what a path is; `walk`: a folder
//! - `names`: paths as names; `pattern`: paths with `*` in them; `links`: where a symbolic link leads;
//!   `nested_names`: what documents within files are called

mod found;
mod given_path;
mod links;
mod names;
mod nested_names;
mod pattern;
mod search;
#[cfg(test)]
mod tests;
mod walk;

pub use found::{FoundDocument, FoundDocuments, OwnPaths, discover, survey};
pub use given_path::given_folder;
pub use nested_names::holders;
