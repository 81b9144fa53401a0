//! The targets of links, written behind their text, as in `the rules (https://example.org/rules)`. A reader of the
//! document doesn't see them, so they mustn't hinder a quote: the text can be had without them.

/// The beginnings of targets that mean something outside their document.
const SCHEMES: [&str; 6] = ["https://", "http://", "ftp://", "file://", "mailto:", "tel:"];
/// Longer targets are made to count clicks.
const MAX_TARGET: usize = 300;

/// The text written behind a link's text; none if that names the target itself, or the target is inside the document.
pub(crate) fn behind(label: &str, target: &str) -> Option<String> {
    let target = target.trim();
    let is_outside = SCHEMES.iter().any(|scheme| starts_with(target, scheme));
    if !is_outside || target.len() > MAX_TARGET || target.contains(|found: char| found.is_control()) {
        return None;
    }
    let target = target.replace(' ', "%20").replace('(', "%28").replace(')', "%29");
    let bare = |text: &str| {
        let text = text.trim().trim_end_matches('/').to_lowercase();
        let end = SCHEMES.iter().find(|scheme| text.starts_with(**scheme)).map_or(0, |scheme| scheme.len());
        let rest = &text[end..];
        rest.strip_prefix("www.").unwrap_or(rest).to_owned()
    };
    if bare(label).contains(&bare(&target)) {
        return None;
    }
    let gap = if label.is_empty() || label.ends_with(char::is_whitespace) { "" } else { " " };
    Some(format!("{gap}({target})"))
}

fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// The text with blanks in place of link targets, and all else in its place; none if it has no targets.
pub(crate) fn without_targets(text: &str) -> Option<String> {
    let mut blanked = String::new();
    let mut done = 0;
    for (at, _) in text.match_indices('(') {
        let inner = &text[at + 1..];
        if at < done || !SCHEMES.iter().any(|scheme| starts_with(inner, scheme)) {
            continue;
        }
        let end = inner.find(|found: char| found == ')' || found.is_whitespace());
        let Some(end) = end.filter(|end| inner[*end..].starts_with(')')) else { continue };
        blanked.push_str(&text[done..at]);
        blanked.extend(std::iter::repeat_n(' ', inner[..end].chars().count() + 2));
        done = at + end + 2;
    }
    (done > 0).then(|| blanked + &text[done..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_stands_behind_its_link() {
        for (label, target, expected) in [
            ("here", "https://example.org/a b(c)", Some(" (https://example.org/a%20b%28c%29)")),
            ("", "mailto:a@example.org", Some("(mailto:a@example.org)")),
            ("a@example.org", "mailto:a@example.org", None),
            ("www.example.org", "http://example.org/", None),
            ("https://example.org/x", "https://example.org/x", None),
            ("here", "annex.html", None),
            ("here", "#top", None),
            ("here", "javascript:x()", None),
        ] {
            assert_eq!(behind(label, target).as_deref(), expected, "{label} {target}");
        }
    }

    #[test]
    fn a_text_is_had_without_targets() {
        let text = "See ä (https://example.org/ä), (https:// and) b (HTTP://x) c";
        let blanked = "See ä                        , (https:// and) b            c";
        assert_eq!(without_targets(text).as_deref(), Some(blanked));
        assert_eq!(without_targets("(see http://x)"), None);
    }
}
