//! The two files of the sample, and what damage does to them.

use std::io::{Cursor, Read};

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
    let note = "numbers of lists stand as figures, also where the document shows letters or several numbers".to_owned();
    assert_eq!((read.gaps, read.notes), (vec![], vec![note]));
}

#[test]
fn a_page_of_an_old_presentation_is_a_slide() {
    let read = extract("a.ppt", &sample("a.ppt")).unwrap();
    let pages: Vec<&str> = read.text.split('\x0c').collect();
    assert_eq!(
        (read.unit, pages),
        (Unit::Page, vec!["Lighthouse\n\nThe lamp MUST burn at night.\n", "Second slide.\n"])
    );
}

#[test]
fn damage_is_told() {
    for name in ["a.doc", "a.ppt"] {
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
