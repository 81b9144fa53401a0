//! How strongly a sentence obliges: the normative words of RFC 2119 as they are really written, upper or lower case,
//! negated before, after or in the word, and told from the month of May, from nouns ("a must") and from adjectives
//! ("the required form").

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::LazyLock;

use regex::Regex;

use super::quotations::quotations;
use super::wording::{keyword, words};

/// What a normative word asks for. The order of the variants says nothing: see [`Strength::rank`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strength {
    Must,
    MustNot,
    Shall,
    ShallNot,
    Should,
    ShouldNot,
    May,
    MayNot,
    Required,
    NotRequired,
    Recommended,
    NotRecommended,
}

/// A word that names no strength.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not a normative word: write MUST, MUST NOT, SHALL, SHOULD, MAY, REQUIRED, RECOMMENDED or their negations"
)]
pub struct UnknownStrength(String);

impl Strength {
    /// Every strength, with how it is written.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::Must, "MUST"),
        (Self::MustNot, "MUST NOT"),
        (Self::Shall, "SHALL"),
        (Self::ShallNot, "SHALL NOT"),
        (Self::Should, "SHOULD"),
        (Self::ShouldNot, "SHOULD NOT"),
        (Self::May, "MAY"),
        (Self::MayNot, "MAY NOT"),
        (Self::Required, "REQUIRED"),
        (Self::NotRequired, "NOT REQUIRED"),
        (Self::Recommended, "RECOMMENDED"),
        (Self::NotRecommended, "NOT RECOMMENDED"),
    ];

    /// 3 for obligation (MUST, SHALL, REQUIRED), 2 for advice (SHOULD, RECOMMENDED), 1 for permission (MAY).
    pub fn rank(self) -> u8 {
        match self {
            Self::Must | Self::MustNot | Self::Shall | Self::ShallNot | Self::Required | Self::NotRequired => 3,
            Self::Should | Self::ShouldNot | Self::Recommended | Self::NotRecommended => 2,
            Self::May | Self::MayNot => 1,
        }
    }

    /// Whether the word is negated.
    pub fn is_negated(self) -> bool {
        match self {
            Self::MustNot
            | Self::ShallNot
            | Self::ShouldNot
            | Self::MayNot
            | Self::NotRequired
            | Self::NotRecommended => true,
            Self::Must | Self::Shall | Self::Should | Self::May | Self::Required | Self::Recommended => false,
        }
    }

    /// The negated form of the same word.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Must | Self::MustNot => Self::MustNot,
            Self::Shall | Self::ShallNot => Self::ShallNot,
            Self::Should | Self::ShouldNot => Self::ShouldNot,
            Self::May | Self::MayNot => Self::MayNot,
            Self::Required | Self::NotRequired => Self::NotRequired,
            Self::Recommended | Self::NotRecommended => Self::NotRecommended,
        }
    }
}

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::ALL.iter().find(|(strength, _)| strength == self).map_or("", |(_, word)| word);
        f.write_str(word)
    }
}

impl FromStr for Strength {
    type Err = UnknownStrength;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = text.trim().replace(['_', '-'], " ").to_uppercase();
        Self::ALL
            .iter()
            .find(|(_, word)| *word == wanted)
            .map(|(strength, _)| *strength)
            .ok_or_else(|| UnknownStrength(text.to_owned()))
    }
}

/// The first look at a text, cheap: without one of these there is nothing to weigh.
static HINT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("(?i)must|shall|should|may|required|recommended").ok());

/// Whether a text can carry a normative word at all.
pub(super) fn hinted(text: &str) -> bool {
    HINT.as_ref().is_none_or(|hint| hint.is_match(text))
}

/// The strength of a text by itself, quotations left out; `None` when it obliges to nothing.
pub fn strength_of(text: &str) -> Option<Strength> {
    strongest(text, &quotations(text), 0..text.len()).map(|(strength, _)| strength)
}

/// The strongest normative word within `range` of `text`, and where it stands. Words inside `masked` are mentioned, not used.
pub(super) fn strongest(text: &str, masked: &[Range<usize>], range: Range<usize>) -> Option<(Strength, usize)> {
    let sentence = text.get(range.clone())?;
    if !hinted(sentence) || is_definition_or_question(sentence) {
        return None;
    }
    let words = words(sentence);
    let mut best: Option<(Strength, usize)> = None;
    for at in 0..words.len() {
        let place = range.start + words[at].start;
        if masked.iter().any(|mask| mask.contains(&place)) {
            continue;
        }
        let Some(found) = keyword(sentence, &words, at) else {
            continue;
        };
        let weight = |strength: Strength| (strength.rank(), strength.is_negated());
        if best.is_none_or(|(so_far, _)| weight(found) > weight(so_far)) {
            best = Some((found, place));
        }
    }
    best
}

/// `The key words … are to be interpreted as …` explains the words, and a question obliges nobody.
fn is_definition_or_question(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(['"', '”', '’', '\'', ')', '*', '_', ' ']);
    if end.ends_with('?') {
        return true;
    }
    let head: String = sentence.chars().take(40).collect::<String>().to_lowercase();
    (head.contains("key word") || head.contains("keyword")) && sentence.contains("interpreted")
}
