//! JSON with numbers that have more digits than a number here keeps: reference numbers, accounts. They are taken as texts, so
//! that a table shows the digits that were written.

use std::io::{BufRead, Read, Result};

/// Significant digits that a decimal keeps in any case.
const DECIMAL_DIGITS: usize = 17;

/// Passes JSON on, with long numbers in quotation marks.
#[derive(Debug)]
pub struct ExactNumbers<R> {
    json: R,
    in_string: bool,
    is_escaped: bool,
    /// The number that is being read.
    number: Vec<u8>,
    /// What is ready to be passed on, and how much of it was.
    ready: Vec<u8>,
    passed: usize,
}

impl<R: BufRead> ExactNumbers<R> {
    pub const fn new(json: R) -> Self {
        Self { json, in_string: false, is_escaped: false, number: Vec::new(), ready: Vec::new(), passed: 0 }
    }

    fn take_in(&mut self, byte: u8) {
        if self.in_string {
            self.in_string = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
        } else if byte.is_ascii_digit() || byte == b'-' || !self.number.is_empty() && b"+.eE".contains(&byte) {
            return self.number.push(byte);
        } else {
            self.end_number();
            self.in_string = byte == b'"';
        }
        self.ready.push(byte);
    }

    fn end_number(&mut self) {
        let is_kept = std::str::from_utf8(&self.number).is_ok_and(is_kept);
        let mark: &[u8] = if self.number.is_empty() || is_kept { b"" } else { b"\"" };
        self.ready.extend_from_slice(mark);
        self.ready.append(&mut self.number);
        self.ready.extend_from_slice(mark);
    }
}

impl<R: BufRead> Read for ExactNumbers<R> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        while self.passed == self.ready.len() {
            self.ready.clear();
            self.passed = 0;
            let bytes = self.json.fill_buf()?.to_vec();
            if bytes.is_empty() {
                self.end_number();
                if self.ready.is_empty() {
                    return Ok(0);
                }
            }
            for &byte in &bytes {
                self.take_in(byte);
            }
            self.json.consume(bytes.len());
        }
        let count = into.len().min(self.ready.len() - self.passed);
        into[..count].copy_from_slice(&self.ready[self.passed..self.passed + count]);
        self.passed += count;
        Ok(count)
    }
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
    use serde_json::{Value, json};

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
        let read: Value = serde_json::from_reader(ExactNumbers::new(text.as_bytes())).unwrap();
        assert_eq!(read, expected);
        let read: Value = serde_json::from_reader(ExactNumbers::new(&b"99999999999999999999"[..])).unwrap();
        assert_eq!(read, json!("99999999999999999999"));
        assert!(serde_json::from_reader::<_, Value>(ExactNumbers::new(&b"[1"[..])).is_err());
    }
}
