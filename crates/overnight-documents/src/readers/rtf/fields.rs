//! Fields: what makes them counts only where it is a formula, whose look stands nowhere else.

use crate::readers::equation_field::equation;

/// The longest text that makes a field.
const MAX_INSTRUCTION: usize = 4_000;

/// The fields that we are in.
#[derive(Debug, Default)]
pub(super) struct RtfFields {
    instruction: String,
    /// Formulas, and how many groups are around what belongs to the field of each.
    formulas: Vec<(usize, String)>,
}

impl RtfFields {
    /// Text of what makes a field.
    pub(super) fn instruct(&mut self, text: &str) {
        if self.instruction.len() + text.len() <= MAX_INSTRUCTION {
            self.instruction.push_str(text);
        }
    }

    /// All of what makes it was read; so many groups are around.
    pub(super) fn end_instruction(&mut self, groups: usize) {
        if let Some(shown) = equation(&std::mem::take(&mut self.instruction)) {
            self.formulas.push((groups, shown));
        }
    }

    /// Text came within so many groups: a field that says itself what it shows needs no formula.
    pub(super) fn shown(&mut self, groups: usize, text: &str) {
        self.formulas.pop_if(|(around, _)| groups > *around && !text.trim().is_empty());
    }

    /// What is to be written when a group ends, and so many are left.
    pub(super) fn end_group(&mut self, groups: usize) -> Option<String> {
        self.formulas.pop_if(|(around, _)| groups < *around).map(|(_, shown)| shown)
    }
}
