#!/usr/bin/env bash
# Checks what is no test: formatting, lints, and that the small program compiles which README.md's first command builds.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"

fail() { printf 'lint.sh: %s\n' "$1" >&2; exit 1; }

command -v cargo >/dev/null || fail 'cargo is missing: install Rust (https://rustup.rs)'
for component in rustfmt clippy; do
    cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 && continue
    command -v rustup >/dev/null || fail "cargo has no $component, and there is no rustup to install it with"
    rustup component add "$component"
done
# Where nobody builds again and again, what is kept for that costs time and three quarters of the room.
[[ -d ${CARGO_TARGET_DIR:-target}/debug/incremental ]] || export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}
cargo fmt --all --check || fail 'the formatting is not as `cargo fmt --all` makes it'
cargo clippy --workspace --quiet --all-targets --features failpoints -- -D warnings || fail 'clippy has objections'
cargo check --quiet --no-default-features --bin overnight || fail 'the program without its default features does not compile'
