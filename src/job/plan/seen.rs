//! What was found in a document, kept while the passes over it go on: most of them change nothing in a plan that is in its
//! one form already, and would otherwise each read all of it again.

use super::find::{Found, find};
use super::lines::Document;
use super::scan::{Scan, scan};
use std::rc::Rc;

/// The last document that was looked at, by its text: blocks and headings follow from that alone.
#[derive(Default)]
pub(super) struct Seen(Option<Reading>);

struct Reading {
    text: String,
    scan: Rc<Scan>,
    found: Option<Rc<Vec<Found>>>,
}

impl Seen {
    fn reading(&mut self, document: &Document) -> &mut Reading {
        let text = document.markdown();
        let kept = self.0.take().filter(|reading| reading.text == text);
        self.0.insert(kept.unwrap_or_else(|| Reading { text, scan: Rc::new(scan(document)), found: None }))
    }

    /// [`scan`] of the document.
    pub(super) fn scan(&mut self, document: &Document) -> Rc<Scan> {
        self.reading(document).scan.clone()
    }

    /// [`scan`] and [`find`] of the document.
    pub(super) fn found(&mut self, document: &Document) -> (Rc<Scan>, Rc<Vec<Found>>) {
        let reading = self.reading(document);
        let scan = reading.scan.clone();
        let found = reading.found.get_or_insert_with(|| Rc::new(find(document, &scan))).clone();
        (scan, found)
    }
}
