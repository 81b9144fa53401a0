//! Writes the pages of a review into a folder, job by job: only one is in memory at a time.

use super::{JobReview, Mode, index::ReviewIndex, page_image::image, render_job, source::PartPicture};
use crate::{extraction::Extractor, runner::RunError, workspace::private};
use std::{
    collections::{BTreeSet, HashSet},
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

/// Pages of one job that are painted, at most.
const MOST_PICTURES: usize = 40;
/// The folder of the images, beside the pages.
const PICTURES: &str = "pages";

/// The options of the pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct SiteOptions {
    /// Show the whole text of long documents.
    pub is_whole: bool,
    /// Add images of the PDF pages on which doubtful records have their quotes.
    pub has_images: bool,
}

/// A folder of pages that is being written.
#[derive(Debug)]
pub struct ReviewSite<'e> {
    folder: PathBuf,
    options: SiteOptions,
    extractor: &'e Extractor,
    index: ReviewIndex,
    /// Workspaces that already have a page: several jobs may share the work of one.
    added: HashSet<PathBuf>,
}

/// The result of writing the pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteCounts {
    /// The page to begin with.
    pub index: PathBuf,
    /// A sentence on how many records of how many jobs are doubtful.
    pub counted: String,
}

/// The reason why the pages could not be written: a sentence.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The folder is not empty.
    #[error("{0} is not an empty folder: name a new one")]
    Taken(String),
    #[error("{file} can't be written ({error})")]
    Io { file: String, error: io::Error },
    #[error(transparent)]
    Job(#[from] RunError),
}

impl<'e> ReviewSite<'e> {
    /// Begins to write pages into `folder`, which must be new or empty.
    pub fn create(folder: &Path, options: SiteOptions, extractor: &'e Extractor) -> Result<Self, SiteError> {
        let io = |error| SiteError::Io { file: folder.display().to_string(), error };
        match fs::read_dir(folder) {
            Ok(entries) => {
                if entries.count() > 0 {
                    return Err(SiteError::Taken(folder.display().to_string()));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => private::make_folders(folder).map_err(io)?,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(SiteError::Taken(folder.display().to_string()));
            }
            Err(error) => return Err(io(error)),
        }
        let (index, added) = (ReviewIndex::default(), HashSet::new());
        Ok(Self { folder: folder.to_owned(), options, extractor, index, added })
    }

    /// Adds the job whose workspace lies at `path`.
    pub fn add(&mut self, path: &Path) -> Result<(), SiteError> {
        if !self.added.insert(path.to_owned()) {
            return Ok(());
        }
        let (mut page, mut pages) = (1, 1);
        while page <= pages {
            let mut review = JobReview::read_page(path, self.options.is_whole, page)?;
            if self.options.has_images {
                self.paint(&mut review)?;
            }
            self.index.add(&review);
            self.write(&review.file(page), render_job(&review, &Mode::Static).as_bytes())?;
            (page, pages) = (page + 1, review.pages());
        }
        Ok(())
    }

    /// Completes the pages after every job was added.
    pub fn finish(mut self) -> Result<SiteCounts, SiteError> {
        let html = self.index.html();
        self.write("index.html", html.as_bytes())?;
        Ok(SiteCounts { index: self.folder.join("index.html"), counted: self.index.counted() })
    }

    /// Makes the images of the pages on which doubtful records have their quotes.
    fn paint(&self, review: &mut JobReview) -> Result<(), SiteError> {
        let doubtful = review.records.iter().filter(|record| record.is_doubtful());
        let marks: BTreeSet<usize> =
            doubtful.flat_map(|record| &record.quotes).filter_map(|quote| quote.mark).collect();
        let mut wanted = Vec::new();
        for (nth, source) in review.sources.iter().enumerate().filter(|(_, source)| source.is_painted) {
            for (at, part) in source.parts.iter().enumerate() {
                let is_doubtful =
                    part.segments.iter().flatten().any(|segment| segment.marks.iter().any(|mark| marks.contains(mark)));
                if is_doubtful {
                    wanted.push((nth, at));
                }
            }
        }
        if wanted.len() > MOST_PICTURES {
            let note = format!(
                "Images were made of the first {MOST_PICTURES} pages with doubtful records, and of {} more none.",
                wanted.len() - MOST_PICTURES
            );
            review.notes.push(note);
        }
        for (nth, at) in wanted.into_iter().take(MOST_PICTURES) {
            let (document, page) = (review.sources[nth].index, review.sources[nth].parts[at].first);
            let picture = match image(review, self.extractor, document, page, false) {
                Ok(image) => {
                    let file = format!("{PICTURES}/{}-{document}-{page}.png", review.id);
                    // The records of several pages may stand on it.
                    if !self.folder.join(&file).exists() {
                        self.write(&file, &image.png)?;
                    }
                    let super::PageImage { width, height, boxes, told, .. } = image;
                    PartPicture { file: Some(file), width, height, boxes, told }
                }
                Err(error) => {
                    PartPicture { file: None, width: 0, height: 0, boxes: Vec::new(), told: vec![error.to_string()] }
                }
            };
            review.sources[nth].parts[at].picture = Some(picture);
        }
        Ok(())
    }

    fn write(&self, name: &str, content: &[u8]) -> Result<(), SiteError> {
        let path = self.folder.join(name);
        let written = path.parent().map_or(Ok(()), private::make_folders);
        let written = written.and_then(|()| private::make_file(&path)).and_then(|mut file| file.write_all(content));
        written.map_err(|error| SiteError::Io { file: path.display().to_string(), error })
    }
}
