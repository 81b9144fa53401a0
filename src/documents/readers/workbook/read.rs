//! One workbook, from bytes to text.

use super::{modern, old, open};
use crate::documents::format::ending;
use crate::documents::readers::package::{Halt, Package};
use crate::documents::readers::{Failure, Pages, Reader, Source};
use crate::documents::refusal::Refusal;
use crate::documents::units::Unit;

/// Reads XLSX, XLS and ODS.
pub(in crate::documents) struct Workbook;

impl Reader for Workbook {
    fn version(&self) -> &'static str {
        "calamine 0.38.0, quick-xml 0.42.0, ssfmt 0.1.2+5"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn Pages) -> Result<Unit, Failure> {
        let damaged = |why: String| Failure::from(Refusal::Damaged { format: "a workbook".to_owned(), why });
        if !source.bytes.starts_with(b"PK") {
            return old::read(source.bytes, pages);
        }
        let package = Package::open(source.bytes).ok_or_else(|| damaged("nothing can be unpacked of it".to_owned()))?;
        package.tell(pages)?;
        let is_open = package.has("content.xml") || ending(source.name) == "ods";
        let read = if is_open && !package.has("xl/workbook.xml") {
            open::read(&package, pages)
        } else {
            modern::read(&package, pages)
        };
        read.map_err(|halt| match halt {
            Halt::Broken(broken) => damaged(broken.to_string()),
            Halt::Failure(failure) => failure,
        })?;
        Ok(Unit::Page)
    }
}
