//! The texts of the shapes on a slide or on its notes.

use super::records::{Record, kind};
use crate::readers::flow::{Flow, FlowPart};
use crate::readers::package::one_line;

/// Kinds of texts.
const TITLE: u32 = 0;
const CENTRED_TITLE: u32 = 6;
/// A shape that is a picture.
const PICTURE: u16 = 75;
/// The option of a shape with its text as decorative letters (WordArt).
const LETTERS: u16 = 0xc0;

/// A text, and the placeholder marks in it: the position of each, and the record's kind.
#[derive(Debug, Clone, Default)]
pub(super) struct SlideText {
    kind: u32,
    units: Vec<u16>,
    marks: Vec<(usize, u16)>,
    text: String,
}

impl SlideText {
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Replaces the marks by the texts that are shown.
    pub(super) fn resolve(&mut self, footers: &SlideFooters, dates: &mut u64) {
        self.marks.sort_unstable();
        let mut text = Vec::new();
        let mut from = 0;
        for (at, mark) in self.marks.iter().copied().filter(|(at, _)| *at < self.units.len()) {
            text.extend_from_slice(self.units.get(from..at).unwrap_or_default());
            let shown = match mark {
                kind::FOOTER_MARK => footers.footer.as_deref(),
                kind::HEADER_MARK => footers.header.as_deref(),
                kind::OWN_DATE_MARK => footers.date.as_deref(),
                kind::DATE_MARK | kind::FORMATTED_DATE_MARK => {
                    *dates += 1;
                    None
                }
                _ => None,
            };
            text.extend(shown.unwrap_or_default().encode_utf16());
            from = at + 1;
        }
        text.extend_from_slice(self.units.get(from..).unwrap_or_default());
        self.text = String::from_utf16_lossy(&text).replace('\u{b}', "\n");
    }

    pub(super) fn tell(&self, flow: &mut Flow) {
        let is_title = matches!(self.kind, TITLE | CENTRED_TITLE);
        for paragraph in self.text.split('\r') {
            let clean: String =
                paragraph.chars().filter(|found| !found.is_control() || matches!(found, '\n' | '\t')).collect();
            let lines: Vec<&str> = clean.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            if is_title {
                flow.add(FlowPart::Heading(1, one_line(&lines.join(" "))));
            } else {
                flow.paragraph(lines.join("\n"));
            }
        }
    }
}

/// The texts at a slide's edges.
#[derive(Debug, Clone, Default)]
pub(super) struct SlideFooters {
    date: Option<String>,
    header: Option<String>,
    footer: Option<String>,
}

impl SlideFooters {
    pub(super) fn of(record: Record<'_>) -> Self {
        const OWN_DATE: u32 = 4;
        const HEADER: u32 = 0x10;
        const FOOTER: u32 = 0x20;
        let flags = record.child(kind::HEADERS_FOOTERS_ATOM).and_then(|atom| atom.number(0)).unwrap_or(0) >> 16;
        let text = |instance: u16, flag: u32| {
            let mut strings =
                record.children().filter(|found| found.kind == kind::STRING && found.instance == instance);
            strings.next().filter(|_| flags & flag != 0).map(|found| String::from_utf16_lossy(&found.units()))
        };
        Self { date: text(0, OWN_DATE), header: text(1, HEADER), footer: text(2, FOOTER) }
    }

    /// The footers that have a shape on a master.
    pub(super) fn within(&self, master: Record<'_>) -> Self {
        let shown = |text: &Option<String>, mark: u16| text.clone().filter(|_| !master.all(mark).is_empty());
        let date = shown(&self.date, kind::OWN_DATE_MARK);
        Self { date, header: None, footer: shown(&self.footer, kind::FOOTER_MARK) }
    }

    /// The footers that none of the slide's own texts shows.
    pub(super) fn unshown<'f>(&'f self, texts: &'f [SlideText]) -> impl Iterator<Item = &'f str> {
        let is_shown = |footer: &str| texts.iter().any(|text| text.text.trim() == footer.trim());
        [&self.date, &self.footer].into_iter().flatten().map(String::as_str).filter(move |footer| !is_shown(footer))
    }
}

/// The drawn content of a page.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub(super) texts: Vec<SlideText>,
    /// Pictures and objects.
    pub(super) pictures: u64,
    /// Numbers of objects of other programs.
    pub(super) objects: Vec<u32>,
    /// Dates of the day.
    pub(super) dates: u64,
}

/// The texts of a page's shapes, outline texts in place of references to them, and outline texts without a reference.
pub(super) fn drawn(page: Record<'_>, outline: &[SlideText], footers: &SlideFooters) -> Drawn {
    let is_notes = page.kind == kind::NOTES;
    let mut drawn = Drawn::default();
    let mut used = vec![false; outline.len()];
    for shape in page.all(kind::SHAPE) {
        let is_picture = shape.child(kind::SHAPE_ATOM).is_some_and(|atom| atom.instance == PICTURE);
        let objects = shape.all(kind::OBJECT_REFERENCE);
        drawn.pictures += u64::from(is_picture || !objects.is_empty());
        drawn.objects.extend(objects.iter().filter_map(|object| object.number(0)));
        let placeholder = shape.all(kind::PLACEHOLDER).first().and_then(|found| found.bytes.get(4).copied());
        // Date, number, footer and header of pages of notes.
        if is_notes && placeholder.is_some_and(|found| (7..=10).contains(&found)) {
            continue;
        }
        drawn.texts.extend(letters(shape));
        for reference in shape.all(kind::OUTLINE_TEXT) {
            let at = reference.number(0).and_then(|at| usize::try_from(at).ok()).unwrap_or(usize::MAX);
            if let (Some(text), Some(used)) = (outline.get(at), used.get_mut(at)) {
                *used = true;
                drawn.texts.push(text.clone());
            }
        }
        drawn.texts.extend(texts(shape.children().flat_map(Record::children)));
    }
    drawn.texts.extend(outline.iter().zip(used).filter(|(_, used)| !used).map(|(text, _)| text.clone()));
    let dates = &mut drawn.dates;
    drawn.texts.iter_mut().for_each(|text| text.resolve(footers, dates));
    drawn
}

/// The texts among records: a header begins each, and marks follow it.
pub(super) fn texts<'a>(records: impl Iterator<Item = Record<'a>>) -> Vec<SlideText> {
    let mut texts: Vec<SlideText> = Vec::new();
    for record in records {
        if record.kind == kind::TEXT_HEADER {
            texts.push(SlideText { kind: record.number(0).unwrap_or(u32::MAX), ..SlideText::default() });
        }
        let Some(last) = texts.last_mut() else { continue };
        match record.kind {
            kind::TEXT_CHARS => last.units = record.units(),
            // The lower halves of units.
            kind::TEXT_BYTES => last.units = record.bytes.iter().copied().map(u16::from).collect(),
            kind::SLIDE_NUMBER_MARK
            | kind::DATE_MARK
            | kind::OWN_DATE_MARK
            | kind::HEADER_MARK
            | kind::FOOTER_MARK
            | kind::FORMATTED_DATE_MARK => {
                let at = record.number(0).and_then(|at| usize::try_from(at).ok());
                last.marks.extend(at.map(|at| (at, record.kind)));
            }
            _ => {}
        }
    }
    texts
}

/// The text of a shape with decorative letters: long values stand behind all of its options.
fn letters(shape: Record<'_>) -> Option<SlideText> {
    let options = shape.child(kind::SHAPE_OPTIONS)?;
    let mut from = usize::from(options.instance) * 6;
    for option in options.bytes.get(..from)?.chunks_exact(6) {
        let id = u16::from_le_bytes([option[0], option[1]]);
        if id & 0x8000 == 0 {
            continue;
        }
        let length = usize::try_from(u32::from_le_bytes([option[2], option[3], option[4], option[5]])).ok()?;
        let value = options.bytes.get(from..from.checked_add(length)?)?;
        if id & 0x3fff == LETTERS {
            let units = value.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
            let units = units.take_while(|unit| *unit != 0).collect();
            return Some(SlideText { kind: u32::MAX, units, ..SlideText::default() });
        }
        from += length;
    }
    None
}
