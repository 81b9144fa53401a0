//! Values with commas, semicolons or tabs between them. The text is the file's own, line by line, so that a cell and a whole
//! line are both found in it, and lines have the numbers that an editor shows. A large file is cut into pages between
//! records (`csv` knows where one ends: values in quotation marks may have lines in them), its first one repeated.

use csv::{ByteRecord, ReaderBuilder};

use super::{PageSink, ReadFailure, Reader, Source};
use crate::encoding;
use crate::units::Unit;

/// The most records and the most bytes of a page.
const MAX_RECORDS: usize = 100;
const MAX_BYTES: usize = 12_000;
/// A first record longer than this isn't repeated.
const MAX_HEADER: usize = 3_000;
/// The note if it isn't repeated.
const NOT_REPEATED: &str = ", the first row is too long to be repeated";
/// A longer record is invalid: a quotation mark was left open.
const MAX_RECORD: usize = 64 << 10;
/// How much of a file is searched for its separator.
const LOOK: usize = 64 << 10;
const DELIMITERS: [(u8, &str); 4] = [(b',', "commas"), (b';', "semicolons"), (b'\t', "tabs"), (b'|', "bars")];

/// Reads CSV.
pub(crate) struct CsvReader;

impl Reader for CsvReader {
    fn version(&self) -> &'static str {
        "csv 1.4.0+1"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        let decoded = encoding::decode(source.bytes, None)?;
        for note in decoded.notes {
            pages.note(note)?;
        }
        let text = decoded.text.replace('\x0c', "\n");
        let (delimiter, name) = delimiter(&text);
        if delimiter != b',' && !text.trim().is_empty() {
            pages.note(format!("its values have {name} between them"))?;
        }
        let records = records(&text, delimiter).unwrap_or_else(|| lines(&text));
        let cuts = cuts(&records);
        pages.expect(cuts.len() as u64)?;
        let header = records.first().and_then(|end| text.get(..*end)).filter(|header| header.len() <= MAX_HEADER);
        let mut start = 0;
        for (page, &(from, to)) in (1..).zip(&cuts) {
            let end = records.get(to - 1).copied().unwrap_or(text.len());
            let rows = text.get(start..end).unwrap_or_default();
            start = end;
            if !pages.begin(page)? {
                continue;
            }
            if cuts.len() == 1 {
                pages.text(&text)?;
                continue;
            }
            let (said, repeated) = match header {
                Some(header) if from > 0 => ("", format!("{}\n", header.trim_end())),
                None if from > 0 => (NOT_REPEATED, String::new()),
                Some(_) | None => ("", String::new()),
            };
            pages.text(&format!("Rows {}-{to}{said}\n\n{repeated}{rows}", from + 1))?;
        }
        Ok(if cuts.len() > 1 { Unit::Page } else { Unit::Line })
    }
}

/// The records of each page: from the first one up to, but not including, the last.
fn cuts(records: &[usize]) -> Vec<(usize, usize)> {
    let mut cuts = Vec::new();
    let (mut from, mut start, mut before) = (0, 0, 0);
    for (index, &end) in records.iter().enumerate() {
        if index > from && (index - from >= MAX_RECORDS || end - start > MAX_BYTES) {
            cuts.push((from, index));
            (from, start) = (index, before);
        }
        before = end;
    }
    cuts.push((from, records.len().max(from + 1)));
    cuts
}

/// The end of each record; none if a quotation mark was left open, or isn't used for quoting.
fn records(text: &str, delimiter: u8) -> Option<Vec<usize>> {
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
    let (mut ends, mut last, mut record) = (Vec::new(), 0, ByteRecord::new());
    while reader.read_byte_record(&mut record).ok()? {
        let end = usize::try_from(reader.position().byte()).ok()?;
        // The reader stops between the two signs of a line's end.
        let end = if text.get(end..).is_some_and(|rest| rest.starts_with('\n')) { end + 1 } else { end };
        if end.saturating_sub(last) > MAX_RECORD || !text.is_char_boundary(end) {
            return None;
        }
        ends.push(end);
        last = end;
    }
    Some(ends)
}

fn lines(text: &str) -> Vec<usize> {
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    let mut ends: Vec<usize> = ends.collect();
    if ends.last() != Some(&text.len()) {
        ends.push(text.len());
    }
    ends
}

/// The separator of a text's values.
pub(crate) fn csv_delimiter(text: &str) -> u8 {
    delimiter(text).0
}

/// The separator: the one that most often splits the first records into the same number of values.
fn delimiter(text: &str) -> (u8, &'static str) {
    let head = text.get(..text.floor_char_boundary(LOOK)).unwrap_or_default();
    let score = |delimiter: u8| {
        let mut reader =
            ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(head.as_bytes());
        let widths: Vec<usize> = reader.byte_records().flatten().take(50).map(|record| record.len()).collect();
        let first = widths.first().copied().unwrap_or(1);
        let same = widths.iter().filter(|width| **width == first).count();
        // A record with one value is no evidence.
        if first > 1 { (same * 100 / widths.len().max(1), first) } else { (0, 0) }
    };
    let best = DELIMITERS.iter().rev().max_by_key(|(delimiter, _)| score(*delimiter));
    best.filter(|(delimiter, _)| score(*delimiter).0 > 0).copied().unwrap_or(DELIMITERS[0])
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::extract::extract;

    #[test]
    fn a_small_file_is_its_own_text() {
        let raw = "name,price\n\"Smith, \"\"John\"\"\",1\n\"two\nlines\",2\n";
        let extracted = extract("a.csv", raw.as_bytes()).unwrap();
        assert_eq!((extracted.text.as_str(), extracted.unit, extracted.notes), (raw, Unit::Line, vec![]));
    }

    #[test]
    fn a_large_one_is_cut_between_records_and_repeats_the_first() {
        let mut raw = "n;v\r\n".to_owned();
        for row in 2..=202 {
            write!(raw, "{row};\"a\nb\"\r\n").unwrap();
        }
        let extracted = extract("a.csv", raw.as_bytes()).unwrap();
        let pages: Vec<&str> = extracted.text.split('\x0c').collect();
        assert_eq!(extracted.unit, Unit::Page);
        assert_eq!(extracted.notes, ["its values have semicolons between them"]);
        let ends: Vec<(&str, &str)> = pages
            .iter()
            .map(|page| {
                (
                    page.split('"').next().unwrap(),
                    page.trim_end().rsplit_once('\n').unwrap().0.rsplit('\n').next().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            ends,
            [
                ("Rows 1-100\n\nn;v\n2;", "100;\"a"),
                ("Rows 101-200\n\nn;v\n101;", "200;\"a"),
                ("Rows 201-202\n\nn;v\n201;", "202;\"a"),
            ]
        );
    }

    #[test]
    fn a_first_row_that_is_too_long_is_not_repeated() {
        let raw = format!("{},v\n{}", "n".repeat(4000), "1,a\n".repeat(100));
        let extracted = extract("a.csv", raw.as_bytes()).unwrap();
        let (_, second) = extracted.text.split_once('\x0c').unwrap();
        assert_eq!(second, "Rows 101-101, the first row is too long to be repeated\n\n1,a\n");
    }

    #[test]
    fn a_quotation_mark_left_open_swallows_nothing() {
        let mut raw = "a,\"b\n".to_owned();
        for row in 0..20_000 {
            writeln!(raw, "{row},x").unwrap();
        }
        let extracted = extract("a.csv", raw.as_bytes()).unwrap();
        assert_eq!(extracted.text.split('\x0c').count(), 201);
    }

    #[test]
    fn what_stands_between_values_is_seen() {
        for (text, expected) in [
            ("a,b\n1,2\n", "commas"),
            ("a;b\n1,5;2\n2,5;3\n", "semicolons"),
            ("a\tb, c\n1\t2\n", "tabs"),
            ("a|b\n1|2\n", "bars"),
            ("only one\nvalue\n", "commas"),
            ("", "commas"),
        ] {
            assert_eq!(delimiter(text).1, expected, "{text:?}");
        }
    }
}
