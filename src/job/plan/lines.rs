//! A plan's text as lines that remember where they came from, so that an error found after rewriting names the line
//! that the author wrote.

use super::scan::Kind;
use super::seen::Seen;
use super::{MAX_BYTES, PlanError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    /// The line of the text as given, from 1.
    pub(super) source: usize,
}

impl Line {
    pub(super) fn new(text: impl Into<String>, source: usize) -> Self {
        Self { text: text.into(), source }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// The plan's text; front matter is held apart, since it is not Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Document {
    pub(super) front: Vec<Line>,
    pub(super) lines: Vec<Line>,
}

impl Document {
    /// Cleans a text: no byte order mark, one kind of line end, no control characters.
    pub(super) fn new(text: &str) -> Result<Self, PlanError> {
        if text.len() > MAX_BYTES {
            return Err(PlanError::TooLong { bytes: text.len() });
        }
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let mut lines: Vec<Line> = text
            .split('\n')
            .enumerate()
            .map(|(index, line)| {
                let clean: String =
                    line.chars().filter(|&char| char == '\t' || !(char.is_control() || char == '\u{FEFF}')).collect();
                Line::new(clean, index + 1)
            })
            .collect();
        while lines.last().is_some_and(Line::is_blank) {
            lines.pop();
        }
        let blank = lines.iter().take_while(|line| line.is_blank()).count();
        lines.drain(..blank);
        let front = front_matter(&lines);
        let rest = lines.split_off(front);
        Ok(Self { front: lines, lines: rest })
    }

    /// The whole text, ending in one newline.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for line in self.front.iter().chain(&self.lines) {
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }

    /// The Markdown without the front matter.
    pub(super) fn markdown(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }

    /// Without blank lines at both ends, so that the text has one form.
    pub(super) fn trimmed(mut self) -> Self {
        while self.lines.last().is_some_and(Line::is_blank) {
            self.lines.pop();
        }
        let blank = self.lines.iter().take_while(|line| line.is_blank()).count();
        if self.front.is_empty() {
            self.lines.drain(..blank);
        }
        self
    }
}

impl Document {
    /// Closes what the last lines leave open, so that a phase can be added below.
    pub(super) fn closed(mut self, seen: &mut Seen) -> Self {
        let scan = seen.scan(&self);
        let Some(block) = scan.blocks.last() else {
            return self;
        };
        let opening = self.lines[block.first].text.trim().to_owned();
        let source = self.lines[block.last].source;
        let whole = || {
            self.lines[block.first..=block.last]
                .iter()
                .map(|line| line.text.to_lowercase())
                .collect::<Vec<_>>()
                .join("\n")
        };
        let end = match &block.kind {
            Kind::Fence(_, false) => {
                let char = opening.chars().next().unwrap_or('`');
                Some(opening.chars().take_while(|&next| next == char).collect())
            }
            Kind::Html => HTML
                .iter()
                .find(|(start, end)| opening.to_lowercase().starts_with(start) && !whole().contains(end))
                .map(|&(_, end)| end.to_owned()),
            Kind::Heading(..)
            | Kind::Paragraph(_)
            | Kind::List(_)
            | Kind::Table(_)
            | Kind::Fence(_, true)
            | Kind::Rule
            | Kind::Other => None,
        };
        self.lines.extend(end.map(|end: String| Line::new(end, source)));
        self
    }
}

/// HTML that goes on over blank lines until its end: the order matters, `<!` begins all declarations.
const HTML: &[(&str, &str)] = &[
    ("<!--", "-->"),
    ("<![cdata[", "]]>"),
    ("<?", "?>"),
    ("<!", ">"),
    ("<script", "</script>"),
    ("<pre", "</pre>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
];

/// How many lines at the start are YAML front matter: only what looks like it all through.
fn front_matter(lines: &[Line]) -> usize {
    if lines.first().is_none_or(|line| line.text.trim_end() != "---") {
        return 0;
    }
    let Some(end) = lines.iter().take(200).skip(1).position(|line| matches!(line.text.trim_end(), "---" | "..."))
    else {
        return 0;
    };
    let inside = &lines[1..=end];
    let key = |line: &str| {
        line.split_once(':').is_some_and(|(key, value)| {
            !key.is_empty()
                && key.chars().all(|char| char.is_ascii_alphanumeric() || "_-".contains(char))
                && (value.is_empty() || value.starts_with(' '))
        })
    };
    let fits = |line: &Line| line.is_blank() || line.text.starts_with([' ', '-']) || key(&line.text);
    if inside.iter().all(fits) && inside.iter().any(|line| key(&line.text)) { end + 2 } else { 0 }
}

/// Takes up to `columns` of indentation from a line; a tab reaches to the next multiple of four.
pub(super) fn dedent(text: &str, columns: usize) -> String {
    let mut column = 0;
    for (at, char) in text.char_indices() {
        if column >= columns {
            return " ".repeat(column - columns) + &text[at..];
        }
        match char {
            ' ' => column += 1,
            '\t' => column += 4 - column % 4,
            _ => return text[at..].to_owned(),
        }
    }
    String::new()
}

/// The marker of a list item at the start of a line: its indentation, the number if it has one, and where content begins.
pub(super) fn list_marker(line: &str) -> Option<(usize, Option<u32>, usize)> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let body = &line[indent..];
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let length = match body.as_bytes().get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => 1,
        b'.' | b')' if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    let rest = &body[length..];
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    if blanks == 0 && !rest.is_empty() {
        return None;
    }
    // More than four blanks begin an indented code block inside the item; a tab counts as what it reaches.
    let width = if rest.starts_with('\t') { 4 - (indent + length) % 4 } else { blanks };
    let width = if width > 4 || rest.trim().is_empty() { 1 } else { width };
    Some((indent, body[..digits].parse().ok(), indent + length + width))
}
