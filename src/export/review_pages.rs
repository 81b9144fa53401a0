//! Where the records of a table are shown beside their sources.

/// Where the review pages of jobs lie.
#[derive(Clone, Debug)]
pub struct ReviewPages {
    /// A folder or an address.
    pub folder: String,
    /// The element of a record on the page of its job, by deliverable and place.
    pub anchor: fn(&str, &str) -> String,
}
