//! The whole text of a document.
//!
//! ```text
//! cargo run -p overnight-documents --example text -- statement.pdf
//! ```

use overnight_documents::extract;
use std::{env, error::Error, fs};

#[expect(clippy::print_stdout, reason = "an example shows what came of it")]
fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("name a document")?;
    print!("{}", extract(&path, &fs::read(&path)?)?.text);
    Ok(())
}
