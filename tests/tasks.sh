#!/usr/bin/env bash
# A night on call, done with commands alone. It uses the service of the demo, so nothing real is touched.
#   tests/tasks.sh [PROGRAM]      PROGRAM is groupdesk, or for example target/debug/groupdesk
# Every step checks its result; the first wrong one ends the script with 1.
set -euo pipefail

program=$(command -v "${1:-groupdesk}") || { echo "there is no program ${1:-groupdesk}" >&2; exit 1; }
program=$(realpath "$program")
groupdesk() { "$program" "$@"; }

say() { printf '\n== %s\n' "$*"; }

# is WHAT WANTED FOUND
is() {
    if [ "$2" != "$3" ]; then
        printf 'FAILED: %s: wanted %s, found %s\n' "$1" "$2" "$3" >&2
        exit 1
    fi
    printf '   %s: %s\n' "$1" "$3"
}

# code COMMAND...: its exit code, with what it prints in the files out and err
code() {
    local code=0
    "$@" >out 2>err || code=$?
    echo "$code"
}

# count PATTERN FILE: how many lines have it
count() { grep -c -- "$1" "$2" || true; }

# one_a_line: the objects of a JSON array, one per line (with jq: jq -c '.[]')
one_a_line() { tr -d '\n' | sed -e 's/}, *{/}\n{/g' -e 's/$/\n/' | tr -s ' '; }

folder=$(mktemp -d)
cd "$folder"
# Also what groupdesk remembers beside directories.
export XDG_DATA_HOME=$folder/data
demo=
tidy() {
    local code=$?
    if [ "$code" -ne 0 ]; then
        tail -n 20 err >&2 2>/dev/null || true
    fi
    if [ -n "$demo" ]; then
        kill "$demo" 2>/dev/null || true
        wait "$demo" 2>/dev/null || true
    fi
    rm -rf "$folder"
    exit "$code"
}
trap tidy EXIT

say 'A service to work on: two environments, a few groups, a past'
mkfifo exports
"$program" demo --hold >exports 2>demo.err &
demo=$!
# The demo says how to reach it: GROUPDESK_CONFIG and GROUPDESK_DIRECTORY.
exec 3<exports
read -r config <&3
read -r directory <&3
eval "$config"
eval "$directory"
export GROUPDESK_CONFIG GROUPDESK_DIRECTORY

say 'A profile with a hand-off: a command that takes each new token'
mkdir -m 700 vault
cat >put-token <<'END'
#!/bin/sh
# Writes one JSON object from standard input to a new file (mode 600) in the folder $1.
cat >"$(mktemp "$1/XXXXXXXX")"
END
# [profiles.testing] is the last table of the demo's file; its keys are in the same folder.
{
    sed "s|{ file = \"|{ file = \"${GROUPDESK_CONFIG%/*}/|" "$GROUPDESK_CONFIG"
    echo "handoff = { command = [\"/bin/sh\", \"$folder/put-token\", \"$folder/vault\"], timeout = \"10s\" }"
} >config.toml
chmod 600 config.toml
export GROUPDESK_CONFIG=$folder/config.toml
is 'groups of the demo' 10 "$(groupdesk list --json | count '"user_group_id"' -)"

say 'Import 40 groups, and create them at the service'
{
    echo 'user_group_id,name,mapping,properties'
    for n in $(seq 40); do
        printf 'night-%d,"Night, number %d","{""40"": ""%d""}","{""shift"": %d}"\n' "$n" "$n" "$n" "$n"
    done
} >groups.csv
is 'exit code of a rehearsal' 0 "$(code groupdesk import groups.csv --create --dry-run)"
is 'groups after it' 10 "$(groupdesk list --json | count '"user_group_id"' -)"
is 'exit code without --yes' 3 "$(code groupdesk import groups.csv --create --no-input)"
is 'exit code' 0 "$(code groupdesk import groups.csv --create --concurrency 8 --yes --json)"
is 'created' 40 "$(count '"outcome":"created"' out)"
is 'the sum' 40 "$(tail -n 1 out | sed 's/.*"created":\([0-9]*\).*/\1/')"
is 'groups now' 50 "$(groupdesk list --json | count '"user_group_id"' -)"

say 'Rotate what is older than 90 days; the age of what was created tonight is known'
groupdesk get acme-us --token-out before.token >out 2>err
is 'exit code of a rehearsal' 0 "$(code groupdesk rotate --older-than 90d --dry-run)"
is 'exit code' 0 "$(code groupdesk rotate --older-than 90d --concurrency 8 --reason 'older than 90 days' --yes --json)"
is 'groups rotated and read back' 6 "$(count '"outcome":"confirmed"' out)"
tail -n 1 out >sum
is 'planned' 6 "$(sed 's/.*"planned":\([0-9]*\).*/\1/' sum)"
is 'not handed off' 0 "$(sed 's/.*"not_handed_off":\([0-9]*\).*/\1/' sum)"
is 'tokens in the vault' 6 "$(find vault -type f -perm 600 | wc -l | tr -d ' ')"
is 'younger ones that were left alone' 0 "$(cat vault/* | count '"user_group_id":"acme-eu"' -)"
is 'rotations still to be found out' 0 "$(groupdesk rotations --open --json | count '"rotation"' -)"
# No token is that old any more, so nothing was sent.
is 'exit code of the same again' 0 "$(code groupdesk rotate --older-than 90d --yes --json)"
is 'tokens in the vault after it' 6 "$(find vault -type f | wc -l | tr -d ' ')"

say 'The first tokens of the new groups went out by mail: rotate those'
is 'exit code' 0 "$(code groupdesk rotate --filter night- --concurrency 8 --reason 'went by mail' --yes --json)"
is 'new groups rotated and read back' 40 "$(count '"outcome":"confirmed"' out)"
is 'tokens in the vault after that' 46 "$(find vault -type f | wc -l | tr -d ' ')"

say 'A token turned up in a ticket: whose is it?'
grep -l '"user_group_id":"night-27"' vault/* | xargs cat >leaked.json
sed 's/.*"token":"\([^"]*\)".*/\1/' leaked.json >leaked.token
is 'exit code' 0 "$(code groupdesk whose --json <leaked.token)"
is 'the group' night-27 "$(sed -n 's/.*"user_group_id": *"\([^"]*\)".*/\1/p' out)"
is 'it is its token now' 1 "$(count '"current": *true' out)"
is 'rotated by its token' 0 "$(code groupdesk rotate --token-stdin --reason 'stood in a ticket' --yes <leaked.token)"
is 'exit code for the dead token' 0 "$(code groupdesk whose --json <leaked.token)"
is 'it was its token once' 1 "$(count '"current": *false' out)"
is 'the one from before the night' 0 "$(code groupdesk whose --json <before.token)"
is 'was that of' acme-us "$(sed -n 's/.*"user_group_id": *"\([^"]*\)".*/\1/p' out)"
is 'a token that nobody has' 1 "$(code groupdesk whose <<<"$(printf '0%.0s' {1..64})")"
is 'half a token is no answer' 2 "$(code groupdesk whose <<<'0000000000000000')"

say 'What happened tonight, as JSON'
groupdesk history --limit 1000 --json | one_a_line >history
is 'groups created' 40 "$(count '"operation": "create".*"outcome": "created"' history)"
is 'rotated because of the mail' 40 "$(count '"outcome": "confirmed".*"reason": "went by mail"' history)"
is 'rotated because of their age' 6 "$(count '"outcome": "confirmed".*"reason": "older than 90 days"' history)"
is 'rotated because of the ticket' 1 "$(count '"outcome": "confirmed".*"reason": "stood in a ticket"' history)"
is 'handed off' 47 "$(count '"outcome": "handed_off"' history)"
groupdesk history night-27 --json | one_a_line >history
is 'lines about night-27' 7 "$(wc -l <history | tr -d ' ')"
is 'the last of them' handed_off "$(sed -n '1s/.*"outcome": "\([a-z_]*\)".*/\1/p' history)"
# No token is in anything that was printed or stored.
is 'leaked tokens in it' 0 "$(cat history out err sum "$GROUPDESK_DIRECTORY"* | grep -c -a -F -f leaked.token || true)"

say 'What is known here now, and the check of the installation itself'
groupdesk export --format csv --output known.csv
is 'groups in the export' 50 "$(tail -n +2 known.csv | wc -l | tr -d ' ')"
is 'exit code of doctor' 0 "$(code groupdesk doctor --id night-27 --json)"
is 'problems' 0 "$(count '"severity": *"problem"' out)"
is 'warnings' 0 "$(count '"severity": *"warning"' out)"

say 'The night is over; everything was as it should be'
