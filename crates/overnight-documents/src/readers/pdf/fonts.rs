//! Facts from fonts that the library hides or drops: codes of symbol fonts (bullets, arrows, ticks) for private-use
//! characters, as in `pdftotext`; codes explained only by glyph names; the size of fonts whose glyphs are drawings in
//! their own units; tables of characters that are bombs; and encodings that complete a table. Fonts are searched once,
//! before the pages are read; few have such facts.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use unpdf::parser::backend::ResourceScope;
use unpdf::parser::raw::RawDocument;
use unpdf::parser::raw::stream::decompress;
use unpdf::parser::raw::tokenizer::{PdfDict, PdfObject, dict_get};

use super::glyph_names::characters;
use super::to_unicode::private;

pub(super) type ObjectId = (u32, u16);

/// The maximum that is searched in one document.
const MAX_USES: usize = 200_000;
const MAX_FONTS: usize = 5_000;
const MAX_BYTES: usize = 32 << 20;
/// The maximum size of a font's table of characters, in bytes.
const MAX_TABLE: usize = 8 << 20;
/// The maximum number of parent pages from which a page inherits.
const MAX_PARENTS: usize = 32;
/// The usual mean width of text glyphs, as a share of the font's size ...
const MEAN_WIDTH: f64 = 0.5;
/// ... and the range of plausible widths: a size with other widths is wrong.
const LIKELY_WIDTHS: std::ops::RangeInclusive<f64> = 0.2..=1.2;

/// The facts about one font.
#[derive(Debug)]
pub(super) struct Font {
    /// The factor by which it is drawn larger than its size.
    pub(super) scale: f64,
    /// Its table of characters is built to exhaust its reader.
    pub(super) is_bomb: bool,
    /// The characters of codes that the library doesn't know.
    characters: HashMap<u32, char>,
    is_composite: bool,
    /// It has a table of characters, and its program's own encoding completes it.
    pub(super) has_own_encoding: bool,
}

impl Font {
    /// Whether single codes may be known although the library can't separate them from others.
    pub(super) fn knows_single_codes(&self) -> bool {
        !self.is_composite && !self.characters.is_empty()
    }

    /// The character that the code of the glyph `at` stands for, of `count` glyphs in `codes`.
    pub(super) fn character(&self, codes: &[u8], at: usize, count: usize) -> Option<char> {
        let width = if self.is_composite { 2 } else { 1 };
        if self.characters.is_empty() || codes.len() != count * width {
            return None;
        }
        let code = codes.get(at * width..(at + 1) * width)?;
        self.characters.get(&code.iter().fold(0, |code, &byte| code << 8 | u32::from(byte))).copied()
    }
}

/// The fonts of a document with such facts, by the place where they are named.
#[derive(Debug, Default)]
pub(super) struct Fonts(HashMap<ObjectId, HashMap<Vec<u8>, Rc<Font>>>);

impl Fonts {
    pub(super) fn of(document: &RawDocument) -> Self {
        let mut looking = FontSearch {
            document,
            fonts: HashMap::new(),
            seen: HashSet::new(),
            found: HashMap::new(),
            uses_left: MAX_USES,
            bytes_left: MAX_BYTES,
        };
        for id in document.pages().into_values() {
            if let Some(resources) = of_page(document, id) {
                looking.resources(id, resources);
            }
        }
        Self(looking.found)
    }

    /// The facts about the font `name`: a drawing that names no fonts has those of its page.
    pub(super) fn get(&self, scope: ResourceScope, name: &[u8]) -> Option<&Rc<Font>> {
        let there = |id: ObjectId| self.0.get(&id).and_then(|fonts| fonts.get(name));
        scope.form.and_then(there).or_else(|| there(scope.page))
    }
}

/// The resources of a page: its own, or those of the pages above it.
fn of_page(document: &RawDocument, id: ObjectId) -> Option<&PdfDict> {
    let mut page = document.get_dict(id).ok()?;
    for _ in 0..MAX_PARENTS {
        if let Some(resources) = dict_get(page, b"Resources").and_then(|own| document.resolve(own).as_dict()) {
            return Some(resources);
        }
        page = document.resolve(dict_get(page, b"Parent")?).as_dict()?;
    }
    None
}

struct FontSearch<'a> {
    document: &'a RawDocument,
    /// Fonts and drawings that were searched.
    fonts: HashMap<ObjectId, Option<Rc<Font>>>,
    seen: HashSet<ObjectId>,
    found: HashMap<ObjectId, HashMap<Vec<u8>, Rc<Font>>>,
    uses_left: usize,
    bytes_left: usize,
}

impl<'a> FontSearch<'a> {
    /// Searches the resources of the page or drawing `id`, and the drawings that these paint.
    fn resources(&mut self, id: ObjectId, resources: &'a PdfDict) {
        let mut waiting = vec![(id, resources)];
        while let Some((id, resources)) = waiting.pop() {
            for (name, font) in self.entries(resources, b"Font") {
                if let Some(font) = self.font(font) {
                    self.found.entry(id).or_default().insert(name.to_vec(), font);
                }
            }
            for (_, drawing) in self.entries(resources, b"XObject") {
                let Some(form) = drawing.as_reference().filter(|&form| self.seen.insert(form)) else { continue };
                let Some(stream) = self.document.resolve(drawing).as_stream() else { continue };
                let own = dict_get(&stream.dict, b"Resources").and_then(|own| self.document.resolve(own).as_dict());
                waiting.extend(own.map(|own| (form, own)));
            }
        }
    }

    fn entries(&mut self, resources: &'a PdfDict, kind: &[u8]) -> Vec<(&'a [u8], &'a PdfObject)> {
        let Some(named) = dict_get(resources, kind).and_then(|named| self.document.resolve(named).as_dict()) else {
            return Vec::new();
        };
        let named: Vec<_> = named.iter().take(self.uses_left).map(|(name, object)| (name.as_slice(), object)).collect();
        self.uses_left -= named.len();
        named
    }

    fn font(&mut self, named: &'a PdfObject) -> Option<Rc<Font>> {
        let id = named.as_reference()?;
        if let Some(known) = self.fonts.get(&id) {
            return known.clone();
        }
        if self.fonts.len() >= MAX_FONTS {
            return None;
        }
        let font = self.document.resolve(named).as_dict().and_then(|font| self.look(font)).map(Rc::new);
        self.fonts.insert(id, font.clone());
        font
    }

    fn look(&mut self, font: &PdfDict) -> Option<Font> {
        let kind = dict_get(font, b"Subtype").and_then(|kind| self.document.resolve(kind).as_name());
        let is_drawn = kind == Some(b"Type3");
        let scale = if is_drawn { self.scale(font).unwrap_or(1.0) } else { 1.0 };
        let (mut characters, is_bomb) = self.private(font);
        let is_composite = kind == Some(b"Type0");
        let has = |key: &[u8]| dict_get(font, key).is_some();
        if kind == Some(b"TrueType") && !has(b"ToUnicode") && !has(b"Encoding") {
            characters = self.named_glyphs(font);
        }
        let has_own_encoding = kind == Some(b"Type1") && has(b"ToUnicode") && !has(b"Encoding");
        let is_known = is_bomb || !characters.is_empty() || scale.to_bits() != 1_f64.to_bits() || has_own_encoding;
        is_known.then_some(Font { scale, is_bomb, characters, is_composite, has_own_encoding })
    }

    /// The codes of a font's table for private-use characters, and whether the table is a bomb.
    fn private(&mut self, font: &PdfDict) -> (HashMap<u32, char>, bool) {
        let table = dict_get(font, b"ToUnicode").and_then(|table| self.document.resolve(table).as_stream());
        let Some(map) = table.filter(|_| self.bytes_left > 0).and_then(|table| decompress(table).ok()) else {
            return (HashMap::new(), false);
        };
        self.bytes_left = self.bytes_left.saturating_sub(map.len());
        let found = Some(&map).filter(|map| map.len() <= MAX_TABLE).and_then(|map| private(map));
        let is_bomb = found.is_none();
        (found.unwrap_or_default(), is_bomb)
    }

    /// The characters by the glyph names in the program of a font without other information.
    fn named_glyphs(&mut self, font: &PdfDict) -> HashMap<u32, char> {
        let descriptor = dict_get(font, b"FontDescriptor").and_then(|own| self.document.resolve(own).as_dict());
        let program = descriptor.and_then(|own| self.document.resolve(dict_get(own, b"FontFile2")?).as_stream());
        let program = program.filter(|_| self.bytes_left > 0).and_then(|program| decompress(program).ok());
        let program = program.unwrap_or_default();
        self.bytes_left = self.bytes_left.saturating_sub(program.len());
        characters(&program)
    }

    fn scale(&self, font: &PdfDict) -> Option<f64> {
        let numbers = |key: &[u8]| -> Option<Vec<f64>> {
            let items = self.document.resolve(dict_get(font, key)?).as_array()?;
            Some(items.iter().filter_map(|number| self.document.resolve(number).as_f64()).collect())
        };
        let widths = numbers(b"Widths")?;
        let measure = numbers(b"FontMatrix")?.first()?.abs();
        let wide = || widths.iter().map(|width| width.abs()).filter(|&width| width > 0.0);
        #[expect(clippy::cast_precision_loss, reason = "as many as a font has codes")]
        let count = wide().count() as f64;
        let mean = wide().sum::<f64>() / count * measure;
        (mean.is_finite() && mean > 0.0 && !LIKELY_WIDTHS.contains(&mean)).then_some(mean / MEAN_WIDTH)
    }
}
