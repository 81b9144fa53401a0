//! What a program says that was built without a part of it (`[features]` in `Cargo.toml`), where the part is asked for.

/// A fragment, behind what was asked for.
#[cfg(not(feature = "network"))]
pub(crate) const NO_NETWORK: &str =
    "this program was built without its network part: build it with `cargo build --release`";

/// A fragment, behind what was asked for.
#[cfg(not(feature = "tables"))]
pub(crate) const NO_TABLES: &str = "this program was built without XLSX and Parquet: build it with `cargo build --release`, or export csv, jsonl or sqlite";
