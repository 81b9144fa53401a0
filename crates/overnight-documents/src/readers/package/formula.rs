//! A formula (OMML, ECMA-376 part 1, chapter 22.1) on one line, written unambiguously: `(x+a)^n`, `√(b^2-4ac)`,
//! `∑_(k=0)^n a_k`. Where two forms are common, Unicode's linear format decides.

use super::xml::{BrokenPart, Xml, XmlNode};

/// Of elements nested more deeply than this, only the text is kept.
const MAX_DEPTH: usize = 100;
/// The elements that hold the operands of others.
const SLOTS: [&str; 9] = ["e", "sub", "sup", "num", "den", "deg", "fName", "lim", "mr"];

/// The current element.
#[derive(Debug, Default)]
struct FormulaElement {
    name: String,
    text: String,
    /// The last part is more than a run of characters.
    after_more: bool,
    slots: Vec<(String, String)>,
    /// The properties of the element: `chr`, `degHide`.
    marks: Vec<(String, String)>,
}

/// The formula whose start tag was read last.
pub(crate) fn formula(xml: &mut Xml<'_>) -> Result<String, BrokenPart> {
    let mut open = vec![FormulaElement::default()];
    while let Some(part) = open.last_mut() {
        match xml.next()? {
            XmlNode::Start(element) => match element.name() {
                "t" => part.add(&xml.text()?, false),
                "br" => part.text.push('\n'),
                "rPr" | "ctrlPr" | "del" | "moveFrom" | "instrText" => xml.skip()?,
                name if name.ends_with("Pr") => {
                    let name = name.to_owned();
                    part.marks.extend(marks(xml, &name)?);
                }
                _ if open.len() >= MAX_DEPTH => {
                    let text = xml.text()?;
                    open.last_mut().into_iter().for_each(|part| part.add(&text, true));
                }
                name => open.push(FormulaElement { name: name.to_owned(), ..FormulaElement::default() }),
            },
            XmlNode::End(_) => {
                let Some(part) = open.pop() else { break };
                let Some(outer) = open.last_mut() else { return Ok(part.write()) };
                if SLOTS.contains(&part.name.as_str()) {
                    outer.slots.push((part.name.clone(), part.write()));
                } else {
                    outer.add(&part.write(), part.name != "r");
                }
            }
            XmlNode::Over => break,
            XmlNode::Text(_) => {}
        }
    }
    // A formula that is cut off is written as far as it goes.
    Ok(open.into_iter().map(|part| part.write()).collect())
}

/// The properties up to the end of the element `end`; a switch without a value is on.
fn marks(xml: &mut Xml<'_>, end: &str) -> Result<Vec<(String, String)>, BrokenPart> {
    let mut marks = Vec::new();
    xml.each(end, |element, xml| {
        if element.name() == "ctrlPr" {
            return xml.skip();
        }
        marks.push((element.name().to_owned(), element.value("val").unwrap_or_else(|| "on".to_owned())));
        Ok(())
    })?;
    Ok(marks)
}

impl FormulaElement {
    /// Adds text so that it doesn't merge with the text before: a whole number and a fraction, a factor and a power.
    fn add(&mut self, text: &str, is_part: bool) {
        let (before, next) = (self.text.chars().next_back(), text.chars().next());
        let joins = |found: Option<char>| found.is_some_and(char::is_alphanumeric);
        let runs_on = joins(next) && (joins(before) || before == Some(')')) || next == Some('(') && self.after_more;
        if (is_part || self.after_more) && runs_on {
            self.text.push(' ');
        }
        self.text.push_str(text);
        self.after_more = is_part;
    }

    fn slot(&self, name: &str) -> &str {
        self.slots.iter().find(|(slot, _)| slot == name).map_or("", |(_, text)| text)
    }

    fn slots(&self, separator: &str) -> String {
        self.slots.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(separator)
    }

    fn mark<'p>(&'p self, name: &str, default: &'p str) -> &'p str {
        self.marks.iter().find(|(mark, _)| mark == name).map_or(default, |(_, value)| value)
    }

    fn is_on(&self, name: &str) -> bool {
        !matches!(self.mark(name, "off"), "0" | "off" | "false")
    }

    /// The lower and upper scripts.
    fn scripts(&self) -> String {
        let script = |sign: &str, name: &str, switch: &str| match self.slot(name) {
            "" => String::new(),
            _ if self.is_on(switch) => String::new(),
            text => format!("{sign}{}", group(text)),
        };
        script("_", "sub", "subHide") + &script("^", "sup", "supHide")
    }

    fn write(&self) -> String {
        // Text stands in runs and operands; text elsewhere is kept too.
        self.text.clone() + &self.structure()
    }

    fn structure(&self) -> String {
        let body = self.slot("e");
        match self.name.as_str() {
            "f" => {
                let bar = if self.mark("type", "bar") == "noBar" { '¦' } else { '/' };
                format!("{}{bar}{}", group(self.slot("num")), group(self.slot("den")))
            }
            "sSup" | "sSub" | "sSubSup" => group(body) + &self.scripts(),
            "sPre" => format!("({}){}", self.scripts(), group(body)),
            "rad" if self.is_on("degHide") || self.slot("deg").is_empty() => format!("√({body})"),
            "rad" => format!("√[{}]({body})", self.slot("deg")),
            "d" => format!(
                "{}{}{}",
                self.mark("begChr", "("),
                self.slots(self.mark("sepChr", "|")),
                self.mark("endChr", ")")
            ),
            "nary" => {
                let body = if is_sum(body) { group(body) } else { body.to_owned() };
                format!("{}{} {body}", self.mark("chr", "∫"), self.scripts())
            }
            "func" if is_enclosed(body) => format!("{}{body}", self.slot("fName")),
            "func" if is_atom(body) => format!("{} {body}", self.slot("fName")),
            "func" => format!("{}({body})", self.slot("fName")),
            "limLow" => format!("{}_{}", group(body), group(self.slot("lim"))),
            "limUpp" => format!("{}^{}", group(body), group(self.slot("lim"))),
            "acc" => group(body) + self.mark("chr", "\u{302}"),
            "bar" => group(body) + if self.mark("pos", "bot") == "top" { "\u{305}" } else { "\u{332}" },
            "groupChr" => format!("{}({body})", self.mark("chr", "⏟")),
            "mr" => self.slots(", "),
            "m" => format!("[{}]", self.slots("; ")),
            // An ampersand only aligns lines there.
            "eqArr" => self.slots("; ").replace('&', ""),
            "phant" if self.marks.iter().any(|(name, _)| name == "show") && !self.is_on("show") => String::new(),
            _ => self.slots(""),
        }
    }
}

/// Parts of a formula side by side; for each, whether it is more than a run of characters.
pub(crate) fn side_by_side(parts: impl IntoIterator<Item = (String, bool)>) -> String {
    let mut line = FormulaElement::default();
    parts.into_iter().for_each(|(text, is_part)| line.add(&text, is_part));
    line.text
}

/// Makes a text one operand: in brackets, unless it is one already.
pub(crate) fn group(text: &str) -> String {
    if is_atom(text) || is_enclosed(text) { text.to_owned() } else { format!("({text})") }
}

/// Whether a text is one sign, one word or one number.
fn is_atom(text: &str) -> bool {
    let all = |kind: fn(char) -> bool| !text.is_empty() && text.chars().all(kind);
    text.chars().count() == 1 || all(char::is_alphabetic) || all(|found| found.is_numeric() || found == '.')
}

/// Whether the text, outside of brackets, contains an operator that binds less than a factor.
fn is_sum(text: &str) -> bool {
    let mut depth = 0_i32;
    text.chars().any(|found| {
        depth += i32::from(matches!(found, '(' | '[' | '{')) - i32::from(matches!(found, ')' | ']' | '}'));
        depth <= 0 && "+-−±∓=<>≤≥≠".contains(found)
    })
}

/// Whether the text's first bracket is closed at its end.
fn is_enclosed(text: &str) -> bool {
    let mut depth = 0_usize;
    let closes = text.char_indices().find_map(|(at, found)| {
        match found {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at + found.len_utf8())
    });
    text.starts_with(['(', '[', '{']) && closes == Some(text.len())
}
