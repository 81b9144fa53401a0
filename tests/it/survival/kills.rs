//! Killed and stopped at any moment.
