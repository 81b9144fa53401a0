#!/bin/sh
# Checks this record of a job. It needs a POSIX shell with its usual tools, sha256sum and jq, and nothing of overnight.
#
#   sh verify.sh [ALLOWED_SIGNERS]
#
# ALLOWED_SIGNERS is a file of ssh-keygen's, with the keys whose signature counts: NAME KEY, one a line.
# Exit code 0: all is as it was left. 1: something is not, and is named. 2: it can't be checked here.
#
# What holds what: seal.sha256 lists manifest.sha256 (and its signature and time-stamp), which lists every other file. Each
# line of the journal holds the SHA-256 of the line before it; the journal holds the hashes of job.yaml, documents, assets,
# deliverables and of each archive's manifest.json, which holds those of its files. anchor.json is what the database knew.
#
# Hashes are compared as texts (x "" == y ""): awk would take 12e4567 for a number.
set -u
LC_ALL=C
export LC_ALL
TAB=$(printf '\t')

# What a file name may hold, and a terminal obeys, is left out.
plain() { tr -d '\000-\010\013-\037\177'; }
ok() { printf 'ok: %s\n' "$1" | plain; }
unknown() { printf 'not known: %s\n' "$1" | plain; }
faults() { sed 's/^/FAULT: /' | plain | tee -a "$work/faults"; }

# The parts of the journal in the order of the chain. What a crash left beside the archive that was made of it is left out.
segments() {
    for file in workspace/archive/*/journal.jsonl workspace/journal.jsonl; do
        [ -s "$file" ] || continue
        first=$(head -n 1 "$file" | sed -n 's/^{"seq":\([0-9][0-9]*\),.*/\1/p')
        printf '%s %s\n' "${first:-0}" "$file"
    done | sort -n -s -k 1,1 | sed 's/^[0-9]* //' | while IFS= read -r file; do
        size=$(wc -c < workspace/journal.jsonl)
        if [ "$file" != workspace/journal.jsonl ] && [ "$size" -gt 0 ] &&
            head -c "$size" "$file" | cmp -s - workspace/journal.jsonl; then
            touch "$work/is_superseded"
        fi
        [ "$file" = workspace/journal.jsonl ] && [ -e "$work/is_superseded" ] || printf '%s\n' "$file"
    done
}

# Every file against the manifest; what is missing and what nobody listed is named too.
check_manifest() {
    find . ! -type d ! -path ./seal.sha256 -exec sha256sum {} + | sed 's|  \./|  |' > "$work/now"
    awk '
        function name() { return (substr($0, 1, 1) == "\\" ? "\\" : "") substr($0, index($0, "  ") + 2) }
        function hash() { sub(/^\\/, "", $1); return $1 }
        FNR == 1 { list++; file = FILENAME }
        list == 1 { now[name()] = hash(); next }
        { n = name(); listed[n]; if (!(n in now)) print n ": missing: " file " lists it"
          else if (now[n] "" != hash() "") print n ": changed: not the file that " file " lists" }
        END { for (n in now) if (!(n in listed)) print n ": added: manifest.sha256 does not list it" }
    ' "$work/now" manifest.sha256 seal.sha256 | sort | faults
    [ -s "$work/faults" ] || ok "$(wc -l < "$work/now" | tr -d ' ') files are as they are listed, and there are no others"
}

# Each line of the journal: its own checksum, its number, and whether it holds the hash of the line before it.
check_chain() {
    mkdir "$work/lines"
    awk -v dir="$work/lines" 'BEGIN { ORS = "" } {
        line = sprintf("%s/%09d", dir, NR)
        print $0 > line; close(line)
        print substr($0, 1, length($0) - length(",\"sum\":\"0123456789abcdef\"}")) > (line ".summed"); close(line ".summed")
        print FILENAME "\t" FNR "\n"
    }' "$@" > "$work/places"
    (cd "$work/lines" && find . -type f -exec sha256sum {} + | sort -k 2) > "$work/hashes"
    awk '!/summed$/ { print $1 }' "$work/hashes" > "$work/heads"
    awk '/summed$/ { print substr($1, 1, 16) }' "$work/hashes" > "$work/sums"
    cat "$@" | jq -R -r '(try (fromjson | [.seq, .prev, .sum] | map(tostring)) catch ["?", "?", "?"]) | @tsv' > "$work/said"
    paste "$work/places" "$work/said" "$work/heads" "$work/sums" > "$work/chain"
    awk -F "$TAB" '
        BEGIN { prev = sprintf("%064d", 0); next_seq = 1 }
        { place = $1 " line " $2
          if ($5 "" != $7 "") print place ": this line was changed: its own checksum is another one"
          else if ($3 != next_seq) print place ": it is number " $3 ", expected " next_seq ": lines are missing or out of order"
          if ($4 "" != prev "") print place ": it does not follow from the line before it: one of the two was changed"
          next_seq = $3 + 1; prev = $6 }
    ' "$work/chain" > "$work/broken"
    faults < "$work/broken"
    if [ ! -s "$work/chain" ]; then
        echo "workspace/journal.jsonl: there is no journal" | faults
    elif [ -n "$(tail -c 1 "$(awk -F "$TAB" 'END { print $1 }' "$work/chain")")" ]; then
        echo "$(awk -F "$TAB" 'END { print $1 " line " $2 }' "$work/chain"): the line has no end: it was cut off" | faults
    elif [ ! -s "$work/broken" ]; then
        ok "$(awk -F "$TAB" 'END { print NR " lines of the journal follow from each other; the head is " $6 }' "$work/chain")"
    fi
}

# The files whose hashes journal and archives hold.
check_held() {
    {
        cat "$@" | jq -R -r '
            fromjson? | .seq as $seq | .events[]?
            | (.spec.documents // .documents // [] | .[]
                | ["documents/" + .name, .sha256], ["documents/.text/" + .name + ".txt", .text_sha256]),
              if .type == "job_created" then
                ["job.yaml", .spec_sha256],
                (.spec.assets[] | ["assets/" + (.path | ltrimstr("assets/")), .sha256])
              elif .type == "archive_stored" then ["archive/" + .folder + "/manifest.json", .manifest_sha256]
              elif .type == "field_corrected" then [.path, .sha256]
              elif .type == "phase_started" then ["reopened", ""]
              elif .type == "job_ended" then
                (.ending.deliverables[] | [.path, .sha256]), (.ending.quotes // empty | [.path, .sha256])
              else empty end
            | . + ["the journal, line \($seq)"] | @tsv'
        for manifest in workspace/archive/*/manifest.json; do
            [ -e "$manifest" ] && jq -r --arg folder "${manifest#workspace/}" '
                ($folder | rtrimstr("manifest.json")) as $folder | .files | to_entries[]
                | [$folder + .key, .value.sha256, $folder + "manifest.json"] | @tsv' "$manifest"
        done
    } > "$work/held"
    awk -F "$TAB" '
        FNR == NR { hash = $0; sub(/^\\/, "", hash); at = index(hash, "  "); name = substr(hash, at + 2)
                    now[name] = substr(hash, 1, at - 1); next }
        # What a job delivered before it was taken up again may have changed since.
        $1 == "reopened" { for (n in held) if (n ~ /^output\// || n !~ /\//) if (n != "job.yaml") delete held[n]; next }
        { held[$1] = $2; by[$1] = $3 }
        END { for (n in held) { if (!("workspace/" n in now)) print "workspace/" n ": missing: " by[n] " holds its hash"
                else if (now["workspace/" n] "" != held[n] "") print "workspace/" n ": changed: " by[n] " holds another hash"
                else same++ }
              print same + 0 > sames
              for (n in now) if (n ~ /^workspace\// && !(substr(n, 11) in held) && n !~ /^workspace\/(archive\/[^\/]*\/)?journal\.jsonl$/)
                  print substr(n, 11) > alones }
    ' sames="$work/same" alones="$work/alone" "$work/now" "$work/held" | sort > "$work/other"
    faults < "$work/other"
    [ -s "$work/other" ] || ok "$(cat "$work/same") files are those whose hashes journal and archives hold"
    [ ! -s "$work/alone" ] || unknown "whether these are as the job left them, for only manifest.sha256 holds their hashes ('overnight audit verify' compares most of them with the journal's texts): $(sort "$work/alone" | paste -s -d ',' - | sed 's/,/, /g')"
}

# The journal's end against what the database knew.
check_anchor() {
    jq -r '[.seq // "none", .head // "none", .database // "none"] | @tsv' anchor.json > "$work/anchor" 2>&1
    read -r seq head database < "$work/anchor" || seq=unreadable
    last=$(awk -F "$TAB" 'END { print $3 }' "$work/chain")
    case $seq in
    none) unknown "whether lines are missing behind line $last, or were written anew: no database was asked when the record was made" ;;
    *[!0-9]*) echo "anchor.json: it can't be read" | faults ;;
    *)
        if ! awk -F "$TAB" '$3 == seq && $6 "" == head "" { found = 1 } END { exit !found }' seq="$seq" head="$head" "$work/chain"
        then
            echo "anchor.json: the database knew a line $seq that is not in the journal, which ends at $last" | faults
        elif [ "$seq" = "$last" ]; then
            ok "the journal ends with the line that the database knew last ($database), line $seq"
        else
            ok "the database ($database) knew the journal up to line $seq"
            unknown "whether lines are missing behind line $last: the database had not been told of those behind $seq"
        fi
        ;;
    esac
}

check_signature() {
    allowed=$1
    if [ ! -f manifest.sha256.sig ]; then
        unknown "who made this record: it is not signed. Compare the hash of manifest.sha256 with what you were told by another way"
        [ -z "$allowed" ] || echo "manifest.sha256.sig: missing: signers were given, and nobody has signed" | faults
    elif ! command -v ssh-keygen > /dev/null; then
        unknown "whether the signature is good: ssh-keygen is not here"
        [ -z "$allowed" ] || echo "manifest.sha256.sig: it can't be checked here" | faults
    elif [ -n "$allowed" ]; then
        who=$(ssh-keygen -Y find-principals -f "$allowed" -s manifest.sha256.sig 2> /dev/null | head -n 1)
        if [ -n "$who" ] && ssh-keygen -Y verify -f "$allowed" -I "$who" -n overnight -s manifest.sha256.sig \
            < manifest.sha256 > /dev/null 2>&1; then
            ok "signed by $who"
        else
            echo "manifest.sha256.sig: no key of $allowed has signed this manifest.sha256" | faults
        fi
    elif key=$(ssh-keygen -Y check-novalidate -n overnight -s manifest.sha256.sig < manifest.sha256 2> /dev/null); then
        ok "$key"
        unknown "whose key that is: run 'sh verify.sh ALLOWED_SIGNERS' with the keys of whom you trust"
    else
        echo "manifest.sha256.sig: it is no signature of this manifest.sha256" | faults
    fi
    if [ -f manifest.sha256.tsr ]; then
        unknown "whether the time-stamp is good: openssl ts -verify -data manifest.sha256 -in manifest.sha256.tsr -CAfile CA.pem"
    fi
}

main() {
    for tool in sha256sum jq awk find sed sort paste cmp; do
        command -v "$tool" > /dev/null || { echo "verify.sh needs $tool, which is not here" >&2; exit 2; }
    done
    allowed=${1:-}
    case $allowed in "" | /*) ;; *) allowed=$PWD/$allowed ;; esac
    [ -z "$allowed" ] || [ -r "$allowed" ] || { echo "verify.sh: there is no file $allowed that can be read" >&2; exit 2; }
    cd "$(dirname "$0")" || exit 2
    for file in manifest.sha256 seal.sha256 anchor.json workspace/job.yaml; do
        [ -f "$file" ] || { echo "FAULT: $file: missing"; exit 1; }
    done
    work=$(mktemp -d) || exit 2
    trap 'rm -rf "$work"' EXIT
    : > "$work/faults"
    # Nothing may fail in silence: what a tool complains of is a fault too.
    exec 2> "$work/errors"
    check_manifest
    segments > "$work/segments"
    IFS='
'
    set -f
    # shellcheck disable=SC2046 # one file a line
    set -- $(cat "$work/segments")
    unset IFS
    set +f
    check_chain "$@"
    check_held "$@"
    check_anchor
    check_signature "$allowed"
    unknown "whether this script is the one that overnight writes, and not one that was exchanged with the rest: compare it with that of another record"
    unknown "whether record.html tells what the journal holds: make it anew with 'overnight audit export' and compare"
    echo "sha256 of manifest.sha256: $(sha256sum < manifest.sha256 | cut -d ' ' -f 1)"
    sed 's/^/verify.sh itself, or a tool that it uses: /' "$work/errors" | faults
    exec 2>&1
    count=$(wc -l < "$work/faults" | tr -d ' ')
    # Once more, and plainly: what was changed may be what is above.
    sha256sum -c manifest.sha256 seal.sha256 > /dev/null 2>&1 || count="$count or more"
    if [ "$count" = 0 ]; then
        echo "all that can be checked here is as it was left"
        exit 0
    fi
    echo "NOT as it was left: faults: $count, the first: $(head -n 1 "$work/faults")"
    false
}

main "$@"
