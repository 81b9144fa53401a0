//! Time-stamps of RFC 3161: a server signs that it was shown a hash, and when. The request is a fixed form of 69 bytes.
//! Of the reply, only the status and our hash are checked; `openssl ts -verify` checks the signature.

use super::RecordError;
use sha2::{Digest, Sha256};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(30);
/// A reply holds a few certificates.
const MOST_BYTES: usize = 1024 * 1024;
const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
/// `TimeStampReq`, version 1, of a SHA-256 (OID 2.16.840.1.101.3.4.2.1) that follows.
const BEFORE_DIGEST: [u8; 24] =
    [SEQUENCE, 67, INTEGER, 1, 1, SEQUENCE, 49, SEQUENCE, 13, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0, 4, 32];
/// The eight bytes of a nonce follow.
const BEFORE_NONCE: [u8; 2] = [INTEGER, 8];
/// The server's certificate is wanted with the reply.
const AFTER_NONCE: [u8; 3] = [1, 1, 0xFF];

/// Has the server at `url` stamp the SHA-256 of `text`. Returns the server's reply unchanged.
pub async fn time_stamp(url: &str, text: &[u8]) -> Result<Vec<u8>, RecordError> {
    let failed = |what: String| RecordError::TimeStamp(format!("there is no time-stamp from {url}: {what}"));
    let digest: [u8; 32] = Sha256::digest(text).into();
    let client =
        reqwest::Client::builder().http1_only().timeout(TIMEOUT).build().map_err(|error| failed(error.to_string()))?;
    let request = client
        .post(url)
        .header("content-type", "application/timestamp-query")
        .header("accept", "application/timestamp-reply")
        .body(request(&digest, fastrand::u64(..)).to_vec());
    let chain = |error: reqwest::Error| failed(causes(&error.without_url()));
    let mut response = request.send().await.map_err(chain)?;
    if !response.status().is_success() {
        return Err(failed(format!("it answered {}", response.status())));
    }
    let mut reply = Vec::new();
    while let Some(part) = response.chunk().await.map_err(chain)? {
        reply.extend_from_slice(&part);
        if reply.len() > MOST_BYTES {
            return Err(failed("its answer is larger than any time-stamp".to_owned()));
        }
    }
    check(&reply, &digest).map_err(|what| failed(what.to_owned()))?;
    Ok(reply)
}

/// An error with its causes.
fn causes(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |error| error.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// The request for `digest`. `nonce` is turned into a positive number of exactly eight bytes.
fn request(digest: &[u8; 32], nonce: u64) -> [u8; 69] {
    let nonce = (nonce >> 1 | 1 << 62).to_be_bytes();
    let parts: [&[u8]; 5] = [&BEFORE_DIGEST, digest, &BEFORE_NONCE, &nonce, &AFTER_NONCE];
    let mut request = [0; 69];
    request.iter_mut().zip(parts.into_iter().flatten()).for_each(|(byte, given)| *byte = *given);
    request
}

/// Whether a `TimeStampResp` is granted, and holds `digest`.
fn check(reply: &[u8], digest: &[u8; 32]) -> Result<(), &'static str> {
    const NONE: &str = "its answer is no time-stamp";
    let response = content(reply, SEQUENCE).ok_or(NONE)?;
    let status = content(response, SEQUENCE).and_then(|info| content(info, INTEGER)).ok_or(NONE)?;
    // Granted, or granted with changes.
    if !matches!(status, [0 | 1]) {
        return Err("it refused to stamp this");
    }
    let is_ours = response.windows(digest.len()).any(|bytes| bytes == digest);
    if is_ours { Ok(()) } else { Err("its answer is about something else") }
}

/// The content of the DER value at the start of `bytes`, if it has this tag.
fn content(bytes: &[u8], tag: u8) -> Option<&[u8]> {
    let (found, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match usize::from(*first) {
        short @ 0..=0x7F => (short, rest),
        long @ 0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(long - 0x80)?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    (*found == tag).then(|| rest.get(..length))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_granted_stamp_of_our_hash_counts() {
        let digest = [7; 32];
        let sent = request(&digest, u64::MAX);
        assert_eq!((content(&sent, SEQUENCE).map(<[u8]>::len), &sent[24..56]), (Some(67), &digest[..]));
        assert_eq!((sent[58], request(&digest, 0)[58]), (0x7F, 0x40));
        let reply = |status: u8, digest: &[u8]| {
            let token = [&[SEQUENCE, 34, 4, 32], digest].concat();
            [&[SEQUENCE, 41, SEQUENCE, 3, INTEGER, 1, status], &token[..]].concat()
        };
        assert_eq!(check(&reply(0, &digest), &digest), Ok(()));
        assert_eq!(check(&reply(2, &digest), &digest), Err("it refused to stamp this"));
        assert_eq!(check(&reply(0, &[8; 32]), &digest), Err("its answer is about something else"));
        for end in 0..7 {
            assert_eq!(check(&reply(0, &digest)[..end], &digest), Err("its answer is no time-stamp"), "{end}");
        }
    }
}
