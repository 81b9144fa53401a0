//! Which documents the paths given by a user mean, and their names. Reads no more content than is needed to see that a
//! file holds other documents: content that can't be read as text is noticed when it is extracted.
//!
//! Folders are walked completely. Hidden files and files named in an `.overnightignore` (written like a `.gitignore`)
//! are not documents; a `.gitignore` doesn't describe documents, so it isn't used. Symbolic links inside a folder are
//! listed but not followed, because they may lead anywhere; a link that a user names is followed. Archives are opened,
//! and the attachments of mails are documents too.
//!
//! - `found`: the result; `search`: path after path; `given_path`: the meaning of a path; `walk`: a folder
//! - `names`: paths as names; `pattern`: paths with `*` in them; `links`: where a symbolic link leads;
//!   `nested_names`: names of documents within files

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
