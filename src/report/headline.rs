//! The first sentence of a report: how many of the jobs are done, their cost, and how many need a person.

use super::{count::Report, words::usd};
use overnight_core::amount::COST_UNKNOWN;
use std::fmt::Write;

/// `497 of 500 documents are done for 31.20 USD, 2 have no record, 1 file was left out; 3 need you.`
pub fn headline(report: &Report) -> String {
    if report.counts.jobs == 0 {
        return "There is no job to report on.".to_owned();
    }
    let (done, all) = (report.counts.completed, report.counts.jobs);
    let thing = if report.page.are_documents { "document" } else { "job" };
    let plural = if all == 1 { "" } else { "s" };
    let mut text = format!("{done} of {all} {thing}{plural} {} done{}", is_or_are(done), price(report));
    let others = &report.page.unneeding;
    let to_come = others.queued + others.running + others.waiting + others.held + others.interrupted;
    let cancelled = others.cancelled;
    for (number, what) in [(to_come, "still to come"), (cancelled, "cancelled")] {
        if number > 0 {
            let _ = write!(text, ", {number} {} {what}", is_or_are(number));
        }
    }
    let empty = report.page.without_records;
    if empty > 0 {
        let _ = write!(text, ", {empty} {} no record", if empty == 1 { "has" } else { "have" });
    }
    let left_out: u64 = report.batches.iter().map(|batch| batch.left_out_files).sum();
    if left_out > 0 {
        let (files, were) = if left_out == 1 { ("file", "was") } else { ("files", "were") };
        let _ = write!(text, ", {left_out} {files} {were} left out");
    }
    let need = match report.page.needing {
        0 => "nothing needs you".to_owned(),
        1 => "1 needs you".to_owned(),
        many => format!("{many} need you"),
    };
    format!("{text}; {need}.")
}

fn is_or_are(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

fn price(report: &Report) -> String {
    let spent = &report.spent;
    match spent.cost_usd {
        Some(0.0) => " at no cost".to_owned(),
        Some(cost) => format!(" for {} USD", money(cost)),
        None if spent.priced_usd > 0.0 => format!(" for more than {} USD", money(spent.priced_usd)),
        None => format!(", {COST_UNKNOWN}"),
    }
}

/// To the cent; an amount under a cent to its hundredth.
fn money(amount: f64) -> String {
    if amount < 0.01 { usd(amount) } else { format!("{amount:.2}") }
}
