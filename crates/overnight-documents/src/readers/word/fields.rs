//! Fields: their instructions and their results. The result of a form's box comes from its data, that of a formula from
//! its instruction; the instruction of a link has its target.

use crate::readers::equation_field::equation;
use crate::readers::package::{BrokenPart, Xml};

/// The maximum nesting depth of fields that are distinguished.
const MAX_FIELDS: usize = 1_000;
/// The maximum length of a field's instruction.
const MAX_INSTRUCTION: usize = 4_000;

/// An open field.
#[derive(Debug, Default)]
struct Field {
    /// The reader is in its instruction, not in its result.
    is_code: bool,
    instruction: String,
    /// The content of a form's box; Word draws it from the data.
    form: Option<String>,
    has_shown: bool,
    /// Where the text of a link begins.
    link_from: Option<usize>,
}

impl Field {
    fn instruct(&mut self, text: &str) {
        if self.is_code && self.instruction.len() + text.len() <= MAX_INSTRUCTION {
            self.instruction.push_str(text);
        }
    }
}

/// The open fields.
#[derive(Debug, Default)]
pub(super) struct Fields {
    open: Vec<Field>,
    /// A field's instruction contained text.
    has_made_of_text: bool,
}

/// The text to write at the end of a field.
#[derive(Debug, Default)]
pub(super) struct FieldEnd {
    pub(super) form: Option<String>,
    /// The target of a link, and where its text began.
    pub(super) link: Option<(String, usize)>,
}

impl Fields {
    pub(super) fn is_code(&self) -> bool {
        self.open.iter().any(|field| field.is_code)
    }

    pub(super) fn begin(&mut self) {
        if self.open.len() < MAX_FIELDS {
            self.open.push(Field { is_code: true, ..Field::default() });
        }
    }

    /// Adds text to the field's instruction.
    pub(super) fn instruct(&mut self, text: &str) {
        self.open.last_mut().into_iter().for_each(|field| field.instruct(text));
    }

    /// Begins the field's result, at byte `at` of its paragraph.
    pub(super) fn separate(&mut self, at: usize) {
        if let Some(field) = self.open.last_mut() {
            field.is_code = false;
            field.link_from = Some(at);
        }
        self.has_made_of_text = false;
    }

    pub(super) fn end(&mut self) -> FieldEnd {
        self.has_made_of_text = false;
        let Some(field) = self.open.pop() else { return FieldEnd::default() };
        let link = field.link_from.and_then(|from| Some((target(&field.instruction)?, from)));
        let form = field.form.or_else(|| equation(&field.instruction)).filter(|_| !field.has_shown);
        // Inside another field's instruction, it is a part of that instruction.
        self.instruct(form.as_deref().unwrap_or_default());
        FieldEnd { form, link }
    }

    /// Handles text of an instruction, or of a field's result inside another field's instruction.
    pub(super) fn made_of(&mut self, text: &str) {
        self.has_made_of_text |= !text.trim().is_empty();
        if let Some((shown, around)) = self.open.split_last_mut()
            && !shown.is_code
        {
            shown.has_shown |= !text.trim().is_empty();
            around.iter_mut().rev().find(|field| field.is_code).into_iter().for_each(|field| field.instruct(text));
        }
    }

    /// Text came that is shown.
    pub(super) fn shown(&mut self) {
        self.open.iter_mut().for_each(|field| field.has_shown = true);
    }

    /// Ends the paragraph, and all fields without a result. Returns whether text was lost by that.
    pub(super) fn end_paragraph(&mut self) -> bool {
        let is_cut = self.is_code() && std::mem::take(&mut self.has_made_of_text);
        self.open.iter_mut().for_each(|field| (field.is_code, field.link_from) = (false, None));
        is_cut
    }

    /// Reads a box that is ticked or not; its start tag was read last.
    pub(super) fn check_box(&mut self, xml: &mut Xml<'_>) -> Result<(), BrokenPart> {
        let (mut default, mut own) = (false, None);
        xml.each("checkBox", |element, _| {
            match element.name() {
                "default" => default = element.is_on("val"),
                "checked" => own = Some(element.is_on("val")),
                _ => {}
            }
            Ok(())
        })?;
        self.show(if own.unwrap_or(default) { "☒" } else { "☐" });
        Ok(())
    }

    /// Reads a list to choose from; its start tag was read last.
    pub(super) fn choice(&mut self, xml: &mut Xml<'_>) -> Result<(), BrokenPart> {
        let (mut default, mut own, mut entries) = (0, None, Vec::new());
        xml.each("ddList", |element, _| {
            match element.name() {
                "default" => default = element.number("val").unwrap_or(0),
                "result" => own = element.number::<usize>("val"),
                "listEntry" => entries.push(element.value("val").unwrap_or_default()),
                _ => {}
            }
            Ok(())
        })?;
        if let Some(entry) = entries.get(own.unwrap_or(default)) {
            self.show(entry);
        }
        Ok(())
    }

    fn show(&mut self, shown: &str) {
        self.open.last_mut().into_iter().for_each(|field| field.form = Some(shown.to_owned()));
    }
}

/// The target of a field that is a link: `HYPERLINK "https://example.org/" \l "place"`.
pub(super) fn target(instruction: &str) -> Option<String> {
    let rest = instruction.trim().strip_prefix("HYPERLINK")?.trim_start();
    let target = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split_whitespace().next(),
    };
    target.filter(|target| !target.starts_with('\\')).map(str::to_owned)
}
