//! Limits on how much is unpacked from a container and everything in it: an archive of a few kilobytes can be made to
//! fill any disk.

use std::io::Read;

use crate::refusal::Refusal;

/// The largest document inside another, in bytes.
pub(super) const MAX_ENTRY_BYTES: u64 = 256 << 20;
/// The most bytes unpacked from one outermost container, with everything nested in it.
const MAX_ALL_BYTES: u64 = 2 << 30;
/// The most entries in one outermost container.
pub(super) const MAX_ENTRIES: u64 = 20_000;
/// An entry that unpacks to more than this many times its size is a bomb, once it exceeds the second number of bytes.
const MAX_RATIO: u64 = 200;
const RATIO_COUNTS_FROM: u64 = 10 << 20;
/// How many bytes of containers inside containers are kept in memory at once.
const MAX_HELD: u64 = 320 << 20;
/// The advice for a broken document in an archive.
pub(super) const AGAIN: &str = "pack the archive again";
/// How many first bytes of a document are enough to recognise its format.
pub(super) const HEAD_BYTES: usize = 4096;
const CHUNK: usize = 64 << 10;

/// The amounts unpacked so far.
#[derive(Debug, Default)]
pub(super) struct UnpackBudget {
    entries: u64,
    bytes: u64,
    held: u64,
}

/// An entry that was unpacked.
#[derive(Debug)]
pub(super) struct UnpackedMember {
    pub(super) bytes: u64,
    /// The content, if it was wanted.
    pub(super) content: Option<Vec<u8>>,
}

/// Why an entry isn't unpacked.
#[derive(Debug)]
pub(super) enum UnpackError {
    /// Only this entry fails: a clause, and what to do.
    Itself(String, &'static str),
    /// The whole container is refused.
    Whole(Refusal),
}

impl UnpackBudget {
    /// Counts one more entry of the container.
    pub(super) fn entry(&mut self, format: &str) -> Result<(), Refusal> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES { Err(bomb(format, "holds more than 20,000 files")) } else { Ok(()) }
    }

    fn unpacked(&mut self, bytes: u64, format: &str) -> Result<(), UnpackError> {
        self.bytes += bytes;
        if self.bytes > MAX_ALL_BYTES {
            return Err(UnpackError::Whole(bomb(format, "unpacks to more than 2 GiB")));
        }
        Ok(())
    }

    /// Whether `bytes` more may be kept in memory; the bytes must later be [`released`](Self::release).
    pub(super) fn hold(&mut self, bytes: u64) -> bool {
        let fits = self.held + bytes <= MAX_HELD;
        if fits {
            self.held += bytes;
        }
        fits
    }

    pub(super) fn release(&mut self, bytes: u64) {
        self.held -= bytes.min(self.held);
    }

    /// Unpacks `reader`, which is `packed` bytes long. `wanted` decides by the first bytes whether the content is kept.
    pub(super) fn unpack(
        &mut self,
        reader: &mut dyn Read,
        packed: u64,
        format: &str,
        wanted: &dyn Fn(&[u8]) -> bool,
    ) -> Result<UnpackedMember, UnpackError> {
        let mut head = Vec::with_capacity(HEAD_BYTES);
        let at_most = HEAD_BYTES as u64;
        reader.take(at_most).read_to_end(&mut head).map_err(|error| damaged(&error))?;
        let mut bytes = head.len() as u64;
        self.unpacked(bytes, format)?;
        let mut content = wanted(&head).then_some(head);
        let mut chunk = vec![0; CHUNK];
        loop {
            let more = reader.read(&mut chunk).map_err(|error| damaged(&error))?;
            if more == 0 {
                return Ok(UnpackedMember { bytes, content });
            }
            bytes += more as u64;
            self.unpacked(more as u64, format)?;
            if bytes > MAX_ENTRY_BYTES {
                let why = format!("it unpacks to more than {} MiB", MAX_ENTRY_BYTES >> 20);
                return Err(UnpackError::Itself(why, "unpack the archive and split this document"));
            }
            if bytes > RATIO_COUNTS_FROM && bytes / MAX_RATIO > packed {
                let why = format!("it unpacks to more than {MAX_RATIO} times its size");
                return Err(UnpackError::Itself(why, "unpack the archive yourself if it is to be read"));
            }
            if let Some(content) = &mut content {
                content.extend_from_slice(&chunk[..more]);
            }
        }
    }
}

fn damaged(error: &std::io::Error) -> UnpackError {
    let why = match error.kind() {
        std::io::ErrorKind::UnexpectedEof => "its end is missing",
        _ => "it is damaged and doesn't unpack to what was packed",
    };
    UnpackError::Itself(why.to_owned(), AGAIN)
}

/// The refusal of a container that was built to exhaust the program that unpacks it.
pub(super) fn bomb(format: &str, why: &str) -> Refusal {
    Refusal::Bomb { format: format.to_owned(), why: why.to_owned() }
}
