//! Lines of Hebrew and Arabic. They are drawn from the left as every line is, so their characters come in the order of
//! the eye; here they get the order in which they are read, numbers and Latin words among them left as they are.

use unicode_bidi::{BidiClass, BidiInfo, Level, bidi_class};
use unicode_normalization::UnicodeNormalization;

use super::layout::{PlacedWord, WordBlock};
use super::words::Word;

/// Whether what `words` say runs mostly from right to left.
pub(super) fn is_from_right(words: &[Word]) -> bool {
    let classes = || words.iter().flat_map(|word| word.text.chars()).map(bidi_class);
    let from_right = classes().filter(|class| matches!(class, BidiClass::R | BidiClass::AL)).count();
    from_right > 0 && from_right > classes().filter(|class| matches!(class, BidiClass::L)).count()
}

/// Puts each line of `blocks` into the order in which it is read.
pub(super) fn read(blocks: &mut [WordBlock], is_from_right: bool) {
    for line in blocks.iter_mut().flat_map(|block| &mut block.lines) {
        if let Some(text) = logical(&line.text, is_from_right) {
            // Which word went where isn't known: any of them stands somewhere in the line.
            let whole = line.words.iter().copied().reduce(|whole, word| PlacedWord {
                start: whole.start.min(word.start),
                end: whole.end.max(word.end),
                top: whole.top.min(word.top),
                bottom: whole.bottom.max(word.bottom),
                ..whole
            });
            line.words = whole.map(|whole| PlacedWord { from: 0, to: text.len(), ..whole }).into_iter().collect();
            line.text = text;
        }
    }
}

/// `line` as it is read; none where that is as it is drawn. The rules that put characters in the order of the eye put
/// them back as well.
fn logical(line: &str, is_from_right: bool) -> Option<String> {
    if !line.chars().any(|character| matches!(bidi_class(character), BidiClass::R | BidiClass::AL)) {
        return None;
    }
    let level = if is_from_right { Level::rtl() } else { Level::ltr() };
    let info = BidiInfo::new(line, Some(level));
    let mut text = String::with_capacity(line.len());
    for paragraph in &info.paragraphs {
        text.extend(info.reorder_line(paragraph, paragraph.range.clone()).chars().flat_map(letters));
    }
    Some(text)
}

/// The letters that a shape of them stands for: drawn fonts have one for each place in a word.
fn letters(character: char) -> impl Iterator<Item = char> {
    let is_shape = matches!(character, '\u{fb1d}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fdfc}' | '\u{fe70}'..='\u{fefc}');
    let (shape, other) = if is_shape { (Some(character), None) } else { (None, Some(character)) };
    shape.into_iter().nfkc().chain(other)
}

#[cfg(test)]
mod tests {
    use super::logical;

    #[test]
    fn lines_are_put_in_the_order_in_which_they_are_read() {
        let drawn = ".2024-\u{5d1} Linux \u{5d4}\u{5e1}\u{5e8}\u{5d2}";
        let read = "\u{5d2}\u{5e8}\u{5e1}\u{5d4} Linux \u{5d1}-2024.";
        assert_eq!(logical(drawn, true).as_deref(), Some(read));
        let quoted = "the word \u{5dd}\u{5d5}\u{5dc}\u{5e9} means peace";
        assert_eq!(logical(quoted, false).as_deref(), Some("the word \u{5e9}\u{5dc}\u{5d5}\u{5dd} means peace"));
        assert_eq!(logical("nothing of it", true), None);
    }

    #[test]
    fn shapes_of_letters_are_letters() {
        assert_eq!(logical("\u{feea}\u{fef4}\u{fed3}", true).as_deref(), Some("\u{641}\u{64a}\u{647}"));
    }
}
