//! What a summary takes, and what it leaves.

use super::*;

const TEXT: &str = "# Night watch\n\nCopyright 2026 by the authors of the night watch manual, all rights reserved.\n\n\
    ## Overview\n\nThe night watch guards the doors of the building and reports every open door to the desk. It was founded long ago by others.\n\n\
    ```\nThe night watch code must never be quoted as a sentence of the manual.\n```\n\n\
    ## Rounds\n\nA watch makes four rounds in a night, and checks each door of the building twice. The kettle is in the small kitchen on the second floor.\n\n\
    ## Reports\n\nEach report names the door, the time and the watch that found it open. The night watch guards the doors of the building and reports every open door to the desk.\n\n\
    | door | The night watch guards the doors of the table and reports them. |\n|---|---|\n";

fn lines() -> Vec<Line<'static>> {
    (1..).zip(TEXT.lines()).map(|(number, text)| Line { number, page: None, text }).collect()
}

#[test]
fn the_sentences_on_the_subject_come_first() {
    let ranked = rank(&lines(), Style::Markdown, 3);
    let told: Vec<_> = ranked.iter().map(|r| (r.line, r.section.as_deref(), r.text.as_str())).collect();
    assert_eq!(
        told,
        [
            (
                7,
                Some("Overview"),
                "The night watch guards the doors of the building and reports every open door to the desk."
            ),
            (19, Some("Reports"), "Each report names the door, the time and the watch that found it open."),
            (15, Some("Rounds"), "A watch makes four rounds in a night, and checks each door of the building twice."),
        ]
    );
    assert!(ranked.windows(2).all(|pair| pair[0].score >= pair[1].score));
}

#[test]
fn no_prose_gives_no_summary() {
    let lines: Vec<Line<'_>> = ["# Title", "", "```", "code is not prose, whatever it says here.", "```"]
        .iter()
        .zip(1..)
        .map(|(text, number)| Line { number, page: None, text })
        .collect();
    assert_eq!(rank(&lines, Style::Markdown, 5), []);
    assert_eq!(rank(&[], Style::Plain, 5), []);
}
