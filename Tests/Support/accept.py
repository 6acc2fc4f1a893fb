#!/usr/bin/env python3
"""accept.py SOCKET PROGRAM [ARGUMENT…]

Runs the program for each connection to a Unix socket, one after another, with the connection as its standard input and
output, as systemd does for a socket with Accept=yes. It says so once it listens, and ends with who has started it.
"""

import socket
import subprocess
import sys
import threading


def serve(listener):
    while True:
        connection, _ = listener.accept()
        with connection:
            subprocess.run(sys.argv[2:], stdin=connection, stdout=connection)


listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("listening", flush=True)
threading.Thread(target=serve, args=[listener], daemon=True).start()
sys.stdin.read()
