//! Fields: what makes them, and what they show. A box of a form shows what its data say, a formula what makes it; where a link
//! leads stands in what makes it.

use crate::readers::equation_field::equation;
use crate::readers::package::{BrokenPart, Xml};

/// The most fields inside one another that are told apart.
const MAX_FIELDS: usize = 1_000;
/// The longest text that makes a field.
const MAX_INSTRUCTION: usize = 4_000;

/// A field that is open.
#[derive(Debug, Default)]
struct Field {
    /// We are in what makes it, not in what it shows.
    is_code: bool,
    instruction: String,
    /// What a box of a form shows; Word draws it from the data.
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

/// The fields that we are in.
#[derive(Debug, Default)]
pub(super) struct Fields {
    open: Vec<Field>,
    /// There was text in what makes a field.
    has_made_of_text: bool,
}

/// What has to be written at the end of a field.
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

    /// Text of what makes the field.
    pub(super) fn instruct(&mut self, text: &str) {
        self.open.last_mut().into_iter().for_each(|field| field.instruct(text));
    }

    /// What the field shows begins, behind `at` bytes of its paragraph.
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
        // In what makes another field, it is a part of that.
        self.instruct(form.as_deref().unwrap_or_default());
        FieldEnd { form, link }
    }

    /// Text came that makes a field, or that a field shows within what makes another.
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

    /// The paragraph ends, and with it all that doesn't say what it shows. Whether text was lost so.
    pub(super) fn end_paragraph(&mut self) -> bool {
        let is_cut = self.is_code() && std::mem::take(&mut self.has_made_of_text);
        self.open.iter_mut().for_each(|field| (field.is_code, field.link_from) = (false, None));
        is_cut
    }

    /// A box that is ticked or not; its first tag came last.
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

    /// A list to choose from; its first tag came last.
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

/// Where a field leads that is a link: `HYPERLINK "https://example.org/" \l "place"`.
pub(super) fn target(instruction: &str) -> Option<String> {
    let rest = instruction.trim().strip_prefix("HYPERLINK")?.trim_start();
    let target = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split_whitespace().next(),
    };
    target.filter(|target| !target.starts_with('\\')).map(str::to_owned)
}
