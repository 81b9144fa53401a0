//! The output of `tesseract` for a picture, a table of tab-separated values: lines of text, and words with places.

use overnight_documents::RecognisedWord;

/// How the table begins.
const HEADER: &str = "level\tpage_num\tblock_num\t";
/// The levels of rows: the whole picture, and a word.
const PICTURE: &str = "1";
const WORD: &str = "5";

/// The characters of a picture.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Recognition {
    pub(super) text: String,
    pub(super) words: Vec<RecognisedWord>,
}

impl Recognition {
    /// Parses the table; any other output is taken as the text itself.
    pub(super) fn read(said: &str) -> Self {
        let Some(table) = said.trim_start().strip_prefix(HEADER) else {
            return Self { text: said.to_owned(), words: Vec::new() };
        };
        let mut found = Self::default();
        let mut size = (0.0, 0.0);
        let mut last = ["", "", ""];
        for row in table.lines().skip(1) {
            let mut cells = row.splitn(12, '\t');
            let mut next = || cells.next().unwrap_or_default();
            let (level, _page, block, paragraph, line, _word) = (next(), next(), next(), next(), next(), next());
            let place = [next(), next(), next(), next()].map(|cell| cell.parse().unwrap_or(0.0_f32));
            let (_confidence, text) = (next(), next().trim());
            if level == PICTURE {
                size = (place[2], place[3]);
            }
            if level != WORD || text.is_empty() {
                continue;
            }
            let of = [block, paragraph, line];
            if !found.text.is_empty() {
                found.text.push_str(match () {
                    () if last[..2] != of[..2] => "\n\n",
                    () if last[2] != of[2] => "\n",
                    () => " ",
                });
            }
            last = of;
            found.text.push_str(text);
            // Four digits are a tenth of a pixel.
            let part = |pixels: f32, of: f32| (pixels / of.max(1.0) * 10_000.0).round() / 10_000.0;
            found.words.push(RecognisedWord {
                text: text.to_owned(),
                x: part(place[0], size.0),
                y: part(place[1], size.1),
                width: part(place[2], size.0),
                height: part(place[3], size.1),
            });
        }
        if !found.text.is_empty() {
            found.text.push('\n');
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_places_and_lines() {
        let rows = [
            "1\t1\t0\t0\t0\t0\t0\t0\t800\t400\t-1\t",
            "4\t1\t1\t1\t1\t0\t8\t14\t297\t24\t-1\t",
            "5\t1\t1\t1\t1\t1\t8\t20\t80\t40\t94.4\tLease",
            "5\t1\t1\t1\t1\t2\t120\t20\t40\t40\t94.4\tof",
            "5\t1\t1\t1\t2\t1\t8\t80\t40\t40\t91\tmill",
            "5\t1\t2\t1\t1\t1\t8\t160\t80\t40\t95\t ",
            "5\t1\t2\t1\t1\t2\t8\t160\t80\t40\t95\tRent",
        ];
        let table =
            format!("{HEADER}par_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n{}\n", rows.join("\n"));
        let word =
            |text: &str, [x, y, width, height]: [f32; 4]| RecognisedWord { text: text.to_owned(), x, y, width, height };
        let words = vec![
            word("Lease", [0.01, 0.05, 0.1, 0.1]),
            word("of", [0.15, 0.05, 0.05, 0.1]),
            word("mill", [0.01, 0.2, 0.05, 0.1]),
            word("Rent", [0.01, 0.4, 0.1, 0.1]),
        ];
        assert_eq!(Recognition::read(&table), Recognition { text: "Lease of\nmill\n\nRent\n".to_owned(), words });
        assert_eq!(Recognition::read("The pump.\n").text, "The pump.\n");
    }
}
