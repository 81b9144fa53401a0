//! Makes text of models, documents and servers safe to show: one line without control characters. Each format escapes it further.

pub use overnight_core::amount::counted;
use overnight_documents::is_invisible;

/// Characters of a sentence, at most, that a page shows.
const MOST_CHARS: usize = 300;

/// `text` in one line, without control characters, invisible characters and those that change the text's direction.
pub fn one_line(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .filter(|c| !is_invisible(*c))
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// [`one_line`], cut if it is long.
pub fn short(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(MOST_CHARS) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    }
}

/// USD to the hundredth of a cent.
pub fn usd(amount: f64) -> String {
    format!("{amount:.4}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_that_nothing_obeys() {
        assert_eq!(one_line(" a\n\n|b\u{1b}[31m\u{202e}c\u{feff}\t d\r"), "a |b [31mc d");
        assert_eq!(short(&"x".repeat(300)), "x".repeat(300));
        assert_eq!(short(&format!("{}é", "x".repeat(300))), format!("{}…", "x".repeat(300)));
        assert_eq!(counted(1, "job") + &counted(0, "job"), "1 job0 jobs");
    }
}
