//! A new job: its workspace is built whole under a temporary name and then given its own, so that a crash leaves nothing
//! that looks like a job.

use super::{
    RunError,
    clock::now,
    duplicates,
    scan_file::{self, ScanLine},
    scans,
};
use crate::{
    batch::EarlierJob,
    extraction::Extractor,
    failpoint,
    model::Model,
    tool::has_tables,
    workspace::{Workspace, WorkspaceError, journal::Journal, known_path::JOB_FILE, lock::Lock, private},
};
use overnight_core::{
    job::{
        earlier_result::EarlierResult,
        event::{Event, LifeEvent, PhaseEvent, PhaseKind},
        id::JobId,
        instructions::Instructions,
        left_out::LeftOut,
        pages::{PageRange, UnreadPart},
        spec::{Asset, DocumentEntry, FORMAT, JobSpec},
        state::INSTRUCTIONS_FILE,
        time::Timestamp,
    },
    machine::planning::bootstrap_todos,
    prompt::{
        compose::system_prompt,
        tools::{self, ToolList},
    },
    tokens::estimate,
};
use overnight_documents::{
    AGAINST_GAPS, DocumentError, Extracted, FoundDocument, Gap, PageSpan, Unit, Units, embedded_pictures, is_painted,
    names_pictures,
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// With fewer tokens no job can be worked.
const LEAST_BUDGET: u64 = 8_000;
/// With larger pages a todo would take too many reads; such documents are counted in lines.
const MOST_PAGE_TOKENS: u64 = 50_000;

/// The most unreadable documents that are named one by one.
const MOST_NAMED: usize = 3;

/// The request for a new job.
#[derive(Debug)]
pub struct NewJobRequest<'a> {
    pub instructions: Instructions,
    /// The instructions file as it stands, kept as an asset.
    pub instructions_text: &'a str,
    pub documents: &'a [PathBuf],
    /// Files and folders of this program beside the workspaces; in a folder they don't count as documents.
    pub own: &'a [PathBuf],
    pub model: &'a dyn Model,
    /// The model that reads scanned pages; none: no model does.
    pub eyes: Option<&'a dyn Model>,
    /// The model's base URL, for the person who resumes the job.
    pub base_url: Option<&'a str>,
    pub api_key_env: Option<&'a str>,
    pub extractor: &'a Extractor,
    /// The user's table of models, kept as an asset: prices and quirks hold for the whole job.
    pub models: Option<&'a str>,
    /// The only fields that are asked for, and the result that the job begins with.
    pub earlier: Option<(&'a [String], &'a EarlierJob)>,
}

/// Where the catalogue of tools lies in a workspace, as the program describes them that made the job.
pub const TOOLS_ASSET: &str = "assets/tools.json";
/// Where the user's table of models lies in a workspace.
pub const MODELS_ASSET: &str = "assets/models.yaml";

/// A job that was made.
#[derive(Debug)]
pub struct CreatedJob {
    pub id: JobId,
    pub path: PathBuf,
    /// Documents in it.
    pub documents: usize,
    /// Files in a given folder that are not among the documents, with the reasons.
    pub left_out: Vec<(PathBuf, String)>,
    /// Names of the documents from which no text was extracted, with the reasons.
    pub unread: Vec<(String, String)>,
}

/// Makes the workspace of a new job below `workspaces`.
pub fn create(workspaces: &Path, request: &NewJobRequest<'_>) -> Result<CreatedJob, RunError> {
    create_as(JobId(uuid::Uuid::now_v7()), now(), workspaces, request)
}

/// [`create`], for a job whose id was assigned at `created`.
pub fn create_as(
    id: JobId,
    created: Timestamp,
    workspaces: &Path,
    request: &NewJobRequest<'_>,
) -> Result<CreatedJob, RunError> {
    let budget_tokens = request.instructions.context.budget_tokens.min(request.model.window_tokens());
    if budget_tokens < LEAST_BUDGET {
        return Err(RunError::Request(format!(
            "the model {} has room for {budget_tokens} tokens, and a job needs at least {LEAST_BUDGET}: use a model with a larger window",
            request.model.name()
        )));
    }
    let own = [&[workspaces.to_owned()], request.own].concat();
    let gathered = overnight_documents::discover(request.documents, &own, request.extractor)?;
    let left_out = [gathered.unfit, gathered.left_out].concat();
    private::make_folders(workspaces).map_err(|error| {
        RunError::Configuration(format!(
            "the workspaces folder {} can't be made ({error}): choose another with --workspaces",
            workspaces.display()
        ))
    })?;
    Workspace::sweep_at_times(workspaces, now());
    let workspace = Workspace::create_temporary(workspaces)?;
    // For cleanups after crashes: this workspace is in use.
    let lock = Lock::acquire(&workspace, now()).map_err(RunError::from);
    match lock.and_then(|lock| {
        Ok((lock, fill(&workspace, (id, created), request, (&gathered.documents, &left_out), budget_tokens)?))
    }) {
        Ok((lock, spec)) => {
            let workspace = workspace.install(&spec.id.to_string())?;
            drop(lock);
            failpoint::hit("create.done");
            Ok(CreatedJob {
                id: spec.id,
                path: workspace.path().to_owned(),
                documents: spec.documents.len(),
                left_out,
                unread: unread(&spec),
            })
        }
        Err(error) => {
            // Best effort: the first error is the one to report.
            let _ = workspace.discard();
            Err(error)
        }
    }
}

fn fill(
    workspace: &Workspace,
    (id, created): (JobId, Timestamp),
    request: &NewJobRequest<'_>,
    (found, left_out): (&[FoundDocument], &[(PathBuf, String)]),
    budget_tokens: u64,
) -> Result<JobSpec, RunError> {
    // Before the documents are read: jobs created together have the same moment.
    let begun = now().max(created);
    let mut documents = copy_all(workspace, found, budget_tokens, (request.extractor, request.eyes.is_some()))?;
    let scans = scans::of_new_job(workspace, &mut documents, request)?;
    if scans.is_empty() && documents.iter().all(|document| document.tokens == 0) {
        return Err(RunError::Request(nothing_to_read(&documents, left_out)));
    }
    duplicates::note(&mut documents);
    // The hash of the given text: the rules model leaves out a part of it.
    let instructions_sha256 = request.instructions.hash(request.instructions_text);
    let system_prompt = system_prompt();
    let mut instructions = request.instructions.clone();
    if request.model.is_rules() {
        instructions.without_own_proof();
    }
    let mut files = instructions.assets();
    files.push(("assets/instructions.md".to_owned(), request.instructions_text.to_owned()));
    files.push(("assets/prompts/system.md".to_owned(), system_prompt.clone()));
    files.push((TOOLS_ASSET.to_owned(), serde_json::to_string(&tools::catalogue()).unwrap_or_default() + "\n"));
    files.extend(request.models.map(|text| (MODELS_ASSET.to_owned(), text.to_owned())));
    files.sort();
    let earlier = request.earlier.map(|(only, earlier)| begin_with(workspace, only, earlier)).transpose()?;
    let copy =
        |(path, sha256): (&String, &String)| Asset { path: EarlierResult::copy_of(path), sha256: sha256.clone() };
    let mut assets: Vec<Asset> = earlier.iter().flat_map(|earlier| &earlier.files).map(copy).collect();
    for (path, text) in files {
        let hash = workspace.write(&path, text.as_bytes())?;
        assets.push(Asset { path, sha256: hash.sha256 });
    }
    let sees = request.model.image_tokens(1, 1).is_some()
        && documents.iter().any(|document| is_painted(&document.format) || has_pictures(workspace, document));
    let has_tables = documents.iter().any(|document| has_tables(workspace, document));
    let spec = JobSpec {
        format: FORMAT,
        id,
        created,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model: request.model.name().to_owned(),
        base_url: request.base_url.map(str::to_owned),
        api_key_env: request.api_key_env.map(str::to_owned),
        budget_tokens,
        instructions_sha256,
        instructions,
        system_prompt,
        documents,
        left_out: LeftOut::of(left_out),
        assets,
        sees,
        scans,
        has_tables,
        earlier,
    };
    workspace.write(INSTRUCTIONS_FILE, spec.task_text().as_bytes())?;
    let yaml = serde_yaml::to_string(&spec)
        .map_err(|error| RunError::Request(format!("{JOB_FILE} can't be written ({error})")))?;
    let hash = workspace.write(JOB_FILE, yaml.as_bytes())?;
    let mut journal = Journal::open::<Event>(workspace, |_| Ok(()))?;
    let events = [
        Event::Life(LifeEvent::JobCreated {
            spec_sha256: hash.sha256,
            spec: Box::new(spec.clone()),
            tools_sha256: ToolList::of(spec.tools_of_job()).sha256.clone(),
        }),
        Event::Phase(PhaseEvent::PhaseStarted {
            number: 0,
            attempt: 1,
            kind: PhaseKind::Bootstrap,
            title: "Bootstrap".to_owned(),
            plan_phase: None,
            todos: bootstrap_todos(&spec, begun),
        }),
    ];
    journal.append(begun, 0, &events)?;
    Ok(spec)
}

/// Copies an earlier job's deliverables to the places of this job's deliverables, and copies of them to the assets.
fn begin_with(workspace: &Workspace, only: &[String], earlier: &EarlierJob) -> Result<EarlierResult, RunError> {
    let mut files = BTreeMap::new();
    for (path, content) in &earlier.files {
        let text = serde_json::to_string_pretty(content).unwrap_or_default() + "\n";
        let hash = workspace.write(&EarlierResult::copy_of(path), text.as_bytes())?;
        workspace.write(path, text.as_bytes())?;
        files.insert(path.clone(), hash.sha256);
    }
    Ok(EarlierResult { job: earlier.job, only: only.to_vec(), files })
}

/// Whether its text names pictures that can be looked at.
fn has_pictures(workspace: &Workspace, document: &DocumentEntry) -> bool {
    let text = || workspace.read_text_at_most(&document.text_path(), u64::MAX).unwrap_or_default();
    names_pictures(&document.format) && embedded_pictures(&text()).next().is_some()
}

/// The documents without any text, and why they have none.
fn unread(spec: &JobSpec) -> Vec<(String, String)> {
    let is_looked_at = |name: &str| spec.scans.iter().any(|page| page.document == name);
    without_text(&spec.documents).into_iter().filter(|(name, _)| !is_looked_at(name)).collect()
}

fn without_text(documents: &[DocumentEntry]) -> Vec<(String, String)> {
    let why = |document: &DocumentEntry| {
        let gaps: Vec<String> = document.gaps.iter().map(ToString::to_string).collect();
        (document.name.clone(), gaps.join("; "))
    };
    documents.iter().filter(|document| document.tokens == 0).map(why).collect()
}

/// A job over this could only say that there was nothing.
fn nothing_to_read(documents: &[DocumentEntry], left_out: &[(PathBuf, String)]) -> String {
    let left_out = left_out.iter().map(|(path, why)| (path.display().to_string(), why.clone()));
    let all: Vec<(String, String)> = without_text(documents).into_iter().chain(left_out).collect();
    let named: Vec<String> = all.iter().take(MOST_NAMED).map(|(name, why)| format!("{name} ({why})")).collect();
    let more = all.len() - named.len();
    let more = if more > 0 { format!("; {more} more") } else { String::new() };
    // If the whole document is a gap, the gap states what to do.
    let has_pages = documents.iter().flat_map(|document| &document.gaps).any(|gap| gap.pages.is_some());
    let advice = if has_pages { format!(": {AGAINST_GAPS}") } else { String::new() };
    format!("there is no document with text that can be read: {}{more}{advice}", named.join("; "))
}

/// Content and text of a document. A document found in a folder, an archive or a mail was not chosen individually: if
/// it can't be read, it becomes a document without text that states the reason.
fn read(
    found: &FoundDocument,
    content: Result<Vec<u8>, DocumentError>,
    (extractor, has_eyes): (&Extractor, bool),
) -> Result<(Vec<u8>, Extracted), RunError> {
    let (bytes, read) = match content {
        Ok(bytes) => {
            let read = match &found.fault {
                Some(why) => Ok(Extracted::unread(why.clone())),
                None => extractor.extract(&found.name, &bytes, has_eyes),
            };
            (bytes, read)
        }
        Err(error) => (Vec::new(), Err(error)),
    };
    let mut extracted = match read {
        Err(error) if found.is_named => return Err(error.into()),
        Err(error) => Extracted::unread(error.fragment()),
        Ok(extracted) => extracted,
    };
    if extracted.text.is_empty() && extracted.gaps.is_empty() {
        let why = extracted.lack();
        extracted.gaps.push(Gap { pages: None, why });
    }
    Ok((bytes, extracted))
}

/// Copies documents in, each with its text beside it.
pub(super) fn copy_all(
    workspace: &Workspace,
    found: &[FoundDocument],
    budget_tokens: u64,
    (extractor, has_eyes): (&Extractor, bool),
) -> Result<Vec<DocumentEntry>, RunError> {
    let mut copied = Vec::with_capacity(found.len());
    extractor.contents(found, &mut |found, content| {
        // After the first document that can't be read, copying more is a waste of time.
        if copied.last().is_none_or(Result::is_ok) {
            copied.push(copy(workspace, found, content, budget_tokens, (extractor, has_eyes)));
        }
    });
    copied.into_iter().collect()
}

/// Copies one document in, with its text beside it.
fn copy(
    workspace: &Workspace,
    found: &FoundDocument,
    content: Result<Vec<u8>, DocumentError>,
    budget_tokens: u64,
    reader: (&Extractor, bool),
) -> Result<DocumentEntry, RunError> {
    let (bytes, mut extracted) = read(found, content, reader)?;
    let copied = workspace.write(&format!("documents/{}", found.name), &bytes)?;
    drop(bytes);
    let most = overnight_core::prompt::todo_board::share_of(budget_tokens, MOST_PAGE_TOKENS);
    if extracted.unit == Unit::Page {
        let units = Units::new(extracted.unit, &extracted.text);
        let is_long = (1..=units.count()).filter_map(|page| units.get(page)).any(|page| estimate(page) > most);
        if is_long {
            extracted.unit = Unit::Line;
            extracted.text = extracted.text.replace('\u{c}', "\n");
            extracted.notes.push("counted in lines: a page is longer than a todo can read".to_owned());
        }
    }
    let mut entry = DocumentEntry {
        name: found.name.clone(),
        dated: found.dated,
        sha256: copied.sha256,
        bytes: copied.bytes,
        format: extracted.format.as_str().to_owned(),
        paged: extracted.unit == Unit::Page,
        units: 0,
        tokens: 0,
        text_sha256: String::new(),
        reader: extracted.reader,
        gaps: extracted.gaps.into_iter().map(unread_part).collect(),
        unreadable: Vec::new(),
        recognised: extracted.recognised.into_iter().map(page_range).collect(),
        notes: extracted.notes,
        scan_sha256: None,
    };
    write_text(workspace, &mut entry, &extracted.text)?;
    let scans = extracted.words.into_iter().filter(|_| entry.paged).map(ScanLine::recognised);
    let scans = scans.map(|line| (line.page, line)).collect();
    entry.scan_sha256 = scan_file::write(workspace, &entry.scan_path(), &scans)?.map(|hash| hash.sha256);
    Ok(entry)
}

/// Writes the text of a document, and sets the fields that follow from the text and its gaps.
pub(super) fn write_text(workspace: &Workspace, entry: &mut DocumentEntry, text: &str) -> Result<(), WorkspaceError> {
    let units = Units::new(if entry.paged { Unit::Page } else { Unit::Line }, text);
    entry.units = units.count();
    entry.tokens = estimate(text);
    let has_text = |page| units.get(page).is_some_and(|page| !page.trim().is_empty());
    let counted = if entry.paged { entry.units } else { 0 };
    let gaps: Vec<Gap> = entry.gaps.iter().map(gap_of).collect();
    entry.unreadable = PageSpan::without_text(&gaps, counted, has_text).into_iter().map(page_range).collect();
    entry.text_sha256 = workspace.write(&entry.text_path(), text.as_bytes())?.sha256;
    Ok(())
}

/// A gap recorded by a job, in the readers' type.
fn gap_of(part: &UnreadPart) -> Gap {
    let pages = part.pages.map(|pages| PageSpan { from: pages.from, to: pages.to });
    Gap { pages, why: part.why.clone() }
}

/// A reader's gap, in the type that a job records.
fn unread_part(gap: Gap) -> UnreadPart {
    UnreadPart { pages: gap.pages.map(page_range), why: gap.why }
}

pub(super) fn page_range(span: PageSpan) -> PageRange {
    PageRange { from: span.from, to: span.to }
}
