//! Selects the texts and searches them on a few threads; words that occur nowhere as a phrase are searched separately.

use super::{
    hit::{Keep, Round, TextHits},
    lines,
    pattern::{SearchWords, TextSearch, searches},
    results, spans,
    window::{self, GroupInText, ShownHit},
    words::{self, PassageRank},
};
use crate::{
    failpoint,
    tool::{
        ToolError,
        document_cache::unit,
        files::{MOST_BYTES, glob, matches, parse},
    },
    workspace::{Folder, KnownPath, Workspace},
};
use overnight_core::{
    answer,
    job::{
        arguments::{SearchFiles, SearchScope},
        event::{CallEnd, ToolResult},
        spec::JobSpec,
    },
};
use overnight_documents::Unit;
use std::{
    cmp::Reverse,
    collections::BTreeMap,
    fmt::Display,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Hits that a result shows; the rest is counted.
pub(super) const MOST_HITS: u64 = 100;
/// The most threads of a search.
const MOST_THREADS: usize = 4;
/// The time limit of a search. One for plain words in a hundred megabytes takes less than a second.
const LONGEST: Duration = Duration::from_secs(30);

/// A text to be searched.
#[derive(Clone, Debug)]
pub(super) struct SearchedText {
    /// The name to show.
    pub(super) name: String,
    path: String,
    pub(super) unit: Unit,
    /// Whether it is a document's text, which must exist.
    pub(super) is_document: bool,
    /// Whether its content is text of documents.
    pub(super) is_material: bool,
}

/// Looks through one text.
type Find<'f, K> = &'f (dyn Fn(&str, Unit, Keep<'_, K>) -> Result<TextHits<K>, ToolError> + Sync);

/// One call.
struct SearchRun<'r> {
    workspace: &'r Workspace,
    wanted: &'r SearchFiles,
    places: Vec<SearchedText>,
    /// Tokens of the result.
    most: u64,
    until: Instant,
}

/// Searches documents and files; the result has at most this many tokens.
pub(in crate::tool) fn search(
    spec: &JobSpec,
    workspace: &Workspace,
    wanted: &SearchFiles,
    most: u64,
) -> Result<ToolResult, ToolError> {
    let searches = searches(&wanted.pattern)?;
    let until = Instant::now() + LONGEST;
    let run = SearchRun { workspace, wanted, places: places(spec, workspace, wanted)?, most, until };
    for search in &searches {
        let found = match search {
            TextSearch::Lines(matcher) => {
                run.listed(&|text, unit, keep| lines::find(matcher, text, unit, keep, until).map_err(failed))?
            }
            TextSearch::Spans(expression) => {
                run.listed(&|text, unit, keep| spans::find(expression, text, unit, keep, until).map_err(failed))?
            }
            TextSearch::Passages(words) => run.by_words(words)?,
        };
        if let Some(text) = found {
            return Ok(ToolResult::plain(CallEnd::Done, text));
        }
    }
    let text = if let (None | Some(SearchScope::Documents), None) = (run.wanted.scope, &run.wanted.path) {
        answer!("search.no_matches_in_documents")
    } else {
        answer!("search.no_matches")
    };
    Ok(ToolResult::plain(CallEnd::Done, text))
}

impl SearchRun<'_> {
    fn offset(&self) -> u64 {
        self.wanted.offset.unwrap_or(0)
    }

    /// The hits of all texts: the first ones, to be shown, are stored; later ones are only counted.
    fn count<K: Copy + Ord + Send + Sync>(&self, find: Find<'_, K>) -> Result<Vec<TextHits<K>>, ToolError> {
        let keep = Keep::First(if self.offset() == 0 { MOST_HITS } else { 0 });
        let all: Vec<&SearchedText> = self.places.iter().collect();
        each(self.workspace, &all, self.until, &|_, text, unit| find(text, unit, keep))
    }

    /// The hits from the offset on; `groups` are in order.
    fn hits<K: Copy + Ord + Send + Sync>(
        &self,
        groups: &[GroupInText<K>],
        counted: Vec<TextHits<K>>,
        find: Find<'_, K>,
    ) -> Result<Vec<ShownHit<K>>, ToolError> {
        let (offset, total) = (self.offset(), groups.iter().map(|group| group.total).sum::<u64>());
        if offset >= total {
            return Err(ToolError::Tell(answer!("search.ends", total)));
        }
        let window = window::window(groups, offset);
        if offset == 0 {
            return Ok(window::hits(&window, &counted.into_iter().enumerate().collect()));
        }
        let (texts, ranges): (Vec<usize>, Vec<_>) = window::by_text(&window).into_iter().unzip();
        let places: Vec<&SearchedText> = texts.iter().map(|text| &self.places[*text]).collect();
        let found = each(self.workspace, &places, self.until, &|number, text, unit| {
            find(text, unit, Keep::These(&ranges[number]))
        })?;
        Ok(window::hits(&window, &texts.into_iter().zip(found).collect()))
    }

    /// Hits in the order of the texts; `None` if there are none.
    fn listed(&self, find: Find<'_, Round>) -> Result<Option<String>, ToolError> {
        let counted = self.count(find)?;
        let mut groups = window::groups(&counted);
        if groups.is_empty() {
            return Ok(None);
        }
        groups.sort_by_key(|group| (group.kind, group.text));
        let hits = self.hits(&groups, counted, find)?;
        Ok(Some(results::listed(self.wanted, &self.places, self.most, &groups, hits)))
    }

    /// Passages with all words, or with as many as any passage has, the best first; `None` where none has two.
    fn by_words(&self, words: &SearchWords) -> Result<Option<String>, ToolError> {
        let find = |text: &str, unit: Unit, keep: Keep<'_, PassageRank>| Ok(words::find(words, text, unit, keep));
        let counted = self.count(&find)?;
        let mut groups = window::groups(&counted);
        let most = groups.iter().map(|group| group.kind.words.count_ones()).max().unwrap_or(0);
        if most < 2 {
            return Ok(None);
        }
        // The number of passages that contain each word: the rarer it is, the more it tells.
        let mut passages = vec![0_u64; words.plain.len()];
        for group in &groups {
            for (number, sum) in passages.iter_mut().enumerate() {
                *sum += if group.kind.words & (1 << number) == 0 { 0 } else { group.total };
            }
        }
        let rarity = |kind: &PassageRank| -> u64 {
            let of = |(number, &sum): (usize, &u64)| {
                if kind.words & (1 << number) == 0 { 0 } else { u64::from(sum.max(1).leading_zeros()) }
            };
            passages.iter().enumerate().map(of).sum()
        };
        // Passages with one word less are useful if few have all.
        let least = most.saturating_sub(1).max(2);
        groups.retain(|group| group.kind.words.count_ones() >= least);
        groups.sort_by_key(|GroupInText { text, kind, .. }| {
            (Reverse((kind.words.count_ones(), rarity(kind), kind.is_heading)), *text, *kind)
        });
        let hits = self.hits(&groups, counted, &find)?;
        let total: u64 = groups.iter().map(|group| group.total).sum();
        let passages = if total == 1 { "1 passage holds".to_owned() } else { format!("{total} passages hold") };
        let head = if least < most {
            answer!("search.passages_or_one_less", passages, most, all = words.plain.len())
        } else {
            answer!("search.passages", passages, most, all = words.plain.len())
        };
        Ok(Some(results::ranked(&head, self.wanted, &self.places, self.most, total, &hits)))
    }
}

fn failed(why: impl Display) -> ToolError {
    ToolError::Tell(answer!("search.failed", why))
}

/// The texts within the scope: the documents in order, then the files in order. Without a scope: the documents, or the
/// named path.
fn places(spec: &JobSpec, workspace: &Workspace, wanted: &SearchFiles) -> Result<Vec<SearchedText>, ToolError> {
    let glob = wanted.glob.as_deref().map(glob).transpose()?;
    let given = wanted.path.as_deref().unwrap_or(".");
    let scope = wanted.scope.unwrap_or(if wanted.path.is_some() { SearchScope::All } else { SearchScope::Documents });
    // A document is called by its name everywhere else.
    let document = spec.named(given).filter(|_| workspace.metadata(given).is_err());
    let path = match document {
        Some(document) => parse(&format!("documents/{}", document.name))?,
        None => parse(given)?,
    };
    let named = path.as_str();
    let is_document_path = named == "documents" || named.starts_with("documents/");
    let mut places = Vec::new();
    if scope != SearchScope::Output && (path.is_root() || is_document_path) {
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
    if scope != SearchScope::Documents && !is_document_path {
        let resolved = workspace.resolve_for_read(&path)?;
        let resolved_name = resolved.path.clone();
        let files: Vec<String> = if workspace.metadata(&resolved.path).is_ok() && resolved.path != "." {
            vec![resolved.path]
        } else {
            workspace.list(&resolved.path)?.into_iter().map(|entry| entry.path).collect()
        };
        let is_named = |path: &str| wanted.path.is_some() && path == resolved_name;
        let is_wanted = |path: &String| match scope {
            SearchScope::Output => path.starts_with("output/"),
            SearchScope::Documents | SearchScope::All => is_searched(path) || is_named(path),
        };
        for path in files.into_iter().filter(|path| is_wanted(path) && matches(glob.as_ref(), path)) {
            let is_material = path.starts_with("tool_results/");
            places.push(SearchedText { name: path.clone(), path, unit: Unit::Line, is_document: false, is_material });
        }
    }
    Ok(places)
}

/// Documents are searched by their text; the runner's own files and the instructions are no places for results.
fn is_searched(path: &str) -> bool {
    let is_in = |folder: &Folder| path.strip_prefix(folder.name()).is_some_and(|rest| rest.starts_with('/'));
    let is_own = KnownPath::FILES.iter().any(|known| known.file() == Some(path));
    !is_own && ![Folder::Documents, Folder::Assets, Folder::Archive].iter().any(is_in)
}

fn is_below(name: &str, folder: &str) -> bool {
    let folder = folder.strip_prefix(".text/").unwrap_or(folder);
    folder.is_empty()
        || name == folder
        || folder.strip_suffix(".txt") == Some(name)
        || name.starts_with(&format!("{folder}/"))
}

/// Runs `look` on each text, in order.
fn each<T: Default + Send>(
    workspace: &Workspace,
    places: &[&SearchedText],
    until: Instant,
    look: &(dyn Fn(usize, &str, Unit) -> Result<T, ToolError> + Sync),
) -> Result<Vec<T>, ToolError> {
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, Result<T, ToolError>>> = Mutex::new(BTreeMap::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = places.get(number) else { break };
            failpoint::misbehave("tool.search");
            let result = lines::late(until).map_err(failed).and_then(|()| {
                match workspace.read_text_at_most(&place.path, MOST_BYTES) {
                    Ok(text) => look(number, &text, place.unit),
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
