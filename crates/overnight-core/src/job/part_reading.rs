//! The parts of the documents that readers work on side by side, and the progress of each.

use super::read_unit::ReadUnit;
use serde::{Deserialize, Serialize};

/// The reading of all parts as it goes on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartReading {
    /// The number of the phase in which the parts are read.
    pub phase: u32,
    /// The parts, in the order of the phase's todos.
    pub parts: Vec<ReadPart>,
    /// Whether all parts have been read, and doubled records were looked for.
    pub is_over: bool,
}

/// A part and its progress.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadPart {
    /// Documents, or pages or lines of one.
    pub units: Vec<ReadUnit>,
    /// Whether a reader was started for it.
    pub is_begun: bool,
    /// Its reader has ended.
    pub has_ended: bool,
}

/// A record that quotes the same place as one before it in its list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoubledRecord {
    /// The place of the first record: `$.obligations[3]`
    pub first: String,
    /// The place of the second record: `$.obligations[41]`
    pub second: String,
    /// The quote of the second record.
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
