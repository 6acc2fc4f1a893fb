#!/usr/bin/env python3
"""member.py DIRECTORY HABIT

Stand-ins for a member's gateway, with HTTPS on loopback, that hold nothing. HABIT says of which kind:

short-watch   one that leaves out the last create request of the first watch, as etcd 3.4.23 does on one connection in ten; `log`
              has a line for each watch with the count of its create requests
silent-login  two that take the first login and the first request after it, refuse the token of the next request as etcd does
              after a restart, and are silent on the login that follows; `log` has a line "PORT CONNECTION PATH" for each request,
              connections being numbered

In DIRECTORY lie ca.pem, the authority of their certificate, and log. They print their addresses on one line, and serve until their
input ends.
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
    connections = 0

    def log_message(self, *_):
        pass

    def note(self, line):
        with open(directory / "log", "a") as log:
            log.write(f"{line}\n")

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class ShortWatch(Member):
    def do_POST(self):
        body = self.body()
        if self.path != "/v3/watch":
            count = len(json.loads(body)["success"])
            self.answer(200, {"header": {"revision": "5"}, "responses": [{"response_range": {}}] * count})
            return
        count = len(body.split(b"\n"))
        with lock:
            self.note(count)
            seen.append(count)
            created = count - 1 if len(seen) == 1 else count
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number in range(created):
            line = json.dumps({"result": {"header": {}, "watch_id": str(number), "created": True}}).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        self.rfile.read()


class SilentLogin(Member):
    def setup(self):
        super().setup()
        with lock:
            Member.connections += 1
            self.number = Member.connections

    def do_POST(self):
        self.body()
        with lock:
            earlier = seen.count(self.path)
            seen.append(self.path)
            self.note(f"{self.server.server_address[1]} {self.number} {self.path}")
        if self.path == "/v3/auth/authenticate":
            if earlier:
                threading.Event().wait()
            self.answer(200, {"header": {"revision": "4"}, "token": "token.1"})
        elif earlier:
            self.answer(401, {"error": "etcdserver: invalid auth token", "code": 16, "message": "etcdserver: invalid auth token"})
        else:
            self.answer(200, {"header": {"revision": "5"}, "succeeded": True, "responses": [{"response_put": {}}]})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


directory = pathlib.Path(sys.argv[1])
lock, seen, addresses = threading.Lock(), [], []
for habit in {"short-watch": [ShortWatch], "silent-login": [SilentLogin] * 2}[sys.argv[2]]:
    server = Server(("127.0.0.1", 0), habit)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificates.server(directory, "good"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    addresses.append(f"https://127.0.0.1:{server.server_address[1]}")
print(*addresses, flush=True)
sys.stdin.read()
