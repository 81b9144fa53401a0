//! How strongly a sentence obliges: the normative words of RFC 2119 as they are really written, upper or lower case,
//! negated before, after or in the word, and told from the month of May, from nouns ("a must") and from adjectives
//! ("the required form").

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::LazyLock;

use regex::Regex;

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

    fn negated(self) -> Self {
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
        let word = Self::ALL
            .iter()
            .find(|(strength, _)| strength == self)
            .map_or("", |(_, word)| word);
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
    LazyLock::new(|| Regex::new("(?i)must|shall|should|may|required|recommended|shan").ok());

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

struct Word {
    start: usize,
    end: usize,
    lower: String,
}

/// Runs of letters, digits and inner apostrophes.
fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain(std::iter::once((text.len(), ' '))) {
        let inner = c.is_alphanumeric() || (start.is_some() && matches!(c, '\'' | '’'));
        match (start, inner) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                let word = text[from..at].trim_end_matches(['\'', '’']);
                found.push(Word {
                    start: from,
                    end: from + word.len(),
                    lower: word.to_lowercase().replace('’', "'"),
                });
                start = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    found
}

fn keyword(text: &str, words: &[Word], at: usize) -> Option<Strength> {
    let (strength, inner_not) = match words[at].lower.as_str() {
        "must" => (Strength::Must, false),
        "mustn't" => (Strength::Must, true),
        "shall" => (Strength::Shall, false),
        "shan't" => (Strength::Shall, true),
        "should" => (Strength::Should, false),
        "shouldn't" => (Strength::Should, true),
        "may" => (Strength::May, false),
        "required" => return participle(text, words, at, Strength::Required),
        "recommended" => return participle(text, words, at, Strength::Recommended),
        _ => return None,
    };
    if !stands_free(text, &words[at]) || is_noun(text, words, at) {
        return None;
    }
    if strength == Strength::May && is_month_or_wish(text, words, at) {
        return None;
    }
    if strength == Strength::Should && is_inverted_condition(text, words, at) {
        return None;
    }
    let negated = inner_not || not_follows(text, words, at) || subject_is_none(text, words, at);
    Some(if negated { strength.negated() } else { strength })
}

/// Not part of an identifier (`must_exist`), a compound (`must-have`), a path or a call.
fn stands_free(text: &str, word: &Word) -> bool {
    let mut before = text[..word.start].chars().rev();
    let mut after = text[word.end..].chars();
    let joined = |near: Option<char>, far: Option<char>| match near {
        Some('_' | '-' | '.' | '=' | '$' | '@' | ':' | '\\') => far.is_some_and(char::is_alphanumeric),
        Some('(') => far == Some(')'),
        Some(_) | None => false,
    };
    let (b1, b2) = (before.next(), before.next());
    let (a1, a2) = (after.next(), after.next());
    let spelled_option =
        matches!(b1, Some('-' | '$' | '%' | '@' | '\\')) && b2.is_none_or(|c| !c.is_alphanumeric() && c != ' ');
    !joined(b1, b2) && !joined(a1, a2) && !spelled_option && a1 != Some('=')
}

fn gap<'a>(text: &'a str, words: &[Word], at: usize) -> &'a str {
    let end = words.get(at + 1).map_or(text.len(), |next| next.start);
    &text[words[at].end..end]
}

fn is_noun(text: &str, words: &[Word], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map(|i| words[i].lower.as_str());
    if matches!(
        before(1),
        Some("a" | "an" | "word" | "words" | "term" | "terms" | "verb" | "verbs" | "keyword" | "keywords")
    ) {
        return gap(text, words, at - 1).trim_matches(['*', '_', ' ']).is_empty();
    }
    if before(1) == Some("the") {
        return true;
    }
    // "an absolute must", "is a real must for operators": an article a little before, and no verb after
    let article = (2..=3).any(|back| matches!(before(back), Some("a" | "an")));
    let ends = words
        .get(at + 1)
        .is_none_or(|next| matches!(next.lower.as_str(), "for" | "of" | "when" | "if"));
    article && ends && words[at].lower == "must"
}

fn is_month_or_wish(text: &str, words: &[Word], at: usize) -> bool {
    let written = &text[words[at].start..words[at].end];
    if written == "may" {
        return false;
    }
    let next = words.get(at + 1).map(|word| word.lower.as_str());
    let touches = gap(text, words, at).trim().is_empty() || gap(text, words, at).trim() == ",";
    let year_or_day = touches && next.is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let previous = at.checked_sub(1).map(|i| words[i].lower.as_str());
    let day_before = previous.is_some_and(|word| {
        let digits = word.trim_end_matches(|c: char| matches!(c, 't' | 'h' | 's' | 'n' | 'd' | 'r'));
        !digits.is_empty() && digits.len() <= 2 && digits.bytes().all(|b| b.is_ascii_digit())
    });
    if year_or_day || (day_before && written == "May" && !matches!(next, Some("be" | "not"))) {
        return true;
    }
    if written == "MAY" {
        return matches!(previous, Some("in" | "since" | "until")) && next.is_none();
    }
    let opens = at == 0
        || text[..words[at].start]
            .trim_end_matches(['*', '_', ' ', '"', '(', '['])
            .ends_with(['.', ':', ';', '|', '-', '–', '—', ')']);
    if opens {
        return match next {
            None => true,
            Some(word) => matches!(
                word,
                "i" | "we"
                    | "you"
                    | "the"
                    | "he"
                    | "she"
                    | "they"
                    | "it"
                    | "is"
                    | "was"
                    | "has"
                    | "and"
                    | "to"
                    | "of"
                    | "in"
                    | "through"
                    | "or"
                    | "june"
                    | "this"
                    | "your"
                    | "god"
            ),
        };
    }
    !matches!(next, Some("be" | "not" | "only" | "also"))
}

/// "Should the server fail, …" is an if, not advice.
fn is_inverted_condition(text: &str, words: &[Word], at: usize) -> bool {
    let opens = at == 0 || gap(text, words, at - 1).contains([';', ':', '—']);
    opens
        && text[words[at].start..].starts_with('S')
        && words.get(at + 1).is_some_and(|next| {
            matches!(
                next.lower.as_str(),
                "the"
                    | "a"
                    | "an"
                    | "any"
                    | "this"
                    | "that"
                    | "these"
                    | "those"
                    | "you"
                    | "it"
                    | "he"
                    | "she"
                    | "they"
                    | "we"
                    | "such"
                    | "one"
                    | "there"
                    | "no"
                    | "your"
                    | "our"
                    | "its"
                    | "their"
                    | "i"
            )
        })
}

/// "must not", "shall never", "must therefore not", "must under no circumstances".
fn not_follows(text: &str, words: &[Word], at: usize) -> bool {
    let clear = |i: usize| !gap(text, words, i).contains(['.', ';', ':', '(']);
    let word = |i: usize| words.get(i).map_or("", |word| word.lower.as_str());
    if !clear(at) {
        return false;
    }
    if matches!(word(at + 1), "not" | "never") {
        // "must not only … but also" asks for both
        return word(at + 2) != "only";
    }
    let adverb = matches!(
        word(at + 1),
        "also"
            | "then"
            | "therefore"
            | "however"
            | "thus"
            | "generally"
            | "normally"
            | "still"
            | "themselves"
            | "itself"
            | "hence"
            | "in"
            | "under"
            | "at"
            | "by"
            | "on"
    ) || word(at + 1).ends_with("ly");
    if !adverb {
        return false;
    }
    let preposition = matches!(word(at + 1), "in" | "under" | "at" | "by" | "on");
    if preposition {
        return word(at + 2) == "no"
            && matches!(
                word(at + 3),
                "circumstances"
                    | "circumstance"
                    | "case"
                    | "event"
                    | "time"
                    | "way"
                    | "means"
                    | "account"
                    | "condition"
                    | "conditions"
            );
    }
    matches!(word(at + 2), "not" | "never") && word(at + 3) != "only"
}

/// "No operator may …", "None of the keys shall …", "In no event shall …", "…, nor may it …".
fn subject_is_none(text: &str, words: &[Word], at: usize) -> bool {
    if at > 0 && matches!(words[at - 1].lower.as_str(), "nor" | "neither" | "never") {
        return true;
    }
    let mut first = at;
    while first > 0 && at - first < 14 {
        let between = gap(text, words, first - 1);
        if between.contains([',', ';', ':', '.', '—', '–']) || between.contains(" - ") {
            break;
        }
        if matches!(
            words[first - 1].lower.as_str(),
            "and" | "but" | "that" | "because" | "then" | "where" | "so" | "which"
        ) {
            break;
        }
        first -= 1;
    }
    let word = |i: usize| if i < at { words[i].lower.as_str() } else { "" };
    match word(first) {
        "none" | "nobody" | "nothing" | "neither" | "never" => true,
        "no" => !matches!(
            word(first + 1),
            "later" | "less" | "more" | "fewer" | "sooner" | "earlier" | "longer" | "matter" | ""
        ),
        "in" | "under" | "at" | "on" | "by" => {
            word(first + 1) == "no"
                && matches!(
                    word(first + 2),
                    "circumstances"
                        | "circumstance"
                        | "case"
                        | "event"
                        | "time"
                        | "way"
                        | "means"
                        | "account"
                        | "condition"
                        | "conditions"
                )
        }
        _ => false,
    }
}

/// "is required", "are not recommended", "REQUIRED"; not "the required form", "as required", "are required fields".
fn participle(text: &str, words: &[Word], at: usize, strength: Strength) -> Option<Strength> {
    let word = &words[at];
    if !stands_free(text, word) || before_a_noun(text, words, at) {
        return None;
    }
    let mut negated = false;
    let mut first = at;
    let mut copula = false;
    while first > 0
        && at - first < 4
        && gap(text, words, first - 1)
            .trim_matches(['*', '_', ' ', ','])
            .is_empty()
    {
        first -= 1;
        match words[first].lower.as_str() {
            "is" | "are" | "be" | "it's" | "they're" | "that's" => copula = true,
            "isn't" | "aren't" => {
                copula = true;
                negated = true;
            }
            "not" | "never" | "neither" => negated = true,
            "longer" if first > 0 && words[first - 1].lower == "no" => {
                negated = true;
                first -= 1;
            }
            "also" | "only" | "always" | "then" | "often" | "therefore" | "thus" | "still" | "both" | "all"
            | "each" | "even" | "hence" | "however" | "either" | "now" | "both," => {}
            adverb if adverb.ends_with("ly") => {}
            _ => break,
        }
        if copula {
            break;
        }
    }
    let written = &text[word.start..word.end];
    let shouted = written.bytes().all(|b| b.is_ascii_uppercase()) && text.bytes().any(|b| b.is_ascii_lowercase());
    let alone_shouted = written.bytes().all(|b| b.is_ascii_uppercase()) && words.len() <= 2;
    if !copula && !shouted && !alone_shouted {
        return None;
    }
    if !copula {
        let previous = at.checked_sub(1).map_or("", |i| words[i].lower.as_str());
        if matches!(
            previous,
            "the"
                | "a"
                | "an"
                | "any"
                | "all"
                | "each"
                | "every"
                | "as"
                | "if"
                | "when"
                | "where"
                | "of"
                | "this"
                | "these"
                | "those"
        ) {
            return None;
        }
    }
    let negated = negated || subject_is_none(text, words, first);
    // "must not be required": the modal's own negation is the modal's
    Some(if negated { strength.negated() } else { strength })
}

/// "are required fields", "is recommended practice": an adjective, not a participle.
fn before_a_noun(text: &str, words: &[Word], at: usize) -> bool {
    let Some(next) = words.get(at + 1) else { return false };
    if !gap(text, words, at).trim_matches(['*', '_']).chars().all(|c| c == ' ') {
        return false;
    }
    let next = next.lower.as_str();
    let function_word = matches!(
        next,
        "as" | "unless"
            | "always"
            | "is"
            | "this"
            | "its"
            | "whenever"
            | "regardless"
            | "across"
            | "towards"
            | "besides"
            | "afterwards"
            | "plus"
            | "versus"
            | "has"
            | "was"
            | "does"
            | "thus"
            | "perhaps"
            | "sometimes"
            | "yes"
    );
    let plural = next.len() > 3 && next.ends_with('s') && !next.ends_with("ss") && !function_word;
    plural
        || matches!(
            next,
            "field"
                | "parameter"
                | "argument"
                | "element"
                | "attribute"
                | "value"
                | "property"
                | "option"
                | "part"
                | "step"
                | "reading"
                | "feature"
                | "component"
                | "practice"
                | "way"
                | "method"
                | "approach"
                | "form"
                | "format"
                | "information"
                | "setting"
                | "configuration"
                | "size"
                | "length"
                | "version"
                | "level"
                | "minimum"
                | "maximum"
                | "default"
                | "package"
                | "software"
                | "data"
                | "documentation"
                | "procedure"
                | "action"
                | "behavior"
                | "behaviour"
        )
}

/// A quotation longer than this (in characters) is taken for an unclosed one, so that a hostile text costs linear time.
const LONGEST: usize = 2_000;

/// Where a text only mentions words: inside quotation marks and backticks. In order, not overlapping.
pub(super) fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !text.contains(['"', '`', '“', '”', '‘', '«', '„', '\'']) {
        return found;
    }
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut straight = Vec::new();
    let mut single = Vec::new();
    for (i, (_, c)) in chars.iter().enumerate() {
        match c {
            '"' if closes(&chars, i) => straight.push(i),
            '\'' if closes(&chars, i) => single.push(i),
            _ => {}
        }
    }
    let mut i = 0;
    while i < chars.len() {
        let (start, c) = chars[i];
        let end = match c {
            '`' => {
                let run = chars[i..].iter().take_while(|(_, c)| *c == '`').count();
                backticks_end(&chars, i + run, run).or_else(|| {
                    // man pages write `word' and ``word''
                    (i + run..chars.len().min(i + 60)).find(|&j| chars[j].1 == '\'' && closes(&chars, j))
                })
            }
            '"' if opens(&chars, i) => after(&straight, i),
            '\'' if opens(&chars, i) => after(&single, i).filter(|&j| j - i < 40),
            '“' | '„' => (i + 1..chars.len().min(i + LONGEST))
                .find(|&j| matches!(chars[j].1, '”') || (c == '„' && chars[j].1 == '“')),
            '‘' => (i + 1..chars.len().min(i + 400)).find(|&j| chars[j].1 == '’' && closes(&chars, j)),
            '«' => (i + 1..chars.len().min(i + LONGEST)).find(|&j| chars[j].1 == '»'),
            _ => None,
        };
        if let Some(end) = end {
            found.push(start..chars[end].0 + chars[end].1.len_utf8());
            i = end + 1;
        } else {
            i += 1;
        }
    }
    found
}

fn after(places: &[usize], i: usize) -> Option<usize> {
    let next = places.partition_point(|&place| place <= i);
    places.get(next).copied()
}

fn opens(chars: &[(usize, char)], i: usize) -> bool {
    let before = i.checked_sub(1).map(|j| chars[j].1);
    let next = chars.get(i + 1).map(|(_, c)| *c);
    before.is_none_or(|c| !c.is_alphanumeric()) && next.is_some_and(|c| !c.is_whitespace())
}

fn closes(chars: &[(usize, char)], i: usize) -> bool {
    let before = i.checked_sub(1).map(|j| chars[j].1);
    let next = chars.get(i + 1).map(|(_, c)| *c);
    before.is_some_and(|c| !c.is_whitespace()) && next.is_none_or(|c| !c.is_alphanumeric())
}

fn backticks_end(chars: &[(usize, char)], from: usize, run: usize) -> Option<usize> {
    let mut i = from;
    while i < chars.len().min(from + LONGEST) {
        if chars[i].1 == '`' {
            let found = chars[i..].iter().take_while(|(_, c)| *c == '`').count();
            if found == run {
                return Some(i + run - 1);
            }
            i += found;
        } else {
            i += 1;
        }
    }
    None
}
