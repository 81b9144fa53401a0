# What one needs at hand while working on overnight (https://just.systems). CONTRIBUTING.md says when to use which.

# List these recipes
default:
    @just --list --unsorted

# Does it compile, tests and examples included?
check:
    cargo check --workspace --all-targets --features failpoints

# Tests with one of these words in their names, on SQLite only: just test rewind todos
test +words:
    cargo test --workspace --features failpoints -- {{words}}

# Tests with one of these words in their names, on SQLite and PostgreSQL
test-postgres +words:
    ./test.sh {{words}}

# Scenarios with this word in their names, or all
scenarios word="":
    SCENARIO={{word}} cargo test --features failpoints --test it scenarios::

# Take what these tests find as what they expect, then read the diff: SCENARIO=rewind just update scenarios::
update +tests:
    UPDATE=1 INSTA_UPDATE=always cargo test --features failpoints --test it -- {{tests}}

# Formatting and lints
lint:
    ./lint.sh

# All checks, as CI makes them
all:
    ./lint.sh
    ./test.sh

# Run the sample job without a model, and check its record
sample:
    cargo run -- run extract-requirements --documents samples
    cargo run -- audit verify last

# Measure one part of the program: just bench turns; benches/README.md lists them
bench part:
    cargo bench --bench speed -- {{part}}

# The book (with mdbook) in target/book, and the API of the three crates in target/doc
docs:
    mdbook build docs
    cargo doc --workspace --no-deps
