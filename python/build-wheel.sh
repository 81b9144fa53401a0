#!/bin/sh
# Builds the wheel that brings the program `overnight` and the Python package `overnight`.
#
#   sh python/build-wheel.sh          with the profile `release`
#   sh python/build-wheel.sh dist     with another one of Cargo.toml
#
# It needs cargo, and maturin (pip install maturin). The wheel is for this system and this kind of processor, and for every Python
# from 3.10 on.
set -eu

profile=${1:-release}
here=$(cd "$(dirname "$0")" && pwd)
wheels=$here/../target/wheels
mkdir -p "$wheels"
wheels=$(cd "$wheels" && pwd)

if ! command -v maturin >/dev/null; then
    echo "maturin is not on the path: pip install maturin" >&2
    exit 1
fi

# What this run makes goes through a folder of its own, so that it can be told from older wheels.
made=$(mktemp -d "$wheels/build.XXXXXX")
trap 'rm -rf "$made"' EXIT
cd "$here"
maturin build --locked --profile "$profile" --out "$made"

for wheel in "$made"/*.whl; do
    name=$(basename "$wheel")
    mv "$wheel" "$wheels/$name"
    echo "made: $wheels/$name ($(wc -c <"$wheels/$name" | tr -d ' ') bytes, profile $profile)"
    echo "install it with: pip install '$wheels/$name'"
done
