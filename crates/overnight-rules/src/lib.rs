//! Rules over the values of a JSON file in the Common Expression Language (CEL, <https://cel.dev>), and a check whether
//! a value stands in the text quoted for it. The crate accesses no file, and the clock only to bound a rule's time: the
//! caller answers questions about documents.
//!
//! - [`number`], [`date`]: numbers and dates in the notations that people use
//! - [`carried`]: whether a value stands in a text
//! - [`rule`]: a parsed rule: its syntax, and the names and functions that it uses
//! - [`evaluate`]: the result of a rule for a record, and the values that it compared

#![warn(missing_docs)]

mod arithmetic;
mod bounded;
mod bounds;
pub mod carried;
pub mod date;
pub mod evaluate;
mod functions;
mod json_value;
pub mod number;
pub mod rule;
mod shown_value;
