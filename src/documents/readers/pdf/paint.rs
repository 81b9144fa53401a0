//! A page's content, run as a printer would run it, but only for its text: where each character stands. The library
//! reads the operators, the fonts and their codes; running them is ours, because its own assembly of the text drops the
//! places of the characters before words are made of them.

use unpdf::parser::backend::{ContentOp, PageBox, PaintedXObject, PdfBackend, PdfValue, RawBackend, ResourceScope};

use super::content::{actual_text, nesting, part, without_dictionaries};
use super::glyphs::{Glyph, Matrix, Page};
use super::notes::Overlay;

/// The most that is taken of one page: more is a page built to exhaust its reader.
const MAX_GLYPHS: usize = 400_000;
const MAX_FORM_DEPTH: usize = 16;
const MAX_FORMS: usize = 10_000;
const MAX_STATES: usize = 512;
/// Content of all forms painted on one page, in bytes, each time that it is painted.
const MAX_CONTENT: usize = 128 << 20;
/// Arrays in arrays: the library's reader of content calls itself for each.
const MAX_NESTING: usize = 1000;

/// Runs page `id` of `document`, and what lies over it.
pub(super) fn page(document: &RawBackend, id: (u32, u16), overlay: Option<&Overlay>) -> Page {
    let mut painter = Painter::new(document, id);
    match document.page_content_with_losses(id) {
        Ok(content) => {
            painter.page.damaged += content.undecodable_streams as u64;
            painter.run(&content.data, ResourceScope::page(id), 0);
        }
        Err(_) => painter.page.damaged += 1,
    }
    for drawn in overlay.iter().flat_map(|overlay| &overlay.drawn) {
        painter.reset();
        painter.state.to_page = drawn.to_page;
        painter.run(&drawn.content, ResourceScope::form(id, drawn.id), 1);
    }
    painter.finish()
}

#[derive(Debug, Clone)]
struct State {
    to_page: Matrix,
    font: Vec<u8>,
    scope: ResourceScope,
    size: f64,
    character_space: f64,
    word_space: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
}

/// A part of the content that says itself which characters its shapes stand for.
#[derive(Debug)]
struct Marked {
    replacement: Option<String>,
    first: usize,
}

struct Painter<'a> {
    document: &'a RawBackend,
    page: Page,
    state: State,
    saved: Vec<State>,
    line: Matrix,
    text: Matrix,
    marked: Vec<Marked>,
    content_left: usize,
    forms_left: usize,
    paper: PageBox,
}

impl<'a> Painter<'a> {
    fn new(document: &'a RawBackend, id: (u32, u16)) -> Self {
        let state = State {
            to_page: Matrix::IDENTITY,
            font: Vec::new(),
            scope: ResourceScope::page(id),
            size: 0.0,
            character_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        Self {
            document,
            page: Page::default(),
            state,
            saved: Vec::new(),
            line: Matrix::IDENTITY,
            text: Matrix::IDENTITY,
            marked: Vec::new(),
            content_left: MAX_CONTENT,
            forms_left: MAX_FORMS,
            paper: document.page_box(id),
        }
    }

    /// As at the beginning of a page.
    fn reset(&mut self) {
        let first = Painter::new(self.document, self.state.scope.page);
        (self.state, self.line, self.text) = (first.state, first.line, first.text);
        self.saved.clear();
    }

    fn finish(mut self) -> Page {
        while let Some(marked) = self.marked.pop() {
            self.replace(marked);
        }
        self.page
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
            "Tz" => self.state.stretch = number(0) / 100.0,
            "TL" => self.state.leading = number(0),
            "Ts" => self.state.rise = number(0),
            "Tf" => {
                if let Some(PdfValue::Name(name)) = operands.first() {
                    self.state.font.clone_from(name);
                    self.state.scope = scope;
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
            "BI" => self.page.images += 1,
            "f" | "F" | "f*" | "b" | "b*" | "B" | "B*" | "s" | "S" | "sh" => self.page.shapes += 1,
            "BMC" | "BDC" => {
                let marked = Marked { replacement: actual_text(operands), first: self.page.glyphs.len() };
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
                self.run(&content, ResourceScope::form(scope.page, form.id), depth + 1);
                self.saved.truncate(kept.3);
                (self.state, self.line, self.text) = (kept.0, kept.1, kept.2);
            }
            Some(PaintedXObject::Form(_)) => self.page.is_cut = true,
            Some(PaintedXObject::Image) => self.page.images += 1,
            Some(PaintedXObject::Other) | None => {}
        }
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.line = Matrix([1.0, 0.0, 0.0, 1.0, x, y]).then(self.line);
        self.text = self.line;
    }

    fn show_all(&mut self, parts: &[PdfValue]) {
        for part in parts {
            match part {
                PdfValue::Str(codes) => self.show(codes),
                PdfValue::Integer(_) | PdfValue::Real(_) => {
                    let back = number(part).unwrap_or(0.0) / 1000.0 * self.state.size;
                    if self.document.is_vertical_font(self.state.scope, &self.state.font) {
                        self.advance(0.0, -back);
                    } else {
                        self.advance(-back * self.state.stretch, 0.0);
                    }
                }
                PdfValue::Name(_) | PdfValue::Array(_) | PdfValue::Other => {}
            }
        }
    }

    fn advance(&mut self, x: f64, y: f64) {
        self.text = Matrix([1.0, 0.0, 0.0, 1.0, x, y]).then(self.text);
    }

    /// Shows one string in the font that is set.
    fn show(&mut self, codes: &[u8]) {
        let run = self.document.decode_run(self.state.scope, &self.state.font, codes);
        self.page.unmapped += u64::from(run.decoded.undecoded_codes);
        if run.decoded.suppressed.is_some() {
            self.page.unmapped += codes.len() as u64;
        }
        let text = run.decoded.text.as_str();
        let Some(advances) = run.glyphs else {
            // No widths: half the size each is near the truth for most.
            for (at, character) in text.char_indices() {
                self.place(&text[at..at + character.len_utf8()], 500.0, character == ' ');
            }
            return;
        };
        if let Some(clusters) = run.clusters {
            for cluster in clusters {
                let text = text.get(cluster.text).unwrap_or_default();
                let glyphs = advances.get(cluster.glyphs).unwrap_or_default();
                for (nth, glyph) in glyphs.iter().enumerate() {
                    let text = if nth == 0 { text } else { "" };
                    match glyph.vertical {
                        Some(vertical) => self.place_vertical(text, f64::from(vertical.advance)),
                        None => self.place(text, f64::from(glyph.width), glyph.is_word_space),
                    }
                }
            }
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "as many as a string has characters")]
        let as_number = |count: usize| count as f64;
        // Which glyph is which character isn't known: spread over the whole width.
        let width: f64 = advances.iter().map(|glyph| f64::from(glyph.width)).sum();
        let spaces = advances.iter().filter(|glyph| glyph.is_word_space).count();
        let count = text.chars().count().max(1);
        let spacing =
            self.state.character_space * as_number(advances.len()) + self.state.word_space * as_number(spaces);
        for character in text.chars() {
            let mut buffer = [0; 4];
            self.place(character.encode_utf8(&mut buffer), width / as_number(count), false);
        }
        let placed = if text.is_empty() { 0.0 } else { self.state.character_space * as_number(count) };
        let rest = if text.is_empty() { width / 1000.0 * self.state.size } else { 0.0 };
        self.advance((rest + spacing - placed) * self.state.stretch, 0.0);
    }

    #[expect(clippy::many_single_char_names, reason = "a matrix's numbers have these names in PDF's own text")]
    /// One glyph of `width` thousandths of the font's size, and on to the next.
    fn place(&mut self, text: &str, width: f64, is_word_space: bool) {
        let width = width / 1000.0 * self.state.size * self.state.stretch;
        let to_page = self.text.then(self.state.to_page);
        let (x, y) = to_page.point(0.0, self.state.rise);
        let (end_x, end_y) = to_page.point(width, self.state.rise);
        let [a, b, c, d, _, _] = to_page.0;
        let size = self.state.size.abs() * (c.hypot(d)).max(1e-6);
        let backwards = if self.state.size < 0.0 || self.state.stretch < 0.0 { -1.0 } else { 1.0 };
        let turn = turn(a * backwards, b * backwards);
        self.push(text, turn, (x, y), (end_x, end_y), size);
        let space = self.state.character_space + if is_word_space { self.state.word_space } else { 0.0 };
        self.advance(width + space * self.state.stretch, 0.0);
    }

    /// One glyph of text that runs downwards.
    fn place_vertical(&mut self, text: &str, advance: f64) {
        let advance = advance / 1000.0 * self.state.size;
        let to_page = self.text.then(self.state.to_page);
        let (x, y) = to_page.point(0.0, 0.0);
        let (end_x, end_y) = to_page.point(0.0, advance);
        let [_, _, c, d, _, _] = to_page.0;
        let size = self.state.size.abs() * c.hypot(d).max(1e-6);
        let turn = turn(end_x - x, end_y - y);
        self.push(text, turn, (x, y), (end_x, end_y), size);
        self.advance(0.0, advance - self.state.character_space);
    }

    fn push(&mut self, text: &str, turn: u8, from: (f64, f64), to: (f64, f64), size: f64) {
        if text.is_empty() || self.is_beside_the_paper(from, to) {
            return;
        }
        let turned = |(x, y): (f64, f64)| match turn {
            0 => (x, -y),
            1 => (y, x),
            2 => (-x, y),
            _ => (-y, -x),
        };
        let ((start, base), (end, _)) = (turned(from), turned(to));
        let numbers = [start, end.max(start), base, size];
        if numbers.iter().any(|number| !number.is_finite() || number.abs() > 1e7) {
            return;
        }
        #[expect(clippy::cast_possible_truncation, reason = "checked to be small just before")]
        let [start, end, base, size] = numbers.map(|number| number as f32);
        let first = self.page.text.len();
        self.page.text.push_str(text);
        let (Ok(from), Ok(to)) = (u32::try_from(first), u32::try_from(self.page.text.len())) else { return };
        self.page.glyphs.push(Glyph { from, to, turn, start, end, base, size });
    }

    /// Lines too long for the paper go on beside it, where nobody sees them.
    fn is_beside_the_paper(&self, from: (f64, f64), to: (f64, f64)) -> bool {
        let PageBox { llx, lly, urx, ury } = self.paper;
        let is_within = |low: f32, high: f32, one: f64, other: f64| {
            one.max(other) >= f64::from(low) && one.min(other) <= f64::from(high)
        };
        !is_within(llx, urx, from.0, to.0) || !is_within(lly, ury, from.1, to.1)
    }

    /// Puts the text that a marked part says of itself in the place of its glyphs.
    fn replace(&mut self, marked: Marked) {
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

/// The quarter turn that a direction is nearest to.
fn turn(x: f64, y: f64) -> u8 {
    if x.abs() >= y.abs() {
        if x >= 0.0 { 0 } else { 2 }
    } else if y > 0.0 {
        1
    } else {
        3
    }
}

fn number(value: &PdfValue) -> Option<f64> {
    match value {
        #[expect(clippy::cast_precision_loss, reason = "a place on a page")]
        PdfValue::Integer(number) => Some(*number as f64),
        PdfValue::Real(number) => Some(f64::from(*number)),
        PdfValue::Name(_) | PdfValue::Str(_) | PdfValue::Array(_) | PdfValue::Other => None,
    }
}

fn matrix(operands: &[PdfValue]) -> Matrix {
    let mut numbers = [0.0; 6];
    for (number, operand) in numbers.iter_mut().zip(operands) {
        *number = self::number(operand).unwrap_or(0.0);
    }
    Matrix(numbers)
}
