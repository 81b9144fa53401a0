//! `/jobs/{id}/files/…` and `/jobs/{id}/archive/…`: the content of a workspace, as text on a page or to download.
//!
//! A request names a file; it is looked up in the list of existing files, and the list's entry is opened.

use super::{
    WebError,
    access::Visitor,
    channel_body::channel_body,
    frame::{Frame, page},
    state::{PathOf, WebState},
};
use crate::{
    report::words::counted,
    workspace::{Workspace, files::FolderEntry},
};
use askama::Template;
use axum::{
    Extension,
    body::{Body, Bytes},
    extract::{RawQuery, State},
    http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::{io::Read, path::Path, sync::Arc};

/// The most bytes of a file that are shown on a page.
const MOST_SHOWN: u64 = 1 << 20;
/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;

#[derive(Template)]
#[template(path = "web/file.html")]
struct FilePage {
    frame: Frame,
    id: String,
    path: String,
    size: String,
    /// `None`: it is no text.
    text: Option<String>,
    is_cut: bool,
}

pub(super) async fn file(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf((id, path)): PathOf<(String, String)>,
    RawQuery(query): RawQuery,
) -> Result<Response, WebError> {
    answer(&state, &visitor, &id, path, query).await
}

pub(super) async fn archived(
    State(state): State<Arc<WebState>>,
    Extension(visitor): Extension<Visitor>,
    PathOf((id, path)): PathOf<(String, String)>,
    RawQuery(query): RawQuery,
) -> Result<Response, WebError> {
    answer(&state, &visitor, &id, format!("archive/{path}"), query).await
}

async fn answer(
    state: &WebState,
    visitor: &Visitor,
    id: &str,
    path: String,
    query: Option<String>,
) -> Result<Response, WebError> {
    let found = state.find(id).await?;
    let workspace = WebState::workspace(&found)?;
    let is_download = query.is_some_and(|query| query.split('&').any(|part| part == "download"));
    if is_download {
        return tokio::task::spawn_blocking(move || download(&workspace, &path)).await?;
    }
    let (frame, id) = (Frame::of(state, visitor), found.row.job.id.to_string());
    page(&tokio::task::spawn_blocking(move || FilePage::of(frame, id, &workspace, &path)).await??)
}

/// All files of a workspace but those that are the program's own.
pub(super) fn all(workspace: &Workspace) -> Result<Vec<FolderEntry>, WebError> {
    let listed = workspace.list(".")?;
    Ok(listed.into_iter().filter(|entry| !entry.path.starts_with('.')).collect())
}

/// The file called `path`, if the workspace lists it, with its name there.
fn listed(workspace: &Path, path: &str) -> Result<(std::fs::File, String, u64), WebError> {
    // (The lock is no part of the record.)
    let workspace = Workspace::open(workspace)?;
    let found = all(&workspace)?.into_iter().find(|entry| entry.path == path);
    let entry = found.ok_or_else(|| WebError::not_found("file"))?;
    let (file, bytes) = workspace.stream(&entry.path)?;
    Ok((file, entry.path, bytes))
}

impl FilePage {
    fn of(frame: Frame, id: String, workspace: &Path, path: &str) -> Result<Self, WebError> {
        let (file, path, bytes) = listed(workspace, path)?;
        let mut content = Vec::new();
        let read = file.take(MOST_SHOWN).read_to_end(&mut content);
        read.map_err(|error| WebError::failed(format!("the file can't be read ({error})")))?;
        let is_cut = bytes > MOST_SHOWN;
        let text = match String::from_utf8(content) {
            Ok(text) => Some(text),
            // The cut may go through a letter.
            Err(error) if is_cut && error.utf8_error().error_len().is_none() => {
                let end = error.utf8_error().valid_up_to();
                String::from_utf8(error.into_bytes()[..end].to_vec()).ok()
            }
            Err(_) => None,
        };
        Ok(Self { frame, id, path, size: counted(bytes, "byte"), text, is_cut })
    }
}

pub(super) fn download(workspace: &Path, path: &str) -> Result<Response, WebError> {
    let (mut file, path, bytes) = listed(workspace, path)?;
    let (sender, body) = channel_body();
    tokio::task::spawn_blocking(move || {
        let mut chunk = vec![0; CHUNK];
        // A read error ends the answer before its stated length, which the other side notices.
        while let Ok(read @ 1..) = file.read(&mut chunk) {
            if sender.blocking_send(Bytes::copy_from_slice(&chunk[..read])).is_err() {
                return;
            }
        }
    });
    Ok(attachment(&path, bytes, body))
}

/// A part of a URL, with every character but letters and digits percent-encoded.
pub(super) fn percent_encoded(part: &str) -> String {
    utf8_percent_encode(part, NON_ALPHANUMERIC).to_string()
}

/// An answer that a browser saves and never shows.
fn attachment(path: &str, bytes: u64, body: Body) -> Response {
    let name = path.rsplit('/').next().unwrap_or_default();
    let plain: String = name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "-_. ".contains(letter) { letter } else { '_' })
        .collect();
    // The whole name, in an encoding for all letters (RFC 8187).
    let encoded = percent_encoded(name);
    let disposition = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}");
    let kind = "application/octet-stream".to_owned();
    ([(CONTENT_TYPE, kind), (CONTENT_DISPOSITION, disposition), (CONTENT_LENGTH, bytes.to_string())], body)
        .into_response()
}
