//! Whether a word in a sentence obliges: it stands free, is no noun, no month and no adjective; and whether it is negated,
//! by itself, after it, or by its subject.

use super::participle::participle;
use super::strength::Strength;

pub(super) struct Word {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) lower: String,
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
        "should" => (Strength::Should, false),
        "shouldn't" => (Strength::Should, true),
        "may" => (Strength::May, false),
        "required" if is_only_possible(words, at) => return None,
        "required" => return participle(text, words, at, Strength::Required),
        "recommended" => return participle(text, words, at, Strength::Recommended),
        _ => return None,
    };
    if !stands_free(text, &words[at]) || is_noun(text, words, at) {
        return None;
    }
    if strength == Strength::May && (is_month_or_wish(text, words, at) || is_second_may(words, at)) {
        return None;
    }
    if clause_opens_with(text, words, at, 12, &["whether"]) {
        return None;
    }
    if strength == Strength::Should && is_inverted_condition(text, words, at) {
        return None;
    }
    let negated = inner_not || not_follows(text, words, at) || subject_is_none(text, words, at);
    Some(if negated { strength.negated() } else { strength })
}

/// "A reboot may be required": it says that it may.
fn is_only_possible(words: &[Word], at: usize) -> bool {
    at >= 2 && words[at - 1].lower == "be" && matches!(words[at - 2].lower.as_str(), "may" | "might" | "could")
}

/// "may or may not": leaves it open once.
fn is_second_may(words: &[Word], at: usize) -> bool {
    at >= 2 && words[at - 1].lower == "or" && words[at - 2].lower == "may"
}

/// Whether one of `openings` stands at most `reach` words before `at`, with no end of a clause between them.
pub(super) fn clause_opens_with(text: &str, words: &[Word], at: usize, reach: usize, openings: &[&str]) -> bool {
    (at.saturating_sub(reach)..at)
        .rev()
        .take_while(|&i| !gap(text, words, i).contains([',', ';', ':', '.', '—', '–', '(']))
        .any(|i| openings.contains(&words[i].lower.as_str()))
}

/// Not part of an identifier (`must_exist`), a compound (`must-have`), a path or a call.
pub(super) fn stands_free(text: &str, word: &Word) -> bool {
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

pub(super) fn gap<'a>(text: &'a str, words: &[Word], at: usize) -> &'a str {
    let end = words.get(at + 1).map_or(text.len(), |next| next.start);
    &text[words[at].end..end]
}

fn is_noun(text: &str, words: &[Word], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map(|i| words[i].lower.as_str());
    // "a must", but "records of class A must": a capital inside a sentence is a name
    let article = matches!(before(1), Some("a" | "an")) && (at == 1 || text[words[at - 1].start..].starts_with('a'));
    if article && gap(text, words, at - 1).trim_matches(['*', '_', ' ']).is_empty() {
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
    // "is an absolute must", "is a real must for operators", but not "who unpacks a delivery must:"
    let article = (2..=3).any(|back| {
        matches!(before(back), Some("a" | "an"))
            && before(back + 1).is_none_or(|word| {
                matches!(
                    word,
                    "is" | "are" | "was" | "were" | "be" | "been" | "become" | "becomes" | "as" | "considered"
                )
            })
    });
    let ends = words.get(at + 1).is_none_or(|next| matches!(next.lower.as_str(), "for" | "of" | "when" | "if"));
    article && ends && words[at].lower == "must" && !gap(text, words, at).trim_start().starts_with(':')
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
    // "Ms. May Lindqvist", "May Lindqvist": a person
    let name = written == "May"
        && touches
        && (matches!(previous, Some("ms" | "mrs" | "miss" | "dr" | "prof" | "aunt"))
            || words.get(at + 1).is_some_and(|next| {
                let mut letters = text[next.start..next.end].chars();
                letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
            }));
    if name {
        return true;
    }
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

fn is_preposition(word: &str) -> bool {
    matches!(
        word,
        "in" | "of"
            | "on"
            | "at"
            | "by"
            | "for"
            | "from"
            | "to"
            | "with"
            | "within"
            | "under"
            | "during"
            | "after"
            | "before"
            | "outside"
            | "inside"
            | "than"
    )
}

/// "No operator may …", "None of the keys shall …", "In no event shall …", "…, nor may it …".
pub(super) fn subject_is_none(text: &str, words: &[Word], at: usize) -> bool {
    // `or "never" may be used`: a word that is only mentioned
    let joined = at > 0 && gap(text, words, at - 1).trim_matches(['*', '_', ' ']).is_empty();
    if joined && matches!(words[at - 1].lower.as_str(), "nor" | "neither" | "never") {
        return true;
    }
    let mut first = at;
    while first > 0 && at - first < 14 {
        let between = gap(text, words, first - 1);
        if between.contains([',', ';', ':', '.', '—', '–']) || between.contains(" - ") {
            break;
        }
        let word = words[first - 1].lower.as_str();
        // "in that range" points, "that is closed" belongs to the subject: only "says that" begins anew
        let belongs = word == "that"
            && (first >= 2 && is_preposition(&words[first - 2].lower)
                || matches!(
                    words[first].lower.as_str(),
                    "is" | "are" | "was" | "were" | "has" | "have" | "had" | "does" | "do"
                ));
        if matches!(word, "and" | "but" | "that" | "because" | "then" | "where" | "so" | "which") && !belongs {
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
