//! One workbook, from bytes to text.

use super::{modern, old, open};
use crate::format::ending;
use crate::readers::package::Package;
use crate::readers::{Failure, Pages, Reader, Source};
use crate::units::Unit;

/// Reads XLSX, XLS and ODS.
pub(crate) struct Workbook;

impl Reader for Workbook {
    fn version(&self) -> &'static str {
        "calamine 0.38.0, quick-xml 0.42.0, ssfmt 0.1.2+5"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn Pages) -> Result<Unit, Failure> {
        const FORMAT: &str = "a workbook";
        if !source.bytes.starts_with(b"PK") {
            return old::read(source.bytes, pages);
        }
        let package = Package::of(source.bytes, FORMAT, pages)?;
        let is_open = package.has("content.xml") || ending(source.name) == "ods";
        let read = if is_open && !package.has("xl/workbook.xml") {
            open::read(&package, pages)
        } else {
            modern::read(&package, pages)
        };
        read.map_err(|halt| halt.of(FORMAT))?;
        Ok(Unit::Page)
    }
}
