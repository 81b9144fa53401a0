//! Annotations, which lie on a page but not in its content: filled form fields, stamps, comments. The library doesn't
//! expose them, so its raw objects are searched once, before the pages are read; few are found.

use std::collections::HashMap;

use unpdf::parser::raw::RawDocument;
use unpdf::parser::raw::stream::decompress;
use unpdf::parser::raw::tokenizer::{PdfDict, PdfObject, dict_get};

use super::attached;
use super::glyphs::Matrix;
use super::values::text_string;

/// The most annotations that are read on one page, and kept in total.
const MAX_ON_PAGE: usize = 2_000;
const MAX_BYTES: usize = 16 << 20;

/// The annotations of one page.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    pub(super) drawn: Vec<Appearance>,
    /// Remarks that are shown only on request.
    pub(super) comments: Vec<String>,
    /// Names of files that are pinned to it.
    pub(super) files: Vec<String>,
}

/// An annotation's own drawing (its appearance stream).
#[derive(Debug)]
pub(super) struct Appearance {
    pub(super) id: (u32, u16),
    pub(super) to_page: Matrix,
    pub(super) content: Vec<u8>,
}

/// The annotations of `document`, by page.
pub(super) fn overlays(document: &RawDocument) -> HashMap<(u32, u16), Overlay> {
    let mut left = MAX_BYTES;
    let mut overlays = HashMap::new();
    for id in document.pages().into_values() {
        let Ok(page) = document.get_dict(id) else { continue };
        let Some(PdfObject::Array(items)) = dict_get(page, b"Annots").map(|items| document.resolve(items)) else {
            continue;
        };
        let mut overlay = Overlay::default();
        for item in items.iter().take(MAX_ON_PAGE) {
            if let Some(item) = document.resolve(item).as_dict() {
                add(document, item, &mut overlay, &mut left);
            }
        }
        if !overlay.drawn.is_empty() || !overlay.comments.is_empty() || !overlay.files.is_empty() {
            overlays.insert(id, overlay);
        }
    }
    overlays
}

fn add(document: &RawDocument, item: &PdfDict, overlay: &mut Overlay, left: &mut usize) {
    const HIDDEN: i64 = 2;
    const NO_VIEW: i64 = 32;
    let get = |key: &[u8]| dict_get(item, key).map(|value| document.resolve(value));
    let kind = get(b"Subtype").and_then(PdfObject::as_name).unwrap_or_default();
    let flags = get(b"F").and_then(PdfObject::as_i64).unwrap_or_default();
    if matches!(kind, b"Link" | b"Popup") || flags & (HIDDEN | NO_VIEW) != 0 {
        return;
    }
    if kind == b"FileAttachment" {
        overlay.files.extend(get(b"FS").and_then(PdfObject::as_dict).map(|file| attached::name(document, file)));
    }
    let drawn = drawn(document, item);
    let is_read_drawn = matches!(kind, b"Widget" | b"FreeText" | b"Stamp" | b"Watermark");
    match drawn {
        Some(drawn) if is_read_drawn => {
            if let Some(rest) = left.checked_sub(drawn.content.len()) {
                *left = rest;
                overlay.drawn.push(drawn);
            }
        }
        Some(_) | None => {
            let key: &[u8] = if kind == b"Widget" { b"V" } else { b"Contents" };
            let text = get(key).and_then(PdfObject::as_str_bytes).map(text_string).unwrap_or_default();
            if let Some(rest) = left.checked_sub(text.len())
                && !text.trim().is_empty()
            {
                *left = rest;
                overlay.comments.push(text);
            }
        }
    }
}

fn drawn(document: &RawDocument, item: &PdfDict) -> Option<Appearance> {
    let normal = dict_get(document.resolve(dict_get(item, b"AP")?).as_dict()?, b"N")?;
    let (form, reference) = match document.resolve(normal) {
        PdfObject::Dict(states) => {
            let state = document.resolve(dict_get(item, b"AS")?).as_name()?;
            let of_state = dict_get(states, state)?;
            (document.resolve(of_state), of_state)
        }
        other => (other, normal),
    };
    let stream = form.as_stream()?;
    let numbers = |dict: &PdfDict, key: &[u8]| -> Option<Vec<f64>> {
        let items = document.resolve(dict_get(dict, key)?).as_array()?;
        items.iter().map(|number| document.resolve(number).as_f64()).collect()
    };
    let matrix =
        numbers(&stream.dict, b"Matrix").and_then(|numbers| numbers.try_into().ok()).map_or(Matrix::IDENTITY, Matrix);
    let rectangle = numbers(item, b"Rect").filter(|numbers| numbers.len() == 4)?;
    let bounds = numbers(&stream.dict, b"BBox").filter(|numbers| numbers.len() == 4)?;
    // The bounding box of the drawing, after its matrix, is fitted into the rectangle.
    let corners = [(0, 1), (0, 3), (2, 1), (2, 3)].map(|(x, y)| matrix.point(bounds[x], bounds[y]));
    let low = corners.iter().fold((f64::MAX, f64::MAX), |low, corner| (low.0.min(corner.0), low.1.min(corner.1)));
    let high = corners.iter().fold((f64::MIN, f64::MIN), |high, corner| (high.0.max(corner.0), high.1.max(corner.1)));
    let scale = |from: f64, to: f64, one: f64, other: f64| {
        let size = to - from;
        if size.abs() < 1e-9 { 1.0 } else { (one - other).abs() / size }
    };
    let across = scale(low.0, high.0, rectangle[0], rectangle[2]);
    let down = scale(low.1, high.1, rectangle[1], rectangle[3]);
    let left = rectangle[0].min(rectangle[2]) - low.0 * across;
    let bottom = rectangle[1].min(rectangle[3]) - low.1 * down;
    let to_page = matrix.then(Matrix([across, 0.0, 0.0, down, left, bottom]));
    Some(Appearance { id: reference.as_reference()?, to_page, content: decompress(stream).ok()? })
}
