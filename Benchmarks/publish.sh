#!/bin/bash
# publish.sh [CLIENTS [RUNS [DIRECTORY]]]: how long the daemon takes to publish for so many clients at once (1,000), as a
# ratio to a plain C program that writes, syncs and renames as many files (outputs and state records) on eight threads. The
# two take turns, each time in fresh directories; single times say little on a machine that others use, ratios of one run
# do. The processor seconds of both stand behind, and the medians of all runs (5) at the end.
#
# Without DIRECTORY, for which it must be root, each run has a file system of its own: ext4 with a journal, as mkfs makes
# it, mounted from an image under .build. A file system without a journal, as virtual machines for tests have it, syncs in
# no time: there the two are compared by what they reckon, not by what they write. In a DIRECTORY on ext4 wait six minutes
# between two calls: an inode that was deleted in the last five is not used again, and looking for another takes longer
# than writing.
#
# Then the same for a daemon that stays: how soon it is ready, and how long `renew` takes to replace every secret, as a ratio
# to the plain program that replaces its files once more.
#
# With SHARED_ACTION=/bin/true all clients share this program as their action; the plain program runs nothing, but writes
# each record once more, as the daemon does with what was delivered.
set -euo pipefail
cd "$(dirname "$0")/.."

clients=${1:-1000}
runs=${2:-5}
directory=${3-}
binary=$PWD/.build/release/clientsecretd
[ -x "$binary" ] || { echo "publish.sh: run 'make build' first" >&2; exit 1; }
[ -n "$directory" ] || [ "$(id -u)" = 0 ] || { echo "publish.sh: name a directory, or be root" >&2; exit 1; }
base=$(mktemp -d "${directory:-$PWD/.build}/publish.XXXXXX")
trap 'umount -q "$base/disk" || true; rm -rf "$base"' EXIT
cc -O2 -pthread -o "$base/publish" Benchmarks/publish.c
mkdir "$base/disk"

# fresh: an empty directory $work, with a key in it.
fresh() {
    work=$base/disk
    if [ -n "$directory" ]; then
        work=$(mktemp -d "$base/disk/run.XXXXXX")
    else
        umount -q "$work" || true
        rm -f "$base/image"
        truncate -s 4G "$base/image"
        # All tables now: what is put off would be written while it is measured.
        mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$base/image"
        mount -o loop "$base/image" "$work"
    fi
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/AuthKey_ABC123DEFG.p8" 2>/dev/null
    chmod 0600 "$work/AuthKey_ABC123DEFG.p8"
}

# configure DIRECTORY: a configuration for all clients, with their outputs and the state directory below it.
configure() {
    mkdir -p "$1/out" "$1/clientsecretd.d"
    printf 'keys:\n  apple:\n    team_id: DEF123GHIJ\n    file: %s/AuthKey_ABC123DEFG.p8\nstate_dir: %s/state\n' \
        "$work" "$1" >"$1/clientsecretd.yaml"
    [ -z "${SHARED_ACTION-}" ] ||
        printf 'defaults:\n  on_change:\n    - exec: [%s]\n' "$SHARED_ACTION" >>"$1/clientsecretd.yaml"
    # A file of the configuration holds 1 MiB at most.
    seq "$clients" | awk -v directory="$1" '
        NR % 2000 == 1 { file = sprintf("%s/clientsecretd.d/%03d.yaml", directory, NR / 2000); print "clients:" >file }
        { printf "  c%d:\n    client_id: com.example.c%d\n    outputs:\n      - path: %s/out/c%d.jwt\n",
            $1, $1, directory, $1 >file }'
    chmod 0600 "$1/clientsecretd.yaml" "$1"/clientsecretd.d/*
}

# stay DIRECTORY: the seconds from the start of a daemon to its READY=1, and those of a `renew` of all clients afterwards.
stay() {
    python3 - "$1" "$binary" <<'PYTHON'
import os, socket, subprocess, sys, threading, time
directory, binary = sys.argv[1:]
told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
told.bind(directory + "/notify.sock")
told.settimeout(120)
asked = ["--socket", directory + "/status.sock"]
began = time.monotonic()
daemon = subprocess.Popen(
    [binary, "run", "--config", directory + "/clientsecretd.yaml"] + asked, stderr=subprocess.DEVNULL,
    env=dict(os.environ, NOTIFY_SOCKET=directory + "/notify.sock"))
try:
    while b"READY=1" not in told.recv(4096).split(b"\n"):
        pass
    ready = time.monotonic() - began
    told.settimeout(None)
    threading.Thread(target=lambda: [told.recv(4096) for _ in iter(int, 1)], daemon=True).start()
    os.sync()
    began = time.monotonic()
    subprocess.run([binary, "renew"] + asked, stdout=subprocess.DEVNULL, check=True)
    print(f"{ready:.2f} {time.monotonic() - began:.2f}")
finally:
    daemon.terminate()
    daemon.wait()
PYTHON
}

TIMEFORMAT='%R %U %S'
for run in $(seq "$runs"); do
    fresh
    mkdir "$work/plain"
    configure "$work/once"
    configure "$work/stays"
    sync
    a=$( { time "$base/publish" "$work/plain" "$clients" ${SHARED_ACTION:+delivered} >/dev/null; } 2>&1 )
    sync
    b=$( { time "$binary" run --once --config "$work/once/clientsecretd.yaml" 2>/dev/null; } 2>&1 )
    sync
    c=$("$base/publish" "$work/plain" "$clients" ${SHARED_ACTION:+delivered})
    sync
    d=$(stay "$work/stays")
    echo "$run $a $b $c $d" | awk '{
        printf "run %d: plain %.2f s (%.2f s of processor), daemon %.2f s (%.2f s), ratio %.2f; ", $1, $2, $3 + $4, $5, $6 + $7, $5 / $2
        printf "replacing: plain %.2f s, renew %.2f s, ratio %.2f (ready after %.2f s)\n", $8, $10, $10 / $8, $9 }'
done | tee "$base/runs"
median() { grep -oP "$1" "$base/runs" | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
echo "medians: publishing $(median '\), ratio \K[0-9.]+'), replacing $(median 'renew.*ratio \K[0-9.]+')," \
    "$(median 'daemon [^(]*\(\K[0-9.]+') s of processor for $clients clients, $(median 'plain [^(]*\(\K[0-9.]+(?= s of)') s plain"
