#!/bin/sh
# Builds the Debian package of this machine's architecture: target/debian/overnight_VERSION_ARCH.deb. It needs cargo-deb
# (cargo install cargo-deb) and dpkg-dev. With --no-build, target/dist/overnight is taken as it is.
set -eu

cd "$(dirname "$0")/.."
if [ "${1:-}" != --no-build ]; then
    cargo build --profile dist --locked --package overnight
fi
program=target/dist/overnight
made=target/packaging
rm -rf "$made"
mkdir -p "$made/man"

"$program" man "$made/man"
gzip -9n "$made"/man/*.1
gzip -9nc CHANGELOG.md > "$made/changelog.gz"
for shell in bash zsh fish; do
    "$program" completions "$shell" > "$made/overnight.$shell"
done
cargo deb --no-build --profile dist --package overnight
ls -1 target/debian/overnight_*.deb
