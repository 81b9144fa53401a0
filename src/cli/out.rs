//! What is written to the terminal: results to stdout, talk to stderr.

use super::CliError;
use std::io::{self, ErrorKind, Write};

/// Writes a result. A reader that has gone away is no error: it has seen what it wanted.
pub(super) fn result(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(CliError::failed(format!("the result can't be written to stdout ({error})"))),
    }
}

/// Writes a result as indented JSON.
pub(super) fn json(value: &impl serde::Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| CliError::failed(format!("the result can't be written as JSON ({error})")))?;
    result(&format!("{text}\n"))
}

/// Says something on stderr. Nobody listening is no reason to stop.
pub(super) fn talk(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", plain(text));
}

/// Tells what went wrong, in one line.
pub(super) fn error(sentence: &str) {
    talk(&format!("error: {}", one_line(sentence)));
}

/// `text` without what a terminal would obey: models and documents have a say in it.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// `text` in one line.
pub(super) fn one_line(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        assert_eq!(plain("a\u{1b}[31mb\u{9b}c\r\nd\te"), "a[31mbc\nd\te");
        assert_eq!(one_line(" a\n\n b\u{7}\tc "), "a b c");
    }
}
