//! Many texts in one file: a line `-- name --` begins each, and what follows up to the next such line is the text.
//! A text that can't stand so (without an end of line at its end, with characters that nobody sees, with a line like that) is
//! under `-- name (escaped) --`: `\r`, `\u{feff}`, `\\`, and `\` at a line's end where the line has no end.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::{fmt::Write, str::Chars};

const ESCAPED: &str = " (escaped)";

/// Names with texts. What stands before the first has no name.
pub(crate) fn read(file: &str) -> Vec<(String, String)> {
    let mut sections = vec![(String::new(), String::new())];
    for line in file.split_inclusive('\n') {
        match header(line.trim_end_matches('\n')) {
            Some(name) => sections.push((name.to_owned(), String::new())),
            None => sections.last_mut().unwrap().1.push_str(line),
        }
    }
    if sections[0].1.is_empty() {
        sections.remove(0);
    }
    for (name, text) in &mut sections {
        if let Some(short) = name.strip_suffix(ESCAPED) {
            *name = short.to_owned();
            *text = plain(text.chars());
        }
    }
    sections
}

/// The file that reads as these.
pub(crate) fn write(sections: &[(String, String)]) -> String {
    let mut file = String::new();
    for (name, text) in sections {
        let text_is_odd = is_odd(text);
        if !name.is_empty() {
            writeln!(file, "-- {name}{} --", if text_is_odd { ESCAPED } else { "" }).unwrap();
        }
        file.push_str(&if text_is_odd { escaped(text) } else { text.clone() });
    }
    file
}

fn header(line: &str) -> Option<&str> {
    line.strip_prefix("-- ")?.strip_suffix(" --")
}

fn is_hidden(letter: char) -> bool {
    letter == '\u{feff}' || letter.is_control() && letter != '\n' && letter != '\t'
}

fn is_odd(text: &str) -> bool {
    !text.is_empty() && !text.ends_with('\n')
        || text.contains(is_hidden)
        || text.lines().any(|line| header(line).is_some())
}

fn escaped(text: &str) -> String {
    let mut written = String::new();
    for line in text.split_inclusive('\n') {
        let rest = header(line.trim_end_matches('\n')).map_or(line, |_| {
            written.push_str("\\u{2d}");
            &line[1..]
        });
        for letter in rest.chars() {
            match letter {
                '\\' => written.push_str("\\\\"),
                hidden if is_hidden(hidden) => written.extend(hidden.escape_default()),
                plain => written.push(plain),
            }
        }
    }
    written.push_str(if text.ends_with('\n') { "" } else { "\\\n" });
    written
}

fn plain(mut letters: Chars<'_>) -> String {
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        match letters.next().unwrap() {
            '\n' => {}
            'r' => text.push('\r'),
            'u' => {
                let code: String = letters.by_ref().skip(1).take_while(|letter| *letter != '}').collect();
                text.push(char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap());
            }
            other => text.push(other),
        }
    }
    text
}

#[test]
fn texts_of_all_kinds_come_back() {
    let texts = ["", "One\n", "One", "-- a --\n", "\u{feff}a\\b\r\nc\u{1}\t", "\\\n"];
    let sections: Vec<_> =
        texts.iter().enumerate().map(|(n, text)| (format!("now>{n}.md"), (*text).to_owned())).collect();
    assert_eq!(read(&write(&sections)), sections);
}
