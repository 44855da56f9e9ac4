#!/usr/bin/env bash
# Sends thousands of requests made from assets/openapi.json to `groupdesk serve` and checks every answer against it.
# Needs `schemathesis` (pip install schemathesis). Usage: tests/schemathesis.sh [EXAMPLES PER OPERATION, usually 3000]
# GROUPDESK names a program that was built already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
examples=${1:-3000}

command -v schemathesis >/dev/null || {
    echo 'no schemathesis; install it with: pip install schemathesis' >&2
    exit 2
}
program=$(realpath "${GROUPDESK:-/}")
if [ "$program" = / ]; then
    cargo build --locked
    program=$(realpath "${CARGO_TARGET_DIR:-target}/debug/groupdesk")
fi

folder=$(mktemp -d)
service=
trap '[ -z "$service" ] || kill "$service" 2>/dev/null || true; rm -rf "$folder"' EXIT
database=$folder/service.db
key=$("$program" serve keys create --environment live --tag Customer --database "$database")
"$program" serve --listen 127.0.0.1:0 --database "$database" >"$folder/address" 2>"$folder/log" &
service=$!
for _ in $(seq 100); do
    [ -s "$folder/address" ] && break
    sleep 0.1
done
address=$(sed -n 's/^listening on //p' "$folder/address")

# The key is of a throw-away service, so it may be on a command line. NUL is refused everywhere, which a schema cannot
# express for free-form objects.
code=0
description=$PWD/assets/openapi.json
cd "$folder"
schemathesis run "$description" \
    --url "${address%/api/user}" \
    --header "Authorization: Token $key" \
    --max-examples "$examples" \
    --workers 2 \
    --generation-allow-x00 false \
    --continue-on-failure \
    --suppress-health-check all \
    --checks all \
    --exclude-checks unsupported_method \
    --request-timeout 60 \
    --max-response-time 60 || code=$?
if [ -s "$folder/log" ]; then
    echo 'the service said:' >&2
    cat "$folder/log" >&2
fi
exit "$code"
