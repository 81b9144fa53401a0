//! What holds whatever a model says, a tool gives back, a person asks or a file turns into: random nights of a job, with
//! random budgets, limits and settings.
//!
//! `replies` makes replies, `night` what happens beside them, `invariants` is the accountant: it looks at each decision and keeps
//! books of its own, so that an invariant is never checked against the machine's own word.

mod invariants;
pub(super) mod night;
mod regressions;
mod replies;
mod rules;
mod wire;
