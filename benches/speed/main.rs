//! Speed and memory, measured through the whole runner: `benches/README.md` has the table and how to repeat each row.
//!
//! One program, because each one links everything anew. `cargo bench --bench speed -- NAME…` measures the named parts, all
//! of them without a name; a number among them is the seconds that `leases` takes. A row over its limit says so; nothing fails by it, because a machine may be busy.

#![expect(clippy::unwrap_used, reason = "a measurement that can't be made fails by it")]
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::cast_precision_loss, reason = "no figure here has more than a few digits that count")]

mod documents;
mod export;
mod leases;
mod load;
mod measure;
mod office;
mod program;
mod prompts;
mod remote;
mod resume;
mod rules;
mod scale;
mod search;
mod served;
mod table;
mod turns;

/// The parts by name.
const PARTS: [(&str, fn()); 11] = [
    ("documents", documents::measure),
    ("turns", turns::measure),
    ("prompts", prompts::measure),
    ("program", program::measure),
    ("remote", remote::measure),
    ("resume", resume::measure),
    ("scale", scale::measure),
    ("search", search::measure),
    ("rules", rules::measure),
    ("export", export::measure),
    ("leases", leases::measure),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if remote::is_other(&arguments) {
        return;
    }
    // `cargo test --benches` runs this too, without the word: there is nothing to test.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let named: Vec<&String> =
        arguments.iter().filter(|argument| !argument.starts_with(|c: char| c == '-' || c.is_ascii_digit())).collect();
    for name in &named {
        if PARTS.iter().all(|(part, _)| part != name) {
            let parts = PARTS.map(|(part, _)| part).join(", ");
            println!("there is no part '{name}': name some of {parts}");
            return;
        }
    }
    table::machine();
    for (name, part) in PARTS {
        if named.is_empty() || named.iter().any(|wanted| *wanted == name) {
            part();
        }
    }
}
