//! What a line of plain text is by the lines around it, and by what was read before it.

use super::anew::{goes_on, is_command, is_cut_by_display};
use super::apart::Apart;
use super::blocks::{Kind, ends_sentence, indentation};
use super::furniture::Place;
use super::marker::{Family, marker};
use super::plain::Reader;
use super::plain_look::{is_code, is_prose, is_term};
use super::strength::strength_of;

/// As many lines of a chunk are looked at to say what it is: a chunk can be a whole file.
const CHUNK: usize = 60;

impl<'a> Reader<'_, 'a> {
    pub(super) fn blank(&self, i: usize) -> bool {
        self.places.get(i).is_none_or(|place| matches!(place, Place::Furniture | Place::Running | Place::Note))
            || self.apart[i] == Apart::Mark
            || indentation(self.lines[i].text).1.is_empty()
    }

    pub(super) fn next_text(&self, i: usize) -> &'a str {
        if self.blank(i + 1) || self.anew[i + 1] || self.apart[i + 1] == Apart::Item {
            ""
        } else {
            self.lines[i + 1].text
        }
    }

    pub(super) fn chunk(&self, i: usize) -> Vec<&'a str> {
        let end = self.lines.len().min(i + CHUNK);
        (i..end)
            .take_while(|&j| !self.blank(j) && (j == i || !self.anew[j] && self.apart[j] == Apart::No))
            .map(|j| self.lines[j].text)
            .collect()
    }

    /// The lines from `i` on that stand deeper than `outer`.
    pub(super) fn deeper_chunk(&self, i: usize, outer: usize) -> Vec<&'a str> {
        self.chunk(i).into_iter().take_while(|line| indentation(line).0 > outer).collect()
    }

    pub(super) fn alone(&self, i: usize) -> bool {
        i == 0 || self.blank(i - 1) || self.anew[i] || self.places[i] == Place::PageStart
    }

    /// Whether the line after `i` begins with a word that line `i` had room for.
    fn had_room(&self, i: usize, next: &str) -> bool {
        let width = |line: &str| line.trim_end().chars().count();
        let widest = self.chunk(i).into_iter().map(width).max().unwrap_or(0);
        let word = next.split_whitespace().next().map_or(0, |word| word.chars().count());
        (width(self.lines[i].text) + 1 + word) * 10 < widest * 6
    }

    /// A term or a title right over its text, which had room for the text's first word: a converter lost what set it off.
    pub(super) fn is_label(&self, i: usize, indent: usize, text: &str) -> bool {
        let (next_indent, next) = indentation(self.next_text(i));
        let finished = self.builder.open.is_none() || ends_sentence(self.builder.last_text());
        let opens = next.starts_with(|c: char| c.is_uppercase() || matches!(c, '“' | '"'));
        if !finished
            || !opens
            || next_indent < indent
            || text.chars().count() > 72
            || goes_on(text)
            || text.ends_with(['.', '!', '?', ';'])
        {
            return false;
        }
        let is_item = marker(text).is_some() || self.builder.capital(text).is_some();
        !is_item && self.had_room(i, next) && strength_of(text).is_none()
    }

    /// Whether a line is what a colon before it announced: it begins anew behind its line's end.
    pub(super) fn is_led_to(&self, i: usize, text: &str) -> bool {
        let is_announced = self.builder.open.is_some()
            && !self.builder.broken
            && self.builder.last_text().ends_with(':')
            && marker(text).is_none();
        let is_typed =
            || self.lines[i].page.is_some() && (is_command(text) && !is_prose(text) || self.is_short_list(i));
        is_announced && (!text.starts_with(char::is_lowercase) || is_code(text) || is_typed())
    }

    /// Whether what stands from line `i` on is no sentence's rest: lines of half the width, and no full stop.
    fn is_short_list(&self, i: usize) -> bool {
        let lines = self.chunk(i);
        let half = self.builder.last_text().chars().count() / 2;
        let is_stopped = lines.last().is_some_and(|line| ends_sentence(line.trim_end()));
        !is_stopped && lines.iter().all(|line| line.chars().count() <= half)
    }

    pub(super) fn is_term(&self, i: usize) -> bool {
        let (indent, text) = indentation(self.lines[i].text);
        let (next_indent, next) = indentation(self.next_text(i));
        // cheap first: most lines are followed by one that stands where they stand
        let hangs = !next.is_empty() && (next_indent > indent + 1 || (next_indent == indent && text.len() < 70));
        hangs && marker(text).is_none() && is_term(&self.chunk(i))
    }

    /// Whether the line is one of several numbered lines in a row, the first behind a colon, or the one that follows on
    /// the item before: a list, not headings.
    pub(super) fn listed(&self, i: usize, text: &str) -> bool {
        let number = |text: &str| marker(text).filter(|mark| mark.family == Family::Number).map(|mark| mark.number);
        let Some(own) = number(text) else { return false };
        // the section behind section 3, and not what follows on the third item in it
        let section = self.builder.section.as_deref().and_then(|section| section.split(['.', ' ']).next());
        let is_section = own > 1 && section.is_some_and(|section| section.parse() == Ok(own - 1));
        let is_next = self.builder.is_next(Family::Number, own) && !is_section;
        is_next || number(indentation(self.next_text(i)).1).is_some()
    }

    /// Whether the blank line at `i` stands over or under a line that a sentence goes around.
    pub(super) fn is_beside_display(&self, i: usize) -> bool {
        let Some(block) = &self.builder.open else { return false };
        let is_cut = |before: &str, display: &str, from: usize| {
            block.pieces[0].text.starts_with(char::is_uppercase)
                && is_cut_by_display(before, indentation(display).1, &self.chunk(from))
        };
        match block.pieces.as_slice() {
            [.., before, display] if display.line > before.line + 1 && is_cut(before.text, display.text, i + 1) => true,
            [.., before] => match self.chunk(i + 1).as_slice() {
                [display] => is_cut(before.text, display, i + 3),
                _ => false,
            },
            [] => false,
        }
    }

    /// Where the text of the line before `i` stands, its list mark left out.
    pub(super) fn content_indent(&self, i: usize) -> usize {
        let Some(line) = i.checked_sub(1).map(|before| self.lines[before].text) else { return 0 };
        let (indent, text) = indentation(line);
        let open = self.builder.is_open(|kind| matches!(kind, Kind::Item(_)));
        indent + marker(text).filter(|_| open).map_or(0, |mark| text[..mark.bytes].chars().count())
    }

    pub(super) fn open_indent(&self, i: usize) -> usize {
        if i == 0 { 0 } else { indentation(self.lines[i - 1].text).0 }
    }

    pub(super) fn open_indent_of_block(&self) -> usize {
        self.builder.open.as_ref().map_or(0, |block| block.indent)
    }

    pub(super) fn lines_open(&self) -> usize {
        self.builder.open.as_ref().map_or(0, |block| block.pieces.len())
    }
}
