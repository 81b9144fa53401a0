//! What an auditor asks of a finished or running job. Everything here only reads.

pub mod verify;
