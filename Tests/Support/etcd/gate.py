#!/usr/bin/env python3
"""gate.py PORT

Passes connections on to a port of loopback, and holds the second one until its input has a line. It prints the port on
which it listens, "held" once the second connection has come, and "closed" once whoever made that has ended it, or "open"
where that does not happen within a minute, so that who waits for it fails. Everything ends with its input.
"""

import socket
import sys
import threading


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for each in (source, sink):
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def begin(client):
    member = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    threading.Thread(target=pump, args=(member, client), daemon=True).start()
    return member


def serve():
    number = 0
    while True:
        client, _ = listener.accept()
        number += 1
        if number == 2:
            print("held", flush=True)
            opened.wait()
            patience.start()
        threading.Thread(target=serve_one, args=(client, number), daemon=True).start()


def serve_one(client, number):
    pump(client, begin(client))
    if number == 2:
        patience.cancel()
        print("closed", flush=True)


opened = threading.Event()
patience = threading.Timer(60, lambda: print("open", flush=True))
patience.daemon = True
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(listener.getsockname()[1], flush=True)
threading.Thread(target=serve, daemon=True).start()
for line in sys.stdin:
    if line == "end\n":
        break
    opened.set()
