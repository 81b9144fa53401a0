//! Whether a word in a sentence obliges: it stands free, is no noun, no month and no adjective; and whether it is negated,
//! by itself, after it, or by its subject.

use super::strength::Strength;

pub(super) struct Word {
    pub(super) start: usize,
    end: usize,
    lower: String,
}

/// Runs of letters, digits and inner apostrophes.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain(std::iter::once((text.len(), ' '))) {
        let inner = c.is_alphanumeric() || (start.is_some() && matches!(c, '\'' | '’'));
        match (start, inner) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                let word = text[from..at].trim_end_matches(['\'', '’']);
                found
                    .push(Word { start: from, end: from + word.len(), lower: word.to_lowercase().replace('’', "'") });
                start = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    found
}

/// The strength of the word at `at`, if it obliges.
pub(super) fn keyword(text: &str, words: &[Word], at: usize) -> Option<Strength> {
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
    if matches!(before(1), Some("a" | "an")) && gap(text, words, at - 1).trim_matches(['*', '_', ' ']).is_empty() {
        return true;
    }
    // "the words must and should", but "these words must be spelled"
    let mentioned =
        matches!(before(1), Some("word" | "words" | "term" | "terms" | "verb" | "verbs" | "keyword" | "keywords"));
    if mentioned
        && words.get(at + 1).is_none_or(|next| matches!(next.lower.as_str(), "and" | "or" | "is" | "are" | "means"))
    {
        return true;
    }
    // "the words must, shall and should"
    let chained = matches!(before(1), Some("and" | "or"))
        && matches!(before(3), Some("word" | "words" | "term" | "terms" | "verbs" | "keywords"));
    if chained {
        return true;
    }
    if before(1) == Some("the") {
        return true;
    }
    // "an absolute must", "is a real must for operators": an article a little before, and no verb after
    let article = (2..=3).any(|back| matches!(before(back), Some("a" | "an")));
    let ends = words.get(at + 1).is_none_or(|next| matches!(next.lower.as_str(), "for" | "of" | "when" | "if"));
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
        let digits = word.trim_end_matches(['t', 'h', 's', 'n', 'd', 'r']);
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
    while first > 0 && at - first < 4 && gap(text, words, first - 1).trim_matches(['*', '_', ' ', ',']).is_empty() {
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
