//! Rows of values with commas, semicolons, tabs or bars between them, as blocks. Written here and not read with `csv`, since
//! every quote must be found again in the text as it stands: a cell is a part of its line, or of some.

use super::blocks::{Blocks, Builder, Kind};
use super::statements::{Code, Line, PAGE, Start};

const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];
/// So many rows tell what stands between values.
const LOOK: usize = 50;
/// A row of more lines is none: a quotation mark was left open.
const MOST_LINES: usize = 100;
/// A first row whose values have no more words than this is the table's head.
const HEAD_WORDS: usize = 4;

/// A value: its part of each line that it stands on.
type Cell<'a, 'l> = Vec<(&'l Line<'a>, &'a str)>;

/// Reads rows. A row that no line ends is the text's last, and may go on behind it.
pub(super) fn read<'a>(lines: &[Line<'a>], start: &Start) -> Blocks<'a> {
    let delimiter = delimiter(lines);
    let mut builder = Builder::new(start);
    let (mut at, mut cut) = (0, None);
    while let Some(line) = lines.get(at) {
        let begins_page = line.page.is_some() && line.number % PAGE == 1;
        if line.text.trim().is_empty() {
            at += 1;
            continue;
        }
        if begins_page && let Some(first) = rows_from(line.text) {
            at += 1;
            // behind the first page, its head is said again
            if first > 1 {
                let is_filled = |line: &Line<'_>| !line.text.trim().is_empty();
                at += lines[at..].iter().position(is_filled).unwrap_or(0);
                at += row(&lines[at..], delimiter, true).lines;
            }
            continue;
        }
        let mut found = row(&lines[at..], delimiter, true);
        if !found.is_whole {
            cut = cut.or((found.lines < MOST_LINES).then_some(line.number));
            // where nothing comes behind the text, its quotation mark is none
            found = row(&lines[at..], delimiter, false);
        }
        let words = |cell: &Cell<'_, '_>| cell.iter().map(|(_, text)| text.split_whitespace().count()).sum::<usize>();
        let is_first = line.number % PAGE <= 1 || line.page == Some(1) && line.number % PAGE == 3;
        let is_head = is_first && found.cells.iter().all(|cell| words(cell) <= HEAD_WORDS);
        add(&mut builder, &found, is_head);
        at += found.lines;
    }
    let mut blocks = builder.finish(Code::None);
    blocks.cut = cut;
    blocks
}

/// `Rows 101-200`, over the rows of a page: the first of them.
fn rows_from(text: &str) -> Option<u64> {
    let (first, last) = text.trim().strip_prefix("Rows ")?.split_once('-')?;
    last.parse::<u64>().ok()?;
    first.parse().ok()
}

struct Row<'a, 'l> {
    cells: Vec<Cell<'a, 'l>>,
    lines: usize,
    /// No value in it is still open.
    is_whole: bool,
}

/// The row that begins with the first of `lines`.
fn row<'a, 'l>(lines: &'l [Line<'a>], delimiter: char, marks_quote: bool) -> Row<'a, 'l> {
    let mut row = Row { cells: vec![Vec::new()], lines: 0, is_whole: false };
    let mut is_quoted = false;
    for line in lines.iter().take(MOST_LINES) {
        row.lines += 1;
        let mut rest = line.text;
        loop {
            if !is_quoted
                && marks_quote
                && let Some(quoted) = rest.trim_start_matches(' ').strip_prefix('"')
            {
                (is_quoted, rest) = (true, quoted);
            }
            let (value, behind) = if is_quoted {
                let end = closing(rest);
                is_quoted = end.is_none();
                end.map_or((rest, ""), |at| (&rest[..at], &rest[at + 1..]))
            } else {
                rest.split_at(rest.find(delimiter).unwrap_or(rest.len()))
            };
            if let Some(cell) = row.cells.last_mut().filter(|_| !value.trim().is_empty()) {
                cell.push((line, value.trim()));
            }
            if is_quoted {
                break;
            }
            let (more, next) = behind.split_at(behind.find(delimiter).unwrap_or(behind.len()));
            if !more.trim().is_empty() {
                row.cells.push(vec![(line, more.trim())]);
            }
            let Some(next) = next.strip_prefix(delimiter) else {
                row.is_whole = true;
                return row;
            };
            row.cells.push(Vec::new());
            rest = next;
        }
    }
    row
}

/// Where the quotation mark stands that ends a value; two beside each other are one of the value's.
fn closing(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('"')?;
        if !text[at + 1..].starts_with('"') {
            return Some(at);
        }
        at += 2;
    }
}

fn add<'a>(builder: &mut Builder<'a>, row: &Row<'a, '_>, is_head: bool) {
    let first = row.cells.iter().flatten().next();
    let Some((line, _)) = first else { return };
    if row.lines == 1 {
        let texts: Vec<&str> = row.cells.iter().flatten().map(|(_, text)| *text).collect();
        builder.row(is_head, 0, line, &texts);
        return;
    }
    for cell in &row.cells {
        builder.close();
        for (line, text) in cell {
            if builder.open.is_none() {
                builder.begin(Kind::Paragraph, 0, line, text);
            } else {
                builder.text(0, line, text);
            }
        }
    }
    builder.close();
}

/// What stands between values: what parts the first rows into the same number of values most often.
fn delimiter(lines: &[Line<'_>]) -> char {
    let filled: Vec<&Line<'_>> =
        lines.iter().filter(|line| !line.text.trim().is_empty() && rows_from(line.text).is_none()).take(LOOK).collect();
    let score = |delimiter: char| {
        let widths: Vec<usize> =
            filled.iter().map(|line| row(std::slice::from_ref(*line), delimiter, true).cells.len()).collect();
        let first = widths.first().copied().unwrap_or(1);
        let same = widths.iter().filter(|width| **width == first).count();
        if first > 1 { (same * 100 / widths.len(), first) } else { (0, 0) }
    };
    DELIMITERS.into_iter().rev().max_by_key(|delimiter| score(*delimiter)).unwrap_or(',')
}

#[cfg(test)]
mod tests {
    use super::super::statements::{Style, statements};
    use super::*;

    fn said(lines: &[Line<'_>]) -> Vec<String> {
        let found = statements(lines, Style::Values, &Start::default()).statements;
        found.iter().map(|said| format!("{} {}", said.line % PAGE, said.quote)).collect()
    }

    fn numbered(text: &str) -> Vec<Line<'_>> {
        (1..).zip(text.lines()).map(|(number, text)| Line { number, page: None, text }).collect()
    }

    #[test]
    fn a_row_is_a_statement() {
        let rows = "Id,Rule that must hold,Owner\n1,The clerk must lock the gate,Ann\n\n2,\"Forms, on paper, must be \"\"blue\"\"\",Bob\n\
                    3,\"He must go.\nThe door must\nbe shut.\",Eve\n4,none,Ann\n";
        let expected = [
            "2 The clerk must lock the gate",
            "4 Forms, on paper, must be \"\"blue\"\"",
            "5 He must go.",
            "6 The door must be shut.",
        ];
        assert_eq!(said(&numbered(rows)), expected);
        let semicolons = "\"1\";\"The clerk, if any, must go\"\n\"2\";\"The door may be shut\"\n";
        assert_eq!(said(&numbered(semicolons)), ["1 The clerk, if any, must go", "2 The door may be shut"]);
        assert_eq!(said(&numbered("n\trule\n1\tAll, of all, must go\n")), ["2 All, of all, must go"]);
    }

    #[test]
    fn a_head_said_again_is_said_once() {
        let page = |page: u64, text: &'static str| {
            (1..).zip(text.lines()).map(move |(number, text)| Line {
                number: page * PAGE + number,
                page: Some(page),
                text,
            })
        };
        let first = page(1, "Rows 1-2\n\n1,All the clerks must go home\n2,Doors may open");
        let lines: Vec<Line<'_>> =
            first.chain(page(2, "Rows 3-4\n\n1,All the clerks must go home\n3,Windows may open\n4,none")).collect();
        assert_eq!(said(&lines), ["3 All the clerks must go home", "4 Doors may open", "4 Windows may open"]);
        let lines: Vec<Line<'_>> =
            page(2, "Rows 3-4, the first row is too long to be repeated\n\n3,Windows may open").collect();
        assert_eq!(said(&lines), ["3 Windows may open"]);
    }

    #[test]
    fn a_quotation_mark_left_open_swallows_nothing() {
        for rows in [3, 300] {
            let text = format!("a,\"rule\n{}", "1,All must go\n".repeat(rows));
            assert_eq!(said(&numbered(&text)).len(), rows);
        }
        assert_eq!(said(&numbered("a,b\n1,\"b\" All must go,\"c\n")), ["2 \"b\" All must go"]);
    }

    #[test]
    fn a_row_that_a_piece_of_the_document_cuts_is_read_again() {
        let lines = numbered("a,b\n1,\"He must go.\nThe door must\nbe shut.\"\n2,All may go\n");
        let cut = |to: usize| statements(&lines[..to], Style::Values, &Start::default()).open_from;
        assert_eq!([cut(1), cut(2), cut(3), cut(4), cut(5)], [None, Some(2), Some(2), None, None]);
    }
}
