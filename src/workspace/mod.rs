//! One job's folder on disk: confined files, the journal and its chain, archives and their manifests, the lock. It
//! knows no tool, and of events only which texts in them are large, and which version made the first one; callers with
//! more knowledge pass in the data to write.
//!
//! Invariants: nothing outside the folder is ever opened; no file but the live journal and `.lock` is ever written in
//! place; an archive that exists is never written again.

pub mod archive;
pub mod archive_manifest;
pub mod chain;
pub mod error;
pub mod files;
mod flush;
pub mod fsync;
pub mod hash;
pub mod journal;
pub mod known_path;
pub mod lock;
pub mod model_path;
pub mod other_format;
pub mod packed;
mod placement;
pub mod private;
pub mod prune;
mod temporary;
mod walk;

pub use error::WorkspaceError;
pub use files::Workspace;
pub use known_path::{Folder, KnownPath, ResolveError};
pub use model_path::ModelPath;
