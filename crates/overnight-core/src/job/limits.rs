//! The bounds of a job. A todo's or a phase's bound forces a re-plan, a job's bound holds the job.

use serde::{Deserialize, Serialize};

/// Every bound that a job is under. `None` means without bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Turns on one todo; more of them end the phase, which is planned anew.
    pub turns_per_todo: u64,
    /// Turns in one phase; more of them end the phase, which is planned anew.
    pub turns_per_phase: u64,
    /// Model calls of the whole job.
    pub turns: u64,
    /// Input plus output tokens of the whole job.
    pub tokens: Option<u64>,
    /// USD of the whole job.
    pub cost_usd: Option<f64>,
    /// Milliseconds of work; time on hold doesn't count.
    pub wall_clock_ms: Option<u64>,
    /// Milliseconds that one model call may take.
    pub model_call_ms: u64,
    /// Milliseconds that one tool call may take.
    pub tool_call_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns_per_todo: 40,
            turns_per_phase: 200,
            turns: 5_000,
            tokens: None,
            cost_usd: None,
            wall_clock_ms: None,
            model_call_ms: 600_000,
            tool_call_ms: 120_000,
        }
    }
}
