//! What the prompt costs and how it is kept small (SPEC: the context): folding, masking, folded turns, bounds.

use super::world::*;
use overnight::{
    context::{
        catalogue::catalogue,
        compact::{local_tokens, tools_tokens},
        compose,
    },
    job::{event::Event, state::MEMORY_FILE},
};
use serde_json::json;

/// What every prompt costs before anything is said, at four bytes a token.
#[test]
fn the_fixed_part_is_small() {
    let tools: usize = catalogue().iter().map(|tool| serde_json::to_string(tool).unwrap().len()).sum();
    let system = compose::system_prompt().len();
    let tokens = (tools + system).div_ceil(4);
    println!("tools {} + system {} = {tokens} tokens; as counted: tools {}", tools / 4, system / 4, tools_tokens());
    assert!(tokens < 2_600, "{tokens} tokens");
}
