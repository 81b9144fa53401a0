//! PPTX.
//!
//! - `read`: the whole presentation, slide by slide; `slide`: one slide's shapes; `layout`: positions of shapes that
//!   don't state their own; `reading_order`: in which order a person reads them

mod layout;
mod read;
mod reading_order;
mod slide;
#[cfg(test)]
mod tests;

pub(crate) use read::SlidesReader;
pub(super) use reading_order::{ShapeBox, sort};

/// The note for slides with footers of their master.
pub(super) const SHARED_FOOTERS: &str = "footers that slides share stand on the first of them only";
