//! Whether help is used with what has no text: of programs that recognise characters (`documents.ocr`), of models that look at
//! pages (`documents.vision`).

/// As it is configured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UseMode {
    /// Where it is to be had.
    #[default]
    Auto,
    /// No.
    Never,
    /// As with `Auto`, and it is an error where it is not to be had. Models look at all pages that can be painted.
    Always,
}

impl UseMode {
    /// As it stands in a configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Never => "never",
            Self::Always => "always",
        }
    }

    /// The mode of that name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Auto, Self::Never, Self::Always].into_iter().find(|one| one.as_str() == text)
    }
}
