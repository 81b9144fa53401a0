#!/usr/bin/env bash
# Runs all tests, on SQLite and on a PostgreSQL server of its own, which is started here, listens on loopback only, and is
# gone afterwards. Formatting and lints are checked by lint.sh.
#
#   ./test.sh            all tests
#   ./test.sh NAME…      only tests whose names contain one of these (or flags of the test program, such as --nocapture)
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"

fail() { printf 'test.sh: %s\n' "$1" >&2; exit 1; }

step() { # step NAME COMMAND…: runs it, and says how long it took
    local name=$1 since=$SECONDS
    shift
    printf '== %s\n' "$name"
    "$@" || fail "$name failed after $((SECONDS - since)) s"
    printf '== %s: %d s\n' "$name" $((SECONDS - since))
}

# ── PostgreSQL's programs. They refuse to run as root, so root uses the account that the package brings.

bin='' folder='' account='' memory=''

find_postgres() {
    local place
    for place in "$(pg_config --bindir 2>/dev/null || true)" \
        $(printf '%s\n' /usr/lib/postgresql/*/bin | sort -rV) \
        "$(dirname -- "$(command -v initdb 2>/dev/null || echo /nowhere/initdb)")"; do
        if [[ -x $place/initdb && -x $place/postgres && -x $place/pg_ctl ]]; then
            bin=$place
            return
        fi
    done
    return 1
}

install_packages() { # install_packages PACKAGE…
    local as_root=()
    command -v apt-get >/dev/null || return 1
    if ((EUID != 0)); then
        command -v sudo >/dev/null && sudo -n true 2>/dev/null || return 1
        as_root=(sudo -n)
    fi
    "${as_root[@]}" apt-get update -qq \
        && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
}

as_account() {
    if [[ -n $account ]]; then (cd / && runuser -u "$account" -- "$@"); else "$@"; fi
}

stop_postgres() {
    local code=$?
    trap - EXIT INT TERM HUP
    local data
    if [[ -n $folder ]]; then
        # Those of tests that could not end as well.
        for data in "$folder"/data "$folder"/*/data; do
            if [[ -f $data/postmaster.pid ]]; then
                as_account "$bin/pg_ctl" stop --pgdata="$data" --mode=immediate --silent || true
            fi
        done
        rm -rf -- "$folder"
    fi
    [[ -z $memory ]] || rm -rf -- "$memory"
    exit "$code"
}

start_postgres() {
    local port
    if ((EUID == 0)); then
        account=postgres
        id -u "$account" >/dev/null 2>&1 || fail "there is no user '$account' to run PostgreSQL as, and it refuses root"
    fi
    trap stop_postgres EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    # Not under TMPDIR: a socket's path may have about 100 bytes, and the account must reach it.
    folder=$(mktemp -d /tmp/overnight-test.XXXXXX)
    [[ -z $account ]] || chown "$account" "$folder"
    as_account "$bin/initdb" --pgdata="$folder/data" --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync \
        >"$folder/initdb.log" 2>&1 || { cat "$folder/initdb.log" >&2; return 1; }
    # A port that was free a moment ago may be taken now: try another then.
    for _ in 1 2 3 4 5; do
        port=$((20000 + RANDOM % 12000))
        # All in one file, so that the server's output doesn't keep this script's alive.
        if as_account "$bin/pg_ctl" start --pgdata="$folder/data" --log="$folder/data/server.log" --wait --timeout=30 --silent \
            --options="-c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories=$folder -c fsync=off -c max_connections=200" \
            >/dev/null; then
            export OVERNIGHT_TEST_POSTGRES="postgres://postgres@127.0.0.1:$port"
            return
        fi
    done
    cat "$folder/data/server.log" >&2
    return 1
}

# ── The tests

command -v cargo >/dev/null || fail 'cargo is missing: install Rust (https://rustup.rs)'
find_postgres || step 'install PostgreSQL' install_packages postgresql || true
[[ -n $bin ]] || find_postgres \
    || fail "PostgreSQL's programs (initdb, postgres, pg_ctl) are missing: install the package postgresql"
# The record of a job is unpacked, checked with jq, and signed by ssh-keygen.
{ command -v jq && command -v ssh-keygen && command -v unzip; } >/dev/null \
    || step 'install jq, OpenSSH and unzip' install_packages jq openssh-client unzip
step 'start PostgreSQL' start_postgres
# For tests that need a server of their own, which they stop and start: its programs, and where to put it.
export OVERNIGHT_TEST_POSTGRES_PROGRAMS=$bin OVERNIGHT_TEST_POSTGRES_FOLDER=$folder
# Two tests in three wait most of their time, for a lease, a process, a store: more of them at once than there are processors.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(nproc) * 2))}
# Where nobody builds again and again, what is kept for that costs time and three quarters of the room.
[[ -d ${CARGO_TARGET_DIR:-target}/debug/incremental ]] || export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}
# Tests write many small files and have each put on the disk: where there is room enough, they are kept in memory.
if [[ -z ${TMPDIR:-} && -w /dev/shm ]] && (($(df --output=avail --block-size=1M /dev/shm | tail -n 1) > 8000)) \
    && (($(sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' /proc/meminfo) > 12000000)); then
    memory=$(mktemp -d /dev/shm/overnight-test.XXXXXX)
    # Some tests work as another account.
    chmod 755 "$memory"
    printf '#!/bin/sh\n' >"$memory/starts" && chmod +x "$memory/starts"
    # Some tests start programs that they have written.
    if "$memory/starts" 2>/dev/null; then export TMPDIR=$memory; fi
fi
# With the places at which tests kill the program: one build for all of it.
step 'cargo test' cargo test --workspace --quiet --features failpoints -- "$@"
