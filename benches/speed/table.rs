//! Rows as they stand in `benches/README.md`.

use std::fmt::Display;

/// Where it was measured.
pub(crate) fn machine() {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{} × {}\n", cores, model.trim_start_matches([' ', '\t', ':']));
    println!("| what | measured | limit | |\n|---|---|---|---|");
}

/// A figure with the limit that it must not pass.
pub(crate) fn limited(what: impl Display, value: f64, limit: f64, unit: &str) {
    let verdict = if value <= limit { "kept" } else { "OVER" };
    println!("| {what} | {} {unit} | {} {unit} | {verdict} |", shown(value), shown(limit));
}

/// A figure without one.
pub(crate) fn plain(what: impl Display, value: f64, unit: &str) {
    println!("| {what} | {} {unit} | | |", shown(value));
}

fn shown(value: f64) -> String {
    if value < 10.0 {
        format!("{value:.2}")
    } else if value < 1_000.0 {
        format!("{value:.1}")
    } else {
        // Thousands apart.
        let digits = format!("{value:.0}");
        let parts: Vec<&str> =
            digits.as_bytes().rchunks(3).rev().filter_map(|part| std::str::from_utf8(part).ok()).collect();
        parts.join(",")
    }
}
