//! The pure machine, driven in memory: every transition, the prompts, and what holds for any sequence of replies.

mod context;
mod ends;
mod loops;
mod planning;
mod prompts;
mod properties;
mod todos;
mod world;
