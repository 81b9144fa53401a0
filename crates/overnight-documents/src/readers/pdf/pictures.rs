//! Pictures on a page, as named in its text: a reader of the text learns that there is one, its place and its size.

use std::fmt::Write as _;

use super::ink::Box4;

/// The minimum side of a picture, in points and as a share of the page: smaller ones are signs, rules, bullets.
const LEAST_SIDE: f64 = 14.0;
const LEAST_SHARE: f64 = 0.003;
/// A larger share of the page is its background, or the scan behind its text.
const BACKGROUND: f64 = 0.6;
/// The maximum distance of pieces of one picture, in points.
const APART: f64 = 1.0;
/// The most pieces of one page that are processed, and the most pictures that are named.
const MAX_PIECES: usize = 400;
const MOST: usize = 12;
/// Edges nearer than this, in points, are one.
const SAME: f64 = 2.0;
const POINTS_PER_MM: f64 = 72.0 / 25.4;

/// A picture as a page shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Picture {
    pub(super) seen: Box4,
    /// The page.
    pub(super) paper: Box4,
}

/// The visible pictures formed by the pieces that were painted on `paper`, from the top.
pub(super) fn pictures(pieces: &[Box4], paper: Box4) -> Vec<Picture> {
    let mut whole: Vec<Box4> = Vec::new();
    let size = |seen: &Box4| (seen[2] - seen[0], seen[3] - seen[1]);
    let area = |seen: &Box4| size(seen).0.max(0.0) * size(seen).1.max(0.0);
    for piece in pieces.iter().take(MAX_PIECES) {
        let mut seen = overlap(piece, &paper);
        if area(&seen) <= 0.0 || area(&seen) > BACKGROUND * area(&paper) {
            continue;
        }
        while let Some(at) = whole.iter().position(|other| touch(&seen, other)) {
            let other = whole.swap_remove(at);
            seen = [seen[0].min(other[0]), seen[1].min(other[1]), seen[2].max(other[2]), seen[3].max(other[3])];
        }
        whole.push(seen);
    }
    whole.retain(|seen| {
        let (width, height) = size(seen);
        width.min(height) >= LEAST_SIDE && (LEAST_SHARE * area(&paper)..BACKGROUND * area(&paper)).contains(&area(seen))
    });
    whole.sort_by(|one, other| other[3].total_cmp(&one[3]).then(one[0].total_cmp(&other[0])));
    whole.truncate(MOST);
    whole.into_iter().map(|seen| Picture { seen, paper }).collect()
}

pub(super) fn overlap(one: &Box4, other: &Box4) -> Box4 {
    [one[0].max(other[0]), one[1].max(other[1]), one[2].min(other[2]), one[3].min(other[3])]
}

fn touch(one: &Box4, other: &Box4) -> bool {
    let [left, low, right, high] = overlap(one, other);
    right - left >= -APART && high - low >= -APART
}

impl Picture {
    /// The picture as it is named in the text: `[picture, top right, 85×19 mm]`.
    pub(super) fn told(&self) -> String {
        let third =
            |low: f64, high: f64, from: f64, to: f64| ((f64::midpoint(low, high) - from) / (to - from) * 3.0).floor();
        let down = third(self.seen[1], self.seen[3], self.paper[1], self.paper[3]);
        let across = third(self.seen[0], self.seen[2], self.paper[0], self.paper[2]);
        let place = if down >= 2.0 {
            "top"
        } else if down >= 1.0 {
            "middle"
        } else {
            "bottom"
        };
        let mut told = format!("[picture, {place}");
        if across >= 2.0 {
            told.push_str(" right");
        } else if across < 1.0 {
            told.push_str(" left");
        }
        let millimetres = |from: f64, to: f64| ((to - from) / POINTS_PER_MM).round();
        let (width, height) = (millimetres(self.seen[0], self.seen[2]), millimetres(self.seen[1], self.seen[3]));
        let _ = write!(told, ", {width}×{height} mm]");
        told
    }

    /// Whether `other`, of another page, has its place and size.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        let are_near = |one: Box4, other: Box4| one.iter().zip(other).all(|(one, other)| (one - other).abs() < SAME);
        are_near(self.paper, other.paper) && are_near(self.seen, other.seen)
    }

    /// Whether the picture stands above all text, whose upper edge is at `top` in the units of glyphs.
    pub(super) fn is_above(&self, top: f32) -> bool {
        f64::from(top) >= -self.seen[1]
    }

    /// Whether text from `start` to `end`, with its upper edge at `top` in the units of glyphs, follows the picture.
    pub(super) fn is_before(&self, start: f32, end: f32, top: f32) -> bool {
        let middle = -f64::midpoint(self.seen[1], self.seen[3]);
        f64::from(top) >= middle && f64::from(start) <= self.seen[2] && f64::from(end) >= self.seen[0]
    }
}
