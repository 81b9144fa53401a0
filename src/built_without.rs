//! Messages for requests of a part (`[features]` in `Cargo.toml`) without which the program was built.

/// A fragment, to follow the name of the request.
#[cfg(not(feature = "network"))]
pub(crate) const NO_NETWORK: &str =
    "this program was built without its network part: build it with `cargo build --release`";

/// A fragment, to follow the name of the request.
#[cfg(not(feature = "tables"))]
pub(crate) const NO_TABLES: &str = "this program was built without XLSX and Parquet: build it with `cargo build --release`, or export csv, jsonl or sqlite";
