//! "required" and "recommended": they oblige as a participle ("is required") or where they are shouted (`REQUIRED`), and
//! say nothing of the kind as an adjective ("the required form", "are required fields").

use super::strength::Strength;
use super::wording::{Word, clause_opens_with, gap, stands_free, subject_is_none};

/// "is required", "are not recommended", "REQUIRED"; not "the required form", "as required", "are required fields".
pub(super) fn participle(text: &str, words: &[Word], at: usize, strength: Strength) -> Option<Strength> {
    let word = &words[at];
    if !stands_free(text, word) || before_a_noun(text, words, at) {
        return None;
    }
    // "Required when no host is set."
    let elliptical = at == 0
        && words.get(1).is_some_and(|next| matches!(next.lower.as_str(), "when" | "if" | "unless" | "for" | "by"))
        && gap(text, words, at).trim().is_empty();
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
    if !copula && !shouted && !alone_shouted && !elliptical {
        return None;
    }
    // "if a password is required" asks for none
    let conditions = ["if", "when", "whenever", "whether", "unless", "until", "where", "wherever", "than", "as"];
    if copula && !shouted && clause_opens_with(text, words, first, 6, &conditions) {
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
    // "Not all of them are required."
    let not_all = words[0].lower == "not" && matches!(words.get(1).map_or("", |word| &word.lower), "all" | "every");
    let negated = negated || not_all || subject_is_none(text, words, first);
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
