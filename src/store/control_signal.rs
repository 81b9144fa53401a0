//! Requests of people to the process that works on a job.

/// A person's request to the process that works on a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ControlSignal {
    /// End the job as cancelled. This signal can't be taken back.
    Cancel,
    /// Hold the job at its next turn; the next claim forgets it.
    Pause,
}

impl ControlSignal {
    pub fn name(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Pause => "pause",
        }
    }
}
