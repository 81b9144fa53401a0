//! Which lines begin an item of a list. A line may look like one and only go on with a sentence.

use super::blocks::{Builder, Kind, ends_sentence, hangs_open};
use super::hyphens::ends_in_name;
use super::marker::{Family, Marker, marker};
use super::strength::strength_of;

/// As many blocks back the item before is looked for.
const NEAR: usize = 20;

impl Builder<'_> {
    /// Whether an item would be the first behind a colon, or follow on the item before.
    pub(super) fn is_next(&self, family: Family, number: u64) -> bool {
        // a piece of a document may begin in the middle of a list
        let Some(before) = self.open.as_ref().or(self.done.last()) else { return self.begins_in_list };
        let is_text = matches!(before.kind, Kind::Paragraph | Kind::Item(_));
        let led_to = is_text && before.pieces.last().is_some_and(|piece| piece.text.ends_with(':'));
        number == 1 && led_to || before.kind == Kind::Item(family) && number == before.number + 1
    }

    /// `B. List the authors`, behind its A: a capital alone is rather an initial.
    pub(super) fn capital(&self, text: &str) -> Option<Marker> {
        let (letter, rest) = text.split_once(". ").filter(|(letter, _)| letter.len() == 1)?;
        let letter = letter.bytes().next().filter(u8::is_ascii_uppercase)?;
        let number = u64::from(letter - b'A') + 1;
        let mark = Marker { family: Family::Capital, bytes: text.len() - rest.trim_start().len(), number, space: 1 };
        // the item before may have paragraphs and lists of its own
        let near = self.open.iter().chain(self.done.iter().rev()).take(NEAR);
        let mut items = near.take_while(|block| block.kind != Kind::Heading);
        let follows =
            items.find(|block| block.kind == Kind::Item(Family::Capital)).is_some_and(|item| number == item.number + 1);
        (follows || self.is_next(Family::Capital, number)).then_some(mark)
    }

    /// The marker of a new item, unless the line only goes on with a sentence that happens to look like one.
    pub(super) fn item_marker(&self, indent: usize, text: &str) -> Option<Marker> {
        let mark = marker(text).or_else(|| self.capital(text))?;
        // "invoke-rc." goes on with "d. Others may"
        if ends_in_name(self.last_text()) {
            return None;
        }
        let fresh = self.open.is_none();
        let in_item = self.is_open(|kind| matches!(kind, Kind::Item(_)));
        let last = self.last_text();
        let finished = ends_sentence(last) || last.ends_with(',');
        let rest = &text[mark.bytes..];
        // "The vendor shall" and its list, without a colon
        let taken_up = mark.number == 1 && strength_of(last).is_some() && hangs_open(last);
        let begins = match mark.family {
            Family::Bullet('o') => {
                let same = self.open.as_ref().is_some_and(|block| block.kind == Kind::Item(mark.family));
                fresh && (indent > 0 || mark.space > 1) || in_item && mark.space > 1 || same && finished
            }
            Family::Bullet('-' | '+' | '*' | '–') => {
                fresh
                    || in_item
                    || finished
                    || self.open.as_ref().is_some_and(|block| indent > block.indent)
                    || strength_of(last).is_some()
            }
            Family::Bullet('→') => fresh || finished || self.is_open(|kind| kind == Kind::Item(Family::Bullet('→'))),
            Family::Bullet(_) | Family::Capital => true,
            Family::Number | Family::Bracketed => fresh || in_item || finished || taken_up,
            Family::Letter => {
                let joined = last.ends_with(" or") || last.ends_with(" and");
                fresh || in_item || finished || taken_up || joined && text[..mark.bytes].contains(')')
            }
            // "2.5 seconds" goes on, "3.2 The vendor shall" begins
            Family::Clause(_) => {
                (fresh || in_item || finished) && rest.starts_with(|c: char| c.is_uppercase() || !c.is_alphanumeric())
            }
        };
        // in an unfinished item only the item's own kind begins another
        let mid_sentence = in_item
            && !finished
            && !self.broken
            && !fresh
            && matches!(mark.family, Family::Number | Family::Clause(_))
            && rest.starts_with(|c: char| c.is_lowercase())
            && !self.open.as_ref().is_some_and(|block| block.kind == Kind::Item(mark.family));
        // "must be" and "0. The next", in an item of another kind: a list in it would begin with 1
        let own = self.open.as_ref().is_some_and(|block| block.kind == Kind::Item(mark.family));
        let number = in_item && !finished && !fresh && !own && mark.family == Family::Number && mark.number != 1;
        (begins && !mid_sentence && !number).then_some(mark)
    }
}
