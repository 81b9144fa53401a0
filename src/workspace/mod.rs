//! One job's folder on disk (SPEC section 2): confined files, the journal and its chain, archives and their manifests,
//! the lock. It knows no event type and no tool; those who do pass in what is to be written.
//!
//! Invariants: nothing outside the folder is ever opened; no file but the live journal and `.lock` is ever written in
//! place; an archive that exists is never written again.

pub mod archive;
pub mod chain;
pub mod durable;
pub mod error;
mod flush;
pub mod hash;
pub mod journal;
pub mod known;
pub mod lock;
pub mod manifest;
pub mod names;
mod placement;
pub mod private;
pub mod prune;
pub mod rooted;
mod unnamed;

pub use error::WorkspaceError;
pub use known::{Folder, Known, ResolveError};
pub use names::ModelPath;
pub use rooted::Workspace;
