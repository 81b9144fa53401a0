//! The samples that a program makes: the committed files are what it makes, byte for byte.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "../../examples/make_samples/made/mod.rs"]
mod made;

use crate::support::samples;

#[test]
fn made_samples_are_what_their_program_makes() {
    let made = made::documents().unwrap();
    let names: Vec<&str> = made.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["standards/reading-rooms.pdf", "policies/digitisation-policy.docx", "standards/equipment-checks.xlsx"]
    );
    for (name, bytes) in &made {
        let committed = std::fs::read(samples().join(name)).unwrap();
        assert!(committed == *bytes, "{name} is not what `cargo run --example make_samples` makes: run it");
    }
}
