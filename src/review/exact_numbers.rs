//! JSON with numbers that have more digits than a number here keeps: reference numbers, accounts. They are taken as texts, so
//! that a table shows the digits that were written.

use serde_json::{Result, Value};

/// Significant digits that a decimal keeps in any case.
const DECIMAL_DIGITS: usize = 17;

/// Reads JSON.
pub(super) fn from_slice(bytes: &[u8]) -> Result<Value> {
    let read: Value = serde_json::from_slice(bytes)?;
    // What was no JSON was told above, and what is has its numbers outside of strings.
    let Some(exact) = quoted(bytes) else { return Ok(read) };
    serde_json::from_slice(&exact)
}

/// The same text with long numbers in quotation marks; none where there are none.
fn quoted(json: &[u8]) -> Option<Vec<u8>> {
    let mut exact = Vec::new();
    let (mut at, mut done) = (0, 0);
    while let Some(&byte) = json.get(at) {
        match byte {
            b'"' => at = end_of_string(json, at + 1),
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
                let end = at + json[at..].iter().take_while(is_part).count();
                let number = std::str::from_utf8(&json[at..end]).unwrap_or_default();
                if !is_kept(number) {
                    exact.extend_from_slice(&json[done..at]);
                    exact.extend_from_slice(format!("\"{number}\"").as_bytes());
                    done = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if done == 0 {
        return None;
    }
    exact.extend_from_slice(&json[done..]);
    Some(exact)
}

/// Behind the quotation mark that ends a string.
fn end_of_string(json: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = json.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// Whether a number is the same when it was read.
fn is_kept(number: &str) -> bool {
    if number.contains(['e', 'E']) {
        return true;
    }
    if !number.contains('.') {
        return number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
    }
    let digits = number.trim_start_matches(['-', '0', '.']).chars().filter(char::is_ascii_digit).count();
    digits <= DECIMAL_DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn digits_are_kept_as_they_were_written() {
        let text = r#"{"a":[1405202108700589,12345678901234567890123,-18446744073709551616],"b":"12345678901234567890123 \" 9",
            "c":0.12345678901234567890,"d":1.5,"e":1e300,"12345678901234567890123":18446744073709551615}"#;
        let expected = json!({
            "a": [1_405_202_108_700_589_u64, "12345678901234567890123", "-18446744073709551616"],
            "b": "12345678901234567890123 \" 9",
            "c": "0.12345678901234567890",
            "d": 1.5,
            "e": 1e300,
            "12345678901234567890123": 18_446_744_073_709_551_615_u64,
        });
        assert_eq!(from_slice(text.as_bytes()).unwrap(), expected);
        assert!(from_slice(b"[1").is_err());
    }
}
