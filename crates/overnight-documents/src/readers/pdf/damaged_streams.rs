//! Finds pages whose content is missing, or does not decompress to the original data: a bit of it was changed, or it is
//! cut off. The library returns the partial result silently, and nobody would notice the missing text.

use super::fonts::ObjectId;
use std::collections::HashSet;

use flate2::{Decompress, FlushDecompress, Status};
use unpdf::parser::raw::RawDocument;
use unpdf::parser::raw::tokenizer::{PdfObject, PdfStream, dict_get};

/// The maximum bytes that are decompressed for this check in one document: bombs never end.
const MAX_BYTES: u64 = 512 << 20;
/// The bytes of the checksum behind the compressed data, and of the header before it (RFC 1950).
const CHECKSUM: usize = 4;
const HEADER: usize = 2;
const CHUNK: usize = 64 << 10;

/// The pages of `document` with such content.
pub(super) fn damaged_streams(document: &RawDocument) -> HashSet<ObjectId> {
    let mut bytes_left = MAX_BYTES;
    let mut seen = HashSet::new();
    let is_torn = |id: &ObjectId| {
        let Some(content) = document.get_dict(*id).ok().and_then(|page| dict_get(page, b"Contents")) else {
            return false;
        };
        let parts = match document.resolve(content) {
            PdfObject::Array(parts) => parts.as_slice(),
            _ => std::slice::from_ref(content),
        };
        let is_missing = |part: &PdfObject| {
            part.as_reference().is_some()
                && matches!(document.resolve(part), PdfObject::Null | PdfObject::Reference(..))
        };
        // Some pages share common content.
        let mut is_new = |part: &PdfObject| part.as_reference().is_none_or(|id| seen.insert(id));
        parts.iter().any(is_missing)
            || parts.iter().filter(|part| is_new(part)).any(|part| {
                document
                    .resolve(part)
                    .as_stream()
                    .is_some_and(|stream| is_packed(stream) && !unpacks(&stream.raw_data, &mut bytes_left))
            })
    };
    document.pages().into_values().filter(is_torn).collect()
}

/// Whether the stream is compressed by the method with a checksum, and by no other one.
fn is_packed(stream: &PdfStream) -> bool {
    let is_flate = |filter: &PdfObject| matches!(filter.as_name(), Some(b"FlateDecode" | b"Fl"));
    match dict_get(&stream.dict, b"Filter") {
        Some(PdfObject::Array(filters)) => matches!(&filters[..], [only] if is_flate(only)),
        Some(filter) => is_flate(filter),
        None => false,
    }
}

/// Whether `packed` decompresses to its end and matches its checksum. If only the checksum is cut off, as some programs
/// write it, nothing is missing.
fn unpacks(packed: &[u8], bytes_left: &mut u64) -> bool {
    unpacked(Decompress::new(true), packed, bytes_left).is_some()
        || packed
            .get(HEADER..)
            .and_then(|bare| Some(bare.len() - unpacked(Decompress::new(false), bare, bytes_left)?))
            .is_some_and(|behind| behind < CHECKSUM)
}

/// How many bytes were read up to the end of the compressed data. Bombs are taken for complete.
fn unpacked(mut state: Decompress, packed: &[u8], bytes_left: &mut u64) -> Option<usize> {
    let mut out = vec![0; CHUNK];
    loop {
        let read = usize::try_from(state.total_in()).ok()?;
        let written = state.total_out();
        let status = state.decompress(packed.get(read..)?, &mut out, FlushDecompress::None).ok()?;
        *bytes_left = bytes_left.saturating_sub(state.total_out() - written);
        let is_still = state.total_out() == written && usize::try_from(state.total_in()).ok()? == read;
        match status {
            Status::StreamEnd => return usize::try_from(state.total_in()).ok(),
            _ if *bytes_left == 0 => return Some(packed.len()),
            Status::Ok | Status::BufError if is_still => return None,
            Status::Ok | Status::BufError => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::ZlibEncoder};

    use super::*;

    #[test]
    fn every_changed_bit_is_seen() {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all("the door must be shut ".repeat(20).as_bytes()).unwrap();
        let packed = encoder.finish().unwrap();
        let unpacks = |bytes: &[u8]| super::unpacks(bytes, &mut { MAX_BYTES });
        assert!(unpacks(&packed));
        assert!(unpacks(&[&packed, &b"\r\n"[..]].concat()), "line ends behind it");
        // The data without its checksum, whole or in part.
        let end = packed.len() - CHECKSUM;
        assert!((end..packed.len()).all(|end| unpacks(&packed[..end])));
        assert!((0..end).all(|end| !unpacks(&packed[..end])));
        // All bits but those that pad the last byte before the checksum, which have no meaning.
        for bit in (HEADER * 8..(end - 1) * 8).chain(end * 8..packed.len() * 8) {
            let mut flipped = packed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!unpacks(&flipped), "bit {bit}");
        }
    }
}
