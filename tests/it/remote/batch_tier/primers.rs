//! Many calls that begin alike go to the vendor behind a short request that fills its cache with their beginning.

use super::{Batching, Night, PRIMER, Place, Setup, Tier, completed, with_each_vendor};
use async_trait::async_trait;
use overnight::model::{Failure, Model, Request};
use overnight_core::message::{Message, Reply, Usage};
use std::sync::Arc;

/// Does what a primer asks for, and leaves everything else to the usual model.
#[derive(Debug)]
struct Obedient(Arc<dyn Model>);

#[async_trait]
impl Model for Obedient {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn window_tokens(&self) -> u64 {
        self.0.window_tokens()
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        let is_primer =
            request.prompt.messages().any(|message| matches!(message, Message::User { text, .. } if text == PRIMER));
        let reply = self.0.reply(request).await?;
        Ok(if is_primer { Reply { text: "OK".to_owned(), calls: Vec::new(), ..reply } } else { reply })
    }

    fn cost(&self, usage: &Usage) -> Option<f64> {
        self.0.cost(usage)
    }
}

/// One for six calls; its cost stands with that of the first of them.
#[tokio::test]
async fn many_calls_are_primed_once() {
    with_each_vendor(async |format| {
        let model = Arc::new(Obedient(Setup::default().model));
        let setup = Setup { model, batching: Some(Batching::default()), ..Setup::default() };
        let night = Night::new(Place::sqlite(), format, setup).await;
        let documents: Vec<(String, String)> = (0..6)
            .map(|number| {
                (format!("{number}.md"), format!("# Part {number}\n\nDoor {number} MUST be shut at night.\n"))
            })
            .collect();
        let documents: Vec<(&str, &str)> =
            documents.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        night.submit_all(&documents, None).await;
        night.gather().await;
        assert_eq!(night.desk.work(Tier::Batch).await, completed(6));
        let replies = night.ended_well().await;
        let counts = night.server.batches();
        assert_eq!(counts.created.first(), Some(&6));
        let primers = counts.live.iter().filter(|(call, _)| call.contains(PRIMER)).map(|(_, times)| times).sum::<u64>();
        let primed = replies.values().flatten().filter(|reply| reply.is_primed).count() as u64;
        let primed_first = replies.values().filter(|replies| replies[0].is_primed).count();
        assert_eq!((primed, primed_first), (primers, 1), "{counts:#?}");
    })
    .await;
}
