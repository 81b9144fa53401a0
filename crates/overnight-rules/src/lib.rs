//! Rules over the values of a JSON file, in the Common Expression Language (CEL, <https://cel.dev>), and whether a value stands
//! in the text that is quoted for it. It touches no file and no clock but the one that bounds a rule's time: what documents say
//! is asked of the caller.
//!
//! - [`number`], [`date`]: numbers and dates in the notations that people use
//! - [`carried`]: whether a value stands in a text
//! - [`rule`]: a rule as it is read: its syntax, the names and functions that it uses
//! - [`evaluate`]: what a rule says of a record, and the values that it saw

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
