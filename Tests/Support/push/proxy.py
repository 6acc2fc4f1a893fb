#!/usr/bin/env python3
"""Stands before a real service of the tests, and answers in its place where it is told to.

    proxy.py DIRECTORY ADDRESS

It listens on loopback, prints its address and serves until its input ends; requests go to ADDRESS as they came, their
headers included. `orders` in DIRECTORY says what becomes of some: lines "METHOD WORD ACTION", for requests of that method with
that word in the path or a header, the first that fits. Actions: silent (nobody is asked, and nothing is answered), lost (the
service is asked, and its answer never comes), status=CODE, retry=CODE:SECONDS, says=CODE:BODY. `log` has a line for each request.
"""

import http.client
import http.server
import pathlib
import sys
import threading
import time
import urllib.parse


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        name, _, value = self.order().partition("=")
        with open(self.server.directory / "log", "a") as log:
            log.write(f"{self.command} {self.path} {name}\n")
        if name == "silent":
            time.sleep(60)
        elif name == "status":
            self.answer(int(value), b"{}")
        elif name == "retry":
            code, seconds = value.split(":")
            self.answer(int(code), b"{}", {"Retry-After": seconds})
        elif name == "says":
            code, text = value.split(":", 1)
            self.answer(int(code), text.encode())
        else:
            service = http.client.HTTPConnection(self.server.service, timeout=30)
            service.request(self.command, self.path, body, dict(self.headers))
            answer = service.getresponse()
            data = answer.read()
            if name == "lost":
                self.close_connection = True
                return
            self.answer(answer.status, data, {n: v for n, v in answer.getheaders() if n in ("Date", "Retry-After")})

    do_GET = do_POST = do_PATCH = do

    def order(self):
        orders = self.server.directory / "orders"
        text = f"{self.path}\n{self.headers}"
        for line in orders.read_text().splitlines() if orders.exists() else []:
            method, word, action = line.split(" ", 2)
            if method == self.command and word in text:
                return action
        return ""

    def answer(self, status, body, headers=None):
        self.send_response_only(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Proxy)
    server.directory, server.service = pathlib.Path(sys.argv[1]), urllib.parse.urlsplit(sys.argv[2]).netloc
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    sys.stdin.read()
