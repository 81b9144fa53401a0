//! Workspaces in an object store: the content of a job's folder at each checkpoint, so that any machine can continue
//! the job from there.
//!
//! - `client`: the client of the store behind an address; `buckets`: opens those of the providers
//! - `marker`: recognises a store as the one that it was
//! - `manifest`: the files of a workspace, block by block
//! - `upload`: uploads a workspace repeatedly, each time only the changed blocks
//! - `restore`: downloads a workspace into a new folder
//! - `deliverables`: downloads only the deliverables of a job
//! - `gc`: deletes what no job needs any more
//! - `error`: what can go wrong
//!
//! Names in the store: `objects/ab/<sha256>` is a block of a file, known by its content; `manifests/<job>/<lease>-<seq>-<sha256>.json`
//! is a manifest, known by its content too. Neither is ever changed. `workspace-store.json` is the store's marker.
//!
//! Invariants:
//! - The order is blocks, manifest, pointer in the database (fenced by the lease), rows. So a pointer always leads to
//!   all of its blocks, the database never knows more of a journal than its manifest has, and a worker that has lost
//!   its lease can only leave objects without a pointer.
//! - A block counts as stored only if the manifest that the database points to has it, or if it was uploaded less than
//!   an hour ago: so a sweep with a grace time of an hour or more never takes a block that is relied on.
//! - Nothing is written into a folder that has lost its marker: an unmounted share is an outage, not an empty store.
//! - A manifest is foreign input, and so is every block: paths are confined, data without the right hash is refused.

#[cfg(feature = "network")]
mod buckets;
mod client;
mod deliverables;
mod error;
mod gc;
mod manifest;
mod marker;
mod restore;
mod upload;

pub use client::WorkspaceStore;
pub use error::WorkspaceStoreError;
pub use gc::Garbage;
pub use manifest::{ManifestKey, WorkspaceManifest};
pub use upload::{JournalEnd, Uploader};
