//! Which texts are searched, on a few threads, and what words that are nowhere a phrase are searched as.

use super::{
    hit::Hit,
    lines,
    pattern::{SearchPattern, SearchWords},
    phrase, results,
    words::{self, PassageRank, Passages},
};
use crate::{
    failpoint,
    tool::{
        ToolError,
        document_cache::unit,
        files::{MOST_BYTES, glob, matches, parse},
    },
    workspace::Workspace,
};
use overnight_core::{
    job::{
        event::{CallEnd, ToolResult},
        spec::JobSpec,
    },
    prompt::tools::SearchFiles,
};
use overnight_documents::Unit;
use std::{
    cmp::Reverse,
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Hits that a result shows; the rest is counted.
pub(super) const MOST_HITS: usize = 100;
/// Threads that search.
const MOST_THREADS: usize = 4;
/// How long a search may take. One of plain words in a hundred megabytes takes less than a second.
const LONGEST: Duration = Duration::from_secs(30);

/// A text to be searched.
#[derive(Clone, Debug)]
pub(super) struct SearchedText {
    /// As it is shown.
    pub(super) name: String,
    path: String,
    pub(super) unit: Unit,
    /// A document's text, which there must be.
    pub(super) is_document: bool,
    /// What stands there is text of documents.
    pub(super) is_material: bool,
}

/// Searches documents and files.
pub(in crate::tool) fn search(
    spec: &JobSpec,
    workspace: &Workspace,
    wanted: &SearchFiles,
) -> Result<ToolResult, ToolError> {
    let looked_for = SearchPattern::read(&wanted.pattern)?;
    let places = places(spec, workspace, wanted)?;
    let until = Instant::now() + LONGEST;
    let text = match &looked_for {
        SearchPattern::Lines(matcher) => {
            let found = each(workspace, &places, until, &|text, unit| {
                lines::find(matcher, text, unit, MOST_HITS, until).map_err(|why| failed(&why))
            })?;
            results::listed(&places, &found)
        }
        SearchPattern::Words(words) => {
            let found =
                each(workspace, &places, until, &|text, unit| Ok(phrase::find(&words.phrase, text, unit, MOST_HITS)))?;
            if found.iter().any(|found| found.total > 0) {
                results::listed(&places, &found)
            } else {
                let found =
                    each(workspace, &places, until, &|text, unit| Ok(words::find(words, text, unit, MOST_HITS)))?;
                by_words(words, &places, &found)
            }
        }
    };
    Ok(ToolResult::plain(CallEnd::Done, text))
}

fn failed(why: &str) -> ToolError {
    ToolError::Tell(format!("the search failed ({why})"))
}

/// The documents in their order, then the files in theirs.
fn places(spec: &JobSpec, workspace: &Workspace, wanted: &SearchFiles) -> Result<Vec<SearchedText>, ToolError> {
    let glob = wanted.glob.as_deref().map(glob).transpose()?;
    let path = parse(wanted.path.as_deref().unwrap_or("."))?;
    let named = path.as_str();
    let is_document_path = named == "documents" || named.starts_with("documents/");
    let mut places = Vec::new();
    if path.is_root() || is_document_path {
        let wanted_name = named.strip_prefix("documents/").unwrap_or("");
        for document in &spec.documents {
            let inside = !is_document_path || is_below(&document.name, wanted_name);
            if inside
                && (matches(glob.as_ref(), &document.name)
                    || matches(glob.as_ref(), &format!("documents/{}", document.name)))
            {
                places.push(SearchedText {
                    name: document.name.clone(),
                    path: document.text_path(),
                    unit: unit(document),
                    is_document: true,
                    is_material: true,
                });
            }
        }
    }
    if !is_document_path {
        let resolved = workspace.resolve_for_read(&path)?;
        let files: Vec<String> = if workspace.metadata(&resolved.path).is_ok() && resolved.path != "." {
            vec![resolved.path]
        } else {
            workspace.list(&resolved.path)?.into_iter().map(|entry| entry.path).collect()
        };
        for path in files.into_iter().filter(|path| is_searched(path) && matches(glob.as_ref(), path)) {
            let is_material = path.starts_with("tool_results/");
            places.push(SearchedText { name: path.clone(), path, unit: Unit::Line, is_document: false, is_material });
        }
    }
    Ok(places)
}

/// The documents are searched by their text, and the runner's own record is no place to look for results.
fn is_searched(path: &str) -> bool {
    !path.starts_with("documents/")
        && !path.starts_with("archive/")
        && !matches!(path, "journal.jsonl" | "quotes.jsonl" | ".lock")
}

fn is_below(name: &str, folder: &str) -> bool {
    let folder = folder.strip_prefix(".text/").unwrap_or(folder);
    folder.is_empty()
        || name == folder
        || folder.strip_suffix(".txt") == Some(name)
        || name.starts_with(&format!("{folder}/"))
}

/// What `look` finds in each text, in their order.
fn each<T: Default + Send>(
    workspace: &Workspace,
    places: &[SearchedText],
    until: Instant,
    look: &(dyn Fn(&str, Unit) -> Result<T, ToolError> + Sync),
) -> Result<Vec<T>, ToolError> {
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, Result<T, ToolError>>> = Mutex::new(BTreeMap::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = places.get(number) else { break };
            failpoint::misbehave("tool.search");
            let result = lines::late(until).map_err(|why| failed(&why)).and_then(|()| {
                match workspace.read_text_at_most(&place.path, MOST_BYTES) {
                    Ok(text) => look(&text, place.unit),
                    Err(error) if place.is_document => Err(error.into()),
                    // A file that isn't text, or is too large, has no lines to show.
                    Err(_) => Ok(T::default()),
                }
            });
            results.lock().unwrap_or_else(PoisonError::into_inner).insert(number, result);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS).min(places.len());
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

/// Passages with all words, or with as many as any passage has, the best first.
fn by_words(words: &SearchWords, places: &[SearchedText], found: &[Passages]) -> String {
    let kinds = || found.iter().flat_map(|passages| &passages.0);
    let most = kinds().map(|(kind, _)| kind.words.count_ones()).max().unwrap_or(0);
    if most < 2 {
        return results::listed(places, &[]);
    }
    // In how many passages each word stands: the fewer, the more it says.
    let mut passages = vec![0_u64; words.plain.len()];
    for (kind, (count, _)) in kinds() {
        for (number, sum) in passages.iter_mut().enumerate() {
            *sum += if kind.words & (1 << number) == 0 { 0 } else { *count };
        }
    }
    let rarity = |kind: &PassageRank| -> u64 {
        let of = |(number, &sum): (usize, &u64)| {
            if kind.words & (1 << number) == 0 { 0 } else { u64::from(sum.max(1).leading_zeros()) }
        };
        passages.iter().enumerate().map(of).sum()
    };
    // Those with one word less are worth a look where few have all.
    let least = most.saturating_sub(1).max(2);
    let mut total = 0;
    let mut ranked: Vec<(usize, &PassageRank, &Hit)> = Vec::new();
    for (number, passages) in found.iter().enumerate() {
        for (kind, (count, hits)) in &passages.0 {
            if kind.words.count_ones() >= least {
                total += count;
                ranked.extend(hits.iter().map(|hit| (number, kind, hit)));
            }
        }
    }
    ranked.sort_by_key(|(number, kind, hit)| {
        let rank = (kind.words.count_ones(), rarity(kind), kind.is_heading);
        (Reverse(rank), *number, hit.page, hit.line)
    });
    ranked.truncate(MOST_HITS);
    let passages = if total == 1 { "1 passage holds".to_owned() } else { format!("{total} passages hold") };
    let or_less = if least < most { " or one less" } else { "" };
    let head = format!(
        "The words stand nowhere one after another; {passages} {most} of the {}{or_less}, the best first:\n",
        words.plain.len()
    );
    results::ranked(&head, places, &ranked.iter().map(|(number, _, hit)| (*number, *hit)).collect::<Vec<_>>(), total)
}
