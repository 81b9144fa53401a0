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

fn quotes(pages: &[&str]) -> Vec<String> {
    let found = statements(&paged(pages), Style::Plain, &Start::default());
    found.statements.into_iter().map(|statement| statement.quote).collect()
}

#[test]
fn the_number_of_the_next_page_s_section_is_no_part_of_a_sentence() {
    let pages = [
        "Doors\nThe clerk must sign the book of the day\nand close the door",
        "Doors\n7.2\nWindows\nWindows may stay open.",
    ];
    let found = statements(&paged(&pages), Style::Plain, &Start::default());
    assert_eq!(
        found.statements.iter().map(|s| s.quote.as_str()).collect::<Vec<_>>(),
        ["The clerk must sign the book of the day and close the door", "Windows may stay open."]
    );
}

/// Pages as a converter writes them: no indentation, few blank lines.
#[test]
fn a_number_over_its_note_is_no_part_of_the_sentence() {
    let foot = "The clerk must sign the book\n\nThe clerk looks at each of the volumes in order to see whether it is for\n13\n\nthough this is not recommended on a Sunday.\n\n9";
    assert_eq!(
        quotes(&["Doors\n\n8", foot, "Doors\n\n10"]),
        ["The clerk must sign the book", "though this is not recommended on a Sunday."]
    );
}

#[test]
fn a_section_with_the_next_number_is_no_note() {
    let before =
        "All the keys of the house are kept by the clerk.19\nMost of them hang there.\n\n19 Some clerks say otherwise.";
    let section = "Doors are shut.\n\n20 Rules for the users\n\n20.1 Changing keys\n\nEvery user must give back the old key.\n\nAnd so on.";
    let noted = "Doors are shut.20\n\n20 Rules for all users\n\nEvery user must give back the old key.\n\n20 The reader must ask the clerk.";
    let told = "Every user must give back the old key.";
    assert_eq!(quotes(&[before, section]), [told]);
    assert_eq!(quotes(&[before, noted]), [told, "The reader must ask the clerk."]);
}

/// The columns of a table, each written down from its top: none of its numbers opens a note.
#[test]
fn numbers_of_a_table_are_no_notes() {
    let table =
        "The intents are given as numbers (0 for one, 1 for the other)\n\nOne\n\n0\n0\n0\n\n1\n1\n1\n\n0\n0\n\n";
    let text = "where the first item must be the key word of the object, and\nthe second is the file.";
    let page = format!("{table}{text}");
    assert_eq!(
        quotes(&["Doors", &page, "Windows"]),
        ["where the first item must be the key word of the object, and the second is the file."]
    );
}

#[test]
fn a_sentence_that_cannot_end_with_its_page_goes_on_with_a_capital() {
    let text = "The archive has rooms for many sorts of things, and most of its clerks have seen them all.\n\
                Ideally nobody should have to know where each of them is, although a word on\n";
    let rest = "Fridays is of use to all of them.\n";
    let whole = "Ideally nobody should have to know where each of them is, although a word on Fridays is of use to all of \
                 them.";
    assert_eq!(quotes(&[text, rest]), [whole]);
}

/// The line before the title was cut off by the page's edge, without a full stop.
#[test]
fn a_section_begins_anew() {
    let page = "The keeper shall not be bound by any words on the doors that he did not\nSection 8 – Interpretation.\nThe keys must be kept as said in\nSection 4 of the rules.";
    assert_eq!(
        quotes(&["Doors", page]),
        [
            "The keeper shall not be bound by any words on the doors that he did not",
            "The keys must be kept as said in Section 4 of the rules."
        ]
    );
}

/// The first line is as long as a line can be: the names below stand alone all the same.
#[test]
fn a_name_over_its_text_is_no_part_of_the_sentence_before_it() {
    let page = "Only of doors in the house. A door must have a list of the names, with\nblanks between them, of the keys that open it from the street. For each\nof the doors that are open, the clerk must write down one key's number.\ndoor_width\nonly of doors that are green. it must be a number that can be divided\nby four.\n\nThe number of the key says how the keeper must read the whole number:\nnumber\n\n7";
    assert_eq!(
        quotes(&["Doors", page]),
        [
            "A door must have a list of the names, with blanks between them, of the keys that open it from the street.",
            "For each of the doors that are open, the clerk must write down one key's number.",
            "it must be a number that can be divided by four.",
            "The number of the key says how the keeper must read the whole number:"
        ]
    );
}

/// Blank lines part a command from both halves of its sentence. What stands over the options of a list is one of them.
#[test]
fn a_sentence_goes_on_behind_its_display() {
    let page = "Doors are opened by the command line option\n\n-dOpen = 0 / 1 / 2\n\nwhich sets how far they may be opened by those who\ncome in.\n\nThe options are\n\n-a\n\nopens all of the doors\n\n-b\n\nmay shut some of the doors\n\n-c\n\nrings the bell and waits\n\nJob expenses\n\nF2106 \\ N390\n\ncost of the keys, if you must wear them.";
    assert_eq!(
        quotes(&["Doors", page]),
        [
            "Doors are opened by the command line option -dOpen = 0 / 1 / 2 which sets how far they may be opened by those who come in.",
            "may shut some of the doors",
            "cost of the keys, if you must wear them."
        ]
    );
}

#[test]
fn what_is_typed_is_no_part_of_the_sentence_over_it() {
    let page = "Whoever comes into the house by another way than by the street door must be seen.\n8. Open the door (a key may be required before opening it)\nsudo open door-uspace\n\nTo close all the doors, you may need to run these two commands in the cellar:\nclose doors on\nservice doors start\n\nFor other doors the clerk, who has a list of them, must include the file doors.fmt.\n%include doors.fmt\n\nIf the list of doors should be written to a file of another name, then the command is\nls -o doors.txt\nThe second example is of a longer list of doors.";
    assert_eq!(
        quotes(&["Doors", page]),
        [
            "Whoever comes into the house by another way than by the street door must be seen.",
            "Open the door (a key may be required before opening it)",
            "To close all the doors, you may need to run these two commands in the cellar:",
            "For other doors the clerk, who has a list of them, must include the file doors.fmt.",
            "If the list of doors should be written to a file of another name, then the command is"
        ]
    );
}

#[test]
fn a_long_call_is_no_part_of_the_sentence_over_it() {
    let page = "Dense matrices are kept in the usual order of columns. To create one of dimensions m by n, a user should call\n\
                MatCreateSeqDense(PETSC_COMM_SELF,PetscInt m,PetscInt n,PetscScalar *data,Mat *A);\n\n\
                To create one that is kept in parallel by several processes of the machine, a user should call one with\n\
                MatCreateDense(MPI_Comm comm,PetscInt m,PetscInt n,PetscInt M,PetscInt N,PetscScalar\n\
                ,→*data,Mat *A)\n\n\
                Most users should merely set the data to nothing, so that the library may control the memory.\n";
    assert_eq!(
        quotes(&[page]),
        [
            "To create one of dimensions m by n, a user should call",
            "To create one that is kept in parallel by several processes of the machine, a user should call one with",
            "Most users should merely set the data to nothing, so that the library may control the memory.",
        ]
    );
}

/// The quote check reads "Furthermore" over the blank line too.
#[test]
fn a_word_broken_before_a_blank_line_goes_on() {
    let page = "Some doors are here.\n\nFur-\n\nthermore, you must decide on the number of doors.";
    assert_eq!(quotes(&["Doors", page]), ["Furthermore, you must decide on the number of doors."]);
}

/// A line may begin with a mark of a comparison.
#[test]
fn what_is_greater_is_no_quotation() {
    let page = "The best key (maxaccept 1) or several of the keys (maxaccept\n> 1) are reported. Output order may vary when using doors. Column\ncontent must vary with the type.";
    assert_eq!(
        quotes(&["Doors", page]),
        ["Output order may vary when using doors.", "Column content must vary with the type."]
    );
}

/// The mark behind "follows", and its number between two blank lines under a list.
#[test]
fn a_number_over_its_note_is_told_by_its_mark() {
    let foot = "The books are written as follows13 :\n• by hand\n• in ink, on all the pages\n13\n\nYou may need a lamp for it, e.g. from a shop\n\n9";
    let next = "To end a book, two lines are drawn under its last\nword, and these are written:\n• The date\n• The name of the clerk";
    assert_eq!(quotes(&["Doors\n\n8", foot, next, "Doors\n\n11"]), ["You may need a lamp for it, e.g. from a shop"]);
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
        // what a line with room for more was written for: an example, a command, code, and the text behind them
        (
            "Each reader of the archive has a card, and the clerk looks at it when the reader comes in and goes out again.\nThe list of the readers should have the following content:\nreaders of the archive and their cards\nIf the list is there, you should now be able to print it by running\nsudo lpr -P clerk ../list.txt\nWhoever prints the list must take it out of the printer before the next reader does so and sees all of it.\ncards() = red | green\nThe red cards must be given back on the day that is printed on them, or on the day before, to the clerk.",
            &[
                "The list of the readers should have the following content:",
                "If the list is there, you should now be able to print it by running",
                "Whoever prints the list must take it out of the printer before the next reader does so and sees all of it.",
                "The red cards must be given back on the day that is printed on them, or on the day before, to the clerk.",
            ],
        ),
        // a command and code behind full lines, and a sentence that goes on behind its example
        (
            "Each reader has a card that is red, or green on the days on which red is not. To print the cards, the clerk should write\nprint-cards -n <reader> cards.txt\nTo print the list of the readers who have one of them or who had one, the clerk may use the program\nprint_list(readers);\nRed cards must be given back on the day that is printed on them, or on the day before, to the clerk, who may keep\nopen(card);\nand each of the others in the drawer.",
            &[
                "To print the cards, the clerk should write",
                "To print the list of the readers who have one of them or who had one, the clerk may use the program",
                "Red cards must be given back on the day that is printed on them, or on the day before, to the clerk, who may keep open(card); and each of the others in the drawer.",
            ],
        ),
        // a sentence over its code, and words of programs in sentences
        (
            "The value must be freed at the end.\nMatRestoreRow(Mat A);\n\nBehind the last of them it must be closed with the pair of commands\nCloseBegin(A,LAST);\nCloseEnd(A,LAST);\n\nThis is strongly discouraged. You should\nuse a shocks block instead.\n\n--version=<version> The version must be that of the card.\n\n• Closed -> Open - The clerk should show the window with HINTS.initial_state being OpenState.\n\nMethods should follow what stands above and should not include the\nclass name. Rationale: they are told apart by the rest, e.g., get_foo_bar().",
            &[
                "The value must be freed at the end.",
                "Behind the last of them it must be closed with the pair of commands",
                "You should use a shocks block instead.",
                "--version=<version> The version must be that of the card.",
                "Closed -> Open - The clerk should show the window with HINTS.initial_state being OpenState.",
                "Methods should follow what stands above and should not include the class name.",
            ],
        ),
        // what leads to the next list stands right under the last item of this one
        (
            "Each reader of the archive has a card, and the clerk looks at it when the reader comes in and goes out again. At\nthe first bell of the day the archive opens, and at the second one it closes; nobody stays there over night. The\nreader may:\n• come in at any time between the first and the second bell of the day.\n• write on paper that the reader has brought along, or that the clerk gives out at the door.\nNobody does this :\n• sleep\n• sing",
            &[
                "come in at any time between the first and the second bell of the day.",
                "write on paper that the reader has brought along, or that the clerk gives out at the door.",
            ],
        ),
        // a word that is broken where a converter parted the paragraph
        (
            "8 This path is that of the standard, which states for the libraries that Applica-\n\ntions may use a single folder under it.",
            &[
                "This path is that of the standard, which states for the libraries that Applications may use a single folder under it.",
            ],
        ),
        // a text that is narrower than the one around
        (
            "Each reader of the archive has a card, and the clerk looks at it when the reader comes in and goes out again.\n\nEach of the readers may take one volume\nof the series home for a week; if not, write to the Free\nArchive of the town, which must answer.",
            &[
                "Each of the readers may take one volume of the series home for a week; if not, write to the Free Archive of the town, which must answer.",
            ],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(quotes(&[text]), *expected, "{text}");
    }
    let foot = "Reports\n\nThe clerk must sign the book of the day and close the door of the archive. If the\n\nChanging Locks on Old Doors\n\n8";
    let found = statements(
        &paged(&[foot, "Reports\n\nclerk is there, the reader must wait.\n\n9"]),
        Style::Plain,
        &Start::default(),
    );
    assert_eq!(
        found.statements.iter().map(|s| s.quote.as_str()).collect::<Vec<_>>(),
        [
            "The clerk must sign the book of the day and close the door of the archive.",
            "clerk is there, the reader must wait."
        ]
    );
    let book = "The signs which the clerk may write down are: \".\" and \"+\". The archive is\nopen, and its clerk is there each day of the week, from eight until the\n\n3 The one in the town must be open too.\n\n7";
    assert_eq!(
        quotes(&[book, "bell rings."]),
        ["The signs which the clerk may write down are: \".\" and \"+\".", "The one in the town must be open too."]
    );
}

#[test]
fn a_list_is_read_wherever_its_marks_stand() {
    let cases: &[(&str, &[&str])] = &[
        (
            "The reader must bring:\n•\n\n•\n•\n\na card of the archive, or a letter from the one who has it and cannot come\nin person\na pencil.\na bag\n\nOthers may come too.",
            &[
                "a card of the archive, or a letter from the one who has it and cannot come in person",
                "a pencil.",
                "a bag",
                "Others may come too.",
            ],
        ),
        ("The reader must bring:\n\n• A.\n\na card\n\n• B.\n\na pencil", &["a card", "a pencil"]),
        (
            "The reader must do these things:\nA. Bring a card of the archive, which\nis red.\nB. Bring a pencil:\n\n• a red one\n\nThe clerk has some.\n\nC. Go out before the bell. D. Duck must not.\nE. Go home.",
            &[
                "Bring a card of the archive, which is red.",
                "a red one",
                "Go out before the bell.",
                "D. Duck must not.",
            ],
        ),
        (
            "The reader must know the following:\n\n1. The name of the archive\n\n2. The number of the door\n\n4. Doors\n\nDoors must close.",
            &["The name of the archive", "The number of the door", "Doors must close."],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(quotes(&[text]), *expected, "{text}");
    }
}
