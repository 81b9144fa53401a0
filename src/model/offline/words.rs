//! Words as summary and comparison count them: without the small ones, cut to a stem, synonyms as one.

/// The words of a text, lower case, with inner hyphens, dots and apostrophes ("log-in", "3.2", "user's").
pub(super) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '.' | '\'' | '’' | '_')))
        .map(|word| word.trim_matches(['-', '.', '\'', '’', '_']).to_lowercase())
        .map(|word| word.strip_suffix("'s").or(word.strip_suffix("’s")).map_or_else(|| word.clone(), str::to_owned))
        .filter(|word| !word.is_empty())
}

/// Whether a word says nothing about the matter.
pub(super) fn is_small(word: &str) -> bool {
    word.chars().count() < 2 && !word.bytes().all(|b| b.is_ascii_digit()) || SMALL.binary_search(&word).is_ok()
}

/// A light stem: enough that "encrypted", "encryption" and "encrypts" meet, cautious with short words.
pub(super) fn stem(word: &str) -> String {
    let cut = |ending: &str, least: usize| word.strip_suffix(ending).filter(|rest| rest.len() >= least);
    if !word.is_ascii() || word.len() < 4 {
        return word.to_owned();
    }
    for ending in ["ification", "ifications", "ifying", "ified", "ifies", "ify"] {
        if let Some(rest) = cut(ending, 2) {
            return format!("{rest}ifi");
        }
    }
    for ending in ["ations", "ation", "ating", "ated", "ates", "ate"] {
        if let Some(rest) = cut(ending, 4) {
            return rest.to_owned();
        }
    }
    for (ending, least) in [
        ("ments", 4),
        ("ment", 4),
        ("ions", 4),
        ("ion", 4),
        ("ings", 3),
        ("ing", 3),
        ("ied", 3),
        ("ies", 3),
        ("ed", 3),
        ("ers", 4),
        ("er", 4),
        ("ly", 4),
    ] {
        if let Some(rest) = cut(ending, least) {
            let rest = rest.trim_end_matches('e');
            let mut letters = rest.bytes().rev();
            let doubled = letters
                .next()
                .is_some_and(|last| Some(last) == letters.next() && !matches!(last, b'l' | b's' | b'e' | b'o'));
            let rest = if doubled { &rest[..rest.len() - 1] } else { rest };
            return if ending.starts_with("ie") { format!("{rest}y") } else { rest.to_owned() };
        }
    }
    let plain = if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        word
    } else {
        word.strip_suffix('s').unwrap_or(word)
    };
    plain.strip_suffix('e').filter(|rest| rest.len() >= 3).unwrap_or(plain).to_owned()
}

/// A stem with its synonyms folded together, and whether it says the opposite of what it is folded to.
pub(super) fn meaning(word: &str) -> (String, bool) {
    let stemmed = stem(word);
    for (canonical, opposite, family) in FAMILIES {
        if family.contains(&stemmed.as_str()) || family.contains(&word) {
            return ((*canonical).to_owned(), *opposite);
        }
    }
    (stemmed, false)
}

/// The meaning, whether it is its opposite, and the stems or words that carry it.
const FAMILIES: &[(&str, bool, &[&str])] = &[
    ("encrypt", false, &["encrypt", "cipher", "encipher"]),
    ("encrypt", true, &["unencrypt", "plaintext", "cleartext"]),
    ("enabl", false, &["enabl", "activ", "activate", "switch-on"]),
    ("enabl", true, &["disabl", "deactiv"]),
    ("allow", false, &["allow", "permit", "permiss"]),
    ("allow", true, &["forbid", "forbidden", "prohibit", "disallow", "ban", "bann"]),
    ("accept", false, &["accept"]),
    ("accept", true, &["reject", "refus", "refuse", "deny", "denied", "declin"]),
    ("keep", false, &["keep", "kept", "retain", "retent", "store", "stor", "storage", "preserv", "hold", "held"]),
    ("delet", false, &["delet", "eras", "erasure", "destroy", "destruct", "purg", "dispos", "disposal"]),
    ("record", false, &["record", "log", "logg", "journal"]),
    ("staff", false, &["staff", "employe", "employee", "personnel", "work", "worker"]),
    ("supplier", false, &["suppli", "supplier", "vendor", "contractor", "subcontractor"]),
    ("check", false, &["check", "review", "inspect", "verifi", "audit", "examin"]),
    ("report", false, &["report", "notifi", "inform", "announc"]),
    ("change", false, &["chang", "modifi", "alter", "replac", "rotat", "rot"]),
    ("start", false, &["start", "begin", "commenc"]),
    ("end", false, &["end", "stop", "termin", "finish"]),
    ("backup", false, &["backup", "back-up", "backups"]),
    ("train", false, &["train", "teach", "instruct", "educ"]),
    ("lock", false, &["lock"]),
    ("lock", true, &["unlock"]),
    ("password", false, &["password", "passphras", "passcod"]),
    ("visitor", false, &["visitor", "guest"]),
    ("incident", false, &["incident", "breach"]),
    ("approv", false, &["approv", "approval", "authoris", "authoriz", "sign-off", "consent"]),
    ("mfa", false, &["mfa", "multi-factor", "multifactor", "two-factor", "2fa"]),
    ("laptop", false, &["laptop", "notebook", "laptops"]),
    ("remov", false, &["remov", "revok", "withdraw", "withdrawn"]),
    ("test", false, &["test", "try", "exercis"]),
    ("document", false, &["document", "written", "writ"]),
    ("escort", false, &["escort", "accompany", "accompani"]),
    ("escort", true, &["unescort", "unaccompany", "unaccompani", "unattend"]),
    ("share", false, &["share", "shar", "disclos", "disclosure"]),
];

/// Words that say nothing about the matter, in order.
const SMALL: &[&str] = &[
    "a",
    "about",
    "above",
    "after",
    "again",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "cannot",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "done",
    "down",
    "during",
    "each",
    "either",
    "etc",
    "every",
    "few",
    "following",
    "for",
    "from",
    "further",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "him",
    "his",
    "how",
    "however",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "just",
    "least",
    "less",
    "made",
    "make",
    "may",
    "might",
    "more",
    "most",
    "must",
    "my",
    "neither",
    "never",
    "no",
    "none",
    "nor",
    "not",
    "of",
    "off",
    "on",
    "once",
    "one",
    "only",
    "or",
    "other",
    "our",
    "out",
    "over",
    "own",
    "per",
    "recommended",
    "required",
    "same",
    "shall",
    "she",
    "should",
    "so",
    "some",
    "such",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "therefore",
    "these",
    "they",
    "this",
    "those",
    "through",
    "thus",
    "to",
    "too",
    "under",
    "until",
    "up",
    "upon",
    "us",
    "use",
    "used",
    "uses",
    "using",
    "very",
    "via",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "within",
    "without",
    "would",
    "you",
    "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_small_words_are_in_order() {
        assert!(SMALL.is_sorted(), "the search in them needs it");
    }

    #[test]
    fn forms_of_a_word_meet() {
        for family in [
            &["encrypt", "encrypts", "encrypted", "encryption", "encrypting"][..],
            &["notify", "notified", "notification", "notifies"],
            &["delete", "deleted", "deletion", "deletes"],
            &["authenticate", "authenticated", "authentication"],
            &["log", "logs", "logged", "logging"],
            &["policy", "policies"],
            &["retain", "retained", "retention", "kept", "stored"],
        ] {
            let meanings: Vec<String> = family.iter().map(|word| meaning(word).0).collect();
            assert!(meanings.iter().all(|found| *found == meanings[0]), "{family:?} became {meanings:?}");
        }
    }
}
