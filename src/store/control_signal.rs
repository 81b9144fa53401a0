//! What a person says to whoever works on a job.

/// What a person asked the process to do that works on a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ControlSignal {
    /// End the job as cancelled. Nothing takes this signal back.
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
