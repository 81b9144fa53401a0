//! Fields: the instruction counts only if it is a formula, whose result isn't stored.

use crate::readers::equation_field::equation;

/// The maximum length of a field's instruction.
const MAX_INSTRUCTION: usize = 4_000;

/// The open fields.
#[derive(Debug, Default)]
pub(super) struct RtfFields {
    instruction: String,
    /// Formulas, each with the number of groups around its field's content.
    formulas: Vec<(usize, String)>,
}

impl RtfFields {
    /// Adds text of a field's instruction.
    pub(super) fn instruct(&mut self, text: &str) {
        if self.instruction.len() + text.len() <= MAX_INSTRUCTION {
            self.instruction.push_str(text);
        }
    }

    /// Ends the instruction; `groups` are open around it.
    pub(super) fn end_instruction(&mut self, groups: usize) {
        if let Some(shown) = equation(&std::mem::take(&mut self.instruction)) {
            self.formulas.push((groups, shown));
        }
    }

    /// Handles text inside `groups` groups: a field that stores its result needs no formula.
    pub(super) fn shown(&mut self, groups: usize, text: &str) {
        self.formulas.pop_if(|(around, _)| groups > *around && !text.trim().is_empty());
    }

    /// The text to write when a group ends and `groups` are left.
    pub(super) fn end_group(&mut self, groups: usize) -> Option<String> {
        self.formulas.pop_if(|(around, _)| groups < *around).map(|(_, shown)| shown)
    }
}
