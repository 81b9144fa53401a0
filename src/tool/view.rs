//! `view_page`: a page as it is printed, or a picture within a document, for a model that takes images.

use super::{ToolError, document_cache::find_document, eyes::Eyes, partial::later};
use crate::{failpoint, workspace::Workspace};
use overnight_core::{
    amount::grouped,
    answer,
    job::{
        arguments::ViewPage,
        digest::sha256,
        event::{CallEnd, ShownPart, ToolResult},
        spec::JobSpec,
    },
    message::Image,
    prompt::{bounds::ResultBound, fence::quoted},
};
use overnight_documents::{MAX_BYTES, PaintedPlace, PictureOptions, embedded_pictures, is_painted};
use std::fmt::Write;

/// The most pictures of a document that are named if another one was requested.
const MOST_NAMED: usize = 20;

/// The page as an image, stored in the workspace under its hash. Without `eyes` no page can be rendered.
pub(super) fn view(
    spec: &JobSpec,
    workspace: &Workspace,
    eyes: Option<&Eyes>,
    wanted: &ViewPage,
    bound: ResultBound,
) -> Result<ToolResult, ToolError> {
    let document = find_document(spec, &wanted.name)?;
    let (name, page) = (quoted(&document.name), wanted.page);
    // Pages have no parts: a request for one gets its page.
    let part = wanted.part.as_deref().filter(|_| !is_painted(&document.format));
    if part.is_none() && !is_painted(&document.format) {
        return Err(ToolError::Tell(answer!("page.not_of_this_format", name, format = document.format)));
    }
    if let Some(part) = part {
        let text = workspace.read_text_at_most(&document.text_path(), u64::MAX)?;
        let mut named: Vec<String> = embedded_pictures(&text).map(|picture| picture.name).collect();
        named.dedup();
        if !named.iter().any(|name| name == part) {
            named.truncate(MOST_NAMED);
            let named = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
            return Err(ToolError::Tell(answer!("page.no_such_picture", name, part = quoted(part), named)));
        }
    }
    let (what, place) = match part {
        Some(part) => (format!("picture {}", quoted(part)), PaintedPlace::Embedded(part.to_owned())),
        None => (format!("page {page}"), PaintedPlace::Page(page)),
    };
    let Some(Eyes { model, reader }) = eyes else {
        return Err(ToolError::Tell(answer!("page.not_here")));
    };
    let bytes = workspace.read_at_most(&format!("documents/{}", document.name), MAX_BYTES)?;
    let painted = reader.paint(&bytes, &place, PictureOptions::FOR_MODELS);
    let (picture, png) =
        painted.map_err(|refusal| ToolError::Tell(answer!("page.not_painted", what, name, refusal)))?;
    let Some(tokens) = model.image_tokens(picture.width, picture.height) else {
        return Err(ToolError::Tell(answer!("page.no_images", model = model.name())));
    };
    if tokens > bound.most() {
        if bound.is_crowded() {
            return Ok(later(&what, tokens, bound));
        }
        let (tokens, most) = (grouped(tokens), grouped(bound.most()));
        return Err(ToolError::Tell(answer!("page.too_large", what, name, tokens, most)));
    }
    let media = "image/png".to_owned();
    let image = Image { sha256: sha256(&png), media, width: picture.width, height: picture.height, tokens };
    workspace.write(&image.path(), &png)?;
    failpoint::hit("page.painted");
    let what = what.replacen('p', "P", 1);
    let mut text = answer!("page.shown", what, name, width = picture.width, height = picture.height);
    for told in picture.told {
        let _ = write!(text, " {told}.");
    }
    let shown = ShownPart { document: document.name.clone(), from: page, to: page, lines: None };
    let is_page = part.is_none() && document.paged && page <= document.units;
    let shown = is_page.then_some(shown);
    Ok(ToolResult { shown, images: vec![image], ..ToolResult::plain(CallEnd::Done, text) })
}
