//! Bytes → groups, control words and text (RTF specification 1.9.1, "RTF Syntax").

/// The next token of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RtfToken<'a> {
    Open,
    Close,
    /// A control word, and its number.
    Word(&'a str, Option<i32>),
    /// A control sign: `\~`.
    Sign(u8),
    /// A byte written as `\'e4`.
    Byte(u8),
    /// Bytes as they stand, without line ends.
    Text(&'a [u8]),
}

impl RtfToken<'_> {
    /// Whether the token may be a part of a document, and not just a remainder.
    pub(super) fn is_content(&self) -> bool {
        match self {
            Self::Text(text) => !text.iter().all(u8::is_ascii_whitespace),
            Self::Open | Self::Byte(_) => true,
            Self::Close | Self::Word(..) | Self::Sign(_) => false,
        }
    }
}

/// The tokens of a file.
#[derive(Debug)]
pub(super) struct RtfTokens<'a> {
    rest: &'a [u8],
}

impl<'a> RtfTokens<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn word(&mut self) -> RtfToken<'a> {
        let letters = self.rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (word, rest) = self.rest.split_at(letters);
        let is_negative = rest.first() == Some(&b'-') && rest.get(1).is_some_and(u8::is_ascii_digit);
        let rest = if is_negative { &rest[1..] } else { rest };
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = rest.split_at(digits);
        let number = std::str::from_utf8(number).ok().and_then(|number| number.parse::<i32>().ok());
        let number = number.map(|number| if is_negative { -number } else { number });
        self.rest = rest.strip_prefix(b" ").unwrap_or(rest);
        let word = std::str::from_utf8(word).unwrap_or_default();
        if word == "bin" {
            let bytes = usize::try_from(number.unwrap_or(0)).unwrap_or(0).min(self.rest.len());
            self.rest = &self.rest[bytes..];
        }
        RtfToken::Word(word, number)
    }
}

impl<'a> Iterator for RtfTokens<'a> {
    type Item = RtfToken<'a>;

    fn next(&mut self) -> Option<RtfToken<'a>> {
        loop {
            let (first, rest) = self.rest.split_first()?;
            match first {
                b'{' | b'}' => {
                    self.rest = rest;
                    return Some(if *first == b'{' { RtfToken::Open } else { RtfToken::Close });
                }
                b'\r' | b'\n' | 0 => self.rest = rest,
                b'\\' => {
                    self.rest = rest;
                    let second = *rest.first()?;
                    if second.is_ascii_alphabetic() {
                        return Some(self.word());
                    }
                    self.rest = &rest[1..];
                    if second == b'\'' {
                        let hex = self.rest.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
                        let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) else { continue };
                        self.rest = &self.rest[2..];
                        return Some(RtfToken::Byte(byte));
                    }
                    return Some(RtfToken::Sign(second));
                }
                _ => {
                    let end = self.rest.iter().position(|byte| matches!(byte, b'{' | b'}' | b'\\' | b'\r' | b'\n' | 0));
                    let (text, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                    self.rest = rest;
                    return Some(RtfToken::Text(text));
                }
            }
        }
    }
}
