//! Small texts with all that is to be found in them.

use super::*;
use proptest::prelude::*;

fn numbered(text: &str) -> Vec<Line<'_>> {
    (1..).zip(text.lines()).map(|(number, text)| Line { number, page: None, text }).collect()
}

/// Pages are parted by a line `=== page`.
fn paged(text: &str) -> Vec<Line<'_>> {
    let mut page = 1;
    let mut lines = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        if text == "=== page" {
            page += 1;
        } else {
            lines.push(Line { number, page: Some(page), text });
        }
    }
    lines
}

fn said(found: &Found) -> Vec<String> {
    let one =
        |s: &Statement| format!("{} {} [{}] {}", s.line, s.strength, s.section.as_deref().unwrap_or("-"), s.quote);
    found.statements.iter().map(one).collect()
}

#[track_caller]
pub(in crate::model::offline) fn check(style: Style, text: &str, expected: &[&str]) {
    let found = statements(&numbered(text), style, &Start::default());
    assert_eq!(said(&found), expected, "{text}");
    // a hyphen at a line's end may be undone
    let solid = |text: &str| text.split_whitespace().collect::<String>().replace('-', "");
    let whole = solid(text);
    for statement in &found.statements {
        let quote = solid(&statement.quote);
        assert!(whole.contains(&quote), "not in the text: {quote}");
    }
}

#[test]
fn a_sentence_has_the_strength_of_its_word() {
    let cases: &[(&str, Option<Strength>)] = &[
        ("The client must log in.", Some(Strength::Must)),
        ("The client MUST NOT log in.", Some(Strength::MustNot)),
        ("The client must **not** log in.", Some(Strength::MustNot)),
        ("The client mustn't log in.", Some(Strength::MustNot)),
        ("The client must never log in.", Some(Strength::MustNot)),
        ("The client must therefore not log in.", Some(Strength::MustNot)),
        ("The client must under no circumstances log in.", Some(Strength::MustNot)),
        ("The client must not only log in but also stay.", Some(Strength::Must)),
        ("The client shall never log in.", Some(Strength::ShallNot)),
        ("The client shouldn’t log in.", Some(Strength::ShouldNot)),
        ("Clients should log in.", Some(Strength::Should)),
        ("No operator may log in.", Some(Strength::MayNot)),
        ("In no event shall the vendor be liable.", Some(Strength::ShallNot)),
        ("If no value is given, the client must ask.", Some(Strength::Must)),
        ("A client with no session must log in.", Some(Strength::Must)),
        ("No later than 5 days after it the vendor must answer.", Some(Strength::Must)),
        ("The client may log in.", Some(Strength::May)),
        ("May be repeated.", Some(Strength::May)),
        ("It was last changed in May 2024.", None),
        ("It ends on 5 May.", None),
        ("May 2024 was warm.", None),
        ("A password is required.", Some(Strength::Required)),
        ("A password is always required for it.", Some(Strength::Required)),
        ("Clients are required to log in.", Some(Strength::Required)),
        ("A password is not required.", Some(Strength::NotRequired)),
        ("A password isn't required.", Some(Strength::NotRequired)),
        ("A password is no longer required.", Some(Strength::NotRequired)),
        ("No password is required.", Some(Strength::NotRequired)),
        ("Logging in is REQUIRED here.", Some(Strength::Required)),
        ("The token (REQUIRED) names it.", Some(Strength::Required)),
        ("Use the required form.", None),
        ("Use the REQUIRED form.", None),
        ("Change it as required.", None),
        ("Name and town are required fields.", None),
        ("A restart is recommended.", Some(Strength::Recommended)),
        ("It is strongly recommended to restart.", Some(Strength::Recommended)),
        ("A restart is not recommended.", Some(Strength::NotRecommended)),
        ("The recommended way is a restart.", None),
        ("Logging in is a must.", None),
        ("Logging in is an absolute must for clients.", None),
        ("It is a must-have tool.", None),
        ("You can, will, need to and have to log in; it is optional.", None),
        ("The key word \"MUST\" means an obligation.", None),
        ("Write `must` in the file.", None),
        ("The key words MUST and MAY are to be interpreted as in RFC 2119.", None),
        ("The words must and should are used as in English.", None),
        ("Must I log in?", None),
        ("Should the server fail, a light goes on.", None),
        ("The field `must_exist` is read, and --may-fail too.", None),
        ("The client may wait; the server must not.", Some(Strength::MustNot)),
        ("The client should wait, and must log in.", Some(Strength::Must)),
        ("Keywords should be short.", Some(Strength::Should)),
        ("The dismay was mustard.", None),
        ("The archive, which we shan't name, is closed.", None),
        ("A must for operators.", None),
        ("Records of class A must never leave.", Some(Strength::MustNot)),
        ("Volumes of class A MAY NOT be destroyed.", Some(Strength::MayNot)),
        ("The clerk who unpacks a delivery must:", Some(Strength::Must)),
        ("Before it accepts a consignment, the receiver MUST:", Some(Strength::Must)),
        ("No type in that range MAY be used.", Some(Strength::MayNot)),
        ("No person that has left may enter.", Some(Strength::MayNot)),
        ("No rule says that operators must sing.", Some(Strength::Must)),
        ("Ms. May Lindqvist answers; it is closed in the last week of May.", None),
        ("May Lindqvist answers.", None),
        ("The value \"now\" may be used, or \"never\" may be used.", Some(Strength::May)),
        ("They may or may not work.", Some(Strength::May)),
        ("It says whether the value should be a number.", None),
        ("It is refused if a password is required.", None),
        ("Behind that a new start may be required.", Some(Strength::May)),
        ("A new start might be required.", None),
        ("If a password is required, it must be typed.", Some(Strength::Must)),
        ("If the host is new, a password is required.", Some(Strength::Required)),
        ("Not all of the options are required.", Some(Strength::NotRequired)),
        ("Required when no host is set.", Some(Strength::Required)),
        ("Required reading.", None),
    ];
    for (text, expected) in cases {
        assert_eq!(strength_of(text), *expected, "{text}");
    }
    for (strength, word) in Strength::ALL {
        assert_eq!((strength.to_string().as_str(), word.to_lowercase().parse()), (word, Ok(strength)));
    }
}

#[test]
fn a_sentence_over_a_table_is_a_sentence() {
    let text = "   Each of these files, or links to files,\n   must be there.\n   Name          Meaning\n   passwd        who may log in\n   group         who belongs to whom\n";
    check(
        Style::Plain,
        text,
        &["1 MUST [-] Each of these files, or links to files, must be there.", "4 MAY [-] who may log in"],
    );
}

#[test]
fn a_lead_in_gives_its_strength_to_each_item() {
    check(
        Style::Markdown,
        "Doors must close. The operator must not:\n\n1. open the door,\n2. leave;\n   nor sleep.\n\n   Nothing else counts.\n3. It should be quiet. Always.\n   - at night\n   - by day\n\nThe rest:\n\n- is free\n\n\
         Staff shall keep:\n- [ ] a log of\n  - names\n- keys\n\nThe lamp must be lit as follows.\n- left\n\n\
         It may look hard, but there is much in its favour:\n- speed\n\nIf the door must stay open, say so:\n- aloud\n\n\
         If nobody is there, the clerk shall:\n- wait\n",
        &[
            "1 MUST [-] Doors must close.",
            "3 MUST NOT [-] open the door,",
            "4 MUST NOT [-] leave; nor sleep.",
            "8 SHOULD [-] It should be quiet.",
            "9 MUST NOT [-] at night",
            "10 MUST NOT [-] by day",
            "17 SHALL [-] a log of",
            "18 SHALL [-] names",
            "19 SHALL [-] keys",
            "21 MUST [-] The lamp must be lit as follows.",
            "24 MAY [-] It may look hard, but there is much in its favour:",
            "27 MUST [-] If the door must stay open, say so:",
            "31 SHALL [-] wait",
        ],
    );
}

#[test]
fn plain_text_is_read_by_its_layout() {
    check(
        Style::Plain,
        "1.  Introduction ........ 3\n2.  What must be ........ 4\n\n3.2  Session   start\n\n   A client MUST open a ses-\n   sion before it sends any\n   data.  Servers SHOULD wait.\n\n   The server MUST:\n\n   o  answer within\n      30 seconds\n\n   o  log it\n\n\
         \x20     int must_run(void);\n      /* this must run */\n\n   After that it may rest.\n\nSTORAGE OF KEYS\n\nKeys shall be kept.\n\nBackups\n=======\n(a) A copy is required.\n(b) It is small.\n\n> He must go.\n\nExample::\n\n    you must not see this\n\nThat is all you may see.\n",
        &[
            "6 MUST [3.2 Session start] A client MUST open a session before it sends any data.",
            "8 SHOULD [3.2 Session start] Servers SHOULD wait.",
            "12 MUST [3.2 Session start] answer within 30 seconds",
            "15 MUST [3.2 Session start] log it",
            "20 MAY [3.2 Session start] After that it may rest.",
            "24 SHALL [STORAGE OF KEYS] Keys shall be kept.",
            "28 REQUIRED [Backups] A copy is required.",
            "37 MAY [Backups] That is all you may see.",
        ],
    );
}

#[test]
fn a_manual_page_is_read_by_its_layout() {
    check(
        Style::Plain,
        "DOOR(1)               User Commands               DOOR(1)\n\nNAME\n       door - close a door\n\nSYNOPSIS\n       door [--may-open] NAME\n\nDESCRIPTION\n       The  door must be\n       closed.\n\n   Closing the door\n       -f, --force\n              The door may be closed by\n              force.\n\n       SET THE DOOR\n       DROP THE DOOR [ IF ANY ]\n           These forms must be used alone.\n",
        &[
            "10 MUST [DESCRIPTION] The door must be closed.",
            "15 MAY [Closing the door] The door may be closed by force.",
            "20 MUST [Closing the door] These forms must be used alone.",
        ],
    );
}

#[test]
fn clauses_of_a_standard_are_items() {
    check(
        Style::Plain,
        "4 Access\n\n4.1 The vendor shall keep a list.\n\n4.2 The vendor shall:\n(a) review it yearly;\n(b) sign it.\n\n4.3 The list is\nshort and may be lost.\n\n4.4 Review of lists\n\nIt takes\n2.5 seconds and must not take more.\n",
        &[
            "3 SHALL [4 Access] The vendor shall keep a list.",
            "6 SHALL [4 Access] review it yearly;",
            "7 SHALL [4 Access] sign it.",
            "9 MAY [4 Access] The list is short and may be lost.",
            "14 MUST NOT [4.4 Review of lists] It takes 2.5 seconds and must not take more.",
        ],
    );
}

#[test]
fn text_that_lost_its_blank_lines_is_still_read() {
    check(
        Style::Plain,
        "1 Introduction\nThis manual is for guards. A guard must read it\nbefore the first shift.\n2 Access\n2.1 Keys\nKeys are numbered. The following is required:\n1) a badge\n2) a key, which should be\nkept apart\nGuards:\n• must sign in\n• leave\nThe guard must\n- close the door\n\n\
         Timeout      must be set       30 minutes\nColour       red               none\n\n$ must --run\n\nREQ-17: The pump SHALL stop\n        within 5 s.\n\n    \"All doors must be closed,\" says the old manual.\n",
        &[
            "2 MUST [1 Introduction] A guard must read it before the first shift.",
            "7 REQUIRED [2.1 Keys] a badge",
            "8 SHOULD [2.1 Keys] a key, which should be kept apart",
            "11 MUST [2.1 Keys] must sign in",
            "14 MUST [2.1 Keys] close the door",
            "16 MUST [2.1 Keys] must be set",
            "21 SHALL [2.1 Keys] REQ-17: The pump SHALL stop within 5 s.",
        ],
    );
}

#[test]
fn a_quote_runs_over_what_runs_over_the_pages_and_no_further() {
    check(
        Style::Plain,
        "   The server has to wait until the session that\n   it opened is over, and then it MUST\n\n\n\nWeber, et al.            Standards Track               [Page 12]\n\u{c}\nRFC 9999                    Doors                      June 2022\n\n\n   close the door behind it.  It MAY sing.\n",
        &[
            "1 MUST [-] The server has to wait until the session that it opened is over, and then it MUST",
            "11 MAY [-] It MAY sing.",
        ],
    );
    let text = "Doors and locks\nThe door of a house\n1 / 9\n=== page\nDoors and locks\nmust be closed at night. Windows\n2 / 9\n=== page\nDoors and locks\nmay be open. All\nis well.\n3 / 9\n";
    let found = statements(&paged(text), Style::Plain, &Start::default());
    let said: Vec<_> = found.statements.iter().map(|s| (s.page, s.strength, s.quote.as_str())).collect();
    assert_eq!(
        said,
        [
            (Some(1), Strength::Must, "The door of a house must be closed at night."),
            (Some(2), Strength::May, "Windows may be open."),
        ],
        "headers and page numbers left out, each on the page on which it begins"
    );
}

#[test]
fn what_forms_say_on_each_page_is_said_by_each() {
    let page = |n: u64| {
        format!(
            "Form {n} of Harbour Town\nThe clerk must file form {n} before noon.\nIt rained.\nThen it was dry.\nForm {n} should be kept\nwith list {n}.\n"
        )
    };
    let text = [page(10), page(11), page(12)].join("=== page\n");
    let found = statements(&paged(&text), Style::Plain, &Start::default());
    let said: Vec<_> = found.statements.iter().map(|s| (s.page.unwrap(), s.quote.clone())).collect();
    let expected = (1..).zip(10..13).flat_map(|(page, n)| {
        [
            (page, format!("The clerk must file form {n} before noon.")),
            (page, format!("Form {n} should be kept with list {n}.")),
        ]
    });
    assert_eq!(said, expected.collect::<Vec<_>>());
}

#[test]
fn footnotes_labels_and_announced_code_are_no_part_of_a_sentence() {
    let text = "Rules\n\nThe clerk must sign each page.1 Each entry should be\nread aloud.2 The file must look as follows:\nname = must_sign();\n\nThe keeper must check the list and\n\n1 He may use ink.\n2 A stranger may listen, and then he must\ngo home.\n\n7\n=== page\nRules\n\nsign the book.\n\nclean (required)\nThe tables must be wiped by whoever used them, and dried too.\n\nNote\nThe cloth should be green.\n\n8\n";
    let found = statements(&paged(text), Style::Plain, &Start::default());
    let said: Vec<_> = found.statements.iter().map(|s| (s.page, s.quote.as_str())).collect();
    assert_eq!(
        said,
        [
            (Some(1), "The clerk must sign each page."),
            (Some(1), "Each entry should be read aloud."),
            (Some(1), "The file must look as follows:"),
            (Some(1), "The keeper must check the list and"),
            (Some(1), "He may use ink."),
            (Some(1), "A stranger may listen, and then he must go home."),
            (Some(2), "The tables must be wiped by whoever used them, and dried too."),
            (Some(2), "The cloth should be green."),
        ]
    );
}

#[test]
fn a_sentence_that_is_shouted_is_one() {
    let text = "WHAT YOU MUST KNOW\n\nUse it with care.\n\nTHE CLERK MUST CLOSE ALL THE DOORS\nOF THE HOUSE (and keep the keys).\n";
    let said = "5 MUST [WHAT YOU MUST KNOW] THE CLERK MUST CLOSE ALL THE DOORS OF THE HOUSE (and keep the keys).";
    check(Style::Plain, text, &[said]);
}

#[test]
fn what_leads_to_names_alone_is_said_itself() {
    let text = "These are the first ones that you should consider:\n\n- filter_mem16()\n- vq_nbest()\n\nYou must keep:\n\n- the key (at night)\n";
    let said = ["1 SHOULD [-] These are the first ones that you should consider:", "8 MUST [-] the key (at night)"];
    check(Style::Markdown, text, &said);
}

#[test]
fn what_is_quoted_for_long_is_said() {
    let turned = "It has ”Length = size“ in it. All blocks must be read in order. Some may be skipped. The last one of them all has ”3201 and more in it.\n";
    check(Style::Plain, turned, &["1 MUST [-] All blocks must be read in order.", "1 MAY [-] Some may be skipped."]);
    let licence = "“You may copy it. The notice above shall be kept in all of its copies. Nobody is liable for it, whatever it does to you.”\n";
    check(
        Style::Plain,
        licence,
        &["1 MAY [-] “You may copy it.", "1 SHALL [-] The notice above shall be kept in all of its copies."],
    );
    check(
        Style::Plain,
        "He said “You must go.” and went. “Doors must close” is what it says, and it is long known.\n",
        &[],
    );
}

#[test]
fn a_short_last_line_does_not_make_an_item_code() {
    check(
        Style::Plain,
        "   Before it opens, the guard MUST:\n\n   o  look at the seal of the door and at the\n      lock;\n\n   o  sing.\n\n   x = 1;\n   y = must;\n",
        &["3 MUST [-] look at the seal of the door and at the lock;", "6 MUST [-] sing."],
    );
}

#[test]
fn a_sentence_over_a_bare_page_break_is_one() {
    let text = "Title of the manual\n=== page\nA certificate that has expired shall not be accepted by\n\n=== page\n\nhand. The lamp in the hall is green and the one above the door is red. Clocks\n=== page\nMUST agree. The guard MUST\n=== page\n\n(1)  sing (once);\n\n=== page\n(2)  leave;\n";
    let found = statements(&paged(text), Style::Plain, &Start::default());
    let said: Vec<_> = found.statements.iter().map(|s| (s.page, s.strength, s.quote.as_str())).collect();
    assert_eq!(
        said,
        [
            (Some(2), Strength::ShallNot, "A certificate that has expired shall not be accepted by hand."),
            (Some(3), Strength::Must, "Clocks MUST agree."),
            (Some(5), Strength::Must, "sing (once);"),
            (Some(6), Strength::Must, "leave;"),
        ]
    );
}

#[test]
fn a_document_read_in_pieces_says_the_same() {
    let text = "# Keys\n\nKeys must be kept. The operator\nshall not lend them.\n\nThe operator must:\n\n- count the keys\n- note the\n  number\n\n```\nmust\n\nmust not\n```\n\n## Doors\n\nDoors\nmay be open.\n\n| a | b |\n|---|---|\n| x | It must hold. |\n\n> ```\n> must\n>\n> must not\n> ```\n\n- Windows\n\n    - may open\n\n    - may close\n\nClerks must:\n\nA. Go in\n\nB. Go out\n\nC. Go home\n";
    let lines = numbered(text);
    let whole = statements(&lines, Style::Markdown, &Start::default()).statements;
    assert_eq!(whole.len(), 11);
    for size in 3..lines.len() {
        let (mut from, mut to, mut start, mut all) = (0, size.min(lines.len()), Start::default(), Vec::new());
        loop {
            let found = statements(&lines[from..to], Style::Markdown, &start);
            let again = found.open_from.filter(|line| to < lines.len() && *line > lines[from].number);
            all.extend(found.statements.into_iter().filter(|s| again.is_none_or(|line| s.line < line)));
            if to == lines.len() {
                break;
            }
            from = again.map_or(to, |line| usize::try_from(line).unwrap() - 1);
            (start, to) = (found.end, (from + size.max(to - from + 1)).min(lines.len()));
        }
        assert_eq!(all, whole, "pieces of {size} lines");
    }
}

#[test]
fn the_style_is_known_by_name_or_look() {
    let style = |name: &str, text: &str| style_of(name, &numbered(text));
    assert_eq!(style("a.md", ""), Style::Markdown);
    assert_eq!(style("a.html", ""), Style::Web);
    assert_eq!(style("a.docx", ""), Style::Office);
    assert_eq!(style("a.CSV", ""), Style::Values);
    assert_eq!(style("a.eml", "Hello,\n\n    you must go."), Style::Plain);
    assert_eq!(style("rfc1.txt", "1. Introduction\n\n   Text."), Style::Plain);
    assert_eq!(style("a.txt", "# One\n\n## Two\n\ntext"), Style::Markdown);
    assert_eq!(style("a.pdf", "# a comment\n$ run"), Style::Plain);
}

/// CPU time of this thread in milliseconds: what others on the machine do doesn't count.
fn cpu_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<u64>().unwrap() / 1_000_000
}

#[test]
fn a_large_document_takes_no_more_than_its_share() {
    // nothing here may cost more than its length: chunks without blank lines, open quotations, open brackets
    for piece in [
        "- the door must close\n",
        "The \"door must close. ",
        "`must '",
        "(must. ",
        "| must |\n",
        "“must",
        "must,\"must\n",
        "must must\n  must:\n",
        "a\n",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        for style in [Style::Markdown, Style::Plain, Style::Values] {
            let begun = cpu_ms();
            let _ = statements(&numbered(&text), style, &Start::default());
            let took = cpu_ms() - begun;
            assert!(took < 10_000, "{piece:?} as {style:?} took {took} ms of CPU");
        }
    }
}

/// What counts where a quote is looked for: no blanks, no marks without width; hyphens may be undone at a line's end.
fn counting(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace() && !matches!(letter, '\u{feff}' | '-')).collect()
}

proptest! {
    #[test]
    fn any_text_gives_verbatim_quotes(text in "([a-z`\"'|>#*:;.(){}=–é\u{c}\t -]{0,12}(must|may|is required|Shall| not|\n|\n\n|:\n- |1. |```|::\n)){0,24}") {
        let whole = counting(&text);
        for style in [Style::Markdown, Style::Office, Style::Plain, Style::Values] {
            for statement in statements(&numbered(&text), style, &Start::default()).statements {
                let quote = counting(&statement.quote);
                prop_assert!(whole.contains(&quote), "{quote}");
            }
        }
    }
}
