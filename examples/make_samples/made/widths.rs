//! How wide the characters of the two standard fonts are, in thousandths of the font's size.

/// A font that every reader of PDF has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Font {
    Times,
    Bold,
}

/// From the space on, in the order of ASCII.
const TIMES: [u16; 95] = [
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
    500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889,
    722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500,
    444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480,
    200, 480, 541,
];
const BOLD: [u16; 95] = [
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611,
    556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389,
    280, 389, 584,
];

/// How wide `text` is in a size of 1000.
pub(super) fn width(font: Font, text: &str) -> u32 {
    let widths = match font {
        Font::Times => &TIMES,
        Font::Bold => &BOLD,
    };
    text.chars()
        .map(|c| match (u32::from(c) as usize).checked_sub(32).and_then(|at| widths.get(at)) {
            Some(width) => u32::from(*width),
            // the degree sign and the bullet
            None => 400,
        })
        .sum()
}
