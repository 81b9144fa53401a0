//! The two files of the sample, and the effects of damage.

use std::io::{Cursor, Read, Write};

use crate::extract::extract;
use crate::format::Format;
use crate::readers::package::sample::damaged;
use crate::units::Unit;

fn sample(name: &str) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(Cursor::new(include_bytes!("sample.zip"))).unwrap();
    let mut bytes = Vec::new();
    archive.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn an_old_document_has_headings_lists_tables_and_notes() {
    let read = extract("a.doc", &sample("a.doc")).unwrap();
    let text = "# Duties of the keeper\n\nThe keeper MUST weigh each crate before noon.[1]\n\n1. Open the gate.\n2. Close the \
        gate.\n\n| Item | Price |\n| --- | --- |\n| Lamp | 12.50 € |\n\nSecond page: Größe äußerst.\n\n[1] Scales are checked in \
        May.\n";
    assert_eq!((read.format, read.unit, read.text.as_str()), (Format::OldOffice, Unit::Line, text));
    assert_eq!((read.gaps, read.notes), (vec![], Vec::<String>::new()));
}

#[test]
fn a_page_of_an_old_presentation_is_a_slide() {
    let read = extract("a.ppt", &sample("a.ppt")).unwrap();
    let pages: Vec<&str> = read.text.split('\x0c').collect();
    assert_eq!(
        (read.unit, pages),
        (
            Unit::Page,
            vec!["Lighthouse\n\nThe lamp MUST burn at night.\n\nNotes:\n\nSay it slowly.\n", "Second slide.\n"]
        )
    );
}

/// A record of a presentation; kinds of containers have a version of their own.
fn record(version: u16, kind: u16, parts: &[&[u8]]) -> Vec<u8> {
    let inside = parts.concat();
    let length = u32::try_from(inside.len()).unwrap().to_le_bytes();
    [&version.to_le_bytes()[..], &kind.to_le_bytes(), &length, &inside].concat()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn numbers(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A presentation with a master, a hidden slide with a comment, and the place of its last save, or a wrong one; and an object on
/// the slide, which is packed.
fn presentation(last_edit: Option<u32>, object: &[u8]) -> Vec<u8> {
    const BOX: u16 = 0xf;
    let text =
        |kind: u32, text: &str| [record(0, 0xf9f, &[&numbers(&[kind])]), record(0, 0xfa0, &[&wide(text)])].concat();
    let shape = |inside: &[&[u8]]| record(BOX, 0xf004, &[&record(BOX, 0xf00d, inside)]);
    let options = [&[0xc0, 0x80, 8, 0, 0, 0][..], &wide("Art")[..], &[0, 0]].concat();
    let footers =
        record(BOX, 0xfd9, &[&record(0, 0xfda, &[&[0, 0, 0x20, 0]]), &record(0x20, 0xfba, &[&wide("Page end")])]);
    let list = |instance: u16, inside: &[&[u8]]| record(instance << 4 | BOX, 0xff0, inside);
    let persist = |part: u32, id: u32| record(0, 0x3f3, &[&numbers(&[part, 0, 0, id, 0])]);
    let objects = record(BOX, 0x409, &[&record(BOX, 0xfcc, &[&record(1, 0xfc3, &[&numbers(&[1, 0, 5, 0, 4, 0])])])]);
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(object).unwrap();
    let object = record(0x10, 0x1011, &[&numbers(&[u32::try_from(object.len()).unwrap()]), &packed.finish().unwrap()]);
    let document = record(
        BOX,
        0x3e8,
        &[&footers, &objects, &list(1, &[&persist(2, 70)]), &list(0, &[&persist(3, 71), &text(0, "The * lamp")])],
    );
    let master = record(BOX, 0x3f8, &[&record(0, 0xffa, &[&numbers(&[0])])]);
    let slide = record(
        BOX,
        0x3ee,
        &[
            &record(0, 0x3ef, &[&numbers(&[0, 0, 0, 70, 0, 1])]),
            &record(0, 0x3f9, &[&[0; 10], &[4, 0, 0, 0]]),
            &shape(&[&record(0, 0xf9e, &[&numbers(&[0])])]),
            &shape(&[&text(4, "On *\rMUST\u{b}burn"), &record(0, 0xff7, &[&numbers(&[3])])]),
            &record(BOX, 0xf004, &[&record(0x10, 0xf00b, &[&options])]),
            &shape(&[&record(0, 0xbc1, &[&numbers(&[5])])]),
            &record(0, 0x138b, &[&record(BOX, 0x2ee0, &[])]),
        ],
    );
    let mut stream = Vec::new();
    let mut places = vec![4 << 20 | 1];
    for part in [document, master, slide, object] {
        places.push(u32::try_from(stream.len()).unwrap());
        stream.extend(part);
    }
    let directory = u32::try_from(stream.len()).unwrap();
    stream.extend(record(0, 0x1772, &[&numbers(&places)]));
    let edit = u32::try_from(stream.len()).unwrap();
    stream.extend(record(0, 0xff5, &[&numbers(&[0, 0, 0, directory, 1])]));
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    file.create_stream("/PowerPoint Document").unwrap().write_all(&stream).unwrap();
    let user = numbers(&[0, 0, 20, 0, last_edit.unwrap_or(edit)]);
    file.create_stream("/Current User").unwrap().write_all(&user).unwrap();
    file.flush().unwrap();
    file.into_inner().into_inner()
}

#[test]
fn slides_have_their_outline_footers_and_marks() {
    // The second has lost the place of its last save.
    for bytes in [presentation(None, b""), presentation(Some(7), b"")] {
        let read = extract("a.ppt", &bytes).unwrap();
        assert_eq!(read.text, "(hidden slide)\n\n# The * lamp\n\nOn\n\nMUST\nburn\n\nArt\n\nPage end\n");
        let notes = [
            "1 of its slides is hidden, and was read",
            "1 comment was left out",
            "the date on 1 slide, that of the day on which it is shown, was left out",
            "1 embedded object was left out",
        ];
        assert_eq!((read.notes, read.gaps), (notes.map(str::to_owned).to_vec(), vec![]));
    }
}

#[test]
fn documents_on_a_slide_are_read() {
    let read = extract("a.ppt", &presentation(None, &sample("a.doc"))).unwrap();
    let (head, inside) = read.text.split_once("Art\n\n").unwrap();
    assert_eq!(head, "(hidden slide)\n\n# The * lamp\n\nOn\n\nMUST\nburn\n\n");
    let document = extract("a.doc", &sample("a.doc")).unwrap().text;
    assert_eq!(inside, format!("{document}\nPage end\n"));
    let inner = extract("a.ppt", &presentation(None, &sample("a.ppt"))).unwrap();
    assert!(inner.text.contains("Notes:\n\nSay it slowly.\n\nSecond slide.\n"), "{}", inner.text);
}

#[test]
fn labels_are_those_that_the_document_shows() {
    let read = extract("lists.doc", &sample("lists.doc")).unwrap();
    let text = "# 1. Duties\n\n## 1.1 Weighing\n\na) before noon\nb) at night\n  b.i) with a lamp\nc) never\n\n## 1.2 Records\n\x0c# 2. Fees\n\n\
        IV. four\nV. five\n- a point\n";
    let note = "no page breaks are recorded in it: its pages are its chapters".to_owned();
    assert_eq!((read.text.as_str(), read.notes, read.gaps), (text, vec![note], vec![]));
}

#[test]
fn what_a_field_shows_by_a_formula_is_a_gap() {
    let read = extract("ruby.doc", &sample("ruby.doc")).unwrap();
    let gaps: Vec<String> = read.gaps.iter().map(ToString::to_string).collect();
    assert_eq!(
        (read.text.as_str(), gaps),
        ("", vec!["formulas in fields (EQ), which aren't read: save it as PDF".to_owned()])
    );
}

#[test]
fn damage_is_told() {
    for name in ["a.doc", "lists.doc", "a.ppt"] {
        let whole = sample(name);
        for cut in 1..10 {
            let cut = &whole[..whole.len() * cut / 10];
            if let Err(error) = extract(name, cut) {
                assert!(error.to_string().contains("can't be read as "), "{error}");
            }
        }
        for start in 0..40 {
            let changes: Vec<(usize, u8)> = (0..30).map(|at| (start * 7_919 + at * 613, 0xff)).collect();
            let _ = extract(name, &damaged(&whole, &changes, usize::MAX));
        }
    }
}
