"""http-bridge.py SOCKET COMMAND...

Runs COMMAND, in whose arguments {url} is an address on loopback behind which the Unix socket SOCKET answers, for programs
that speak HTTP over TCP alone. Ends with it, and as it did.
"""
import socket
import subprocess
import sys
import threading

path, *command = sys.argv[1:]
listener = socket.create_server(("127.0.0.1", 0), backlog=64)


def pass_on(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        # One side is gone: so is the other then.
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def serve(client):
    with client, socket.socket(socket.AF_UNIX) as daemon:
        try:
            daemon.connect(path)
        except OSError:
            return
        there = threading.Thread(target=pass_on, args=(client, daemon), daemon=True)
        there.start()
        pass_on(daemon, client)
        there.join()


def listen():
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


threading.Thread(target=listen, daemon=True).start()
host, port = listener.getsockname()
url = f"http://{host}:{port}"
sys.exit(subprocess.run([argument.replace("{url}", url) for argument in command]).returncode)
