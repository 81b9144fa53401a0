//! The code page of an XLS. Excel 97 and later store all texts in Unicode, whatever the record for old programs says;
//! `calamine` trusts that record, and takes wide letters for pairs of narrow ones. Excel 5 and 95 use that code page,
//! of which `calamine` knows those of Windows; the others are read as the nearest one.

use std::io::{Cursor, Read};

use calamine::XlsOptions;

/// Records: the beginning of a stream or sheet, its end, the code page.
const BEGIN: u16 = 0x0809;
const END: u16 = 0x000a;
const CODE_PAGE: u16 = 0x0042;
/// Excel 97 and later.
const UNICODE_VERSION: u16 = 0x0600;
const UNICODE: u16 = 1200;
/// How much of the stream is searched for the record, which stands at its beginning.
const HEAD: u64 = 1 << 16;

/// The options for `calamine`, and a note for people.
pub(super) fn options(bytes: &[u8]) -> (XlsOptions, Option<String>) {
    let mut options = XlsOptions::default();
    let Some((version, code_page)) = told(bytes) else { return (options, None) };
    let mut note = None;
    if version >= UNICODE_VERSION {
        options.force_codepage = Some(UNICODE);
    } else if let Some(code_page) = code_page {
        options.force_codepage = match code_page {
            0x8000 => Some(10_000),
            0x8001 | 0 => Some(1_252),
            // Code pages of MS-DOS have other letters than any that is known here.
            437 | 850 | 860 | 861 | 863 | 865 => {
                note = Some(format!("its texts are in code page {code_page} of MS-DOS, and were read as windows-1252"));
                Some(1_252)
            }
            852 => {
                note = Some("its texts are in code page 852 of MS-DOS, and were read as windows-1250".to_owned());
                Some(1_250)
            }
            _ => None,
        };
    }
    (options, note)
}

/// The version of the workbook's stream, and the code page that it names.
fn told(bytes: &[u8]) -> Option<(u16, Option<u16>)> {
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).ok()?;
    let name = ["/Workbook", "/Book"].into_iter().find(|name| file.is_stream(name))?;
    let mut head = Vec::new();
    file.open_stream(name).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let (mut at, mut version, mut code_page) = (0, None, None);
    let number = |at: usize| Some(u16::from_le_bytes([*head.get(at)?, *head.get(at + 1)?]));
    while let (Some(kind), Some(length)) = (number(at), number(at + 2)) {
        match kind {
            BEGIN if version.is_none() => version = number(at + 4),
            CODE_PAGE => code_page = number(at + 4),
            END => break,
            _ => {}
        }
        at += 4 + usize::from(length);
    }
    Some((version?, code_page))
}
