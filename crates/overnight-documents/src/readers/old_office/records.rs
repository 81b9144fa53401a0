//! The records that a PPT is made of (MS-PPT, 2.3.1), each with its kind and its bytes, which may be records too.

/// The maximum nesting depth of records.
const MAX_DEPTH: usize = 40;

/// Kinds of records.
pub(super) mod kind {
    pub(in super::super) const DOCUMENT: u16 = 0x03e8;
    pub(in super::super) const SLIDE: u16 = 0x03ee;
    pub(in super::super) const SLIDE_ATOM: u16 = 0x03ef;
    pub(in super::super) const NOTES: u16 = 0x03f0;
    pub(in super::super) const SLIDE_PERSIST: u16 = 0x03f3;
    pub(in super::super) const SLIDE_SHOW: u16 = 0x03f9;
    pub(in super::super) const OBJECT_LIST: u16 = 0x0409;
    pub(in super::super) const OBJECT_REFERENCE: u16 = 0x0bc1;
    pub(in super::super) const PLACEHOLDER: u16 = 0x0bc3;
    pub(in super::super) const OUTLINE_TEXT: u16 = 0x0f9e;
    pub(in super::super) const TEXT_HEADER: u16 = 0x0f9f;
    pub(in super::super) const TEXT_CHARS: u16 = 0x0fa0;
    pub(in super::super) const TEXT_BYTES: u16 = 0x0fa8;
    pub(in super::super) const STRING: u16 = 0x0fba;
    pub(in super::super) const OBJECT_ATOM: u16 = 0x0fc3;
    pub(in super::super) const SLIDE_NUMBER_MARK: u16 = 0x0fd8;
    pub(in super::super) const HEADERS_FOOTERS: u16 = 0x0fd9;
    pub(in super::super) const HEADERS_FOOTERS_ATOM: u16 = 0x0fda;
    pub(in super::super) const SLIDE_LIST: u16 = 0x0ff0;
    pub(in super::super) const USER_EDIT: u16 = 0x0ff5;
    pub(in super::super) const DATE_MARK: u16 = 0x0ff7;
    pub(in super::super) const OWN_DATE_MARK: u16 = 0x0ff8;
    pub(in super::super) const HEADER_MARK: u16 = 0x0ff9;
    pub(in super::super) const FOOTER_MARK: u16 = 0x0ffa;
    pub(in super::super) const FORMATTED_DATE_MARK: u16 = 0x1015;
    pub(in super::super) const TAG_DATA: u16 = 0x138b;
    pub(in super::super) const OBJECT: u16 = 0x1011;
    pub(in super::super) const PERSIST_DIRECTORY: u16 = 0x1772;
    pub(in super::super) const COMMENT: u16 = 0x2ee0;
    pub(in super::super) const SHAPE: u16 = 0xf004;
    pub(in super::super) const SHAPE_ATOM: u16 = 0xf00a;
    pub(in super::super) const SHAPE_OPTIONS: u16 = 0xf00b;
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) kind: u16,
    pub(super) instance: u16,
    is_container: bool,
    pub(super) bytes: &'a [u8],
}

impl<'a> Record<'a> {
    /// The record that begins at an offset.
    pub(super) fn at(stream: &'a [u8], offset: u32) -> Option<Self> {
        records(stream.get(usize::try_from(offset).ok()?..)?).next()
    }

    /// The records directly in it.
    pub(super) fn children(self) -> impl Iterator<Item = Self> {
        records(if self.is_container { self.bytes } else { &[] })
    }

    pub(super) fn child(self, kind: u16) -> Option<Self> {
        self.children().find(|record| record.kind == kind)
    }

    /// All records inside of one kind, in their order; their own contents aren't searched.
    pub(super) fn all(self, kind: u16) -> Vec<Self> {
        let mut found = Vec::new();
        self.collect(kind, 0, &mut found);
        found
    }

    fn collect(self, kind: u16, depth: usize, found: &mut Vec<Self>) {
        for record in self.children() {
            if record.kind == kind {
                found.push(record);
            } else if depth < MAX_DEPTH {
                record.collect(kind, depth + 1, found);
            }
        }
    }

    pub(super) fn number(self, at: usize) -> Option<u32> {
        number(self.bytes, at)
    }

    /// The bytes as UTF-16.
    pub(super) fn units(self) -> Vec<u16> {
        self.bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
    }
}

/// The records one after the other, up to one that isn't whole.
pub(super) fn records(mut bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    std::iter::from_fn(move || {
        let (head, rest) = bytes.split_at_checked(8)?;
        let (first, length) = (u16::from_le_bytes([head[0], head[1]]), number(head, 4)?);
        let (inside, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        bytes = behind;
        let kind = u16::from_le_bytes([head[2], head[3]]);
        Some(Record { kind, instance: first >> 4, is_container: first & 0xf == 0xf, bytes: inside })
    })
}

pub(super) fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}
