//! Fonts whose letters are signs: Symbol, the Wingdings, Webdings, Zapf Dingbats. A document stores the letter, but a
//! person sees another sign. The mapping follows the tables of the Unicode Consortium from the addition of these signs;
//! boxes and ticks get their common forms.

use encoding_rs::WINDOWS_1252;

/// The signs of each font for the codes from 20 on; a blank for a missing sign.
const FONTS: [(&str, &str); 5] = [
    (
        "symbol",
        "\u{20}!∀#∃%&∍()*+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩ\
         ΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}~                 \
         \u{20}               €ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩\
         ∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭ ",
    ),
    (
        "wingdings",
        "\u{20}🖉✂✁👓🕭🕮🕯🕿✆🖂🖃📪📫📬📭🗀🗁🗎🗏🗐🗄⌛🖮🖰🖲🖳🖴🖫🖬✇✍🖎✌🖏👍👎☜☞☝☟🖐☺😐☹💣🕱🏳🏱✈☼🌢❄🕆✞🕈\
         ✠✡☪☯🕉☸♈♉♊♋♌♍♎♏♐♑♒♓🙰🙵●❍■□🞐❑❒⬧⧫◆❖⬥⌧⮹⌘🏵🏶🙶🙷▯🄋➀➁➂➃➄➅➆➇➈➉🄌➊➋➌➍\
         ➎➏➐➑➒➓🙢🙠🙡🙣🙞🙜🙝🙟∙•⬝○🞆🞈◉◎🔿▪☐🟁🟅★🟋🟏🟓🟑⯐⌖⯎⯏⯑✪✰🕐🕑🕒🕓🕔🕕🕖🕗🕘🕙🕚🕛⮰⮱⮲⮳⮴\
         ⮵⮶⮷🙪🙫🙕🙔🙗🙖🙐🙑🙒🙓⌫⌦⮘⮚⮙⮛⮈⮊⮉⮋🡨🡪🡩🡫🡬🡭🡯🡮🡸🡺🡹🡻🡼🡽🡿🡾⇦⇨⇧⇩⬄⇳⬁⬀⬃⬂🢬🢭✗✓☒☑ ",
    ),
    (
        "wingdings2",
        "\u{20}🖊🖋🖌🖍✄✀🕾🕽🗅🗆🗇🗈🗉🗊🗋🗌🗍📋🗑🗔🖵🖶🖷🖸🖭🖯🖱🖒🖓🖘🖙🖚🖛👈👉🖜🖝🖞🖟🖠🖡👆👇🖢🖣🖑✗✓☒☑☒☒⮾⮿🛇\
         ⦸🙱🙴🙲🙳‽🙹🙺🙻🙦🙤🙥🙧🙚🙘🙙🙛⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿ ☉🌕☽☾⸿✝🕇🕜🕝🕞🕟🕠🕡🕢🕣🕤\
         🕥🕦🕧🙨🙩⋅🞄⦁●○🞅🞇🞉⊙⦿🞌🞍◾■□🞑🞒🞓🞔▣🞕🞖🞗🞘⬩⬥◇🞚◈🞛🞜🞝🞞⬪⬧◊🞠◖◗⯊⯋⯀⯁⬟⯂⬣⬢⯃⯄🞡🞢\
         🞣🞤🞥🞦🞧🞨🞩🞪🞫🞬🞭🞮🞯🞰🞱🞲🞳🞴🞵🞶🞷🞸🞹🞺🞻🞼🞽🞾🞿🟀🟂🟄🟆🟉🟊✶🟌🟎🟐🟒✹🟃🟇✯🟍🟔⯌⯍※⁂      ",
    ),
    (
        "wingdings3",
        "\u{20}⭠⭢⭡⭣⭦⭧⭩⭨⭰⭲⭱⭳⭶⭸⭻⭽⭤⭥⭪⭬⭫⭭⭍⮠⮡⮢⮣⮤⮥⮦⮧⮐⮑⮒⮓⮀⮃⭾⭿⮄⮆⮅⮇⮏⮍⮎⮌⭮⭯⎋⌤⌃⌥␣⍽\
         ⇪⮸🢠🢡🢢🢣🢤🢥🢦🢧🢨🢩🢪🢫🡐🡒🡑🡓🡔🡕🡗🡖🡘🡙▲▼△▽◀▶◁▷◣◢◤◥🞀🞂🞁 🞃⯅⯆⯇⯈⮜⮞⮝⮟🠐🠒🠑🠓🠔🠖🠕\
         🠗🠘🠚🠙🠛🠜🠞🠝🠟🠀🠂🠁🠃🠄🠆🠅🠇🠈🠊🠉🠋🠠🠢🠤🠦🠨🠪🠬🢜🢝🢞🢟🠮🠰🠲🠴🠶🠸🠺🠹🠻🢘🢚🢙🢛🠼🠾🠽🠿🡀🡂🡁🡃🡄🡆🡅\
         🡇⮨⮩⮪⮫⮬⮭⮮⮯🡠🡢🡡🡣🡤🡥🡧🡦🡰🡲🡱🡳🡴🡵🡷🡶🢀🢂🢁🢃🢄🢅🢇🢆🢐🢒🢑🢓🢔🢖🢕🢗               ",
    ),
    (
        "webdings",
        "\u{20}🕷🕸🕲🕶🏆🎖🖇🗨🗩🗰🗱🌶🎗🙾🙼🗕🗖🗗⏴⏵⏶⏷⏪⏩⏮⏭⏸⏹⏺🗚🗳🛠🏗🏘🏙🏚🏜🏭🏛🏠🏖🏝🛣🔍🏔👁👂🏞🏕🛤🏟🛳🕬🕫🕨\
         🔈🎔🎕🗬🙽🗭🗪🗫⮔✓🚲☐🛡📦🛱■🚑🛈🛩🛰🟈🕴⬤🛥🚔🗘✗❓🛲🚇🚍⛳⦸⊖🚭🗮⏐🗯🗲 🚹🚺🛉🛊🚼👽🏋⛷🏂🏌🏊🏄🏍🏎🚘🗠\
         🛢💰🏷💳👪🗡🗢🗣✯🖄🖅🖃🖆🖹🖺🖻🕵🕰🖽🖾📋🗒🗓🕮📚🗞🗟🗃🗂🖼🎭🎜🎘🎙🎧💿🎞📷🎟🎬📽📹📾📻🎚🎛📺💻🖥🖦🖧🕹🎮🕻🕼📟\
         🖁🖀🖨🖩🖿🖪🗜🔒🔓🗝📥📤🕳🌣🌤🌥🌦☁🌨🌧🌩🌪🌬🌫🌜🌡🛋🛏🍽🍸🛎🛍Ⓟ♿🛆🖈🎓🗤🗥🗦🗧🛪🐿🐦🐟🐕🐈🙬🙮🙭🙯🗺🌍🌏🌎🕊",
    ),
];

/// The fonts that have the same signs under other names.
const SAME: [(&str, &str); 5] = [
    ("symbolmt", "symbol"),
    ("standardsymbolsps", "symbol"),
    ("itczapfdingbats", "zapfdingbats"),
    ("monotypesorts", "zapfdingbats"),
    ("dingbats", "zapfdingbats"),
];
/// The private-use codes at which a font of signs has its own.
const PRIVATE: std::ops::RangeInclusive<u32> = 0xf020..=0xf0ff;

/// The visible form of `text` in `font`; none if that is the text itself. A sign without a table entry is named.
pub(crate) fn shown_in(font: &str, text: &str) -> Option<String> {
    let key: String = font.chars().filter(|found| found.is_alphanumeric()).collect::<String>().to_ascii_lowercase();
    let key = SAME.iter().find(|(name, _)| *name == key).map_or(key.as_str(), |(_, same)| *same);
    let table = FONTS.iter().find(|(name, _)| *name == key).map(|(_, table)| *table);
    let is_dingbats = key == "zapfdingbats";
    let is_private = |found: char| PRIVATE.contains(&u32::from(found));
    if table.is_none() && !is_dingbats && (font.is_empty() || !text.contains(is_private)) {
        return None;
    }
    let mut shown = String::with_capacity(text.len());
    for found in text.chars() {
        let sign = match (code(found), table) {
            (None, _) => Some(found),
            (Some(code), Some(table)) => {
                table.chars().nth(usize::from(code) - 0x20).filter(|sign| *sign != ' ' || code == 0x20)
            }
            (Some(code), None) if is_dingbats => dingbat(code),
            (Some(_), None) => (!is_private(found)).then_some(found),
        };
        match sign {
            Some(sign) => shown.push(sign),
            None => shown.extend(["[sign ", &format!("{:02X}", u32::from(found)), " of ", font, "]"]),
        }
    }
    Some(shown)
}

/// The code of a letter in a font of signs; none for characters outside: line ends, tabs, letters of other scripts.
fn code(found: char) -> Option<u8> {
    let number = u32::from(found);
    let private = PRIVATE.contains(&number).then_some(number - 0xf000 * u32::from(number >= 0xf000));
    let byte = private.or((0x20..=0xff).contains(&number).then_some(number)).and_then(|byte| u8::try_from(byte).ok());
    byte.or_else(|| {
        // Windows put the letters of its own alphabet there.
        let mut buffer = [0; 4];
        let (bytes, _, is_lost) = WINDOWS_1252.encode(found.encode_utf8(&mut buffer));
        match (&*bytes, is_lost) {
            (&[byte], false) if byte >= 0x20 => Some(byte),
            _ => None,
        }
    })
}

/// Unicode has Adobe's font in its own order, except for signs that it already had.
fn dingbat(code: u8) -> Option<char> {
    const OLDER: [(u8, u32); 17] = [
        (0x20, 0x20),
        (0x25, 0x260e),
        (0x2a, 0x261b),
        (0x2b, 0x261e),
        (0x48, 0x2605),
        (0x6c, 0x25cf),
        (0x6e, 0x25a0),
        (0x73, 0x25b2),
        (0x74, 0x25bc),
        (0x75, 0x25c6),
        (0x77, 0x25d7),
        (0xa8, 0x2663),
        (0xa9, 0x2666),
        (0xaa, 0x2665),
        (0xab, 0x2660),
        (0xd5, 0x2192),
        (0xd6, 0x2194),
    ];
    let number = match (OLDER.iter().find(|(known, _)| *known == code), u32::from(code)) {
        (Some((_, number)), _) => *number,
        (None, 0xd7) => 0x2195,
        (None, number @ 0xac..=0xb5) => 0x2460 + number - 0xac,
        (None, number @ 0x21..=0x7e) => 0x2700 + number - 0x20,
        (None, number @ (0xa1..=0xef | 0xf1..=0xfe)) => 0x2700 + number - 0x40,
        (None, _) => return None,
    };
    char::from_u32(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_the_signs_that_they_show() {
        for (font, text, expected) in [
            ("Wingdings", "\u{f0fe} a\u{f0a8}\u{f0fc}þ¨", Some("☑ ♋☐✓☑☐")),
            ("Symbol", "\u{f0b3}£m\u{f0b0}´\n", Some("≥≤μ°×\n")),
            ("Wingdings 2", "RPO\u{a3}", Some("☑✓✗□")),
            ("WINGDINGS3", "p", Some("▲")),
            ("Webdings", "a", Some("✓")),
            ("ZapfDingbats", "4nl\u{d5}", Some("✔■●→")),
            ("Wingdings", "\u{2022}", Some("➓")),
            ("Arial", "þ", None),
            ("", "\u{f0fe}", None),
            ("MT Extra", "a\u{f04c}", Some("a[sign F04C of MT Extra]")),
            ("Symbol", "\u{ff}", Some("[sign FF of Symbol]")),
        ] {
            assert_eq!(shown_in(font, text).as_deref(), expected, "{font} {text}");
        }
        assert!(FONTS.iter().all(|(_, table)| table.chars().count() == 0xe0));
    }
}
