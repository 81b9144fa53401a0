//! Interprets control words for the text: groups with their formats, paragraphs, rows of tables, notes.

use encoding_rs::Encoding;

use super::fields::RtfFields;
use super::fonts::{FontBytes, FontTable, encoding};
use super::styles::RtfStyles;
use super::tokens::RtfToken;
use super::words::{Destination, OmittedGroup, character, destination};
use crate::readers::flow::{Emphasis, Flow, FlowPart, FlowTable, written};

/// The maximum nesting depth of groups.
const MAX_GROUPS: usize = 20_000;

/// The state of a group.
#[derive(Debug, Clone, Copy)]
struct RtfGroup {
    destination: Destination,
    font: Option<i32>,
    emphasis: Emphasis,
    is_hidden: bool,
    is_deleted: bool,
    /// The number of stand-in characters behind a Unicode one, for readers that don't know it.
    stand_ins: usize,
}

/// The properties of a paragraph.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ParagraphWords {
    pub(super) is_in_table: bool,
    pub(super) outline: Option<u8>,
    pub(super) style: Option<i32>,
    pub(super) breaks_before: bool,
}

/// A text that is being read: the body, a note, a text box.
#[derive(Debug, Default)]
pub(super) struct RtfPart {
    pub(super) flow: Flow,
    pub(super) line: String,
    pub(super) label: String,
    /// The parts attached to the paragraph, which follow it.
    pub(super) behind: Flow,
    pub(super) cell: Flow,
    pub(super) table: Option<FlowTable>,
}

/// Counts of what a document has beside its text, for notes.
#[derive(Debug, Default)]
pub(super) struct RtfOmissions {
    pub(super) images: u64,
    pub(super) comments: u64,
    pub(super) deletions: u64,
    pub(super) hidden: u64,
    pub(super) signs: u64,
    pub(super) has_around: bool,
    /// The amount of data behind the document's end; none until that is reached.
    pub(super) behind: Option<u64>,
}

pub(super) struct RtfStory {
    fonts: FontTable,
    pub(super) styles: RtfStyles,
    groups: Vec<RtfGroup>,
    pub(super) parts: Vec<RtfPart>,
    pub(super) properties: ParagraphWords,
    /// Bytes and code units that aren't characters yet.
    pub(super) bytes: Vec<u8>,
    pub(super) units: Vec<u16>,
    fields: RtfFields,
    pub(super) to_skip: usize,
    pub(super) is_first: bool,
    pub(super) is_starred: bool,
    pub(super) notes: u32,
    pub(super) section_ended: bool,
    pub(super) omitted: RtfOmissions,
    pub(super) too_deep: usize,
}

impl RtfStory {
    pub(super) fn new() -> Self {
        let group = RtfGroup {
            destination: Destination::Body,
            font: None,
            emphasis: Emphasis::default(),
            is_hidden: false,
            is_deleted: false,
            stand_ins: 1,
        };
        Self {
            fonts: FontTable::default(),
            styles: RtfStyles::default(),
            groups: vec![group],
            parts: vec![RtfPart::default()],
            properties: ParagraphWords::default(),
            bytes: Vec::new(),
            units: Vec::new(),
            fields: RtfFields::default(),
            to_skip: 0,
            is_first: false,
            is_starred: false,
            notes: 0,
            section_ended: false,
            omitted: RtfOmissions::default(),
            too_deep: 0,
        }
    }

    pub(super) fn take(&mut self, token: RtfToken<'_>) {
        if let Some(behind) = &mut self.omitted.behind {
            *behind += u64::from(token.is_content());
            return;
        }
        match token {
            RtfToken::Open => self.open(),
            RtfToken::Close => self.close(),
            RtfToken::Word(word, number) => self.word(word, number),
            RtfToken::Sign(sign) => self.sign(sign),
            RtfToken::Byte(byte) => self.bytes(&[byte]),
            RtfToken::Text(text) => self.bytes(text),
        }
    }

    /// The document's text, and whether its last group was closed.
    pub(super) fn finish(mut self) -> (Flow, bool, RtfOmissions) {
        let is_whole = self.groups.len() <= 1;
        while self.groups.len() > 1 {
            self.close();
        }
        self.end_paragraph();
        self.end_table();
        let flow = self.parts.into_iter().next().unwrap_or_default().flow;
        (flow, is_whole, self.omitted)
    }

    fn group(&self) -> RtfGroup {
        *self.groups.last().unwrap_or(&self.groups[0])
    }

    fn group_mut(&mut self) -> Option<&mut RtfGroup> {
        self.groups.last_mut()
    }

    pub(super) fn part(&mut self) -> &mut RtfPart {
        let last = self.parts.len() - 1;
        &mut self.parts[last]
    }

    fn open(&mut self) {
        self.flush();
        self.to_skip = 0;
        if self.groups.len() >= MAX_GROUPS {
            self.too_deep += 1;
            return;
        }
        let mut group = self.group();
        if group.destination == Destination::TwoForms {
            group.destination = Destination::Skip;
        }
        self.groups.push(group);
        self.is_first = true;
        self.is_starred = false;
    }

    fn close(&mut self) {
        self.flush();
        self.to_skip = 0;
        (self.is_first, self.is_starred) = (false, false);
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        if self.groups.len() <= 1 {
            return;
        }
        let Some(group) = self.groups.pop() else { return };
        if let Some(shown) = self.fields.end_group(self.groups.len()) {
            self.text(&shown);
        }
        self.omitted.behind = (self.groups.len() == 1).then_some(0);
        let around = self.group().destination;
        if group.destination == around {
            return;
        }
        match group.destination {
            Destination::Note => self.end_note(),
            Destination::TextBox => self.end_box(),
            Destination::Styles => self.styles.end(),
            Destination::Instruction => self.fields.end_instruction(self.groups.len()),
            Destination::Body
            | Destination::Skip
            | Destination::Fonts
            | Destination::ListLabel
            | Destination::TwoForms => {}
        }
    }

    fn enter(&mut self, found: Destination, omitted: Option<OmittedGroup>) {
        let around = self.group().destination;
        // A skipped group stays skipped, except for the Unicode form of a text.
        if around == Destination::Skip && found != Destination::Body {
            return;
        }
        let is_text = matches!(around, Destination::Body | Destination::Note | Destination::TextBox);
        let found = if found == Destination::Instruction && !is_text { Destination::Skip } else { found };
        match omitted {
            Some(OmittedGroup::Image) => self.omitted.images += 1,
            Some(OmittedGroup::Comment) => self.omitted.comments += 1,
            Some(OmittedGroup::HeaderOrFooter) => self.omitted.has_around = true,
            None => {}
        }
        if matches!(found, Destination::Note | Destination::TextBox) && around != found {
            self.parts.push(RtfPart::default());
        } else if matches!(found, Destination::Note | Destination::TextBox) {
            return;
        }
        self.group_mut().into_iter().for_each(|group| group.destination = found);
    }

    fn word(&mut self, word: &str, number: Option<i32>) {
        let is_first = std::mem::take(&mut self.is_first);
        let is_starred = std::mem::take(&mut self.is_starred);
        let around = self.group().destination;
        if (is_first || is_starred)
            && let Some((found, omitted)) = destination(word, is_starred)
        {
            let is_unicode = word == "ud";
            let outer = self.groups.iter().rev().nth(1).map(|group| group.destination);
            // The two forms of a text that is skipped.
            if is_unicode && outer != Some(Destination::TwoForms) {
                return;
            }
            let is_inner = found == Destination::Body && !is_unicode;
            if is_inner && around != Destination::Body {
                return;
            }
            return self.enter(found, omitted);
        }
        if around == Destination::Skip {
            return;
        }
        if word == "u" {
            self.flush_bytes();
            let unit = number.unwrap_or(0).rem_euclid(65_536);
            self.units.push(u16::try_from(unit).unwrap_or(0xfffd));
            self.to_skip = self.group().stand_ins;
            return;
        }
        if self.to_skip > 0 && word == "bin" {
            self.to_skip -= 1;
            return;
        }
        self.flush();
        if let Some(text) = character(word) {
            return self.text(text);
        }
        match word {
            "ansicpg" => self.fonts.page = number.and_then(encoding).unwrap_or(self.fonts.page),
            "mac" => self.fonts.page = encoding_rs::MACINTOSH,
            "deff" => self.fonts.default = number.unwrap_or(0),
            "f" if around == Destination::Fonts => self.fonts.current = number.unwrap_or(0),
            "fcharset" if around == Destination::Fonts => self.fonts.set_charset(number.unwrap_or(0)),
            "cpg" if around == Destination::Fonts => self.fonts.set_page(number.unwrap_or(0)),
            "s" if around == Destination::Styles => self.styles.current = number,
            "outlinelevel" if around == Destination::Styles => self.styles.set_level(number.unwrap_or(9)),
            "par" | "sect" | "page" | "cell" | "row" | "pagebb" | "pard" | "intbl" | "outlinelevel" | "s"
            | "sbknone" | "sbkcol" | "chftn" => self.structure(word, number),
            _ => self.format(word, number),
        }
    }

    /// Sets the format of the following characters.
    fn format(&mut self, word: &str, number: Option<i32>) {
        let is_on = number != Some(0);
        let Some(group) = self.groups.last_mut() else { return };
        match word {
            "f" => group.font = number,
            "uc" => group.stand_ins = usize::try_from(number.unwrap_or(1)).unwrap_or(1).min(16),
            "plain" => {
                group.font = None;
                group.emphasis = Emphasis::default();
                group.is_hidden = false;
            }
            "v" => group.is_hidden = is_on,
            "deleted" => group.is_deleted = is_on,
            "strike" | "striked" => group.emphasis.is_struck = is_on,
            "super" | "up" => {
                group.emphasis.is_raised = is_on;
                group.emphasis.is_lowered = false;
            }
            "sub" | "dn" => {
                group.emphasis.is_lowered = is_on;
                group.emphasis.is_raised = false;
            }
            "nosupersub" => (group.emphasis.is_raised, group.emphasis.is_lowered) = (false, false),
            _ => {}
        }
    }

    fn structure(&mut self, word: &str, number: Option<i32>) {
        if matches!(
            self.group().destination,
            Destination::Fonts | Destination::Styles | Destination::ListLabel | Destination::Instruction
        ) {
            return;
        }
        match word {
            "par" => self.end_paragraph(),
            "sect" => {
                self.end_paragraph();
                self.section_ended = true;
            }
            "page" => {
                self.end_paragraph();
                if self.parts.len() == 1 {
                    self.part().flow.add(FlowPart::Break);
                }
            }
            "cell" => self.end_cell(),
            "row" => self.end_row(),
            "pagebb" => self.properties.breaks_before = number != Some(0),
            "pard" => self.properties = ParagraphWords::default(),
            "intbl" => self.properties.is_in_table = number != Some(0),
            "outlinelevel" => self.properties.outline = number.and_then(|level| u8::try_from(level + 1).ok()),
            "s" => self.properties.style = number,
            // The section begins where the one before ends.
            "sbknone" | "sbkcol" => self.section_ended = false,
            "chftn" if self.parts.len() == 1 => {
                let label = format!("[{}]", self.notes + 1);
                self.part().line.push_str(&label);
            }
            _ => {}
        }
    }

    fn sign(&mut self, sign: u8) {
        if sign == b'*' {
            // Elsewhere than at the head of a group it has no meaning.
            self.is_starred = self.is_first;
            return;
        }
        self.is_first = false;
        match sign {
            b'~' => self.character("\u{a0}"),
            b'_' => self.character("\u{2011}"),
            b'{' | b'}' | b'\\' => self.bytes(&[sign]),
            b'\r' | b'\n' => self.word("par", None),
            b'\t' => self.character("\t"),
            // An optional hyphen, and marks of an index.
            _ => {}
        }
    }

    fn character(&mut self, text: &str) {
        if self.to_skip > 0 {
            self.to_skip -= 1;
            return;
        }
        self.flush();
        self.text(text);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        // Some programs set words off, also from the brace before them.
        self.is_first &= bytes.iter().all(u8::is_ascii_whitespace);
        if self.group().destination == Destination::Skip {
            return;
        }
        let skipped = self.to_skip.min(bytes.len());
        self.to_skip -= skipped;
        if skipped < bytes.len() {
            self.flush_units();
            self.bytes.extend_from_slice(&bytes[skipped..]);
        }
    }

    pub(super) fn flush(&mut self) {
        self.flush_bytes();
        self.flush_units();
    }

    fn flush_units(&mut self) {
        if !self.units.is_empty() {
            let text = String::from_utf16_lossy(&std::mem::take(&mut self.units));
            let is_sign = |found: char| ('\u{e000}'..='\u{f8ff}').contains(&found);
            if text.contains(is_sign) && self.group().destination == Destination::Body {
                self.omitted.signs += 1;
            }
            self.text(&text.replace(is_sign, "•"));
        }
    }

    fn flush_bytes(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let group = self.group();
        let text = match self.fonts.of(group.font) {
            FontBytes::Text(encoding) => decoded(encoding, &bytes),
            // Blanks and digits are roughly the same in those fonts; other signs are not letters.
            FontBytes::Signs if group.destination == Destination::Body => {
                self.omitted.signs += 1;
                "•".repeat(bytes.len().min(1_000))
            }
            FontBytes::Signs => "•".to_owned(),
        };
        self.text(&text);
    }

    fn text(&mut self, text: &str) {
        let group = self.group();
        match group.destination {
            Destination::Skip | Destination::Fonts | Destination::TwoForms => {}
            Destination::Styles => self.styles.name(text),
            Destination::ListLabel => self.part().label.push_str(text),
            Destination::Instruction => self.fields.instruct(text),
            Destination::Body | Destination::Note | Destination::TextBox => {
                self.fields.shown(self.groups.len(), text);
                if group.is_hidden || group.is_deleted {
                    let count = if group.is_deleted { &mut self.omitted.deletions } else { &mut self.omitted.hidden };
                    *count += u64::from(!text.trim().is_empty());
                    return;
                }
                let part = self.part();
                // A raised text may come in several pieces.
                part.line.push_str(&written(text, group.emphasis));
            }
        }
    }
}

fn decoded(encoding: &'static Encoding, bytes: &[u8]) -> String {
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}
