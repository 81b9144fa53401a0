//! Content of a paragraph that is stored elsewhere, or describes other content: fields, links, notes, charts, diagrams.

use super::fields::target;
use super::run::RunProperties;
use super::story::Story;
use crate::links;
use crate::readers::RunStyle;
use crate::readers::package::{Element, alternative_text, number};
use crate::sign_fonts;

/// Other parts that a story shows.
pub(super) trait StoryParts {
    /// The figures of a chart.
    fn chart(&self, id: &str) -> Option<String>;
    /// The texts of a diagram.
    fn diagram(&self, id: &str) -> Option<String>;
    /// The marker of a picture in the text.
    fn picture(&self, id: &str) -> Option<String>;
    /// The target of a link.
    fn target(&self, id: &str) -> Option<String>;
}

impl Story<'_, '_> {
    /// Begins a run, or sets its properties: they override those of its style, and these its paragraph's.
    pub(super) fn run_begins(&mut self, own: Option<RunProperties>) {
        let base = self.paragraph().map(|paragraph| paragraph.base.clone()).unwrap_or_default();
        self.run = match own {
            None => base,
            Some(own) => {
                let by_style = own.style.as_deref().map(|style| self.styles.run(Some(style))).unwrap_or_default();
                own.over(&by_style).over(&base)
            }
        };
    }

    /// A sign by its number in a font.
    pub(super) fn sign(&mut self, element: &Element) {
        let sign = element.value("char").and_then(|hex| u32::from_str_radix(&hex, 16).ok());
        let sign = sign.and_then(char::from_u32).unwrap_or('\u{fffd}').to_string();
        let font = element.value("font").unwrap_or_else(|| "an unknown font".to_owned());
        self.text(&sign_fonts::shown_in(&font, &sign).unwrap_or(sign));
    }

    /// A link begins that is an element, or a field in one.
    pub(super) fn link_begins(&mut self, element: &Element) {
        let target = match element.name() {
            "hyperlink" => element.prefixed("id").and_then(|id| self.beside.target(&id)),
            _ => element.value("instr").and_then(|instruction| target(&instruction)),
        };
        let at = self.at();
        self.links.push(target.map(|target| (target, at)));
    }

    /// The current length of the paragraph's text.
    pub(super) fn at(&mut self) -> usize {
        self.paragraph().map_or(0, |paragraph| {
            paragraph.text.set(RunStyle::default());
            paragraph.text.as_str().len()
        })
    }

    /// The link whose text began at `from` ends here.
    pub(super) fn link(&mut self, target: &str, from: usize) {
        let to = self.at();
        let label = self.paragraph().and_then(|paragraph| paragraph.text.as_str().get(from..to)).unwrap_or_default();
        if let Some(shown) = links::behind(label, target) {
            self.run = RunProperties::default();
            self.text(&shown);
        }
    }

    /// Handles a mark of a field: its beginning, the beginning of its result, its end.
    pub(super) fn field(&mut self, kind: Option<&str>) {
        match kind {
            Some("begin") => self.fields.begin(),
            Some("separate") => {
                let at = self.at();
                self.fields.separate(at);
            }
            Some("end") => {
                let end = self.fields.end();
                self.text(&end.form.unwrap_or_default());
                if let Some((target, from)) = end.link {
                    self.link(&target, from);
                }
            }
            Some(_) | None => {}
        }
    }

    /// Adds the alternative text of a picture.
    pub(super) fn alternative(&mut self, element: &Element) {
        if let Some(shown) = alternative_text(element) {
            self.text(&shown);
            self.page_alternatives.push(shown);
        }
    }

    /// A picture, which is named behind its paragraph.
    pub(super) fn picture(&mut self, id: Option<String>) {
        self.seen.images += 1;
        self.page_images += 1;
        let Some(marker) = id.and_then(|id| self.beside.picture(&id)) else { return };
        if let Some(paragraph) = self.paragraph() {
            paragraph.boxes.push(marker.clone());
            self.page_alternatives.push(marker);
        }
    }

    /// The texts of a diagram, which lie in a part of their own.
    pub(super) fn diagram(&mut self, element: &Element) {
        let texts = element.prefixed("dm").and_then(|id| self.beside.diagram(&id));
        match (texts, self.paragraph()) {
            (Some(texts), Some(paragraph)) => paragraph.boxes.push(texts),
            (_, _) => self.page_gaps.push("a diagram on it, which isn't read".to_owned()),
        }
    }

    /// A reference to a footnote (0) or an endnote (1), numbered as Word numbers them.
    pub(super) fn note(&mut self, kind: usize, element: &Element) {
        let (Some(count), Some(notes)) = (self.referred.get_mut(kind), self.notes.get(kind)) else { return };
        *count += 1;
        let label = number(*count, if kind == 0 { "decimal" } else { "lowerRoman" });
        let note = element.value("id").and_then(|id| notes.get(&id));
        let note = note.map(|text| format!("[{label}] {}", text.trim()));
        self.text(&format!("[{label}]"));
        self.held += note.as_ref().map_or(0, String::len);
        if let Some(paragraph) = self.paragraph() {
            paragraph.notes.extend(note);
        }
    }

    /// The figures of a chart.
    pub(super) fn chart(&mut self, element: &Element) {
        let figures = element.prefixed("id").and_then(|id| self.beside.chart(&id));
        match (figures, self.paragraph()) {
            (Some(figures), Some(paragraph)) => paragraph.boxes.push(figures),
            (_, _) => self.page_gaps.push("a chart on it, which isn't read".to_owned()),
        }
    }
}
