//! What lines of plain text look like: headings, code, columns, contents. Looks can deceive; where a line could be prose
//! that obliges, it is taken for prose.

use super::blocks::{ends_sentence, indentation};
use super::marker::marker;
use super::strength::{hinted, strength_of};

/// `==========`, at least as long as three characters.
pub(super) fn is_adornment(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    text.len() >= 3
        && matches!(first, '=' | '-' | '~' | '^' | '"' | '*' | '+' | '#' | '_' | '.' | '`' | '\'' | ':')
        && text.chars().all(|c| c == first)
}

/// `+-----+----+`, `|====|`
pub(super) fn is_border(text: &str) -> bool {
    text.len() >= 3
        && text.starts_with(['+', '|', '-', '=', '┌', '├', '└'])
        && text.chars().all(|c| matches!(c, '+' | '-' | '=' | '|' | ' ' | ':') || ('─'..='╿').contains(&c))
}

/// `3.2 Session start ......... 14`
pub(super) fn is_contents(text: &str) -> bool {
    let Some(at) =
        text.find("....").or_else(|| text.find(". . .")).or_else(|| text.find("…………")).or_else(|| text.find("_____"))
    else {
        return false;
    };
    let tail = text[at..].trim_matches(|c: char| matches!(c, '.' | ' ' | '…' | '_'));
    tail.len() <= 8 && tail.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// A heading by its look alone: numbered, in capitals, or a chapter. `alone`: blank lines, or an end of a page, before it.
pub(super) fn is_heading(text: &str, indent: usize, alone: bool, next: &str) -> bool {
    let (next_indent, next_text) = indentation(next);
    let length = text.chars().count();
    if !alone || length > 90 || text.ends_with(['.', ';', ',', ':', '?', '!']) && !text.ends_with("...") {
        return false;
    }
    let next_blank = next_text.is_empty();
    if in_capitals(text, indent) {
        // "THE CLIENT MUST CLOSE", "ALL DOORS (at night)": a sentence that is shouted
        let word = next_text.split_whitespace().next().unwrap_or("");
        let goes_on = word.len() > 1 && word.chars().all(char::is_uppercase);
        return !(goes_on && strength_of(text).is_some());
    }
    let (number, title) = split_number(text);
    if number.is_empty() || title.is_empty() || is_date(title) {
        return false;
    }
    let word = number.split_whitespace().next().unwrap_or("");
    if matches!(
        word,
        "Chapter"
            | "Appendix"
            | "Section"
            | "Annex"
            | "Part"
            | "Article"
            | "CHAPTER"
            | "APPENDIX"
            | "SECTION"
            | "ANNEX"
            | "PART"
            | "ARTICLE"
    ) {
        return next_blank || title.chars().next().is_some_and(char::is_uppercase);
    }
    let opens_big = title.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_ascii());
    let levels = number.trim_end_matches('.').split('.').count();
    let goes_on = !next_blank && next_indent >= indent && next_text.starts_with(|c: char| c.is_lowercase());
    if goes_on || (obliges(title) && !is_title_case(title)) {
        return false;
    }
    if levels == 1 {
        // without a blank line after it, a heading is short, and what follows begins anew
        let short =
            title.split_whitespace().count() <= 6 && length <= 50 && next_text.starts_with(char::is_alphanumeric);
        return opens_big && indent <= 1 && (next_blank || next_indent > indent || short) && length <= 70;
    }
    (opens_big || next_blank) && indent <= 8 && length <= 80
}

/// "5 February 1996" is no fifth section.
fn is_date(title: &str) -> bool {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    MONTHS.iter().any(|month| {
        title.strip_prefix(month).is_some_and(|rest| rest.trim().chars().all(|c| c.is_ascii_digit() || c == ','))
    })
}

fn obliges(title: &str) -> bool {
    let question = ["What", "When", "Why", "How", "Which", "Who", "Where"].iter().any(|word| title.starts_with(word));
    !question && strength_of(title).is_some()
}

fn is_title_case(title: &str) -> bool {
    title
        .split_whitespace()
        .filter(|word| word.len() > 3 && word.starts_with(char::is_alphabetic))
        .all(|word| word.starts_with(char::is_uppercase))
}

fn in_capitals(text: &str, indent: usize) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    indent <= 4
        && letters >= 3
        && text.chars().count() <= 70
        && !text.chars().any(char::is_lowercase)
        && !text.contains(['=', '{', '}', ';', '<', '>', '|', '[', '$', '*', '_', '"'])
        && !text.contains("  ")
        && !text.starts_with(['-', '('])
        && letters * 2 >= text.chars().count()
}

/// `3.2`, `3.2.`, `A.1`, `Appendix B.` and what follows it.
fn split_number(text: &str) -> (&str, &str) {
    let mut words = text.splitn(2, [' ', '\t']);
    let first = words.next().unwrap_or("");
    let rest = words.next().unwrap_or("").trim_start();
    let bare = first.trim_end_matches(['.', ')', ':']);
    let parts: Vec<&str> = bare.split('.').collect();
    let roman = first.ends_with('.') && !bare.is_empty() && bare.bytes().all(|b| matches!(b, b'I' | b'V' | b'X'));
    if roman {
        return (first, rest);
    }
    let numeric = |part: &&str| !part.is_empty() && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit());
    let lettered = parts.len() > 1 && parts[0].len() == 1 && parts[0].bytes().all(|b| b.is_ascii_uppercase());
    if parts.iter().all(numeric) || (lettered && parts[1..].iter().all(numeric)) {
        return (first, rest);
    }
    if matches!(
        first,
        "Chapter"
            | "Appendix"
            | "Section"
            | "Annex"
            | "Part"
            | "Article"
            | "CHAPTER"
            | "APPENDIX"
            | "SECTION"
            | "ANNEX"
            | "PART"
            | "ARTICLE"
    ) {
        let label = rest.split([' ', '\t']).next().unwrap_or("");
        let bare = label.trim_end_matches(['.', ':']);
        let numbered = !bare.is_empty()
            && bare.len() <= 5
            && (bare.bytes().all(|b| b.is_ascii_digit() || b == b'.') || bare.bytes().all(|b| b.is_ascii_uppercase()));
        if numbered {
            let end = first.len() + (text[first.len()..].len() - rest.len()) + label.len();
            let title = text[end..].trim_start_matches(['.', ':', ' ', '-', '–', '—']);
            return (&text[..end], if title.is_empty() { text } else { title });
        }
    }
    ("", text)
}

/// A line that a compiler, a shell or a parser would read.
pub(super) fn is_code(text: &str) -> bool {
    const OPENINGS: &[&str] = &[
        "$ ",
        "% ",
        "%% ",
        "# ",
        ">>> ",
        "... ",
        "//",
        "/*",
        "*/",
        "#include",
        "#define",
        "#if",
        "#endif",
        "#else",
        "#!",
        "C:\\",
        "<?",
        "<!",
        "--- ",
        "+++ ",
        "@@ ",
        "if (",
        "for (",
        "while (",
        "switch (",
        "SELECT ",
        "INSERT INTO ",
        "CREATE ",
        "UPDATE ",
        "DELETE FROM ",
        "ALTER ",
        "DROP ",
        "GRANT ",
    ];
    const SIGNS: &[&str] = &[":=", "==", "!=", "&&", "||", "::=", " -> ", " => ", "();"];
    let Some(first) = text.chars().next() else { return false };
    if matches!(text, "{" | "}" | "};" | ");" | "(" | ")" | "..." | "else" | "end") {
        return true;
    }
    if text.ends_with(['{', '}', '\\'])
        || text.ends_with(");")
        || text.ends_with("->")
        || text.ends_with("&&")
        || text.ends_with("*/")
    {
        return true;
    }
    // "(1)  what went well;" is an item
    let called = text.contains('=') || text.find('(').is_some_and(|at| at > 0 && !text[..at].ends_with(' '));
    if text.ends_with(';') && marker(text).is_none() && (called || text.split_whitespace().count() <= 3) {
        return true;
    }
    let prose_end = text.ends_with('.') && text.split_whitespace().count() >= 5 && first.is_uppercase();
    if OPENINGS.iter().any(|opening| text.starts_with(opening)) || is_statement(text) {
        return !prose_end;
    }
    if first == '<' && text.ends_with('>') {
        return true;
    }
    if !prose_end && SIGNS.iter().any(|sign| text.contains(sign)) && !is_prose(text) {
        return true;
    }
    // name = value, rule = …
    let assigned = text.split_once('=').is_some_and(|(name, _)| {
        let name = name.trim_end_matches([' ', '\t', '+', '-', '*', ':']);
        !name.is_empty()
            && name.split_whitespace().count() <= 2
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '$' | '[' | ']' | '"' | '>' | '*' | ' '))
            || name.ends_with("()") && !name.contains(' ')
    });
    // "--version=NUMBER The version must be told."
    let behind = text.split_once(' ').map_or("", |(_, behind)| behind);
    if assigned && !prose_end && !is_prose(behind) {
        return true;
    }
    // "key": value
    if first == '"' && text.contains("\":") {
        return true;
    }
    // a signature: name(arguments)
    text.ends_with(')')
        && text.split_once('(').is_some_and(|(name, _)| {
            !name.is_empty()
                && !name.trim().contains(' ')
                && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '*' | ':'))
        })
}

/// What a keyword begins in a language of programs: a sentence may begin its line with the same word.
fn is_statement(text: &str) -> bool {
    let Some((keyword, rest)) = text.split_once(' ') else { return false };
    let has = |signs: &[char]| rest.contains(signs);
    let words = rest.split_whitespace().count();
    match keyword {
        "return" => rest.ends_with(';') || words == 1 && !rest.ends_with('.'),
        "int" | "void" | "char" | "struct" | "typedef" | "static" | "const" | "unsigned" | "def" | "public"
        | "private" | "var" | "fn" => has(&['(', ';', '=', '{', ',']) && !is_prose(text),
        "class" => (has(&['(', '{']) || rest.ends_with(':')) && !is_prose(text),
        "import" => words <= 3 && !rest.ends_with(['.', ':']),
        "let" => has(&['=']),
        "use" => rest.ends_with(';'),
        _ => false,
    }
}

/// What the lines up to the next blank one are together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Prose,
    Code,
    Columns,
}

/// Looks at the lines of one chunk; `deeper`: indented further than the prose before it.
pub(super) fn look(chunk: &[&str], deeper: bool) -> Look {
    // what opens with a list's mark and no code is an item, whatever its short last line looks like
    let first = chunk.first().map_or("", |line| indentation(line).1);
    if marker(first).is_some_and(|mark| !is_code(first) && !is_code(&first[mark.bytes..])) && !are_columns(chunk) {
        return Look::Prose;
    }
    if first.starts_with("#!/") {
        return Look::Code;
    }
    let filled = chunk.len().max(1);
    let code = chunk.iter().filter(|line| is_code(indentation(line).1)).count();
    let enough = if deeper { code * 3 >= filled } else { code * 2 >= filled };
    let prose = chunk.iter().filter(|line| is_prose(indentation(line).1)).count();
    if code > 0 && enough && prose * 2 <= filled {
        return Look::Code;
    }
    if chunk.len() >= 2 && are_columns(chunk) {
        return Look::Columns;
    }
    Look::Prose
}

/// A run of plain words that could be part of a sentence that obliges.
pub(super) fn is_prose(text: &str) -> bool {
    let first = text.chars().next().unwrap_or(' ');
    if matches!(first, '#' | '/' | '*' | '$' | '%' | '<') || text.starts_with("--") {
        return false;
    }
    let words = text.split_whitespace();
    let (mut plain, mut all) = (0, 0);
    for word in words {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        all += usize::from(!bare.is_empty());
        plain +=
            usize::from(bare.len() > 1 && bare.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-')));
    }
    plain >= 5 && plain * 4 >= all * 3 && (ends_sentence(text) && !text.ends_with(';') || hinted(text) || plain >= 9)
}

/// The columns of a line set with blanks: cells with three blanks or more between them.
pub(super) fn columns(text: &str) -> Vec<&str> {
    text.split("   ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

/// How many lines of a chunk of columns are a sentence before them.
pub(super) fn lead(chunk: &[&str]) -> usize {
    let before: Vec<_> = chunk.iter().take_while(|line| columns(line).len() < 2).collect();
    let ends = before.iter().rposition(|line| ends_sentence(line.trim_end()));
    ends.map_or(0, |last| last + 1).min(chunk.len() - 1)
}

/// How many lines of a chunk of code are a sentence before it.
pub(super) fn before_code(chunk: &[&str]) -> usize {
    let before = chunk.iter().take_while(|line| !is_code(indentation(line).1)).count();
    let is_sentence = before > 0 && before < chunk.len() && is_prose(indentation(chunk[0]).1);
    if is_sentence { before } else { 0 }
}

/// Whether most lines have a gap, and the gaps of two lines end at the same column.
fn are_columns(chunk: &[&str]) -> bool {
    let mut starts: Vec<usize> = Vec::new();
    let mut with_gap = 0;
    for line in chunk {
        let trimmed = line.trim_end();
        let lead = trimmed.len() - trimmed.trim_start().len();
        let body = &trimmed[lead..];
        // the gap after a list marker is no column
        let skip = marker(body).map_or(0, |mark| mark.bytes);
        let Some(gap) = body[skip..].find("   ") else { continue };
        let after = &body[skip + gap..];
        let start = lead + skip + gap + (after.len() - after.trim_start().len());
        with_gap += 1;
        starts.push(line[..start].chars().count());
    }
    starts.sort_unstable();
    with_gap * 5 >= chunk.len() * 3 && starts.windows(2).any(|pair| pair[0] == pair[1])
}

/// More capitals than small letters, or an option: `DROP IDENTITY [ IF EXISTS ]`, `-f, --force`.
fn is_syntax(text: &str) -> bool {
    let (large, small) =
        (text.chars().filter(|c| c.is_uppercase()).count(), text.chars().filter(|c| c.is_lowercase()).count());
    !ends_sentence(text) && (large > small || text.starts_with('-'))
}

/// The term of a definition, an option of a manual page: a short line over deeper ones, which would have had room for more.
pub(super) fn is_term(chunk: &[&str]) -> bool {
    let (indent, text) = indentation(chunk[0]);
    // several lines of syntax can share one description
    let run = chunk.iter().take(8).take_while(|line| indentation(line).0 == indent).count();
    if run > 1 && !chunk[..run].iter().all(|line| is_syntax(indentation(line).1)) {
        return false;
    }
    let Some(next) = chunk.get(run) else { return false };
    let (next_indent, next_text) = indentation(next);
    if next_indent < indent + 2 || ends_sentence(text) || strength_of(text).is_some() {
        return false;
    }
    let widest = chunk.iter().take(40).map(|line| line.trim_end().chars().count()).max().unwrap_or(0);
    let word = next_text.split_whitespace().next().unwrap_or("").chars().count();
    indent + text.chars().count() + 1 + word + 2 <= widest.max(60)
}
