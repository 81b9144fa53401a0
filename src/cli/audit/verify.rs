//! `overnight audit verify`: checks every hash, and with a database its anchor of each job's last checkpoint.

use crate::{
    audit::{
        export::unpacked,
        verify::{RecordFault, Verified, verify},
    },
    cli::{
        AppContext, CliError,
        app_context::{list_nothing, no_jobs_yet},
        exit,
        job_location::JobLocation,
        out,
        progress::counted,
        queue::DatabaseJob,
    },
    config::Settings,
    runner::is_workspace,
    store::{JOBS_AT_ONCE, JobFilter, JobRow},
    workspace::{Workspace, chain::LIVE, lock::is_worked_on, prune::PruneRecord},
};
use overnight_core::job::{id::JobId, record::Delivered, time::Timestamp};
use serde::Serialize;
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  overnight audit verify last
  overnight audit verify --all
  overnight audit verify ./copied-workspace    # needs no database
  overnight audit verify ./unpacked-record     # of `overnight audit export`

Exit code 0: all is as it was left; 1: something is not, and stdout names it, the first fault first; 3: the workspace was
pruned, and what is still there is as it was left; 4: a process works on the job, and what it is changing can't be judged.
The end of a journal is vouched for by the database alone: that lines at its end are gone can't be seen in a copied folder.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct VerifyArgs {
    /// Id of a job, the beginning of one, 'last', or the path of a workspace folder or of an unpacked record
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    job: Option<String>,
    /// Every job of the database
    #[arg(long)]
    all: bool,
    /// Print JSON: an object, with --all an array
    #[arg(long)]
    json: bool,
}

/// The result for one job. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize)]
struct VerifyView {
    /// Null for a folder.
    job: Option<JobId>,
    workspace: String,
    ok: bool,
    /// Whether the journal's end was compared with the database.
    anchored: bool,
    /// A process works on the job, so its files change while they are compared: differences mean nothing.
    busy: bool,
    /// When the missing files were pruned; the remaining ones are as they were left. `verified` names the pruned ones.
    pruned: Option<Timestamp>,
    verified: Option<Verified>,
    faults: Vec<RecordFault>,
    /// The part that could not be verified with the available data.
    not_known: Option<String>,
    /// The number of deliverables that match the database.
    #[serde(skip)]
    deliverables: Option<u64>,
}

pub(super) async fn run(settings: Settings, args: &VerifyArgs) -> Result<u8, CliError> {
    let checked = if let Some(name) = &args.job {
        let location = JobLocation::find(settings, name).await?;
        let unpacked = location.job.is_none().then(|| unpacked::workspace_of(&location.path)).flatten();
        let is_packed = || Workspace::open(&location.path).is_ok_and(|workspace| workspace.is_packed());
        if location.job.is_none() && unpacked.is_none() && !is_workspace(&location.path) && !is_packed() {
            let shown = out::one_line(&location.path.display().to_string());
            return Err(CliError::usage(format!("{shown} is not a workspace: it has no job.yaml")));
        }
        vec![match unpacked {
            Some(_) => check_unpacked(&location.path),
            None => check(&location.path, location.job.as_ref().map(|job| &job.row)),
        }]
    } else {
        let nothing = no_jobs_yet(&settings);
        let Some(app) = AppContext::read_any(settings).await? else {
            return list_nothing(&nothing, args.json);
        };
        let (mut checked, mut elsewhere) = (Vec::new(), 0);
        for page in app.store.job_ids(&JobFilter::default()).await?.chunks(JOBS_AT_ONCE) {
            // A linked job has no record of its own, and one that no worker has begun has none yet.
            for job in app.jobs_with(page).await?.iter().filter(|job| !job.is_unbegun() && job.same_as().is_none()) {
                match job.elsewhere() {
                    Some(_) => elsewhere += 1,
                    None => checked.push(check_job(&app, job)),
                }
            }
        }
        if elsewhere > 0 {
            let some = counted(elsewhere, "workspace");
            out::note(&format!("not looked at: {some} on other machines; verify there too"));
        }
        checked
    };
    if args.json {
        match checked.first().filter(|_| !args.all) {
            Some(one) => out::json(one)?,
            None => out::json(&checked)?,
        }
    } else {
        let text: String = checked.iter().map(|checked| checked.text(args.all)).collect();
        out::result(&text)?;
        if args.all && checked.is_empty() {
            out::note("there is no job yet");
        }
    }
    let is_fault = |checked: &VerifyView| !checked.ok && !checked.busy && checked.pruned.is_none();
    Ok(match checked.iter().any(is_fault) {
        true => exit::FAILED,
        false if checked.iter().any(|checked| checked.busy) => exit::HELD,
        false if checked.iter().any(|checked| checked.pruned.is_some()) => exit::PARTIAL_OR_BLOCKED,
        false => exit::COMPLETED,
    })
}

fn check(path: &Path, row: Option<&JobRow>) -> VerifyView {
    // Before the first checkpoint the database holds no line yet.
    let anchor = row.map(|row| &row.state).filter(|state| state.journal_seq > 0);
    let was_worked_on = is_worked_on(path);
    let result = verify(path, anchor.map(|state| (state.journal_seq, state.journal_head.as_str())));
    let (mut verified, mut faults) = match result {
        Ok(verified) => (Some(verified), Vec::new()),
        Err(faults) => (None, faults),
    };
    let mut pruned = verified.as_ref().and_then(|verified| Some(verified.pruned.as_ref()?.at));
    if pruned.is_some()
        && let Some(row) = row
    {
        // The files with their hashes may be gone; the database has the hashes as well.
        faults = delivered(path, row);
        if !faults.is_empty() {
            (verified, pruned) = (None, None);
        }
    }
    let busy = verified.is_none() && was_worked_on;
    VerifyView {
        job: row.map(|row| row.job.id),
        workspace: path.display().to_string(),
        ok: verified.is_some() && pruned.is_none(),
        anchored: anchor.is_some(),
        busy,
        pruned,
        not_known: verified.as_ref().and_then(|verified| not_known(verified.seq, row.map(|row| row.state.journal_seq))),
        verified,
        faults: if busy { Vec::new() } else { faults },
        deliverables: row.map(|row| row.state.deliverables.len() as u64),
    }
}

/// Checks an unpacked record against the anchor that it contains.
fn check_unpacked(path: &Path) -> VerifyView {
    let (verified, anchored, faults) = match unpacked::verify_unpacked(path) {
        Ok((verified, anchor)) => (Some(verified), anchor.pair().map(|(seq, _)| seq), Vec::new()),
        Err(faults) => (None, None, faults),
    };
    let unsigned = "that anchor is the record's own, and worth what its signature is worth: `sh verify.sh` checks it";
    let not_known = verified.as_ref().map(|verified| {
        let end = not_known(verified.seq, anchored);
        end.unwrap_or_else(|| unsigned.to_owned())
    });
    VerifyView {
        job: None,
        workspace: path.display().to_string(),
        ok: verified.is_some(),
        anchored: anchored.is_some(),
        busy: false,
        pruned: None,
        verified,
        faults,
        not_known,
        deliverables: None,
    }
}

/// The part of a journal ending with line `seq` that can't be verified if the database knows it up to `anchored`.
fn not_known(seq: u64, anchored: Option<u64>) -> Option<String> {
    match anchored {
        None => Some(
            "without the database nobody can tell whether lines are missing behind it, or were written anew".to_owned(),
        ),
        Some(0) => {
            Some("the database knows no line yet: nobody can tell whether lines are missing behind it".to_owned())
        }
        Some(known) if known < seq => Some(format!(
            "the database knows line {known}: nobody can tell whether lines are missing behind line {seq}"
        )),
        Some(_) => None,
    }
}

/// Checks each deliverable against the database.
fn delivered(path: &Path, row: &JobRow) -> Vec<RecordFault> {
    let workspace = Workspace::open(path);
    let fault = |file: &Delivered| {
        let what = match workspace.as_ref().map(|workspace| workspace.hash(&file.path)) {
            Ok(Ok(found)) if found.sha256 == file.sha256 => return None,
            Ok(Ok(_)) => "changed: the database holds another SHA-256 of it".to_owned(),
            Ok(Err(error)) if error.is_not_found() => "missing: the database has it".to_owned(),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        Some(RecordFault { file: file.path.clone(), line: None, what })
    };
    row.state.deliverables.iter().filter_map(fault).collect()
}

fn check_job(app: &AppContext, job: &DatabaseJob) -> VerifyView {
    match app.workspace(job) {
        Ok(path) => check(&path, Some(&job.row)),
        Err(error) => VerifyView {
            job: Some(job.id()),
            workspace: job.row.job.workspace.clone(),
            ok: false,
            anchored: false,
            busy: false,
            pruned: None,
            verified: None,
            faults: vec![RecordFault { file: ".".to_owned(), line: None, what: error.message }],
            not_known: None,
            deliverables: None,
        },
    }
}

/// States that a workspace was pruned, as the beginning of a sentence.
pub(in crate::cli) fn pruned_sentence(pruned: &PruneRecord) -> String {
    let removed: Vec<String> = pruned.removed.iter().map(|name| out::one_line(name)).collect();
    format!("pruned at {}, so that {} can't be checked any more", pruned.at, removed.join(", "))
}

impl VerifyView {
    /// One line, or one for each fault; with the job's id where there are several jobs.
    fn text(&self, with_id: bool) -> String {
        let id = self.job.filter(|_| with_id).map(|id| format!("{id} ")).unwrap_or_default();
        match &self.verified {
            Some(Verified { pruned: Some(pruned), .. }) if pruned.has(LIVE) => {
                let what = match self.deliverables {
                    Some(count) => format!("as the database has them are {}", counted(count, "deliverable")),
                    None => "its deliverables can be checked against the database alone".to_owned(),
                };
                format!("{id}{}: {what}\n", pruned_sentence(pruned))
            }
            Some(verified @ Verified { pruned: Some(pruned), .. }) => format!(
                "{id}{}: as they were left are {}, {}, {}, head {}\n",
                pruned_sentence(pruned),
                counted(verified.lines, "line"),
                counted(verified.archives, "archive"),
                counted(verified.files, "file"),
                verified.head
            ),
            Some(verified) => {
                let lines = if self.anchored {
                    format!("ok: {},", counted(verified.lines, "line"))
                } else {
                    format!("ok up to line {}:", verified.seq)
                };
                let not_known = self.not_known.as_ref().map(|what| format!("; {what}")).unwrap_or_default();
                format!(
                    "{id}{lines} {}, {}, head {}{not_known}\n",
                    counted(verified.archives, "archive"),
                    counted(verified.files, "file"),
                    verified.head
                )
            }
            None if self.busy => format!("{id}busy: a process works on the job; verify it when it rests\n"),
            None => self
                .faults
                .iter()
                .fold(String::new(), |text, fault| text + &id + &out::one_line(&fault.to_string()) + "\n"),
        }
    }
}
