//! A standard's statement against a policy's, one verdict each.

use super::*;

const POLICY: &[(&str, Strength)] = &[
    ("Log files must be kept for 90 days.", Strength::Must),
    ("Backups of customer data must be encrypted.", Strength::Must),
    ("Passwords must have at least 14 characters.", Strength::Must),
    ("Visitors should be escorted by an employee at all times.", Strength::Should),
    ("Employees may share accounts with their team.", Strength::May),
    ("Access rights shall be reviewed every 3 months.", Strength::Shall),
    ("Laptops may be stored unencrypted in the office.", Strength::May),
    ("Multi-factor authentication is not required for administrators.", Strength::NotRequired),
    ("The temperature of the store must be held between 14 °C and 18 °C.", Strength::Must),
    ("Fuel must stand at least 30 m from the shelves.", Strength::Must),
];

#[track_caller]
fn check(standard: &str, strength: Strength, verdict: Verdict, index: Option<usize>, reason: &str) {
    let found = compare((standard, strength), POLICY);
    assert_eq!(
        (found.verdict, found.index, found.reason.as_str()),
        (verdict, index, reason),
        "{standard} ({})",
        found.score
    );
}

#[test]
fn the_same_in_other_words_is_covered() {
    check(
        "Customer backups shall be encrypted.",
        Strength::Shall,
        Verdict::Covered,
        Some(1),
        "the policy asks for the same",
    );
    check(
        "Access rights must be reviewed quarterly.",
        Strength::Must,
        Verdict::Covered,
        Some(5),
        "the policy asks for the same",
    );
    check(
        "Passwords must have at least 12 characters.",
        Strength::Must,
        Verdict::Covered,
        Some(2),
        "the policy asks for the same",
    );
}

#[test]
fn other_numbers_and_opposites_contradict() {
    check(
        "Log files must be retained for 12 months.",
        Strength::Must,
        Verdict::Contradicted,
        Some(0),
        "90 days in the policy, 12 months in the standard",
    );
    check(
        "Passwords must have at least 16 characters.",
        Strength::Must,
        Verdict::Contradicted,
        Some(2),
        "14 characters in the policy, 16 characters in the standard",
    );
    check(
        "Employees must not share accounts.",
        Strength::MustNot,
        Verdict::Contradicted,
        Some(4),
        "MAY in the policy, MUST NOT in the standard",
    );
    check(
        "Laptops must be stored encrypted.",
        Strength::Must,
        Verdict::Contradicted,
        Some(6),
        "the policy says the opposite",
    );
    check(
        "Administrators must use multi-factor authentication.",
        Strength::Must,
        Verdict::Contradicted,
        Some(7),
        "NOT REQUIRED in the policy, MUST in the standard",
    );
}

#[test]
fn a_range_is_met_from_within() {
    check(
        "The temperature of the store must be held between 4 °C and 10 °C.",
        Strength::Must,
        Verdict::Contradicted,
        Some(8),
        "14 °C in the policy, 10 °C in the standard",
    );
    check(
        "The temperature of the store must be held between 10 and 20 °C.",
        Strength::Must,
        Verdict::Covered,
        Some(8),
        "the policy asks for the same",
    );
    check(
        "Fuel must stand at least 50 m from the shelves.",
        Strength::Must,
        Verdict::Contradicted,
        Some(9),
        "30 m in the policy, 50 m in the standard",
    );
}

#[test]
fn a_weaker_word_or_an_unsaid_number_is_partial() {
    check(
        "Visitors must be escorted at all times.",
        Strength::Must,
        Verdict::Partial,
        Some(3),
        "only SHOULD in the policy, MUST in the standard",
    );
    check(
        "Backups of customer data must be encrypted within 24 hours.",
        Strength::Must,
        Verdict::Partial,
        Some(1),
        "the policy does not say \"24 hours\"",
    );
}

#[test]
fn another_matter_is_missing() {
    let nothing = "the policy says nothing about it";
    check("Fire doors must be inspected by the landlord.", Strength::Must, Verdict::Missing, None, nothing);
    check("", Strength::Must, Verdict::Missing, None, nothing);
    assert_eq!(compare(("Doors must close.", Strength::Must), &[]).verdict, Verdict::Missing);
}

#[test]
fn the_telling_words_come_first() {
    assert_eq!(
        terms("The operator must encrypt all backups of customer data within 30 days."),
        ["custom", "encrypt", "backup", "operator", "data"]
    );
}
