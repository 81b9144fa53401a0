//! How the values of a field are compared, as a plan decides it and as a person writes it:
//! `{ compare: number, tolerance: 0.01 }`.

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};

/// The default relative tolerance of numbers: no decimal number of fewer than nine digits equals another.
pub const DEFAULT_RELATIVE: f64 = 1e-9;
/// The default for the least similarity of texts.
pub const DEFAULT_LEAST: f64 = 0.9;

/// How two values are compared. Null equals null alone, in every kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "compare", rename_all = "snake_case")]
pub enum ComparisonKind {
    /// Texts are the same if they are equal after normalisation (NFKC), with white space collapsed and without regard
    /// to case; numbers if their values are equal; anything else if the JSON is equal.
    Exact,
    /// Numbers, and texts that consist of one number, with a currency at most. They may differ by the larger of
    /// `tolerance` and `relative` times the larger absolute value. Other values: see [`ComparisonKind::Exact`]. A text
    /// that may be two numbers (`1,234`) is none, nor is one with a unit or a percent sign.
    Number {
        /// The absolute tolerance, in the unit of the field; at least 0.
        tolerance: f64,
        /// The tolerance as a share of the number, from 0 up; by default [`DEFAULT_RELATIVE`].
        relative: f64,
    },
    /// Days: ISO dates, RFC 3339 (the time of day is ignored), and dates as people write them, such as `3 May 2027` or
    /// `03.05.2027`, if only one date can be meant. Other texts are compared as [`ComparisonKind::Exact`].
    Date,
    /// One of some known words, compared as [`ComparisonKind::Exact`].
    OneOf,
    /// Letters and digits alone are compared, without regard to case: `DE-12 34` is `de1234`.
    Identifier,
    /// Words in their order, without regard to case and punctuation: twice the words of the longest common subsequence,
    /// divided by the words of both texts (the `ratio` of Python's `difflib`). A number is one word, so that a long
    /// text may count as right although one of its numbers is wrong.
    Text {
        /// The least similarity of a right text, in 0..=1; by default [`DEFAULT_LEAST`].
        least: f64,
    },
    /// The field and everything below it is not compared.
    Ignored,
}

impl ComparisonKind {
    /// Numbers that are the same except for rounding.
    pub const NUMBER: Self = Self::Number { tolerance: 0.0, relative: DEFAULT_RELATIVE };
    /// Texts with the usual least similarity.
    pub const TEXT: Self = Self::Text { least: DEFAULT_LEAST };
}

/// A rule that a person wrote for a field.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "WrittenRule")]
pub struct FieldRule {
    /// How the values of the field are compared.
    pub kind: ComparisonKind,
    /// Whether a judge is asked about values that `kind` doesn't find right. For texts the judge is always asked.
    pub judge: bool,
}

/// Serializes the rule as a person writes it.
impl Serialize for FieldRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let name = match self.kind {
            ComparisonKind::Exact => "exact",
            ComparisonKind::Number { .. } => "number",
            ComparisonKind::Date => "date",
            ComparisonKind::OneOf => "one_of",
            ComparisonKind::Identifier => "identifier",
            ComparisonKind::Text { .. } => "text",
            ComparisonKind::Ignored => "ignored",
        };
        map.serialize_entry("compare", name)?;
        match self.kind {
            ComparisonKind::Number { tolerance, relative } => {
                map.serialize_entry("tolerance", &tolerance)?;
                map.serialize_entry("relative", &relative)?;
            }
            ComparisonKind::Text { least } => map.serialize_entry("least", &least)?,
            ComparisonKind::Exact
            | ComparisonKind::Date
            | ComparisonKind::OneOf
            | ComparisonKind::Identifier
            | ComparisonKind::Ignored => {}
        }
        if self.judge {
            map.serialize_entry("judge", &true)?;
        }
        map.end()
    }
}

/// An error in a rule. Each message is a sentence for the person who wrote the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldRuleError {
    /// A key that its kind of comparison doesn't use.
    #[error("'{0}' has a meaning with 'compare: {1}' only")]
    OtherKind(&'static str, &'static str),
    /// A tolerance below 0, or an infinite one.
    #[error("'{0}' is a number from 0 up")]
    Tolerance(&'static str),
    /// A similarity outside of 0..=1.
    #[error("'least' is a number between 0 and 1")]
    Least,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    compare: WrittenKind,
    tolerance: Option<f64>,
    relative: Option<f64>,
    least: Option<f64>,
    #[serde(default)]
    judge: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenKind {
    Exact,
    Number,
    Date,
    OneOf,
    Identifier,
    Text,
    Ignored,
}

impl TryFrom<WrittenRule> for FieldRule {
    type Error = FieldRuleError;

    fn try_from(written: WrittenRule) -> Result<Self, FieldRuleError> {
        let WrittenRule { compare, tolerance, relative, least, judge } = written;
        for (key, value) in [("tolerance", tolerance), ("relative", relative)] {
            if value.is_some() && compare != WrittenKind::Number {
                return Err(FieldRuleError::OtherKind(key, "number"));
            }
            if value.is_some_and(|value| !value.is_finite() || value < 0.0) {
                return Err(FieldRuleError::Tolerance(key));
            }
        }
        if least.is_some() && compare != WrittenKind::Text {
            return Err(FieldRuleError::OtherKind("least", "text"));
        }
        if least.is_some_and(|least| !(0.0..=1.0).contains(&least)) {
            return Err(FieldRuleError::Least);
        }
        let kind = match compare {
            WrittenKind::Exact => ComparisonKind::Exact,
            WrittenKind::Number => ComparisonKind::Number {
                tolerance: tolerance.unwrap_or_default(),
                relative: relative.unwrap_or(DEFAULT_RELATIVE),
            },
            WrittenKind::Date => ComparisonKind::Date,
            WrittenKind::OneOf => ComparisonKind::OneOf,
            WrittenKind::Identifier => ComparisonKind::Identifier,
            WrittenKind::Text => ComparisonKind::Text { least: least.unwrap_or(DEFAULT_LEAST) },
            WrittenKind::Ignored => ComparisonKind::Ignored,
        };
        Ok(Self { kind, judge })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn rules_are_read_as_they_are_written() {
        let written = r#"
"$.terms[*].rent": { compare: number, tolerance: 0.01 }
"$.purpose": { compare: text, least: 0.8 }
"$.clause": { compare: text, judge: true }
"$.remark": { compare: ignored }
"$.tenant": { compare: exact }
"$.start": { compare: date }
"$.currency": { compare: one_of }
"$.iban": { compare: identifier }
"#;
        let rules: BTreeMap<String, FieldRule> = serde_yaml::from_str(written).unwrap();
        let rule = |kind| FieldRule { kind, judge: false };
        let expected = [
            ("$.clause", FieldRule { kind: ComparisonKind::TEXT, judge: true }),
            ("$.currency", rule(ComparisonKind::OneOf)),
            ("$.iban", rule(ComparisonKind::Identifier)),
            ("$.purpose", rule(ComparisonKind::Text { least: 0.8 })),
            ("$.remark", rule(ComparisonKind::Ignored)),
            ("$.start", rule(ComparisonKind::Date)),
            ("$.tenant", rule(ComparisonKind::Exact)),
            ("$.terms[*].rent", rule(ComparisonKind::Number { tolerance: 0.01, relative: DEFAULT_RELATIVE })),
        ];
        assert_eq!(rules, BTreeMap::from(expected.map(|(path, rule)| (path.to_owned(), rule))));
    }

    #[test]
    fn a_rule_that_says_nothing_is_refused() {
        for (written, why) in [
            ("{ compare: date, tolerance: 1 }", "'tolerance' has a meaning with 'compare: number' only"),
            ("{ compare: exact, relative: 1 }", "'relative' has a meaning with 'compare: number' only"),
            ("{ compare: number, least: 0.5 }", "'least' has a meaning with 'compare: text' only"),
            ("{ compare: number, tolerance: -1 }", "'tolerance' is a number from 0 up"),
            ("{ compare: text, least: 1.5 }", "'least' is a number between 0 and 1"),
            ("{ compare: text, most: 1 }", "unknown field `most`"),
            ("{ compare: fuzzy }", "unknown variant `fuzzy`"),
            ("{ tolerance: 1 }", "missing field `compare`"),
        ] {
            let refused = serde_yaml::from_str::<FieldRule>(written).unwrap_err().to_string();
            assert!(refused.contains(why), "{written}: {refused}");
        }
    }

    #[test]
    fn a_kind_is_told_as_it_is_written() {
        let kinds = [ComparisonKind::Number { tolerance: 0.5, relative: 0.0 }, ComparisonKind::OneOf];
        let told = serde_json::to_string(&kinds).unwrap();
        assert_eq!(told, r#"[{"compare":"number","tolerance":0.5,"relative":0.0},{"compare":"one_of"}]"#);
    }
}
