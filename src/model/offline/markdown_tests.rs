//! Marks, read as who wrote them meant them.

use super::super::statements::tests::check;
use super::*;

#[test]
fn markdown_is_read_by_its_marks() {
    check(
        Style::Markdown,
        "---\ntitle: what must be\n---\n# 1 What you must know\n\nThe *vendor* must deliver. It is late.\nEach part shall be\nmarked `A`; spare parts may be unmarked.\n\n\
         > He must go.\n> And never return.\n\n```\nmust not run\n```\n\n    indented must not\n\nSetext must head\n----------------\n\n- Doors should close. Windows may open.\n- The roof.\n\n\
         <!-- must not show -->\n[ref]: http://example.com/must\n\n| Part | Rule that must hold |\n|---|---|\n| door | It must close. It may creak. |\n| roof | none |\n| wall | MUST |\n",
        &[
            "6 MUST [1 What you must know] The *vendor* must deliver.",
            "7 SHALL [1 What you must know] Each part shall be marked `A`; spare parts may be unmarked.",
            "22 SHOULD [Setext must head] Doors should close.",
            "22 MAY [Setext must head] Windows may open.",
            "30 MUST [Setext must head] It must close.",
            "30 MAY [Setext must head] It may creak.",
            "32 MUST [Setext must head] MUST",
        ],
    );
}

#[test]
fn a_fence_in_a_quotation_closes() {
    check(
        Style::Markdown,
        "> Note:\n> ```\n> must\n> ```\n\nDoors must close.\n\n> ```\nx must be 1\n```\n\nWindows may open.\n\n> - It must ring.\n> ```\n> - must\n> ```\n> - It must stop\n> at night.\n> - All must.\n\nAll may go.\n",
        &[
            "6 MUST [-] Doors must close.",
            "12 MAY [-] Windows may open.",
            "14 MUST [-] It must ring.",
            "18 MUST [-] It must stop",
            "22 MAY [-] All may go.",
        ],
    );
}

#[test]
fn an_item_that_is_a_block_of_code_is_code() {
    let text = "A pin must have:\n\n- a name\n- ```\n  it must(\n      now)\n  ```\n\nAll must end.\n";
    check(Style::Markdown, text, &["3 MUST [-] a name", "9 MUST [-] All must end."]);
    let text = "cut\n: ```\n  cut must\n  ```\n\n  It must cut.\n\n  depth\n  : It may be 0.\n\n    It should be 1.\n";
    check(
        Style::Markdown,
        text,
        &["6 MUST [-] It must cut.", "9 MAY [-] It may be 0.", "11 SHOULD [-] It should be 1."],
    );
}

/// Nobody wrote these marks to mean anything.
#[test]
fn what_an_office_file_says_is_no_code() {
    let text = "---\n\n```\n\nThe clerk must go.\n\n- A\n\n    - Doors must close.\n\n        deep: all must stay.\n\n<!-- Bells must ring.\n\n> Guards must wake.\n\n[Note]: Keys must be kept.\n";
    check(
        Style::Office,
        text,
        &[
            "5 MUST [-] The clerk must go.",
            "9 MUST [-] Doors must close.",
            "11 MUST [-] deep: all must stay.",
            "13 MUST [-] <!-- Bells must ring.",
            "15 MUST [-] > Guards must wake.",
            "17 MUST [-] [Note]: Keys must be kept.",
        ],
    );
}
