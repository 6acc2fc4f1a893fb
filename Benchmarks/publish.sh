#!/bin/bash
# publish.sh [CLIENTS [RUNS]]: how long the daemon takes to publish for so many clients at once (10,000), as a ratio to a
# plain C program that writes, syncs and renames as many files (outputs and state records) on eight threads. The two take
# turns, each time in fresh directories; single times say little on a machine that others use, ratios of one run do.
# The processor seconds of both stand behind: where the cores are busy with something else the daemon, which has more to
# reckon, loses more than a program that waits for the disk. On ext4 wait six minutes between two calls: an inode that was
# deleted in the last five is not used again, and looking for another one takes longer than writing.
set -euo pipefail
cd "$(dirname "$0")/.."

clients=${1:-10000}
runs=${2:-3}
binary=$PWD/.build/release/clientsecretd
[ -x "$binary" ] || { echo "publish.sh: run 'make build' first" >&2; exit 1; }
work=$(mktemp -d "$PWD/.build/publish.XXXXXX")
trap 'rm -rf "$work"' EXIT
cc -O2 -pthread -o "$work/publish" Benchmarks/publish.c
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/AuthKey_ABC123DEFG.p8" 2>/dev/null
chmod 0600 "$work/AuthKey_ABC123DEFG.p8"

# configure DIRECTORY: a configuration for all clients, with their outputs and the state directory below it.
configure() {
    mkdir -p "$1/out" "$1/clientsecretd.d"
    printf 'keys:\n  apple:\n    team_id: DEF123GHIJ\n    file: %s/AuthKey_ABC123DEFG.p8\nstate_dir: %s/state\n' \
        "$work" "$1" >"$1/clientsecretd.yaml"
    # A file of the configuration holds 1 MiB at most.
    seq "$clients" | awk -v directory="$1" '
        NR % 2000 == 1 { file = sprintf("%s/clientsecretd.d/%03d.yaml", directory, NR / 2000); print "clients:" >file }
        { printf "  c%d:\n    client_id: com.example.c%d\n    outputs:\n      - path: %s/out/c%d.jwt\n",
            $1, $1, directory, $1 >file }'
    chmod 0600 "$1/clientsecretd.yaml" "$1"/clientsecretd.d/*
}

# ready DIRECTORY: the seconds from the start of a daemon to its READY=1.
ready() {
    python3 - "$1/notify.sock" "$binary" run --config "$1/clientsecretd.yaml" --socket "$1/status.sock" <<'PYTHON'
import os, socket, subprocess, sys, time
told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
told.bind(sys.argv[1])
told.settimeout(120)
began = time.monotonic()
daemon = subprocess.Popen(
    sys.argv[2:], stderr=subprocess.DEVNULL, env=dict(os.environ, NOTIFY_SOCKET=sys.argv[1]))
try:
    while b"READY=1" not in told.recv(4096).split(b"\n"):
        pass
    print(f"{time.monotonic() - began:.2f}")
finally:
    daemon.terminate()
    daemon.wait()
PYTHON
}

for run in $(seq "$runs"); do
    plain=$work/plain-$run
    daemon=$work/daemon-$run
    mkdir "$plain"
    configure "$daemon"
    configure "$daemon-that-stays"
    sync
    TIMEFORMAT='%R %U %S'
    a=$( { time "$work/publish" "$plain" "$clients" >/dev/null; } 2>&1 )
    sync
    b=$( { time "$binary" run --once --config "$daemon/clientsecretd.yaml" 2>/dev/null; } 2>&1 )
    sync
    c=$(ready "$daemon-that-stays")
    echo "$run $a $b $c" | awk '{ printf "run %d: plain %.2f s (%.2f s of processor), daemon %.2f s (%.2f s), ratio %.2f; ready after %.2f s\n",
        $1, $2, $3 + $4, $5, $6 + $7, $5 / $2, $8 }'
done
