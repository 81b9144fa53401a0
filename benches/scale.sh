#!/usr/bin/env bash
# Many jobs from submission to packing, by the program itself: how long each step takes, how much of a processor's time and how much
# memory at most, how much it prints.
#
#   benches/scale.sh PROGRAM JOBS FOLDER [DATABASE_URL]
#
# FOLDER is made, and holds all that is made; without a URL the database is a SQLite file in it. One document a job, worked
# by the replies of scale/replies.yaml, four at once; WORK_FOR=20m works no longer than that, and the rest stays queued.
# It runs on Linux only, because it reads /proc.
set -euo pipefail
(($# >= 3)) || { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
scripted=$(realpath "$(dirname "$0")")/scale
program=$(realpath "$1") jobs=$2 folder=$3 url=${4:-}
mkdir -- "$folder" && cd -- "$folder"
export OVERNIGHT_WORKSPACES=$PWD/workspaces
if [[ -n $url ]]; then export OVERNIGHT_DATABASE_URL=$url; fi
mkdir -p docs workspaces

for ((n = 0; n < jobs; n++)); do
    ((n % 1000)) || mkdir -p "docs/$((n / 1000))"
    printf '# Contract %d\n\nThe supplier MUST deliver %d crates. The buyer SHOULD pay within %d days.\n' \
        "$n" "$n" "$((n % 90 + 1))" > "docs/$((n / 1000))/$n.md"
done

peak() { # peak PID: the most memory that a process had, and the hundredths of a second of a processor's time, its children's too, until it ends
    local most=0 used=0 now
    while now=$(awk '/^VmHWM:/ { print $2 }' "/proc/$1/status" 2>/dev/null) && [[ -n $now ]]; do
        most=$now
        used=$(awk '{ print $14 + $15 + $16 + $17 }' "/proc/$1/stat" 2>/dev/null || echo "$used")
        sleep 0.05
    done
    echo "$most $used"
}

row() { # row NAME NANOSECONDS PEAK_KIB HUNDREDTHS BYTES
    local jobs=$jobs
    case $1 in work | prune*) jobs=$(ended) ;; esac
    awk -v name="$1" -v ns="$2" -v kib="$3" -v used="$4" -v bytes="$5" -v jobs="$jobs" 'BEGIN {
        printf "| %s | %d | %.1f s | %.3f ms | %.3f ms | %.0f MiB | %.1f KB |\n",
            name, jobs, ns / 1e9, ns / 1e6 / jobs, used * 10 / jobs, kib / 1024, bytes / 1000 }'
}

ended() { # of the jobs, those that have ended, and one at least
    "$program" show many --json -q | awk -F '[:,]' '$1 ~ /"completed"/ { print ($2 > 0 ? $2 + 0 : 1) }'
}

measure() { # measure NAME ARGUMENTS…
    local name=$1 began pid most used code=0
    shift
    began=$(date +%s%N)
    "$program" "$@" > out 2> err & pid=$!
    read -r most used < <(peak "$pid")
    wait "$pid" || code=$?
    row "$name" "$(($(date +%s%N) - began))" "$most" "$used" "$(stat -c %s out)"
    if ((code)); then printf '%s: exit code %d: %s\n' "$name" "$code" "$(tail -n 1 err)" >&2; fi
}

echo '| step | jobs | time | a job | processor, a job | peak memory | printed |'
echo '|---|---|---|---|---|---|---|'
measure submit submit "$scripted/requirements.md" --model "scripted:$scripted/replies.yaml" -d docs --each --batch many --json -q
measure work work --until-empty --concurrency 4 ${WORK_FOR:+--drain-after "$WORK_FOR"} -q
measure 'report, HTML' report many -o report.html -q
measure 'report --collect' report many --collect results -o collected.json -q
measure 'export, CSV' export many -o records.csv -q
measure show show many -q
du -sk --apparent-size workspaces | awk -v jobs="$jobs" '{ printf "workspaces: %.1f KB a job\n", $1 / jobs }' >&2

"$program" serve --listen 127.0.0.1:0 --read-only > served 2> serve.err & server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
until grep -q token served; do sleep 0.05; done
address=$(sed 's|/?token=.*||' served) token=$(sed 's|.*token=||' served)
page() { # page NAME PATH: the middle one of nine
    local times
    times=$(for _ in 1 2 3 4 5 6 7 8 9; do
        curl -s -o page.html -w '%{time_total}\n' -H "Authorization: Bearer $token" "$address$2"
    done | sort -n | sed -n 5p)
    row "serve: $1" "$(awk -v s="$times" 'BEGIN { printf "%d", s * 1e9 }')" \
        "$(awk '/^VmHWM:/ { print $2 }' "/proc/$server/status")" 0 "$(stat -c %s page.html)"
}
page 'the list' /
page 'its last page' "/?page=$(((jobs + 99) / 100))"
page 'a search' '/?q=99.md'
kill "$server"
wait "$server" || true
trap - EXIT

measure 'prune --pack' prune --older-than 0s --pack -q
du -sk --apparent-size workspaces | awk -v jobs="$jobs" '{ printf "workspaces: %.1f KB a job\n", $1 / jobs }' >&2
measure 'report of packed jobs' report many -o packed.html -q
measure 'export of packed jobs' export many -o packed.csv -q
cmp records.csv packed.csv
measure 'show of a packed one' show last -q
