//! What is wrong with a journal's end, as far as reading it on can't show: what was read looks whole.

use overnight_core::amount::counted;

/// How far a journal was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalEnd {
    /// Number of the last whole line.
    pub seq: u64,
    /// Bytes behind it, of a line without an end.
    pub torn: Option<u64>,
}

impl JournalEnd {
    /// A sentence, where something is missing. `known` is the last line that the database knows of; while a process works on the
    /// job (`busy`), a line may be on its way.
    pub fn damage(self, known: Option<u64>, busy: bool) -> Option<String> {
        let Self { seq, torn } = self;
        match (torn, known) {
            _ if busy => None,
            (_, Some(known)) if known > seq => Some(format!(
                "the journal is damaged: it ends with line {seq}, and the database knows line {known}; what came between is not shown"
            )),
            (Some(bytes), _) => Some(format!(
                "the journal is damaged: behind line {seq} are {} of a line without an end; it was cut off, and is not shown",
                counted(bytes, "byte")
            )),
            (None, Some(_) | None) => None,
        }
    }
}
