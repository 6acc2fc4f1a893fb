# shellcheck shell=bash
# start.sh: what the benchmarks of a running daemon begin with; sourced by each, which has `set -euo pipefail`.
#
# start CLIENT-LINES…: starts the release binary in the background with one client, `web`, and these lines more about it.
# With $clients set, there are so many clients: `web`, `c2` and so on. Its process is $daemon, its socket $work/socket; both end with the script, and so does the directory $work.
cd "$(dirname "$0")/.." || exit
binary=$PWD/.build/release/clientsecretd
[ -x "$binary" ] || { echo "$(basename "$0"): run 'make build' first" >&2; exit 1; }
work=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill "$daemon"; wait; rm -rf "$work"' EXIT

start() {
    mkdir "$work/out"
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/AuthKey_ABC123DEFG.p8" 2>/dev/null
    chmod 0600 "$work/AuthKey_ABC123DEFG.p8"
    {
        cat <<YAML
keys:
  apple:
    team_id: DEF123GHIJ
    file: $work/AuthKey_ABC123DEFG.p8
state_dir: $work/state
# Whose members may look.
control_group: games
clients:
  web:
    client_id: com.example.web
    outputs:
      - path: $work/out/web.jwt
YAML
        [ $# -eq 0 ] || printf '    %s\n' "$@"
        seq 2 "${clients:-1}" | awk -v work="$work" '{
            printf "  c%d:\n    client_id: com.example.c%d\n    outputs:\n      - path: %s/out/c%d.jwt\n", $1, $1, work, $1 }'
    } >"$work/clientsecretd.yaml"
    "$binary" run --config "$work/clientsecretd.yaml" --socket "$work/socket" 2>/dev/null &
    daemon=$!
}
