#!/bin/bash
# renew.sh [TIMES]: how long the daemon takes from a request on its socket, to renew its one client, until the answer, which
# comes once the new secret is kept and published; the median of so many (200). Between two requests the plain counterpart
# of what must be durable by then: two files, written beside their target, synced and renamed, and their directories synced.
# 5 ms more than that is what the daemon may take.
set -euo pipefail
source "$(dirname "$0")/start.sh"

start
python3 - "$work" "${1:-200}" <<'PYTHON'
import os, socket, statistics, sys, time
work, times = sys.argv[1], int(sys.argv[2])
request = (
    b"POST /v1/clients/web/renew HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 2\r\nConnection: close\r\n\r\n{}")

def renew():
    began = time.monotonic()
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(work + "/socket")
        peer.sendall(request)
        answer = b""
        while piece := peer.recv(65536):
            answer += piece
    if b" 200 " not in answer.split(b"\r\n")[0]:
        sys.exit("renew.sh: " + answer.decode())
    return time.monotonic() - began

def plain():
    began = time.monotonic()
    for folder in "state", "out":
        directory = os.open(f"{work}/{folder}", os.O_RDONLY)
        file = os.open(f"{work}/{folder}/.plain.tmp", os.O_CREAT | os.O_WRONLY, 0o600)
        os.write(file, b"x" * 600)
        os.fsync(file)
        os.close(file)
        os.rename(f"{work}/{folder}/.plain.tmp", f"{work}/{folder}/plain")
        os.fsync(directory)
        os.close(directory)
    return time.monotonic() - began

for _ in range(500):
    if os.path.exists(work + "/out/web.jwt") and os.path.exists(work + "/socket"):
        break
    time.sleep(0.02)
renewals, syncs = zip(*[(renew(), plain()) for _ in range(times)])
both = [statistics.median(all) * 1000 for all in (renewals, syncs)]
print(f"a renewal: {both[0]:.1f} ms at the median; the plain syncs: {both[1]:.1f} ms; more than these: {both[0] - both[1]:.1f} ms")
PYTHON
