#!/usr/bin/env python3
"""A real PocketBase of a test's own, with two providers in its collection of users.

    pocketbase.py DIRECTORY         prints its address and serves until its input ends
    pocketbase.py DIRECTORY show    prints each provider and its secret, read from its database
    pocketbase.py DIRECTORY limit   allows one login in ten minutes from now on
    pocketbase.py DIRECTORY mfa     wants a second factor of superusers from now on
"""

import json
import pathlib
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request

USER, PASSWORD = "admin@example.com", "password-of-the-tests"


def ask(method, address, body, token=""):
    request = urllib.request.Request(
        address, json.dumps(body).encode(), {"Content-Type": "application/json", "Authorization": token}, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def log_in(address):
    login = {"identity": USER, "password": PASSWORD}
    return ask("POST", address + "/api/collections/_superusers/auth-with-password", login)["token"]


def serve(directory):
    program = str(pathlib.Path(sys.executable).parent / "pocketbase")
    data = ["--dir", str(directory / "pocketbase")]
    subprocess.run([program, "superuser", "upsert", USER, PASSWORD, *data], check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{free.getsockname()[1]}"
    # It ends with this program, however that ends.
    command = ["setpriv", "--pdeathsig=KILL", program, "serve", "--http", host, *data]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        address = f"http://{host}"
        while True:
            try:
                urllib.request.urlopen(address + "/api/health", timeout=30).close()
                break
            except OSError:
                if process.poll() is not None:
                    raise SystemExit("PocketBase has ended") from None
                time.sleep(0.05)
        token = log_in(address)
        providers = [
            {"name": "google", "clientId": "google-id", "clientSecret": "secret-of-google"},
            {"name": "apple", "clientId": "com.example.web", "clientSecret": "secret-of-before"},
        ]
        oauth2 = {"enabled": True, "providers": providers}
        ask("PATCH", address + "/api/collections/users", {"oauth2": oauth2}, token)
        (directory / "address").write_text(address)
        print(address, flush=True)
        sys.stdin.read()
    finally:
        process.kill()


def show(directory):
    database = sqlite3.connect(directory / "pocketbase" / "data.db")
    (options,) = database.execute("select options from _collections where name = 'users'").fetchone()
    for provider in json.loads(options)["oauth2"]["providers"]:
        print(provider["name"], provider["clientId"], provider["clientSecret"])


def limit(directory):
    address = (directory / "address").read_text()
    rule = {"label": "*:auth", "maxRequests": 1, "duration": 600}
    ask("PATCH", address + "/api/settings", {"rateLimits": {"enabled": True, "rules": [rule]}}, log_in(address))


def mfa(directory):
    address = (directory / "address").read_text()
    both = {"otp": {"enabled": True}, "mfa": {"enabled": True}}
    ask("PATCH", address + "/api/collections/_superusers", both, log_in(address))


if __name__ == "__main__":
    {"show": show, "limit": limit, "mfa": mfa}.get("".join(sys.argv[2:]), serve)(pathlib.Path(sys.argv[1]))
