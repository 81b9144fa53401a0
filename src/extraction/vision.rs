//! Whether models look at pages that have no text.

/// `documents.vision`: whether scanned pages are transcribed by a model that takes images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VisionMode {
    /// Where the job's model, or the one that is named for it, takes images.
    #[default]
    Auto,
    /// No.
    Never,
    /// As with `Auto`, and it is an error if neither does.
    Always,
}

impl VisionMode {
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
