//! A model at the tier `batch`: its calls are submitted, and answered within hours.

use super::{
    RemoteModel, batch,
    batch::{BatchHttp, Gathering},
    understood::bytes,
    wire::{OutgoingRequest, WireRequest},
};
use crate::{
    model::{
        Failure, FailureKind, Model, Request,
        later::{AnswerFacts, LaterAnswer, LaterAnswers, LaterCall, TakenCall},
        table::Quirks,
    },
    store::{AnsweredCall, HandedEnd, HandedState},
};
use async_trait::async_trait;
use overnight_core::{
    job::{digest::sha256, models::Tier},
    message::{Message, Prompt, Reply},
    tokens::estimate,
};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc, time::Duration};

/// After this many failed attempts at a turn, the call is made live.
const MOST_FAILED: u32 = 2;
/// The polling interval if no calls are submitted.
const NEVER: Duration = Duration::from_hours(1);

impl RemoteModel {
    /// The post office; exists for every model that answers later.
    fn post_office(&self) -> Result<&batch::PostOffice, Failure> {
        let none = || Failure::new(FailureKind::Unanswered, "this model's calls are answered at once");
        self.post_office.as_ref().ok_or_else(none)
    }

    fn batch_http(&self) -> BatchHttp<'_> {
        let mut headers = super::remote_model::header_map(&self.live_call().headers);
        headers.extend(self.headers.clone());
        BatchHttp {
            address: &self.address,
            headers,
            secrets: &self.secrets,
            errors: self.error_messages(),
            wire: self.wire.as_ref(),
            model: &self.model,
        }
    }

    /// An empty call that is answered immediately.
    fn live_call(&self) -> OutgoingRequest {
        let prompt = Prompt::new(Arc::default(), []);
        let quirks = Quirks { streams: false, ..self.quirks.clone() };
        self.wire.outgoing(&WireRequest { prompt: &prompt, model: &self.model, quirks: &quirks })
    }

    /// Sends a primer and returns its cost.
    async fn prime(&self, body: Value) -> Result<Option<f64>, Failure> {
        let reply = self.batch_http().post(&self.live_call().path, Some(body.to_string().into_bytes())).await?;
        let mut decoder = self.wire.decoder();
        let heard = decoder.whole(&reply.to_string()).and_then(|()| decoder.finish());
        let usage = heard.ok().and_then(|heard| heard.usage);
        // At the standard tier it costs the batch price without the discount.
        let share = self.share(Tier::Batch).filter(|share| *share > 0.0);
        Ok(usage.and_then(|usage| self.cost(&usage)).zip(share).map(|(usd, share)| usd / share))
    }

    /// Reads a reply from a batch.
    fn of_batch(&self, body: &str, prompt: &Prompt) -> Result<Reply, Failure> {
        let mut decoder = self.wire.decoder();
        decoder.whole(&self.secrets.hide(body))?;
        let mut heard = decoder.finish()?;
        heard.join_halves();
        let reply = self.understood(heard, prompt, self.quirks.output_tokens, Vec::new())?;
        Ok(Reply { tier: Some(Tier::Batch), ..reply })
    }
}

#[async_trait]
impl LaterAnswers for RemoteModel {
    /// A late turn with a long history is cheaper live, as the provider's cache holds its history: with H tokens of
    /// history, N new ones and O of the reply, in units of one input token, a batch that finds nothing in the cache
    /// costs 0.5 (H + N) + 2.5 O, and a live call 0.1 H + 1.25 N + 5 O. A call that has failed twice is made live, too.
    fn is_worth(&self, call: &LaterCall<'_>) -> bool {
        let LaterCall { request: Request { prompt, .. }, output_tokens, attempts, .. } = call;
        let images: u64 = prompt.image_bytes.values().map(|bytes| bytes.len() as u64 * 4 / 3).sum();
        let most = self.post_office.as_ref().map_or(0, batch::PostOffice::most_bytes);
        if attempts.unanswered > 0 || attempts.failed >= MOST_FAILED || bytes(prompt) + images > most {
            return false;
        }
        let (history, new) = history_and_new(prompt);
        #[expect(clippy::cast_precision_loss, reason = "no prompt has so many tokens that it matters")]
        let [history, new, output] = [history, new, *output_tokens].map(|tokens| tokens as f64);
        history < 1.9 * new + 6.25 * output
    }

    async fn submit(&self, call: LaterCall<'_>) -> Result<TakenCall, Failure> {
        let post_office = self.post_office()?;
        let prompt = call.request.prompt;
        let body = self.wire.outgoing(&WireRequest { prompt, model: &self.model, quirks: &self.quirks }).body;
        let system = prompt.messages().find_map(|message| match message {
            Message::System { text } => Some(text.as_str()),
            Message::User { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
        });
        let system = system.unwrap_or_default();
        let tools: Vec<String> = prompt.tools.iter().map(|tool| tool.parameters.to_string()).collect();
        let tools = tools.join("\n");
        let gathering = Gathering {
            key: call.key.to_owned(),
            job: call.job,
            prefix: sha256(format!("{system}\n{tools}").as_bytes())[..16].to_owned(),
            prefix_tokens: estimate(system) + estimate(&tools),
            tokens: crate::model::scripted::prompt_tokens(prompt) + call.output_tokens,
            until: call.until,
            body,
        };
        post_office.hand_in(gathering).await?;
        Ok(TakenCall { handle: call.key.to_owned(), within: post_office.within(call.until) })
    }

    async fn ended(&self, handles: &[String]) -> Result<BTreeSet<String>, Failure> {
        let post_office = self.post_office()?;
        let http = self.batch_http();
        let tended = post_office.tend(&http, &|body| Box::pin(self.prime(body))).await;
        let ended = post_office.ended(handles).await?;
        // Calls that have ended are reported, even if other checks fail now.
        if ended.is_empty() { tended.map(|()| ended) } else { Ok(ended) }
    }

    async fn answer(&self, handle: &str, prompt: &Prompt) -> Result<LaterAnswer, Failure> {
        Ok(match self.post_office()?.state(handle).await? {
            HandedState::Waiting => LaterAnswer::Pending,
            HandedState::Unknown => LaterAnswer::Failed(Failure::new(
                FailureKind::Unanswered,
                format!("the call {handle}, which was handed in, is not known any more"),
            )),
            HandedState::Ended(AnsweredCall { end: HandedEnd::Failed(why), .. }) => {
                LaterAnswer::Failed(batch::failure(why))
            }
            HandedState::Ended(AnsweredCall { end: HandedEnd::Replied(body), batch, primer_usd }) => {
                match self.of_batch(&body, prompt) {
                    Ok(reply) => LaterAnswer::Replied(Box::new(reply), AnswerFacts { batch, primer_usd }),
                    Err(failure) => LaterAnswer::Failed(failure),
                }
            }
        })
    }

    async fn forget(&self, handles: &[String]) -> Result<(), Failure> {
        self.post_office()?.forget(handles).await
    }

    async fn withdraw(&self) -> Result<(), Failure> {
        self.post_office()?.withdraw(&self.batch_http()).await
    }

    fn every(&self) -> Duration {
        self.post_office.as_ref().map_or(NEVER, batch::PostOffice::every)
    }
}

/// Tokens up to and including the newest reply, with everything before the messages; and tokens after it.
fn history_and_new(prompt: &Prompt) -> (u64, u64) {
    let messages: Vec<&Message> = prompt.messages().collect();
    let replied = messages.iter().rposition(|message| matches!(message, Message::Assistant { .. }));
    let all = crate::model::scripted::prompt_tokens(prompt);
    let Some(replied) = replied else { return (0, all) };
    let new = messages[replied + 1..].iter().map(|message| match message {
        Message::System { text }
        | Message::User { text, .. }
        | Message::Tool { text, .. }
        | Message::Assistant { text, .. } => estimate(text),
    });
    let images = prompt.images().map(|image| image.tokens).sum::<u64>();
    let new: u64 = new.sum::<u64>() + images.min(all);
    (all.saturating_sub(new), new)
}
