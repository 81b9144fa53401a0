//! The tests that need more than one room of the house, in one binary.

mod dependencies;
mod store;
