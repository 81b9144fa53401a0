//! `view_page`: a page as it is printed, for a model that takes images.

use super::{ToolError, document_cache::find_document, eyes::Eyes, partial::later};
use crate::{failpoint, workspace::Workspace};
use overnight_core::{
    amount::grouped,
    job::{
        call::arguments::ViewPage,
        digest::sha256,
        event::{CallEnd, ShownPart, ToolResult},
        spec::JobSpec,
    },
    message::Image,
    prompt::{bounds::ResultBound, fence::quoted},
};
use overnight_documents::{MAX_BYTES, is_painted};
use std::fmt::Write;

/// The page as an image, which lies in the workspace under its hash. Without `eyes` nothing here paints pages.
pub(super) fn view(
    spec: &JobSpec,
    workspace: &Workspace,
    eyes: Option<&Eyes>,
    wanted: &ViewPage,
    bound: ResultBound,
) -> Result<ToolResult, ToolError> {
    let document = find_document(spec, &wanted.name)?;
    let (name, page) = (quoted(&document.name), wanted.page);
    if !is_painted(&document.format) {
        let text =
            format!("{name} is {}, and only pages of a PDF or a picture can be looked at; read it", document.format);
        return Err(ToolError::Tell(text));
    }
    let Some(Eyes { model, reader }) = eyes else {
        return Err(ToolError::Tell("pages can't be looked at here; read them with read_document".to_owned()));
    };
    let bytes = workspace.read_at_most(&format!("documents/{}", document.name), MAX_BYTES)?;
    let painted = reader.paint(&bytes, page);
    let (picture, png) =
        painted.map_err(|refusal| ToolError::Tell(format!("page {page} of {name} can't be painted: it {refusal}")))?;
    let Some(tokens) = model.image_tokens(picture.width, picture.height) else {
        let text = format!("{} takes no images; read the page with read_document", model.name());
        return Err(ToolError::Tell(text));
    };
    if tokens > bound.most() {
        if bound.is_crowded() {
            return Ok(later(&format!("page {page}"), tokens, bound));
        }
        let (tokens, most) = (grouped(tokens), grouped(bound.most()));
        let text = format!("page {page} of {name} has {tokens} tokens as an image, and a result {most} here; read it");
        return Err(ToolError::Tell(text));
    }
    let media = "image/png".to_owned();
    let image = Image { sha256: sha256(&png), media, width: picture.width, height: picture.height, tokens };
    workspace.write(&image.path(), &png)?;
    failpoint::hit("page.painted");
    let mut text = format!("Page {page} of {name}, {}×{} pixels.", picture.width, picture.height);
    for told in picture.told {
        let _ = write!(text, " {told}.");
    }
    let part = ShownPart { document: document.name.clone(), from: page, to: page, lines: None };
    let shown = Some(part).filter(|_| document.paged && page <= document.units);
    Ok(ToolResult { shown, images: vec![image], ..ToolResult::plain(CallEnd::Done, text) })
}
