//! One workbook, from bytes to text.

use super::{ods, xls, xlsb, xlsx};
use crate::format::ending;
use crate::readers::package::Package;
use crate::readers::{PageSink, ReadFailure, Reader, Source};
use crate::units::Unit;

/// Reads XLSX, XLSB, XLS and ODS.
pub(crate) struct WorkbookReader;

impl Reader for WorkbookReader {
    fn version(&self) -> &'static str {
        "calamine 0.38.0, quick-xml 0.42.0, ssfmt 0.1.2+9"
    }

    fn read(&self, source: Source<'_>, pages: &mut dyn PageSink) -> Result<Unit, ReadFailure> {
        const FORMAT: &str = "a workbook";
        if !source.bytes.starts_with(b"PK") {
            return xls::read(source.bytes, pages);
        }
        let package = Package::of(source.bytes, FORMAT, pages)?;
        let is_open = package.has("content.xml") || ending(source.name) == "ods";
        let read = if package.has("xl/workbook.bin") {
            xlsb::read(&package, pages)
        } else if is_open && !package.has("xl/workbook.xml") {
            ods::read(&package, pages)
        } else {
            xlsx::read(&package, pages)
        };
        read.map_err(|halt| halt.of(FORMAT))?;
        Ok(Unit::Page)
    }
}
