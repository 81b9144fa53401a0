//! The parts of the documents that readers work side by side, and how far they are.

use super::read_unit::ReadUnit;
use serde::{Deserialize, Serialize};

/// The reading of all parts as it goes on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartReading {
    /// The number of the phase that it is.
    pub phase: u32,
    /// In the order of the phase's todos.
    pub parts: Vec<ReadPart>,
    /// All have been read, and doubled records were looked for.
    pub is_over: bool,
}

/// A part, and how far it is.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadPart {
    /// Documents, or pages or lines of one.
    pub units: Vec<ReadUnit>,
    /// A reader has it, or had.
    pub is_begun: bool,
    /// Its reader has ended.
    pub has_ended: bool,
}

/// A record that quotes the same place as one before it in its list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoubledRecord {
    /// `$.obligations[3]`
    pub first: String,
    /// `$.obligations[41]`
    pub second: String,
    /// Of the second one.
    pub quote: String,
}

impl PartReading {
    pub(crate) fn new(phase: u32, parts: &[Vec<ReadUnit>]) -> Self {
        let part = |units: &Vec<ReadUnit>| ReadPart { units: units.clone(), is_begun: false, has_ended: false };
        Self { phase, parts: parts.iter().map(part).collect(), is_over: false }
    }

    pub(crate) fn on_started(&mut self, part: u32) {
        if let Some(part) = self.part(part) {
            part.is_begun = true;
        }
    }

    pub(crate) fn on_ended(&mut self, part: u32) {
        if let Some(part) = self.part(part) {
            part.has_ended = true;
        }
    }

    /// The part of that number, from 1.
    fn part(&mut self, number: u32) -> Option<&mut ReadPart> {
        self.parts.get_mut((number as usize).checked_sub(1)?)
    }
}
