//! Replays the replies recorded in a journal, turn by turn, without cost.

use super::{Failure, Model, ModelError, Request, rules};
use async_trait::async_trait;
use overnight_core::message::{Reply, Usage};
use std::collections::{BTreeMap, BTreeSet};

/// A model that repeats a job's replies.
#[derive(Debug)]
pub struct Replay {
    name: String,
    job: String,
    /// The replies of each conversation, in the order of its turns.
    replies: BTreeMap<u32, Vec<Reply>>,
    /// Whether the job's model took images.
    sees: bool,
    /// The SHA-256 of the job's documents.
    documents: BTreeSet<String>,
}

impl Replay {
    /// `replies` of each conversation, in the order of its turns; the SHA-256 of the `documents` that they are about.
    pub fn new(job: String, replies: BTreeMap<u32, Vec<Reply>>, sees: bool, documents: BTreeSet<String>) -> Self {
        Self { name: format!("replay:{job}"), job, replies, sees, documents }
    }
}

#[async_trait]
impl Model for Replay {
    fn name(&self) -> &str {
        &self.name
    }

    fn window_tokens(&self) -> u64 {
        1_000_000
    }

    fn image_tokens(&self, width: u32, height: u32) -> Option<u64> {
        self.sees.then(|| (u64::from(width) * u64::from(height)).div_ceil(750))
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        let replies = self.replies.get(&request.conversation).map_or(&[][..], Vec::as_slice);
        let place = usize::try_from(request.turn_of_conversation).ok().and_then(|turn| turn.checked_sub(1));
        place.and_then(|place| replies.get(place)).cloned().ok_or_else(|| {
            let (replies, turn) = (replies.len() as u64, request.turn_of_conversation);
            ModelError::ReplayEnded { job: self.job.clone(), replies, turn }.into()
        })
    }

    fn recorded_documents(&self) -> Option<&BTreeSet<String>> {
        Some(&self.documents)
    }

    fn is_rules(&self) -> bool {
        self.replies.values().flatten().all(|reply| reply.model == rules::NAME)
    }

    fn cost(&self, _usage: &Usage) -> Option<f64> {
        Some(0.0)
    }
}
