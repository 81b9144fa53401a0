//! Many mails in one file, each behind a line that begins with `From `.

use std::borrow::Cow;

use super::detect::is_envelope;

/// The mails in it, in order.
pub(super) fn mails(bytes: &[u8]) -> Vec<&[u8]> {
    let mut mails = Vec::new();
    let (mut from, mut at, mut after_blank) = (None, 0, true);
    while at < bytes.len() {
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end + 1);
        let line = bytes[at..end].trim_ascii_end();
        if after_blank && line.starts_with(b"From ") && is_envelope(line) {
            mails.extend(from.map(|from| &bytes[from..at]));
            from = Some(end);
        }
        after_blank = line.is_empty();
        at = end;
    }
    mails.extend(from.map(|from| &bytes[from..]));
    mails
}

/// A mail as it was before it was put with others: a `>` was put before each line that began as the next mail does.
pub(super) fn restored(mail: &[u8]) -> Cow<'_, [u8]> {
    let marks: Vec<usize> = memchr::memmem::find_iter(mail, b"\n>")
        .map(|at| at + 1)
        .filter(|&at| {
            mail[at..]
                .trim_ascii_start()
                .iter()
                .position(|&byte| byte != b'>')
                .is_some_and(|quotes| mail[at + quotes..].starts_with(b"From "))
        })
        .collect();
    if marks.is_empty() {
        return Cow::Borrowed(mail);
    }
    let mut restored = Vec::with_capacity(mail.len());
    let mut from = 0;
    for mark in marks {
        restored.extend_from_slice(&mail[from..mark]);
        from = mark + 1;
    }
    restored.extend_from_slice(&mail[from..]);
    Cow::Owned(restored)
}
