//! Word and PowerPoint documents of before 2007 (DOC, PPT): DOC through `undoc`, which knows tables, lists, notes and
//! page breaks. It panics on some damaged files, which is reported as damage, and it ignores text boxes and comments,
//! which are searched here. PPT is read here.
//!
//! - `read`: one file, from bytes to text; `sample.zip` holds one of each, made for the tests by `LibreOffice`
//! - `labels`: the numbers and letters before its paragraphs, counted by its `lists`; `bytes`: numbers and texts
//! - `slides`: presentations, with `shapes`, the texts on a slide, `objects`, the documents on it, and `records`, the
//!   structure of the file

mod bytes;
mod labels;
mod lists;
mod objects;
mod read;
mod records;
mod shapes;
mod slides;
#[cfg(test)]
mod tests;

pub(crate) use read::OldOfficeReader;
