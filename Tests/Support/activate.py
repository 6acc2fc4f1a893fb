#!/usr/bin/env python3
"""activate.py SOCKET PROGRAM [ARGUMENT…]

Runs the program whenever somebody has connected to a Unix socket, one process after another, and passes it the listening
socket, as systemd does for a socket with Accept=no (sd_listen_fds(3)). It says so once it listens, and ends with who has
started it.
"""

import os
import select
import signal
import socket
import subprocess
import sys
import threading

PASSED = 3


def serve():
    shell = ["/bin/sh", "-c", 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"'] + sys.argv[2:]
    while True:
        select.select([PASSED], [], [])
        subprocess.run(shell, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[PASSED])


# Nor does systemd hand on what whoever has started it has blocked.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
if listener.fileno() != PASSED:
    os.dup2(listener.fileno(), PASSED)
print("listening", flush=True)
threading.Thread(target=serve, daemon=True).start()
sys.stdin.read()
