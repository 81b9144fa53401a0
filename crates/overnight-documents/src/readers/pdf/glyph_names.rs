//! The characters of a TrueType font without an encoding and a table of characters: the font's own program maps the
//! code to a glyph, and Adobe's list of glyph names maps the glyph's name to a character.

use std::collections::HashMap;

use read_fonts::ps::agl::name_to_char;
use read_fonts::tables::cmap::{CmapSubtable, PlatformId};
use read_fonts::types::GlyphId16;
use read_fonts::{FontRef, TableProvider};

/// The offset of one-byte codes in symbol fonts.
const SYMBOLS: u32 = 0xf000;

/// The characters of the codes of `program`.
pub(super) fn characters(program: &[u8]) -> HashMap<u32, char> {
    let Ok(font) = FontRef::new(program) else { return HashMap::new() };
    let (Ok(cmap), Ok(post)) = (font.cmap(), font.post()) else { return HashMap::new() };
    let tables: Vec<(PlatformId, CmapSubtable<'_>)> = cmap
        .encoding_records()
        .iter()
        .filter_map(|record| Some((record.platform_id(), record.subtable(cmap.offset_data()).ok()?)))
        .collect();
    let of = |platform: PlatformId, code: u32| {
        tables.iter().filter(|(of, _)| *of == platform).find_map(|(_, table)| table.map_codepoint(code))
    };
    let character = |code: u32| {
        let glyph = of(PlatformId::Windows, SYMBOLS + code).or_else(|| of(PlatformId::Macintosh, code))?;
        let glyph = u16::try_from(glyph.to_u32()).ok().filter(|&glyph| glyph > 0)?;
        name_to_char(post.glyph_name(GlyphId16::new(glyph))?)
    };
    (0..=u32::from(u8::MAX)).filter_map(|code| Some((code, character(code)?))).collect()
}

#[cfg(test)]
mod tests {
    use crate::readers::pdf::tests::{read, stream, with_font};

    /// A font program of two tables: codes 19 and 20 lead to the glyphs 1 and 2, which are named.
    fn program() -> Vec<u8> {
        let cmap: Vec<u8> =
            [0_u16, 1, 1, 0, 0, 12, 6, 14, 0, 19, 2, 1, 2].iter().flat_map(|number| number.to_be_bytes()).collect();
        let names: Vec<u8> = [3_u16, 0, 258, 259].iter().flat_map(|number| number.to_be_bytes()).collect();
        let post = [[0, 2, 0, 0].as_slice(), &[0; 28], &names, b"\x06endash\x04Euro"].concat();
        let mut out = vec![0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0];
        let mut offset = 12 + 2 * 16;
        for (tag, table) in [(b"cmap", &cmap), (b"post", &post)] {
            let length = u32::try_from(table.len()).unwrap();
            out.extend([tag.as_slice(), &[0; 4], &u32::to_be_bytes(offset), &length.to_be_bytes()].concat());
            offset += length;
        }
        [out, cmap, post].concat()
    }

    #[test]
    fn characters_that_only_the_names_of_glyphs_tell_are_read() {
        let widths = format!("/FirstChar 0/LastChar 127/Widths[{}]", "500 ".repeat(128));
        let font = format!("<</Type/Font/Subtype/TrueType/BaseFont/A{widths}/FontDescriptor 6 0 R>>");
        let program = program().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<String>>().concat();
        let descriptor = b"<</Type/FontDescriptor/Flags 4/FontFile2 7 0 R>>".to_vec();
        let others = [descriptor, stream("/Filter/ASCIIHexDecode", &program)];
        let bytes = with_font(&font, &others, r"BT /F 10 Tf 50 700 Td (12\02314 cost \02430) Tj ET");
        assert_eq!(read(&bytes).unwrap(), ("12\u{2013}14 cost \u{20ac}30\n".to_owned(), vec![]));
    }
}
