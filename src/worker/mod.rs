//! Workers: who takes jobs out of the queue and drives them, many at once, until it is told to stop.
//!
//! - `shift`: the loop: claim while there is room, and when to stop
//! - `work`: one job, from its claim until it rests; `open`: its workspace, here or out of the store; `make`: made anew
//! - `roster`: the jobs that are driven now, and the line to each
//! - `heartbeat`: keeps the leases while jobs are driven
//! - `pulse`: what else is done beside them: wishes, windows, sweeps, schedules
//! - `batches`: what is known of the batches they belong to
//! - `ends`: what follows when a batch has ended
//! - `hook`: who else is told of that
//! - `metrics`: what is counted, for Prometheus
//! - `terms`: how a worker works, and all of its times
//!
//! What a crash leaves behind: rows that say running, with a lease that nobody renews. Any worker's next sweep queues them
//! again, and who claims them goes on at the last decision of their journals.

mod batches;
mod ends;
mod heartbeat;
mod hook;
mod make;
mod metrics;
mod open;
mod pulse;
mod roster;
mod shift;
mod terms;
mod work;

pub use batches::{Models, Supply};
pub use hook::Hook;
pub use shift::{Summary, Worker};
pub use terms::{Terms, Times, Told};
pub use work::Rest;
