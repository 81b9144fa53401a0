//! What a probe finds out about a server that was down, besides that it answers.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    store::listed,
    support::{Place, shipped, wait},
};
use async_trait::async_trait;
use overnight::{
    model::{
        Model, Request,
        endpoint::{Endpoint, RateLimits},
    },
    runner::RunError,
};
use overnight_core::{
    job::{
        failure::{Failure, FailureKind},
        record::{HoldReason, JobStatus},
    },
    message::{Reply, Usage},
};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

/// A model whose attempts fail in this order; the last again and again.
#[derive(Debug)]
struct Failing {
    endpoint: Arc<Endpoint>,
    kinds: Mutex<VecDeque<FailureKind>>,
}

#[async_trait]
impl Model for Failing {
    fn name(&self) -> &'static str {
        "openai:failing"
    }

    fn window_tokens(&self) -> u64 {
        100_000
    }

    async fn reply(&self, _request: Request<'_>) -> Result<Reply, Failure> {
        let mut kinds = self.kinds.lock().unwrap();
        let kind = if kinds.len() > 1 { kinds.pop_front() } else { kinds.front().copied() };
        Err(Failure::new(kind.unwrap(), "the server says so").with_status(500))
    }

    fn endpoint(&self) -> Option<&Arc<Endpoint>> {
        Some(&self.endpoint)
    }

    fn cost(&self, _usage: &Usage) -> Option<f64> {
        None
    }
}

#[test]
fn a_key_that_is_refused_when_the_server_is_back_holds_the_job_for_a_person() {
    let mut kinds = VecDeque::from([FailureKind::Server; 5]);
    kinds.push_back(FailureKind::KeyRefused);
    let endpoint = Endpoint::new("http://failing".to_owned(), RateLimits::default());
    let model: Arc<dyn Model> = Arc::new(Failing { endpoint, kinds: Mutex::new(kinds) });
    wait(async {
        let place = Place::new().await;
        let documents = place.folder.path().join("documents");
        std::fs::create_dir_all(&documents).unwrap();
        std::fs::write(documents.join("a.md"), "# A\n\nA clerk MUST sign.\n").unwrap();
        let (instructions, text) = shipped("extract-requirements");
        let path = place.make(instructions, &text, &[documents], &model);
        let error = place.try_resume(&path, model, None).await.map(|rested| rested.outcome).unwrap_err();
        assert!(matches!(&error, RunError::Configuration(reason) if reason == "the server says so"), "{error}");
        let row = listed(place.store.as_ref(), &overnight::store::JobFilter::default()).await.remove(0);
        assert_eq!((row.state.status, row.state.hold_reason), (JobStatus::Held, Some(HoldReason::Paused)));
        assert_eq!(row.state.reason.as_deref(), Some("the server says so"));
    });
}
