//! The characters for a font's bytes: by its character set, else by the document's code page.

use std::collections::HashMap;

use encoding_rs::{
    BIG5, EUC_KR, Encoding, GBK, IBM866, MACINTOSH, SHIFT_JIS, UTF_8, WINDOWS_874, WINDOWS_1250, WINDOWS_1251,
    WINDOWS_1252, WINDOWS_1253, WINDOWS_1254, WINDOWS_1255, WINDOWS_1256, WINDOWS_1257, WINDOWS_1258, X_MAC_CYRILLIC,
};

/// The most fonts that are kept.
const MAX_FONTS: usize = 20_000;

/// How a font's bytes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FontBytes {
    Text(&'static Encoding),
    /// Signs that have a meaning only in the font.
    Signs,
}

#[derive(Debug)]
pub(super) struct FontTable {
    by_number: HashMap<i32, FontBytes>,
    /// The document's own code page.
    pub(super) page: &'static Encoding,
    /// The font of text that selects none.
    pub(super) default: i32,
    /// The font that the table is about.
    pub(super) current: i32,
}

impl Default for FontTable {
    fn default() -> Self {
        Self { by_number: HashMap::new(), page: WINDOWS_1252, default: 0, current: 0 }
    }
}

impl FontTable {
    pub(super) fn of(&self, font: Option<i32>) -> FontBytes {
        self.by_number.get(&font.unwrap_or(self.default)).copied().unwrap_or(FontBytes::Text(self.page))
    }

    fn learn(&mut self, bytes: FontBytes) {
        if self.by_number.len() < MAX_FONTS {
            self.by_number.insert(self.current, bytes);
        }
    }

    pub(super) fn set_charset(&mut self, charset: i32) {
        let encoding = match charset {
            // The code page of Western Europe, whatever the document's is.
            0 => WINDOWS_1252,
            2 => return self.learn(FontBytes::Signs),
            77 => MACINTOSH,
            78 | 128 => SHIFT_JIS,
            79 | 129 | 130 => EUC_KR,
            80 | 134 => GBK,
            81 | 136 => BIG5,
            89 => X_MAC_CYRILLIC,
            161 => WINDOWS_1253,
            162 => WINDOWS_1254,
            163 => WINDOWS_1258,
            177 => WINDOWS_1255,
            178 => WINDOWS_1256,
            186 => WINDOWS_1257,
            204 => WINDOWS_1251,
            222 => WINDOWS_874,
            238 => WINDOWS_1250,
            _ => self.page,
        };
        self.learn(FontBytes::Text(encoding));
    }

    pub(super) fn set_page(&mut self, page: i32) {
        if let Some(encoding) = encoding(page) {
            self.learn(FontBytes::Text(encoding));
        }
    }
}

/// The encoding of a code page by its number.
pub(super) fn encoding(page: i32) -> Option<&'static Encoding> {
    Some(match page {
        866 => IBM866,
        874 => WINDOWS_874,
        932 | 10_001 => SHIFT_JIS,
        936 | 10_008 => GBK,
        949 | 10_003 => EUC_KR,
        950 | 10_002 => BIG5,
        1250 => WINDOWS_1250,
        1251 => WINDOWS_1251,
        1252 => WINDOWS_1252,
        1253 => WINDOWS_1253,
        1254 => WINDOWS_1254,
        1255 => WINDOWS_1255,
        1256 => WINDOWS_1256,
        1257 => WINDOWS_1257,
        1258 => WINDOWS_1258,
        10_000 => MACINTOSH,
        10_007 => X_MAC_CYRILLIC,
        65_001 => UTF_8,
        _ => return None,
    })
}
