//! The pure machine, driven in memory: every transition, the prompts, and what holds for any sequence of replies.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what the tests share fails as a test does"
)]

mod attempts;
mod context;
mod endings;
mod loops;
mod planning;
mod prompts;
mod properties;
mod spans;
mod todos;
pub(crate) mod world;
