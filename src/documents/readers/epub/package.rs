//! What a book says of itself: its chapters in order, their titles, and what of it is locked. Read event by event, so that
//! no depth and no entity of it counts for more than its bytes.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::files::{Files, damaged};
use crate::documents::encoding;
use crate::documents::refusal::Refusal;

/// The most chapters of a book.
const MAX_CHAPTERS: usize = 20_000;
/// Ways of making fonts useless outside their book, which are no protection of its text.
const OF_FONTS: &[&str] = &["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];

/// A book's chapters and what is known of them.
#[derive(Debug, Default)]
pub(super) struct Package {
    /// In reading order, without tables of contents.
    pub(super) chapters: Vec<Chapter>,
    /// The book's own title.
    pub(super) title: Option<String>,
    /// Titles by file, from its table of contents.
    pub(super) titles: HashMap<String, String>,
    /// Files that nobody reads without a key.
    pub(super) locked: HashSet<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Chapter {
    /// Its file; empty where the book names none.
    pub(super) file: String,
    pub(super) media: String,
    /// A picture on the outside.
    pub(super) is_cover: bool,
}

#[derive(Default)]
struct Item {
    file: String,
    media: String,
    is_navigation: bool,
    is_cover: bool,
}

impl Package {
    pub(super) fn read(files: &mut Files<'_>) -> Result<Self, Refusal> {
        let named = files.get("META-INF/container.xml").ok().and_then(|xml| root_file(&characters(&xml)));
        let path = named.or_else(|| files.first_ending(".opf")).ok_or_else(|| damaged("it names no package file"))?;
        let xml = files
            .get(&path)
            .map_err(|missing| damaged(&format!("its package file can't be had: {}", missing.why())))?;
        let mut package = Self::default();
        let contents = package.package(&characters(&xml), &path);
        if let Some(xml) = contents.as_ref().and_then(|file| files.get(file).ok()) {
            package.titles = titles(&characters(&xml), contents.as_deref().unwrap_or_default());
        }
        if let Ok(xml) = files.get("META-INF/encryption.xml") {
            package.locked = locked(&characters(&xml));
        }
        if package.chapters.is_empty() {
            return Err(damaged("it names no chapters"));
        }
        Ok(package)
    }

    /// Reads the package file; returns the file of the table of contents.
    fn package(&mut self, xml: &str, path: &str) -> Option<String> {
        let mut items: HashMap<String, Item> = HashMap::new();
        let mut order: Vec<String> = Vec::new();
        let mut covers: HashSet<String> = HashSet::new();
        let (mut ncx, mut in_title) = (None, false);
        each(xml, |event| match event {
            Told::Start(tag) => match tag.name {
                "item" => {
                    let (Some(id), Some(href)) = (tag.get("id"), tag.get("href")) else { return };
                    let properties = tag.get("properties").unwrap_or_default();
                    let has = |wanted: &str| properties.split_whitespace().any(|property| property == wanted);
                    let item = Item {
                        file: resolve(path, &href),
                        media: tag.get("media-type").unwrap_or_default().to_ascii_lowercase(),
                        is_navigation: has("nav"),
                        is_cover: id.to_ascii_lowercase().contains("cover"),
                    };
                    items.insert(id, item);
                }
                "itemref" if order.len() < MAX_CHAPTERS => order.extend(tag.get("idref")),
                "spine" => ncx = tag.get("toc"),
                "reference" if tag.get("type").is_some_and(|kind| kind.eq_ignore_ascii_case("cover")) => {
                    covers.extend(tag.get("href").map(|href| resolve(path, &href)));
                }
                "title" => in_title = self.title.is_none(),
                _ => {}
            },
            Told::Text(text) if in_title => self.title.get_or_insert_default().push_str(text),
            Told::End("title") => in_title = false,
            Told::Text(_) | Told::End(_) => {}
        });
        let mut met = HashSet::new();
        for id in order {
            let item = items.get(&id);
            // One file stands in some books once for each of its sections.
            let file = item.map_or(&id, |item| &item.file);
            if item.is_some_and(|item| item.is_navigation) || !met.insert(file.clone()) {
                continue;
            }
            let chapter = item.map(|item| Chapter {
                file: item.file.clone(),
                media: item.media.clone(),
                is_cover: item.is_cover || covers.contains(&item.file),
            });
            self.chapters.push(chapter.unwrap_or_default());
        }
        let navigation = items.values().filter(|item| item.is_navigation).map(|item| item.file.clone()).min();
        navigation.or_else(|| Some(items.get(&ncx?)?.file.clone()))
    }
}

fn characters(xml: &[u8]) -> String {
    let declared = encoding::declared_in_html(xml);
    encoding::decode(xml, declared.as_deref()).map(|decoded| decoded.text.into_owned()).unwrap_or_default()
}

/// What a walk through XML comes by. Names are without their prefix.
enum Told<'a> {
    Start(Tag<'a>),
    Text(&'a str),
    End(&'a str),
}

struct Tag<'a> {
    name: &'a str,
    start: &'a BytesStart<'a>,
}

impl Tag<'_> {
    fn get(&self, wanted: &str) -> Option<String> {
        let mut attributes = self.start.attributes();
        let found = attributes.with_checks(false).flatten().find(|found| found.key.local_name().as_ref() == wanted)?;
        let plain = quick_xml::escape::unescape(&found.value);
        Some(plain.map_or_else(|_| found.value.to_string(), Cow::into_owned))
    }
}

/// Goes through `xml` as far as it can be read. Entities but the five of XML are passed over.
fn each(xml: &str, mut told: impl FnMut(Told<'_>)) {
    let mut reader = Reader::from_str(xml);
    let config = reader.config_mut();
    (config.check_end_names, config.allow_unmatched_ends) = (false, true);
    loop {
        match reader.read_event() {
            Ok(Event::Start(start)) => {
                told(Told::Start(Tag { name: start.local_name().as_ref(), start: &start }));
            }
            Ok(Event::Empty(start)) => {
                let name = start.local_name().as_ref().to_owned();
                told(Told::Start(Tag { name: &name, start: &start }));
                told(Told::End(&name));
            }
            Ok(Event::End(end)) => told(Told::End(end.local_name().as_ref())),
            Ok(Event::Text(text)) => told(Told::Text(&text)),
            Ok(Event::CData(text)) => told(Told::Text(&text)),
            Ok(Event::GeneralRef(name)) => {
                let reference = format!("&{};", &*name);
                if let Ok(text) = quick_xml::escape::unescape(&reference) {
                    told(Told::Text(&text));
                }
            }
            Ok(Event::Eof) | Err(_) => return,
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => {}
        }
    }
}

/// The package file that a book's container names first.
fn root_file(xml: &str) -> Option<String> {
    let mut found = None;
    each(xml, |event| {
        if let Told::Start(tag) = event
            && tag.name == "rootfile"
            && found.is_none()
        {
            found = tag.get("full-path");
        }
    });
    found.filter(|path| !path.is_empty())
}

/// Files that are encrypted, fonts apart.
fn locked(xml: &str) -> HashSet<String> {
    let mut locked = HashSet::new();
    let mut is_of_font = false;
    each(xml, |event| match event {
        Told::Start(tag) => match tag.name {
            "EncryptedData" => is_of_font = false,
            "EncryptionMethod" => {
                let algorithm = tag.get("Algorithm").unwrap_or_default();
                is_of_font |= OF_FONTS.contains(&algorithm.as_str());
            }
            "CipherReference" if !is_of_font => {
                locked.extend(tag.get("URI").map(|uri| resolve("", &uri)));
            }
            _ => {}
        },
        Told::Text(_) | Told::End(_) => {}
    });
    locked
}

/// Titles by file, from either kind of table of contents: of several in one file, the first.
fn titles(xml: &str, path: &str) -> HashMap<String, String> {
    let mut titles = HashMap::new();
    // In the new kind a link has its text inside; in the old one the text comes before the link.
    let (mut text, mut link) = (String::new(), None);
    let (mut in_contents, mut is_new) = (true, false);
    each(xml, |event| match event {
        Told::Start(tag) => match tag.name {
            "nav" => {
                is_new = true;
                in_contents = tag.get("type").is_none_or(|kind| kind == "toc");
            }
            "a" => (text, link) = (String::new(), tag.get("href")),
            "navLabel" => text.clear(),
            "pageList" | "navList" => in_contents = false,
            "content" if in_contents && !is_new => {
                if let Some(href) = tag.get("src") {
                    titles.entry(resolve(path, &href)).or_insert_with(|| line(&text));
                }
            }
            _ => {}
        },
        Told::Text(more) => text.push_str(more),
        Told::End("a") if in_contents => {
            if let Some(href) = link.take() {
                titles.entry(resolve(path, &href)).or_insert_with(|| line(&text));
            }
        }
        Told::End("nav" | "pageList" | "navList") => in_contents = false,
        Told::End(_) => {}
    });
    titles
}

/// A text on one line.
pub(super) fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The file that a link in the file `from` leads to, without the place in it.
fn resolve(from: &str, link: &str) -> String {
    let link = link.split('#').next().unwrap_or(link);
    let link = decoded(link);
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = if link.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join("/")
}

/// `%20` and its like as what they stand for.
fn decoded(link: &str) -> String {
    let mut bytes = Vec::with_capacity(link.len());
    let mut rest = link.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match hex.filter(|_| *first == b'%') {
            Some(byte) => (bytes.push(byte), rest = &after[2..]).1,
            None => (bytes.push(*first), rest = after).1,
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| link.to_owned())
}
