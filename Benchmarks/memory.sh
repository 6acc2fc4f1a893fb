#!/bin/bash
# memory.sh [CLIENTS]: what a daemon with so many clients (3) holds in memory ten seconds after its start, in kB: resident,
# private and dirty; then the same for the mappings that hold most.
set -euo pipefail
source "$(dirname "$0")/start.sh"

clients=${1:-3}
start
sleep 10
awk '/^(Rss|Private_Dirty):/ { print $1, $2 }' "/proc/$daemon/smaps_rollup"
awk '/^[0-9a-f]+-/ { name = $6 == "" ? "[anonymous]" : $6; sub(".*/", "", name); name = name " " $2 }
    /^Rss:/ { resident[name] += $2 }
    /^Private_Dirty:/ { dirty[name] += $2 }
    END { for (name in resident) printf "%6d %6d %s\n", resident[name], dirty[name], name }' "/proc/$daemon/smaps" |
    sort -rn | awk 'NR <= 12'
