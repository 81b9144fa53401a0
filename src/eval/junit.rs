//! An evaluation as JUnit XML, which build servers display: a suite for each candidate with its cases; a case fails if
//! a value is wrong.

use super::evaluation::{CandidateResult, CaseScore, Evaluation, WrongCell};
use quick_xml::{Writer, events::BytesText};
use std::io;

/// Values that are named for a case.
const MOST_NAMED: usize = 20;

/// The result of a case.
enum CaseStatus {
    Right,
    /// An element, a message and more words.
    Other(&'static str, String, String),
}

/// The XML.
pub fn junit(evaluation: &Evaluation) -> io::Result<String> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer
        .create_element("testsuites")
        .with_attribute(("name", format!("evaluation of {}", evaluation.facts.gold).as_str()))
        .write_inner_content(|writer| {
            evaluation.candidates.iter().try_for_each(|candidate| suite(writer, candidate))
        })?;
    let xml = String::from_utf8(writer.into_inner()).map_err(io::Error::other)?;
    Ok(format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{xml}\n"))
}

fn suite(writer: &mut Writer<Vec<u8>>, result: &CandidateResult) -> io::Result<()> {
    let CandidateResult { candidate, cases, missing, .. } = result;
    let statuses: Vec<(&str, CaseStatus)> = cases
        .iter()
        .map(|case| (case.case.as_str(), status(result, case)))
        .chain(missing.iter().map(|run| {
            let why = run.why.clone();
            (run.case.as_str(), CaseStatus::Other("skipped", why, String::new()))
        }))
        .collect();
    let count = |element: &str| {
        let is_it =
            |(_, status): &&(&str, CaseStatus)| matches!(status, CaseStatus::Other(name, ..) if *name == element);
        statuses.iter().filter(is_it).count().to_string()
    };
    let (failures, errors, skipped) = (count("failure"), count("error"), count("skipped"));
    writer
        .create_element("testsuite")
        .with_attribute(("name", candidate.name.as_str()))
        .with_attribute(("tests", statuses.len().to_string().as_str()))
        .with_attribute(("failures", failures.as_str()))
        .with_attribute(("errors", errors.as_str()))
        .with_attribute(("skipped", skipped.as_str()))
        .write_inner_content(|writer| {
            for (name, status) in &statuses {
                let case = writer.create_element("testcase").with_attribute(("name", *name));
                let case = case.with_attribute(("classname", candidate.name.as_str()));
                match status {
                    CaseStatus::Right => drop(case.write_empty()?),
                    CaseStatus::Other(element, message, words) => {
                        case.write_inner_content(|writer| {
                            let told =
                                writer.create_element(*element).with_attribute(("message", fit(message).as_str()));
                            told.write_text_content(BytesText::new(&fit(words))).map(|_| ())
                        })?;
                    }
                }
            }
            Ok(())
        })?;
    Ok(())
}

/// Removes the characters that XML 1.0 does not allow in any form.
fn fit(text: &str) -> String {
    let is_fit = |letter: &char| !matches!(letter, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    text.chars().filter(is_fit).collect()
}

fn status(result: &CandidateResult, case: &CaseScore) -> CaseStatus {
    if let Some(run) = result.failed.iter().find(|run| run.case == case.case) {
        return CaseStatus::Other("error", run.why.clone(), format!("job {}", run.job));
    }
    let wrong: Vec<&WrongCell> = result.wrong.iter().filter(|cell| cell.case == case.case).collect();
    if wrong.is_empty() {
        return CaseStatus::Right;
    }
    let told = |WrongCell { cell, .. }: &&WrongCell| {
        let place = cell.expected_path.as_ref().unwrap_or(&cell.field);
        format!("{place}: {}, and right is {}", cell.found, cell.expected)
    };
    let lines: Vec<String> = wrong.iter().take(MOST_NAMED).map(told).collect();
    CaseStatus::Other("failure", format!("{:.0} of {:.0} values are right", case.right, case.total), lines.join("\n"))
}
