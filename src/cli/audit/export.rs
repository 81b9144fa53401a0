//! `overnight audit export`: the record of a job in one ZIP, which needs nothing of this program to be read and checked.

use crate::{
    audit::export::{RecordAnchor, RecordError, UnsealedRecord, signature},
    cli::{CliError, exit, job_location::JobLocation, out, progress::counted},
    config::Settings,
    workspace::lock::is_worked_on,
};
use overnight_core::job::id::JobId;
use serde::Serialize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  overnight audit export last -o record.zip
  overnight audit export 0193 -o record.zip --sign ~/.ssh/id_ed25519
  overnight audit export ./copied-workspace -o record.zip --timestamp http://timestamp.example/

Unpack it, open record.html, and run `sh verify.sh`, which needs sha256sum and jq only.
Exit code 0: the record is written; 1: it is, and says what is not as it was left; 4: a process works on the job.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RecordArgs {
    /// Id of a job, the beginning of one, 'last', or the path of a workspace folder
    job: String,
    /// Write the record into this new file
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Sign it with this SSH key, as ssh-keygen does: a private key, or a public one that an agent has the other part of
    #[arg(long, value_name = "KEYFILE")]
    sign: Option<PathBuf>,
    /// Have a time-stamp server (RFC 3161) say when it was so
    #[arg(long, value_name = "URL")]
    timestamp: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// `--json`. Its fields are a promise.
#[derive(Debug, Serialize)]
struct RecordView {
    job: JobId,
    file: String,
    bytes: u64,
    files: u64,
    /// Number of the journal's last line.
    seq: u64,
    /// The record has an anchor from the database.
    anchored: bool,
    manifest_sha256: String,
    signed: bool,
    timestamped: bool,
    /// The files that are not as they were left.
    faults: Vec<String>,
}

pub(super) async fn run(settings: Settings, args: &RecordArgs) -> Result<u8, CliError> {
    let url = settings.database_url.value.clone();
    let location = JobLocation::find(settings, &args.job).await?;
    if is_worked_on(&location.path) {
        out::error("a process works on the job: export its record when it rests");
        return Ok(exit::HELD);
    }
    let row = location.job.as_ref().map(|job| &job.row).filter(|row| row.state.journal_seq > 0);
    let anchor = row.map_or_else(RecordAnchor::none, |row| {
        RecordAnchor::known(row.state.journal_seq, &row.state.journal_head, row.updated, url.reveal())
    });
    let signer = args.sign.as_deref().map(signature::public_key).transpose()?;
    let record = UnsealedRecord::write(&location.path, &anchor, &args.output, signer.as_deref())?;
    let manifest = record.manifest().as_bytes();
    let sealing = args.sign.as_deref().map(|key| signature::sign(key, manifest)).transpose()?;
    let stamped: Option<Vec<u8>> = match &args.timestamp {
        #[cfg(feature = "network")]
        Some(url) => Some(crate::audit::export::time_stamp::time_stamp(url, manifest).await?),
        #[cfg(not(feature = "network"))]
        Some(_) => return Err(CliError::usage(format!("--timestamp: {}", crate::built_without::NO_NETWORK))),
        None => None,
    };
    let (job, seq) = (record.job, record.seq);
    let faults: Vec<String> = record.faults.iter().map(ToString::to_string).collect();
    let sealed = record.seal(sealing.as_deref(), stamped.as_deref())?;
    let view = RecordView {
        job,
        file: args.output.display().to_string(),
        bytes: sealed.bytes,
        files: sealed.files,
        seq,
        anchored: anchor.pair().is_some(),
        manifest_sha256: sealed.manifest_sha256,
        signed: sealing.is_some(),
        timestamped: stamped.is_some(),
        faults,
    };
    out::answer(args.json, &view, || view.text())?;
    Ok(if view.faults.is_empty() { exit::COMPLETED } else { exit::FAILED })
}

impl RecordView {
    fn text(&self) -> String {
        let anchor = if self.anchored { "with the database's anchor" } else { "without an anchor of a database" };
        let signed = if self.signed { ", signed" } else { "" };
        let stamped = if self.timestamped { ", time-stamped" } else { "" };
        let faults = self
            .faults
            .iter()
            .fold(String::new(), |text, fault| text + "not as it was left: " + &out::one_line(fault) + "\n");
        format!(
            "{}: {}, the journal up to line {}, {anchor}{signed}{stamped}\nsha256 of manifest.sha256: {}\n{faults}",
            out::one_line(&self.file),
            counted(self.files, "file"),
            self.seq,
            self.manifest_sha256
        )
    }
}

impl From<RecordError> for CliError {
    fn from(error: RecordError) -> Self {
        if error.is_usage() { Self::usage(error.to_string()) } else { Self::failed(error.to_string()) }
    }
}
