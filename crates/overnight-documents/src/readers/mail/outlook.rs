//! A mail as Outlook saves it (`.msg`): properties as streams of a compound file, named by number and type ([MS-OXMSG]).

use std::borrow::Cow;
use std::io::{Cursor, Read, Write};
use std::path::Path;
use std::time::SystemTime;

use cfb::CompoundFile;
use chrono::Datelike;
use encoding_rs::Encoding;

use super::body::MAX_LOGO_BYTES;
use super::mime::{decoded, people, person};
use super::parsed_mail::{Attachment, ParsedMail, TransferEncoding, name_all};
use crate::encoding;
use crate::readers::ReadFailure;
use crate::readers::html::{HtmlOmissions, of_part};
use crate::readers::package::one_line;
use crate::refusal::Refusal;

/// The stream of properties that have a fixed length.
const PROPERTIES: &str = "__properties_version1.0";
/// A whole message as an attachment's content.
const EMBEDDED: &str = "__substg1.0_3701000D";
const MAX_ATTACHMENTS: usize = 5_000;
const MAX_RECIPIENTS: usize = 5_000;

const SUBJECT: &str = "0037";
/// The sender's name, and properties that may have the address; also for the represented sender and a recipient.
const SENDER: (&str, [&str; 2]) = ("0C1A", ["5D01", "0C1F"]);
const SENT_FOR: (&str, [&str; 2]) = ("0042", ["5D02", "0065"]);
const RECIPIENT: (&str, [&str; 2]) = ("3001", ["39FE", "3003"]);
/// Whether a recipient is one of To (1) or Cc (2); and the names of each sort, in one line.
const RECIPIENT_TYPE: u16 = 0x0c15;
const TO: (u64, &str) = (1, "0E04");
const CC: (u64, &str) = (2, "0E03");
/// The header with which the mail arrived.
const HEADERS: &str = "007D";
const BODY: &str = "1000";
const HTML: &str = "1013";
const RTF: &str = "10090102";
const SUBMITTED: u16 = 0x0039;
const DELIVERED: u16 = 0x0e06;
const CODE_PAGE: u16 = 0x3ffd;
const INTERNET_CODE_PAGE: u16 = 0x3fde;
const FILE_NAME: &str = "3707";
const SHORT_FILE_NAME: &str = "3704";
const SHOWN_NAME: &str = "3001";
const MEDIA: &str = "370E";
const CONTENT_ID: &str = "3712";
const CONTENT: &str = "__substg1.0_37010102";

/// The mail that these bytes are.
pub(super) fn letter(bytes: &[u8]) -> Result<ParsedMail<'static>, Refusal> {
    let damaged =
        || Refusal::Damaged { format: "an Outlook mail".to_owned(), why: "its table of parts is broken".to_owned() };
    let file = CompoundFile::open(Cursor::new(bytes)).map_err(|_| damaged())?;
    let mut store = OutlookFile { file, left: bytes.len() + (1 << 16), code_page: None };
    let properties = store.stream(&format!("/{PROPERTIES}")).unwrap_or_default();
    let code_page = fixed(&properties, 32, CODE_PAGE).or_else(|| fixed(&properties, 32, INTERNET_CODE_PAGE));
    store.code_page = code_page.and_then(|number| label(number & 0xffff_ffff));
    let mut letter = ParsedMail { head: store.head(&properties), ..ParsedMail::default() };
    store.body(&mut letter);
    store.attachments(&mut letter);
    name_all(&mut letter.attachments);
    Ok(letter)
}

struct OutlookFile<'a> {
    file: CompoundFile<Cursor<&'a [u8]>>,
    /// How many more bytes may be read: a hostile file's streams may overlap.
    left: usize,
    code_page: Option<String>,
}

impl OutlookFile<'_> {
    fn stream(&mut self, path: &str) -> Option<Vec<u8>> {
        let stream = self.file.open_stream(path).ok()?;
        let mut content = Vec::new();
        // A stream that is cut off is read as far as it goes.
        let _cut = stream.take(self.left as u64).read_to_end(&mut content);
        self.left -= content.len().min(self.left);
        Some(content)
    }

    /// A text property, in one of its two types.
    fn text(&mut self, folder: &str, id: &str) -> Option<String> {
        if let Some(wide) = self.stream(&format!("{folder}/__substg1.0_{id}001F")) {
            return Some(encoding_rs::UTF_16LE.decode_without_bom_handling(&wide).0.trim_end_matches('\0').to_owned());
        }
        let narrow = self.stream(&format!("{folder}/__substg1.0_{id}001E"))?;
        let narrow = narrow.split(|&byte| byte == 0).next().unwrap_or_default();
        Some(encoding::decode(narrow, self.code_page.as_deref()).ok()?.text.into_owned())
    }

    fn line(&mut self, folder: &str, id: &str) -> Option<String> {
        Some(one_line(&self.text(folder, id)?)).filter(|text| !text.is_empty())
    }

    fn head(&mut self, properties: &[u8]) -> Vec<(&'static str, String)> {
        let from = self.from();
        let recipients = self.recipients();
        let mut sent = |(kind, names): (u64, &str)| {
            let of_kind = recipients.iter().filter(|(of, _)| *of == kind).map(|(_, person)| person.as_str());
            let people = of_kind.collect::<Vec<_>>().join(", ");
            if people.is_empty() { self.line("", names) } else { Some(people) }
        };
        let (to, cc) = (sent(TO), sent(CC));
        let date = fixed(properties, 32, SUBMITTED).or_else(|| fixed(properties, 32, DELIVERED)).and_then(date);
        let head = [("From", from), ("To", to), ("Cc", cc), ("Date", date), ("Subject", self.line("", SUBJECT))];
        head.into_iter().filter_map(|(label, value)| Some((label, value?))).collect()
    }

    /// The sender, with an address if there is one anywhere.
    fn from(&mut self) -> Option<String> {
        let sender = self.person("", SENDER);
        if sender.as_ref().is_some_and(|sender| sender.contains('@')) {
            return sender;
        }
        let sent_for = self.person("", SENT_FOR).filter(|person| person.contains('@'));
        let by_head = |headers: String| decoded(headers.as_bytes())?.from().map(people);
        sent_for.or_else(|| self.text("", HEADERS).and_then(by_head)).filter(|from| !from.is_empty()).or(sender)
    }

    fn person(&mut self, folder: &str, (name, addresses): (&str, [&str; 2])) -> Option<String> {
        let name = self.line(folder, name);
        // An address internal to Exchange is useless outside of it.
        let address = addresses.iter().filter_map(|id| self.line(folder, id)).find(|address| address.contains('@'));
        Some(person(name, address)).filter(|person| !person.is_empty())
    }

    /// The kind of each recipient, and the recipient.
    fn recipients(&mut self) -> Vec<(u64, String)> {
        let mut recipients = Vec::new();
        for folder in self.folders("__recip_version1.0_", MAX_RECIPIENTS) {
            let properties = self.stream(&format!("{folder}/{PROPERTIES}")).unwrap_or_default();
            let kind = fixed(&properties, 8, RECIPIENT_TYPE).unwrap_or(0) & 0xffff_ffff;
            recipients.extend(self.person(&folder, RECIPIENT).map(|person| (kind, person)));
        }
        recipients
    }

    /// The top-level folders whose names begin with `name`, in order.
    fn folders(&self, name: &str, most: usize) -> Vec<String> {
        let all = self.file.read_root_storage().filter(|entry| entry.is_storage() && entry.name().starts_with(name));
        all.map(|entry| format!("/{}", entry.name())).take(most).collect()
    }

    fn body(&mut self, letter: &mut ParsedMail<'_>) {
        if let Some(text) = self.text("", BODY).filter(|text| !text.trim().is_empty()) {
            letter.text = text;
            return;
        }
        let html = self.text("", HTML).or_else(|| {
            let html = self.stream(&format!("/__substg1.0_{HTML}0102"))?;
            let declared = encoding::declared_in_html(&html).or_else(|| self.code_page.clone());
            Some(encoding::decode(&html, declared.as_deref()).ok()?.text.into_owned())
        });
        if let Some(html) = html {
            match of_part(&html, false) {
                Ok(read) => {
                    letter.text = read.text;
                    letter.notes.extend(HtmlOmissions { images: 0, ..read.left_out }.notes());
                }
                Err(ReadFailure::Refused(refusal)) => letter.gaps.push(format!("its text {refusal}")),
                Err(ReadFailure::Stopped(_)) => {}
            }
        } else if self.file.is_stream(format!("/__substg1.0_{RTF}")) {
            letter.gaps.push("its text is only there as packed RTF: save the mail as HTML or text".to_owned());
        }
    }

    fn attachments(&mut self, letter: &mut ParsedMail<'_>) {
        for folder in self.folders("__attach_version1.0_", MAX_ATTACHMENTS) {
            let media = self.line(&folder, MEDIA).map(|media| media.to_ascii_lowercase());
            let name = self.line(&folder, FILE_NAME).or_else(|| self.line(&folder, SHORT_FILE_NAME));
            let embedded = format!("{folder}/{EMBEDDED}");
            let is_mail = self.file.is_storage(&embedded) && self.file.is_stream(format!("{embedded}/{PROPERTIES}"));
            let name = name.or_else(|| self.line(&folder, SHOWN_NAME));
            if is_mail {
                let name = name.unwrap_or_else(|| "message".to_owned());
                let ending = if name.to_ascii_lowercase().ends_with(".msg") { "" } else { ".msg" };
                match self.copy(&embedded) {
                    Some(content) => letter.attachments.push(attached(format!("{name}{ending}"), OUTLOOK, content)),
                    None => letter.gaps.push(format!("{name}, a mail attached to it, is damaged")),
                }
            } else if let Some(content) = self.stream(&format!("{folder}/{CONTENT}")) {
                let media = media.unwrap_or_else(|| "application/octet-stream".to_owned());
                let is_shown = media.starts_with("image/") && self.line(&folder, CONTENT_ID).is_some();
                if !(is_shown && content.len() < MAX_LOGO_BYTES) {
                    letter.attachments.push(attached(name.unwrap_or_default(), &media, content));
                }
            } else {
                let name = name.unwrap_or_else(|| "an attachment".to_owned());
                letter.gaps.push(format!("{name} is not in the mail itself"));
            }
        }
    }

    /// An embedded mail, as a file of its own.
    fn copy(&mut self, folder: &str) -> Option<Vec<u8>> {
        let entries: Vec<(bool, String)> = self
            .file
            .walk_storage(folder)
            .ok()?
            .take(MAX_ATTACHMENTS * 20)
            .filter_map(|entry| Some((entry.is_stream(), entry.path().to_str()?.replace('\\', "/"))))
            .collect();
        let mut copy = CompoundFile::create(Cursor::new(Vec::new())).ok()?;
        for (is_stream, path) in entries {
            let Some(within) = path.strip_prefix(folder).filter(|within| !within.is_empty()) else { continue };
            if is_stream {
                let mut content = self.stream(&path)?;
                if within == format!("/{PROPERTIES}") && content.len() >= 24 {
                    // Only the outermost header has eight more bytes, without meaning.
                    content.splice(24..24, [0; 8]);
                }
                copy.create_stream(Path::new(within)).ok()?.write_all(&content).ok()?;
            } else {
                copy.create_storage(Path::new(within)).ok()?;
                // The same mail is the same file each time.
                copy.set_created_time(within, SystemTime::UNIX_EPOCH).ok()?;
                copy.set_modified_time(within, SystemTime::UNIX_EPOCH).ok()?;
            }
        }
        copy.flush().ok()?;
        Some(copy.into_inner().into_inner())
    }
}

const OUTLOOK: &str = "application/vnd.ms-outlook";

fn attached(name: String, media: &str, content: Vec<u8>) -> Attachment<'static> {
    Attachment { name, media: media.to_owned(), body: Cow::Owned(content), transfer: TransferEncoding::Plain }
}

/// A property of fixed length; `header` bytes stand before the first.
fn fixed(properties: &[u8], header: usize, id: u16) -> Option<u64> {
    properties.get(header..)?.chunks_exact(16).find_map(|entry| {
        let found = u16::from_le_bytes([entry[2], entry[3]]);
        let value = entry[8..].try_into().ok().map(u64::from_le_bytes);
        if found == id { value } else { None }
    })
}

/// The name of a code page of Windows.
fn label(code_page: u64) -> Option<String> {
    let label = match code_page {
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        874 | 1250..=1258 => format!("windows-{code_page}"),
        20_866 => "koi8-r".to_owned(),
        28_591..=28_605 => format!("iso-8859-{}", code_page - 28_590),
        50_220..=50_222 => "iso-2022-jp".to_owned(),
        54_936 => "gb18030".to_owned(),
        _ => return None,
    };
    Encoding::for_label(label.as_bytes()).map(|_| label)
}

/// `2025-03-01 12:34 UTC` from tenths of microseconds since 1601.
fn date(ticks: u64) -> Option<String> {
    const SECONDS_TO_1970: i64 = 11_644_473_600;
    let seconds = i64::try_from(ticks / 10_000_000).ok()?.checked_sub(SECONDS_TO_1970)?;
    let date = chrono::DateTime::from_timestamp_secs(seconds).filter(|date| date.year() < 10_000)?;
    Some(date.format("%Y-%m-%d %H:%M UTC").to_string())
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_count_from_1601() {
        assert_eq!(date(0).as_deref(), Some("1601-01-01 00:00 UTC"));
        assert_eq!(date(116_444_736_000_000_000).as_deref(), Some("1970-01-01 00:00 UTC"));
        assert_eq!(date(133_536_886_200_000_000).as_deref(), Some("2024-02-29 13:57 UTC"));
        assert_eq!(date(u64::MAX), None);
    }
}
