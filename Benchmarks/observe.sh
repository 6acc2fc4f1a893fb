#!/bin/bash
# observe.sh [SECONDS]: how soon root's /healthz is answered (the 99th percentile shall stay below 250 ms) while 1,000 idle
# and 200 slow visitors take every connection that they can get (30 s), how late a secret is renewed meanwhile, and how
# many descriptors the daemon has before and afterwards. To be run as root, who can come as many users.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-30}
binary=$PWD/.build/release/clientsecretd
[ -x "$binary" ] || { echo "observe.sh: run 'make build' first" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || { echo "observe.sh: run it as root, who can come as many users" >&2; exit 1; }
work=$(mktemp -d)
chmod 0755 "$work"
daemon=
trap '[ -z "$daemon" ] || kill "$daemon"; wait; rm -rf "$work"' EXIT
mkdir "$work/out"
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/AuthKey_ABC123DEFG.p8" 2>/dev/null
chmod 0600 "$work/AuthKey_ABC123DEFG.p8"
# Renewed for the first time a minute after the start.
cat >"$work/clientsecretd.yaml" <<YAML
keys:
  apple:
    team_id: DEF123GHIJ
    file: $work/AuthKey_ABC123DEFG.p8
state_dir: $work/state
clients:
  web:
    client_id: com.example.web
    lifetime: 120s
    renew_before: 60s
    outputs:
      - path: $work/out/web.jwt
YAML
"$binary" run --config "$work/clientsecretd.yaml" --socket "$work/socket" 2>/dev/null &
daemon=$!
sleep 2
field() { "$binary" status --json --socket "$work/socket" | grep -oP "\"$1\":\"\K[^\"]+" | head -1; }
descriptors() { find /proc/"$daemon"/fd -mindepth 1 | wc -l; }
due=$(field renew_at)
echo "waiting for the time of the next renewal"
sleep $(($(date -d "$due" +%s) - $(date +%s) - seconds / 2))
before=$(descriptors)
python3 Tests/Visitors/crowd.py "$work/socket" 1000 200 "$seconds" | tr -d '{}"' | tr ',' '\n' |
    awk '{ print "/healthz of root, in milliseconds or times:" $0 }'
sleep 2
issued=$(field issued_at)
# `iat` lies a minute before the secret was made.
echo "renewed $(($(date -d "$issued" +%s) + 60 - $(date -d "$due" +%s))) s after it was due"
echo "descriptors: $before before, $(descriptors) afterwards"
