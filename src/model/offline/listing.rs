//! The list of documents, as the rules see it and ask for it, part by part.

use super::calls::{Call, call};
use regex::Regex;
use serde_json::json;
use std::sync::LazyLock;

/// Parts that are asked for in one reply.
const PARTS_AT_ONCE: u64 = 8;

/// A document as `list_documents` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) units: u64,
    pub(super) tokens: u64,
    /// What of it is not read, as the list says it: `page 3: damaged`.
    pub(super) not_read: Vec<String>,
    /// What of it was recognised in images: `pages 3-7`.
    pub(super) recognised: Vec<String>,
}

/// What of a list was not shown yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rest {
    from: u64,
    /// Documents of the shortest part that was shown.
    part: u64,
    count: u64,
}

impl Rest {
    /// Whether nothing was shown.
    pub(super) fn is_all(self) -> bool {
        self.from == 1
    }

    /// The calls that show more of it. A list of thousands takes dozens of them: several are made in one reply.
    pub(super) fn calls(self) -> Vec<Call> {
        if self.is_all() {
            return vec![call("list_documents", json!({}))];
        }
        let parts =
            (0..PARTS_AT_ONCE).map(|at| self.from + at * self.part.max(1)).take_while(|&from| from <= self.count);
        parts.map(|from| call("list_documents", json!({"from": from}))).collect()
    }
}

/// The documents of a list that `answers` show part by part; or what of it was not shown yet.
pub(super) fn listing<'a>(answers: impl Iterator<Item = &'a str>) -> Result<Vec<Listed>, Rest> {
    static HEAD: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^(\d+) documents, about \d+ tokens(?:; here (\d+) to (\d+))?:").ok());
    let part = |text: &'a str| {
        let head = HEAD.as_ref()?.captures(text)?;
        let number = |at: usize| head.get(at).and_then(|number| number.as_str().parse::<u64>().ok());
        let count = number(1)?;
        Some((number(2).unwrap_or(1), number(3).unwrap_or(count), count, text))
    };
    let mut parts: Vec<_> = answers.filter_map(part).collect();
    parts.sort_by_key(|&(from, ..)| from);
    let Some(&(_, _, count, _)) = parts.first() else { return Err(Rest { from: 1, part: 1, count: 1 }) };
    let shortest = parts.iter().filter(|(_, to, ..)| *to < count).map(|(from, to, ..)| to - from + 1).min();
    let mut documents = Vec::new();
    let mut next = 1;
    for (from, to, _, text) in parts {
        if (from..=to).contains(&next) {
            let already = usize::try_from(next - from).unwrap_or(usize::MAX);
            documents.extend(listed(text).into_iter().skip(already));
            next = to + 1;
        }
    }
    if next > count { Ok(documents) } else { Err(Rest { from: next, part: shortest.unwrap_or(1), count }) }
}

/// The documents of a part of a list.
fn listed(text: &str) -> Vec<Listed> {
    static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?m)^(.+) \([A-Za-z ]+, (\d+) (?:page|line)s, about (\d+) tokens, \d+ % read\)(?: \[(.*)\])?$")
            .ok()
    });
    let Some(line) = LINE.as_ref() else {
        return Vec::new();
    };
    line.captures_iter(text)
        .filter_map(|found| {
            let parts: Vec<&str> = found.get(4).map_or_else(Vec::new, |parts| parts.as_str().split("; ").collect());
            let told =
                |of: fn(&str) -> Option<&str>| parts.iter().filter_map(|part| of(part)).map(str::to_owned).collect();
            Some(Listed {
                name: found[1].to_owned(),
                units: found[2].parse().ok()?,
                tokens: found[3].parse().ok()?,
                not_read: told(|part| part.strip_prefix("not read: ")),
                recognised: told(|part| part.strip_suffix(" recognised by OCR")),
            })
        })
        .collect()
}
