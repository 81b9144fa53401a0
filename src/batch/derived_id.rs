//! Ids that are always the same for the same thing, which makes repeated submissions idempotent.

use overnight_core::job::digest::sha256;
use uuid::{Builder, Uuid};

/// A version 7 id with the time `millis` since 1970; the rest is a hash of `what`.
pub(super) fn derived_id(millis: u64, what: &str) -> Uuid {
    let digest = sha256(what.as_bytes());
    let first = u128::from_str_radix(digest.get(..32).unwrap_or_default(), 16).unwrap_or_default();
    let mut bytes = [0; 10];
    for (byte, own) in bytes.iter_mut().zip(first.to_be_bytes()) {
        *byte = own;
    }
    Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid()
}

/// The time in an id of version 7.
pub(super) fn millis_of(id: Uuid) -> u64 {
    u64::try_from(id.as_u128() >> 80).unwrap_or_default()
}
