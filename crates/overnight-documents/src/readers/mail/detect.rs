//! Whether some bytes are a mail. Prose and source code may begin with a word and a colon; so a mail must begin with
//! nothing but header fields, some of which occur only in mails.

use crate::encoding;
use crate::format::ending;
use crate::ole;

/// How many bytes of a document are checked.
const HEAD_BYTES: usize = 4096;
/// Fields for the sender, and for the date or the program: a mail has one of each.
const SENT: &[&str] = &["from", "received", "return-path", "sender"];
const PROVED: &[&str] = &["date", "message-id", "mime-version", "received", "content-type"];

/// Whether a mail gets this field on its way or from its writer.
fn is_field(name: &str) -> bool {
    matches!(
        name,
        "from"
            | "to"
            | "cc"
            | "subject"
            | "date"
            | "message-id"
            | "mime-version"
            | "received"
            | "return-path"
            | "delivered-to"
            | "reply-to"
            | "content-type"
            | "dkim-signature"
            | "in-reply-to"
            | "references"
            | "arc-seal"
            | "sender"
            | "x-mailer"
            | "user-agent"
            | "authentication-results"
            | "x-mozilla-status"
            | "x-original-to"
            | "envelope-to"
            | "list-id"
            | "received-spf"
    )
}

/// Whether these bytes begin as a mail does.
pub(crate) fn begins_like_one(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let wide = encoding::of_wide(head);
    let head = wide.as_deref().unwrap_or(head);
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    fields(head).is_some_and(|found| {
        let any = |wanted: &[&str]| found.iter().any(|field| wanted.contains(&field.as_str()));
        let known = found.iter().filter(|field| is_field(field)).count();
        known >= 3 && known * 4 >= found.len() && any(SENT) && any(PROVED)
    })
}

/// Whether these bytes are a web page saved by a browser with its images: it looks like a mail, but was never sent.
pub(crate) fn is_saved_page(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let has = |what: &str| memchr::memmem::find(head, what.as_bytes()).is_some();
    has("multipart/related")
        && (has("From: <Saved by ") || has("From: \"Saved by ") || has("Snapshot-Content-Location:"))
}

/// The names of the header fields at the beginning, in lower case; `None` where something else stands among them.
fn fields(head: &[u8]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut lines = head.split_inclusive(|&byte| byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        // The last line may be cut off.
        let is_cut = lines.peek().is_none() && !line.ends_with(b"\n");
        let line = line.trim_ascii_end();
        if line.is_empty() {
            break;
        }
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            if names.is_empty() {
                return None;
            }
            continue;
        }
        let Some(colon) = memchr::memchr(b':', line) else {
            if is_cut {
                break;
            }
            return None;
        };
        let name = &line[..colon];
        let is_name = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte));
        if !is_name {
            return None;
        }
        names.push(String::from_utf8_lossy(name).to_ascii_lowercase());
    }
    Some(names)
}

/// Whether these bytes are many mails, each behind a line that begins with `From `.
pub(crate) fn is_mailbox(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let Some(first) = memchr::memchr(b'\n', head) else { return false };
    is_envelope(&head[..first])
        && fields(&head[first + 1..]).is_some_and(|found| found.iter().filter(|field| is_field(field)).count() >= 2)
}

/// `From ann@example.org Sat Jan  3 01:05:34 1996`. A patch of `git` begins like this too, and is read as text.
pub(super) fn is_envelope(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"From ") else { return false };
    let words: Vec<&[u8]> = rest.trim_ascii().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    let is_commit = words.first().is_some_and(|word| word.len() == 40 && word.iter().all(u8::is_ascii_hexdigit));
    let has_year = words.iter().any(|word| word.len() == 4 && word.iter().all(u8::is_ascii_digit));
    let has_time = words.iter().any(|word| word.len() >= 5 && word[0].is_ascii_digit() && word.contains(&b':'));
    words.len() >= 5 && !is_commit && has_year && has_time
}

/// Whether these bytes are a mail as Outlook saves it.
pub(super) fn is_outlook(bytes: &[u8]) -> bool {
    begins_like_outlook(bytes) && ole::first_held(bytes, &["/EncryptedPackage", "/__properties_version1.0"]) == Some(1)
}

/// Whether a file may be a mail, by its name or its first bytes.
pub(crate) fn may_be_one(name: &str, head: &[u8]) -> bool {
    if is_saved_page(head) {
        return false;
    }
    ending(name) == "eml" || begins_like_outlook(head) || begins_like_one(head) || is_mailbox(head)
}

/// Whether these bytes may be an Outlook mail: all files of old office programs begin like this.
fn begins_like_outlook(head: &[u8]) -> bool {
    head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
}
