//! The body of an answer: decompressed if it is compressed, which some gateways do without being asked; its beginning
//! and end are kept for finding out why it can't be read.

use super::{http::MOST_BYTES, key::Secrets};
use flate2::write::{MultiGzDecoder, ZlibDecoder};
use std::io::{self, Write};

/// Compressed bytes that are decompressed at once; they become some hundred times as many, or a thousand times.
const PIECE: usize = 8 * 1024;
/// The first bytes of gzip (RFC 1952, section 2.3.1).
const GZIP: &[u8] = b"\x1F\x8B";
/// Bytes kept of the beginning and of the end; enough to hold a whole key, so that it can be hidden.
const MOST_HEAD: usize = 8 * 1024;
const MOST_TAIL: usize = 4 * 1024;
/// Characters of each that are shown.
const SHOWN_HEAD: usize = 1_200;
const SHOWN_TAIL: usize = 400;

/// The reason why a body can't be decompressed.
#[derive(Debug)]
pub(super) enum Packed {
    /// Its header names this encoding, which isn't supported.
    Unknown(String),
    /// It claims to be compressed, but isn't validly so.
    Torn(io::Error),
}

/// The decompression that a body's bytes pass through.
pub(super) enum Unpacking {
    /// No byte has arrived; the value is the header's encoding.
    Unknown(String),
    Plain,
    Gzip(MultiGzDecoder<Vec<u8>>),
    Zlib(ZlibDecoder<Vec<u8>>),
}

impl Unpacking {
    /// `said`: the header `content-encoding`.
    pub(super) fn new(said: &str) -> Self {
        Self::Unknown(said.trim().to_ascii_lowercase())
    }

    /// The next bytes, decompressed.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Vec<u8>, Packed> {
        if let Self::Unknown(said) = self
            && !bytes.is_empty()
        {
            // The bytes are more reliable than the header.
            *self = match said.as_str() {
                _ if bytes.starts_with(&GZIP[..bytes.len().min(2)]) => Self::Gzip(MultiGzDecoder::new(Vec::new())),
                "deflate" if bytes.first() == Some(&0x78) => Self::Zlib(ZlibDecoder::new(Vec::new())),
                "" | "identity" | "gzip" | "x-gzip" | "deflate" => Self::Plain,
                _ if is_text(bytes) => Self::Plain,
                other => return Err(Packed::Unknown(other.chars().take(40).collect())),
            };
        }
        match self {
            Self::Unknown(_) | Self::Plain => Ok(bytes.to_vec()),
            Self::Gzip(decoder) => {
                unpack(decoder, bytes, |decoder| decoder.get_ref().len())?;
                Ok(std::mem::take(decoder.get_mut()))
            }
            Self::Zlib(decoder) => {
                unpack(decoder, bytes, |decoder| decoder.get_ref().len())?;
                Ok(std::mem::take(decoder.get_mut()))
            }
        }
    }
}

/// Unpacks bytes until there are more than any reply may have: the rest isn't wanted.
fn unpack<D: Write>(decoder: &mut D, bytes: &[u8], length: impl Fn(&D) -> usize) -> Result<(), Packed> {
    for piece in bytes.chunks(PIECE) {
        decoder.write_all(piece).and_then(|()| decoder.flush()).map_err(Packed::Torn)?;
        if length(decoder) > MOST_BYTES {
            break;
        }
    }
    Ok(())
}

/// Whether the first bytes can be those of an uncompressed body.
fn is_text(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
        && bytes.iter().take(16).all(|byte| !byte.is_ascii_control() || byte.is_ascii_whitespace())
}

/// The beginning and the end of a body.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    head: Vec<u8>,
    tail: Vec<u8>,
    bytes: u64,
}

impl Excerpt {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let (head, tail) = bytes.split_at(bytes.len().min(MOST_HEAD - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(&tail[tail.len().saturating_sub(MOST_TAIL)..]);
        let over = self.tail.len().saturating_sub(MOST_TAIL);
        self.tail.drain(..over);
    }

    /// The beginning of the body, unchanged.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The excerpt to show, without secrets and control characters, with the size of the omitted middle.
    pub(super) fn shown(&self, secrets: &Secrets) -> String {
        let is_cut = self.bytes > (self.head.len() + self.tail.len()) as u64;
        let text = |bytes: &[u8]| {
            let text = secrets.hide(&String::from_utf8_lossy(bytes)).into_owned();
            let plain = |letter: char| !letter.is_control() || matches!(letter, '\n' | '\t');
            text.chars()
                .flat_map(move |letter| {
                    let escaped = (!plain(letter)).then(|| letter.escape_default());
                    escaped.into_iter().flatten().chain(plain(letter).then_some(letter))
                })
                .collect::<Vec<char>>()
        };
        let (head, tail) = if is_cut {
            (text(&self.head), text(&self.tail))
        } else {
            (text(&[&self.head[..], &self.tail[..]].concat()), Vec::new())
        };
        if !is_cut && head.len() <= SHOWN_HEAD + SHOWN_TAIL {
            return head.into_iter().collect();
        }
        let end = if is_cut { &tail } else { &head };
        let end: String = end[end.len().saturating_sub(SHOWN_TAIL)..].iter().collect();
        let begin: String = head.into_iter().take(SHOWN_HEAD).collect();
        format!("{begin}\n[… of {} bytes in all …]\n{end}", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::remote::Key;
    use flate2::{
        Compression,
        write::{GzEncoder, ZlibEncoder},
    };

    fn unpacked(said: &str, bytes: &[u8], size: usize) -> Result<Vec<u8>, String> {
        let mut unpacking = Unpacking::new(said);
        let mut all = Vec::new();
        for chunk in bytes.chunks(size) {
            all.extend(unpacking.take(chunk).map_err(|error| match error {
                Packed::Unknown(name) => name,
                Packed::Torn(_) => "torn".to_owned(),
            })?);
        }
        Ok(all)
    }

    #[test]
    fn a_packed_body_is_read_or_named() {
        let text = "data: {\"ü\":1}\n\n".repeat(500);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        let gzip = gzip.finish().unwrap();
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(text.as_bytes()).unwrap();
        let zlib = zlib.finish().unwrap();
        let whole = Ok(text.clone().into_bytes());
        for size in [2, 7, 100_000] {
            for said in ["gzip", "", "br"] {
                assert_eq!(unpacked(said, &gzip, size), whole, "{said} {size}");
            }
            assert_eq!(unpacked("deflate", &zlib, size), whole);
            for said in ["", "identity", "gzip", "deflate", "br"] {
                assert_eq!(unpacked(said, text.as_bytes(), size), whole, "{said} {size}");
            }
        }
        assert_eq!(unpacked("br", b"\x0b\x02\x80abc", 9), Err("br".to_owned()));
        let mut torn = gzip;
        torn[20..40].fill(7);
        assert_eq!(unpacked("gzip", &torn, 9), Err("torn".to_owned()));
    }

    #[test]
    fn an_excerpt_is_bounded_and_has_no_key() {
        let secrets = Secrets::new(Key::new("sk-planted").as_ref(), &[]);
        let mut excerpt = Excerpt::default();
        excerpt.take(b"a sk-planted\x00\xFF");
        assert_eq!(excerpt.shown(&secrets), "a ***\\u{0}\u{fffd}");
        for piece in "x sk-planted ".repeat(10_000).as_bytes().chunks(1000) {
            excerpt.take(piece);
        }
        let shown = excerpt.shown(&secrets);
        assert!(shown.len() < 1_700 && !shown.contains("planted"), "{shown}");
        assert!(shown.contains("\n[… of 130014 bytes in all …]\n"), "{shown}");
    }
}
