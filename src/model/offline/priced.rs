//! The offline model with a price from the table of models: so that budgets can be tried where nothing costs anything.

use super::Offline;
use crate::{
    context::message::{Reply, Usage},
    model::{Failure, Model, Request, table::Price},
};
use async_trait::async_trait;

/// [`Offline`], whose tokens, as it estimates them, cost something.
#[derive(Debug)]
pub struct Priced(pub Price);

#[async_trait]
impl Model for Priced {
    fn name(&self) -> &str {
        Offline.name()
    }

    fn window_tokens(&self) -> u64 {
        Offline.window_tokens()
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        Offline.reply(request).await
    }

    /// Of documents with a few hundred statements. Those of larger ones are longer, and can overrun a batch's budget by a call.
    fn most_output(&self) -> Option<u64> {
        Some(4_096)
    }

    fn cost(&self, usage: &Usage) -> Option<f64> {
        Some(self.0.cost(usage))
    }
}
