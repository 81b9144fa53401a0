//! Reads the table in which a font maps its codes to characters, for the characters that the library drops: those of
//! private use, and those beyond the first 65,536, which are two units each.

use std::collections::HashMap;

/// The maximum number of codes of a table.
const MAX_CODES: u32 = 0x1_0000;
/// The most codes in all ranges of a table that are read: ranges may repeat the same codes.
const MAX_STEPS: u32 = 0x4_0000;

/// The codes of the table `map` for one character that the library drops; none if the table names more codes than
/// exist, which is meant to exhaust its reader.
pub(super) fn private(map: &[u8]) -> Option<HashMap<u32, char>> {
    let mut found = HashMap::new();
    let mut steps_left = MAX_STEPS;
    let mut rest = map;
    while let Some((kind, part, behind)) = section(rest) {
        match kind {
            SectionKind::Single => single(part, &mut found),
            SectionKind::Ranges => ranges(part, &mut found, &mut steps_left)?,
        }
        rest = behind;
    }
    Some(found)
}

#[derive(Debug, Clone, Copy)]
enum SectionKind {
    Single,
    Ranges,
}

/// The next part of the table with codes in it, and the rest behind it.
fn section(map: &[u8]) -> Option<(SectionKind, &[u8], &[u8])> {
    let at = memchr::memmem::find(map, b"beginbf")?;
    let rest = &map[at + b"beginbf".len()..];
    let kind = if rest.starts_with(b"range") { SectionKind::Ranges } else { SectionKind::Single };
    let end = memchr::memmem::find(rest, b"endbf").unwrap_or(rest.len());
    Some((kind, &rest[..end], &rest[end..]))
}

fn single(part: &[u8], found: &mut HashMap<u32, char>) {
    let mut tokens = Tokens(part);
    while let (Some(Token::Number(code)), Some(Token::Number(character))) = (tokens.next(), tokens.next()) {
        add(code, character, found);
    }
}

fn ranges(part: &[u8], found: &mut HashMap<u32, char>, steps_left: &mut u32) -> Option<()> {
    let mut tokens = Tokens(part);
    while let (Some(Token::Number(first)), Some(Token::Number(last))) = (tokens.next(), tokens.next()) {
        *steps_left = steps_left.checked_sub(last.saturating_sub(first))?;
        let mut codes = first..=last;
        match tokens.next() {
            Some(Token::Number(character)) => {
                for (step, code) in (0..).zip(codes) {
                    add(code, character.saturating_add(step), found);
                }
            }
            Some(Token::Open) => {
                while let Some(Token::Number(character)) = tokens.next() {
                    if let Some(code) = codes.next() {
                        add(code, character, found);
                    }
                }
            }
            Some(Token::Close) | None => break,
        }
    }
    Some(())
}

/// A character of private use, or one that is written as two units.
fn dropped(units: u32) -> Option<char> {
    if (0xe000..=0xf8ff).contains(&units) {
        return char::from_u32(units);
    }
    let (high, low) = (units >> 16, units & 0xffff);
    let is_pair = (0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(&low);
    is_pair.then(|| char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))).flatten()
}

fn add(code: u32, character: u32, found: &mut HashMap<u32, char>) {
    if code < MAX_CODES
        && let Some(character) = dropped(character)
    {
        found.insert(code, character);
    }
}

#[derive(Debug)]
enum Token {
    /// A code or a character; for several characters, an invalid number.
    Number(u32),
    Open,
    Close,
}

struct Tokens<'a>(&'a [u8]);

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let at = self.0.iter().position(|byte| matches!(byte, b'<' | b'[' | b']'))?;
        let (kind, rest) = (self.0[at], &self.0[at + 1..]);
        self.0 = rest;
        match kind {
            b'[' => Some(Token::Open),
            b']' => Some(Token::Close),
            _ => {
                let end = memchr::memchr(b'>', rest)?;
                self.0 = &rest[end + 1..];
                let digits: String =
                    rest[..end].iter().filter(|byte| byte.is_ascii_hexdigit()).map(|&byte| char::from(byte)).collect();
                Some(Token::Number(u32::from_str_radix(&digits, 16).unwrap_or(u32::MAX)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::private;

    #[test]
    fn characters_of_private_use_are_found() {
        let map =
            b"1 begincodespacerange <00> <ff> endcodespacerange 3 beginbfchar <01> <F0B7> <02> <0041> <03><F0A7F0A8> \
            endbfchar 3 beginbfrange <10> <12> <E000> <20><21> [<0042> <f8FF>] <30> <31> <0030> endbfrange";
        let mut found: Vec<(u32, char)> = private(map).unwrap().into_iter().collect();
        found.sort_unstable();
        let expected =
            [(1, '\u{f0b7}'), (0x10, '\u{e000}'), (0x11, '\u{e001}'), (0x12, '\u{e002}'), (0x21, '\u{f8ff}')];
        assert_eq!(found, expected);
    }

    #[test]
    fn letters_of_mathematics_are_found_in_ranges() {
        let map = b"2 beginbfrange <10> <12> <D835DC49> <20> <20> [<D835DC52>] endbfrange";
        let mut found: Vec<(u32, char)> = private(map).unwrap().into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, [(0x10, '\u{1d449}'), (0x11, '\u{1d44a}'), (0x12, '\u{1d44b}'), (0x20, '\u{1d452}')]);
    }

    #[test]
    fn tables_cut_anywhere_end() {
        let map = b"beginbfrange <0000> <ffff> <E000> <1> [<2> endbfrange beginbfchar <1> <F0B7";
        for end in 0..=map.len() {
            assert!(private(&map[..end]).is_none_or(|found| found.len() <= 0x1_0000));
        }
    }
}
