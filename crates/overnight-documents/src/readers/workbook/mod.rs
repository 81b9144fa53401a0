//! XLSX, XLS and ODS.
//!
//! - `read`: which of them it is; `modern`: XLSX, with `strings` and `styles`; `open`: ODS; `old`: XLS
//! - `pager`: a sheet's rows on pages; `display`: a number as a person sees it

mod dates;
mod display;
mod modern;
mod old;
mod open;
mod pager;
mod read;
mod strings;
mod styles;
#[cfg(test)]
mod tests;

pub(crate) use read::Workbook;
