//! A model that is handed its calls and answers later.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use async_trait::async_trait;
use overnight::model::{
    Failure, Model, Request,
    later::{AnswerFacts, LaterAnswer, LaterAnswers, LaterCall, TakenCall},
};
use overnight_core::message::{Prompt, Reply, Usage};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// Answers what another model answers.
#[derive(Debug)]
pub(crate) struct Later {
    inner: Arc<dyn Model>,
    /// By the handle.
    calls: Mutex<BTreeMap<String, LaterAnswer>>,
    /// Whether answers come at all.
    pub(crate) answers: AtomicBool,
    /// Calls that were taken: what was handed in before is not among them.
    pub(crate) taken: AtomicUsize,
    pub(crate) within: Duration,
}

impl Later {
    pub(crate) fn new(inner: Arc<dyn Model>) -> Self {
        Self {
            inner,
            calls: Mutex::default(),
            answers: AtomicBool::new(true),
            taken: AtomicUsize::new(0),
            within: Duration::from_hours(24),
        }
    }
}

#[async_trait]
impl Model for Later {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn window_tokens(&self) -> u64 {
        self.inner.window_tokens()
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        self.inner.reply(request).await
    }

    fn later(&self) -> Option<&dyn LaterAnswers> {
        Some(self)
    }

    fn cost(&self, usage: &Usage) -> Option<f64> {
        self.inner.cost(usage)
    }
}

#[async_trait]
impl LaterAnswers for Later {
    async fn submit(&self, call: LaterCall<'_>) -> Result<TakenCall, Failure> {
        let LaterCall { key, request, .. } = call;
        let handle = format!("handed-in:{key}");
        let is_known = self.calls.lock().unwrap().contains_key(&handle);
        if !is_known {
            let answer = match self.inner.reply(request).await {
                Ok(reply) => LaterAnswer::Replied(Box::new(reply), AnswerFacts::default()),
                Err(failure) => LaterAnswer::Failed(failure),
            };
            self.taken.fetch_add(1, Ordering::Relaxed);
            self.calls.lock().unwrap().insert(handle.clone(), answer);
        }
        Ok(TakenCall { handle, within: self.within })
    }

    async fn ended(&self, handles: &[String]) -> Result<BTreeSet<String>, Failure> {
        let come = self.answers.load(Ordering::Relaxed);
        Ok(handles.iter().filter(|_| come).cloned().collect())
    }

    async fn answer(&self, handle: &str, _: &Prompt) -> Result<LaterAnswer, Failure> {
        let answer = self.calls.lock().unwrap()[handle].clone();
        Ok(if self.answers.load(Ordering::Relaxed) { answer } else { LaterAnswer::Pending })
    }

    fn every(&self) -> Duration {
        Duration::ZERO
    }
}
