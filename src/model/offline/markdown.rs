//! Markdown as blocks. By lines and not by a full parser, since a document is read in pieces that begin anywhere, and
//! since every quote must be found again in the source as it stands.

use super::blocks::{Blocks, Builder, Kind, cells, indentation};
use super::furniture::Place;
use super::marker::{Family, marker};
use super::statements::{Code, Line, Start, Style};

/// Reads lines of Markdown; `places` says which of them belong to the pages and not to the text.
pub(super) fn read<'a>(lines: &[Line<'a>], places: &[Place], start: &Start, style: Style) -> Blocks<'a> {
    let mut reader = Reader {
        style,
        builder: Builder::new(start),
        fence: (start.code == Code::Fenced).then_some(Fence { mark: None, length: 3 }),
        quoted_fence: start.code == Code::Quoted,
        quoted_list: false,
        raw: None,
        contents: begun_within(lines),
        in_table: false,
    };
    let first = if reader.is_by_hand() { front_matter(lines) } else { 0 };
    for i in first..lines.len() {
        match places[i] {
            place @ (Place::Furniture | Place::Running) => {
                reader.builder.page_break(&lines[i], place);
                continue;
            }
            Place::PageStart => reader.builder.page_break(&lines[i], Place::PageStart),
            // notes are looked for in typeset text alone
            Place::Text | Place::Note => {}
        }
        let next = lines.get(i + 1).map_or("", |line| line.text);
        reader.line(&lines[i], next);
    }
    let code = match reader.fence {
        Some(_) => Code::Fenced,
        None if reader.quoted_fence => Code::Quoted,
        None => Code::None,
    };
    reader.builder.finish(code)
}

/// Where an open fence can end: at the same mark, at least as long. `None`: it was opened before this text began.
struct Fence {
    mark: Option<char>,
    length: usize,
}

struct Reader<'a> {
    style: Style,
    builder: Builder<'a>,
    fence: Option<Fence>,
    /// A quotation opened a fence and did not close it: what comes after the quotation's marks is code too, since
    /// converters lose the marks there, and a fence that never closes would swallow the rest of the document.
    quoted_fence: bool,
    /// A list is set in as a quotation is: web pages do that to move it to the right.
    quoted_list: bool,
    /// Inside `<pre>`, `<!--` and the like: what ends it.
    raw: Option<&'static str>,
    /// Columns at which the text of the open list items begins.
    contents: Vec<usize>,
    in_table: bool,
}

impl<'a> Reader<'a> {
    /// Not written by a reader of this program: it may have HTML in it, and code that is set in.
    fn is_by_hand(&self) -> bool {
        self.style == Style::Markdown
    }

    /// Nothing in it is code or a quotation.
    fn is_office(&self) -> bool {
        self.style == Style::Office
    }

    fn line(&mut self, line: &Line<'a>, next: &str) {
        let (indent, text) = indentation(line.text);
        if let Some(fence) = &self.fence {
            let run = text.chars().take_while(|c| fence.mark.map_or(matches!(c, '`' | '~'), |mark| *c == mark)).count();
            if run >= fence.length && text.chars().nth(run).is_none() {
                self.fence = None;
            }
            return;
        }
        if let Some(end) = self.raw {
            if text.to_lowercase().contains(end) {
                self.raw = None;
            }
            return;
        }
        if text.is_empty() {
            self.builder.close();
            self.in_table = false;
            return;
        }
        if self.quoted_fence && !text.starts_with('>') {
            self.quoted_fence = false;
            self.fence = (!text.starts_with("```")).then_some(Fence { mark: Some('`'), length: 3 });
            return;
        }
        if self.opens_verbatim(line, indent, text) {
            return;
        }
        if let Some(quoted) = text.strip_prefix('>').filter(|_| !self.is_office()) {
            let inner = quoted.trim_start();
            let listed = marker(inner).is_some() && !self.builder.is_open(|kind| kind == Kind::Other);
            let is_code = self.quoted_fence || inner.starts_with("```");
            if listed && !is_code {
                let shown = Line { text: quoted.strip_prefix(' ').unwrap_or(quoted), ..*line };
                self.line(&shown, next);
                self.quoted_list = true;
                return;
            }
            self.quoted_list &= is_code;
        } else {
            self.quoted_list = false;
        }
        if text.starts_with('>') && !self.is_office() {
            self.quoted_fence ^= text.trim_start_matches(['>', ' ']).starts_with("```");
            if !self.builder.is_open(|kind| kind == Kind::Other) {
                self.builder.begin(Kind::Other, indent, line, text);
            }
            if self.quoted_list && !self.quoted_fence {
                self.builder.close();
            }
            return;
        }
        if self.builder.open.is_none() {
            while self.contents.last().is_some_and(|content| indent < *content) {
                self.contents.pop();
            }
        }
        let base = self.contents.last().copied().unwrap_or(0);
        if self.is_by_hand() && self.builder.open.is_none() && indent >= base + 4 {
            self.builder.single(Kind::Other, indent, line, text);
            return;
        }
        if self.row(line, indent, text, next) || self.heading_or_rule(line, text, next) {
            return;
        }
        self.item_or_text(line, indent, text);
    }

    /// Fences, `<pre>`, comments.
    fn opens_verbatim(&mut self, line: &Line<'a>, indent: usize, text: &'a str) -> bool {
        let mark = text.chars().next().unwrap_or(' ');
        if matches!(mark, '`' | '~') && !self.is_office() {
            let length = text.chars().take_while(|c| *c == mark).count();
            if length >= 3 && !(mark == '`' && text[length..].contains('`')) {
                self.builder.single(Kind::Other, indent, line, text);
                self.fence = Some(Fence { mark: Some(mark), length });
                return true;
            }
        }
        if mark == '<' && self.is_by_hand() {
            let lower = text.to_lowercase();
            let ends = [("<!--", "-->"), ("<pre", "</pre>"), ("<script", "</script>"), ("<style", "</style>")];
            if let Some((_, end)) = ends.into_iter().find(|(open, _)| lower.starts_with(open)) {
                self.builder.single(Kind::Other, indent, line, text);
                self.raw = (!lower.contains(end)).then_some(end);
                return true;
            }
        }
        false
    }

    fn row(&mut self, line: &Line<'a>, indent: usize, text: &'a str, next: &str) -> bool {
        let barred = text.starts_with('|') && text[1..].contains('|');
        let next_delimits = is_delimiter(indentation(next).1);
        if !(barred || self.in_table || text.contains('|') && next_delimits) {
            return false;
        }
        if !text.contains('|') {
            self.in_table = false;
            return false;
        }
        if is_delimiter(text) {
            self.builder.close();
        } else {
            self.builder.row(next_delimits && !self.in_table, indent, line, &cells(text));
        }
        self.in_table = true;
        true
    }

    fn heading_or_rule(&mut self, line: &Line<'a>, text: &'a str, _next: &str) -> bool {
        let hashes = text.bytes().take_while(|b| *b == b'#').count();
        if (1..=6).contains(&hashes) && text[hashes..].starts_with([' ', '\t']) {
            let title = text[hashes..].trim();
            let bare = title.trim_end_matches('#');
            let title = if bare.is_empty() || bare.ends_with([' ', '\t']) { bare.trim() } else { title };
            self.builder.close();
            self.contents.clear();
            if !title.is_empty() {
                self.builder.heading(line, title);
            }
            return true;
        }
        let mark = text.chars().next().unwrap_or(' ');
        let only = |allowed: char| text.chars().all(|c| c == allowed);
        let underlines = (only('=') || only('-')) && text.len() >= 2;
        if underlines
            && !self.builder.broken
            && self.builder.open.as_ref().is_some_and(|block| block.kind == Kind::Paragraph && block.pieces.len() <= 2)
        {
            if let Some(block) = &mut self.builder.open {
                block.kind = Kind::Heading;
                let title: Vec<&str> = block.pieces.iter().map(|piece| piece.text).collect();
                self.builder.section = Some(super::blocks::fold(&title.join(" ")).into());
            }
            self.builder.close();
            self.contents.clear();
            return true;
        }
        let rule = matches!(mark, '-' | '*' | '_' | '=')
            && text.chars().all(|c| c == mark || c == ' ')
            && text.chars().filter(|c| *c == mark).count() >= 3;
        if rule {
            self.builder.single(Kind::Other, 0, line, text);
        }
        rule
    }

    fn item_or_text(&mut self, line: &Line<'a>, indent: usize, text: &'a str) {
        let in_item = self.builder.is_open(|kind| matches!(kind, Kind::Item(_)));
        let in_text = self.builder.open.is_some();
        let found = marker(text).or_else(|| self.builder.capital(text)).filter(|mark| match mark.family {
            Family::Bullet(c) => !matches!(c, 'o' | '→'),
            Family::Number => !in_text || in_item || mark.number == 1 || !self.contents.is_empty(),
            Family::Capital => true,
            Family::Letter | Family::Bracketed | Family::Clause(_) => {
                !in_text || in_item || super::blocks::ends_sentence(self.builder.last_text())
            }
        });
        if let Some(mark) = found {
            // "3.2 The vendor shall": a clause. "2.5 seconds is enough" begins no list either way, and is prose
            let content = indent + text[..mark.bytes].chars().count().min(if mark.space > 4 { 2 } else { 99 });
            while self.contents.last().is_some_and(|content| indent < *content) {
                self.contents.pop();
            }
            if !matches!(mark.family, Family::Clause(_)) {
                self.contents.push(content);
            }
            // an item that is a block of code
            if self.opens_verbatim(line, content, &text[mark.bytes..]) {
                return;
            }
            self.builder.item(mark, indent, line, text);
            return;
        }
        // an admonition: its text stands four columns in
        if self.is_by_hand()
            && !in_text
            && (text.starts_with("!!! ") || text.starts_with("??? ") || text.starts_with(":::"))
        {
            self.builder.single(Kind::Other, indent, line, text);
            if !text.starts_with(':') {
                self.contents.push(indent + 4);
            }
            return;
        }
        if self.is_by_hand() && !in_text && text.starts_with('[') && text.contains("]: ") {
            self.builder.single(Kind::Other, indent, line, text);
            return;
        }
        // the definition in a definition list
        if let Some(definition) = text.strip_prefix(": ") {
            while self.contents.last().is_some_and(|content| indent < *content) {
                self.contents.pop();
            }
            self.contents.push(indent + 2);
            if self.opens_verbatim(line, indent + 2, definition.trim_start()) {
                return;
            }
            self.builder.begin(Kind::Paragraph, indent, line, definition.trim_start());
            return;
        }
        if self.builder.broken && self.builder.is_over(text) {
            self.builder.close();
        }
        self.builder.text(indent, line, text);
    }
}

/// Where the text of the list stands within which a piece of a document begins.
fn begun_within(lines: &[Line<'_>]) -> Vec<usize> {
    let is_piece = lines.first().is_some_and(|line| line.number > 1);
    let first = lines.iter().map(|line| indentation(line.text)).find(|(_, text)| !text.is_empty());
    first
        .filter(|(indent, text)| is_piece && *indent >= 4 && marker(text).is_some())
        .map(|(indent, _)| indent)
        .into_iter()
        .collect()
}

/// `|---|:--:|`
fn is_delimiter(text: &str) -> bool {
    text.contains('-') && text.contains('|') && text.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

/// How many lines YAML front matter takes at the very beginning of a document.
fn front_matter(lines: &[Line<'_>]) -> usize {
    let opens = lines.first().is_some_and(|line| line.number <= 1 && line.text.trim_end() == "---");
    if !opens {
        return 0;
    }
    let end = lines.iter().take(80).skip(1).position(|line| matches!(line.text.trim_end(), "---" | "..."));
    end.map_or(0, |at| at + 2)
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
