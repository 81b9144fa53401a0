//! Which paragraphs are headings: by the names of styles, and by the styles' outline levels.

/// The most styles whose levels are kept.
const MAX_STYLES: usize = 20_000;

#[derive(Debug, Default)]
pub(super) struct RtfStyles {
    /// Levels of headings by the numbers of styles.
    levels: Vec<(i32, u8)>,
    /// The style that the table is describing, and the part of its name read so far.
    pub(super) current: Option<i32>,
    name: String,
}

impl RtfStyles {
    pub(super) fn level(&self, style: Option<i32>) -> Option<u8> {
        self.levels.iter().find(|(number, _)| Some(*number) == style).map(|(_, level)| *level)
    }

    /// `level`: the outline's, which begins at 0.
    pub(super) fn set_level(&mut self, level: i32) {
        if let (Some(style), Ok(level @ 1..=9)) = (self.current, u8::try_from(level + 1))
            && self.levels.len() < MAX_STYLES
        {
            self.levels.push((style, level));
        }
    }

    pub(super) fn name(&mut self, text: &str) {
        self.name.push_str(text);
        if text.contains(';') {
            self.end();
        }
    }

    /// Ends a style, whose name decides whether it is a heading style.
    pub(super) fn end(&mut self) {
        let name = std::mem::take(&mut self.name).trim_end_matches(';').trim().to_lowercase();
        let level = name.strip_prefix("heading ").and_then(|level| level.parse::<i32>().ok());
        if let Some(level) = level.or((name == "title").then_some(1)) {
            self.set_level(level - 1);
        }
        self.current = None;
    }
}
