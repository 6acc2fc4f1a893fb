#!/usr/bin/env python3
"""A stand-in for the APIs of Supabase, Vercel, Netlify, Kubernetes, Vault and AWS (one secret without fields, at first the file
`text` of DIRECTORY), and for one of a user's own, as strict as their public documents say they are; none of it was compared with
the real services.

    stand-in.py DIRECTORY

It listens with HTTPS on loopback, prints its address and serves until its input ends. In DIRECTORY lie ca.pem, the authority
that its certificate is signed by; log, a line "METHOD PATH ANSWER" for each request, the answer being a status or an action;
and held, the secret that it took last. `orders` there says what it answers instead: lines "METHOD ACTION", METHOD `*` for any. Actions: silent,
redirect, endless, close, broken (a chunk without a length), garbage, status=CODE, says=CODE:MESSAGE, retry=CODE:SECONDS, retry=CODE:date=SECONDS (a date so far from now),
raw=CODE (words that are no JSON), lie (says done and keeps what was there), conflict=N.

Files there make it late, as caches and replicas are: with `late-variables`, seconds, the lists of Vercel and Netlify show a
variable as it was so long ago, and with `late-deployments` no deployment that is younger; with `unknown-deployments` none is
shown by itself either; `clock-behind` is by how many milliseconds the clock of deployments is behind. With `pages` the lists of
Vercel have one element on each page, and never end where it says `endless`.

Files there change what it holds: `reads` is the body of every answer to a GET of a secret, `deployments` that of a list of
deployments; `environments` has those of a variable APPLE_SECRET that was made by hand, and `plain` the value of one of type
plain for production, which is shown until it is set; with `other-digest` digests are made otherwise.
"""

import base64
import email.utils
import hashlib
import hmac
import http.server
import json
import pathlib
import re
import ssl
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "apple"))
import certificates  # noqa: E402
import netlify  # noqa: E402

TOKEN = "token-of-the-tests"
PROJECT = "abcdefghijklmnopqrst"


class Wrong(Exception):
    def __init__(self, status, body):
        super().__init__(body)
        self.status, self.body = status, body


class API(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do(self):
        server = self.server
        length = int(self.headers.get("Content-Length") or 0)
        self.text = self.rfile.read(length)
        split = urllib.parse.urlsplit(self.path)
        self.query = dict(urllib.parse.parse_qsl(split.query))
        action = server.order(self.command)
        if action in ("silent", "close", "broken", "redirect", "endless", "garbage") or "=" in action:
            server.note(self.command, split.path, action)
            if self.special(action):
                return
        self.keeps = action != "lie"
        reads = self.server.file("reads")
        if self.command == "GET" and reads is not None and re.fullmatch(SECRETS, split.path):
            server.note(self.command, split.path, 200)
            self.answer(200, reads.encode())
            return
        try:
            for pattern, handler in ROUTES:
                match = re.fullmatch(pattern, split.path)
                if match:
                    status, body = handler(self, *map(urllib.parse.unquote, match.groups()))
                    break
            else:
                raise Wrong(404, {"message": "no such route"})
        except Wrong as wrong:
            status, body = wrong.status, wrong.body
        server.note(self.command, split.path, status)
        self.answer(status, body)

    do_GET = do_POST = do_PUT = do_PATCH = do

    def special(self, action):
        name, _, value = action.partition("=")
        if name == "silent":
            time.sleep(60)
        elif name == "close":
            self.close_connection = True
        elif name == "broken":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"zz\r\n{}\r\n")
            self.close_connection = True
        elif name == "redirect":
            self.answer(307, {}, {"Location": self.server.address + self.path})
        elif name == "garbage":
            self.answer(200, b"<html>hello</html>")
        elif name == "endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                self.close_connection = True
        elif name == "status":
            echo = self.headers.get("Authorization", "") + " " + self.text.decode()
            self.answer(int(value), {"message": "told to say " + value, "echo": echo})
        elif name == "says":
            code, message = value.split(":", 1)
            self.answer(int(code), {"message": message})
        elif name == "retry":
            code, seconds = value.split(":")
            if seconds.startswith("date="):
                seconds = email.utils.formatdate(time.time() + int(seconds[5:]), usegmt=True)
            self.answer(int(code), {"message": "later"}, {"Retry-After": seconds})
        elif name == "raw":
            self.answer(int(value), b"words of something else")
        elif name == "conflict":
            self.server.conflicts = getattr(self.server, "conflicts", int(value))
            return False
        return True

    def answer(self, status, body, headers=None):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    # What requests have to be.

    def bearer(self, header="Authorization", prefix="Bearer ", status=401):
        if self.headers.get(header) != prefix + TOKEN:
            raise Wrong(status, {"message": "bad token " + str(self.headers.get(header))})

    def json(self, content="application/json", /, **fields):
        if self.headers.get("Content-Type") != content:
            raise Wrong(415, {"message": f"not {content}"})
        try:
            body = json.loads(self.text)
        except ValueError:
            raise Wrong(400, {"message": "not JSON"}) from None
        if set(body) != set(fields):
            raise Wrong(422, {"message": f"fields {sorted(body)}"})
        for name, wanted in fields.items():
            if not isinstance(body[name], wanted):
                raise Wrong(422, {"message": f"type of {name}"})
        return body

    # The APIs.

    def supabase(self, project):
        self.bearer()
        if project != PROJECT:
            raise Wrong(404, {"message": "Project not found"})
        if self.command == "PATCH":
            self.server.hold(self, self.json(external_apple_secret=str)["external_apple_secret"])
        secret = self.server.held.get(self.path, "")
        key = PROJECT if self.server.file("other-digest") is None else "another key"
        digest = hmac.new(key.encode(), secret.encode(), hashlib.sha256).hexdigest()
        return 200, {"external_apple_enabled": True, "external_apple_secret": digest if secret else None}

    def vercel(self, project):
        self.bearer(status=403)
        if project != "shop" or self.query.get("teamId") not in (None, "team_1"):
            raise Wrong(404, {"error": {"code": "not_found", "message": "Project not found"}})
        if self.command == "GET":
            return self.vercel_variables()
        if self.command != "POST" or self.query.get("upsert") != "true":
            raise Wrong(409, {"error": {"code": "ENV_CONFLICT"}})
        body = self.json(key=str, value=str, type=str, target=list)
        if body["type"] != "sensitive" or not set(body["target"]) <= {"production", "preview"}:
            raise Wrong(400, {"error": {"code": "bad_request"}})
        self.server.hold(self, body["value"])
        self.server.variables.setdefault(body["key"], []).append(self.server.now())
        return 201, {"created": {"key": body["key"], "target": body["target"]}, "failed": []}

    def page(self, name, elements):
        """A list, or one page of it, from the element that `until` names."""
        pages = self.server.file("pages")
        if pages is None:
            return 200, {name: elements, "pagination": {"count": len(elements), "next": None, "prev": None}}
        first = int(self.query.get("until", 0))
        isLast = first + 1 >= len(elements) and pages != "endless"
        return 200, {
            name: elements[first:first + 1],
            "pagination": {"count": 1, "next": None if isLast else first + 1, "prev": None}}

    def vercel_variables(self):
        shown = {key: [at for at in times if at <= self.server.late("variables")]
                 for key, times in self.server.variables.items()}
        # Another variable, though its name is the same.
        envs = [{
            "key": "APPLE_SECRET", "type": "sensitive", "target": ["preview"], "gitBranch": "next",
            "updatedAt": self.server.now() + 86_400_000}]
        # What somebody has written there means nothing.
        envs.append({"key": "NOTE", "type": "plain", "target": ["preview"], "updatedAt": 1, "comment": "no ENV_CONFLICT"})
        envs += [
            {"key": key, "type": "sensitive", "target": ["production"], "updatedAt": times[-1]}
            for key, times in shown.items() if times]
        if environments := self.server.file("environments"):
            envs.append({"key": "APPLE_SECRET", "type": "encrypted", "target": environments.split(), "updatedAt": 1})
        plain = self.server.file("plain")
        if plain is not None and "APPLE_SECRET" not in self.server.variables:
            envs.append(
                {"key": "APPLE_SECRET", "type": "plain", "target": ["production"], "value": plain, "updatedAt": 1})
        return self.page("envs", envs)

    def deployments(self):
        """Vercel's: each is READY two looks after it began, unless a file in DIRECTORY, `ends`, names another state."""
        self.bearer(status=403)
        if self.query.pop("teamId", None) != "team_1":
            raise Wrong(403, {"error": {"code": "forbidden"}})
        if self.query.pop("projectId", None) != "shop" or self.query.pop("target", None) != "production":
            raise Wrong(404, {"error": {"code": "not_found", "message": "Project not found"}})
        since, _ = int(self.query.pop("since")), int(self.query.pop("limit"))
        if set(self.query) - {"until"}:
            raise Wrong(400, {"error": {"code": "bad_request"}})
        if (made := self.server.file("deployments")) is not None:
            return 200, made.encode()
        shown = [one for one in self.server.deployments if one["begun"] <= self.server.late("deployments")]
        for deployment in shown:
            self.go_on(deployment)
        return self.page("deployments", [one for one in shown if one["createdAt"] >= since][::-1])

    def go_on(self, deployment):
        end = self.server.file("ends") or "READY"
        if deployment["readyState"] in ("QUEUED", "BUILDING"):
            state = {"QUEUED": "BUILDING"}.get(deployment["readyState"], end)
            deployment["readyState"] = {"STAGED": "READY"}.get(state, state)
            deployment["readySubstate"] = "STAGED" if state == "STAGED" else "PROMOTED"

    def deployment(self, uid):
        """One of Vercel's by itself, where its id has another name."""
        self.bearer(status=403)
        found = [one for one in self.server.deployments if one["uid"] == uid]
        if self.command != "GET" or self.query != {"teamId": "team_1"} or not found \
                or self.server.file("unknown-deployments") is not None:
            raise Wrong(404, {"error": {"code": "not_found", "message": "The deployment was not found"}})
        self.go_on(found[0])
        return 200, {"id" if name == "uid" else name: value for name, value in found[0].items()}

    def project(self, project):
        self.bearer(status=403)
        if project != "shop" or self.query != {"teamId": "team_1"}:
            raise Wrong(404, {"error": {"code": "not_found", "message": "Project not found"}})
        serving = self.serving()
        began = [one["createdAt"] for one in self.server.deployments if one["uid"] == serving]
        production = {"id": serving, "createdAt": (began or [1_700_000_000_000])[0]}
        return 200, {"id": "prj_1", "name": "shop", "targets": {"production": production}}

    def serving(self):
        """The deployment that serves: the last that is READY, unless a file in DIRECTORY, `serving`, names another one."""
        ready = [one["uid"] for one in self.server.deployments if one["readyState"] == "READY"]
        return self.server.file("serving") or (ready or ["dpl_running"])[-1]

    def deploy(self):
        self.bearer(status=403)
        if self.command != "POST" or self.query != {"forceNew": "1", "teamId": "team_1"}:
            raise Wrong(400, {"error": {"code": "bad_request"}})
        body = self.json(name=str, deploymentId=str, target=str, meta=dict)
        body.pop("meta")
        if body != {"name": "shop", "deploymentId": self.serving(), "target": "production"}:
            raise Wrong(400, {"error": {"code": "bad_request"}})
        uid = f"dpl_{len(self.server.deployments)}"
        begun, behind = self.server.now(), int(self.server.file("clock-behind") or 0)
        self.server.deployments.append(
            {"uid": uid, "createdAt": begun - behind, "begun": begun, "readyState": "QUEUED"})
        return 200, {"id": uid, "readyState": "QUEUED"}

    def kubernetes(self, namespace, name):
        self.bearer()
        if namespace != "shop":
            raise Wrong(403, {"kind": "Status", "reason": "Forbidden", "code": 403})
        path = self.path.split("?")[0]
        if self.command == "PATCH":
            manager = self.query.pop("fieldManager", "")
            if not manager.startswith("clientsecretd-") or len(manager) > 128 or self.query != {"force": "true"}:
                raise Wrong(400, {"kind": "Status", "reason": "BadRequest"})
            body = self.json("application/apply-patch+yaml", apiVersion=str, kind=str, metadata=dict, data=dict)
            if (body["apiVersion"], body["kind"]) != ("v1", "Secret"):
                raise Wrong(400, {"kind": "Status", "reason": "BadRequest"})
            if body["metadata"] != {"name": name, "namespace": namespace}:
                raise Wrong(400, {"kind": "Status", "reason": "BadRequest"})
            # What a manager applied before, and applies no more, goes.
            applied = self.server.applied.setdefault(path, {})
            data = {
                key: value for key, value in self.server.objects.get(path, {"other": "b3RoZXI="}).items()
                if key in body["data"] or key not in applied.get(manager, ())}
            for key, value in body["data"].items():
                base64.b64decode(value, validate=True)
                data[key] = value
            if self.keeps:
                self.server.objects[path], applied[manager] = data, set(body["data"])
            self.server.hold(self, base64.b64decode(next(iter(body["data"].values()))).decode())
        if path not in self.server.objects:
            raise Wrong(404, {"kind": "Status", "reason": "NotFound"})
        return 200, {"kind": "Secret", "apiVersion": "v1", "data": self.server.objects[path]}

    def vault(self, mount, path):
        self.bearer("X-Vault-Token", "", 403)
        if mount in ("old", "transit", "hidden"):
            raise Wrong(404, {"errors": []})
        if mount not in ("secret", "kv/team"):
            raise Wrong(404, {"errors": ["no handler for route"]})
        where = self.path
        version, data = self.server.objects.get(where, (0, None))
        if self.command == "GET":
            if data is None:
                metadata = {"data": {"data": None, "metadata": {"version": version}}} if version else {"errors": []}
                raise Wrong(404, metadata)
            # As it is stored: numbers keep how they are written.
            return 200, f'{{"data":{{"data":{data},"metadata":{{"version":{version}}}}}}}'.encode()
        body = self.json(options=dict, data=dict)
        if getattr(self.server, "conflicts", 0) > 0:
            self.server.conflicts -= 1
            self.server.objects[where] = (version + 1, data or '{"by":"another"}')
            raise Wrong(400, {"errors": ["check-and-set parameter did not match the current version"]})
        if body["options"] != {"cas": version}:
            raise Wrong(400, {"errors": ["check-and-set parameter did not match the current version"]})
        if self.keeps:
            text = self.text.decode()
            self.server.objects[where] = (version + 1, text[text.index('"data":') + 7:text.rindex("}")])
        self.server.hold(self, body["data"]["client_secret"])
        return 200, {"data": {"version": version + 1}}

    def vault_mount(self, path):
        """What vault(1) asks before it reads or writes."""
        self.bearer("X-Vault-Token", "", 403)
        for mount, options in {
            "secret": {"version": "2"}, "kv/team": {"version": "2"}, "old": {"version": "1"}, "transit": None,
        }.items():
            if path.startswith(mount + "/"):
                return 200, {"data": {"path": mount + "/", "type": "kv", "options": options}}
        raise Wrong(403, {"errors": ["preflight capability check returned 403"]})

    def aws(self):
        operation = self.headers.get("X-Amz-Target", "").removeprefix("secretsmanager.")
        if operation == "PutSecretValue":
            self.server.hold(self, json.loads(self.text)["SecretString"])
        elif operation != "GetSecretValue":
            raise Wrong(400, {"__type": "UnknownOperationException"})
        text = self.server.held.get(self.path, self.server.file("text"))
        return 200, {"Name": "apple", "VersionId": "another-program", "SecretString": text}

    def own(self):
        if self.headers.get("X-Key") != "key " + TOKEN:
            raise Wrong(401, {"message": "no"})
        if self.command == "GET":
            return 200, [{"oauth": {"secret": self.server.held.get("/own", "")}}]
        match = re.fullmatch(r"id=com\.example\.web&secret=(.+)", self.text.decode())
        if self.command != "PUT" or not match or self.headers.get("Content-Type") != "text/plain":
            raise Wrong(400, {"message": "bad"})
        self.server.hold(self, match[1])
        return 204, {}


# Where secrets are read.
SECRETS = r"/v1/projects/.*|/v10/projects/.*|/api/v1/.*|/v1/(?!sys/).*/data/.*|/own"

ROUTES = [
    (r"/v1/projects/([^/]+)/config/auth", API.supabase),
    (r"/v10/projects/([^/]+)/env", API.vercel),
    (r"/v6/deployments", API.deployments),
    (r"/v9/projects/([^/]+)", API.project),
    (r"/v13/deployments", API.deploy),
    (r"/v13/deployments/([^/]+)", API.deployment),
    (r"/api/v1/namespaces/([^/]+)/secrets/([^/]+)", API.kubernetes),
    (r"/v1/sys/internal/ui/mounts/(.+)", API.vault_mount),
    (r"/v1/(.+)/data/(.+)", API.vault),
    (r"/own", API.own),
    (r"/", API.aws),
    *netlify.ROUTES,
]


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, directory):
        super().__init__(("127.0.0.1", 0), API)
        self.directory, self.held, self.objects = directory, {}, {}
        # Kubernetes': for each Secret the keys that each manager has applied.
        self.applied = {}
        # The times at which each variable was set at Vercel, in milliseconds, and the deployments of Vercel or Netlify.
        self.variables, self.deployments = {}, []
        self.lock = threading.Lock()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificates.server(directory, "good"))
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.address = f"https://127.0.0.1:{self.server_address[1]}"

    def file(self, name):
        """A file in DIRECTORY; None where there is none."""
        path = self.directory / name
        return path.read_text() if path.exists() else None

    def now(self):
        return int(time.time() * 1000)

    def late(self, what):
        """Up to when a list shows what there is."""
        return self.now() - int(float(self.file("late-" + what) or 0) * 1000)

    def handle_error(self, *_):
        pass

    def order(self, method):
        path = self.directory / "orders"
        for line in path.read_text().splitlines() if path.exists() else []:
            wanted, action = line.split(" ", 1)
            if wanted in ("*", method):
                return action
        return ""

    def note(self, method, path, answer):
        with self.lock, open(self.directory / "log", "a") as log:
            log.write(f"{method} {path} {answer}\n")

    def hold(self, request, secret):
        if request.keeps:
            self.held[request.path] = secret
            (self.directory / "held").write_text(secret)


if __name__ == "__main__":
    server = Server(pathlib.Path(sys.argv[1]))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.address, flush=True)
    sys.stdin.read()
