#!/usr/bin/env python3
"""proxy.py LOG PORT [--refuse]: a proxy on loopback. Whatever CONNECT asks for, it connects to PORT on loopback."""

import http.server
import selectors
import socket
import sys
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_CONNECT(self):
        with open(sys.argv[1], "a") as log:
            print("CONNECT", self.path, file=log)
        if "--refuse" in sys.argv:
            self.send_error(407)
            return
        self.send_response(200)
        self.end_headers()
        with socket.create_connection(("127.0.0.1", int(sys.argv[2]))) as other, selectors.DefaultSelector() as ready:
            ends = {self.connection: other, other: self.connection}
            for end in ends:
                ready.register(end, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    data = key.fileobj.recv(65_536)
                    if not data:
                        return
                    ends[key.fileobj].sendall(data)


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    sys.stdin.read()
