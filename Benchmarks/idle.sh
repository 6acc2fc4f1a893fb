#!/bin/bash
# idle.sh [SECONDS]: how often a daemon with nothing to do wakes in that time (60 s): 0 is what it should print.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
binary=$PWD/.build/release/clientsecretd
[ -x "$binary" ] || { echo "idle.sh: run 'make build' first" >&2; exit 1; }
work=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill "$daemon"; wait; rm -rf "$work"' EXIT
mkdir "$work/out"
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/AuthKey_ABC123DEFG.p8" 2>/dev/null
chmod 0600 "$work/AuthKey_ABC123DEFG.p8"
cat >"$work/clientsecretd.yaml" <<YAML
keys:
  apple:
    team_id: DEF123GHIJ
    file: $work/AuthKey_ABC123DEFG.p8
state_dir: $work/state
clients:
  web:
    client_id: com.example.web
    outputs:
      - path: $work/out/web.jwt
YAML
"$binary" run --config "$work/clientsecretd.yaml" --socket "$work/socket" 2>/dev/null &
daemon=$!
# Its own writes are noticed and looked at once more; then there is nothing left to do.
sleep 10
switches() { awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum }' /proc/"$daemon"/task/*/status; }
before=$(switches)
sleep "$seconds"
after=$(switches)
echo "voluntary context switches in $seconds s: $((after - before))"
awk '/^(VmRSS|Threads)/' /proc/"$daemon"/status
