#!/bin/bash
# observe.sh [SECONDS]: how soon root's /healthz is answered (the 99th percentile shall stay below 250 ms) while 1,000 idle
# and 200 slow visitors take every connection that they can get (30 s), how late a secret is renewed meanwhile, and how
# many descriptors the daemon has before and afterwards. To be run as root, who can come as many users.
set -euo pipefail
source "$(dirname "$0")/start.sh"

seconds=${1:-30}
[ "$(id -u)" -eq 0 ] || { echo "observe.sh: run it as root, who can come as many users" >&2; exit 1; }
# The visitors come as other users.
chmod 0755 "$work"
# Renewed for the first time a minute after the start.
start 'lifetime: 120s' 'renew_before: 60s'
sleep 2
field() { "$binary" status --json --socket "$work/socket" | grep -oP "\"$1\":\"\K[^\"]+" | head -1; }
descriptors() { find /proc/"$daemon"/fd -mindepth 1 | wc -l; }
due=$(field renew_at)
echo "waiting for the time of the next renewal"
sleep $(($(date -d "$due" +%s) - $(date +%s) - seconds / 2))
before=$(descriptors)
python3 Tests/Support/many-connections.py "$work/socket" 1000 200 "$seconds" | tr -d '{}"' | tr ',' '\n' |
    awk '{ print "/healthz of root, in milliseconds or times:" $0 }'
sleep 2
issued=$(field issued_at)
# `iat` lies a minute before the secret was made.
echo "renewed $(($(date -d "$issued" +%s) + 60 - $(date -d "$due" +%s))) s after it was due"
echo "descriptors: $before before, $(descriptors) afterwards"
