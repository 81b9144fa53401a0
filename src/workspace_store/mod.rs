//! Workspaces in an object store: what a job's folder holds at each checkpoint, so that any machine
//! can go on with the job from there.
//!
//! - `client`: the client of the store behind an address; `buckets`: opens those of the providers
//! - `marker`: recognises a store as the one that it was
//! - `manifest`: which files a workspace had, block by block
//! - `upload`: uploads a workspace again and again, each time only the blocks that have changed
//! - `restore`: downloads a workspace into a new folder
//! - `deliverables`: downloads only what a job delivered
//! - `gc`: deletes what no job needs any more
//! - `error`: what can go wrong
//!
//! Names in the store: `objects/ab/<sha256>` is a block of a file, known by its content; `manifests/<job>/<lease>-<seq>-<sha256>.json`
//! is a manifest, known by its content too. Neither is ever changed. `workspace-store.json` is the store's marker.
//!
//! What must hold:
//! - The order is blocks, manifest, pointer in the database (fenced by the lease), rows. So a pointer always leads to all of
//!   its blocks, the database never knows more of a journal than its manifest has, and a worker that has lost its lease can
//!   only leave what nobody points to.
//! - A block is taken to be in the store only where the manifest that the database points to has it, or where it went up
//!   less than an hour ago: so a sweep with a grace time of an hour or more never takes what somebody counts on.
//! - Nothing goes into a folder that has lost its marker: a share that is not mounted is an outage, and no empty store.
//! - A manifest is foreign input, and so is every block: paths are confined, and nothing is believed before its hash is right.

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
