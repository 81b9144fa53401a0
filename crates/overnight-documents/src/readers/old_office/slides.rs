//! A presentation (PPT): slides in order, each with its texts in drawing order, its own footer and date, and notes.

use std::collections::{HashMap, HashSet};
use std::io::{Cursor, Read};

use super::objects::SlideObjects;
use super::records::{Record, kind, number, records};
use super::shapes::{SlideFooters, SlideText, drawn, texts};
use crate::readers::flow::Flow;
use crate::readers::slides::SHARED_FOOTERS;
use crate::readers::{PageSink, ReadFailure, note_counts};
use crate::refusal::Refusal;
use crate::units::Unit;

/// The most saves that one file remembers.
const MAX_EDITS: usize = 4_096;
/// The most slides that are read.
const MAX_SLIDES: usize = 20_000;
/// The mark in the header of a file with a password.
const ENCRYPTED: u32 = 0xf3d1_c4df;
/// Lists of slides, of masters and of notes.
const SLIDES: u16 = 0;
const MASTERS: u16 = 1;
const NOTES: u16 = 2;

const FORMAT: &str = "an old PowerPoint presentation (PPT)";

pub(super) type OleFile<'a> = cfb::CompoundFile<Cursor<&'a [u8]>>;

/// Reads the file and notes omissions. `is_inner`: it is embedded in another file, and documents in it aren't read.
pub(super) fn read(file: &mut OleFile<'_>, is_inner: bool, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
    let mut part = |name: &str| {
        // A file that also serves PowerPoint 95 has the stream twice.
        let both = format!("/PP97_DUALSTORAGE{name}");
        let mut bytes = Vec::new();
        let mut stream = file.open_stream(&both).or_else(|_| file.open_stream(name)).ok()?;
        stream.read_to_end(&mut bytes).ok().map(|_| bytes)
    };
    let stream = part("/PowerPoint Document").unwrap_or_default();
    let user = part("/Current User").unwrap_or_default();
    if number(&user, 12) == Some(ENCRYPTED) {
        return Err(Refusal::Encrypted { format: FORMAT.to_owned() }.into());
    }
    if file.exists("/Text_Content") && !file.exists("/PP97_DUALSTORAGE") {
        let advice = "save it as PPTX or PDF".to_owned();
        return Err(Refusal::Unsupported { format: "a presentation of PowerPoint 95".to_owned(), advice }.into());
    }
    let Some(presentation) = Presentation::of(&stream, number(&user, 16)) else {
        let why = "it names no document in it".to_owned();
        return Err(Refusal::Damaged { format: FORMAT.to_owned(), why }.into());
    };
    let objects = if is_inner { SlideObjects::default() } else { presentation.objects() };
    presentation.tell(objects, pages)?;
    Ok(Unit::Page)
}

struct Presentation<'a> {
    /// The offsets of its parts, by their numbers.
    parts: HashMap<u32, u32>,
    stream: &'a [u8],
    document: Record<'a>,
    /// The part and the outline of each slide.
    slides: Vec<(u32, Vec<SlideText>)>,
    /// The part of each master and of each page of notes.
    masters: HashMap<u32, u32>,
    notes: HashMap<u32, u32>,
    footers: SlideFooters,
}

impl<'a> Presentation<'a> {
    fn of(stream: &'a [u8], last_edit: Option<u32>) -> Option<Self> {
        let (parts, document) = directory(stream, last_edit).or_else(|| all_directories(stream))?;
        let document = Record::at(stream, *parts.get(&document)?).filter(|found| found.kind == kind::DOCUMENT)?;
        let mut footers = document.children().filter(|found| found.kind == kind::HEADERS_FOOTERS);
        let footers = footers.find(|found| found.instance != 4).map(SlideFooters::of).unwrap_or_default();
        let mut presentation = Self {
            parts,
            stream,
            document,
            slides: Vec::new(),
            masters: HashMap::new(),
            notes: HashMap::new(),
            footers,
        };
        for list in document.children().filter(|found| found.kind == kind::SLIDE_LIST) {
            presentation.list(list);
        }
        Some(presentation)
    }

    fn list(&mut self, list: Record<'a>) {
        let mut rest: Vec<Record<'_>> = list.children().collect();
        while let Some(at) = rest.iter().rposition(|found| found.kind == kind::SLIDE_PERSIST) {
            let outline = rest.split_off(at);
            let (Some(part), Some(id)) = (outline[0].number(0), outline[0].number(12)) else { continue };
            match list.instance {
                SLIDES => self.slides.push((part, texts(outline.into_iter().skip(1)))),
                MASTERS => drop(self.masters.insert(id, part)),
                NOTES => drop(self.notes.insert(id, part)),
                _ => {}
            }
        }
        // The slides were taken from the end.
        if list.instance == SLIDES {
            self.slides.reverse();
        }
    }

    /// The footers that the shapes of a slide's master show.
    fn on_master(&self, slide: Record<'_>, footers: &SlideFooters) -> SlideFooters {
        const FOLLOWS_MASTER: u8 = 1;
        let atom = slide.child(kind::SLIDE_ATOM);
        let follows = atom.filter(|atom| atom.bytes.get(20).is_some_and(|flags| flags & FOLLOWS_MASTER != 0));
        let master = follows.and_then(|atom| self.masters.get(&atom.number(12)?));
        let master = master.and_then(|part| Record::at(self.stream, *self.parts.get(part)?));
        master.map(|master| footers.within(master)).unwrap_or_default()
    }

    fn part(&self, number: u32, kind: u16) -> Option<Record<'a>> {
        Record::at(self.stream, *self.parts.get(&number)?).filter(|found| found.kind == kind)
    }

    fn objects(&self) -> SlideObjects<'a> {
        SlideObjects::of(self.document, |number| self.part(number, kind::OBJECT))
    }

    fn tell(&self, mut objects: SlideObjects<'_>, pages: &mut dyn PageSink) -> Result<(), ReadFailure> {
        let (mut hidden, mut comments, mut dates) = (0, 0, 0);
        let (mut told, mut repeated) = (HashSet::new(), false);
        pages.expect(self.slides.len() as u64)?;
        for (page, (part, outline)) in (1..).zip(self.slides.iter().take(MAX_SLIDES)) {
            if !pages.begin(page)? {
                continue;
            }
            let mut flow = Flow::default();
            let slide = self.part(*part, kind::SLIDE);
            let Some(slide) = slide else {
                flow.gap("its part is missing; this is its outline");
                for mut text in outline.iter().cloned() {
                    text.resolve(&self.footers, &mut dates);
                    text.tell(&mut flow);
                }
                flow.tell_page(pages)?;
                continue;
            };
            let footers = slide.child(kind::HEADERS_FOOTERS).map_or_else(|| self.footers.clone(), SlideFooters::of);
            let drawn = drawn(slide, outline, &footers);
            let is_hidden =
                slide.child(kind::SLIDE_SHOW).is_some_and(|show| show.bytes.get(10).is_some_and(|on| on & 4 != 0));
            if is_hidden {
                hidden += 1;
                flow.paragraph("(hidden slide)");
            }
            let head = flow.held();
            for text in &drawn.texts {
                text.tell(&mut flow);
            }
            for object in &drawn.objects {
                for note in objects.tell(*object, &mut flow) {
                    pages.note(note)?;
                }
            }
            let is_bare = flow.held() == head;
            for text in self.on_master(slide, &footers).unshown(&drawn.texts) {
                if told.insert(text.to_owned()) {
                    flow.paragraph(text);
                } else {
                    repeated = true;
                }
            }
            if is_bare && drawn.pictures > 0 {
                flow.gap("nothing but an image or an object on it");
            }
            dates += drawn.dates;
            let notes = slide.child(kind::SLIDE_ATOM).and_then(|atom| atom.number(16));
            let notes = notes.and_then(|id| self.part(*self.notes.get(&id)?, kind::NOTES));
            let notes = notes.map(|notes| self::drawn(notes, &[], &SlideFooters::default()).texts).unwrap_or_default();
            if !notes.iter().all(SlideText::is_blank) {
                flow.paragraph("Notes:");
                for text in &notes {
                    text.tell(&mut flow);
                }
            }
            let tags = slide.all(kind::TAG_DATA).into_iter();
            comments += tags.flat_map(|tag| records(tag.bytes)).filter(|found| found.kind == kind::COMMENT).count();
            flow.tell_page(pages)?;
        }
        if self.slides.len() > MAX_SLIDES {
            pages.gap(&format!("{} slides behind it, which are not read", self.slides.len() - MAX_SLIDES))?;
        }
        if repeated {
            pages.note(SHARED_FOOTERS.to_owned())?;
        }
        let counts = [
            (hidden, "1 of its slides is hidden, and was read", "of its slides are hidden, and were read"),
            (comments as u64, "1 comment was left out", "comments were left out"),
            (
                dates,
                "the date on 1 slide, that of the day on which it is shown, was left out",
                "dates on slides, those of the day on which they are shown, were left out",
            ),
            (objects.omitted, "1 embedded object was left out", "embedded objects were left out"),
        ];
        Ok(note_counts(pages, &counts)?)
    }
}

/// The offsets of the parts, and which of them is the document, according to the last save and those before it.
fn directory(stream: &[u8], last: Option<u32>) -> Option<(HashMap<u32, u32>, u32)> {
    let mut edits = Vec::new();
    let mut at = last?;
    loop {
        let edit = Record::at(stream, at).filter(|found| found.kind == kind::USER_EDIT)?;
        edits.push((edit.number(12)?, edit.number(16)?));
        let before = edit.number(8)?;
        if before == 0 || edits.len() >= MAX_EDITS {
            break;
        }
        // The saves lead backwards, or in circles.
        at = Some(before).filter(|before| *before < at)?;
    }
    let mut parts = HashMap::new();
    for (directory, _) in edits.iter().rev() {
        learn(Record::at(stream, *directory).filter(|found| found.kind == kind::PERSIST_DIRECTORY)?, &mut parts);
    }
    let document = edits.first()?.1;
    parts.contains_key(&document).then_some((parts, document))
}

/// The same without the chain of saves: all directories in the order of the file.
fn all_directories(stream: &[u8]) -> Option<(HashMap<u32, u32>, u32)> {
    let (mut parts, mut document) = (HashMap::new(), None);
    for record in records(stream) {
        match record.kind {
            kind::PERSIST_DIRECTORY => learn(record, &mut parts),
            kind::USER_EDIT => document = record.number(16).or(document),
            _ => {}
        }
    }
    Some((parts, document?))
}

fn learn(directory: Record<'_>, parts: &mut HashMap<u32, u32>) {
    let mut numbers = directory.bytes.chunks_exact(4).filter_map(|bytes| number(bytes, 0));
    while let Some(head) = numbers.next() {
        let (first, count) = (head & 0xf_ffff, head >> 20);
        for part in first..first.saturating_add(count) {
            let Some(place) = numbers.next() else { return };
            parts.insert(part, place);
        }
    }
}
