//! Work that blocks its thread: files, hashing, replay, checks. Where many jobs share a few threads, the runtime has another
//! thread go on with their tasks meanwhile, so that none of them waits for this one.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Does work that blocks the thread. The runtime of a single job has no other tasks that would have to go on.
pub fn run_blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        Ok(_) | Err(_) => work(),
    }
}
