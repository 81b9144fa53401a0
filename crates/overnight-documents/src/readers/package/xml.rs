//! One XML part as a stream of elements and text, by their local names, because prefixes are the writing program's
//! choice. There are no document type declarations, so no entities but XML's own; depth and the length of any tag or
//! text are limited; bytes that aren't valid text become � instead of ending the part.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Error, Read, Result as IoResult};

use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::archive::{Package, PartBytes};
use crate::readers::{ReadFailure, Stopped};
use crate::refusal::{Refusal, clause};

/// The longest tag or text between two tags, in bytes.
const MAX_EVENT: usize = 16 << 20;
/// The most elements inside one another. Word's own limit is lower.
const MAX_DEPTH: usize = 10_000;

/// A part that can't be read further. The text names the part and the reason, in a clause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BrokenPart(pub(crate) String);

/// Why reading a part ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Halt {
    #[error(transparent)]
    Broken(#[from] BrokenPart),
    #[error(transparent)]
    Failure(#[from] ReadFailure),
}

impl Halt {
    /// Converts to the error of a format's reader.
    pub(crate) fn of(self, format: &str) -> ReadFailure {
        match self {
            Self::Broken(BrokenPart(why)) => Refusal::Damaged { format: format.to_owned(), why }.into(),
            Self::Failure(failure) => failure,
        }
    }
}

impl From<Stopped> for Halt {
    fn from(stopped: Stopped) -> Self {
        Self::Failure(stopped.into())
    }
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Failure(refusal.into())
    }
}

/// The next node of a part.
#[derive(Debug)]
pub(crate) enum XmlNode {
    Start(Element),
    /// An end tag, by its local name.
    End(String),
    /// A piece of text; one text can come in several pieces.
    Text(String),
    /// The end of the part.
    Over,
}

/// The start tag of an element.
#[derive(Debug)]
pub(crate) struct Element(BytesStart<'static>);

impl Element {
    /// Local name.
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// The value of the attribute with this local name, whatever its prefix.
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        self.find(|key| key.rsplit(':').next() == Some(name))
    }

    /// The value of the attribute with this local name that has a prefix: `r:id` beside `id`.
    pub(crate) fn prefixed(&self, name: &str) -> Option<String> {
        self.find(|key| key.split_once(':').is_some_and(|(_, local)| local == name))
    }

    /// All attributes with their names as written.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        let mut attributes = self.0.attributes();
        let read = attributes.with_checks(false).flatten().map(|found| {
            let value = found.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_or_else(|_| found.value.to_string(), Cow::into_owned);
            (found.key.as_ref().to_owned(), value)
        });
        read.collect()
    }

    /// A number in an attribute.
    pub(crate) fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.value(name)?.trim().parse().ok()
    }

    /// A switch: on if its value is omitted.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.value(name).is_none_or(|value| !matches!(value.as_str(), "0" | "false" | "off" | "none"))
    }

    fn find(&self, wanted: impl Fn(&str) -> bool) -> Option<String> {
        let found = self.0.attributes().with_checks(false).flatten().find(|found| wanted(found.key.as_ref()))?;
        let value = found.normalized_value(XmlVersion::Implicit1_0);
        Some(value.map_or_else(|_| found.value.to_string(), Cow::into_owned))
    }
}

/// A part's bytes: unpacked, decoded, and limited between two tags.
type Characters<'a> = Allowance<BufReader<DecodeReaderBytes<PartBytes<'a>, Vec<u8>>>>;

/// A part that is read as a stream.
pub(crate) struct Xml<'a> {
    name: String,
    reader: Reader<Characters<'a>>,
    buffer: Vec<u8>,
    depth: usize,
    has_begun: bool,
    is_lenient: bool,
}

impl<'a> Xml<'a> {
    /// None if there is no such part.
    pub(crate) fn open(package: &Package<'a>, name: &str) -> Option<Result<Self, BrokenPart>> {
        let unpacked = match package.part(name)? {
            Ok(unpacked) => unpacked,
            Err(error) => return Some(Err(BrokenPart(format!("its part {name} can't be had: {error}")))),
        };
        Some(Ok(Self::of_part(name, unpacked)))
    }

    /// A file that is one part by itself.
    pub(crate) fn of_bytes(name: &str, bytes: &'a [u8]) -> Self {
        Self::of_part(name, PartBytes::of_bytes(bytes))
    }

    fn of_part(name: &str, unpacked: PartBytes<'a>) -> Self {
        let decoded = DecodeReaderBytesBuilder::new()
            .encoding(Some(encoding_rs::UTF_8))
            .utf8_passthru(false)
            .bom_override(true)
            .build(unpacked);
        let allowance = Allowance { inner: BufReader::with_capacity(1 << 16, decoded), left: MAX_EVENT };
        let mut reader = Reader::from_reader(allowance);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.allow_dangling_amp = true;
        Self { name: name.to_owned(), reader, buffer: Vec::new(), depth: 0, has_begun: false, is_lenient: false }
    }

    /// Reads leniently, for books, which people write: a document type is ignored, and end tags need not match.
    pub(crate) fn with_lenient_markup(mut self) -> Self {
        let config = self.reader.config_mut();
        (config.check_end_names, config.allow_unmatched_ends) = (false, true);
        self.is_lenient = true;
        self
    }

    /// Opens a part that must exist.
    pub(crate) fn need(package: &Package<'a>, name: &str) -> Result<Self, BrokenPart> {
        Self::open(package, name).unwrap_or_else(|| Err(BrokenPart(format!("its part {name} is missing"))))
    }

    pub(crate) fn next(&mut self) -> Result<XmlNode, BrokenPart> {
        let Self { name, reader, buffer, depth, has_begun, is_lenient } = self;
        let broken =
            |why: &dyn std::fmt::Display| BrokenPart(format!("its part {name} can't be read: {}", clause(why)));
        loop {
            buffer.clear();
            // A buffer that one long text made large is given back.
            buffer.shrink_to(1 << 20);
            reader.get_mut().left = MAX_EVENT;
            match reader.read_event_into(buffer).map_err(|error| broken(&error))? {
                Event::Start(start) => {
                    *depth += 1;
                    *has_begun = true;
                    if *depth > MAX_DEPTH {
                        return Err(broken(&format!("more than {MAX_DEPTH} elements are nested in it")));
                    }
                    return Ok(XmlNode::Start(Element(start.into_owned())));
                }
                Event::End(end) => {
                    *depth = depth.saturating_sub(1);
                    return Ok(XmlNode::End(end.local_name().into_inner().to_owned()));
                }
                Event::Text(text) => return Ok(XmlNode::Text(text.xml10_content().into_owned())),
                Event::CData(text) => return Ok(XmlNode::Text(text.into_inner().into_owned())),
                Event::GeneralRef(reference) => {
                    let resolved = match reference.resolve_char_ref() {
                        Ok(Some(found)) => found.to_string(),
                        Ok(None) => match resolve_predefined_entity(&reference) {
                            Some(found) => found.to_owned(),
                            // The definition of the entity isn't read: its name is better than nothing.
                            None if *is_lenient => format!("&{};", &*reference),
                            None => String::new(),
                        },
                        Err(_) => String::new(),
                    };
                    return Ok(XmlNode::Text(resolved));
                }
                Event::DocType(_) if !*is_lenient => {
                    return Err(broken(&"it declares a document type, which office programs never do"));
                }
                Event::Eof if *depth > 0 => return Err(broken(&"it is cut off")),
                Event::Eof if !*has_begun => return Err(broken(&"it is empty")),
                Event::Eof => return Ok(XmlNode::Over),
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
    }

    /// Reports each start tag up to the end of the element `until`, or of the part.
    pub(crate) fn each(
        &mut self,
        until: &str,
        mut tell: impl FnMut(&Element, &mut Self) -> Result<(), BrokenPart>,
    ) -> Result<(), BrokenPart> {
        loop {
            match self.next()? {
                XmlNode::Start(element) => tell(&element, self)?,
                XmlNode::End(name) if name == until => return Ok(()),
                XmlNode::Over => return Ok(()),
                XmlNode::End(_) | XmlNode::Text(_) => {}
            }
        }
    }

    /// Skips the rest of the element whose start tag was read last.
    pub(crate) fn skip(&mut self) -> Result<(), BrokenPart> {
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside {
            if matches!(self.next()?, XmlNode::Over) {
                break;
            }
        }
        Ok(())
    }

    /// All text in the element whose start tag was read last.
    pub(crate) fn text(&mut self) -> Result<String, BrokenPart> {
        let outside = self.depth.saturating_sub(1);
        let mut text = String::new();
        while self.depth > outside {
            match self.next()? {
                XmlNode::Text(piece) if text.len() < MAX_EVENT => text.push_str(&piece),
                XmlNode::Over => break,
                XmlNode::Text(_) | XmlNode::Start(_) | XmlNode::End(_) => {}
            }
        }
        Ok(text)
    }
}

/// Stops a tag or text that is too long, before it fills the memory.
struct Allowance<R> {
    inner: R,
    left: usize,
}

impl<R: Read> Read for Allowance<R> {
    fn read(&mut self, into: &mut [u8]) -> IoResult<usize> {
        self.inner.read(into)
    }
}

impl<R: BufRead> BufRead for Allowance<R> {
    fn fill_buf(&mut self) -> IoResult<&[u8]> {
        if self.left == 0 {
            return Err(Error::other(format!("a tag or a text in it is longer than {} MiB", MAX_EVENT >> 20)));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.left = self.left.saturating_sub(amount);
        self.inner.consume(amount);
    }
}
