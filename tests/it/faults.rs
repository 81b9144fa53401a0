//! What happens around a job, with real things: a database that is lost or away, a full disk, a folder that can only be
//! read, a clock that goes wrong, several processes, another version. Nothing is mocked, and nothing sleeps.
//!
//! - `script`, `test_dir`, `room`: what they share: a job that always goes the same way, a folder to work in, a small disk
//! - `reindex`, `reindex_findings`: the database from the workspaces
//! - `aftermath`: what a person meets after a kill, and hands in a job that is worked on
//! - `people`: what a person says, and a full disk doesn't take
//! - `outage`, `disk`, `read_only`, `clock`, `several_processes`, `versions`: one fault each

mod aftermath;
mod clock;
mod disk;
mod outage;
mod people;
mod read_only;
mod reindex;
mod reindex_findings;
mod room;
mod script;
mod several_processes;
mod test_dir;
mod versions;
