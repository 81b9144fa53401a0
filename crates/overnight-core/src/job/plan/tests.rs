//! Tests of changes and comparisons of plans, and that no text makes reading one panic, wander or crawl.

use proptest::prelude::*;

use super::*;

const PLAN: &str = "\
# Execution Plan

## Overview

Two volumes.

## Phase 1: Read ✓ COMPLETE

- [x] Read volume one
- [x] Read volume two

## Phase 2: Extract ← CURRENT

All of it.

- [ ] Extract from *volume one*
- [ ] Extract from volume two

## Phase 3: Report

- [ ] Write it

## Notes

Volume two is a draft.
";

fn plan(text: &str) -> Plan {
    Plan::parse(text).unwrap()
}

fn strings(items: &[&str]) -> Vec<String> {
    items.iter().map(|&item| item.to_owned()).collect()
}

#[test]
fn a_plan_in_its_one_form_stays_byte_for_byte() {
    assert_eq!(plan(PLAN).text(), PLAN);
    assert_eq!(plan(PLAN).current().unwrap().number, 2);
}

#[test]
fn completing_a_phase_ticks_its_steps_and_moves_the_mark() {
    let done = plan(PLAN).complete_phase(2, &strings(&["extract from  Volume Two"]));
    let expected = PLAN
        .replace("Extract ← CURRENT", "Extract ✓ COMPLETE")
        .replace("Report\n", "Report ← CURRENT\n")
        .replace("- [ ] Extract from *volume one*", "- [x] Extract from *volume one*");
    assert_eq!(done.text(), expected);
    let end = done.complete_phase(3, &[]);
    assert_eq!(end.current(), None);
    assert_eq!(end.text(), expected.replace("Report ← CURRENT", "Report ✓ COMPLETE").replace("[ ] Write", "[x] Write"));
    assert_eq!(plan(PLAN).complete_phase(9, &[]), plan(PLAN));
}

#[test]
fn an_inserted_phase_renumbers_the_unfinished_ones_behind_it() {
    let more = plan(PLAN).insert_after(2, "Extract, continued", &strings(&["- [ ] annex", "", "line\nbreak"]));
    let expected = PLAN.replace(
        "## Phase 3: Report\n",
        "## Phase 3: Extract, continued\n\n- [ ] annex\n- [ ] line break\n\n## Phase 4: Report\n",
    );
    assert_eq!(more.text(), expected);
    assert_eq!(plan(PLAN).insert_after(0, "X", &[]).phases()[0].title, "Read", "completed phases keep their numbers");
    let last = plan(PLAN).insert_after(u32::MAX, "Index", &strings(&["Sort"]));
    let expected = PLAN.replace("## Notes", "## Phase 4: Index\n\n- [ ] Sort\n\n## Notes");
    assert_eq!(last.text(), expected);
}

#[test]
fn a_full_plan_takes_more_steps_but_no_more_phases() {
    let phases: Vec<(String, Vec<String>)> = (0..203).map(|at| (format!("Group {at}"), strings(&["Work"]))).collect();
    let full = Plan::write(&phases, "");
    assert_eq!((full.phases().len(), full.phases()[199].steps.len()), (200, 4));
    let fuller = full.insert_after(3, "More", &strings(&["Rest"]));
    assert_eq!((fuller.phases().len(), fuller.phases()[3].steps.len()), (200, 2));
    let text = (1..=201).fold(String::new(), |text, at| text + &format!("## Phase {at}: T\n"));
    assert_eq!(Plan::parse(&text), Err(PlanError::TooManyPhases { line: 201, count: 201 }));
}

#[test]
fn the_system_writes_a_plan() {
    let phases = [("Read a.md".to_owned(), strings(&["Read it", "Note it"])), ("Report".to_owned(), vec![])];
    let written = Plan::write(&phases, "The task:\n# do it\n- Phase 7: no");
    let expected = "# Execution Plan\n\n## Overview\n\nThe task:\n\\# do it\n\\- Phase 7: no\n\n## Phase 1: Read a.md ← CURRENT\n\n- [ ] Read it\n- [ ] Note it\n\n## Phase 2: Report\n";
    assert_eq!(written.text(), expected);
    assert_eq!(Plan::write(&[], "x").phases().len(), 1);
    let huge = Plan::write(&phases, &"x".repeat(MAX_BYTES));
    assert_eq!(huge.text(), "# Execution Plan\n\n## Phase 1: Work on the task ← CURRENT\n");
}

#[test]
fn completed_phases_cannot_be_changed() {
    let check = |text: &str| Plan::check_update(&plan(PLAN), &plan(text)).map_err(|error| error.to_string());
    assert_eq!(check(PLAN), Ok(()));
    assert_eq!(check(&PLAN.replace("Report", "Write the report")), Ok(()));
    let told = "line 7: phase 1 'Read' is complete and can't be changed, but";
    let end = "; expected it exactly as it was";
    assert_eq!(check(&PLAN.replace("1: Read", "1: Skim")), Err(format!("{told} its title here is 'Skim'{end}")));
    assert_eq!(
        check(&PLAN.replace("Read volume two", "Skim volume two")),
        Err(format!("{told} its step 2 here is 'Skim volume two' instead of 'Read volume two'{end}"))
    );
    assert_eq!(
        check(&PLAN.replace("- [x] Read volume two", "- [ ] Read volume two")),
        Err(format!("{told} its step 2 is no longer ticked{end}"))
    );
    assert_eq!(
        check(&PLAN.replace("← CURRENT", "(done)")),
        Err("line 12: phase 2 'Extract' is marked complete, but it has not been worked; expected the mark to be left to the system".to_owned())
    );
    let all = PLAN.replace("← CURRENT", "✓ COMPLETE");
    let missing =
        Plan::check_update(&plan(&all), &plan("## Phase 1: Read (done)\n- [x] Read volume one\n- [x] Read volume two"));
    assert_eq!(missing, Err(PlanError::CompletedMissing { line: 1, number: 2, title: "Extract".to_owned() }));
}

#[test]
fn forgotten_marks_of_completed_phases_are_restored() {
    let careless =
        "# Plan\n## Phase 1: read\n1. Read volume one\n2. read volume two\n## Phase 2: Extract ✅\n- [ ] All\n";
    let restored = plan(careless).with_marks_of(&plan(PLAN));
    assert_eq!(
        restored.text(),
        "# Plan\n\n## Phase 1: Read ✓ COMPLETE\n\n- [x] Read volume one\n- [x] Read volume two\n\n## Phase 2: Extract\n\n- [ ] All\n"
    );
    assert_eq!(Plan::check_update(&plan(PLAN), &restored), Ok(()));
    assert_eq!(plan(PLAN).with_marks_of(&plan(PLAN)), plan(PLAN));
}

#[test]
fn a_final_review_is_known_by_its_title() {
    let yes = [
        "Final Review",
        "Review",
        "review & finalize",
        "Verification & Final Report",
        "Phase 5: Final Review",
        "Final Quality Check",
        "Validation and Wrap-Up",
        "Final report",
        "✅ Final Verification",
    ];
    let no = [
        "Contract Review",
        "Review of clause 7",
        "Report",
        "Summary Report",
        "Validate amounts",
        "Extraction",
        "",
        "Final Extraction",
    ];
    assert_eq!(yes.into_iter().filter(|title| !is_final_review(title)).collect::<Vec<_>>(), Vec::<&str>::new());
    assert_eq!(no.into_iter().filter(|title| is_final_review(title)).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn slugs_are_short_folder_names() {
    let slugs = [
        "Requirement Extraction",
        "Prüfung der Maße & Größen",
        "フェーズ",
        "  --  ",
        "Ｐhase ２",
        "Café: Été/Noël",
        "don't",
    ]
    .map(slug);
    let expected =
        ["requirement-extraction", "prufung-der-masse-grossen", "phase", "phase", "phase-2", "cafe-ete-noel", "dont"];
    assert_eq!(slugs, expected);
    assert_eq!(
        slug("Extraction of all requirements from the specification"),
        "extraction-of-all-requirements-from-the"
    );
    assert_eq!(slug(&"x".repeat(100)), "x".repeat(40));
}

/// A blow-up would be a test that doesn't end.
#[test]
fn extreme_plans_are_refused_or_kept_so_that_they_read_the_same() {
    let head = "## Phase 1: A\n";
    let many = |piece: &str, count: usize| piece.repeat(count);
    let texts = [
        many("- [ ] step\n", 20_000),
        many("word ", 50_000),
        many("## Phase 1: A\n", 10_000),
        (0..10_000).fold(String::new(), |text, at| text + &format!("## Phase {at}: A\n- a\n")),
        many(">", 10_000) + " a\n" + &many("> b\n", 500),
        many("- ", 10_000) + "a\n",
        (0..500).map(|at| " ".repeat(at) + "- a\n").collect(),
        (0..400).map(|at| "  ".repeat(at) + "- [ ] a\n").collect(),
        many("```\n", 20_000),
        many("```md\n## Phase 1: A\n```\n", 2_000),
        many("**Phase 1: A** ", 10_000),
        many("**Phase 1: A**\n", 10_000),
        many("[", 20_000),
        many("*a_ ", 20_000),
        many("<!-- ", 20_000),
        many("<!-- -->\n", 10_000),
        many("1. Phase: A\n", 10_000),
        many("✅ ", 20_000),
        "# ".to_owned() + &many("✓ COMPLETE ", 10_000),
        "- [ ] ".to_owned() + &many("[ ] ", 10_000),
        many("\n", 200_000),
        many("- a\n\n\n", 10_000),
        many("x\n===\n", 10_000),
    ];
    for (at, text) in texts.iter().enumerate() {
        for text in [text.clone(), head.to_owned() + text] {
            if let Ok(plan) = Plan::parse(&text[..text.len().min(MAX_BYTES)]) {
                assert_eq!(Plan::parse(plan.text()), Ok(plan), "text {at}");
            }
        }
    }
    assert_eq!(Plan::parse(&many("a", MAX_BYTES + 1)), Err(PlanError::TooLong { bytes: MAX_BYTES + 1 }));
}

/// Lines as plans have them, and lines that break plans; `@` is the next number.
fn line() -> impl Strategy<Value = String> {
    let start = prop::sample::select(vec![
        "## Phase @: ",
        "## Phase @: ",
        "### Phase @ - ",
        "# Phase @: ",
        "**Phase @: X** ",
        "✅ **Phase @:** ",
        "## ✅ Phase @/9 - ",
        "# ",
        "## ",
        "### ",
        "#### ",
        "- ",
        "- [ ] ",
        "- [x] ",
        "* ",
        "  - ",
        "    - ",
        "   - [ ] ",
        "1. ",
        "  2) ",
        "✅ ",
        "☐ ",
        "> ",
        "```",
        "```md",
        "~~~",
        "---",
        "===",
        "<!-- ",
        "-->",
        "<div>",
        "\t",
        "    ",
        "",
        "",
        "## Phase: ",
        "[a]: b",
        "- - ",
        "- # ",
        "- ```",
        "…",
        "\\",
        "<pre>",
        "- [ ] - ",
        "- [ ] 1. ",
        "-",
        "- [ ]",
        "+ [ ] ",
    ]);
    let rest = prop_oneof![
        3 => prop::sample::select(vec!["Read", "a b", "✓ COMPLETE", "← CURRENT", "(done)", "Phase 3: deep", "`code`", "x ✅", "", "", "#", "**", "[x]", "<!-- c -->", "<!--", "a:", "- b", "\\", "C #", "*", "1", "&amp;", "word — done", ": :", "|"]).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        1 => "[ #*_`\\-\\[\\]x|<>!:.()0-9a✓←\t]{0,12}",
    ];
    (start, rest).prop_map(|(start, rest)| format!("{start}{rest}"))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::collection::vec(line(), 0..24).prop_map(|lines| {
            let count = |number: &mut u32, line: String| {
                *number += u32::from(line.contains('@'));
                Some(line.replace('@', &number.to_string()))
            };
            let lines = lines.into_iter().scan(0, |number, line| count(number, line));
            lines.collect::<Vec<_>>().join("\n")
        }),
        1 => any::<String>(),
    ]
}

#[test]
fn a_fence_within_a_fence_is_read_once_and_for_all() {
    let plan = Plan::parse("~~~Read\n~~~Read\n## Phase 1: Read\n~~~\n## Phase 2: Write\n").unwrap();
    assert_eq!(plan.phases().len(), 2);
    assert_eq!(Plan::parse(plan.text()).unwrap(), plan);
    assert_eq!(plan.insert_after(0, "", &[]).phases().len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn what_was_read_reads_as_itself(text in text()) {
        match Plan::parse(&text) {
            Ok(plan) => {
                let again = Plan::parse(plan.text()).unwrap();
                prop_assert_eq!(again.text(), plan.text());
                prop_assert_eq!(again.phases(), plan.phases());
                prop_assert!(!plan.phases().is_empty());
                for (at, phase) in plan.phases().iter().enumerate() {
                    prop_assert_eq!(phase.number as usize, at + 1);
                }
            }
            // Texts this small never need more rounds than there are.
            Err(error) => prop_assert!(error != PlanError::NotRead, "{error}"),
        }
    }

    #[test]
    fn every_change_takes_place(text in text(), number in 0u32..5, title in "\\PC{0,20}", steps in prop::collection::vec("\\PC{0,20}", 0..4)) {
        let Ok(plan) = Plan::parse(&text) else { return Ok(()) };
        let more = plan.insert_after(number, &title, &steps);
        prop_assert_eq!(more.phases().len(), plan.phases().len() + 1);
        prop_assert_eq!(plan.insert_after(u32::MAX, &title, &steps).phases().len(), plan.phases().len() + 1);
        let done = plan.phases().iter().fold(plan.clone(), |plan, phase| plan.complete_phase(phase.number, &[]));
        prop_assert!(done.phases().iter().all(|phase| phase.state == PhaseState::Complete && phase.steps.iter().all(|step| step.done)));
        prop_assert_eq!(done.phases().len(), plan.phases().len());
        let again = Plan::parse(done.text()).unwrap();
        prop_assert_eq!(again.phases(), done.phases());
        prop_assert_eq!(&again, &done);
        prop_assert_eq!(Plan::check_update(&done, &done), Ok(()));
        let written = Plan::write(&[(title.clone(), steps.clone()), (title, steps)], &text);
        prop_assert_eq!(written.phases().len(), 2);
    }

    #[test]
    fn slugs_hold_their_bounds(title in "\\PC{0,80}") {
        let slug = slug(&title);
        prop_assert!((1..=40).contains(&slug.len()));
        prop_assert!(slug.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
        prop_assert!(!slug.starts_with('-') && !slug.ends_with('-'));
    }
}
