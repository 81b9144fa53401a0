//! The transcriptions of scanned pages, compared, and inserted into the texts of their documents. A page on which two
//! readings disagree, or a blank one with a text, becomes a gap: an invented text must not fill a page.

use super::{
    RunError,
    create::{page_range, write_text},
    own_text::SeenText,
    scan_file::{self, ScanLine},
};
use crate::{
    extraction::{transcribed_pages_key, transcription_key},
    table_query::DocumentReader,
    workspace::Workspace,
};
use overnight_core::{
    amount::{counted, grouped},
    job::{
        pages::{PageRange, UnreadPart},
        scans::{PageOutcome, PageReading, PageWitness, ScannedPage},
        spec::DocumentEntry,
        state::Job,
    },
    machine::effect::EffectResult,
};
use overnight_documents::{PageSpan, compare};
use std::collections::BTreeMap;

/// The least agreement of two readings of a page.
const LEAST_AGREEMENT: f64 = 0.6;
/// The least ink on a page with a few words, in pixels of 10,000.
const LEAST_INK: u32 = 4;
/// The most words of a nearly blank page: a page number, a mark.
const FEW_WORDS: usize = 3;
/// A transcriber's answer for an empty page.
const BLANK: &str = "[blank]";
/// The reason for the gap of a page where the other reading has words, and this one has none.
const NOTHING: &str = "nothing was read on it";

/// Compares all pages, and writes the texts.
pub(super) fn read_pages(
    job: &Job,
    workspace: &Workspace,
    reader: Option<&dyn DocumentReader>,
) -> Result<EffectResult, RunError> {
    let mut by_document: BTreeMap<&str, Vec<&ScannedPage>> = BTreeMap::new();
    for page in &job.spec.scans {
        by_document.entry(&page.document).or_default().push(page);
    }
    let (mut documents, mut outcomes) = (Vec::new(), Vec::new());
    for document in &job.spec.documents {
        let Some(pages) = by_document.get(document.name.as_str()) else { continue };
        documents.push(read_document(job, workspace, document, pages, &mut outcomes)?);
    }
    if let Some(reader) = reader {
        keep(job, reader);
    }
    Ok(EffectResult::PagesRead { documents, pages: outcomes })
}

/// Keeps what was paid for, for later jobs over the same pages, and that all pages of a document were.
fn keep(job: &Job, reader: &dyn DocumentReader) {
    for (number, model) in job.spec.instructions.page_readers(&job.spec.model) {
        for document in &job.spec.documents {
            let mut pages = job.spec.scans.iter().filter(|page| page.document == document.name);
            let count = pages.clone().count();
            let is_read = |page| job.scans.reading(page, number).is_some_and(|reading| reading.fault.is_none());
            if count > 0 && pages.all(is_read) {
                reader.keep_text(&transcribed_pages_key(model, &document.sha256), &count.to_string());
            }
        }
    }
    for page in &job.spec.scans {
        for (number, model) in job.spec.instructions.page_readers(&job.spec.model) {
            let reading = job.scans.reading(page, number).filter(|reading| reading.fault.is_none());
            if let Some(reading) = reading.filter(|_| page.kept.iter().all(|kept| kept.reader != number)) {
                reader.keep_text(&transcription_key(model, &page.image.sha256), &reading.text);
            }
        }
    }
}

fn read_document(
    job: &Job,
    workspace: &Workspace,
    document: &DocumentEntry,
    pages: &[&ScannedPage],
    outcomes: &mut Vec<PageOutcome>,
) -> Result<DocumentEntry, RunError> {
    let before = workspace.read_text_at_most(&document.text_path(), u64::MAX)?;
    let mut texts: Vec<String> = before.split('\u{c}').map(str::to_owned).collect();
    let mut lines = scan_file::read(workspace, document);
    let mut entry = document.clone();
    let (mut read_once, mut lying) = (Vec::new(), Vec::new());
    for page in pages {
        let at = usize::try_from(page.page.saturating_sub(1)).unwrap_or(usize::MAX);
        if texts.len() <= at {
            texts.resize(at + 1, String::new());
        }
        let recognised = lines.remove(&page.page);
        if page.has_text {
            let judged = judge_own(job, page, &texts[at]);
            if let Some(JudgedText { outcome, text, line }) = judged {
                texts[at] = text;
                lines.extend(line.map(|line| (page.page, line)));
                outcomes.push(outcome);
                continue;
            }
            PageSpan::push(&mut lying, page.page);
        }
        // A text recognised by the file's creator is a second reading if there is no better one.
        let is_recognised = document.recognised.iter().any(|pages| (pages.from..=pages.to).contains(&page.page));
        let own = Some(texts[at].as_str()).filter(|own| is_recognised && !own.trim().is_empty());
        let judged = judge(job, page, recognised.as_ref(), own);
        entry.gaps = without(entry.gaps, page.page);
        entry.recognised = without_page(&entry.recognised, page.page);
        if let Some(why) = &judged.outcome.gap {
            // Recognised text is not kept if a second look disagrees with it.
            texts[at].clear();
            entry.gaps.push(UnreadPart { pages: Some(page_range(span(page.page))), why: why.clone() });
        } else {
            texts[at] = judged.text;
            if judged.lies {
                PageSpan::push(&mut lying, page.page);
            }
            if judged.outcome.witness.is_none() && judged.outcome.words > 0 {
                read_once.push(page.page);
            }
        }
        lines.insert(page.page, judged.line);
        outcomes.push(judged.outcome);
    }
    entry.gaps.sort_by_key(|gap| gap.pages.map_or(u64::MAX, |pages| pages.from));
    let model = job.spec.instructions.models.vision.as_deref().unwrap_or(&job.spec.model);
    let mut spans = Vec::new();
    for page in read_once {
        PageSpan::push(&mut spans, page);
    }
    entry
        .notes
        .extend(spans.iter().map(|pages| format!("{pages} read once, by {model}: nothing has read it a second time")));
    entry.notes.extend(
        lying.iter().map(|pages| format!("the text of {pages} is not what is to be seen there: read by {model}")),
    );
    entry.notes.extend(agreement(model, document, outcomes));
    // A page read only once counts as recognised.
    entry.recognised.extend(spans.into_iter().map(page_range));
    entry.recognised.sort_by_key(|pages| pages.from);
    entry.reader = format!("{}, {model}", document.reader);
    let mut text = texts.join("\u{c}");
    // A separator at the end begins no page, and a blank last page is one.
    if entry.gaps.is_empty() && text.is_empty() || text.ends_with('\u{c}') {
        text.push('\n');
    }
    write_text(workspace, &mut entry, &text)?;
    entry.scan_sha256 = scan_file::write(workspace, &entry.scan_path(), &lines)?.map(|hash| hash.sha256);
    Ok(entry)
}

/// The agreement of the two readings of a document's pages, without gaps; none if no page was read twice.
fn agreement(model: &str, document: &DocumentEntry, outcomes: &[PageOutcome]) -> Option<String> {
    let twice = outcomes.iter().filter(|page| page.document == document.name && page.gap.is_none() && page.words > 0);
    let twice: Vec<&PageOutcome> = twice.filter(|page| page.witness.is_some()).collect();
    let by: &str = match twice.first()?.witness.as_ref()? {
        PageWitness::Recognised(program) => program,
        PageWitness::Model(model) => model,
        PageWitness::OwnText => "the document's own text",
    };
    let (words, agreed) = twice.iter().fold((0, 0), |(words, agreed), page| (words + page.words, agreed + page.agreed));
    Some(format!(
        "{} read by {model} and compared with {by}: {} of {} agree",
        counted(twice.len() as u64, "page"),
        grouped(agreed),
        counted(words, "word")
    ))
}

/// The result for a page with a text of its own.
struct JudgedText {
    outcome: PageOutcome,
    text: String,
    line: Option<ScanLine>,
}

/// Unseen words leave the text as it is; none if the text differs from what is seen.
fn judge_own(job: &Job, page: &ScannedPage, own: &str) -> Option<JudgedText> {
    let reading = job.scans.reading(page, 1).filter(|reading| reading.fault.is_none());
    let seen = tidy(&reading.map(|reading| reading.text).unwrap_or_default());
    let compared = SeenText::new(own, &seen);
    let outcome = PageOutcome {
        document: page.document.clone(),
        page: page.page,
        words: compared.words,
        agreed: compared.agreed,
        agreement: Some(rounded(compared.share)).filter(|_| compared.words > 0),
        witness: Some(PageWitness::OwnText).filter(|_| compared.words > 0),
        gap: None,
    };
    if compared.words > FEW_WORDS as u64 && compared.share < LEAST_AGREEMENT {
        return None;
    }
    if compared.words == 0 {
        return Some(JudgedText { outcome, text: own.to_owned(), line: None });
    }
    let line = ScanLine { page: page.page, words: Vec::new(), transcribed: true, second: Some(compared.other) };
    Some(JudgedText { outcome, text: compared.text, line: Some(line) })
}

fn rounded(share: f64) -> f64 {
    (share * 1_000.0).round() / 1_000.0
}

/// The result for a page.
struct JudgedPage {
    outcome: PageOutcome,
    text: String,
    line: ScanLine,
    /// The file's own text differs from what is on the page.
    lies: bool,
}

/// `own`: the page's text in the file, recognised by the file's creator.
fn judge(job: &Job, page: &ScannedPage, recognised: Option<&ScanLine>, own: Option<&str>) -> JudgedPage {
    let unread = || PageReading { text: String::new(), fault: Some("was not asked".to_owned()) };
    let PageReading { text, fault } = job.scans.reading(page, 1).unwrap_or_else(unread);
    let second = job.scans.reading(page, 2).filter(|reading| reading.fault.is_none());
    let text = tidy(&text);
    let words = recognised.map(|line| line.words.clone()).unwrap_or_default();
    let own = own.filter(|_| second.is_none() && words.is_empty());
    let is_same = |own: &&str| compare(&text, &own.split_whitespace().collect::<Vec<_>>()).1 >= LEAST_AGREEMENT;
    let (own, lies) = (own.filter(is_same), own.is_some_and(|own| !is_same(&own)));
    let second = second.map(|reading| tidy(&reading.text)).or_else(|| own.map(str::to_owned));
    let line = ScanLine { page: page.page, words, transcribed: true, second };
    let other = line.other();
    let (words, share) = compare(&text, other.as_deref().unwrap_or_default());
    let agreed = words.iter().filter(|word| !word.others.is_empty()).count();
    let models = &job.spec.instructions.models;
    let witness = other.as_ref().map(|_| match (&line.second, &models.vision_second) {
        (Some(_), _) if own.is_some() => PageWitness::OwnText,
        (Some(_), Some(model)) => PageWitness::Model(model.clone()),
        _ => PageWitness::Recognised("tesseract".to_owned()),
    });
    let others = other.map_or(0, |other| other.len());
    let gap = match () {
        () if let Some(why) = &fault => Some(format!("it could not be transcribed: the model {why}")),
        () if words.is_empty() && others > FEW_WORDS => Some(NOTHING.to_owned()),
        () if words.len() > FEW_WORDS && page.ink < LEAST_INK => {
            Some(format!("it is nearly blank, and {} words were read on it", words.len()))
        }
        () if witness.is_some() && words.len().max(others) > FEW_WORDS && share < LEAST_AGREEMENT => {
            Some(format!("two readings agree on {:.0} % of it only", share * 100.0))
        }
        () => None,
    };
    let agreement = witness.as_ref().map(|_| rounded(share));
    let outcome = PageOutcome {
        document: page.document.clone(),
        page: page.page,
        words: words.len() as u64,
        agreed: agreed as u64,
        agreement,
        witness,
        gap,
    };
    JudgedPage { outcome, text, line, lies }
}

/// A transcription as a page's text: without what some models put around it, and without page breaks.
fn tidy(text: &str) -> String {
    let text = text.trim();
    let fenced = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let text = fenced.map_or(text, |rest| rest.split_once('\n').map_or(rest, |(_, rest)| rest)).trim();
    let text = if text == BLANK { "" } else { text };
    if text.is_empty() { String::new() } else { format!("{}\n", text.replace(['\u{c}', '\r'], "")) }
}

fn span(page: u64) -> PageSpan {
    PageSpan { from: page, to: page }
}

/// The gaps without a page; a gap around it is split.
fn without(gaps: Vec<UnreadPart>, page: u64) -> Vec<UnreadPart> {
    let mut left = Vec::new();
    for gap in gaps {
        match gap.pages {
            Some(pages) if (pages.from..=pages.to).contains(&page) => {
                let rest = without_page(&[pages], page);
                left.extend(rest.into_iter().map(|pages| UnreadPart { pages: Some(pages), why: gap.why.clone() }));
            }
            Some(_) | None => left.push(gap),
        }
    }
    left
}

fn without_page(ranges: &[PageRange], page: u64) -> Vec<PageRange> {
    let mut left = Vec::new();
    for range in ranges {
        if !(range.from..=range.to).contains(&page) {
            left.push(*range);
            continue;
        }
        if range.from < page {
            left.push(page_range(PageSpan { from: range.from, to: page - 1 }));
        }
        if page < range.to {
            left.push(page_range(PageSpan { from: page + 1, to: range.to }));
        }
    }
    left
}
