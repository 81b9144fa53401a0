//! (e) Many documents.

use crate::{
    load::{Load, Place, model, wait},
    measure::{ms, timed},
    table,
};
use std::path::Path;

const DOCUMENTS: usize = 3_000;

pub(crate) fn measure() {
    wait(async {
        let place = Place::within(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
        let documents = place.path().join("docs");
        std::fs::create_dir_all(&documents).unwrap();
        for number in 0..DOCUMENTS {
            let text = format!("# Note {number}\n\nA clerk must read note {number}.\n");
            std::fs::write(documents.join(format!("note-{number:04}.md")), text).unwrap();
        }
        let model = model(Load::new(1));
        let (_, wall, cpu) = timed(|| place.create("", &*model));
        table::plain(format!("make a job of {DOCUMENTS} small documents: wall"), ms(wall), "ms");
        table::plain(format!("make a job of {DOCUMENTS} small documents: CPU"), ms(cpu), "ms");
    });
}
