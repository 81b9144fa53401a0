//! What opens a list item: bullets, numbers, letters, clause numbers.

/// The family of a list marker: items of one list share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Bullet(char),
    /// `3.` or `3)`
    Number,
    /// `3.2.1`, with how many numbers it has
    Clause(usize),
    /// `(a)`, `a)`, `(iv)`
    Letter,
    /// `A.`
    Capital,
    /// `(3)`
    Bracketed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) family: Family,
    /// Bytes of the line (without its indentation) that belong to the marker and the space after it.
    pub(super) bytes: usize,
    /// The number of `3.` or `C.`, 1 for anything else: a list that begins anew begins with 1.
    pub(super) number: u64,
    /// Blanks between the marker and the text.
    pub(super) space: usize,
}

/// Marks that mean nothing else, wherever they stand; others may be a table's values.
pub(super) const BULLETS: &str = "•▪◦●○■‣∙▶►▸▷▹❖◆◇▫◾◼❑❒\u{f076}\u{f0a7}\u{f0b7}\u{f0d8}\u{f0fc}";

/// The marker at the beginning of a line without indentation, if the line has text after it.
pub(super) fn marker(text: &str) -> Option<Marker> {
    let first = text.chars().next()?;
    let found = |family, mark: usize, number| {
        let rest = &text[mark..];
        let content = rest.trim_start();
        (rest.starts_with([' ', '\t', '\u{a0}']) && !content.is_empty()).then(|| Marker {
            family,
            bytes: mark + (rest.len() - content.len()),
            number,
            space: rest.len() - content.len(),
        })
    };
    if BULLETS.contains(first)
        || matches!(first, '-' | '*' | '+' | '–' | '→' | '·' | '□' | '➢' | '➤' | '✓' | '✔' | '⁃' | 'o')
    {
        let bullet = found(Family::Bullet(first), first.len_utf8(), 1)?;
        let task = ["[ ]", "[x]", "[X]"].into_iter().find(|mark| text[bullet.bytes..].starts_with(mark));
        return Some(match task.and_then(|_| found(Family::Bullet(first), bullet.bytes + 3, 1)) {
            Some(with_box) => with_box,
            None => bullet,
        });
    }
    let bracket = usize::from(first == '(');
    let body = &text[bracket..];
    if body.starts_with(|c: char| c.is_ascii_digit()) {
        return numbered(text, bracket, &found);
    }
    let letters = body.bytes().take_while(u8::is_ascii_alphabetic).count();
    let inner = &body[..letters];
    let lower = inner.bytes().all(|b| b.is_ascii_lowercase());
    let roman = !inner.is_empty()
        && inner.len() <= 5
        && inner.bytes().all(|b| matches!(b.to_ascii_lowercase(), b'i' | b'v' | b'x'));
    if letters == 1 || (roman && (lower || bracket == 1)) {
        let closing = body[letters..].chars().next()?;
        if closing == ')' || (closing == '.' && bracket == 0 && (lower || body[letters + 1..].starts_with("  "))) {
            return found(Family::Letter, bracket + letters + 1, 1);
        }
    }
    None
}

fn numbered(text: &str, bracket: usize, found: &dyn Fn(Family, usize, u64) -> Option<Marker>) -> Option<Marker> {
    let body = &text[bracket..];
    let length = body.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let number = &body[..length];
    let parts = number.trim_end_matches('.');
    let levels = parts.split('.').count();
    if parts.split('.').any(|part| part.is_empty() || part.len() > 9) || number.len() - parts.len() > 1 {
        return None;
    }
    let closing = body[length..].chars().next()?;
    let value = parts.parse().unwrap_or(1);
    match (levels, closing) {
        (1, ')') if bracket == 1 => found(Family::Bracketed, bracket + length + 1, value),
        (1, ')') => found(Family::Number, length + 1, value),
        (1, _) if bracket == 0 && number.len() > parts.len() => found(Family::Number, length, value),
        // "3.2 Session" is a clause; "2.5 seconds" in running text isn't: the caller knows what came before
        (2.., ' ' | '\t' | '\u{a0}') if bracket == 0 && levels <= 6 => found(Family::Clause(levels), length, 1),
        _ => None,
    }
}
