//! Makes the samples that are no plain text: a PDF, a Word file and a workbook.
//!
//! ```text
//! cargo run --example make_samples
//! ```
//!
//! What they say stands in `documents.yaml` and, for every statement that binds, in `samples/truth.yaml`. The same input
//! gives the same bytes; `cargo test samples` holds the committed files to it.

mod made;

use std::{error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    for (name, bytes) in made::documents()? {
        fs::write(samples.join(&name), bytes)?;
    }
    Ok(())
}
