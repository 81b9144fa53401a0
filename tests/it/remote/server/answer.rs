//! One request answered, soundly or not.

use super::{
    batches, cache,
    chaos::Mishap,
    check::Checked,
    format::{Asked, Called, Events, Format, Refusal, Said},
    http::{Asking, Wire},
    quirk::{self, Quirk},
    serve::Shared,
};
use overnight::model::Request;
use overnight_core::{
    message::{Reply, Stop, Usage},
    tokens::estimate,
};
use serde_json::{Value, json};
use std::{
    io::{self, Write as _},
    sync::atomic::{AtomicU64, Ordering},
};

/// Pieces of a trickled reply.
const TRICKLE: usize = 40;
const PAGE: &str = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n";

/// Answers; `false`: the connection is to be closed.
pub(super) async fn answer(wire: &mut Wire, asking: &Asking, shared: &Shared) -> io::Result<bool> {
    // Of its models it tells nothing.
    if asking.method != "GET" {
        let mut counts = shared.counts();
        counts.requests += 1;
        *counts.by_path.entry(asking.path().to_owned()).or_default() += 1;
    }
    if let Some(setup) = &shared.setup.batching
        && let Some(answered) = batches::answer(asking, setup, shared).await
    {
        return wire.whole(answered.status, answered.mime, &[], &answered.body).await.map(|()| true);
    }
    let Some(format) = Format::of(asking.path()).filter(|_| asking.method == "POST") else {
        let words = format!("Invalid URL ({} {})", asking.method, asking.path());
        return refuse(wire, Format::near(asking), Refusal::NotFound, &words).await;
    };
    if shared.setup.key.is_some() && format.key(asking) != shared.setup.key {
        return refuse(wire, format, Refusal::Key, "API key not valid. Please pass a valid API key.").await;
    }
    let read = match serde_json::from_slice::<Value>(&asking.body) {
        Ok(body) => read(format, asking, &body, shared).map(|asked| (asked, body)),
        Err(error) => Err(format!("We could not parse the JSON body of your request: {error}")),
    };
    let (asked, body) = match read {
        Ok(read) => read,
        Err(words) => {
            shared.complain(format!("{}: {words}", format.name()));
            return refuse(wire, format, Refusal::BadRequest, &words).await;
        }
    };
    if let Some(known) = shared.setup.known.as_ref().filter(|known| **known != asked.model) {
        let words = format!("The model `{}` does not exist; there is `{known}`", asked.model);
        return refuse(wire, format, Refusal::NotFound, &words).await;
    }
    let tokens = cache::tokens(&asked.blocks);
    let quirk = shared.setup.quirk;
    let is_cut = if let Some(most) = shared.setup.window {
        let allowed = quirk::allowed(&body);
        match quirk {
            Some(Quirk::Refuses) if tokens + allowed > most => {
                let words = format!(
                    "'max_tokens' or 'max_completion_tokens' is too large: {allowed}. This model's maximum context length is {most} \
                     tokens and your request has {tokens} input tokens ({allowed} > {most} - {tokens})."
                );
                return refuse(wire, format, Refusal::BadRequest, &words).await;
            }
            Some(Quirk::RefusesWithPage) if tokens > most => {
                let page = "<html><head><title>413 Request Entity Too Large</title></head></html>";
                return wire.whole(413, "text/html", &[], page).await.map(|()| true);
            }
            Some(Quirk::Cuts) => tokens > most,
            _ if tokens > most => {
                return refuse(wire, format, Refusal::TooLong, &format.too_long(tokens, most)).await;
            }
            _ => false,
        }
    } else {
        false
    };
    match quirk {
        Some(Quirk::Page) => {
            let page = "<!DOCTYPE html><html><title>Portal</title><h1>Sign in</h1></html>";
            return wire.whole(200, "text/html", &[], page).await.map(|()| true);
        }
        Some(Quirk::Brotli) => {
            let headers = [("content-encoding", "br".to_owned())];
            return wire.whole(200, format.stream_type(), &headers, "\u{b}\u{2}\u{80}x").await.map(|()| true);
        }
        _ => {}
    }
    let mishap = shared.chaos.lock().unwrap().draw(|mishap| match mishap {
        Mishap::NoFlex => asked.is_flex,
        Mishap::Bound => asked.returns,
        _ => true,
    });
    if let Some(mishap) = mishap {
        *shared.counts().mishaps.entry(format!("{mishap:?}")).or_default() += 1;
    }
    if let Some(answered) = before(wire, format, mishap, tokens).await {
        return answered;
    }
    if !shared.setup.delay.is_zero() {
        tokio::select! {
            () = tokio::time::sleep(shared.setup.delay) => {}
            () = wire.gone() => return Ok(false),
        }
    }
    let mut said = match said(format, &asked, &body, shared).await {
        Ok(said) => spoilt(said, mishap),
        Err(words) => return refuse(wire, format, Refusal::Server, &words).await,
    };
    if shared.setup.batching.is_some() {
        shared.batch_counts().answered_live(&asked.prompt);
    }
    if is_cut {
        "Now I wi".clone_into(&mut said.text);
        said.calls.clear();
        (said.stop, said.usage.output) = (Stop::Length, 4);
    }
    think(format, &asked, &body, &mut said, shared);
    say(wire, format, &asked, &said, mishap, shared).await
}

fn think(format: Format, asked: &Asked, body: &Value, said: &mut Said, shared: &Shared) {
    if asked.thinks.unwrap_or(shared.setup.thinks) {
        shared.thoughts.lock().unwrap().think(format, body, asked, said);
    }
}

/// The reply to a call of a batch, whole and sound. The error: the model has none.
pub(super) async fn of_batch(format: Format, asked: &Asked, body: &Value, shared: &Shared) -> Result<Value, String> {
    let mut said = said(format, asked, body, shared).await?;
    think(format, asked, body, &mut said, shared);
    shared.counts().completed += 1;
    Ok(format.whole(asked, &said))
}

pub(super) fn read(format: Format, asking: &Asking, body: &Value, shared: &Shared) -> Checked<Asked> {
    let mut asked = format.read(asking, body)?;
    asked.returns = shared.thoughts.lock().unwrap().check(format, body, &asked)?;
    asked.blocks = cache::blocks(format, &asked.model, body);
    shared.histories.lock().unwrap().check(body, &asked.prompt).map_or(Ok(asked), Err)
}

async fn refuse(wire: &mut Wire, format: Format, refusal: Refusal, words: &str) -> io::Result<bool> {
    let body = format.refusal(refusal, words).to_string();
    wire.whole(format.status(refusal), "application/json", &[], &body).await?;
    Ok(true)
}

/// What goes wrong before the model is asked; `None`: nothing.
async fn before(wire: &mut Wire, format: Format, mishap: Option<Mishap>, tokens: u64) -> Option<io::Result<bool>> {
    let rate = "Rate limit reached for requests. Please try again later.";
    let headers = match mishap? {
        Mishap::RateSeconds => vec![("retry-after", "1".to_owned())],
        Mishap::RateDate => {
            let date = chrono::Utc::now() + chrono::Duration::seconds(1);
            vec![("retry-after", date.format("%a, %d %b %Y %H:%M:%S GMT").to_string())]
        }
        Mishap::RateBare => Vec::new(),
        Mishap::NoFlex => return Some(refuse(wire, format, Refusal::NoFlex, "Resource Unavailable").await),
        Mishap::Bound => {
            let words = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different \
                         conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \
                         \"drop_block\".";
            return Some(refuse(wire, format, Refusal::BadRequest, words).await);
        }
        Mishap::Error500 => return Some(refuse(wire, format, Refusal::Server, "Internal server error").await),
        Mishap::Unavailable503 => {
            return Some(refuse(wire, format, Refusal::Unavailable, "The engine is currently overloaded").await);
        }
        Mishap::Overloaded529 => return Some(refuse(wire, format, Refusal::Overloaded, "Overloaded").await),
        Mishap::Overflow => {
            let words = format.too_long(tokens, tokens.saturating_sub(1));
            return Some(refuse(wire, format, Refusal::TooLong, &words).await);
        }
        Mishap::Html502 => return Some(wire.whole(502, "text/html", &[], PAGE).await.map(|()| true)),
        Mishap::WrongType => return Some(wire.whole(200, "text/html", &[], PAGE).await.map(|()| true)),
        Mishap::ErrorBody => {
            let body = format.refusal(Refusal::Server, "Internal server error").to_string();
            return Some(wire.whole(200, "application/json", &[], &body).await.map(|()| true));
        }
        Mishap::HangBefore => {
            wire.hang().await;
            return Some(Ok(false));
        }
        Mishap::HangWithin
        | Mishap::Cut
        | Mishap::EndedEarly
        | Mishap::MalformedEvent
        | Mishap::GarbledChunk
        | Mishap::UnknownTool
        | Mishap::Empty
        | Mishap::SameId
        | Mishap::SameCall
        | Mishap::TornArguments
        | Mishap::CutAtLength
        | Mishap::Prose
        | Mishap::CallAsText
        | Mishap::ErrorEvent
        | Mishap::Trickle => return None,
    };
    let body = format.refusal(Refusal::Rate, rate).to_string();
    Some(wire.whole(429, "application/json", &headers, &body).await.map(|()| true))
}

async fn said(format: Format, asked: &Asked, body: &Value, shared: &Shared) -> Result<Said, String> {
    let number = shared.replies.fetch_add(1, Ordering::Relaxed) + 1;
    let request = Request {
        prompt: &asked.prompt,
        turn: number,
        conversation: 0,
        turn_of_conversation: number,
        received: &AtomicU64::new(0),
    };
    let reply: Reply = shared.setup.model.reply(request).await.map_err(|failure| failure.to_string())?;
    let prefix = if format == Format::Anthropic { "toolu" } else { "call" };
    let calls = reply.calls.into_iter().map(|call| Called {
        id: format!("{prefix}_{}", shared.calls.fetch_add(1, Ordering::Relaxed) + 1),
        name: call.name,
        arguments: match call.arguments {
            Value::String(raw) => raw,
            arguments => arguments.to_string(),
        },
    });
    let mut said = Said {
        number,
        model: asked.model.clone(),
        thoughts: Vec::new(),
        text: reply.text,
        calls: calls.collect(),
        usage: Usage::default(),
        stop: reply.stop,
        letters: shared.setup.letters.max(1),
    };
    let (usage, in_common) = shared.cache.lock().unwrap().usage(format, asked, body);
    let called = said.calls.iter().map(|call| estimate(&call.arguments) + 8).sum::<u64>();
    said.usage = Usage { output: (estimate(&said.text) + called).max(1), ..usage };
    let mut counts = shared.counts();
    counts.shared += in_common;
    counts.cached += usage.cached;
    Ok(said)
}

/// A reply whose content goes wrong.
fn spoilt(mut said: Said, mishap: Option<Mishap>) -> Said {
    let Some(mishap) = mishap else { return said };
    match mishap {
        Mishap::UnknownTool => {
            if let Some(call) = said.calls.first_mut() {
                "think_about_it".clone_into(&mut call.name);
            }
        }
        Mishap::Empty => {
            said.text.clear();
            said.calls.clear();
        }
        Mishap::SameId | Mishap::SameCall => {
            if let Some(mut again) = said.calls.first().cloned() {
                if mishap == Mishap::SameCall {
                    again.id.push_str("_again");
                }
                said.calls.insert(1, again);
            }
        }
        Mishap::TornArguments => tear(&mut said),
        Mishap::CutAtLength => {
            // It had said all that it may.
            (said.stop, said.usage.output) = (Stop::Length, 4_096);
            tear(&mut said);
        }
        Mishap::Prose => {
            let tools: Vec<&str> = said.calls.iter().map(|call| call.name.as_str()).collect();
            said.text = format!("Sure! I will now use {} to go on with the task.", tools.join(", then "));
            said.calls.clear();
        }
        Mishap::CallAsText => {
            if let Some(call) = said.calls.first() {
                let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
                let written = json!({"name": call.name, "arguments": arguments});
                said.text = format!("```json\n{written:#}\n```");
                said.calls.clear();
            }
        }
        Mishap::RateSeconds
        | Mishap::RateDate
        | Mishap::RateBare
        | Mishap::NoFlex
        | Mishap::Bound
        | Mishap::Error500
        | Mishap::Html502
        | Mishap::Unavailable503
        | Mishap::Overloaded529
        | Mishap::HangBefore
        | Mishap::HangWithin
        | Mishap::Cut
        | Mishap::EndedEarly
        | Mishap::MalformedEvent
        | Mishap::GarbledChunk
        | Mishap::Overflow
        | Mishap::WrongType
        | Mishap::ErrorBody
        | Mishap::ErrorEvent
        | Mishap::Trickle => {}
    }
    said
}

/// Ends the last call's arguments in the middle.
fn tear(said: &mut Said) {
    if let Some(call) = said.calls.last_mut() {
        let half = call.arguments.floor_char_boundary(call.arguments.len() / 2);
        call.arguments.truncate(half);
    }
}

/// Writes a reply.
async fn say(
    wire: &mut Wire,
    format: Format,
    asked: &Asked,
    said: &Said,
    mishap: Option<Mishap>,
    shared: &Shared,
) -> io::Result<bool> {
    let completed = || {
        shared.counts().completed += 1;
        Ok(true)
    };
    let Events { said: mut events, mut end } = if asked.streams {
        format.events(asked, said)
    } else {
        Events { said: vec![format.whole(asked, said).to_string()], end: Vec::new() }
    };
    if let Some(quirk) = shared.setup.quirk.filter(|_| asked.streams) {
        let mut changed = Events { said: events, end };
        quirk.change(format, said, &mut changed);
        Events { said: events, end } = changed;
    }
    let is_in_transport = matches!(
        mishap,
        Some(
            Mishap::HangWithin
                | Mishap::Cut
                | Mishap::EndedEarly
                | Mishap::MalformedEvent
                | Mishap::GarbledChunk
                | Mishap::ErrorEvent
                | Mishap::Trickle
        )
    );
    if !asked.streams && !is_in_transport {
        wire.whole(200, "application/json", &[], &events.concat()).await?;
        return completed();
    }
    let below = |bound: usize| shared.chaos.lock().unwrap().below(bound);
    match mishap {
        Some(Mishap::EndedEarly) if !asked.streams => halve(&mut events, 0),
        Some(Mishap::EndedEarly) => {}
        Some(Mishap::ErrorEvent) => {
            // A whole body is the error and nothing else.
            let kept = if asked.streams { below(events.len() + 1) } else { 0 };
            events.truncate(kept);
            events.push(format.error_event("Overloaded"));
        }
        Some(Mishap::MalformedEvent) => {
            let place = below(events.len());
            halve(&mut events, place);
            events.extend(end);
        }
        _ => events.extend(end),
    }
    let mime = if asked.streams { format.stream_type() } else { "application/json" };
    let mut headers = vec![("content-type", mime.to_owned()), ("transfer-encoding", "chunked".to_owned())];
    let mut bytes = events.concat().into_bytes();
    if shared.setup.quirk == Some(Quirk::Gzip) {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&bytes)?;
        bytes = packed.finish()?;
        headers.push(("content-encoding", "gzip".to_owned()));
    }
    wire.head(200, &headers).await?;
    match mishap {
        Some(Mishap::HangWithin) => {
            packets(wire, &bytes[..below(bytes.len())], shared.setup.packets).await?;
            wire.hang().await;
            Ok(false)
        }
        Some(Mishap::Cut) => {
            let (sent, lost) = bytes.split_at(below(bytes.len()));
            packets(wire, sent, shared.setup.packets).await?;
            // The chunk that was cut is announced whole.
            wire.raw(format!("{:x}\r\n", lost.len()).as_bytes()).await?;
            wire.raw(&lost[..lost.len() / 2]).await?;
            Ok(false)
        }
        Some(Mishap::GarbledChunk) => {
            packets(wire, &bytes[..below(bytes.len())], shared.setup.packets).await?;
            wire.raw(b"zz;\r\nno chunk\r\n").await?;
            Ok(false)
        }
        Some(Mishap::Trickle) => {
            for piece in bytes.chunks(bytes.len().div_ceil(TRICKLE).max(1)) {
                wire.chunk(piece).await?;
                tokio::time::sleep(shared.setup.pause).await;
            }
            wire.last_chunk().await?;
            completed()
        }
        _ => {
            packets(wire, &bytes, shared.setup.packets).await?;
            wire.last_chunk().await?;
            let is_whole = !matches!(mishap, Some(Mishap::EndedEarly | Mishap::MalformedEvent | Mishap::ErrorEvent));
            if is_whole { completed() } else { Ok(true) }
        }
    }
}

/// Leaves half of one event's JSON, with the event's end as it was.
fn halve(events: &mut [String], place: usize) {
    let Some(event) = events.get_mut(place) else { return };
    let text = event.trim_end();
    let (kept, end) = (text.floor_char_boundary(text.len() / 2), event[text.len()..].to_owned());
    // Not within the words before the data.
    let data = event.find('{').map_or(0, |at| at + 1);
    event.truncate(kept.max(data));
    event.push_str(&end);
}

/// Bytes in so many packets, cut anywhere.
async fn packets(wire: &mut Wire, bytes: &[u8], count: usize) -> io::Result<()> {
    for packet in bytes.chunks(bytes.len().div_ceil(count.max(1)).max(1)) {
        wire.chunk(packet).await?;
    }
    Ok(())
}
