//! Splits the bytes of a reply into events, however the network cut them: server-sent events (WHATWG HTML, section 9.2)
//! and JSON lines. Two deviations of servers, whose events are all JSON, are accepted: an event without an empty line
//! before the next one, and a last event without one. Both are certain: in JSON no closing bracket is followed by an
//! opening one. Pure: `http` reads the bytes, a wire format's decoder takes the events.
//!
//! By hand: the reader that is in the lock file (`sse-stream` 0.2) keeps a line without end in memory without a bound, ends the
//! stream at a field that it doesn't know, drops a last event without an empty line, and knows no JSON lines.

use super::wire::{Framing, split_letters};
use crate::model::{Failure, FailureKind};

/// Ends a stream of OpenAI's.
const DONE: &str = "[DONE]";

/// Bytes of one event, at most.
pub const MOST_EVENT: usize = 8 * 1024 * 1024;

/// Bytes of one reply, at most.
pub const MOST_REPLY: usize = 32 * 1024 * 1024;

/// Takes one event: its type where the framing has one, and its data.
pub type Each<'a> = dyn FnMut(Option<&str>, &str) -> Result<(), Failure> + 'a;

/// Splits one reply into events.
#[derive(Debug)]
pub struct EventSplitter {
    framing: Framing,
    /// Bytes of the whole reply so far.
    taken: usize,
    /// The unfinished line.
    line: Vec<u8>,
    /// The last byte was a CR: an LF directly after it belongs to it.
    is_behind_cr: bool,
    is_first_line: bool,
    /// The unfinished event; the type is empty if none was given.
    name: String,
    /// A type that came after data: it belongs to that event, or to the next.
    later_name: Option<String>,
    data: String,
    has_data: bool,
}

impl EventSplitter {
    pub fn new(framing: Framing) -> Self {
        Self {
            framing,
            taken: 0,
            line: Vec::new(),
            is_behind_cr: false,
            is_first_line: true,
            name: String::new(),
            later_name: None,
            data: String::new(),
            has_data: false,
        }
    }

    /// Takes the next bytes and hands on each event that is whole now. A failure, also one of `each`, ends the reply.
    pub fn take(&mut self, bytes: &[u8], each: &mut Each<'_>) -> Result<(), Failure> {
        self.taken = self.taken.saturating_add(bytes.len());
        if self.taken > MOST_REPLY {
            return Err(too_large("reply", MOST_REPLY));
        }
        let mut rest = bytes;
        if self.is_behind_cr && !rest.is_empty() {
            self.is_behind_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = self.line_end(rest) {
            let (line, behind) = rest.split_at(end);
            let is_cr = behind.first() == Some(&b'\r');
            rest = &behind[1..];
            if is_cr && rest.is_empty() {
                self.is_behind_cr = true;
            } else if is_cr {
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            if self.line.is_empty() {
                self.line(line, each)?;
            } else {
                self.begin(line)?;
                let line = std::mem::take(&mut self.line);
                self.line(&line, each)?;
            }
        }
        self.begin(rest)
    }

    /// The bytes have ended. Returns how many bytes belong to no complete event; an unfinished server-sent event isn't
    /// passed on, as the standard requires. A last line without its end is, if it is complete JSON: a cut one isn't.
    pub fn end(&mut self, each: &mut Each<'_>) -> Result<usize, Failure> {
        let line = std::mem::take(&mut self.line);
        match self.framing {
            Framing::Lines if serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_ok() => {
                self.line(&line, each)?;
                Ok(0)
            }
            Framing::Lines => Ok(line.len()),
            Framing::ServerSentEvents => {
                let before = self.data.len();
                if !line.is_empty() {
                    self.line(&line, each)?;
                }
                if self.data == DONE
                    || serde_json::from_str::<serde::de::IgnoredAny>(self.data.trim())
                        .is_ok_and(|_| self.data.trim_start().starts_with(['{', '[']))
                {
                    self.event(each)?;
                    return Ok(0);
                }
                Ok(line.len() + before)
            }
        }
    }

    fn line_end(&self, bytes: &[u8]) -> Option<usize> {
        match self.framing {
            Framing::ServerSentEvents => memchr::memchr2(b'\n', b'\r', bytes),
            Framing::Lines => memchr::memchr(b'\n', bytes),
        }
    }

    /// Keeps the beginning of a line until its end comes.
    fn begin(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.bounded(bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn bounded(&self, more: usize) -> Result<(), Failure> {
        let whole = self.line.len() + self.data.len() + more;
        if whole > MOST_EVENT { Err(too_large("event of the reply", MOST_EVENT)) } else { Ok(()) }
    }

    fn line(&mut self, line: &[u8], each: &mut Each<'_>) -> Result<(), Failure> {
        let line = if std::mem::replace(&mut self.is_first_line, false) {
            line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)
        } else {
            line
        };
        match self.framing {
            Framing::ServerSentEvents => self.field(line, each),
            Framing::Lines => {
                self.bounded(line.len())?;
                let line = split_letters::text(line);
                // Some servers in between write these lines as the data of server-sent events.
                let line = line.trim();
                let line = line.strip_prefix("data:").unwrap_or(line).trim_start();
                if line.is_empty() { Ok(()) } else { each(None, line) }
            }
        }
    }

    fn field(&mut self, line: &[u8], each: &mut Each<'_>) -> Result<(), Failure> {
        if line.is_empty() {
            return self.event(each);
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                self.bounded(value.len())?;
                if self.has_data && is_next(&self.data, value) {
                    let name = self.later_name.take();
                    self.event(each)?;
                    self.name = name.unwrap_or_default();
                }
                if self.has_data {
                    self.data.push('\n');
                }
                self.has_data = true;
                self.data.push_str(&split_letters::text(value));
            }
            b"event" => {
                self.bounded(value.len())?;
                let name = String::from_utf8_lossy(value).into_owned();
                if self.has_data {
                    self.later_name = Some(name);
                } else {
                    self.name = name;
                }
            }
            // A comment has an empty name; `id` and `retry` are for readers that connect again.
            _ => {}
        }
        Ok(())
    }

    fn event(&mut self, each: &mut Each<'_>) -> Result<(), Failure> {
        let taken = if self.has_data {
            let name = self.later_name.as_deref().filter(|_| self.name.is_empty()).unwrap_or(&self.name);
            each(Some(name).filter(|name| !name.is_empty()), &self.data)
        } else {
            Ok(())
        };
        self.name.clear();
        self.later_name = None;
        self.data.clear();
        self.has_data = false;
        taken
    }
}

/// Whether a line of data begins a new event, not more of the same data.
fn is_next(data: &str, line: &[u8]) -> bool {
    data.trim_end().ends_with(['}', ']']) && line.trim_ascii_start().starts_with(b"{")
        || data.trim_end().ends_with('}') && line.trim_ascii() == DONE.as_bytes()
}

fn too_large(what: &str, most: usize) -> Failure {
    Failure::new(FailureKind::Malformed, format!("the {what} is larger than {} MiB", most / (1024 * 1024)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of chunks: each event as `name|data`, then the bytes left.
    fn cut<'a>(framing: Framing, chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<String>, Failure> {
        let mut events = Vec::new();
        let mut each = |name: Option<&str>, data: &str| {
            events.push(format!("{}|{data}", name.unwrap_or("-")));
            Ok(())
        };
        let mut splitter = EventSplitter::new(framing);
        for chunk in chunks {
            splitter.take(chunk, &mut each)?;
        }
        let left = splitter.end(&mut each)?;
        events.push(format!("left {left}"));
        Ok(events)
    }

    fn events(text: &str) -> Vec<String> {
        cut(Framing::ServerSentEvents, [text.as_bytes()]).unwrap()
    }

    fn lines(text: &str) -> Vec<String> {
        cut(Framing::Lines, [text.as_bytes()]).unwrap()
    }

    #[test]
    fn server_sent_events_are_cut_as_the_standard_says() {
        assert_eq!(events("data: a\n\ndata:b\n\ndata:  c\n\n"), ["-|a", "-|b", "-| c", "left 0"]);
        assert_eq!(events("event: x\ndata: a\ndata: b\n\ndata: c\n\n"), ["x|a\nb", "-|c", "left 0"]);
        assert_eq!(events("\u{feff}data: a\r\n\r\ndata: b\r\rdata: c\r\n\n"), ["-|a", "-|b", "-|c", "left 0"]);
        assert_eq!(
            events(": OPENROUTER PROCESSING\n\n:\n\nid: 1\nretry: 5\n\ndata: [DONE]\n\n"),
            ["-|[DONE]", "left 0"]
        );
        assert_eq!(events("event: lost\n\ndata\n\ndata: a\n\n"), ["-|", "-|a", "left 0"]);
        assert_eq!(events("data: {\"a\":\"x: y\"}\n\nunknown: 1\nnothing\n\n"), ["-|{\"a\":\"x: y\"}", "left 0"]);
    }

    #[test]
    fn an_unfinished_event_is_not_given() {
        assert_eq!(events("data: a\n\ndata: bcd\n"), ["-|a", "left 3"]);
        assert_eq!(events("data: a\n\ndata: b"), ["-|a", "left 7"]);
        assert_eq!(lines("{\"a\":1}\n\r\n{\"b\":2}\r\n{\"c\":"), ["-|{\"a\":1}", "-|{\"b\":2}", "left 5"]);
        assert_eq!(lines("{\"a\":1}\n{\"b\":2}"), ["-|{\"a\":1}", "-|{\"b\":2}", "left 0"]);
        assert_eq!(lines(""), ["left 0"]);
    }

    #[test]
    fn events_that_nothing_parts_are_parted_where_json_ends() {
        assert_eq!(
            events("data: {\"a\":1}\ndata: {\"b\":[2]}\n: c\ndata: {}\ndata: [DONE]\n"),
            ["-|{\"a\":1}", "-|{\"b\":[2]}", "-|{}", "-|[DONE]", "left 0"]
        );
        assert_eq!(events("event: x\ndata: {}\nevent: y\ndata: {}\n"), ["x|{}", "y|{}", "left 0"]);
        // A type after its data, and one event's JSON over several lines.
        assert_eq!(events("data: {}\nevent: x\n\ndata: {}\n\n"), ["x|{}", "-|{}", "left 0"]);
        let lines = ["{\"a\": [", "{},", "{}", "],", "\"b\": {", "}", "}"].map(|line| format!("data: {line}\n"));
        assert_eq!(events(&format!("{}\n", lines.concat())), ["-|{\"a\": [\n{},\n{}\n],\n\"b\": {\n}\n}", "left 0"]);
        // Complete data at the end is an event, truncated data is not.
        assert_eq!(events("data: {\"a\":1}"), ["-|{\"a\":1}", "left 0"]);
        assert_eq!(events("data: {\"a\":"), ["left 11"]);
        assert_eq!(events("data: 7"), ["left 7"]);
        assert_eq!(cut(Framing::Lines, [&b"data: {}\n\ndata: [DONE]\n"[..]]).unwrap(), ["-|{}", "-|[DONE]", "left 0"]);
    }

    #[test]
    fn bytes_that_are_no_text_are_marked() {
        let bytes: &[u8] = b"data: a\xFFb\n\n";
        assert_eq!(cut(Framing::ServerSentEvents, [bytes]).unwrap(), ["-|a\u{10f8ff}b", "left 0"]);
    }

    #[test]
    fn an_event_and_a_reply_are_bounded() {
        let megabyte = vec![b'x'; 1024 * 1024];
        let say = |parts: &[&[u8]], framing| cut(framing, parts.iter().copied()).map_err(|failure| failure.to_string());
        let line: Vec<&[u8]> = std::iter::once(&b"data: "[..]).chain(std::iter::repeat_n(&megabyte[..], 9)).collect();
        let event = Err("the event of the reply is larger than 8 MiB".to_owned());
        assert_eq!(say(&line, Framing::ServerSentEvents), event);
        assert_eq!(say(&line, Framing::Lines), event);
        let data = [b"data: ", &megabyte[..], b"\n"].concat();
        assert_eq!(say(&[&data[..]; 9], Framing::ServerSentEvents), event);
        assert_eq!(say(&[&[b"event: ", &megabyte.repeat(9)[..], b"\n"].concat()], Framing::ServerSentEvents), event);
        let comment = [b": ", &megabyte[..], b"\n"].concat();
        let reply = Err("the reply is larger than 32 MiB".to_owned());
        assert_eq!(say(&[&comment[..]; 32], Framing::ServerSentEvents), reply);
        assert_eq!(say(&[&comment[..]; 31], Framing::ServerSentEvents), Ok(vec!["left 0".to_owned()]));
    }

    #[test]
    fn a_failure_of_who_takes_the_events_ends_the_reply() {
        let mut splitter = EventSplitter::new(Framing::ServerSentEvents);
        let mut seen = 0;
        let failed = splitter.take(b"data: a\n\ndata: b\n\n", &mut |_, _| {
            seen += 1;
            Err(Failure::new(FailureKind::Server, "no"))
        });
        assert_eq!((failed.map_err(|failure| failure.kind), seen), (Err(FailureKind::Server), 1));
    }

    proptest::proptest! {
        #[test]
        fn any_chunking_gives_the_same_events(
            parts in proptest::collection::vec(
                proptest::sample::select(vec![
                    "data: ", "data:", "event: é", "\n", "\r", "\r\n", "\n\n", ": c", "{\"ü\":\"😀\"}", "[DONE]", "\u{feff}", "x",
                ]),
                0..40,
            ),
            size in 1_usize..9,
        ) {
            let text = parts.concat();
            for framing in [Framing::ServerSentEvents, Framing::Lines] {
                let whole = cut(framing, [text.as_bytes()]);
                proptest::prop_assert_eq!(cut(framing, text.as_bytes().chunks(size)), whole);
            }
        }

        #[test]
        fn any_bytes_are_cut(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), size in 1_usize..9) {
            for framing in [Framing::ServerSentEvents, Framing::Lines] {
                let whole = cut(framing, [&bytes[..]]);
                proptest::prop_assert_eq!(cut(framing, bytes.chunks(size)), whole);
            }
        }
    }
}
