//! The specification of a job: the content of `job.yaml`, written once, and the first fact in the journal.

use super::{
    earlier_result::EarlierResult,
    id::JobId,
    instructions::Instructions,
    left_out::LeftOut,
    models::ModelChoice,
    pages::{PageRange, UnreadPart},
    scans::ScannedPage,
    time::Timestamp,
    tool::{Tool, ToolSet},
};
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// Normalises a name: characters that keyboards and systems write in several ways become the same.
fn fold_name(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for letter in name.nfc() {
        let plain = match letter {
            '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2bc}' | '\u{2032}' | '`' | '\u{b4}' => '\'',
            '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' | '\u{2033}' => '"',
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => continue,
            other if other.is_whitespace() => ' ',
            other => other,
        };
        if plain != ' ' || !folded.ends_with(' ') {
            folded.push(plain);
        }
    }
    folded
}

/// The version of the stored shapes: `job.yaml`, the journal's events, manifests.
pub const FORMAT: u32 = 1;

/// The note of a reader on a text that it has split at its headings.
pub const PAGES_ARE_CHAPTERS: &str = "no page breaks are recorded in it: its pages are its chapters";

/// One document as it was when the job was made. `units` counts pages where `paged`, else lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentEntry {
    /// Relative name, `/`-separated; the file is `documents/<name>`, its text `documents/.text/<name>.txt`.
    pub name: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Size of the file.
    pub bytes: u64,
    /// Its date, if it belongs to a family: the order of changes within a family matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dated: Option<NaiveDate>,
    /// The format: `Markdown`, `text`, `HTML`.
    pub format: String,
    /// Whether its units are pages, not lines.
    pub paged: bool,
    /// The number of units, at least 1.
    pub units: u64,
    /// Estimated tokens of the text.
    pub tokens: u64,
    /// SHA-256 of the extracted text.
    pub text_sha256: String,
    /// Name and version of the program that read it.
    #[serde(default)]
    pub reader: String,
    /// Parts from which no text was extracted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<UnreadPart>,
    /// Pages of the gaps that have no text at all: there is nothing of them to show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<PageRange>,
    /// Pages whose characters were recognised in an image of them (OCR).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recognised: Vec<PageRange>,
    /// Further notes on its text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// SHA-256 of [`Self::scan_path`], if it has recognised or transcribed pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan_sha256: Option<String>,
}

impl DocumentEntry {
    /// The unit as tools and records name it: `page` or `line`.
    pub fn unit(&self) -> &'static str {
        if self.paged { "page" } else { "line" }
    }

    /// The unit's name for people: the pages of a book, and of a text without page breaks, are its chapters.
    pub fn unit_name(&self) -> &'static str {
        let has_chapters = self.format == "EPUB" || self.notes.iter().any(|note| note == PAGES_ARE_CHAPTERS);
        if self.paged && has_chapters { "chapter" } else { self.unit() }
    }

    /// Estimated tokens of a read of the whole: its text, and the number before each line where it has no pages.
    pub fn read_tokens(&self) -> u64 {
        let digits = self.units.max(1).ilog10() + 1;
        if self.paged { self.tokens } else { self.tokens + self.units * u64::from(digits + 1) / 4 }
    }

    /// The path of the extracted text in the workspace.
    pub fn text_path(&self) -> String {
        format!("documents/.text/{}.txt", self.name)
    }

    /// The file with the words of recognised and transcribed pages: their places, and whether both readings have them.
    pub fn scan_path(&self) -> String {
        format!("documents/.text/{}.scan.jsonl", self.name)
    }
}

/// A file that the job depends on, copied into `assets/`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asset {
    /// The path, relative to the workspace, under `assets/`.
    pub path: String,
    /// SHA-256 of the copy.
    pub sha256: String,
}

/// The specification of a job: its task, model, documents and bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// See [`FORMAT`].
    pub format: u32,
    /// The id, which is also the folder's name.
    pub id: JobId,
    /// When the job was made.
    pub created: Timestamp,
    /// Version of the program that made the job.
    pub version: String,
    /// The model: `provider:name`.
    pub model: String,
    /// The address of the model's server; `None` means the provider's own server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable with the key; `None` means the provider's usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Tokens that a prompt may have: the instructions' budget or the model's window, whichever is less.
    pub budget_tokens: u64,
    /// The hash of the file as it was given, and of those beside it: [`Instructions::hash`].
    pub instructions_sha256: String,
    /// The instructions, checked and resolved.
    pub instructions: Instructions,
    /// The system prompt, byte-identical in every turn.
    pub system_prompt: String,
    /// The documents, in the order of their names, or in the order of the submission if they form families.
    pub documents: Vec<DocumentEntry>,
    /// Files in the given folders, archives and mails that are no documents.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
    /// The assets: schemas, agent prompts, the rubric.
    pub assets: Vec<Asset>,
    /// Whether the model takes images, and pages of the documents can be rendered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sees: bool,
    /// Pages without trustworthy text, which are transcribed before the job reads anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scans: Vec<ScannedPage>,
    /// Whether some of the documents have tables with headers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_tables: bool,
    /// The earlier result with which the job begins, if only some fields are requested again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<EarlierResult>,
}

impl JobSpec {
    /// The picture of a scanned page.
    pub(crate) fn scanned_page(&self, document: &str, page: u64) -> Option<&ScannedPage> {
        self.scans.iter().find(|scan| scan.document == document && scan.page == page)
    }

    /// The initial text of `instructions.md`: the task, the checks, and the earlier result.
    pub fn task_text(&self) -> String {
        let mut text = self.instructions.task_text();
        if let Some(earlier) = &self.earlier {
            earlier.add_to(&mut text);
        }
        text
    }

    /// The tools of the job's own conversation.
    pub fn tools_of_job(&self) -> ToolSet {
        let Instructions { agents, second_reader, verify, .. } = &self.instructions;
        let sometimes = [
            (Tool::ViewPage, self.sees),
            (Tool::QueryTables, self.has_tables),
            (Tool::Delegate, !agents.is_empty()),
            (Tool::SettleFinding, second_reader.is_some() || verify.is_some()),
        ];
        let more: Vec<Tool> = sometimes.into_iter().filter(|(_, is_used)| *is_used).map(|(tool, _)| tool).collect();
        ToolSet::of_job(&more)
    }

    /// The model that the job began with.
    pub fn choice(&self) -> ModelChoice {
        let (base_url, api_key_env) = (self.base_url.clone(), self.api_key_env.clone());
        ModelChoice { model: self.model.clone(), base_url, api_key_env }
    }

    /// Estimated tokens of all documents' text.
    pub fn document_tokens(&self) -> u64 {
        self.documents.iter().map(|document| document.tokens).sum()
    }

    /// The document of that name.
    pub fn document(&self, name: &str) -> Option<&DocumentEntry> {
        // Most are sorted by name; others are searched from their beginning.
        let place = self.documents.binary_search_by(|document| document.name.as_str().cmp(name)).ok();
        let sorted = place.and_then(|place| self.documents.get(place));
        sorted.or_else(|| self.documents.iter().find(|document| document.name == name))
    }

    /// The document that is meant by a name, or a path under `documents/`, written by hand: with composed letters,
    /// plain apostrophes, quotation marks and dashes, and single blanks. `None` also if it fits two documents.
    pub fn named(&self, name: &str) -> Option<&DocumentEntry> {
        let plain = name.trim().trim_start_matches("./");
        let plain = plain.strip_prefix("documents/").unwrap_or(plain);
        // The exact name comes first: a name may begin or end with a blank.
        self.document(name).or_else(|| self.document(plain)).or_else(|| {
            let folded = fold_name(plain);
            let mut meant = self.documents.iter().filter(|document| fold_name(&document.name) == folded);
            meant.next().filter(|_| meant.next().is_none())
        })
    }
}
