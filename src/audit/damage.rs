//! Faults at a journal's end that reading further can't show, because every line that was read is whole.

use overnight_core::amount::counted;

/// How far a journal was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadExtent<'e> {
    /// Number and SHA-256 of the last whole line.
    pub seq: u64,
    pub head: &'e str,
    /// Bytes after that line, of a line without an end.
    pub torn: Option<u64>,
}

impl ReadExtent<'_> {
    /// A sentence if something is missing or differs. `known` is the number and SHA-256 of the last line that the
    /// database knows; while a process works on the job (`busy`), further lines may be on their way.
    pub fn damage(self, known: Option<(u64, &str)>, busy: bool) -> Option<String> {
        let Self { seq, head, torn } = self;
        match (torn, known) {
            _ if busy => None,
            (_, Some((known, _))) if known > seq => Some(format!(
                "the journal is damaged: it ends with line {seq}, and the database knows line {known}; what came between is not shown"
            )),
            (_, Some((known, other))) if known == seq && other != head => Some(format!(
                "the journal is damaged: the database knows another line {seq}, so lines were written anew; what they were is not shown"
            )),
            (Some(bytes), _) => Some(format!(
                "the journal is damaged: behind line {seq} are {} of a line without an end; it was cut off, and is not shown",
                counted(bytes, "byte")
            )),
            (None, Some(_) | None) => None,
        }
    }
}
