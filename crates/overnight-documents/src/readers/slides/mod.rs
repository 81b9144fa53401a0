//! PPTX.
//!
//! - `read`: the whole presentation, slide by slide; `slide`: one slide's shapes; `layout`: where shapes stand that don't
//!   say it themselves; `reading_order`: in which order a person reads them

mod layout;
mod read;
mod reading_order;
mod slide;
#[cfg(test)]
mod tests;

pub(crate) use read::SlidesReader;
pub(super) use reading_order::{ShapeBox, sort};

/// Said where slides have footers of their master.
pub(super) const SHARED_FOOTERS: &str = "footers that slides share stand on the first of them only";
