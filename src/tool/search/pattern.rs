//! A pattern as a model writes it: a regular expression, or words. Several words are a phrase first, unless they have signs
//! that only an expression has; capital letters in a pattern make case count.

use crate::tool::ToolError;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use overnight_core::answer;
use regex::bytes::{Regex, RegexBuilder};
use std::fmt::Display;

/// Bytes of a pattern.
const MOST_BYTES: usize = 4_000;
/// The most bytes of a compiled expression.
const MOST_COMPILED: usize = 1 << 20;
/// The most words that count; later ones are ignored.
pub(super) const MOST_WORDS: usize = 16;
/// Letters that fonts have as one character.
const LIGATURES: [(&str, &str); 7] =
    [("ffi", "ﬃ"), ("ffl", "ﬄ"), ("ff", "ﬀ"), ("fi", "ﬁ"), ("fl", "ﬂ"), ("st", "ﬆ|ﬅ"), ("'", "’|‘")];

/// One way to look for a pattern.
#[derive(Debug)]
pub(super) enum TextSearch {
    /// Matching lines.
    Lines(RegexMatcher),
    /// Matches, across line ends too.
    Spans(Regex),
    /// Passages that hold the words.
    Passages(SearchWords),
}

/// Several words, searched for separately.
#[derive(Debug)]
pub(super) struct SearchWords {
    pub(super) each: Vec<Regex>,
    pub(super) plain: Vec<String>,
}

/// The ways to look for `pattern`: the first one that finds something is the answer.
pub(super) fn searches(pattern: &str) -> Result<Vec<TextSearch>, ToolError> {
    if pattern.len() > MOST_BYTES {
        return Err(ToolError::Tell(answer!("search.pattern_too_long", bytes = pattern.len(), most = MOST_BYTES)));
    }
    let words: Vec<&str> = pattern.split_whitespace().collect();
    let has_several = words.len() > 1;
    let ignores_case = !words.iter().any(|word| word.chars().any(char::is_uppercase));
    let build = |text: &str| {
        let mut builder = RegexBuilder::new(text);
        builder.case_insensitive(ignores_case).multi_line(true).size_limit(MOST_COMPILED).build()
    };
    let refused = |error: &dyn Display| refusal(&error.to_string());
    let phrase = || {
        let written: Vec<String> = words.iter().map(|word| written(word)).collect();
        build(&written.join(r"\s+")).map(TextSearch::Spans).map_err(|error| refused(&error))
    };
    let lines = || {
        let mut builder = RegexMatcherBuilder::new();
        builder.case_smart(true).line_terminator(Some(b'\n')).size_limit(MOST_COMPILED);
        builder.build(pattern).map(TextSearch::Lines)
    };
    if crosses_lines(pattern) {
        return Ok(vec![build(pattern).map(TextSearch::Spans).map_err(|error| refused(&error))?]);
    }
    // A sentence may have characters of expressions, too: it is tried literally first.
    if has_several && !pattern.contains(['\\', '+', '*', '|', '[', ']', '{', '}', '^', '$']) {
        let mut searches = vec![phrase()?];
        if pattern.contains(['.', '?', '(', ')']) {
            searches.extend(lines().ok());
        }
        searches.push(SearchWords::new(&words, &build).map(TextSearch::Passages).map_err(|error| refused(&error))?);
        return Ok(searches);
    }
    let mut searches = vec![lines().map_err(|error| refused(&error))?];
    if has_several {
        searches.push(phrase()?);
    }
    Ok(searches)
}

/// Whether an expression speaks of line ends: it has `\n`, or the flag by which a dot matches them.
fn crosses_lines(pattern: &str) -> bool {
    let has_flag = |group: &str| {
        let flags = group.split([':', ')']).next().unwrap_or_default();
        flags.split('-').next().is_some_and(|on| on.contains('s') && on.chars().all(char::is_alphabetic))
    };
    pattern.contains("\\n") || pattern.split("(?").skip(1).any(has_flag)
}

impl SearchWords {
    fn new(words: &[&str], build: &dyn Fn(&str) -> Result<Regex, regex::Error>) -> Result<Self, regex::Error> {
        let mut plain: Vec<String> = Vec::new();
        for word in words {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            if !word.is_empty() && !plain.iter().any(|one| one == word) && plain.len() < MOST_WORDS {
                plain.push(word.to_owned());
            }
        }
        Ok(Self { each: plain.iter().map(|word| build(&written(word))).collect::<Result<_, _>>()?, plain })
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
    ToolError::Tell(answer!("search.pattern_unreadable", error))
}
