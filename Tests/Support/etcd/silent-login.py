#!/usr/bin/env python3
"""silent-login.py DIRECTORY

Two stand-ins for a member's gateway, with HTTPS on loopback. Each takes the first login and the first request after it, refuses the
token of the next request as etcd does after a restart, and is silent on the login that follows. In DIRECTORY lie ca.pem, the
authority of their certificate, and log, a line "PORT CONNECTION PATH" for each request, connections being numbered. It prints their
addresses on one line, and serves until its input ends.
"""

import http.server
import json
import pathlib
import ssl
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "apple"))
import certificates  # noqa: E402


class Member(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    count = 0

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        with lock:
            Member.count += 1
            self.number = Member.count

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with lock:
            seen.append(self.path)
            earlier = seen.count(self.path) - 1
            with open(directory / "log", "a") as log:
                log.write(f"{self.server.server_address[1]} {self.number} {self.path}\n")
        if self.path == "/v3/auth/authenticate":
            if earlier:
                threading.Event().wait()
            self.answer(200, {"header": {"revision": "4"}, "token": "token.1"})
        elif earlier:
            self.answer(401, {"error": "etcdserver: invalid auth token", "code": 16, "message": "etcdserver: invalid auth token"})
        else:
            self.answer(200, {"header": {"revision": "5"}, "succeeded": True, "responses": [{"response_put": {}}]})

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


directory = pathlib.Path(sys.argv[1])
lock, seen, addresses = threading.Lock(), [], []
for _ in range(2):
    server = Server(("127.0.0.1", 0), Member)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificates.server(directory, "good"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    addresses.append(f"https://127.0.0.1:{server.server_address[1]}")
print(*addresses, flush=True)
sys.stdin.read()
