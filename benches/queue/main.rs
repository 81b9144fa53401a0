//! The queue's speed in PostgreSQL, with every commit on the disk: `benches/README.md` has the table.
//!
//! `cargo bench --bench queue -- NAME…` measures the named parts, all of them without a name, on a server of its own. A row
//! that misses its target says so; nothing fails by it, because a machine may be busy.

#![expect(clippy::unwrap_used, reason = "a measurement that can't be made fails by it")]
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::cast_precision_loss, reason = "no figure here has more than a few digits that count")]

mod growth;
mod latency;
mod load;
#[path = "../speed/measure.rs"]
#[expect(dead_code, reason = "the other bench uses it")]
mod measure;
mod rates;
#[path = "../../tests/it/postgres.rs"]
mod server;
mod still;
#[path = "../speed/table.rs"]
mod table;
mod takeover;

use load::Ground;

/// A part's name, and the part.
type Part = (&'static str, fn(&Ground));

const PARTS: [Part; 5] = [
    ("rates", rates::measure),
    ("latency", latency::measure),
    ("still", still::measure),
    ("growth", growth::measure),
    ("takeover", takeover::measure),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` runs this too, without the word: there is nothing to test.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let named: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    for name in &named {
        if PARTS.iter().all(|(part, _)| part != name) {
            let parts = PARTS.map(|(part, _)| part).join(", ");
            println!("there is no part '{name}': name some of {parts}");
            return;
        }
    }
    let Some(server) = server::Server::start("-c shared_buffers=512MB -c max_wal_size=4GB") else {
        println!("PostgreSQL's programs (initdb, postgres, pg_ctl) are missing: install the package postgresql");
        return;
    };
    let ground = Ground::new(server);
    table::machine();
    for (name, part) in PARTS {
        if named.is_empty() || named.iter().any(|wanted| *wanted == name) {
            part(&ground);
        }
    }
}
