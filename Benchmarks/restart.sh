#!/bin/bash
# restart.sh [CLIENTS [RUNS]]: how long a daemon needs from its start to READY=1 over so many clients with valid secrets
# (1,000), and `check` of them, as ratios to a plain C program that reads the same files and verifies the same signatures
# on two threads. The three take turns; the median of the runs (5) is printed last. Nothing is written between the turns,
# and all files are in the page cache: it is processor time that is compared.
set -euo pipefail
cd "$(dirname "$0")/.."

clients=${1:-1000}
runs=${2:-5}
binary=$PWD/.build/release/clientsecretd
[ -x "$binary" ] || { echo "restart.sh: run 'make build' first" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -O2 -pthread -o "$work/restart" Benchmarks/restart.c -lcrypto
mkdir "$work/out" "$work/clientsecretd.d"
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/AuthKey_ABC123DEFG.p8" 2>/dev/null
chmod 0600 "$work/AuthKey_ABC123DEFG.p8"
printf 'keys:\n  apple:\n    team_id: DEF123GHIJ\n    file: %s/AuthKey_ABC123DEFG.p8\nstate_dir: %s/state\n' \
    "$work" "$work" >"$work/clientsecretd.yaml"
# A file of the configuration holds 1 MiB at most.
seq "$clients" | awk -v directory="$work" '
    NR % 2000 == 1 { file = sprintf("%s/clientsecretd.d/%03d.yaml", directory, NR / 2000); print "clients:" >file }
    { printf "  c%d:\n    client_id: com.example.c%d\n    outputs:\n      - path: %s/out/c%d.jwt\n",
        $1, $1, directory, $1 >file }'
"$binary" run --once --config "$work/clientsecretd.yaml" 2>/dev/null

# ready: the seconds from the start of a daemon to its READY=1.
ready() {
    python3 - "$work" "$binary" <<'PYTHON'
import os, socket, subprocess, sys, time
directory, binary = sys.argv[1:]
path = directory + "/notify.sock"
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
    told.bind(path)
    told.settimeout(120)
    began = time.monotonic()
    daemon = subprocess.Popen(
        [binary, "run", "--config", directory + "/clientsecretd.yaml", "--socket", directory + "/status.sock"],
        stderr=subprocess.DEVNULL, env=dict(os.environ, NOTIFY_SOCKET=path))
    try:
        while b"READY=1" not in told.recv(4096).split(b"\n"):
            pass
        print(f"{time.monotonic() - began:.3f}")
    finally:
        told.close()
        os.unlink(path)
        daemon.terminate()
        daemon.wait()
PYTHON
}

TIMEFORMAT=%R
for run in $(seq "$runs"); do
    plain=$("$work/restart" "$work" "$clients" "$work/AuthKey_ABC123DEFG.p8")
    start=$(ready)
    check=$( { time "$binary" check --config "$work/clientsecretd.yaml" >/dev/null 2>&1; } 2>&1 )
    echo "$plain $start $check" | awk -v run="$run" '{
        printf "run %d: plain %.2f s, READY after %.2f s, ratio %.2f; check %.2f s, ratio %.2f\n",
            run, $1, $2, $2 / $1, $3, $3 / $1 }'
done | tee "$work/runs"
median() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
echo "median ratios: READY $(grep -oP 'READY.*?ratio \K[0-9.]+' "$work/runs" | median)," \
    "check $(grep -oP 'check.*ratio \K[0-9.]+' "$work/runs" | median)"
