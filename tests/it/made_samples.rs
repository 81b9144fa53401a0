//! The samples that a program makes: the committed files are what it makes, byte for byte.

#[path = "../../examples/make_samples/made/mod.rs"]
mod program;

use crate::support::samples;

#[test]
fn made_samples_are_what_their_program_makes() {
    let made = program::documents().unwrap();
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
