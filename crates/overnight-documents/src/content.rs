//! Reads the bytes of files, and opens files that hold documents. A file is opened only as the kind of file that was
//! found: not through a link that replaced it meanwhile, and not as a pipe, which would block its reader.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::container::{self, Members};
use super::format::MAX_BYTES;
use super::page_picture::{MarkedBox, PagePicture, PaintedPlace, PictureOptions, QuoteOnPage};
use super::refusal::Refusal;

/// Lists the documents inside a file. Files may be hostile, so in production a limited process does this.
pub trait ContainerOpener: Sync {
    /// The documents in the file at `path`, called `name`, of `bytes` bytes.
    fn members(&self, name: &str, path: &Path, bytes: u64) -> Result<Members, Refusal>;
}

/// Paints pages of PDFs and pictures, and pictures within documents, as images for a model. As with containers, a
/// limited process does this.
pub trait PagePainter: Send + Sync + std::fmt::Debug {
    /// Paints a place of the document in `bytes` as a PNG, less sharp than in `options` if it would be too large.
    fn paint(
        &self,
        bytes: &[u8],
        place: &PaintedPlace,
        options: PictureOptions,
    ) -> Result<(PagePicture, Vec<u8>), Refusal>;

    /// The places of quotes on pages of the PDF in `bytes`, each with its page; none if they aren't found.
    fn quote_boxes(&self, bytes: &[u8], quotes: &[(u64, QuoteOnPage)]) -> Vec<(u64, MarkedBox)>;
}

/// Opens containers in this process, for trusted files.
#[derive(Debug, Clone, Copy)]
pub struct InProcess;

impl ContainerOpener for InProcess {
    fn members(&self, name: &str, path: &Path, _bytes: u64) -> Result<Members, Refusal> {
        container::members(name, &bytes_at(path)?)
    }
}

/// The bytes of the file at `path`, for a [`ContainerOpener`].
pub fn bytes_at(path: &Path) -> Result<Vec<u8>, Refusal> {
    whole(path).map_err(|error| match error {
        ReadFileError::TooLarge(bytes) => Refusal::TooLarge { bytes, limit: MAX_BYTES },
        ReadFileError::System(error) => Refusal::Ended { why: error.to_string() },
    })
}

/// Opens a regular file for reading.
pub(super) fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
        rustix::io::Errno::LOOP => io::Error::other("it has become a symbolic link"),
        error => error.into(),
    })?;
    let file = File::from(file);
    let meta = file.metadata()?;
    if meta.is_file() { Ok((file, meta)) } else { Err(io::Error::other("it is no regular file any more")) }
}

/// The first bytes of an opened file.
pub(super) fn head(file: &mut File, most: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(most);
    file.take(most as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Why a file's bytes can't be read.
pub(super) enum ReadFileError {
    TooLarge(u64),
    System(io::Error),
}

impl From<io::Error> for ReadFileError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// The bytes of the file at `path`.
pub(super) fn whole(path: &Path) -> Result<Vec<u8>, ReadFileError> {
    let (file, meta) = open(path)?;
    let mut bytes = Vec::new();
    if meta.len() <= MAX_BYTES {
        bytes.reserve_exact(usize::try_from(meta.len()).unwrap_or_default());
        // The file may be growing.
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    }
    let length = meta.len().max(bytes.len() as u64);
    if length > MAX_BYTES { Err(ReadFileError::TooLarge(length)) } else { Ok(bytes) }
}
