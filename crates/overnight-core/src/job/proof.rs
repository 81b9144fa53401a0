//! How far it is proved that nothing is missing: the second reading, the verifier's verdicts, and the findings of both.

use super::{
    comparison::Comparison,
    finding::{Finding, FindingCounts, Settled, Settlement},
    read_unit::ReadUnit,
    spec::JobSpec,
    time::Timestamp,
};
use crate::amount::{grouped, percent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rounds of the verifier.
pub const VERIFIER_ROUNDS: usize = 2;

/// What second reader and verifier have found so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proof {
    /// None before it begins.
    pub reading: Option<SecondReading>,
    /// The verifier's, oldest first.
    pub verdicts: Vec<GivenVerdict>,
    /// Verdicts on results that a person has sent back since.
    pub sent_back: usize,
    /// Of both, in the order in which they were found.
    pub findings: Vec<Finding>,
}

/// The second reading as it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondReading {
    /// By which the parts were drawn.
    pub seed: u64,
    /// Parts that are still to be read, in order.
    pub queue: Vec<ReadUnit>,
    /// Parts that were read.
    pub read: Vec<ReadUnit>,
    /// Parts that one reader is given at most.
    pub most_units: usize,
    /// Parts that were given up.
    pub unread: Vec<ReadUnit>,
    /// The lists of the second readers, which may not exist: the reader's number, the path, and the parts that it was given.
    pub files: Vec<(u32, String, Vec<ReadUnit>)>,
    /// None before both lists were compared.
    pub comparison: Option<Comparison>,
}

/// What a verifier said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The result is what was asked for.
    Accept,
    /// It isn't.
    Reject,
    /// It came to none.
    None,
}

impl Verdict {
    /// In a word or two.
    pub fn told(self) -> &'static str {
        match self {
            Self::Accept => "accepted",
            Self::Reject => "rejected",
            Self::None => "no verdict",
        }
    }
}

/// A verdict, with its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenVerdict {
    /// From 1.
    pub round: u32,
    /// What it was.
    pub verdict: Verdict,
}

/// What an ending says of all this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProofResult {
    /// None where nothing was read twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<ReadingResult>,
    /// None where there was no verifier.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<GivenVerdict>,
    /// Of the verifier's findings.
    pub verifier_findings: FindingCounts,
}

/// The second reading, as a result tells of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadingResult {
    /// By which the parts were drawn.
    pub seed: u64,
    /// Share of the documents' text that was read twice, 0 to 1, by its tokens.
    pub share: f64,
    /// Both lists, as they were before either was seen by the other.
    pub comparison: Comparison,
    /// What became of what only one had.
    pub findings: FindingCounts,
}

impl SecondReading {
    pub(crate) fn new(seed: u64, queue: Vec<ReadUnit>) -> Self {
        Self {
            seed,
            queue,
            most_units: usize::MAX,
            read: Vec::new(),
            unread: Vec::new(),
            files: Vec::new(),
            comparison: None,
        }
    }

    /// A second reader has begun: its parts are taken.
    pub(crate) fn on_sub_agent_started(&mut self, units: &[ReadUnit]) {
        self.queue.retain(|unit| !units.contains(unit));
    }

    /// A second reader has ended. Its list is taken where it was shown anything, and what it was not shown (`rest`) is to be read by
    /// the next one. Who was shown nothing is followed by one with half of it, and a part that is not shown alone is given up.
    /// Readers may end in any order: it comes to the same.
    pub(crate) fn on_sub_agent_ended(
        &mut self,
        list: (u32, String, Vec<ReadUnit>),
        read: Vec<ReadUnit>,
        rest: Vec<ReadUnit>,
        spec: &JobSpec,
    ) {
        if read.is_empty() && rest.len() > 1 {
            // Perhaps it was too much at once.
            self.most_units = self.most_units.min(rest.len() / 2);
            self.queue.extend(rest);
        } else if read.is_empty() {
            self.unread.extend(rest);
        } else {
            self.queue.extend(rest);
            self.files.push(list);
        }
        self.read.extend(read);
        let order = |unit: &ReadUnit| {
            let document = spec.documents.iter().position(|document| document.name == unit.document);
            (document, unit.from)
        };
        for units in [&mut self.queue, &mut self.unread, &mut self.read] {
            units.sort_by_key(order);
        }
        self.files.sort_by_key(|(number, ..)| *number);
    }
}

impl Proof {
    /// The finding of that name.
    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.id == id)
    }

    pub(crate) fn settle(&mut self, id: &str, settlement: &Settlement, by: &str, at: Timestamp) {
        if let Some(finding) = self.findings.iter_mut().find(|finding| finding.id == id) {
            finding.settled = Some(Settled { settlement: settlement.clone(), by: by.to_owned(), at });
        }
    }

    /// Whether the present result was accepted, or rejected as often as it may be.
    pub fn is_judged(&self) -> bool {
        let present = self.verdicts.get(self.sent_back..).unwrap_or_default();
        present.len() >= VERIFIER_ROUNDS || present.last().is_some_and(|last| last.verdict == Verdict::Accept)
    }

    /// Findings that nobody has settled.
    pub fn open(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.settled.is_none())
    }

    /// Open findings of the second reading, and of the verifier.
    pub fn open_counts(&self) -> (u64, u64) {
        let verifiers = self.open().filter(|finding| finding.kind.is_verifiers()).count() as u64;
        (self.open().count() as u64 - verifiers, verifiers)
    }

    /// `findings.jsonl`.
    pub fn file(&self) -> String {
        // A finding is a plain tree of texts and numbers: writing it can't fail.
        let lines = self.findings.iter().filter_map(|finding| serde_json::to_string(finding).ok());
        lines.map(|line| line + "\n").collect()
    }
}

impl ProofResult {
    /// For people: what was read twice, how many records there are, what is open.
    pub fn told(&self) -> String {
        let mut parts = Vec::new();
        if let Some(reading) = &self.reading {
            let (found, all) = (&reading.findings, &reading.comparison);
            parts.push(format!(
                "{} of the documents' text was read twice, the second time blind: {} records in both lists, {} only in one{}; {}; of the findings {} added, {} dropped, {} explained, {} open",
                percent(reading.share),
                grouped(all.both),
                grouped(all.first + all.second - 2 * all.both),
                all.unmatched(),
                all.estimated(),
                found.added,
                found.dropped,
                found.explained,
                found.open
            ));
        }
        if let Some(last) = self.verdicts.last() {
            let verdict = match last.verdict {
                Verdict::Accept => "accepted",
                Verdict::Reject => "rejected",
                Verdict::None => "gave no verdict on",
            };
            parts.push(format!(
                "the verifier {verdict} the result in round {}, {} of its findings are open",
                last.round, self.verifier_findings.open
            ));
        }
        parts.join("; ")
    }
}
