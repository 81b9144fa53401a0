#!/usr/bin/env bash
# What jobs cost a worker that wait for answers, by the program itself.
#
#   benches/waiting.sh PROGRAM JOBS FOLDER
#
# FOLDER is made, and holds all that is made; the database is a SQLite file in it. A worker takes one-document jobs to the point where
# their first call is handed in and waits with them for a minute; its memory and processor's time are read from /proc, beside those of
# a worker with nothing to do. Then it is stopped, the answers come, and another worker goes on to the end. It runs on Linux only.
set -euo pipefail
(($# == 3)) || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
scripted=$(realpath "$(dirname "$0")")/scale
program=$(realpath "$1") jobs=$2 folder=$3
mkdir -- "$folder" && cd -- "$folder"
export OVERNIGHT_WORKSPACES=$PWD/workspaces
mkdir -p docs workspaces

for ((n = 0; n < jobs; n++)); do
    printf '# Contract %d\n\nThe supplier MUST deliver %d crates. The buyer SHOULD pay within %d days.\n' \
        "$n" "$n" "$((n % 90 + 1))" > "docs/$n.md"
done
{
    cat "$scripted/replies.yaml"
    printf 'later: {folder: %s/calls, after_ms: 3600000, every_ms: 10000}\n' "$PWD"
} > replies.yaml

count() { # count STATUS: how many jobs are so
    "$program" show many --json -q | awk -F '[:,]' -v status="\"$1\"" '$1 ~ status { print $2 + 0; exit }'
}

cost() { # cost PID: own memory in KiB, and the processor's time in ticks
    awk '/^RssAnon:/ { anon = $2 } /^RssShmem:/ { shared = $2 } END { print anon + shared }' "/proc/$1/status"
    awk '{ print $14 + $15 }' "/proc/$1/stat"
}

watch_minute() { # watch_minute NAME PID
    local before after
    mapfile -t before < <(cost "$2")
    sleep 60
    mapfile -t after < <(cost "$2")
    awk -v name="$1" -v kib="${after[0]}" -v ticks="$((after[1] - before[1]))" -v hertz="$(getconf CLK_TCK)" 'BEGIN {
        printf "| %s | %.1f MiB | %.2f %% of a core |\n", name, kib / 1024, ticks / hertz / 60 * 100 }'
}

echo '| a worker | own memory | over a minute |'
echo '|---|---|---|'
"$program" work -q 2> idle.err & worker=$!
trap 'kill "$worker" 2>/dev/null || true' EXIT
sleep 5
watch_minute 'with nothing to do' "$worker"
"$program" submit "$scripted/requirements.md" --model scripted:replies.yaml -d docs --each --batch many -q
until (($(count waiting) == jobs)); do sleep 1; done
sleep 5
watch_minute "with $jobs jobs that wait" "$worker"
kill "$worker"
wait "$worker" || true
trap - EXIT

past=$(date -u -d '1 minute ago' +%Y-%m-%dT%H:%M:%S.000Z)
sed -i "s/\"answered_at\":\"[^\"]*\"/\"answered_at\":\"$past\"/" calls/*.json
sed -i 's/after_ms: 3600000, every_ms: 10000/after_ms: 0, every_ms: 10/' replies.yaml
"$program" work --until-empty --concurrency 4 -q
echo "$(count completed) of $jobs jobs completed by another worker; $(find calls -name '*.json' | wc -l) calls were handed in" >&2
