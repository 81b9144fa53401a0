//! The evidence that nothing is missing: the second reading, the verifier's verdicts, and the findings of both.

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

/// The results of second reader and verifier so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proof {
    /// The second reading; `None` before it begins.
    pub reading: Option<SecondReading>,
    /// The verifier's verdicts, oldest first.
    pub verdicts: Vec<GivenVerdict>,
    /// The number of verdicts on results that a person has sent back since.
    pub sent_back: usize,
    /// The findings of both, in the order in which they were found.
    pub findings: Vec<Finding>,
}

/// The second reading as it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondReading {
    /// The seed with which the parts were drawn.
    pub seed: u64,
    /// Parts that are still to be read, in order.
    pub queue: Vec<ReadUnit>,
    /// Parts that were read.
    pub read: Vec<ReadUnit>,
    /// Parts that one reader is given at most.
    pub most_units: usize,
    /// Parts that were given up.
    pub unread: Vec<ReadUnit>,
    /// Lists of the second readers, which may not exist: the reader's number, the path, and the reader's parts.
    pub files: Vec<(u32, String, Vec<ReadUnit>)>,
    /// The comparison; `None` before both lists are compared.
    pub comparison: Option<Comparison>,
}

/// The verdict of a verifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The result is what was asked for.
    Accept,
    /// The result isn't what was asked for.
    Reject,
    /// The verifier came to no verdict.
    None,
}

impl Verdict {
    /// The verdict in a word or two.
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
    /// The round, from 1.
    pub round: u32,
    /// The verdict.
    pub verdict: Verdict,
}

/// The second reading and the verdicts, as an ending reports them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProofResult {
    /// The second reading; `None` if nothing was read twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<ReadingResult>,
    /// The verdicts; empty if there was no verifier.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<GivenVerdict>,
    /// The counts of the verifier's findings.
    pub verifier_findings: FindingCounts,
}

/// The second reading, as a result reports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadingResult {
    /// The seed with which the parts were drawn.
    pub seed: u64,
    /// Share of the documents' text that was read twice, 0 to 1, by its tokens.
    pub share: f64,
    /// The comparison of both lists, made before either reader saw the other's.
    pub comparison: Comparison,
    /// The counts of the findings on records that only one reader had.
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

    /// A second reader has ended. Its list counts if it was shown anything; the parts that it was not shown (`rest`) go
    /// to the next reader. A reader that was shown nothing is followed by readers with half as many parts; a single
    /// part that is not shown is given up. The order in which readers end makes no difference.
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
    /// The finding with this id.
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

    /// The content of `findings.jsonl`.
    pub fn file(&self) -> String {
        // A finding is a plain tree of texts and numbers: writing it can't fail.
        let lines = self.findings.iter().filter_map(|finding| serde_json::to_string(finding).ok());
        lines.map(|line| line + "\n").collect()
    }
}

impl ProofResult {
    /// A summary for people: the share that was read twice, the number of records, the open findings.
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
