//! Word and PowerPoint documents of before 2007 (DOC, PPT), through `undoc`, which knows slides, tables, lists, notes and page
//! breaks. Of 190 such files of public test suites, it gives the words of `LibreOffice`'s text for 180. It panics on some
//! damaged files, which is told as damage, and it is silent about text boxes and comments, which are looked for here.
//!
//! - `read`: one file, from bytes to text. `sample.zip` holds one of each, made for the tests by `LibreOffice`

mod read;
#[cfg(test)]
mod tests;

pub(crate) use read::OldOfficeReader;
