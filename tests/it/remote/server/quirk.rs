//! How real servers write a reply that is whole and not as the vendor's documents have it, or refuse one in ways of their own.
//! Each is one line to try: a test names it in the server's setup.

use super::format::{Events, Format, Said};
use serde_json::{Value, json};

/// The sign that is cut in halves.
pub(crate) const CUT_LETTER: char = '🍐';
const WHOLE: &str = "\\ud83c\\udf50";
const HALF: &str = "\\ud83c";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quirk {
    /// Nothing says why the reply ends: `[DONE]` is all (deepset-ai, LiteLLM, many gateways).
    DoneOnly,
    /// Neither a reason nor `[DONE]`: the counts of tokens are the last.
    CountsOnly,
    /// Neither, and no counts.
    NoEnd,
    /// One line feed between two events.
    OneLineFeed,
    /// The events' JSON alone, one a line.
    BareLines,
    /// A letter's two escaped halves in two events.
    SplitHalves,
    /// One half alone.
    LoneHalf,
    /// Behind a call's pieces, all of its arguments once more (vLLM).
    RepeatedArguments,
    /// Each piece has all that came before it, too.
    GrowingArguments,
    /// Arguments under a number that no call has, without id and name (sglang#23071).
    StrayNumber,
    /// The reply is packed, which was not asked for.
    Gzip,
    /// It is packed in a way that nobody reads, and says so.
    Brotli,
    /// Each reply is a page.
    Page,
    /// Prompt and reply that don't fit in the window are refused in words that name the field for the reply's length (vLLM).
    Refuses,
    /// A prompt that doesn't fit is refused by what stands before the server, with a page.
    RefusesWithPage,
    /// A prompt that doesn't fit is answered with a few letters, as cut at the limit.
    Cuts,
}

impl Quirk {
    /// Those with which a reply is what it is without, and the formats that they can have.
    pub(crate) const READABLE: [Self; 10] = [
        Self::DoneOnly,
        Self::CountsOnly,
        Self::OneLineFeed,
        Self::BareLines,
        Self::SplitHalves,
        Self::LoneHalf,
        Self::RepeatedArguments,
        Self::GrowingArguments,
        Self::StrayNumber,
        Self::Gzip,
    ];

    pub(crate) fn is_of(self, format: Format) -> bool {
        let cuts_calls = matches!(format, Format::OpenAi | Format::Anthropic);
        match self {
            Self::RepeatedArguments | Self::GrowingArguments | Self::StrayNumber => cuts_calls,
            // The counts are in the event that says the reason; whole items are said again.
            Self::CountsOnly | Self::SplitHalves => format != Format::Responses,
            _ => true,
        }
    }

    /// What is written in place of `events`.
    pub(super) fn change(self, format: Format, said: &Said, events: &mut Events) {
        match self {
            Self::DoneOnly => {
                events.end.retain(|event| format == Format::OpenAi && event.contains("\"choices\":[]"));
                events.end.push(if format == Format::Ollama { "[DONE]\n" } else { "data: [DONE]\n\n" }.to_owned());
            }
            Self::CountsOnly => {
                events.end = events.end.iter().filter_map(|event| without_reason(format, event)).collect();
            }
            Self::NoEnd => events.end.clear(),
            Self::OneLineFeed => {
                for event in events.said.iter_mut().chain(&mut events.end) {
                    *event = event.replace("\r\n\r\n", "\r\n").replace("\n\n", "\n");
                }
            }
            Self::BareLines => {
                let bare = |event: &String| event.find('{').map(|at| format!("{}\n", event[at..].trim_end()));
                events.said = events.said.iter().filter_map(bare).collect();
                events.end = events.end.iter().filter_map(bare).collect();
            }
            Self::SplitHalves => events.said = events.said.iter().flat_map(|event| in_halves(event)).collect(),
            Self::LoneHalf => {
                for event in events.said.iter_mut().chain(&mut events.end) {
                    *event = event.replace(CUT_LETTER, HALF);
                }
            }
            Self::RepeatedArguments | Self::GrowingArguments | Self::StrayNumber => {
                events.said = self.with_arguments(format, said, &events.said);
            }
            Self::Gzip | Self::Brotli | Self::Page | Self::Refuses | Self::RefusesWithPage | Self::Cuts => {}
        }
    }

    /// Events whose pieces of arguments are changed.
    fn with_arguments(self, format: Format, said: &Said, events: &[String]) -> Vec<String> {
        let (place, number) = match format {
            Format::OpenAi => {
                ("/choices/0/delta/tool_calls/0/function/arguments", "/choices/0/delta/tool_calls/0/index")
            }
            _ => ("/delta/partial_json", "/index"),
        };
        let mut all = Vec::new();
        let (mut call, mut before) = (None, String::new());
        for event in events {
            let data = data(event);
            let piece = data.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned();
            if piece.is_empty() {
                all.push(event.clone());
                continue;
            }
            let at = data.pointer(number).and_then(Value::as_u64);
            if call != at {
                (call, before) = (at, String::new());
            }
            before.push_str(&piece);
            let set = |field: &str, value: Value| {
                let mut data = data.clone();
                *data.pointer_mut(field).unwrap() = value;
                with_data(event, &data)
            };
            match self {
                Self::StrayNumber => all.push(set(number, json!(at.unwrap_or_default() + 100))),
                Self::GrowingArguments => all.push(set(place, json!(before))),
                _ => {
                    all.push(event.clone());
                    if said.calls.iter().any(|call| call.arguments == before) {
                        all.push(set(place, json!(before)));
                    }
                }
            }
        }
        all
    }
}

fn data(event: &str) -> Value {
    event.find('{').and_then(|at| serde_json::from_str(event[at..].trim_end()).ok()).unwrap_or_default()
}

fn with_data(event: &str, data: &Value) -> String {
    let at = event.find('{').unwrap_or_default();
    let end = event.trim_end().len();
    format!("{}{data}{}", &event[..at], &event[end..])
}

/// An event of the end without the reason; `None` where it says nothing else.
fn without_reason(format: Format, event: &str) -> Option<String> {
    let mut data = data(event);
    match format {
        Format::OpenAi => return event.contains("\"choices\":[]").then(|| event.to_owned()),
        Format::Anthropic => *data.pointer_mut("/delta/stop_reason")? = Value::Null,
        Format::Gemini => drop(data.pointer_mut("/candidates/0")?.as_object_mut()?.remove("finishReason")),
        Format::Ollama => data["done"] = false.into(),
        Format::Responses => {}
    }
    Some(with_data(event, &data))
}

/// Two events of one: the text in which the letter stands ends within it, and goes on there.
fn in_halves(event: &str) -> Vec<String> {
    // A call that comes whole is not cut.
    let is_whole = event.contains("functionCall") || (event.contains("tool_calls") && !event.contains("\"index\""));
    let Some(at) = event.find(CUT_LETTER).filter(|_| !is_whole) else { return vec![event.to_owned()] };
    let is_quote = |place: usize| event.as_bytes()[place] == b'"' && event.as_bytes()[place - 1] != b'\\';
    let begin = (1..at).rev().find(|place| is_quote(*place)).unwrap();
    let end = (at..event.len()).find(|place| is_quote(*place)).unwrap();
    let (high, low) = WHOLE.split_at(HALF.len());
    vec![
        format!("{}{high}{}", &event[..at], &event[end..]),
        format!("{}{low}{}", &event[..=begin], &event[at + CUT_LETTER.len_utf8()..]),
    ]
}

/// Tokens that a request allows the reply.
pub(super) fn allowed(body: &Value) -> u64 {
    let fields = [
        "/max_tokens",
        "/max_completion_tokens",
        "/max_output_tokens",
        "/generationConfig/maxOutputTokens",
        "/options/num_predict",
    ];
    fields.iter().find_map(|field| body.pointer(field)?.as_u64()).unwrap_or_default()
}
