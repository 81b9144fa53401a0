//! The table as a list of the models that it names.

use super::{ModelTable, Quirks, TableEntry, said, shipped};
use chrono::NaiveDate;
use std::collections::BTreeSet;

/// A model named in the table, and the facts that apply to it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedModel {
    /// Its name; with `*` if the names of its versions begin like this.
    pub pattern: String,
    pub quirks: Quirks,
    /// The fields that the user's table sets for it, in alphabetical order.
    pub overridden: Vec<String>,
}

/// The models whose names contain `word`, or the one with exactly that name; without a word, all of them. The list has
/// the models for which the shipped table states a price or the retirement, and all of the user's.
pub fn listed(word: Option<&str>, user: Option<&ModelTable>, today: NaiveDate) -> Vec<ListedModel> {
    let shipped = &shipped().entries;
    let users: &[TableEntry] = user.map_or(&[], |table| &table.entries);
    let all: Vec<&TableEntry> = shipped.iter().chain(users).collect();
    let word = word.unwrap_or_default().to_lowercase();
    // An entry applies to the name made from its own pattern, even if no model has that name.
    let model = |pattern: String, own: Option<usize>| {
        let name = pattern.replace('*', "");
        let holds = |(at, entry): &(usize, &&TableEntry)| Some(*at) == own || entry.matches.is_match(&name);
        let known = said(all.iter().enumerate().filter(holds).map(|(_, entry)| *entry), today);
        let theirs = all.iter().enumerate().filter(holds).skip_while(|(at, _)| *at < shipped.len());
        let overridden: BTreeSet<String> = theirs.flat_map(|(_, entry)| entry.fields.clone()).collect();
        (known.has_window, ListedModel { pattern, quirks: known.quirks, overridden: overridden.into_iter().collect() })
    };
    let mut models = Vec::new();
    let mut names = BTreeSet::new();
    for (place, entry) in all.iter().enumerate() {
        if place < shipped.len() && entry.says.prices.is_none() && entry.says.retires.is_none() {
            continue;
        }
        for pattern in expanded(entry.matches.glob().glob()) {
            if pattern.contains(&word) && names.insert(pattern.trim_end_matches('*').to_owned()) {
                models.push(model(pattern, Some(place)).1);
            }
        }
    }
    if models.is_empty() {
        let (is_known, only) = model(word, None);
        models.extend(is_known.then_some(only));
    }
    models
}

/// One pattern without braces for each alternative in them, except for later alternatives with a `*`: those are
/// versions of the same model.
fn expanded(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let (mut depth, mut alternatives) = (0_u32, vec![String::new()]);
    let mut letters = rest.chars();
    for letter in letters.by_ref() {
        match letter {
            '}' if depth == 0 => break,
            ',' if depth == 0 => {
                alternatives.push(String::new());
                continue;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        alternatives.last_mut().into_iter().for_each(|one| one.push(letter));
    }
    let named = alternatives.iter().enumerate().filter(|(place, one)| *place == 0 || !one.contains('*'));
    named.flat_map(|(_, one)| expanded(&format!("{before}{one}{}", letters.as_str()))).collect()
}
