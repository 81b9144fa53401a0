//! Pages with all that is to be found on them.

use crate::model::offline::statements::{Line, Start, Style, statements};

fn paged<'a>(pages: &[&'a str]) -> Vec<Line<'a>> {
    let of = |(page, text): (u64, &'a str)| {
        (1..).zip(text.lines()).map(move |(number, text)| Line {
            number: page * 1_000 + number,
            page: Some(page),
            text,
        })
    };
    (1..).zip(pages.iter().copied()).flat_map(of).collect()
}

/// Pages as a converter writes them: no indentation, few blank lines.
#[test]
fn a_number_over_its_note_is_no_part_of_the_sentence() {
    let foot = "The clerk must sign the book\n\nThe clerk looks at each of the volumes in order to see whether it is for\n13\n\nthough this is not recommended on a Sunday.\n\n9";
    let found = statements(&paged(&["Doors\n\n8", foot, "Doors\n\n10"]), Style::Plain, &Start::default());
    assert_eq!(
        found.statements.iter().map(|s| s.quote.as_str()).collect::<Vec<_>>(),
        ["The clerk must sign the book", "though this is not recommended on a Sunday."]
    );
}

#[test]
fn typeset_text_is_read_by_where_its_lines_end() {
    let cases: &[(&str, &[&str])] = &[
        (
            "Opening hours\nThe archive must be open on each day of the week.\nReaders\nEach reader may take one volume of the series home\nfor a week.\nstaff\nMembers of the staff should not take any of them home.",
            &[
                "The archive must be open on each day of the week.",
                "Each reader may take one volume of the series home for a week.",
                "Members of the staff should not take any of them home.",
            ],
        ),
        (
            "You may want to list what is in it before you begin:\n$ ls --all /srv/archive\nWhat is listed there must not be changed by hand.\n#!/bin/sh\n# Nobody must run this.\nexit 1",
            &[
                "You may want to list what is in it before you begin:",
                "What is listed there must not be changed by hand.",
            ],
        ),
        (
            "Table 3.1: What each of the volumes of the series is about\nEach volume must be about one subject alone.",
            &["Each volume must be about one subject alone."],
        ),
        (
            "- The clerk closes the door, the number of which must be\n0. The number of the next door may well be higher by one, and\n\nso on until the last of them has been closed by the clerk.",
            &[
                "The clerk closes the door, the number of which must be 0.",
                "The number of the next door may well be higher by one, and so on until the last of them has been closed by the clerk.",
            ],
        ),
        (
            "Warning: A door that is open must be watched. Note The\nguard must watch it. He said ”It must. It may.” and left.",
            &["A door that is open must be watched.", "The guard must watch it."],
        ),
        (
            "Each of these is required:\n\n- a key\n\nThe key is made of brass.\n\n- a lock\n\nOther parts are these.\n\nThey are not in the box.\n\n- a rope",
            &["a key", "a lock"],
        ),
    ];
    for (text, expected) in cases {
        let found = statements(&paged(&[text]), Style::Plain, &Start::default());
        assert_eq!(found.statements.iter().map(|s| s.quote.as_str()).collect::<Vec<_>>(), *expected, "{text}");
    }
    let book = "The signs which the clerk may write down are: \".\" and \"+\". The archive is\nopen, and its clerk is there each day of the week, from eight until the\n\n3 The one in the town must be open too.\n\n7";
    let found = statements(&paged(&[book, "bell rings."]), Style::Plain, &Start::default());
    assert_eq!(
        found.statements.iter().map(|s| s.quote.as_str()).collect::<Vec<_>>(),
        ["The signs which the clerk may write down are: \".\" and \"+\".", "The one in the town must be open too."]
    );
}
