//! Instructions files in, whole results or whole error sentences out.

use super::*;

fn no_files(_: &str) -> Result<String, String> {
    Err("no such file".to_owned())
}

#[test]
fn shipped_instructions_are_read() {
    for name in shipped::NAMES {
        let parsed = shipped::parse_shipped(name).unwrap();
        assert_eq!(parsed.map(|instructions| instructions.name), Ok(name.to_owned()));
    }
}
