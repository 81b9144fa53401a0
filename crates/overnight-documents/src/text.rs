//! Characters → tidy lines: one kind of line end, no control characters, no endless lines. Every reader's text passes
//! through this last, so that all other code can rely on it.

/// The longest line of an extracted text, in characters, so that programs that show lines know the maximum.
pub const MAX_LINE_CHARS: usize = 2_000;
/// The longest text of one document, in bytes; the rest is a gap.
pub(crate) const MAX_TEXT_BYTES: usize = 32 << 20;

/// The text in a reader's result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tidy {
    pub(super) text: String,
    /// Lines that were wrapped.
    pub(super) wrapped: u64,
}

/// Ends lines with `\n`, drops control characters except tab, wraps lines over [`MAX_LINE_CHARS`]. A form feed ends a
/// line. Everything else is kept as it is, so that line numbers stay those of the document.
pub(super) fn tidy(raw: &str) -> Tidy {
    let mut lines = Lines { text: String::with_capacity(raw.len()), start: 0, wrapped: 0 };
    let mut plain_from = 0;
    let mut chars = raw.char_indices().peekable();
    while let Some((at, found)) = chars.next() {
        if !(found.is_control() || matches!(found, '\u{2028}' | '\u{2029}')) || found == '\t' {
            continue;
        }
        lines.text.push_str(&raw[plain_from..at]);
        plain_from = at + found.len_utf8();
        match found {
            '\r' if chars.peek().is_some_and(|&(_, next)| next == '\n') => {}
            '\n' | '\r' | '\x0c' | '\u{85}' | '\u{2028}' | '\u{2029}' => lines.end(),
            _ => {}
        }
    }
    lines.text.push_str(&raw[plain_from..]);
    lines.wrap();
    Tidy { text: lines.text, wrapped: lines.wrapped }
}

/// The pages of a text with form feeds between them; one page if it has none.
pub(super) fn pages(raw: &str) -> std::str::Split<'_, char> {
    without_outer_form_feeds(raw).split('\x0c')
}

/// A form feed before the first page or after the last makes no page; printers' files often have one. If there are
/// both, each page ends with one, as a converter of PDF writes them: then the first page is empty.
fn without_outer_form_feeds(raw: &str) -> &str {
    let blank = |c: char| c.is_whitespace() || c.is_control();
    let head = raw.trim_start_matches(blank);
    let end = raw.trim_end_matches(blank).len();
    if let Some(at) = raw[end..].find('\x0c').filter(|_| !head.is_empty()) {
        return &raw[..end + at];
    }
    let leading = &raw[..raw.len() - head.len()];
    &raw[leading.rfind('\x0c').map_or(0, |at| at + 1)..]
}

struct Lines {
    text: String,
    /// The start of the current line.
    start: usize,
    wrapped: u64,
}

impl Lines {
    fn end(&mut self) {
        self.wrap();
        self.text.push('\n');
        self.start = self.text.len();
    }

    /// Breaks the current line, at a blank if there is one within reach.
    fn wrap(&mut self) {
        // Bytes are at least as many as characters, and are counted for free.
        if self.text.len() - self.start <= MAX_LINE_CHARS || end_of_chars(&self.text[self.start..]).is_none() {
            return;
        }
        self.wrapped += 1;
        let line = self.text.split_off(self.start);
        let mut rest = line.as_str();
        while let Some(end) = end_of_chars(rest) {
            // The blank itself may be the first character that doesn't fit.
            let next = rest[end..].chars().next().map_or(end, |c| end + c.len_utf8());
            let blank = rest[..next].rfind([' ', '\t']).filter(|&at| !rest[..at].trim_start().is_empty());
            let (line, after) = blank.map_or((end, end), |at| (at, at + 1));
            self.text.push_str(&rest[..line]);
            self.text.push('\n');
            rest = &rest[after..];
        }
        self.text.push_str(rest);
    }
}

/// The end of the first [`MAX_LINE_CHARS`] characters of `line`; `None` if it has no more than that.
fn end_of_chars(line: &str) -> Option<usize> {
    line.char_indices().nth(MAX_LINE_CHARS).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_one_way_and_controls_are_gone() {
        let tidied = tidy("a\r\nb\rc\n\u{2028}d\u{85}\te\u{1b}[1m\u{7f}\u{9c}f\0");
        assert_eq!(tidied, Tidy { text: "a\nb\nc\n\nd\n\te[1mf".into(), wrapped: 0 });
    }

    #[test]
    fn form_feeds_make_pages_but_not_at_the_ends() {
        for raw in ["\x0cone\n\x0c\x0cthree", "one\n\x0c\x0cthree\x0c", "one\n\x0c\x0cthree\x0c\r\n\x0c\n"] {
            assert_eq!(pages(raw).collect::<Vec<_>>(), ["one\n", "", "three"], "{raw:?}");
        }
        assert_eq!(pages("\x0cone\n\x0c").collect::<Vec<_>>(), ["", "one\n"]);
        assert_eq!(pages("one\n\x0c\n").collect::<Vec<_>>(), ["one\n"]);
        assert_eq!(pages("\n \x0c\n").collect::<Vec<_>>(), ["\n"]);
        assert_eq!(tidy("a\x0cb").text, "a\nb");
    }

    #[test]
    fn long_lines_are_wrapped_at_a_blank() {
        let word = "ä".repeat(999);
        let tidied = tidy(&format!("short\n{word} {word} {word}\n{word} {word}!"));
        assert_eq!(tidied.text, format!("short\n{word} {word}\n{word}\n{word} {word}!"));
        assert_eq!(tidied.wrapped, 1);
    }

    #[test]
    fn long_words_are_cut_between_characters() {
        let tidied = tidy(&format!("  {}\n{}", "日".repeat(4_100), "x".repeat(2_001)));
        let lines: Vec<usize> = tidied.text.split('\n').map(|line| line.chars().count()).collect();
        assert_eq!(lines, [2_000, 2_000, 102, 2_000, 1]);
        assert_eq!(tidied.wrapped, 2);
    }

    #[test]
    fn a_file_of_one_endless_line_takes_no_quadratic_time() {
        let tidied = tidy(&"a b ".repeat(500_000));
        assert_eq!(tidied.text.lines().map(str::len).min(), Some(1_999));
    }

    proptest::proptest! {
        #[test]
        fn no_character_but_blanks_and_controls_is_lost(raw in "(\\PC|[\n\r\t\x0c\u{1}]| |[a-z]{900}){0,40}") {
            let visible = |text: &str| text.chars().filter(|c| !c.is_control() && !c.is_whitespace()).collect::<String>();
            let tidied = tidy(&raw);
            proptest::prop_assert_eq!(visible(&raw), visible(&tidied.text));
            let mut lines = tidied.text.split('\n');
            proptest::prop_assert!(lines.all(|line| line.chars().count() <= MAX_LINE_CHARS));
            let again = tidy(&tidied.text);
            proptest::prop_assert_eq!(again.text, tidied.text);
        }
    }
}
