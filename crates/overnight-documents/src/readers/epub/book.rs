//! The structure of a book: its chapters in order, their titles, and its locked files. It is read event by event, so
//! that neither depth nor entities cost more than their bytes.

use std::collections::{HashMap, HashSet};
use std::io::Read;

use crate::readers::package::{Package, Xml, XmlNode, one_line, resolve};
use crate::refusal::{Refusal, clause};

/// The largest file of a book that is unpacked, in bytes; chapters are smaller than a hundredth of it.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The most chapters of a book.
const MAX_CHAPTERS: usize = 20_000;
/// Methods that make fonts useless outside their book, which don't protect its text.
const OF_FONTS: &[&str] = &["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];

/// A book's chapters and their properties.
#[derive(Debug, Default)]
pub(super) struct Book {
    /// In reading order, without tables of contents.
    pub(super) chapters: Vec<Chapter>,
    /// The book's own title.
    pub(super) title: Option<String>,
    /// Titles by file, from its table of contents.
    pub(super) titles: HashMap<String, String>,
    /// Files that can't be read without a key.
    pub(super) locked: HashSet<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Chapter {
    /// The chapter's file; empty if the book names none.
    pub(super) file: String,
    pub(super) media: String,
    /// The chapter is the table of contents.
    is_navigation: bool,
    /// The chapter is the cover picture.
    pub(super) is_cover: bool,
}

/// The content of one file; the error is a fragment.
pub(super) fn content(package: &Package<'_>, name: &str) -> Result<Vec<u8>, String> {
    if package.is_locked(name) {
        return Err("it is encrypted".to_owned());
    }
    let mut content = Vec::new();
    let read = package.part(name).ok_or("its file is missing from the book")?;
    let read = read.and_then(|part| part.take(MAX_FILE_BYTES + 1).read_to_end(&mut content));
    match read {
        Ok(_) if content.len() as u64 > MAX_FILE_BYTES => Err("its file unpacks to more than 64 MiB".to_owned()),
        Ok(_) => Ok(content),
        Err(error) => Err(format!("its file can't be read: {}", clause(&error))),
    }
}

fn damaged(why: &str) -> Refusal {
    Refusal::Damaged { format: "EPUB".to_owned(), why: why.to_owned() }
}

impl Book {
    pub(super) fn read(package: &Package<'_>) -> Result<Self, Refusal> {
        let named = root_file(package).or_else(|| package.ending(".opf").map(str::to_owned));
        let path = named.ok_or_else(|| damaged("it names no package file"))?;
        if let Some(Err(broken)) = Xml::open(package, &path) {
            return Err(damaged(&broken.to_string()));
        }
        let mut book = Self::default();
        if let Some(contents) = book.chapters(package, &path) {
            book.titles = titles(package, &contents);
        }
        book.locked = locked(package);
        if book.chapters.is_empty() { Err(damaged("it names no chapters")) } else { Ok(book) }
    }

    /// Reads the file that names the chapters; returns the file of the table of contents.
    fn chapters(&mut self, package: &Package<'_>, path: &str) -> Option<String> {
        let folder = folder(path);
        let mut items: HashMap<String, Chapter> = HashMap::new();
        let mut order: Vec<String> = Vec::new();
        let mut covers: HashSet<String> = HashSet::new();
        let (mut ncx, mut in_title) = (None, false);
        each(package, path, |node| match node {
            XmlNode::Start(tag) => match tag.name() {
                "item" => {
                    let (Some(id), Some(href)) = (tag.value("id"), tag.value("href")) else { return };
                    let properties = tag.value("properties").unwrap_or_default();
                    let item = Chapter {
                        file: resolve(folder, &href),
                        media: tag.value("media-type").unwrap_or_default().to_ascii_lowercase(),
                        is_navigation: properties.split_whitespace().any(|property| property == "nav"),
                        is_cover: id.to_ascii_lowercase().contains("cover"),
                    };
                    items.insert(id, item);
                }
                "itemref" if order.len() < MAX_CHAPTERS => order.extend(tag.value("idref")),
                "spine" => ncx = tag.value("toc"),
                "reference" if tag.value("type").is_some_and(|kind| kind.eq_ignore_ascii_case("cover")) => {
                    covers.extend(tag.value("href").map(|href| resolve(folder, &href)));
                }
                "title" => in_title = self.title.is_none(),
                _ => {}
            },
            XmlNode::Text(text) if in_title => self.title.get_or_insert_default().push_str(&text),
            XmlNode::End(name) if name == "title" => in_title = false,
            XmlNode::Text(_) | XmlNode::End(_) | XmlNode::Over => {}
        });
        let mut met = HashSet::new();
        for id in order {
            let item = items.get(&id);
            // In some books one file is listed once for each of its sections.
            let file = item.map_or(&id, |item| &item.file);
            if item.is_some_and(|item| item.is_navigation) || !met.insert(file.clone()) {
                continue;
            }
            let mut chapter = item.cloned().unwrap_or_default();
            chapter.is_cover |= covers.contains(&chapter.file);
            self.chapters.push(chapter);
        }
        let navigation = items.values().filter(|item| item.is_navigation).map(|item| item.file.clone()).min();
        navigation.or_else(|| Some(items.get(&ncx?)?.file.clone()))
    }
}

/// Goes through a file as far as it can be read.
fn each(package: &Package<'_>, file: &str, mut tell: impl FnMut(XmlNode)) {
    let Some(Ok(xml)) = Xml::open(package, file) else { return };
    let mut xml = xml.with_lenient_markup();
    while let Ok(node) = xml.next() {
        if matches!(node, XmlNode::Over) {
            return;
        }
        tell(node);
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The package file that a book's container names first.
fn root_file(package: &Package<'_>) -> Option<String> {
    let mut found = None;
    each(package, "META-INF/container.xml", |node| {
        if let XmlNode::Start(tag) = node
            && tag.name() == "rootfile"
            && found.is_none()
        {
            found = tag.value("full-path");
        }
    });
    found.filter(|path| !path.is_empty())
}

/// The encrypted files, without fonts.
fn locked(package: &Package<'_>) -> HashSet<String> {
    let mut locked = HashSet::new();
    let mut is_of_font = false;
    each(package, "META-INF/encryption.xml", |node| match node {
        XmlNode::Start(tag) => match tag.name() {
            "EncryptedData" => is_of_font = false,
            "EncryptionMethod" => {
                let algorithm = tag.value("Algorithm").unwrap_or_default();
                is_of_font |= OF_FONTS.contains(&algorithm.as_str());
            }
            "CipherReference" if !is_of_font => {
                locked.extend(tag.value("URI").map(|uri| resolve("", &uri)));
            }
            _ => {}
        },
        XmlNode::Text(_) | XmlNode::End(_) | XmlNode::Over => {}
    });
    locked
}

/// Titles by file, from either kind of table of contents; a file with several titles gets the first.
fn titles(package: &Package<'_>, path: &str) -> HashMap<String, String> {
    let mut titles = HashMap::new();
    // In the new kind a link has its text inside; in the old one the text comes before the link.
    let (mut text, mut link) = (String::new(), None);
    let (mut in_contents, mut is_new) = (true, false);
    each(package, path, |node| match node {
        XmlNode::Start(tag) => match tag.name() {
            "nav" => {
                is_new = true;
                in_contents = tag.value("type").is_none_or(|kind| kind == "toc");
            }
            "a" => (text, link) = (String::new(), tag.value("href")),
            "navLabel" => text.clear(),
            "pageList" | "navList" => in_contents = false,
            "content" if in_contents && !is_new => {
                if let Some(href) = tag.value("src") {
                    titles.entry(resolve(folder(path), &href)).or_insert_with(|| one_line(&text));
                }
            }
            _ => {}
        },
        XmlNode::Text(more) => text.push_str(&more),
        XmlNode::End(name) if name == "a" && in_contents => {
            if let Some(href) = link.take() {
                titles.entry(resolve(folder(path), &href)).or_insert_with(|| one_line(&text));
            }
        }
        XmlNode::End(name) if matches!(name.as_str(), "nav" | "pageList" | "navList") => in_contents = false,
        XmlNode::End(_) | XmlNode::Over => {}
    });
    titles
}
