//! Several conversations of one job at work at once: how many are asked together, and that the order of their answers changes
//! nothing of what is left.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::{
    scenarios::{
        case::{self, Scenario},
        ground::Ground,
        play,
        tree::Tree,
    },
    support::wait,
};
use async_trait::async_trait;
use overnight::model::{Failure, Model, Request};
use overnight_core::message::{Reply, Usage};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

/// Turns of the runtime that a reply waits for others; then it comes alone.
const PATIENCE: usize = 10_000;

/// A model whose sub-agents' replies wait until so many are asked for, and then come in another order each time.
#[derive(Debug)]
struct Gate {
    inner: Arc<dyn Model>,
    /// As many calls as are let through together.
    wide: usize,
    /// Conversations that are asked now.
    asked: Mutex<Vec<u32>>,
    /// The most that were asked at once.
    most: AtomicUsize,
    /// By which the order is drawn.
    seed: usize,
}

impl Gate {
    fn new(inner: Arc<dyn Model>, wide: usize, seed: usize) -> Self {
        Self { inner, wide, asked: Mutex::default(), most: AtomicUsize::new(0), seed }
    }

    /// Whether it is this conversation's turn among those that are asked.
    fn opens_for(&self, conversation: u32) -> bool {
        let asked = self.asked.lock().unwrap();
        let drawn = |one: u32| (one as usize).wrapping_mul(2 * self.seed + 1) % 7;
        asked.len() >= self.wide && asked.iter().all(|one| drawn(conversation) <= drawn(*one))
    }
}

/// A call that is made now.
struct Place<'g>(&'g Gate, u32);

impl<'g> Place<'g> {
    fn of(gate: &'g Gate, conversation: u32) -> Self {
        let mut asked = gate.asked.lock().unwrap();
        asked.push(conversation);
        gate.most.fetch_max(asked.len(), Ordering::Relaxed);
        Self(gate, conversation)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.asked.lock().unwrap().retain(|one| *one != self.1);
    }
}

#[async_trait]
impl Model for Gate {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn window_tokens(&self) -> u64 {
        self.inner.window_tokens()
    }

    async fn reply(&self, request: Request<'_>) -> Result<Reply, Failure> {
        let conversation = request.conversation;
        if conversation > 0 {
            let _place = Place::of(self, conversation);
            for _ in 0..PATIENCE {
                if self.opens_for(conversation) {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        self.inner.reply(request).await
    }

    fn cost(&self, usage: &Usage) -> Option<f64> {
        self.inner.cost(usage)
    }
}

/// What a job left, but for its journal and what tells of times and of the number of a turn.
async fn left(scenario: &Scenario) -> Tree {
    let ground = Ground::new().await;
    let path = ground.begin(scenario).unwrap();
    play::play(scenario, 0, &*ground.store, &path, &mut |_| {}).await.unwrap();
    assert_eq!(ground.faults(&path).await.unwrap(), "");
    let mut left = Tree::read(&path, None);
    left.0.retain(|path, _| path.starts_with("output/") || path.starts_with("helpers/") || path == "main_plan.md");
    left
}

fn five_sub_agents() -> Scenario {
    case::all().into_iter().map(Result::unwrap).find(|scenario| scenario.name.starts_with("064")).unwrap()
}

#[test]
fn as_many_sub_agents_as_the_instructions_say_are_asked_at_once_and_no_more() {
    for (line, most) in [("", 4), ("parallel: 1\n", 1), ("parallel: 3\n", 3), ("parallel: 9\n", 5)] {
        let mut scenario = five_sub_agents();
        for (_, text) in scenario.given.iter_mut().filter(|(name, _)| name == "instructions.md") {
            *text = text.replace("name: stations\n", &format!("name: stations\n{line}"));
        }
        let gate = Arc::new(Gate::new(scenario.model.clone(), most, 0));
        scenario.model = gate.clone();
        wait(left(&scenario));
        assert_eq!(gate.most.load(Ordering::Relaxed), most, "{line}");
    }
}

#[test]
fn sub_agents_may_answer_in_any_order() {
    let mut scenario = five_sub_agents();
    let scripted = scenario.model.clone();
    let mut of = |wide, seed| {
        scenario.model = Arc::new(Gate::new(scripted.clone(), wide, seed));
        wait(left(&scenario))
    };
    let expected = of(1, 0);
    assert!(expected.0.contains_key("helpers/2/pump.md"), "{expected:?}");
    for seed in 0..12 {
        assert_eq!(of(2 + seed % 3, seed), expected, "seed {seed}");
    }
}
