//! The sentences with which the program answers a model. They stand in `instructions/runner/answers.md`, so that wording can
//! be changed, and compared, without code: each under a heading with its name, with `{{value}}` where a value is put in.
//! Names and values are checked when the program is compiled.

use std::fmt::Display;

/// All sentences.
pub const ANSWERS: &str = include_str!("../../../instructions/runner/answers.md");

/// A sentence of `answers.md` with its values: `answer!("done", number, title = &todo.content)`. A name or a value that the
/// file does not have, or a value that is not given, is an error of compilation.
#[macro_export]
macro_rules! answer {
    ($name:literal $(, $key:ident $(= $value:expr)?)* $(,)?) => {{
        const TEMPLATE: &str = $crate::wording::template($name, &[$(stringify!($key)),*]);
        $crate::wording::fill(TEMPLATE, &[$((stringify!($key), &$crate::answer!(@value $key $($value)?))),*])
    }};
    (@value $key:ident) => { $key };
    (@value $key:ident $value:expr) => { $value };
}

/// The template of this name in [`ANSWERS`], whose values are `keys`. For constants: what is wrong stops the compiler.
#[doc(hidden)]
#[expect(clippy::panic, reason = "in a constant, this is how a compilation is stopped")]
#[must_use]
pub const fn template(name: &str, keys: &[&str]) -> &'static str {
    let (text, heading) = (ANSWERS.as_bytes(), name.as_bytes());
    let mut line = 0;
    while line < text.len() {
        let end = line_end(text, line);
        if is_heading(text, line) && end - line == heading.len() + 3 && stands_at(text, line + 3, heading) {
            let mut behind = end;
            while behind < text.len() && !is_heading(text, behind) {
                behind = next_line(text, behind);
            }
            let Ok(found) = std::str::from_utf8(trimmed(text, end, behind)) else {
                panic!("a heading is no letter's middle")
            };
            check(found.as_bytes(), keys);
            return found;
        }
        line = next_line(text, line);
    }
    panic!("answers.md has no sentence of this name")
}

const fn is_heading(text: &[u8], at: usize) -> bool {
    stands_at(text, at, b"## ")
}

const fn line_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < text.len() && text[at] != b'\n' {
        at += 1;
    }
    at
}

const fn next_line(text: &[u8], from: usize) -> usize {
    line_end(text, from) + 1
}

const fn stands_at(text: &[u8], at: usize, part: &[u8]) -> bool {
    let mut number = 0;
    while number < part.len() {
        if at + number >= text.len() || text[at + number] != part[number] {
            return false;
        }
        number += 1;
    }
    true
}

const fn trimmed(text: &[u8], from: usize, to: usize) -> &[u8] {
    let to = if to < text.len() { to } else { text.len() };
    text.split_at(to).0.split_at(from).1.trim_ascii()
}

/// Stops the compiler unless the values in `template` are just `keys`.
const fn check(template: &[u8], keys: &[&str]) {
    let (mut number, mut given) = (0, 0);
    while number < keys.len() {
        let times = count(template, keys[number].as_bytes());
        assert!(times > 0, "a value is given that the sentence does not have");
        given += times;
        number += 1;
    }
    let (mut at, mut places) = (0, 0);
    while at < template.len() {
        places += stands_at(template, at, b"{{") as usize;
        at += 1;
    }
    assert!(places == given, "the sentence has a value that is not given");
}

/// How often `{{key}}` stands in the template.
const fn count(template: &[u8], key: &[u8]) -> usize {
    let (mut at, mut found) = (0, 0);
    while at < template.len() {
        if stands_at(template, at, b"{{")
            && stands_at(template, at + 2, key)
            && stands_at(template, at + 2 + key.len(), b"}}")
        {
            found += 1;
        }
        at += 1;
    }
    found
}

/// Whether a text begins as the sentence of this name does, up to its first value, or as one of this group: `skipped` for all
/// `skipped.…`. Sentences that begin with a value are never found.
#[must_use]
pub fn is_said(name: &str, text: &str) -> bool {
    let is_of = |heading: &str| heading.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let sentences = ANSWERS.split("\n## ").skip(1).filter_map(|part| part.split_once('\n'));
    sentences.filter(|(heading, _)| is_of(heading)).any(|(_, sentence)| {
        let beginning = sentence.split("{{").next().unwrap_or_default().trim_end_matches('\n');
        !beginning.is_empty() && text.starts_with(beginning)
    })
}

/// The template with its values put in; values are not searched for places again.
#[doc(hidden)]
#[must_use]
pub fn fill(template: &str, values: &[(&str, &dyn Display)]) -> String {
    let mut parts = template.split("{{");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (key, behind) = part.split_once("}}").unwrap_or((part, ""));
        if let Some((_, value)) = values.iter().find(|(name, _)| *name == key) {
            text.push_str(&value.to_string());
        }
        text.push_str(behind);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in_once() {
        let (one, two) = ("{{two}}", 2);
        assert_eq!(
            fill("a {{one}}, {{two}} and {{one}}.", &[("one", &one), ("two", &two)]),
            "a {{two}}, 2 and {{two}}."
        );
        assert_eq!(fill("nothing", &[]), "nothing");
    }

    #[test]
    fn sentences_are_known_again_by_their_beginning() {
        assert!(is_said("skipped", &answer!("skipped.only_digest")));
        assert!(is_said("skipped.only_digest", &answer!("skipped.only_digest")));
        assert!(!is_said("skipped.job_ended", &answer!("skipped.only_digest")));
        assert!(is_said("skipped", &answer!("skipped.phase_ended", owed = "this")));
        assert!(!is_said("skip", &answer!("skipped.only_digest")));
        assert!(!is_said("open.tasks", ""));
    }

    #[test]
    fn every_sentence_has_a_name_of_its_own() {
        let mut names: Vec<&str> = ANSWERS.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
