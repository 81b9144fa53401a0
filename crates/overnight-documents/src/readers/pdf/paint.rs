//! Runs a page's content as a printer would, but only for its text: the position of each character. The library parses
//! the operators, the fonts and their codes; running them is ours, because the library's own text drops the positions
//! of characters before words are formed.

use std::rc::Rc;

use unpdf::parser::backend::{ContentOp, PageBox, PaintedXObject, PdfBackend, PdfValue, RawBackend, ResourceScope};

use super::annotations::Overlay;
use super::content::{actual_text, nesting, part, without_dictionaries};
use super::fonts::{Font, Fonts};
use super::glyphs::{Glyph, Matrix, PaintedPage};
use super::ink::{Box4, Ink, PaintedAreas};
use super::pictures::{overlap, pictures};
use super::values::number;

/// The most that is taken of one page: more is a page built to exhaust its reader.
const MAX_GLYPHS: usize = 400_000;
const MAX_FORM_DEPTH: usize = 16;
const MAX_FORMS: usize = 10_000;
const MAX_STATES: usize = 512;
/// Content of all forms painted on one page, in bytes, each time that it is painted.
const MAX_CONTENT: usize = 128 << 20;
/// The maximum nesting depth of arrays: the library's parser of content is recursive.
const MAX_NESTING: usize = 1000;

/// Curves (a letter's outline has some ten) from which on they may be letters.
pub(super) const MANY_CURVES: u64 = 300;
/// An image over this share of the paper is a page that was scanned.
pub(super) const SCANNED: f64 = 0.6;

/// Runs page `id` of `document`, with its annotations.
pub(super) fn page(document: &RawBackend, fonts: &Fonts, id: (u32, u16), overlay: Option<&Overlay>) -> PaintedPage {
    let mut painter = Painter::new(document, fonts, id);
    match document.page_content_with_losses(id) {
        Ok(content) => {
            painter.page.damaged += content.undecodable_streams as u64;
            painter.run(&content.data, ResourceScope::page(id), 0);
            painter.areas.strike(&document.struck_out_areas(id));
        }
        Err(_) => painter.page.damaged += 1,
    }
    for drawn in overlay.iter().flat_map(|overlay| &overlay.drawn) {
        painter.reset();
        painter.is_overlay = true;
        painter.state.to_page = drawn.to_page;
        painter.run(&drawn.content, ResourceScope::form(id, drawn.id), 1);
    }
    painter.finish()
}

#[derive(Debug, Clone)]
pub(super) struct GraphicsState {
    pub(super) to_page: Matrix,
    pub(super) font: Vec<u8>,
    pub(super) scope: ResourceScope,
    /// The facts about the font.
    pub(super) known: Option<Rc<Font>>,
    pub(super) size: f64,
    pub(super) character_space: f64,
    pub(super) word_space: f64,
    pub(super) horizontal_scaling: f64,
    pub(super) leading: f64,
    pub(super) rise: f64,
    pub(super) ink: Ink,
    /// Content outside of it is invisible.
    pub(super) clip: Box4,
}

/// A part of the content with the replacement text of its shapes.
#[derive(Debug)]
struct ActualText {
    replacement: Option<String>,
    first: usize,
}

pub(super) struct Painter<'a> {
    pub(super) document: &'a RawBackend,
    fonts: &'a Fonts,
    pub(super) page: PaintedPage,
    pub(super) state: GraphicsState,
    saved: Vec<GraphicsState>,
    line: Matrix,
    pub(super) text: Matrix,
    pub(super) areas: PaintedAreas,
    marked: Vec<ActualText>,
    pieces: Vec<Box4>,
    /// The annotations of the page are being painted.
    is_overlay: bool,
    content_left: usize,
    forms_left: usize,
    pub(super) paper: PageBox,
}

impl<'a> Painter<'a> {
    fn new(document: &'a RawBackend, fonts: &'a Fonts, id: (u32, u16)) -> Self {
        let state = GraphicsState {
            to_page: Matrix::IDENTITY,
            font: Vec::new(),
            scope: ResourceScope::page(id),
            known: None,
            size: 0.0,
            character_space: 0.0,
            word_space: 0.0,
            horizontal_scaling: 1.0,
            leading: 0.0,
            rise: 0.0,
            ink: Ink::default(),
            clip: [f64::MIN, f64::MIN, f64::MAX, f64::MAX],
        };
        Self {
            document,
            fonts,
            page: PaintedPage { is_text_at_edge: true, ..PaintedPage::default() },
            state,
            saved: Vec::new(),
            line: Matrix::IDENTITY,
            text: Matrix::IDENTITY,
            areas: PaintedAreas::default(),
            marked: Vec::new(),
            pieces: Vec::new(),
            is_overlay: false,
            content_left: MAX_CONTENT,
            forms_left: MAX_FORMS,
            paper: document.page_box(id),
        }
    }

    /// Resets to the state at the beginning of a page.
    fn reset(&mut self) {
        self.end_marked();
        let first = Painter::new(self.document, self.fonts, self.state.scope.page);
        (self.state, self.line, self.text) = (first.state, first.line, first.text);
        self.saved.clear();
    }

    fn finish(mut self) -> PaintedPage {
        self.end_marked();
        let PaintedPage { glyphs, covered, curves, .. } = &mut self.page;
        let count = glyphs.iter().filter(|glyph| glyph.is_hidden).count();
        // Hidden text behind a scan, or behind outlined letters, was recognised in it.
        let is_most = count * 2 >= glyphs.len();
        let is_recognised = count > 0 && is_most && *covered >= SCANNED;
        if count > 0 && !is_most && *covered < SCANNED && *curves < MANY_CURVES {
            glyphs.retain(|glyph| !glyph.is_hidden);
            self.page.hidden = count;
        }
        self.page.is_recognised = is_recognised;
        let struck = self.areas.struck(&self.page.glyphs);
        for (glyph, is_struck) in self.page.glyphs.iter_mut().zip(struck) {
            glyph.is_struck = is_struck;
        }
        let PageBox { llx, lly, urx, ury } = self.paper;
        self.page.pictures = pictures(&self.pieces, [llx, lly, urx, ury].map(f64::from));
        self.page
    }

    /// Ends marked parts without an end of their own.
    fn end_marked(&mut self) {
        while let Some(marked) = self.marked.pop() {
            self.replace(marked);
        }
    }

    fn run(&mut self, content: &[u8], scope: ResourceScope, depth: usize) {
        let Some(left) = self.content_left.checked_sub(content.len()) else {
            self.page.is_cut = true;
            return;
        };
        self.content_left = left;
        if nesting(content) > MAX_NESTING {
            self.page.damaged += 1;
            return;
        }
        let content = &*without_dictionaries(content);
        let mut rest = content;
        while !rest.is_empty() {
            let (part, behind, is_torn) = part(rest);
            self.page.is_cut |= is_torn;
            rest = behind;
            let Ok(operations) = self.document.decode_content(part) else {
                self.page.damaged += 1;
                continue;
            };
            for operation in &operations {
                if self.page.glyphs.len() >= MAX_GLYPHS {
                    self.page.is_cut = true;
                    return;
                }
                self.operation(operation, scope, depth);
            }
        }
    }

    fn operation(&mut self, operation: &ContentOp, scope: ResourceScope, depth: usize) {
        let operands = operation.operands.as_slice();
        let number = |at: usize| operands.get(at).and_then(number).unwrap_or(0.0);
        match operation.operator.as_str() {
            "q" if self.saved.len() < MAX_STATES => self.saved.push(self.state.clone()),
            "Q" => {
                if let Some(state) = self.saved.pop() {
                    self.state = state;
                }
            }
            "cm" => self.state.to_page = matrix(operands).then(self.state.to_page),
            "BT" => {
                self.line = Matrix::IDENTITY;
                self.text = Matrix::IDENTITY;
            }
            "Tc" => self.state.character_space = number(0),
            "Tw" => self.state.word_space = number(0),
            "Tz" => self.state.horizontal_scaling = number(0) / 100.0,
            "TL" => self.state.leading = number(0),
            "Ts" => self.state.rise = number(0),
            "Tf" => {
                if let Some(PdfValue::Name(name)) = operands.first() {
                    self.state.font.clone_from(name);
                    self.state.scope = scope;
                    self.state.known = self.fonts.get(scope, name).cloned();
                }
                self.state.size = number(1);
            }
            "Td" => self.next_line(number(0), number(1)),
            "TD" => {
                self.state.leading = -number(1);
                self.next_line(number(0), number(1));
            }
            "Tm" => {
                self.line = matrix(operands);
                self.text = self.line;
            }
            "T*" => self.next_line(0.0, -self.state.leading),
            "Tj" => self.show_all(operands),
            "TJ" => {
                if let Some(PdfValue::Array(parts)) = operands.first() {
                    self.show_all(parts);
                }
            }
            "'" => {
                self.next_line(0.0, -self.state.leading);
                self.show_all(operands);
            }
            "\"" => {
                self.state.word_space = number(0);
                self.state.character_space = number(1);
                self.next_line(0.0, -self.state.leading);
                self.show_all(operands.get(2..).unwrap_or_default());
            }
            "Do" => {
                if let Some(PdfValue::Name(name)) = operands.first() {
                    self.paint(name, scope, depth);
                }
            }
            "BI" => self.image(None),
            "m" | "l" => self.areas.add(self.state.to_page, operands, false),
            "re" => self.areas.add(self.state.to_page, operands, true),
            "c" | "v" | "y" => {
                self.page.curves += 1;
                self.areas.add(self.state.to_page, operands, false);
            }
            "W" | "W*" => self.areas.clip(),
            "n" => self.paint_path(false, false),
            "Tr" => self.state.ink.set_rendering(number(0)),
            "g" | "rg" | "k" | "sc" | "scn" | "cs" => self.state.ink.set_colour(&operation.operator, operands),
            "sh" => {
                self.page.shapes += 1;
                let _ = self.areas.cover(self.state.to_page, true);
            }
            painting @ ("f" | "F" | "f*" | "b" | "b*" | "B" | "B*" | "s" | "S") => {
                self.page.shapes += 1;
                let is_line = matches!(painting, "s" | "S");
                self.paint_path(!is_line, is_line);
            }
            "BMC" | "BDC" => {
                let marked = ActualText { replacement: actual_text(operands), first: self.page.glyphs.len() };
                if self.marked.len() < MAX_STATES {
                    self.marked.push(marked);
                }
            }
            "EMC" => {
                if let Some(marked) = self.marked.pop() {
                    self.replace(marked);
                }
            }
            _ => {}
        }
    }

    fn paint(&mut self, name: &[u8], scope: ResourceScope, depth: usize) {
        match self.document.xobject(scope, name) {
            Some(PaintedXObject::Form(form)) if depth < MAX_FORM_DEPTH && self.forms_left > 0 => {
                self.forms_left -= 1;
                let Some(content) = form.content else {
                    self.page.damaged += 1;
                    return;
                };
                let kept = (self.state.clone(), self.line, self.text, self.saved.len());
                self.state.to_page = Matrix(form.matrix.map(f64::from)).then(self.state.to_page);
                if let Some(PageBox { llx, lly, urx, ury }) = form.bbox {
                    let corners = [(llx, lly), (urx, lly), (llx, ury), (urx, ury)];
                    self.cut(&bounds(corners.map(|(x, y)| self.state.to_page.point(x.into(), y.into()))));
                }
                self.run(&content, ResourceScope::form(scope.page, form.id), depth + 1);
                self.saved.truncate(kept.3);
                (self.state, self.line, self.text) = (kept.0, kept.1, kept.2);
            }
            Some(PaintedXObject::Form(_)) => self.page.is_cut = true,
            Some(PaintedXObject::Image) => self.image(Some((scope, name))),
            Some(PaintedXObject::Other) | None => {}
        }
    }

    /// Paints an image, which fills the unit square. If it covers most of the page, it hides the content there.
    fn image(&mut self, named: Option<(ResourceScope, &[u8])>) {
        self.page.images += 1;
        let [a, b, c, d, _, _] = self.state.to_page.0;
        if let Some(area) = self.areas.cover(self.state.to_page, false) {
            self.pieces.push(overlap(&area, &self.state.clip));
        }
        let paper = f64::from(self.paper.width() * self.paper.height()).max(1.0);
        let covered = (a * d - b * c).abs() / paper;
        self.page.covered = self.page.covered.max(covered);
        if covered >= SCANNED && !self.page.glyphs.is_empty() && !self.is_overlay {
            let image = named.and_then(|(scope, name)| self.document.image_xobject(scope, name));
            if image.is_some_and(|image| image.smask.is_none() && image.color_key.is_none() && !image.image_mask) {
                self.page.glyphs.iter_mut().for_each(|glyph| glyph.is_hidden = true);
            }
        }
    }

    fn paint_path(&mut self, is_filled: bool, is_drawn: bool) {
        if let Some(path) = self.areas.paint(self.state.ink, is_filled, is_drawn) {
            self.cut(&path);
        }
    }

    /// Clips later content to `path`.
    fn cut(&mut self, path: &Box4) {
        // Text typed into a field may be longer than its box.
        if !self.is_overlay {
            self.state.clip = overlap(&self.state.clip, path);
        }
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.line = Matrix([1.0, 0.0, 0.0, 1.0, x, y]).then(self.line);
        self.text = self.line;
    }

    /// Replaces the glyphs of a marked part by its replacement text.
    fn replace(&mut self, marked: ActualText) {
        let Some(replacement) = marked.replacement else { return };
        let Some((first, rest)) = self.page.glyphs.get(marked.first..).and_then(<[Glyph]>::split_first) else { return };
        let mut whole = *first;
        for glyph in
            rest.iter().filter(|glyph| glyph.turn == whole.turn && (glyph.base - whole.base).abs() < whole.size)
        {
            whole.start = whole.start.min(glyph.start);
            whole.end = whole.end.max(glyph.end);
        }
        self.page.glyphs.truncate(marked.first);
        if replacement.is_empty() {
            return;
        }
        let from = self.page.text.len();
        self.page.text.push_str(&replacement);
        let (Ok(from), Ok(to)) = (u32::try_from(from), u32::try_from(self.page.text.len())) else { return };
        self.page.glyphs.push(Glyph { from, to, ..whole });
    }
}

/// The box around four corners.
fn bounds(corners: [(f64, f64); 4]) -> Box4 {
    corners.iter().fold([f64::MAX, f64::MAX, f64::MIN, f64::MIN], |[left, low, right, high], &(x, y)| {
        [left.min(x), low.min(y), right.max(x), high.max(y)]
    })
}

fn matrix(operands: &[PdfValue]) -> Matrix {
    let mut numbers = [0.0; 6];
    for (number, operand) in numbers.iter_mut().zip(operands) {
        *number = self::number(operand).unwrap_or(0.0);
    }
    Matrix(numbers)
}
