#!/bin/bash
# idle.sh [SECONDS]: how often a daemon with nothing to do wakes in that time (60 s): 0 is what it should print.
set -euo pipefail
source "$(dirname "$0")/start.sh"

seconds=${1:-60}
start
# Its own writes are noticed and looked at once more; then there is nothing left to do.
sleep 10
switches() { awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum }' /proc/"$daemon"/task/*/status; }
before=$(switches)
sleep "$seconds"
after=$(switches)
echo "voluntary context switches in $seconds s: $((after - before))"
awk '/^(VmRSS|Threads)/' /proc/"$daemon"/status
