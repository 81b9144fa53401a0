//! The reading order of shapes on a slide: from the top down, and from left to right if they are side by side.

/// The position and size of a shape, in whatever unit, the same for all.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::readers) struct ShapeBox {
    pub(in crate::readers) left: f64,
    pub(in crate::readers) top: f64,
    pub(in crate::readers) width: f64,
    pub(in crate::readers) height: f64,
}

/// Converts positions in a group to the outside: a factor and an offset for each coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) times: (f64, f64),
    pub(super) plus: (f64, f64),
}

impl Default for Scale {
    fn default() -> Self {
        Self { times: (1.0, 1.0), plus: (0.0, 0.0) }
    }
}

impl Scale {
    /// A group that stands at `outside` and counts from `inside`.
    pub(super) fn of_group(outside: ShapeBox, inside: ShapeBox) -> Self {
        let ratio = |outer: f64, inner: f64| if inner == 0.0 { 1.0 } else { outer / inner };
        let times = (ratio(outside.width, inside.width), ratio(outside.height, inside.height));
        Self { times, plus: (outside.left - inside.left * times.0, outside.top - inside.top * times.1) }
    }

    pub(super) fn apply(self, place: ShapeBox) -> ShapeBox {
        ShapeBox {
            left: place.left * self.times.0 + self.plus.0,
            top: place.top * self.times.1 + self.plus.1,
            width: place.width * self.times.0,
            height: place.height * self.times.1,
        }
    }

    /// Combines this scale with that of an outer group.
    pub(super) fn within(self, outer: Self) -> Self {
        Self {
            times: (self.times.0 * outer.times.0, self.times.1 * outer.times.1),
            plus: (self.plus.0 * outer.times.0 + outer.plus.0, self.plus.1 * outer.times.1 + outer.plus.1),
        }
    }
}

/// Puts shapes into reading order. A shape whose middle is above another's lower edge stands beside it.
pub(in crate::readers) fn sort<T>(shapes: &mut Vec<(ShapeBox, T)>) {
    shapes.sort_by(|(one, _), (other, _)| one.top.total_cmp(&other.top).then(one.left.total_cmp(&other.left)));
    let mut sorted = Vec::with_capacity(shapes.len());
    let mut rest = std::mem::take(shapes).into_iter().peekable();
    while let Some(first) = rest.next() {
        // The band is as high as its first shape, so that a tall one at the side doesn't swallow all rows.
        let bottom = first.0.top + first.0.height;
        let mut band = vec![first];
        let own = |place: &ShapeBox| place.top + place.height / 2.0 < bottom;
        while let Some(next) = rest.next_if(|(place, _)| own(place) && beside(&band, place)) {
            band.push(next);
        }
        band.sort_by(|(one, _), (other, _)| one.left.total_cmp(&other.left));
        sorted.append(&mut band);
    }
    *shapes = sorted;
}

/// Whether a shape stands left or right of all others of a band: else it is below one of them, or on it.
fn beside<T>(band: &[(ShapeBox, T)], place: &ShapeBox) -> bool {
    band.iter()
        .rev()
        .take(100)
        .all(|(other, _)| place.left >= other.left + other.width * 0.9 || other.left >= place.left + place.width * 0.9)
}
