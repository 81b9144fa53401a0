//! The only clock: the machine gets time as data.

use crate::job::time::Timestamp;

/// Now.
pub fn now() -> Timestamp {
    Timestamp::new(chrono::Utc::now())
}
