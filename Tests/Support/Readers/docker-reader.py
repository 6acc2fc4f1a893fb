"""docker-reader.py DIRECTORY DOCKER: lets the docker client read every *.env in it with `create --env-file` and leaves
the variables, each ended by a NUL, in FILE.docker.

The client parses such files itself and sends their variables to an engine; here that is a socket of our own, which
creates nothing. Many files are read by one client, told apart by files with a marker between them.
"""
import http.server
import json
import os
import pathlib
import socketserver
import subprocess
import sys
import tempfile
import threading

AT_A_TIME = 100
MARKER = "READER_MARKER_"


class Engine(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    environment: list[str] = []

    def answer(self, status: int, document: dict) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Api-Version", "1.41")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.answer(200, {})

    def do_GET(self) -> None:
        self.answer(200, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "/containers/create" in self.path:
            Engine.environment = json.loads(body)["Env"] or []
        self.answer(201, {"Id": "0" * 64, "Warnings": []})

    def address_string(self) -> str:
        return "client"

    def log_message(self, *arguments: object) -> None:
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def main(directory: pathlib.Path, docker: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        socket = scratch + "/engine.sock"
        server = Server(socket, Engine)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        files = sorted(directory.glob("*.env"))
        for start in range(0, len(files), AT_A_TIME):
            arguments = []
            for number, file in enumerate(files[start : start + AT_A_TIME]):
                marker = pathlib.Path(scratch, str(number))
                marker.write_text(f"{MARKER}={number}\n")
                arguments += ["--env-file", str(marker), "--env-file", str(file)]
            subprocess.run(
                [docker, "create", *arguments, "image"],
                env={"DOCKER_HOST": "unix://" + socket, "DOCKER_CONFIG": scratch, "PATH": os.environ["PATH"]},
                check=True,
                stdout=subprocess.DEVNULL,
            )
            groups: list[list[str]] = []
            for variable in Engine.environment:
                if variable.startswith(MARKER):
                    groups.append([])
                else:
                    groups[-1].append(variable)
            for file, variables in zip(files[start : start + AT_A_TIME], groups, strict=True):
                file.with_suffix(".env.docker").write_bytes(b"".join(v.encode() + b"\0" for v in variables))
        server.shutdown()


main(pathlib.Path(sys.argv[1]), sys.argv[2])
