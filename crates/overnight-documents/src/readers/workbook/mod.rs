//! XLSX, XLSB, XLS and ODS.
//!
//! - `read`: recognises the format; `xlsx`: XLSX, with `strings` and `styles`; `xlsb`: XLSB; `ods`: ODS; `xls`: XLS
//! - `pager`: a sheet's rows on pages; `display`: a number as a person sees it; `rich_text`: runs of text; `code_page`:
//!   the encoding of old workbooks; `beside`: content of sheets other than cells

mod beside;
mod code_page;
mod dates;
mod display;
mod ods;
mod pager;
mod read;
mod rich_text;
mod strings;
mod styles;
#[cfg(test)]
mod tests;
mod xls;
mod xlsb;
mod xlsx;

pub(crate) use display::NumberFormat;
pub(crate) use read::WorkbookReader;
