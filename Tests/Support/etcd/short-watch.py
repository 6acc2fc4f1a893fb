#!/usr/bin/env python3
"""short-watch.py DIRECTORY

A stand-in for a member's gateway, with HTTPS on loopback, that holds nothing and leaves out the last create request of the first
watch, as etcd 3.4.23 does on one connection in ten. In DIRECTORY lie ca.pem, the authority of its certificate, and log, a line for
each watch with the count of its create requests. It prints its address, and serves until its input ends.
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

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        if self.path != "/v3/watch":
            count = len(json.loads(body)["success"])
            data = json.dumps({"header": {"revision": "5"}, "responses": [{"response_range": {}}] * count}).encode()
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        count = len(body.split(b"\n"))
        with lock:
            with open(directory / "log", "a") as log:
                log.write(f"{count}\n")
            watches.append(count)
            created = count - 1 if len(watches) == 1 else count
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number in range(created):
            line = json.dumps({"result": {"header": {}, "watch_id": str(number), "created": True}}).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        self.rfile.read()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


directory = pathlib.Path(sys.argv[1])
lock, watches = threading.Lock(), []
server = Server(("127.0.0.1", 0), Member)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(*certificates.server(directory, "good"))
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"https://127.0.0.1:{server.server_address[1]}", flush=True)
sys.stdin.read()
