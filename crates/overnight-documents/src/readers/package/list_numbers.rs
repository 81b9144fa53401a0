//! Numbers as lists write them (ECMA-376, part 1, 17.18.59 and 20.1.10.61).

use super::blocks::roman;
use crate::sign_fonts;

const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const ODD_ORDINALS: [(&str, &str); 7] = [
    ("one", "first"),
    ("two", "second"),
    ("three", "third"),
    ("five", "fifth"),
    ("eight", "eighth"),
    ("nine", "ninth"),
    ("twelve", "twelfth"),
];
const CHINESE: [&str; 10] = ["〇", "一", "二", "三", "四", "五", "六", "七", "八", "九"];
const STEMS: &str = "甲乙丙丁戊己庚辛壬癸";
const RUSSIAN: &str = "абвгдежзиклмнопрстуфхцчшщыэюя";

/// A number as a list of DOCX writes it. Alphabets and languages that aren't known here are written in figures.
pub(crate) fn number(count: u32, format: &str) -> String {
    let figures = || count.to_string();
    match format {
        "lowerLetter" => letters(count, 'a'),
        "upperLetter" => letters(count, 'A'),
        "lowerRoman" => roman(count).to_lowercase(),
        "upperRoman" => roman(count),
        "decimalZero" => format!("{count:02}"),
        "none" => String::new(),
        "ordinal" => format!("{count}{}", suffix(count)),
        "cardinalText" => capital(&cardinal(count)),
        "ordinalText" => capital(&ordinal(count)),
        "numberInDash" => format!("- {count} -"),
        "hex" => format!("{count:X}"),
        "chicago" => {
            let sign = ["*", "†", "‡", "§"][(count.saturating_sub(1) % 4) as usize];
            sign.repeat(((count.saturating_sub(1) / 4 + 1) as usize).min(30))
        }
        "decimalFullWidth" | "decimalFullWidth2" => figures().chars().map(|digit| shifted(digit, '0', '０')).collect(),
        "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" => {
            from(count, &[(1, 20, '①'), (21, 35, '㉑'), (36, 50, '㊱')])
        }
        "decimalEnclosedParen" => from(count, &[(1, 20, '⑴')]),
        "decimalEnclosedFullstop" => from(count, &[(1, 20, '⒈')]),
        "chineseCounting"
        | "chineseCountingThousand"
        | "taiwaneseCounting"
        | "taiwaneseCountingThousand"
        | "japaneseCounting" => chinese(count),
        "ideographDigital" | "taiwaneseDigital" | "japaneseDigitalTenThousand" => {
            figures().chars().filter_map(|digit| Some(CHINESE[digit.to_digit(10)? as usize])).collect()
        }
        "ideographTraditional" => nth(count, STEMS),
        "russianLower" => nth(count, RUSSIAN),
        "russianUpper" => nth(count, RUSSIAN).to_uppercase(),
        _ => figures(),
    }
}

/// The mark of an item without a number: a box or a tick if the list has one of those, else a dash.
pub(crate) fn bullet(font: &str, sign: &str) -> String {
    const TELLING: &str = "☐☑☒✓✔✗✘✅❌□";
    let shown = sign_fonts::shown_in(font, sign).unwrap_or_else(|| sign.to_owned());
    let is_telling = !shown.trim().is_empty() && shown.trim().chars().all(|found| TELLING.contains(found));
    if is_telling { shown.trim().to_owned() } else { "-".to_owned() }
}

/// A number as a list of PPTX writes it, with its point or brackets: `alphaLcParenR`, `romanUcPeriod`.
pub(crate) fn slide_number(count: u32, kind: &str) -> String {
    let (family, form) = ["ParenBoth", "ParenR", "Period", "Plain", "Minus"]
        .iter()
        .find_map(|form| Some((kind.strip_suffix(form)?, *form)))
        .unwrap_or(("arabic", "Period"));
    let shown = match family {
        "alphaLc" => letters(count, 'a'),
        "alphaUc" => letters(count, 'A'),
        "romanLc" => roman(count).to_lowercase(),
        "romanUc" => roman(count),
        "circleNumDb" | "circleNumWdWhite" => number(count, "decimalEnclosedCircle"),
        "circleNumWdBlack" => from(count, &[(1, 10, '❶'), (11, 20, '⓫')]),
        "arabicDb" => number(count, "decimalFullWidth"),
        "ea1Chs" | "ea1Cht" | "ea1JpnChsDb" | "ea1JpnKor" => chinese(count),
        _ => count.to_string(),
    };
    match form {
        "ParenBoth" => format!("({shown})"),
        "ParenR" => format!("{shown})"),
        "Period" => format!("{shown}."),
        "Minus" => format!("{shown}-"),
        _ => shown,
    }
}

/// a to z, then aa to zz, as Word does it.
fn letters(count: u32, first: char) -> String {
    let Some(index) = count.checked_sub(1) else { return "0".to_owned() };
    let letter = char::from_u32(u32::from(first) + index % 26).unwrap_or(first);
    let times = usize::try_from(index / 26 + 1).unwrap_or(1).min(30);
    std::iter::repeat_n(letter, times).collect()
}

/// The letter or sign with this number in an alphabet, repeated when it is through.
fn nth(count: u32, alphabet: &str) -> String {
    let size = u32::try_from(alphabet.chars().count()).unwrap_or(1).max(1);
    let Some(index) = count.checked_sub(1) else { return count.to_string() };
    let found = alphabet.chars().nth((index % size) as usize).unwrap_or('?');
    std::iter::repeat_n(found, ((index / size + 1) as usize).min(30)).collect()
}

/// The sign of a row that begins with a number; in figures beyond the rows.
fn from(count: u32, rows: &[(u32, u32, char)]) -> String {
    let row = rows.iter().find(|(first, last, _)| (*first..=*last).contains(&count));
    let sign = row.and_then(|(first, _, sign)| char::from_u32(u32::from(*sign) + count - first));
    sign.map_or_else(|| count.to_string(), String::from)
}

fn shifted(digit: char, from: char, to: char) -> char {
    char::from_u32(u32::from(digit) - u32::from(from) + u32::from(to)).unwrap_or(digit)
}

fn suffix(count: u32) -> &'static str {
    match (count % 100, count % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        (_, _) => "th",
    }
}

fn capital(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// In words up to 9,999.
fn cardinal(count: u32) -> String {
    let rest = |rest: u32| if rest == 0 { String::new() } else { format!(" {}", cardinal(rest)) };
    match count {
        0..20 => ONES[count as usize].to_owned(),
        20..100 if count.is_multiple_of(10) => TENS[(count / 10) as usize].to_owned(),
        20..100 => format!("{}-{}", TENS[(count / 10) as usize], ONES[(count % 10) as usize]),
        100..1_000 => format!("{} hundred{}", cardinal(count / 100), rest(count % 100)),
        1_000..10_000 => format!("{} thousand{}", cardinal(count / 1_000), rest(count % 1_000)),
        _ => count.to_string(),
    }
}

fn ordinal(count: u32) -> String {
    let words = cardinal(count);
    if words.ends_with(|last: char| last.is_ascii_digit()) {
        return format!("{count}{}", suffix(count));
    }
    let start = words.rfind([' ', '-']).map_or(0, |at| at + 1);
    let (head, last) = words.split_at(start);
    let odd = ODD_ORDINALS.iter().find(|(one, _)| *one == last).map(|(_, odd)| (*odd).to_owned());
    let last = odd.unwrap_or_else(|| match last.strip_suffix('y') {
        Some(ten) => format!("{ten}ieth"),
        None => format!("{last}th"),
    });
    format!("{head}{last}")
}

/// In Chinese signs up to 99.
fn chinese(count: u32) -> String {
    let sign = |digit: u32| if digit == 0 { "" } else { CHINESE[digit as usize] };
    match count {
        0..10 => CHINESE[count as usize].to_owned(),
        10..20 => format!("十{}", sign(count % 10)),
        20..100 => format!("{}十{}", sign(count / 10), sign(count % 10)),
        _ => count.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_lists_write_them() {
        for (count, format, expected) in [
            (3, "decimal", "3"),
            (3, "decimalZero", "03"),
            (28, "lowerLetter", "bb"),
            (2, "upperLetter", "B"),
            (1994, "upperRoman", "MCMXCIV"),
            (4, "lowerRoman", "iv"),
            (4_000_000_000, "upperRoman", "4000000000"),
            (1, "ordinal", "1st"),
            (12, "ordinal", "12th"),
            (23, "ordinal", "23rd"),
            (1, "ordinalText", "First"),
            (20, "ordinalText", "Twentieth"),
            (112, "ordinalText", "One hundred twelfth"),
            (21, "cardinalText", "Twenty-one"),
            (3, "decimalEnclosedCircle", "③"),
            (22, "decimalEnclosedCircle", "㉒"),
            (2, "decimalEnclosedParen", "⑵"),
            (2, "numberInDash", "- 2 -"),
            (5, "chicago", "**"),
            (12, "chineseCounting", "十二"),
            (12, "ideographDigital", "一二"),
            (2, "ideographTraditional", "乙"),
            (2, "russianUpper", "Б"),
            (5, "aiueo", "5"),
        ] {
            assert_eq!(number(count, format), expected, "{count} {format}");
        }
        for (font, sign, expected) in [("Wingdings", "\u{f0a8}", "☐"), ("Wingdings", "\u{f0a7}", "-"), ("", "•", "-")]
        {
            assert_eq!(bullet(font, sign), expected, "{font} {sign}");
        }
        for (kind, expected) in [
            ("alphaLcParenR", "c)"),
            ("alphaUcParenBoth", "(C)"),
            ("romanUcPeriod", "III."),
            ("arabicPlain", "3"),
            ("circleNumWdBlackPlain", "❸"),
            ("ea1ChsPeriod", "三."),
            ("", "3."),
        ] {
            assert_eq!(slide_number(3, kind), expected, "{kind}");
        }
    }
}
