//! The positions of placeholders: a slide inherits them from its layout, and the layout from its master.

use std::collections::HashMap;

use super::reading_order::ShapeBox;
use crate::readers::package::{BrokenPart, Element, Package, Relations, Xml};

/// Identifies a placeholder: its kind, and its number among those of its layout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Placeholder {
    pub(super) kind: String,
    pub(super) index: String,
}

impl Placeholder {
    pub(super) fn of(element: &Element) -> Self {
        Self { kind: element.value("type").unwrap_or_default(), index: element.value("idx").unwrap_or_default() }
    }

    pub(super) fn is_title(&self) -> bool {
        matches!(self.kind.as_str(), "title" | "ctrTitle")
    }

    /// Whether the placeholder holds a slide's bullet points.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.kind.as_str(), "" | "body" | "obj")
    }

    /// Placeholders without content: the slide's number, its picture in the notes, and the texts around those.
    pub(super) fn is_left_out(&self, in_notes: bool) -> bool {
        match self.kind.as_str() {
            "sldNum" | "sldImg" => true,
            "dt" | "ftr" | "hdr" => in_notes,
            _ => false,
        }
    }
}

/// The most placeholders that are kept of a layout.
const MAX_HOLDERS: usize = 1_000;

/// Layouts that slides have shared so far.
#[derive(Debug, Default)]
pub(super) struct Layouts(HashMap<String, HashMap<Placeholder, ShapeBox>>);

impl Layouts {
    /// The position of a placeholder on slides of a layout.
    pub(super) fn place(&mut self, package: &Package<'_>, layout: &str, holder: &Placeholder) -> Option<ShapeBox> {
        if !self.0.contains_key(layout) {
            let places = read(package, layout).unwrap_or_default();
            self.0.insert(layout.to_owned(), places);
        }
        let places = self.0.get(layout)?;
        let by_index = |(other, _): &(&Placeholder, &ShapeBox)| !holder.index.is_empty() && other.index == holder.index;
        let by_kind = |(other, _): &(&Placeholder, &ShapeBox)| other.kind == holder.kind;
        let found = places.get(holder).or_else(|| places.iter().find(by_index).map(|(_, place)| place));
        found.or_else(|| places.iter().find(by_kind).map(|(_, place)| place)).copied()
    }
}

/// The positions of a layout's placeholders, with those of its master as defaults.
fn read(package: &Package<'_>, layout: &str) -> Result<HashMap<Placeholder, ShapeBox>, BrokenPart> {
    let mut places = HashMap::new();
    let relations = Relations::of(package, layout)?;
    if let Some(master) = relations.first("slideMaster") {
        collect(package, master, &mut places)?;
    }
    collect(package, layout, &mut places)?;
    Ok(places)
}

fn collect(package: &Package<'_>, part: &str, places: &mut HashMap<Placeholder, ShapeBox>) -> Result<(), BrokenPart> {
    let mut xml = Xml::need(package, part)?;
    let mut holder = None;
    xml.each("", |element, xml| {
        match element.name() {
            "sp" => holder = None,
            "ph" => holder = Some(Placeholder::of(element)),
            "xfrm" => {
                let (place, _) = place(xml)?;
                if let (Some(holder), Some(place)) = (holder.take(), place)
                    && places.len() < MAX_HOLDERS
                {
                    places.insert(holder, place);
                }
            }
            _ => {}
        }
        Ok(())
    })
}

/// The position, and a group's inner coordinates; the start tag of its `xfrm` was read last.
pub(super) fn place(xml: &mut Xml<'_>) -> Result<(Option<ShapeBox>, Option<ShapeBox>), BrokenPart> {
    let (mut own, mut inner) = (None::<ShapeBox>, None::<ShapeBox>);
    xml.each("xfrm", |element, _| {
        let number = |name: &str| element.number::<f64>(name).filter(|number| number.is_finite()).unwrap_or(0.0);
        let place = if element.name().starts_with("ch") { &mut inner } else { &mut own };
        match element.name() {
            "off" | "chOff" => {
                let place = place.get_or_insert_default();
                (place.left, place.top) = (number("x"), number("y"));
            }
            "ext" | "chExt" => {
                let place = place.get_or_insert_default();
                (place.width, place.height) = (number("cx"), number("cy"));
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok((own, inner))
}
