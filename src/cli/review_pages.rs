//! `overnight review`: pages on which a person reviews the records of jobs beside their sources.

use super::{AppContext, CliError, documents, exit, out};
use crate::{
    config::Settings,
    review::{ReviewSite, SiteError, SiteOptions},
};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  overnight review contracts -o review
  overnight review 0193 --images --whole -o review

Open index.html of the folder in a browser. The pages need nothing but themselves: the folder can be mailed or archived.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReviewArgs {
    /// Ids of jobs, beginnings of them, 'last', or names or ids of batches
    #[arg(value_name = "JOB|BATCH", required = true)]
    jobs: Vec<String>,
    /// Folder for the pages, new or empty
    #[arg(long, short, value_name = "FOLDER")]
    output: PathBuf,
    /// Show long documents whole, not only around the quotes
    #[arg(long)]
    whole: bool,
    /// Add images of the PDF pages on which doubtful records have their quotes, 40 a job at most
    #[arg(long)]
    images: bool,
}

pub(super) async fn run(settings: Settings, args: &ReviewArgs) -> Result<u8, CliError> {
    let app = AppContext::read(settings).await?;
    let (paths, mut left_out) = app.workspaces_of(&app.named_ids(&args.jobs).await?).await?;
    let extractor = documents::extractor(&app.settings)?.with_read_only_cache();
    let args = args.clone();
    let written = tokio::task::spawn_blocking(move || {
        let options = SiteOptions { is_whole: args.whole, has_images: args.images };
        let mut site = ReviewSite::create(&args.output, options, &extractor)?;
        for (id, path) in paths {
            match site.add(&path) {
                Ok(()) => {}
                Err(SiteError::Job(error)) => left_out.push((id.to_string(), error.to_string())),
                Err(error) => return Err(error),
            }
        }
        Ok((site.finish()?, left_out))
    });
    let written = written.await.map_err(|error| CliError::failed(error.to_string()))?;
    let (counts, left_out) = written.map_err(|error| match error {
        SiteError::Taken(_) => CliError::usage(error.to_string()),
        SiteError::Io { .. } | SiteError::Job(_) => CliError::failed(error.to_string()),
    })?;
    for (job, why) in &left_out {
        out::note(&format!("left out: job {job} ({})", out::one_line(why)));
    }
    out::note(&counts.counted);
    out::result(&format!("{}\n", counts.index.display()))?;
    Ok(if left_out.is_empty() { exit::COMPLETED } else { exit::PARTIAL_OR_BLOCKED })
}
