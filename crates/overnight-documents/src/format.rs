//! The formats with a reader, and the formats indicated by names.

use serde::{Deserialize, Serialize};

/// The formats with a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Kept as it is.
    Markdown,
    /// Plain text of any sort: prose, source code.
    Text,
    /// Read into text with Markdown's blocks and none of its inline marks.
    Html,
    /// Any version, with or without tags.
    Pdf,
    /// DOCX.
    Word,
    /// XLSX, XLS, ODS.
    Workbook,
    /// Values with commas, semicolons or tabs between them.
    Csv,
    /// PPTX.
    Slides,
    /// Books, chapter after chapter.
    Epub,
    /// RFC 5322 or Outlook's own.
    Mail,
    /// ODT, ODP, ODG, also in one XML file.
    OpenDocument,
    /// DOC and PPT.
    OldOffice,
    /// RTF.
    RichText,
    /// A section of OneNote.
    OneNote,
    /// Pages, Numbers and Keynote, by the preview in the file.
    IWork,
    /// JSON and JSON Lines.
    Json,
    /// XML of any sort, also SVG and feeds.
    Xml,
    /// A Jupyter notebook.
    Notebook,
    /// Pixels, whose text has to be recognised.
    Image,
    /// No text could be extracted.
    Unread,
}

/// All formats.
pub const READERS: [Format; 19] = [
    Format::Markdown,
    Format::Text,
    Format::Html,
    Format::Pdf,
    Format::Word,
    Format::Workbook,
    Format::Csv,
    Format::Slides,
    Format::Epub,
    Format::Mail,
    Format::OpenDocument,
    Format::OldOffice,
    Format::RichText,
    Format::OneNote,
    Format::IWork,
    Format::Json,
    Format::Xml,
    Format::Notebook,
    Format::Image,
];

impl Format {
    /// The format's name in a list for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "Markdown",
            Self::Text => "text",
            Self::Html => "HTML",
            Self::Pdf => "PDF",
            Self::Word => "Word",
            Self::Workbook => "workbook",
            Self::Csv => "CSV",
            Self::Slides => "slides",
            Self::Epub => "EPUB",
            Self::Mail => "mail",
            Self::OpenDocument => "OpenDocument",
            Self::OldOffice => "old Office",
            Self::RichText => "RTF",
            Self::OneNote => "OneNote",
            Self::IWork => "iWork",
            Self::Json => "JSON",
            Self::Xml => "XML",
            Self::Notebook => "notebook",
            Self::Image => "image",
            Self::Unread => "not read",
        }
    }
}

/// The largest document in bytes: offsets into texts have 32 bits, and a text can be longer than its document.
pub const MAX_BYTES: u64 = 1 << 30;

/// A name's last ending in lower case: `.html` for `A.B.HTML`.
pub fn ending(name: &str) -> String {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.rsplit_once('.').map_or_else(String::new, |(_, ending)| ending.to_ascii_lowercase())
}
