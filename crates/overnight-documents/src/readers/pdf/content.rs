//! Prepares a page's content before it is run: made fit for the library's reader of operators, and cut into parts.

use std::borrow::Cow;

use unpdf::parser::backend::PdfValue;

use super::values::text_string;

/// The maximum bytes of content that are held as operators at once, which take some forty times as much.
const PART: usize = 1 << 20;

/// The replacement text of a marked part. The library gives a dictionary's keys and values one after the other.
pub(super) fn actual_text(operands: &[PdfValue]) -> Option<String> {
    let at = operands.iter().position(|operand| matches!(operand, PdfValue::Name(name) if name == b"ActualText"))?;
    let Some(PdfValue::Str(bytes)) = operands.get(at + 1) else { return None };
    Some(text_string(bytes))
}

/// `content` without the brackets of dictionaries, whose second one the library takes for the beginning of a string: so
/// the text that a marked part stands for is read.
pub(super) fn without_dictionaries(content: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memmem::find(content, b"ActualText").is_none() {
        return Cow::Borrowed(content);
    }
    let mut content = content.to_vec();
    let (mut at, mut strings) = (0, 0_usize);
    while let Some(&byte) = content.get(at) {
        match byte {
            b'\\' if strings > 0 => at += 1,
            b'(' => strings += 1,
            b')' => strings = strings.saturating_sub(1),
            b'<' if strings == 0 && content.get(at + 1) == Some(&b'<') => {
                content[at..at + 2].fill(b' ');
                at += 1;
            }
            b'<' if strings == 0 => at += memchr::memchr(b'>', &content[at..]).unwrap_or(0),
            b'>' if strings == 0 => content[at] = b' ',
            _ => {}
        }
        at += 1;
    }
    Cow::Owned(content)
}

/// The first part of `content`, the rest, and whether an operator may have been torn between the two.
pub(super) fn part(content: &[u8]) -> (&[u8], &[u8], bool) {
    let end = end_of_part(content);
    let (part, rest) = content.split_at(end);
    (part, rest, end == 2 * PART && !rest.is_empty())
}

/// The end of a part of `content` that is small enough to hold its operators at once: behind an operator that ends
/// something.
fn end_of_part(content: &[u8]) -> usize {
    if content.len() <= PART {
        return content.len();
    }
    let ends = |line: &[u8]| matches!(line.trim_ascii(), b"Q" | b"ET" | b"EMC" | b"f" | b"S" | b"n");
    let mut at = PART;
    while let Some(found) = memchr::memchr(b'\n', &content[at..(2 * PART).min(content.len())]) {
        let from = at;
        at += found + 1;
        let line = &content[from..at];
        if ends(line) || line.trim_ascii().rsplit(|&byte| byte == b' ').next().is_some_and(ends) {
            return at;
        }
    }
    (2 * PART).min(content.len())
}

/// The nesting depth of arrays in `content`.
pub(super) fn nesting(content: &[u8]) -> usize {
    let (mut depth, mut deepest, mut strings, mut is_escaped) = (0_usize, 0, 0_usize, false);
    for &byte in content {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if strings > 0 => is_escaped = true,
            b'(' => strings += 1,
            b')' => strings = strings.saturating_sub(1),
            b'[' if strings == 0 => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' if strings == 0 => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
