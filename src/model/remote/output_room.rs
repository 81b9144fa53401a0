//! The number of tokens that a reply may have. The table of models states it; a server with a smaller window than the
//! table states refuses prompt and reply together, although a shorter reply would fit, or cuts the reply off at the
//! window's end. Then the reply is shortened first; the prompt is too long only if that leaves no useful room.

use crate::model::FailureKind;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A reply with fewer tokens is not worth a call.
const LEAST: u64 = 256;
/// A reply cut off within the first eighth of the usual length may have met the window's end.
const EIGHTH: u64 = 8;
/// Smaller numbers are not counts of tokens.
const LEAST_COUNT: u64 = 16;
/// Servers' names for the field, or for the limit that it sets, in their refusals.
const OUTPUT_WORDS: [&str; 7] = [
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_new_tokens",
    "maxoutputtokens",
    "in the output",
    "in the completion",
];
/// Words that state that a number is above the limit.
const BOUND_WORDS: [&str; 7] = ["too large", "at most", "maximum", "exceed", "less than", "<=", ">"];

/// Facts learnt about one model's server, shared by all jobs that call it.
#[derive(Debug, Default)]
pub(super) struct OutputRoom(Mutex<Learnt>);

#[derive(Debug, Default)]
struct Learnt {
    /// The window: tokens of prompt and reply in total.
    window: Option<u64>,
    /// Tokens of a prompt as counted by the server, and as estimated here.
    prompt: Option<(u64, u64)>,
    /// Tokens of a reply, whatever the prompt is.
    most: Option<u64>,
    /// Tokens of prompt and reply when the last reply was cut off.
    cut_at: Option<u64>,
}

/// A reply that was cut off.
#[derive(Clone, Copy, Debug)]
pub(super) struct CutReply {
    /// As counted by the server.
    pub(super) input: u64,
    pub(super) output: u64,
    /// The tokens that the request allowed.
    pub(super) allowed: u64,
    /// The tokens that the table allows.
    pub(super) usual: u64,
    /// The window of prompt and reply according to the table.
    pub(super) window: u64,
}

impl OutputRoom {
    fn learnt(&self) -> MutexGuard<'_, Learnt> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tokens that the next reply may have: `usual`, or the room left by a prompt of `estimated` tokens.
    pub(super) fn allowed(&self, usual: u64, estimated: u64) -> u64 {
        let learnt = self.learnt();
        let most = learnt.most.map_or(usual, |most| most.min(usual));
        let Some(window) = learnt.window else { return most };
        let (counted, local) = learnt.prompt.unwrap_or((1, 1));
        let prompt = estimated.saturating_mul(counted).div_ceil(local.max(1));
        most.min(room(window, prompt)).max(LEAST.min(most))
    }

    /// The tokens to allow after a refusal in these `words`, for a prompt of `estimated` tokens and a reply of
    /// `allowed`; `None` if a shorter reply doesn't help.
    pub(super) fn after_refusal(&self, kind: FailureKind, words: &str, allowed: u64, estimated: u64) -> Option<u64> {
        let lower = words.to_ascii_lowercase();
        let has = |said: &[&str]| said.iter().any(|word| lower.contains(word));
        // If the refusal concerns only the prompt, a shorter reply doesn't help.
        if !has(&OUTPUT_WORDS) {
            return None;
        }
        let mut learnt = self.learnt();
        let less = match kind {
            FailureKind::ContextLength => match stated(words, allowed) {
                Some((window, prompt)) => {
                    (learnt.window, learnt.prompt) = (Some(window), Some((prompt, estimated.max(1))));
                    room(window, prompt)
                }
                None => allowed / 4,
            },
            // More than the model ever gives, whatever the prompt is: the refusal names the limit.
            FailureKind::BadRequest if has(&BOUND_WORDS) => {
                let most = numbers(words).into_iter().filter(|number| *number < allowed).max()?;
                learnt.most = Some(most).filter(|most| *most >= LEAST);
                most
            }
            FailureKind::BadRequest
            | FailureKind::RateLimited
            | FailureKind::NoRoom
            | FailureKind::Unanswered
            | FailureKind::Overloaded
            | FailureKind::Server
            | FailureKind::TimedOut
            | FailureKind::Conflict
            | FailureKind::Stalled
            | FailureKind::Unreachable
            | FailureKind::BrokenStream
            | FailureKind::Unfinished
            | FailureKind::Malformed
            | FailureKind::HistoryRefused
            | FailureKind::KeyRefused
            | FailureKind::NotFound
            | FailureKind::QuotaUsed
            | FailureKind::Exhausted => return None,
        };
        Some(less).filter(|less| (LEAST..allowed).contains(less))
    }

    /// Whether a reply was cut off because the window was full, and not because it reached its own limit.
    pub(super) fn is_full(&self, cut: CutReply) -> bool {
        let CutReply { input, output, allowed, usual, window } = cut;
        let mut learnt = self.learnt();
        let total = input.saturating_add(output);
        let window = learnt.window.map_or(window, |learnt| learnt.min(window));
        let is_short = output.saturating_mul(EIGHTH) < usual;
        // Counts differ by a few tokens from the server's limit.
        let is_same_place = learnt.cut_at.is_some_and(|before| before.abs_diff(total) < LEAST_COUNT);
        let is_early = output.saturating_add(LEAST_COUNT) < allowed;
        let is_full = (is_short && (output < LEAST || allowed < usual))
            || (is_early && (total.saturating_add(window / 64) >= window || is_same_place));
        learnt.cut_at = Some(total);
        // Once may be chance; twice at the same place is the window's end.
        if is_full && is_early && is_same_place {
            learnt.window = Some(total);
        }
        is_full
    }
}

/// The room in a window after a prompt, with a margin, as counts are not always exact.
fn room(window: u64, prompt: u64) -> u64 {
    window.saturating_sub(prompt).saturating_sub(LEAST_COUNT + prompt / 64)
}

/// Window and prompt, from a refusal that names both: servers word it in a dozen ways, and all of them say numbers of which
/// the prompt with `allowed` is more than the window, and the prompt alone is less.
fn stated(words: &str, allowed: u64) -> Option<(u64, u64)> {
    let numbers = numbers(words);
    let has = |number: u64| numbers.contains(&number);
    let fits = |window: u64, prompt: u64| prompt < window && window < prompt.saturating_add(allowed);
    // If the sum of prompt and reply is named too, it identifies the prompt.
    let summed = numbers.iter().copied().filter(|one| *one != allowed && has(one.saturating_add(allowed))).max();
    let windows = |prompt: Option<u64>| {
        let pairs = numbers.iter().flat_map(|window| numbers.iter().map(|prompt| (*window, *prompt)));
        let pairs =
            pairs.filter(move |(window, other)| fits(*window, *other) && prompt.is_none_or(|one| one == *other));
        // The reply's own number is taken for the window only if no other can be it.
        pairs.max_by_key(|(window, prompt)| (*window != allowed, *prompt != allowed, *window, *prompt))
    };
    summed.and_then(|prompt| windows(Some(prompt))).or_else(|| windows(None))
}

/// The whole numbers in a text that may be counts of tokens, with or without commas or underscores between thousands.
fn numbers(words: &str) -> Vec<u64> {
    let mut found = Vec::new();
    let mut rest = words;
    while let Some(begin) = rest.find(|letter: char| letter.is_ascii_digit()) {
        rest = &rest[begin..];
        let mut end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let mut digits = rest[..end].to_owned();
        while let Some(more) = rest[end..].strip_prefix([',', '_']).and_then(|more| more.get(..3))
            && more.bytes().all(|byte| byte.is_ascii_digit())
            && !rest[end + 4..].starts_with(|letter: char| letter.is_ascii_digit())
        {
            digits.push_str(more);
            end += 4;
        }
        rest = &rest[end..];
        found.extend(digits.parse::<u64>().ok().filter(|number| (LEAST_COUNT..1_000_000_000).contains(number)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use FailureKind::{BadRequest, ContextLength};

    #[test]
    fn a_refusal_says_how_much_room_there_is() {
        for (words, allowed, expected) in [
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 32768. This model's maximum context length is 16384 tokens and your request has 3000 input tokens (32768 > 16384 - 3000).",
                32_768,
                Some((16_384, 3_000)),
            ),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your request has 3000 input tokens (8192 > 8192 - 3000).",
                8_192,
                Some((8_192, 3_000)),
            ),
            (
                "This endpoint's maximum context length is 16,384 tokens. However, you requested about 17,192 tokens (9,000 of text input, 0 of tool input, 8,192 in the output).",
                8_192,
                Some((16_384, 9_000)),
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 11192 tokens (3000 in the messages, 8192 in the completion).",
                8_192,
                Some((8_192, 3_000)),
            ),
            (
                "`inputs` tokens + `max_new_tokens` must be <= 16384. Given: 9000 `inputs` tokens and 8192 `max_new_tokens`",
                8_192,
                Some((16_384, 9_000)),
            ),
            (
                "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
                21_333,
                Some((200_000, 188_240)),
            ),
            ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 32_768, None),
            ("Range of input length should be [1, 30720]", 8_192, None),
            ("prompt is too long: 210000 tokens > 200000 maximum", 8_192, None),
            ("the request exceeds the available context size", 8_192, None),
        ] {
            assert_eq!(stated(words, allowed), expected, "{words}");
        }
    }

    #[test]
    fn a_reply_is_shortened_before_a_prompt() {
        let vllm = "'max_tokens' is too large: maximum context length is 16384 tokens and your request has 10000 input tokens (8192 > 16384 - 10000)";
        let room = OutputRoom::default();
        assert_eq!(room.allowed(8_192, 9_000), 8_192);
        // Exceeded by 1808 tokens; the size of another prompt is scaled from that one.
        assert_eq!(room.after_refusal(ContextLength, vllm, 8_192, 8_000), Some(6_212));
        assert_eq!([8_000, 4_000, 12_800, 20_000].map(|prompt| room.allowed(8_192, prompt)), [6_212, 8_192, 256, 256]);
        for (kind, words, allowed, expected) in [
            (ContextLength, "the context is full: lower max_tokens", 8_192, Some(2_048)),
            (ContextLength, "the context is full: lower max_tokens", 900, None),
            (ContextLength, "the prompt is too long", 8_192, None),
            (ContextLength, "has 16000 input tokens of 16384, with 8192", 8_192, None),
            (
                BadRequest,
                "max_tokens is too large: 32768. This model supports at most 16384 completion tokens",
                32_768,
                Some(16_384),
            ),
            (BadRequest, "max_tokens: 8192 > 4096, which is the maximum", 8_192, Some(4_096)),
            (BadRequest, "tools.3: wrong, 400", 8_192, None),
            (FailureKind::Server, vllm, 8_192, None),
        ] {
            let room = OutputRoom::default();
            assert_eq!(room.after_refusal(kind, words, allowed, 8_000), expected, "{words}");
        }
        let room = OutputRoom::default();
        room.after_refusal(BadRequest, "max_tokens: 8192 > 4096", 8_192, 10);
        assert_eq!(room.allowed(8_192, 10), 4_096);
    }

    #[test]
    fn a_full_window_is_told_from_a_reply_that_said_all_that_it_may() {
        let cut = |input, output| CutReply { input, output, allowed: 8_192, usual: 8_192, window: 128_000 };
        let is_full = |cut| OutputRoom::default().is_full(cut);
        for (input, output, expected) in [
            (8_188, 4, true),
            (8_192, 0, true),
            (8_100, 92, true),
            (0, 3, true),
            (4_000, 8_192, false),
            // The server's own bound.
            (4_000, 2_048, false),
            (4_000, 512, false),
            (126_500, 1_400, true),
        ] {
            assert_eq!(is_full(cut(input, output)), expected, "{input} {output}");
        }
        // If short replies are requested, a short reply is no sign of a full window.
        assert!(!is_full(CutReply { allowed: 200, usual: 200, ..cut(4_000, 200) }));
        // A shortened reply, too short for anything useful.
        assert!(is_full(CutReply { allowed: 500, ..cut(4_000, 500) }));
        // Twice at the same place: there is the end. A bound of the server's own moves with the prompt.
        let room = OutputRoom::default();
        assert_eq!([cut(5_000, 3_192), cut(5_700, 2_492)].map(|cut| room.is_full(cut)), [false, true]);
        assert_eq!(room.allowed(8_192, 4_000), 8_192 - 4_000 - 16 - 62);
        let room = OutputRoom::default();
        assert_eq!([cut(5_000, 2_048), cut(5_700, 2_048)].map(|cut| room.is_full(cut)), [false, false]);
    }
}
