//! Archives that are damaged or built to do harm.

use std::fmt::Write as _;
use std::io::Read;

use super::sample::zip;
use super::{Package, Xml, XmlNode};

const TEXT: &str = "<a><b>one</b><b>two</b></a>";

/// The texts of a part, and why it ended early.
fn texts(bytes: &[u8], part: &str) -> (Vec<String>, Option<String>) {
    let package = Package::open(bytes).unwrap();
    let mut texts = Vec::new();
    let mut xml = match Xml::need(&package, part) {
        Ok(xml) => xml,
        Err(broken) => return (texts, Some(broken.to_string())),
    };
    loop {
        match xml.next() {
            Ok(XmlNode::Text(text)) => texts.push(text),
            Ok(XmlNode::Over) => return (texts, None),
            Ok(XmlNode::Start(_) | XmlNode::End(_)) => {}
            Err(broken) => return (texts, Some(broken.to_string())),
        }
    }
}

#[test]
fn a_part_is_found_with_and_without_a_directory() {
    let whole = zip(&[("a.xml", TEXT), ("folder/b.xml", "<c>three</c>")]);
    let directory = memchr::memmem::find(&whole, b"PK\x01\x02").unwrap();
    for (bytes, is_salvaged) in [(&whole[..], false), (&whole[..directory], true), (&whole[..directory + 10], true)] {
        let package = Package::open(bytes).unwrap();
        assert_eq!(package.is_salvaged, is_salvaged);
        assert!(package.has("folder/b.xml"));
        assert_eq!(texts(bytes, "a.xml"), (vec!["one".to_owned(), "two".to_owned()], None));
        assert_eq!(texts(bytes, "folder/b.xml"), (vec!["three".to_owned()], None));
    }
}

#[test]
fn nothing_is_opened_of_what_is_no_archive() {
    for bytes in [&b""[..], b"PK\x03\x04", b"PK\x05\x06\0\0\0\0", b"PK\x03\x04 but no more than that"] {
        assert!(Package::open(bytes).is_none(), "{bytes:?}");
    }
}

#[test]
fn a_damaged_part_gives_what_stands_before() {
    let mut long = String::from("<a>");
    for number in 0..20_000 {
        write!(long, "<b>{number}</b>").unwrap();
    }
    long.push_str("</a>");
    let mut bytes = zip(&[("a.xml", &long)]);
    let middle = bytes.len() / 2;
    bytes[middle..middle + 50].fill(0xff);
    let (texts, why) = texts(&bytes, "a.xml");
    assert_eq!(texts.first().map(String::as_str), Some("0"));
    assert!(why.unwrap().starts_with("its part a.xml can't be read: "));
}

#[test]
fn what_no_office_program_writes_ends_a_part() {
    let deep = "<a>".repeat(100_000);
    for (content, expected) in [
        ("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "it declares a document type, which office programs never do"),
        (deep.as_str(), "more than 10000 elements are nested in it"),
        ("<a>", "it is cut off"),
    ] {
        let (texts, why) = texts(&zip(&[("a.xml", content)]), "a.xml");
        assert_eq!((texts, why), (vec![], Some(format!("its part a.xml can't be read: {expected}"))));
    }
}

#[test]
fn text_is_read_as_it_is_encoded() {
    let wide: Vec<u8> = "\u{feff}<a>ä</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (raw, expected) in [
        (&b"<a>\xc3\xa4</a>"[..], "ä"),
        (&wide, "ä"),
        (b"<a>x\xffy</a>", "x\u{fffd}y"),
        (b"<a><![CDATA[<b>]]></a>", "<b>"),
    ] {
        let mut writer = ::zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        writer.start_file("a.xml", ::zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut writer, raw).unwrap();
        let bytes = writer.finish().unwrap().into_inner();
        assert_eq!(texts(&bytes, "a.xml"), (vec![expected.to_owned()], None));
    }
    let (texts, why) = texts(&zip(&[("a.xml", "<a>&lt;&#65;&amp;&unknown;&#x110000; & b</a>")]), "a.xml");
    assert_eq!((texts.concat().as_str(), why), ("<A& & b", None));
}

#[test]
fn a_bomb_ends_before_it_is_unpacked() {
    let bomb = zip(&[("a.xml", &" ".repeat(64 << 20))]);
    let package = Package::open(&bomb).unwrap();
    let mut unpacked = package.part("a.xml").unwrap().unwrap();
    let error = std::io::copy(&mut unpacked.by_ref(), &mut std::io::sink()).unwrap_err();
    assert_eq!(error.to_string(), "it unpacks to more than 400 times its size");
}

#[test]
fn the_checksum_is_looked_at() {
    let mut bytes = zip(&[("a.xml", TEXT)]);
    let directory = memchr::memmem::find(&bytes, b"PK\x01\x02").unwrap();
    bytes[directory + 16] ^= 1;
    assert_eq!(texts(&bytes, "a.xml").1.unwrap(), "its part a.xml can't be read: its checksum is wrong");
}
