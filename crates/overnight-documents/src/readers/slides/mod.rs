//! PPTX.
//!
//! - `read`: the whole presentation, slide by slide; `slide`: one slide's shapes; `layout`: where shapes stand that don't
//!   say it themselves; `order`: in which order a person reads them

mod layout;
mod order;
mod read;
mod slide;
#[cfg(test)]
mod tests;

pub(crate) use read::Slides;
