//! The text of a paragraph as it is put together of runs. What is raised, lowered or struck through in it is marked.

use crate::raised::{self, BaselineShift};

/// How a run stands in its line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RunStyle {
    pub(crate) script: BaselineShift,
    /// Struck through: written `~~so~~`.
    pub(crate) is_struck: bool,
}

/// Text so far. The run in hand is marked when it is over: several in the same style are one.
#[derive(Debug, Default)]
pub(crate) struct InlineText {
    text: String,
    style: RunStyle,
    /// Where what is raised or lowered began, and what is struck through.
    script_from: usize,
    struck_from: usize,
}

impl InlineText {
    pub(crate) fn push(&mut self, style: RunStyle, text: &str) {
        // Blanks look alike in any style, and divide no run.
        if !text.trim().is_empty() {
            self.set(style);
        }
        self.text.push_str(text);
    }

    /// What comes next is in this style.
    pub(crate) fn set(&mut self, style: RunStyle) {
        if style == self.style {
            return;
        }
        if self.style.script != BaselineShift::Level {
            let run = self.text.split_off(self.script_from.min(self.text.len()));
            raised::push(&mut self.text, self.style.script, &run);
        }
        if self.style.is_struck && !style.is_struck {
            let run = self.text.split_off(self.struck_from.min(self.text.len()));
            let lines: Vec<String> = run.split('\n').map(struck).collect();
            self.text.push_str(&lines.join("\n"));
        }
        if style.is_struck && !self.style.is_struck {
            self.struck_from = self.text.len();
        }
        self.script_from = self.text.len();
        self.style = style;
    }

    /// As it is so far; the run in hand has no marks yet.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// All of it; nothing is left.
    pub(crate) fn take(&mut self) -> String {
        self.set(RunStyle::default());
        std::mem::take(&mut self.text)
    }
}

/// A line struck through, blanks at its ends left outside.
fn struck(line: &str) -> String {
    let text = line.trim();
    if text.is_empty() { line.to_owned() } else { line.replacen(text, &format!("~~{text}~~"), 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_style_are_marked_together() {
        let (raised, level) = (BaselineShift::Raised, BaselineShift::Level);
        let mut line = InlineText::default();
        for (script, is_struck, text) in [
            (level, false, "2"),
            (raised, false, "1"),
            (raised, false, "0"),
            (level, false, " costs "),
            (level, true, "100"),
            (raised, true, "4"),
            (level, true, " EUR "),
            (level, false, "200"),
        ] {
            line.push(RunStyle { script, is_struck }, text);
        }
        assert_eq!(line.take(), "2¹⁰ costs ~~100⁴ EUR~~ 200");
        assert!(line.is_blank());
    }
}
