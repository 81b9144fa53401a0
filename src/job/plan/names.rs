//! Names made from phase titles: the folder name of an archive (SPEC 2), and whether a title means the review phase (SPEC 3).

use super::heading;

/// The longest slug in bytes, so that `phase-02-<slug>.replanned-3` stays a short name.
const MAX_SLUG: usize = 40;

/// A title as part of a folder name: lower-case ASCII letters, digits and single hyphens, at most 40 bytes, never empty.
pub fn slug(title: &str) -> String {
    let mut slug = String::new();
    for char in title.chars().take(400) {
        match latin(char) {
            Some(text) => slug.push_str(&text),
            None if slug.is_empty() || slug.ends_with('-') || char == '\'' || char == '’' => {}
            None => slug.push('-'),
        }
    }
    if slug.len() > MAX_SLUG {
        // Cut between words where a word ends in the second half; a slug is ASCII, so any byte is a boundary.
        let head = &slug[..MAX_SLUG];
        let cut = if slug.as_bytes()[MAX_SLUG] == b'-' { Some(MAX_SLUG) } else { head.rfind('-') };
        slug.truncate(cut.filter(|&at| at >= MAX_SLUG / 2).unwrap_or(MAX_SLUG));
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "phase".to_owned() } else { slug.to_owned() }
}

/// What a character is in lower-case ASCII letters and digits; `None` for everything that separates or isn't easy.
fn latin(char: char) -> Option<String> {
    // Full-width forms of ASCII, as East Asian keyboards write them.
    let char = match char {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(char) - 0xFEE0).unwrap_or(char),
        other => other,
    };
    if char.is_ascii_alphanumeric() {
        return Some(char.to_ascii_lowercase().to_string());
    }
    let lower: String = char.to_lowercase().collect();
    let text = match lower.chars().next()? {
        'ä' | 'æ' => "ae",
        'ö' | 'œ' => "oe",
        'ü' => "ue",
        'ß' => "ss",
        'à' | 'á' | 'â' | 'ã' | 'å' | 'ā' | 'ă' | 'ą' => "a",
        'ç' | 'ć' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ė' | 'ę' | 'ě' => "e",
        'ğ' => "g",
        'ì' | 'í' | 'î' | 'ï' | 'ī' | 'į' | 'ı' => "i",
        'ł' | 'ľ' => "l",
        'ñ' | 'ń' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ø' | 'ō' | 'ő' => "o",
        'ř' => "r",
        'ś' | 'š' | 'ş' | 'ș' => "s",
        'ť' | 'ţ' | 'ț' => "t",
        'þ' => "th",
        'ù' | 'ú' | 'û' | 'ū' | 'ů' | 'ű' => "u",
        'ý' | 'ÿ' => "y",
        'ź' | 'ž' | 'ż' => "z",
        _ => return None,
    };
    Some(text.to_owned())
}

/// Words that make a title a final review when nothing else stands beside them.
const REVIEW: &[&str] = &[
    "review",
    "verification",
    "verify",
    "validation",
    "validate",
    "final",
    "finalization",
    "finalisation",
    "finalize",
    "finalise",
    "wrapup",
    "qa",
    "completion",
    "conclusion",
    "closeout",
    "signoff",
    "selfreview",
    "überprüfung",
    "prüfung",
    "abschluss",
    "abschlussprüfung",
    "schlussprüfung",
    "endprüfung",
    "endkontrolle",
    "endabnahme",
    "abnahme",
    "abschlusskontrolle",
    "abschlussbericht",
    "schlussbericht",
    "qualitätskontrolle",
    "qualitätssicherung",
    "qualitätsprüfung",
    "schlusskontrolle",
    "abschlussreview",
    "finale",
    "finaler",
    "finales",
    "abschließende",
    "abschliessende",
    "revue",
    "vérification",
    "revisión",
    "verificación",
    "revisione",
    "verifica",
];

/// Words that may stand beside them.
const BESIDE: &[&str] = &[
    "and",
    "the",
    "of",
    "all",
    "a",
    "check",
    "checks",
    "report",
    "reporting",
    "summary",
    "quality",
    "assurance",
    "control",
    "deliverable",
    "deliverables",
    "delivery",
    "output",
    "outputs",
    "results",
    "result",
    "submission",
    "job",
    "overall",
    "consistency",
    "phase",
    "und",
    "der",
    "die",
    "das",
    "aller",
    "bericht",
    "ergebnisse",
    "zusammenfassung",
    "berichterstattung",
    "et",
    "finale",
    "rapport",
    "y",
    "informe",
    "e",
    "wrap",
    "up",
    "sign",
    "off",
    "to",
    "handover",
];

/// The same in scripts without spaces between words.
const WHOLE: &[&str] = &[
    "最終レビュー",
    "最終確認",
    "レビュー",
    "検証",
    "最終検証",
    "最終チェック",
    "最終レビューと報告",
    "検証と最終報告",
    "最終報告",
    "最终审查",
    "最终检查",
    "最终审核",
    "最终复核",
    "审查",
    "复核",
    "审核",
    "最终验证",
    "验证",
    "验证与最终报告",
    "最终报告",
    "总结与审查",
];

/// Whether a title means the review that the system adds itself ("Final Review", "Verification & Final Report",
/// "Abschlussprüfung"). It counts only for a plan's last phase, which is then merged into the system's review phase.
/// "Contract Review" is work, not the review: every word must speak of the end.
pub fn is_final_review(title: &str) -> bool {
    let title = heading::recognise(title).map_or_else(|| title.to_owned(), |found| found.title);
    let lower = title.trim().to_lowercase().replace("wrap-up", "wrapup").replace("wrap up", "wrapup");
    let lower =
        lower.replace("sign-off", "signoff").replace("self-review", "selfreview").replace("close-out", "closeout");
    if WHOLE.contains(&lower.as_str()) {
        return true;
    }
    let words: Vec<&str> = lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.iter().any(|word| REVIEW.contains(word))
        && words.iter().all(|word| REVIEW.contains(word) || BESIDE.contains(word))
}
