#![expect(clippy::cast_precision_loss, reason = "numbers of records and tokens are small")]

use super::*;
use proptest::prelude::*;

fn span(document: &str, start: u64, end: u64) -> QuoteSpan {
    QuoteSpan { document: document.to_owned(), start, end }
}

fn spans(places: &[(u64, u64)]) -> Vec<QuoteSpan> {
    places.iter().map(|&(start, end)| span("a.md", start, end)).collect()
}

fn pairs(pairs: &[(usize, usize)]) -> Alignment {
    Alignment { pairs: pairs.to_vec(), ..Alignment::default() }
}

#[test]
fn records_are_the_same_where_their_quotes_share_half_of_the_shorter() {
    let first = [span("a.md", 100, 120), span("a.md", 0, 20), span("b.md", 0, 20)];
    let second = [span("a.md", 10, 30), span("a.md", 111, 140), span("c.md", 0, 20)];
    let expected = Alignment { only_first: vec![0, 2], only_second: vec![1, 2], ..pairs(&[(1, 0)]) };
    assert_eq!(align(&first, &second), expected);
}

#[test]
fn as_many_records_of_one_place_are_paired() {
    // Three of one sentence, in the order of the lists.
    let same = spans(&[(5, 30); 3]);
    assert_eq!(align(&same, &same), pairs(&[(0, 0), (1, 1), (2, 2)]));
    // The pair that shares most would leave two without a partner.
    let (first, second) = (spans(&[(0, 20), (10, 40)]), spans(&[(10, 30), (30, 40)]));
    assert_eq!(align(&first, &second), pairs(&[(0, 0), (1, 1)]));
    // Paired in order they would share 40 characters, like this 105.
    let (first, second) = (spans(&[(0, 100), (10, 20)]), spans(&[(0, 30), (5, 105)]));
    assert_eq!(align(&first, &second), pairs(&[(0, 1), (1, 0)]));
}

#[test]
fn of_more_records_than_the_other_reader_has_there_none_is_missed() {
    // One reader quotes a paragraph, the other its three sentences.
    let (first, second) = (spans(&[(0, 90), (500, 510)]), spans(&[(0, 30), (30, 70), (70, 90)]));
    let group = AmbiguousGroup { first: vec![0], second: vec![0, 1, 2] };
    let expected = Alignment { only_first: vec![1], ambiguous: vec![group], ..pairs(&[(0, 1)]) };
    assert_eq!(align(&first, &second), expected);
}

/// Neither 20,000 different places nor 20,000 records of one place, nor a quote around them all, takes long.
#[test]
fn long_lists_are_aligned() {
    let apart: Vec<(u64, u64)> = (0..20_000).map(|number| (number * 30, number * 30 + 50)).collect();
    let one_to_one: Vec<(usize, usize)> = (0..20_000).map(|number| (number, number)).collect();
    assert_eq!(align(&spans(&apart), &spans(&apart)).pairs, one_to_one);
    let same = spans(&vec![(5, 30); 20_000]);
    assert_eq!(align(&same, &same).pairs, one_to_one);
    let around = align(&spans(&[(0, 600_050)]), &spans(&apart));
    assert_eq!((around.pairs, around.ambiguous[0].second.len()), (vec![(0, 0)], 20_000));
}

/// The records left over on each side.
fn left_over(alignment: &Alignment) -> [Vec<usize>; 2] {
    let is_paired = |side: usize, record: usize| alignment.pairs.iter().any(|&(a, b)| [a, b][side] == record);
    [0, 1].map(|side| {
        let of_group = |group: &AmbiguousGroup| [group.first.clone(), group.second.clone()][side].clone();
        let members = alignment.ambiguous.iter().flat_map(of_group);
        members.filter(|&record| !is_paired(side, record)).collect()
    })
}

fn are_candidates(one: &QuoteSpan, other: &QuoteSpan) -> bool {
    let shared = one.end.min(other.end).saturating_sub(one.start.max(other.start));
    one.document == other.document && shared > 0 && 2 * shared >= (one.end - one.start).min(other.end - other.start)
}

fn list() -> impl Strategy<Value = Vec<QuoteSpan>> {
    let one =
        ("[ab]", 0_u64..30, 1_u64..12).prop_map(|(document, start, length)| span(&document, start, start + length));
    prop::collection::vec(one, 0..14)
}

proptest! {
    #[test]
    fn every_record_is_in_one_place(first in list(), second in list()) {
        let found = align(&first, &second);
        let [first_left, second_left] = left_over(&found);
        let [mut of_first, mut of_second]: [Vec<usize>; 2] = found.pairs.iter().copied().unzip().into();
        of_first.extend(found.only_first.iter().chain(&first_left));
        of_second.extend(found.only_second.iter().chain(&second_left));
        of_first.sort_unstable();
        of_second.sort_unstable();
        prop_assert_eq!(of_first, (0..first.len()).collect::<Vec<_>>());
        prop_assert_eq!(of_second, (0..second.len()).collect::<Vec<_>>());

        prop_assert!(found.pairs.iter().all(|&(a, b)| are_candidates(&first[a], &second[b])));
        let alone = |records: &[usize], own: &[QuoteSpan], others: &[QuoteSpan]| {
            let has_none = |record: usize| !others.iter().any(|other| are_candidates(&own[record], other));
            records == (0..own.len()).filter(|&record| has_none(record)).collect::<Vec<_>>()
        };
        prop_assert!(alone(&found.only_first, &first, &second) && alone(&found.only_second, &second, &first));
        // Two that could be a pair are not both left over.
        let could_be = |&a: &usize| second_left.iter().any(|&b| are_candidates(&first[a], &second[b]));
        prop_assert!(!first_left.iter().any(could_be));
    }

    #[test]
    fn exchanged_lists_give_the_mirror_image(first in list(), second in list()) {
        let found = align(&first, &second);
        let mut mirrored = Alignment {
            pairs: found.pairs.iter().map(|&(a, b)| (b, a)).collect(),
            only_first: found.only_second,
            only_second: found.only_first,
            ambiguous: found.ambiguous.into_iter().map(|group| AmbiguousGroup { first: group.second, second: group.first }).collect(),
        };
        mirrored.pairs.sort_unstable();
        prop_assert_eq!(align(&second, &first), mirrored);
    }

    #[test]
    fn a_list_is_the_same_as_itself(list in list()) {
        let all: Vec<(usize, usize)> = (0..list.len()).map(|number| (number, number)).collect();
        prop_assert_eq!(align(&list, &list), pairs(&all));
    }

    #[test]
    fn an_estimate_is_in_its_interval(first in 0_u64..3000, second in 0_u64..3000, both in 0_u64..3000) {
        let both = both.min(first).min(second);
        let RecordEstimate { records, low, high } = chapman(first, second, both);
        prop_assert!(low <= records && records <= high, "{low} {records} {high}");
        prop_assert!(low >= (first + second - both) as f64);
    }
}

#[test]
fn all_records_are_estimated() {
    let rounded = |first, second, both| {
        let RecordEstimate { records, low, high } = chapman(first, second, both);
        [records, low, high].map(|number| format!("{number:.2}"))
    };
    assert_eq!(rounded(50, 52, 42), ["61.86", "60.00", "65.06"]);
    assert_eq!(rounded(200, 150, 60), ["496.56", "416.76", "576.36"]);
    assert_eq!(rounded(0, 0, 0), ["0.00", "0.00", "0.00"]);
    assert_eq!(rounded(7, 7, 7), ["7.00", "7.00", "7.00"]);
    assert_eq!(rounded(3, 4, 0), ["19.00", "7.00", "40.47"]);
}

fn document(name: &str, units: u64, tokens: u64) -> DocumentEntry {
    DocumentEntry {
        name: name.to_owned(),
        sha256: String::new(),
        bytes: 0,
        dated: None,
        format: "markdown".to_owned(),
        paged: true,
        units,
        tokens,
        text_sha256: String::new(),
        reader: String::new(),
        gaps: Vec::new(),
        unreadable: Vec::new(),
        recognised: Vec::new(),
        notes: Vec::new(),
        scan_sha256: None,
    }
}

#[test]
fn units_are_whole_pages_and_are_drawn_by_the_seed() {
    let documents = [document("a.md", 10, 1000), document("b.md", 3, 200), document("c.md", 2, 901)];
    let shown = |units: &[ReadUnit]| {
        let one = |unit: &ReadUnit| format!("{} {}-{} {}", unit.document, unit.from, unit.to, unit.tokens);
        units.iter().map(one).collect::<Vec<_>>()
    };
    let all = units(&documents, 250, 1.0, 1);
    let expected = [
        "a.md 1-2 200",
        "a.md 3-4 200",
        "a.md 5-6 200",
        "a.md 7-8 200",
        "a.md 9-10 200",
        "b.md 1-3 200",
        "c.md 1-1 450",
        "c.md 2-2 451",
    ];
    assert_eq!(shown(&all), expected);
    assert_eq!(shown(&units(&documents, 5000, 1.0, 1)), ["a.md 1-10 1000", "b.md 1-3 200", "c.md 1-2 901"]);
    // Another generator of random numbers would draw others.
    assert_eq!(shown(&units(&documents, 250, 0.3, 7)), ["b.md 1-3 200", "c.md 1-1 450"]);
    assert_eq!(shown(&units(&documents, 250, 0.0, 7)), ["b.md 1-3 200"]);
    assert!(units(&[], 250, 0.3, 7).is_empty());
}

proptest! {
    #[test]
    fn units_have_all_tokens_and_draws_their_share(
        sizes in prop::collection::vec((1_u64..40, 0_u64..5000), 1..6),
        most in 0_u64..2000,
        share in 0.0_f64..1.0,
        seed in any::<u64>(),
    ) {
        let named = |(number, &(units, tokens)): (usize, &(u64, u64))| document(&format!("{number}.md"), units, tokens);
        let documents: Vec<DocumentEntry> = sizes.iter().enumerate().map(named).collect();
        let all = units(&documents, most, 1.0, seed);
        for document in &documents {
            let own: Vec<&ReadUnit> = all.iter().filter(|unit| unit.document == document.name).collect();
            let pages: Vec<u64> = own.iter().flat_map(|unit| unit.from..=unit.to).collect();
            // Where there is no text, nothing is read.
            let with_text = if document.tokens > 0 { document.units } else { 0 };
            prop_assert_eq!(pages, (1..=with_text).collect::<Vec<_>>());
            prop_assert_eq!(own.iter().map(|unit| unit.tokens).sum::<u64>(), document.tokens);
            prop_assert!(own.iter().all(|unit| unit.tokens <= most || unit.from == unit.to));
        }

        let drawn = units(&documents, most, share, seed);
        let tokens = |units: &[ReadUnit]| units.iter().map(|unit| unit.tokens).sum::<u64>();
        let wanted = share * tokens(&all) as f64;
        let mut rest = all.iter();
        prop_assert_eq!(drawn.is_empty(), all.is_empty());
        prop_assert!(drawn.iter().all(|unit| rest.any(|other| other == unit)), "in order");
        prop_assert!(tokens(&drawn) as f64 >= wanted);
        // All units but one were not enough.
        let largest = drawn.iter().map(|unit| unit.tokens).max().unwrap_or(0);
        prop_assert!(drawn.len() <= 1 || ((tokens(&drawn) - largest) as f64) < wanted);
    }
}
