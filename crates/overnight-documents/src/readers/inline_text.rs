//! The text of a paragraph, assembled from runs. Raised, lowered and struck-through text is marked.

use crate::raised::{self, BaselineShift};

/// The style of a run in its line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RunStyle {
    pub(crate) script: BaselineShift,
    /// Struck through: written `~~so~~`.
    pub(crate) is_struck: bool,
}

/// The text so far. The current run is marked when it ends: adjacent runs in the same style are one.
#[derive(Debug, Default)]
pub(crate) struct InlineText {
    text: String,
    style: RunStyle,
    /// Where the raised or lowered text, and the struck-through text began.
    script_from: usize,
    struck_from: usize,
}

impl InlineText {
    pub(crate) fn push(&mut self, style: RunStyle, text: &str) {
        // Blanks look the same in any style, and separate no runs.
        if !text.trim().is_empty() {
            self.set(style);
        }
        self.text.push_str(text);
    }

    /// Sets the style of the following text.
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

    /// The text so far; the current run has no marks yet.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Takes the whole text and leaves nothing.
    pub(crate) fn take(&mut self) -> String {
        self.set(RunStyle::default());
        std::mem::take(&mut self.text)
    }
}

/// A struck-through line; blanks at its ends are left outside.
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
