#!/bin/bash
# run.sh [-t SECONDS] [-r ROOT] [-b OUTSIDE:INSIDE]... SCRIPT [ARGUMENT...]
#
# Boots this machine's own systemd in fresh namespaces (processes, mounts, cgroups, host name, IPC, network with
# loopback alone) on a throw-away overlay of /, runs SCRIPT in it as root, passes on what the script writes and
# returns its exit code. Nothing that happens inside is seen outside, but in the directories given with -b.
#
#   -t  seconds until everything in the bed is killed; 60 unless told otherwise
#   -r  a directory with another root file system to boot, with a systemd of its own, instead of /
#   -b  a directory that is shared with the bed, by absolute paths without blanks or colons; may be repeated
#
# Needs root. Exit codes of its own: 124 out of time, 125 the bed could not be made (its console follows on stderr).
# BED_VERBOSE=1 shows the console in any case.
set -u -o pipefail

usage() { sed -n '2,/^set/{s/^# \{0,1\}//p}' "$0" >&2; exit 125; }
fail() { echo "bed: $*" >&2; exit 125; }

seconds=60 root=/ shared=()
while getopts t:r:b: option; do
    case $option in
        t) seconds=$OPTARG ;;
        r) root=$OPTARG ;;
        b) shared+=("$OPTARG") ;;
        *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || usage
[ "$(id -u)" = 0 ] || fail "needs root"
here=$(dirname "$(readlink -f "$0")")
script=$(readlink -e "$1") || fail "no script $1"
shift

BED=$(mktemp -d /tmp/clientsecretd-bed.XXXXXX) || fail "no place in /tmp"
follower="" mounted="" cgroup=""
clear_away() {
    # Signals other than KILL may be blocked here, inherited from whoever called.
    # The namespaces' first process may be gone already; whatever is left of the bed is in its cgroup.
    if [ -n "$cgroup" ] && [ -d "$cgroup" ]; then
        [ ! -e "$cgroup/cgroup.kill" ] || echo 1 2>/dev/null >"$cgroup/cgroup.kill"
        for _ in $(seq 50); do
            find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
            [ -d "$cgroup" ] || break
            sleep 0.1
        done
    fi
    [ -z "$follower" ] || { kill -KILL "$follower"; wait "$follower"; } 2>/dev/null
    [ -z "$mounted" ] || umount "$mounted"
    # The bed's mounts were its namespace's own and went with it: there is nothing below but plain files.
    rm -rf --one-file-system "$BED"
}
trap clear_away EXIT
trap 'exit 125' HUP INT TERM

mkdir "$BED/share"
install -m 755 "$script" "$BED/share/script" || fail "cannot copy $script"
: >"$BED/share/output"
: >"$BED/share/arguments"
[ $# = 0 ] || printf '%s\0' "$@" >"$BED/share/arguments"

hierarchy=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -z "$hierarchy" ]; then
    hierarchy=$BED/cgroup
    mkdir "$hierarchy"
    mount -t cgroup2 none "$hierarchy" || fail "no cgroup2"
    mounted=$hierarchy
fi
cgroup=$hierarchy/${BED##*/}
mkdir "$cgroup" || fail "no cgroup of its own"

tail -n +1 -f "$BED/share/output" &
follower=$!

# The process enters the cgroup before it unshares, so that the bed's cgroup tree begins there.
(
    echo "$BASHPID" >"$cgroup/cgroup.procs" || exit 125
    export BED
    export BED_SHARED="${shared[*]-}" BED_ROOT="$root"
    exec timeout --signal=KILL "$seconds" unshare --fork --kill-child=KILL --pid --mount --propagation private \
        --uts --ipc --net --cgroup -- "$here/stage.sh"
) </dev/null >"$BED/console" 2>&1 &
wait $!
ended=$?

if [ -s "$BED/share/status" ]; then
    status=$(cat "$BED/share/status")
elif [ $ended = 137 ]; then
    echo "bed: out of time after $seconds s" >&2
    status=124
else
    echo "bed: the script left no result; the first process ended with $ended" >&2
    status=125
fi
if [ -n "${BED_VERBOSE-}" ] || [ "$status" -ge 124 ]; then sed 's/^/console: /' "$BED/console" >&2; fi
# tail looks once a second; what the script wrote last is waited for.
sleep 0.1
written=$(stat -c %s "$BED/share/output")
for _ in $(seq 20); do
    [ "$(awk '$1 == "pos:" { print $2 }' "/proc/$follower/fdinfo/3" 2>/dev/null || echo "$written")" = "$written" ] && break
    sleep 0.1
done
exit "$status"
