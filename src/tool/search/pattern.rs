//! A pattern as a model writes it: a regular expression, or words. Several words without a sign of regular expressions are
//! a phrase first; capital letters in a pattern make case count.

use crate::tool::ToolError;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use regex::bytes::{Regex, RegexBuilder};

/// Bytes of a pattern.
const MOST_BYTES: usize = 4_000;
/// Bytes that an expression may need once it is compiled.
const MOST_COMPILED: usize = 1 << 20;
/// Words that count; those behind them don't.
pub(super) const MOST_WORDS: usize = 16;
/// Letters that fonts have as one character.
const LIGATURES: [(&str, &str); 7] =
    [("ffi", "ﬃ"), ("ffl", "ﬄ"), ("ff", "ﬀ"), ("fi", "ﬁ"), ("fl", "ﬂ"), ("st", "ﬆ|ﬅ"), ("'", "’|‘")];

/// A parsed search pattern.
#[derive(Debug)]
pub(super) enum SearchPattern {
    Lines(RegexMatcher),
    Words(SearchWords),
}

/// Several words: as a phrase, and each alone.
#[derive(Debug)]
pub(super) struct SearchWords {
    pub(super) phrase: Regex,
    pub(super) each: Vec<Regex>,
    pub(super) plain: Vec<String>,
}

impl SearchPattern {
    pub(super) fn read(pattern: &str) -> Result<Self, ToolError> {
        if pattern.len() > MOST_BYTES {
            return Err(ToolError::Tell(format!(
                "the pattern has {} bytes; at most {MOST_BYTES} are searched for, and a few words are mostly enough",
                pattern.len()
            )));
        }
        let words: Vec<&str> = pattern.split_whitespace().collect();
        if words.len() > 1 && !pattern.contains(['\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$'])
        {
            return SearchWords::new(&words).map(Self::Words).map_err(|error| refusal(&error.to_string()));
        }
        RegexMatcherBuilder::new()
            .case_smart(true)
            .line_terminator(Some(b'\n'))
            .size_limit(MOST_COMPILED)
            .build(pattern)
            .map(Self::Lines)
            .map_err(|error| refusal(&error.to_string()))
    }
}

impl SearchWords {
    fn new(words: &[&str]) -> Result<Self, regex::Error> {
        let ignores_case = !words.iter().any(|word| word.chars().any(char::is_uppercase));
        let build =
            |text: &str| RegexBuilder::new(text).case_insensitive(ignores_case).size_limit(MOST_COMPILED).build();
        let written: Vec<String> = words.iter().map(|word| written(word)).collect();
        let mut plain: Vec<String> = Vec::new();
        for word in words {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            if !word.is_empty() && !plain.iter().any(|one| one == word) && plain.len() < MOST_WORDS {
                plain.push(word.to_owned());
            }
        }
        Ok(Self {
            phrase: build(&written.join(r"\s+"))?,
            each: plain.iter().map(|word| build(&self::written(word))).collect::<Result<_, _>>()?,
            plain,
        })
    }
}

/// A word as an expression that also finds it with ligatures.
fn written(word: &str) -> String {
    let mut text = String::new();
    let mut rest = word;
    'letters: while let Some(first) = rest.chars().next() {
        for (letters, one) in LIGATURES {
            if let Some(after) = rest.strip_prefix(letters) {
                text.push_str("(?:");
                // `ffi` may also be `ﬀi` or `fﬁ`.
                match letters {
                    "ffi" => text.push_str("ffi|ﬀi|fﬁ"),
                    "ffl" => text.push_str("ffl|ﬀl|fﬂ"),
                    _ => text.push_str(letters),
                }
                text.push('|');
                text.push_str(one);
                text.push(')');
                rest = after;
                continue 'letters;
            }
        }
        text.push_str(&regex::escape(first.encode_utf8(&mut [0; 4])));
        rest = &rest[first.len_utf8()..];
    }
    text
}

/// One sentence, on one line.
fn refusal(error: &str) -> ToolError {
    let mut error = error.split_whitespace().collect::<Vec<_>>().join(" ");
    if error.len() > 300 {
        error.truncate(error.floor_char_boundary(300));
        error.push('…');
    }
    ToolError::Tell(format!(
        "the pattern can't be read as a regular expression ({error}); escape special characters with \\"
    ))
}
