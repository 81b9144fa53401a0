//! The key sentences of a text: those whose words are frequent in it.

use super::blocks::{TextBlock, TextBlockKind};
use super::sentences::sentences;
use std::{collections::HashMap, ops::Range};

/// The lengths of sentences that are chosen, in letters.
const LETTERS: Range<usize> = 40..600;

/// At most `most` sentences, in the order of the text; short and endless ones only where there are no others.
pub(super) fn key_sentences(text: &str, blocks: &[TextBlock], most: usize) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for block in blocks.iter().filter(|block| block.kind != TextBlockKind::Heading) {
        let (start, parts) = (block.range.start, sentences(&text[block.range.clone()]));
        all.extend(parts.into_iter().map(|part| start + part.start..start + part.end));
    }
    let mut frequency: HashMap<String, f64> = HashMap::new();
    for range in &all {
        words(&text[range.clone()]).for_each(|word| *frequency.entry(word).or_default() += 1.0);
    }
    let score = |range: &Range<usize>| {
        let counts = words(&text[range.clone()]).map(|word| frequency[&word]);
        let (sum, count) = counts.fold((0.0, 1.0), |(sum, count), one| (sum + one, count + 1.0));
        let is_whole = text[range.clone()].ends_with(['.', '!', '?']) && LETTERS.contains(&range.len());
        (is_whole, sum / f64::sqrt(count))
    };
    let mut ranked: Vec<_> = all.into_iter().map(|range| (score(&range), range)).collect();
    ranked.retain(|((_, score), range)| *score > 0.0 && range.len() < 4 * LETTERS.end);
    ranked.sort_by(|a, b| b.0.0.cmp(&a.0.0).then(b.0.1.total_cmp(&a.0.1)).then(a.1.start.cmp(&b.1.start)));
    let mut chosen: Vec<_> = ranked.into_iter().take(most).map(|(_, range)| range).collect();
    chosen.sort_by_key(|range| range.start);
    chosen
}

/// Words that say something about their text, in small letters.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| word.chars().count() > 2 && !is_common(word))
}

pub(super) fn is_common(word: &str) -> bool {
    COMMON.split(' ').any(|common| common == word)
}

/// Words of any English text.
const COMMON: &str = "\
    at by if in is it no of on or so to about above after again all also although and any are because been before \
    being below between both but can could did does during each either every for from had has have her here him his \
    how however into its itself less may might more most must neither never nobody none nor not nothing only other \
    our out over own per recommended required same shall she should since some such than that the their them then \
    there these they this those though through too under until upon very was were what when where whether which \
    while who whom whose why will with within without would you your";
