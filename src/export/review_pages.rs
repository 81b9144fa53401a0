//! The pages that show the records of a table beside their sources.

/// The location of the jobs' review pages.
#[derive(Clone, Debug)]
pub struct ReviewPages {
    /// A folder or an address.
    pub folder: String,
    /// The element of a record on its job's page, by deliverable and place.
    pub anchor: fn(&str, &str) -> String,
}
