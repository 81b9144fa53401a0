//! Word and PowerPoint documents of before 2007 (DOC, PPT): DOC through `undoc`, which knows tables, lists, notes and page breaks.
//! It panics on some damaged files, which is told as damage, and it is silent about text boxes and comments, which are looked
//! for here. PPT is read here.
//!
//! - `read`: one file, from bytes to text; `sample.zip` holds one of each, made for the tests by `LibreOffice`
//! - `labels`: the numbers and letters before its paragraphs, counted by its `lists`; `bytes`: what a file is read by
//! - `slides`: presentations, with `shapes`, the texts on a slide, `objects`, the documents on it, and `records`, what the file
//!   is made of

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
