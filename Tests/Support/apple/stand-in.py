#!/usr/bin/env python3
"""A stand-in for Apple's endpoints of Sign in with Apple, Apple Ads, MusicKit and the Maps Server API, for tests and
demonstrations, as strict as Apple is.

    stand-in.py DIRECTORY --key KEY_ID:TEAM_ID:PEM --client CLIENT_ID:TEAM_ID[:RETURN_URL]

It listens with HTTPS on loopback, prints its address and serves until it is ended. In DIRECTORY lie ca.pem, the authority
that its certificate is signed by; log, a line of JSON for each request with what was wrong in truth; and what it is told:

    clock     by how many seconds its clock is ahead
    orders    lines "PATH ACTION [client=CLIENT_ID] [times=N]"; the first that fits the request is carried out, N times

Actions: silent, slow, reset, close, truncated, endless, long-headers, no-http, html, redirect, status=CODE with a page,
empty=CODE without a body, error=CODE; for /auth/keys also without-current and size=BYTES; for what is posted echo=CODE, an
error that describes what it was sent, with all of it; for /auth/token nonce=TEXT of the identity token.
"""

import argparse
import html
import http.server
import json
import pathlib
import secrets
import signal
import socket
import ssl
import struct
import sys
import threading
import time
import urllib.parse

import certificates
import identity
import jwt

AUDIENCE = "https://appleid.apple.com"
# How far ahead of Apple's clock a secret may expire, in seconds.
LONGEST = 15_777_000
# How long after its iat a secret of Apple Ads may expire.
LONGEST_OF_ADS = 180 * 86_400
ADS = "SEARCHADS."
# How long a code lives.
CODE_LIFETIME = 300


class Refused(Exception):
    """An answer with an error, and why in truth, which only the log is told."""

    def __init__(self, error, why):
        super().__init__(why)
        self.error, self.why = error, why


class Registry:
    """What Apple knows: keys, clients, codes, tokens and users."""

    def __init__(self, arguments):
        self.directory = pathlib.Path(arguments.directory)
        self.keys = {}
        for entry in arguments.key:
            key_id, team, file = entry.split(":", 2)
            self.keys[key_id] = (team, pathlib.Path(file).read_bytes())
        self.clients = {}
        for entry in arguments.client:
            client, team, *address = entry.split(":", 2)
            self.clients[client] = (team, address[0] if address else None)
        self.codes, self.refresh_tokens, self.access_tokens, self.known_users = {}, {}, {}, set()
        self.lock = threading.Lock()
        self.orders_text, self.orders_done = "", {}

    def now(self):
        try:
            ahead = int((self.directory / "clock").read_text())
        except (FileNotFoundError, ValueError):
            ahead = 0
        return int(time.time()) + ahead

    def order(self, path, client):
        """What is to be done for this request instead of answering; None for nothing."""
        try:
            text = (self.directory / "orders").read_text()
        except FileNotFoundError:
            return None
        with self.lock:
            if text != self.orders_text:
                self.orders_text, self.orders_done = text, {}
            for number, line in enumerate(text.splitlines()):
                wanted, action, *more = line.split()
                limits = dict(limit.split("=", 1) for limit in more)
                done = self.orders_done.get(number, 0)
                if wanted != path or limits.get("client", client) != client or done >= int(limits.get("times", done + 1)):
                    continue
                self.orders_done[number] = done + 1
                return action
        return None

    def authenticate(self, form, ads=False):
        """Judges a client secret, of Sign in with Apple or of Apple Ads; the client id."""
        client, secret = form.get("client_id"), form.get("client_secret")
        if not client or not secret:
            raise Refused("invalid_client", "no client_id or client_secret")
        if client not in self.clients:
            raise Refused("invalid_client", "unknown client id")
        if client.startswith(ADS) is not ads:
            raise Refused("invalid_client", "the client id is of another service")
        _, team, stated = self.judged(secret, "invalid_client", audience=AUDIENCE)
        if stated["sub"] != client:
            raise Refused("invalid_client", "sub is not the client id")
        if self.clients[client][0] != team:
            raise Refused("invalid_client", "the client is of another team")
        if stated["aud"] != AUDIENCE:
            raise Refused("invalid_client", "aud is a list")
        if stated["exp"] > (stated["iat"] + LONGEST_OF_ADS if ads else self.now() + LONGEST):
            raise Refused("invalid_client", "expires too late")
        return client

    def bearer(self, headers):
        """Judges a token that states no client; its header and claims."""
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer":
            raise Refused("unauthorized", "no bearer token")
        header, team, stated = self.judged(token, "unauthorized")
        if team.startswith(ADS):
            raise Refused("unauthorized", "the key is of another team")
        return header, stated, headers.get("Origin")

    def judged(self, token, error, audience=None):
        """What every token is judged by, at the time of this server's clock; its header, its key's team and its claims."""
        options = {
            "verify_exp": False, "verify_iat": False, "verify_aud": audience is not None,
            "require": ["iss", "iat", "exp"] + (["aud", "sub"] if audience else [])}
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") != "ES256":
                raise Refused(error, "not ES256")
            if header.get("kid") not in self.keys:
                raise Refused(error, "unknown key id")
            team, key = self.keys[header["kid"]]
            stated = jwt.decode(token, key, ["ES256"], audience=audience, options=options)
        except jwt.InvalidSignatureError:
            raise Refused(error, "wrong signature") from None
        except jwt.InvalidTokenError as malformed:
            raise Refused(error, f"malformed: {malformed}") from None
        if stated["iss"] != team:
            raise Refused(error, "the key is of another team")
        if type(stated["iat"]) is not int or type(stated["exp"]) is not int:
            raise Refused(error, "a time is no whole number")
        if stated["iat"] > self.now():
            raise Refused(error, "issued in the future")
        if stated["exp"] <= self.now():
            raise Refused(error, "expired")
        return header, team, stated


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "Apple", ""
    # Nobody keeps a connection open for longer.
    timeout = 120

    def log_message(self, *arguments):
        pass

    def date_time_string(self, timestamp=None):
        return super().date_time_string(self.server.registry.now())

    def note(self, answer, why=None, **more):
        with self.server.registry.lock, open(self.server.registry.directory / "log", "a") as log:
            print(json.dumps({"path": self.path.partition("?")[0], "answer": answer, "why": why} | more), file=log)

    def answer(self, status, body, kind="application/json;charset=UTF-8", headers=()):
        data = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = True

    def refuse(self, refused, status=400):
        self.note(refused.error, refused.why)
        self.answer(status, json.dumps({"error": refused.error}))

    # What it can be told to do instead of answering.

    MISBEHAVIOUR = {
        "silent", "slow", "reset", "close", "truncated", "endless", "long-headers", "no-http", "html", "redirect", "status",
        "empty", "error",
    }

    def misbehave(self, action):
        """Whether the action has answered the request."""
        name, _, value = action.partition("=")
        if name not in self.MISBEHAVIOUR:
            return False
        self.note(f"told: {action}")
        self.close_connection = True
        if name == "silent":
            # Until the other side gives up.
            self.connection.settimeout(self.timeout)
            try:
                self.connection.recv(1)
            except OSError:
                pass
        elif name == "reset":
            # The plain socket below: a TLS one would say goodbye first.
            plain = socket.socket(fileno=self.connection.detach())
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            plain.close()
        elif name == "close":
            pass
        elif name == "slow":
            self.send_response(400)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b" ")
                    time.sleep(0.2)
            except OSError:
                pass
        elif name == "truncated":
            self.send_response(400)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b'{"error":"invalid_grant"')
        elif name == "endless":
            self.send_response(400)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b" " * 65_536)
            except OSError:
                pass
        elif name == "long-headers":
            headers = [(f"X-{number}", "x" * 1_000) for number in range(200)]
            try:
                self.answer(400, '{"error":"invalid_grant"}', headers=headers)
            except OSError:
                pass
        elif name == "no-http":
            self.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
        elif name == "html":
            self.answer(200, "<html><body>Log in to the network of this hotel</body></html>", "text/html")
        elif name == "redirect":
            self.answer(302, '{"error":"invalid_grant"}', headers=[("Location", "/elsewhere")])
        elif name == "status":
            self.answer(int(value), "<html><body>Service Unavailable</body></html>", "text/html")
        elif name == "empty":
            self.answer(int(value), "")
        elif name == "error":
            self.answer(400, json.dumps({"error": value, "email_verified": False}))
        return True

    # The endpoints.

    def do_GET(self):
        path, _, query = self.path.partition("?")
        order = self.server.registry.order(path, None)
        if order and self.misbehave(order):
            return
        if path == "/auth/keys":
            self.keys(order or "")
        elif path == "/auth/authorize":
            self.authorize(query)
        elif path in ("/v1/test", "/v1/token"):
            try:
                (self.music if path == "/v1/test" else self.maps)(*self.server.registry.bearer(self.headers))
            except Refused as refused:
                self.note(refused.error, refused.why)
                self.answer(401, "", "text/plain")
        else:
            self.note("404")
            self.answer(404, "not here", "text/plain")

    def do_POST(self):
        data = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 1 << 20))
        path = self.path
        try:
            if self.headers.get_content_type() != "application/x-www-form-urlencoded":
                raise Refused("unsupported_grant_type", "the body is no form")
            pairs = urllib.parse.parse_qsl(data.decode(), keep_blank_values=True, strict_parsing=True)
            form = dict(pairs)
            if len(form) != len(pairs):
                raise Refused("invalid_request", "a field occurs twice")
            order = self.server.registry.order(path, form.get("client_id"))
            if order and self.misbehave(order):
                return
            if order and order.startswith("echo="):
                self.note(f"told: {order}")
                error = {"error": order.partition("=")[2], "error_description": "refused: " + " ".join(form.values())}
                self.answer(400, json.dumps(error))
            elif path == "/auth/token":
                self.token(form, order or "")
            elif path == "/auth/oauth2/token":
                self.ads_token(form)
            elif path == "/auth/revoke":
                self.revoke(form)
            else:
                self.note("404")
                self.answer(404, "not here", "text/plain")
        except (UnicodeDecodeError, ValueError):
            self.refuse(Refused("invalid_request", "the body is no form"))
        except Refused as refused:
            self.refuse(refused)

    def keys(self, order):
        registry = self.server.registry
        kids = [identity.FORMER] if order == "without-current" else [identity.FORMER, identity.CURRENT]
        members = [identity.member(registry.directory, kid) for kid in kids]
        text = json.dumps({"keys": members})
        if order.startswith("size="):
            # Others' keys before ours, and the rest blanks.
            size = int(order.partition("=")[2])
            more = (size - len(text)) // (len(json.dumps(members[0] | {"kid": "FILLER000000"})) + 2)
            fillers = [members[0] | {"kid": f"FILLER{number:06}"} for number in range(more)]
            text = json.dumps({"keys": fillers + members})
            text = text[:-1] + " " * (size - len(text)) + text[-1]
        self.note("key set", size=len(text))
        self.answer(200, text)

    def authorize(self, query):
        """A page as a browser gets it after the user has signed in; the form alone for who accepts no page."""
        registry = self.server.registry
        asked = dict(urllib.parse.parse_qsl(query))
        client = asked.get("client_id")
        types = asked.get("response_type", "").split(" ")
        mode = asked.get("response_mode", "query")
        wrong = None
        if client not in registry.clients:
            wrong = "unknown client id"
        elif asked.get("redirect_uri") != registry.clients[client][1]:
            wrong = "the return address is not registered"
        elif "code" not in types or not set(types) <= {"code", "id_token"}:
            wrong = "response_type"
        elif mode not in ("query", "fragment", "form_post"):
            wrong = "response_mode"
        elif {"name", "email"} & set(asked.get("scope", "").split()) and mode != "form_post":
            wrong = "response_mode must be form_post when name or email are asked for"
        elif "id_token" in types and mode == "query":
            wrong = "response_mode must not be query with an identity token"
        elif not set(asked.get("scope", "").split()) <= {"openid", "name", "email"}:
            wrong = "scope"
        if wrong:
            self.note("error page", wrong)
            self.answer(400, f"<html><body>Invalid request: {html.escape(wrong)}</body></html>", "text/html")
            return
        code = f"c{secrets.token_hex(16)}.0.{secrets.token_hex(4)}"
        user = identity.claims(client, registry.now())["sub"]
        with registry.lock:
            registry.codes[code] = (client, asked["redirect_uri"], registry.now(), asked.get("nonce"))
            isFirst = (client, user) not in registry.known_users
            registry.known_users.add((client, user))
        fields = {"state": asked["state"]} if "state" in asked else {}
        fields["code"] = code
        if "id_token" in types:
            fields["id_token"] = identity.sign(
                registry.directory, identity.claims(client, registry.now(), asked.get("nonce")))
        if isFirst and asked.get("scope"):
            fields["user"] = json.dumps(
                {"name": {"firstName": "Johanna", "lastName": "Appel"}, "email": "standin@privaterelay.appleid.com"})
        self.note("code")
        form = urllib.parse.urlencode(fields)
        if "text/html" not in self.headers.get("Accept", "text/html"):
            self.answer(200, form, "application/x-www-form-urlencoded")
            return
        target = html.escape(asked["redirect_uri"])
        if mode == "form_post":
            inputs = "".join(
                f'<input type="hidden" name="{name}" value="{html.escape(value)}">' for name, value in fields.items())
            page = f'<form method="post" action="{target}">{inputs}<button>Continue</button></form>'
        else:
            page = f'<a href="{target}{"?" if mode == "query" else "#"}{html.escape(form)}">Continue</a>'
        self.answer(200, f"<html><body><h1>Stand-in for Apple</h1>{page}</body></html>", "text/html")

    def token(self, form, order):
        registry = self.server.registry
        client = registry.authenticate(form)
        grant = form.get("grant_type")
        name, _, value = order.partition("=")
        if grant == "authorization_code":
            if not form.get("code"):
                raise Refused("invalid_request", "no code")
            with registry.lock:
                known = registry.codes.pop(form["code"], None)
            if known is None:
                raise Refused("invalid_grant", "unknown code, or one that was exchanged already")
            owner, address, since, nonce = known
            if owner != client:
                raise Refused("invalid_grant", "the code of another client")
            if registry.now() >= since + CODE_LIFETIME:
                raise Refused("invalid_grant", "the code has expired")
            if form.get("redirect_uri") != address:
                raise Refused("invalid_client", "another return address")
            refresh = f"r{secrets.token_hex(16)}.0.{secrets.token_hex(4)}"
            with registry.lock:
                registry.refresh_tokens[refresh] = client
        elif grant == "refresh_token":
            nonce, refresh = None, None
            if registry.refresh_tokens.get(form.get("refresh_token")) != client:
                raise Refused("invalid_grant", "unknown refresh token")
        else:
            raise Refused("unsupported_grant_type", "grant_type")
        stated = identity.claims(client, registry.now(), value if name == "nonce" else nonce)
        tokens = {
            "access_token": f"a{secrets.token_hex(16)}.0.{secrets.token_hex(4)}", "token_type": "Bearer",
            "expires_in": 3600, "id_token": identity.sign(registry.directory, stated),
        } | ({"refresh_token": refresh} if refresh else {})
        with registry.lock:
            registry.access_tokens[tokens["access_token"]] = client
        self.note("tokens")
        self.answer(200, json.dumps(tokens))

    def ads_token(self, form):
        client = self.server.registry.authenticate(form, ads=True)
        if form.get("grant_type") != "client_credentials":
            raise Refused("unsupported_grant_type", "grant_type")
        if form.get("scope") != "searchadsorg":
            raise Refused("invalid_scope", "scope")
        self.note("access token", client=client)
        token = {"access_token": secrets.token_hex(32), "token_type": "Bearer", "expires_in": 3600, "scope": "searchadsorg"}
        self.answer(200, json.dumps(token))

    def music(self, header, stated, origin):
        if stated["exp"] > self.server.registry.now() + LONGEST:
            raise Refused("unauthorized", "expires too late")
        allowed = stated.get("origin")
        if allowed is not None and (not isinstance(allowed, list) or origin not in allowed):
            raise Refused("unauthorized", "origin")
        if set(stated) - {"iss", "iat", "exp", "origin"}:
            raise Refused("unauthorized", "another claim")
        self.note("200")
        self.answer(200, "")

    def maps(self, header, stated, origin):
        if header.get("typ") != "JWT":
            raise Refused("unauthorized", "typ")
        if stated.get("origin") not in (None, origin):
            raise Refused("unauthorized", "origin")
        if stated.get("scope") not in (None, "server_api"):
            raise Refused("unauthorized", "scope")
        if set(stated) - {"iss", "iat", "exp", "origin", "scope"}:
            raise Refused("unauthorized", "another claim")
        self.note("access token")
        self.answer(200, json.dumps({"accessToken": secrets.token_hex(32), "expiresInSeconds": 1800}))

    def revoke(self, form):
        """Anything is revoked, also what nobody was ever given."""
        registry = self.server.registry
        client = registry.authenticate(form)
        if not form.get("token"):
            raise Refused("invalid_request", "no token")
        with registry.lock:
            known = [tokens for tokens in (registry.refresh_tokens, registry.access_tokens)
                     if tokens.get(form["token"]) == client]
            for tokens in known:
                del tokens[form["token"]]
        self.note("revoked", None if known else "unknown token")
        self.answer(200, "")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address, registry, context):
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.registry, self.context = registry, context
        super().__init__(address, Handler)

    def finish_request(self, request, client_address):
        # In the request's own thread: a handshake that hangs holds up nobody else.
        request.settimeout(Handler.timeout)
        try:
            if self.context is None:
                super().finish_request(request, client_address)
                return
            with self.context.wrap_socket(request, server_side=True) as connection:
                super().finish_request(connection, client_address)
        except (OSError, ValueError):
            pass

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("directory")
    parser.add_argument("--key", action="append", default=[])
    parser.add_argument("--client", action="append", default=[])
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--certificate", default="good", choices=["good", "expired", "other-host", "other-authority"])
    parser.add_argument("--tls", choices=["1.1"], help="speak no later version")
    parser.add_argument("--plain", action="store_true", help="speak HTTP without TLS, though its address says https")
    parser.add_argument("--until-input-ends", action="store_true", help="end with who has started it")
    arguments = parser.parse_args()
    directory = pathlib.Path(arguments.directory)
    directory.mkdir(parents=True, exist_ok=True)
    registry = Registry(arguments)
    certificates.authority(directory, "ca")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if arguments.tls:
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("ALL:@SECLEVEL=0")
    context.load_cert_chain(*certificates.server(directory, arguments.certificate))
    for kid in (identity.FORMER, identity.CURRENT):
        identity.key(directory, kid)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with Server((arguments.address, 0), registry, None if arguments.plain else context) as server:
        host = f"[{arguments.address}]" if ":" in arguments.address else arguments.address
        print(f"https://{host}:{server.server_address[1]}", flush=True)
        if arguments.until_input_ends:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            sys.stdin.read()
        else:
            server.serve_forever()


main()
