//! Models behind HTTP: the server that stands in for a vendor, one attempt, and what jobs make of it.

mod batch_tier;
mod doctor;
mod http;
mod images;
mod nights;
mod odd;
mod probes;
mod program;
mod served;
pub(crate) mod server;
mod strict;
mod today;
