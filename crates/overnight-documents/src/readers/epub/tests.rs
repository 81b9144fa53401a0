//! Books made here, and the texts read from them.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::extract::extract;
use crate::format::ending;
use crate::readers::package::sample::damaged;
use crate::{DocumentError, Extracted, Format, Unit};

/// A book of these chapters: name and content; a chapter without content has no file.
struct Book {
    chapters: Vec<(&'static str, Option<&'static str>)>,
    more: Vec<(&'static str, String)>,
}

fn page(body: &str) -> String {
    format!("<?xml version='1.0'?><html xmlns='x'><head><title>Own title</title></head><body>{body}</body></html>")
}

impl Book {
    fn of(chapters: &[(&'static str, Option<&'static str>)]) -> Self {
        Self { chapters: chapters.to_vec(), more: Vec::new() }
    }

    fn with(mut self, name: &'static str, content: &str) -> Self {
        self.more.push((name, content.to_owned()));
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let mut add = |name: &str, content: &str| {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(content.as_bytes()).unwrap();
        };
        add("mimetype", "application/epub+zip");
        add(
            "META-INF/container.xml",
            "<container><rootfiles><rootfile full-path='OEBPS/book.opf'/></rootfiles></container>",
        );
        let items = self.chapters.iter().map(|(name, _)| {
            let media = if ending(name) == "jpg" { "image/jpeg" } else { "application/xhtml+xml" };
            format!("<item id='{name}' href='text/{}' media-type='{media}'/>", name.replace(' ', "%20"))
        });
        let order = self.chapters.iter().map(|(name, _)| format!("<itemref idref='{name}'/>"));
        let package = format!(
            "<package xmlns:dc='d'><metadata><dc:title>The Book</dc:title></metadata><manifest>{}\
             <item id='nav' href='nav.xhtml' properties='nav' media-type='application/xhtml+xml'/>\
             <item id='ncx' href='toc.ncx'/></manifest><spine toc='ncx'><itemref idref='nav'/>{}</spine></package>",
            items.collect::<String>(),
            order.collect::<String>()
        );
        add("OEBPS/book.opf", &package);
        for (name, content) in &self.chapters {
            if let Some(content) = content {
                add(&format!("OEBPS/text/{name}"), &page(content));
            }
        }
        for (name, content) in &self.more {
            add(name, content);
        }
        zip.finish().unwrap().into_inner()
    }

    fn read(&self) -> Extracted {
        extract("a.epub", &self.bytes()).unwrap()
    }
}

fn gaps(read: &Extracted) -> Vec<String> {
    read.gaps.iter().map(ToString::to_string).collect()
}

#[test]
fn a_chapter_is_a_page_in_the_order_of_reading() {
    let book = Book::of(&[
        ("cover.xhtml", Some("<img src='c.jpg'/>")),
        ("b 1.xhtml", Some("<h1>First</h1><p>One<br/>two <a href='#n'>1</a></p><aside id='n'>1 Note</aside>")),
        ("a.xhtml", Some("<p>Second &amp; last</p><footer>Signed</footer>")),
        ("c.xhtml", Some("<p>Third</p>")),
    ]);
    let book = book.with(
        "OEBPS/nav.xhtml",
        "<html><nav epub:type='toc'><ol><li><a href='text/a.xhtml#x'>A <b>named</b> one</a></li></ol></nav></html>",
    );
    let read = book.read();
    assert_eq!((read.format, read.unit, gaps(&read)), (Format::Epub, Unit::Page, vec![]));
    let pages: Vec<&str> = read.text.split('\x0c').collect();
    assert_eq!(
        pages,
        [
            "",
            "# First\n\nOne\ntwo 1\n\n1 Note\n",
            "# A named one\n\nSecond & last\n\nSigned\n",
            "# Own title\n\nThird\n"
        ]
    );
}

#[test]
fn an_old_table_of_contents_names_chapters_too() {
    let book = Book::of(&[("a.xhtml", Some("<p>x</p>")), ("b.xhtml", Some("<p>y</p>"))]).with(
        "OEBPS/toc.ncx",
        "<ncx><navMap><navPoint><navLabel><text>Chapter &#65;</text></navLabel><content src='text/a.xhtml'/>\
         <navPoint><navLabel><text>Part</text></navLabel><content src='text/a.xhtml#p'/></navPoint></navPoint></navMap></ncx>",
    );
    let mut bytes = book.bytes();
    let at = memchr::memmem::find(&bytes, b"mimetype").unwrap();
    bytes[at] = b'm';
    // The new table of contents is missing, so the old one is used.
    let read = extract("a.epub", &bytes).unwrap();
    assert_eq!(read.text, "# Own title\n\nx\n\x0c# Own title\n\ny\n");
}

#[test]
fn what_is_missing_is_said_of_its_chapter() {
    let book = Book::of(&[
        ("a.xhtml", Some("<p>x</p>")),
        ("gone.xhtml", None),
        ("scan.xhtml", Some("<img src='1.jpg'/>")),
        ("scan.jpg", Some("")),
        ("locked.xhtml", Some("<p>rubbish</p>")),
        ("torn.xhtml", None),
        ("blank.xhtml", Some("<style>.page { margin: 0 auto }</style><p> </p>")),
    ])
    .with("OEBPS/text/torn.xhtml", &page("<p>The door must be shut at night.</p>").replace("</title>", "</titXe>"))
    .with(
        "META-INF/encryption.xml",
        "<encryption><EncryptedData><EncryptionMethod Algorithm='http://www.idpf.org/2008/embedding'/><CipherData>\
         <CipherReference URI='OEBPS/text/a.xhtml'/></CipherData></EncryptedData><EncryptedData><EncryptionMethod \
         Algorithm='http://www.w3.org/2001/04/xmlenc#aes128-cbc'/><CipherData><CipherReference \
         URI='OEBPS/text/locked.xhtml'/></CipherData></EncryptedData></encryption>",
    );
    let read = book.read();
    assert_eq!(
        gaps(&read),
        [
            "page 2: its file is missing from the book",
            "pages 3-4: no text on it, probably a scan",
            "page 5: it is locked by copy protection (DRM)",
            "page 6: its words stand where no text is shown: a tag in it is broken"
        ]
    );
    assert_eq!(read.text.matches('\x0c').count(), 6);
}

#[test]
fn a_locked_or_broken_book_is_refused() {
    let locked = Book::of(&[("a.xhtml", Some("x"))]).with(
        "META-INF/encryption.xml",
        "<e><EncryptedData><CipherReference URI='OEBPS/text/a.xhtml'/></EncryptedData></e>",
    );
    let why = |bytes: &[u8]| match extract("a.epub", bytes) {
        Err(DocumentError::Refused { refusal, .. }) => refusal.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        why(&locked.bytes()),
        "is an EPUB book with copy protection (DRM): give a copy without it, or leave it out"
    );
    let end = ": open it in its own program and save it again, or leave it out";
    assert_eq!(why(&Book::of(&[]).bytes()), format!("can't be read as EPUB, because it names no chapters{end}"));
}

#[test]
fn a_book_made_to_exhaust_a_reader_is_read_to_a_bound() {
    let deep: &'static str = Box::leak("<div>".repeat(100_000).into_boxed_str());
    let large: &'static str = Box::leak(" ".repeat(65 << 20).into_boxed_str());
    let read = Book::of(&[("a.xhtml", Some(deep)), ("b.xhtml", Some(large)), ("c.xhtml", Some("<p>fine</p>"))]).read();
    let gaps = gaps(&read);
    assert!(gaps[0].starts_with("page 1: its file can't be read as HTML, because it nests elements"), "{gaps:?}");
    assert_eq!(gaps[1], "page 2: its file can't be read: it unpacks to more than 400 times its size");
    assert!(read.text.ends_with("fine\n"));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]
    /// A book with bytes changed anywhere gives a text or an error sentence.
    #[test]
    fn changed_books_never_panic(changes in proptest::collection::vec((0_usize..4000, proptest::num::u8::ANY), 1..16), end in 0_usize..4000) {
        let book = Book::of(&[("a.xhtml", Some("<h1>A</h1><p>x</p>")), ("b.xhtml", Some("y"))])
            .with("OEBPS/nav.xhtml", "<nav><a href='text/b.xhtml'>B</a></nav>")
            .bytes();
        let _ = extract("a.epub", &damaged(&book, &changes, end));
    }
}
