//! What happens around a job, with real things: a database that is lost or away, a full disk, a folder that can only be
//! read, a clock that goes wrong, several processes, another version. Nothing is mocked, and nothing sleeps.
//!
//! - `script`, `desk`, `room`: what they share: a job that always goes the same way, a folder to work in, a small disk
//! - `reindex`, `found`: the database from the workspaces
//! - `aftermath`: what a person meets after a kill, and hands in a job that is worked on
//! - `outage`, `disk`, `read_only`, `clock`, `many`, `versions`: one fault each

mod aftermath;
mod clock;
mod desk;
mod disk;
mod found;
mod many;
mod outage;
mod read_only;
mod reindex;
mod room;
mod script;
mod versions;
