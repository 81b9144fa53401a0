//! Fields that are a formula (`EQ`; ECMA-376 part 1, 17.16.5.17), written on one line like other formulas: their
//! results are stored only as the instruction. Phonetic guides of East Asian words are such fields too; only their
//! words are kept, as for guides that are elements of their own.

use super::package::{group, side_by_side};

/// Objects nested more deeply than this are left as their instruction.
const MAX_DEPTH: usize = 50;

/// The result of a field from its instruction; none if it is no formula.
pub(super) fn equation(instruction: &str) -> Option<String> {
    let code = instruction.trim_start();
    let rest = code.get(2..).filter(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))?;
    if !code[..2].eq_ignore_ascii_case("eq") {
        return None;
    }
    // If numbers have a decimal comma, a semicolon separates operands.
    let separator = if rest.contains(';') { ';' } else { ',' };
    let is_guide = rest.contains("\\* hps");
    let mut code = EquationCode { rest, separator, is_guide, depth: 0 };
    Some(code.operand().text.trim().to_owned())
}

/// The unread rest of a field's instruction.
struct EquationCode<'c> {
    rest: &'c str,
    separator: char,
    is_guide: bool,
    depth: usize,
}

#[derive(Debug, Default)]
struct Operand {
    text: String,
    /// The operand is nothing but raised text.
    is_raised: bool,
}

/// The form of an object: its names, and the signs that stand around or before it.
#[derive(Debug, Default)]
struct EquationObject {
    names: Vec<String>,
    columns: usize,
    left: Option<char>,
    right: Option<char>,
    sign: Option<char>,
}

impl EquationCode<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    /// Takes the leading characters for which `is_part` holds.
    fn take(&mut self, is_part: impl Fn(char) -> bool) -> &str {
        let (head, rest) = self.rest.split_at(self.rest.find(|found| !is_part(found)).unwrap_or(self.rest.len()));
        self.rest = rest;
        head
    }

    /// Reads up to the beginning of the next operand, or the end of the object.
    fn operand(&mut self) -> Operand {
        let mut parts: Vec<(String, bool)> = Vec::new();
        let mut text = String::new();
        let mut is_raised = true;
        while let Some(found) = self.rest.chars().next() {
            if self.depth > 0 && (found == ')' || found == self.separator) {
                break;
            }
            self.next();
            match found {
                '\\' if self.rest.starts_with(|next: char| next.is_ascii_alphabetic()) && self.depth < MAX_DEPTH => {
                    parts.push((std::mem::take(&mut text), false));
                    let object = self.object();
                    is_raised &= object.is_raised;
                    parts.push((object.text, true));
                }
                '\\' if self.rest.starts_with('*') => self.switch(),
                '\\' => text.extend(self.next()),
                '(' if self.depth > 0 && self.depth < MAX_DEPTH => {
                    let inner: Vec<String> = self.operands().into_iter().map(|operand| operand.text).collect();
                    text.extend(["(", &inner.join(&self.separator.to_string()), ")"]);
                }
                found => text.push(found),
            }
        }
        is_raised &= !parts.is_empty()
            && text.trim().is_empty()
            && parts.iter().all(|(text, is_part)| *is_part || text.trim().is_empty());
        parts.push((text, false));
        let parts = parts.into_iter().filter(|(text, _)| !text.is_empty());
        Operand { text: side_by_side(parts), is_raised }
    }

    /// Reads the operands in the bracket that was opened.
    fn operands(&mut self) -> Vec<Operand> {
        self.depth += 1;
        let mut operands = vec![self.operand()];
        while self.next() == Some(self.separator) {
            operands.push(self.operand());
        }
        self.depth -= 1;
        operands
    }

    /// A switch of fields of any kind: `\* hps10`, `\* "Font:Mincho"`.
    fn switch(&mut self) {
        self.next();
        self.take(char::is_whitespace);
        if self.rest.starts_with('"') {
            self.next();
            self.take(|found| found != '"');
            self.next();
        } else {
            self.take(|found| !found.is_whitespace() && found != '\\');
        }
    }

    /// An object, behind its backslash: names, each with a number or a sign, and a bracket with its operands.
    fn object(&mut self) -> Operand {
        let mut object = EquationObject::default();
        loop {
            let name = self.take(|found| found.is_ascii_alphabetic()).to_ascii_lowercase();
            // A sign may directly follow a name only if it isn't a letter.
            if matches!(name.as_str(), "lc" | "rc" | "bc" | "fc" | "vc") {
                self.take(char::is_whitespace);
                if self.rest.starts_with('\\') {
                    self.next();
                }
                object.learn_sign(&name, self.next());
            }
            let blank = self.take(|found| found.is_whitespace() || found.is_ascii_digit() || found == '-');
            if name == "co" {
                object.columns = blank.trim().parse().unwrap_or(1);
            }
            object.names.push(name);
            let is_name = self
                .rest
                .strip_prefix('\\')
                .is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_alphabetic()));
            if !is_name {
                break;
            }
            self.next();
        }
        if !self.rest.starts_with('(') {
            return Operand::default();
        }
        self.next();
        let operands = self.operands();
        let is_raised = object.names.iter().any(|name| name == "up");
        Operand { text: object.write(operands, self), is_raised }
    }
}

impl EquationObject {
    fn learn_sign(&mut self, name: &str, sign: Option<char>) {
        let closing = |open: char| match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        match name {
            "lc" => self.left = sign,
            "rc" => self.right = sign,
            "bc" => (self.left, self.right) = (sign, sign.map(closing)),
            _ => self.sign = sign,
        }
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    fn write(&self, mut operands: Vec<Operand>, code: &EquationCode<'_>) -> String {
        let main = self.names.first().map_or("", String::as_str);
        if main == "o" && code.is_guide && operands.len() > 1 {
            let is_plain = operands.iter().any(|operand| !operand.is_raised);
            operands.retain(|operand| !operand.is_raised || !is_plain);
        }
        let texts: Vec<&str> = operands.iter().map(|operand| operand.text.trim()).collect();
        let beside = || texts.concat();
        match (main, &texts[..]) {
            ("f", [above, below]) => format!("{}/{}", group(above), group(below)),
            ("r", [root] | ["", root]) => format!("√({root})"),
            ("r", [degree, root]) => format!("√[{degree}]({root})"),
            ("i", [low, high, body]) => {
                let sign = self.sign.unwrap_or(if self.has("su") {
                    '∑'
                } else if self.has("pr") {
                    '∏'
                } else {
                    '∫'
                });
                let limit = |sign: char, text: &str| {
                    if text.is_empty() { String::new() } else { format!("{sign}{}", group(text)) }
                };
                format!("{sign}{}{} {body}", limit('_', low), limit('^', high))
            }
            ("a", cells) => {
                let rows = cells.chunks(self.columns.max(1)).map(|row| row.join(", "));
                rows.collect::<Vec<_>>().join("; ")
            }
            ("b", inner) => {
                let (left, right) = match (self.left, self.right) {
                    (None, None) => (Some('('), Some(')')),
                    signs => signs,
                };
                let signs = |sign: Option<char>| sign.map(String::from).unwrap_or_default();
                signs(left) + &inner.join(&code.separator.to_string()) + &signs(right)
            }
            ("l", inner) => inner.join(&code.separator.to_string()),
            ("s" | "up" | "do", _) if self.has("up") && !beside().is_empty() && !code.is_guide => {
                format!("^{}", group(&beside()))
            }
            ("s" | "up" | "do", _) if self.has("do") && !beside().is_empty() => format!("_{}", group(&beside())),
            ("d", [""]) => " ".to_owned(),
            (_, _) => beside(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::equation;

    #[test]
    fn formulas_in_fields_are_written_as_others_are() {
        for (code, shown) in [
            (" EQ \\f(1,2) ", "1/2"),
            ("eq \\f(2,Rate Change)", "2/(Rate Change)"),
            ("EQ x=\\f(-b,2a)", "x=(-b)/(2a)"),
            ("EQ 2\\f(1,2)", "2 1/2"),
            ("EQ \\f(1,5;2)", "(1,5)/2"),
            ("EQ \\r(3,x)", "√[3](x)"),
            ("EQ \\r(,x+1)", "√(x+1)"),
            ("EQ \\i\\su(k=1,n,k)", "∑_(k=1)^n k"),
            ("EQ \\i \\in(0,1,x)dx", "∫_0^1 x dx"),
            ("EQ \\b \\bc\\[(\\a \\al \\co2 \\vs3(1,2,3,4))", "[1, 2; 3, 4]"),
            ("EQ \\b\\lc\\{(\\a(x>0,x=0))", "{x>0; x=0"),
            ("EQ \\b(\\r(5,x))", "(√[5](x))"),
            ("EQ \\l(A,B,C\\,D)", "A,B,C,D"),
            ("EQ H\\s\\do4(2)O, m\\s\\up8(3)", "H_2 O, m^3"),
            ("EQ a\\d\\fo10\\li()b", "a b"),
            ("EQ \\x\\to\\bo(5)", "5"),
            ("EQ \\o(5,/)", "5/"),
            ("EQ \\* jc2 \\* \"Font:Some Mincho\" \\* hps11 \\o\\ad(\\s\\up 10(ひがし),東)", "東"),
            ("EQ f(x\\(1\\),(2,3))", "f(x(1),(2,3))"),
            ("EQ \\f(1", "1"),
            ("EQ \\f", ""),
            ("EQ", ""),
        ] {
            assert_eq!(equation(code).as_deref(), Some(shown), "{code}");
        }
        for other in ["PAGE", "EQUAL", "É", "e", ""] {
            assert_eq!(equation(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_nested_without_end_stands_as_it_is() {
        let code = format!("EQ {}", "\\f(1,".repeat(2_000));
        assert!(equation(&code).is_some_and(|shown| shown.starts_with("1/")));
    }
}
