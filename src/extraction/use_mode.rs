//! Whether help is used with what has no text: of programs that recognise characters (`documents.ocr`), of models that look at
//! pages (`documents.vision`).

/// As it is configured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UseMode {
    /// If it is available.
    #[default]
    Auto,
    /// No.
    Never,
    /// As with `Auto`, and an error if it is not available. Models look at all pages that can be rendered.
    Always,
}

impl UseMode {
    /// The word in a configuration.
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
