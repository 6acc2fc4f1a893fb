#!/usr/bin/env python3
"""Signs users in, once a second by each program of docs/apps.md, until their secret was renewed three times and the first
one is over.

    sign-in.py DIRECTORY STAND_IN AUTHORITY NETWORK_PROGRAM PROGRAM...

In DIRECTORY lie the secrets, which somebody else renews: web.jwt, web.env, appleid.apple.com.client and matrix.jwt. There also
lies PROGRAM.pid, to which signals go. STAND_IN is the address of the stand-in for Apple. Prints a JSON object: how many secrets
there were, and for each program how many logins went well, which failed and why, and how many found it away.
"""

import base64
import json
import pathlib
import subprocess
import sys
import threading
import time
import types

import programs
from browser import Failed, Unreachable

RENEWALS = 3
# A run in which nothing starts or nothing is renewed ends by itself, in seconds.
LONGEST_START, LONGEST = 150, 450


def expiry(secret):
    claims = secret.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["exp"]


class Logins:
    """What became of one program's logins."""

    def __init__(self, program):
        self.program = program
        self.good, self.failed, self.away = 0, [], 0
        self.first_error = "it was not tried"
        self.is_ready = threading.Event()

    def try_once(self):
        self.program.start_if_ended()
        try:
            self.program.sign_in()
            self.good += 1
            self.is_ready.set()
        except (Failed, Unreachable) as error:
            if not self.is_ready.is_set():
                self.first_error = str(error)
            elif isinstance(error, Unreachable) and not self.program.is_never_away:
                self.away += 1
            else:
                self.failed.append(str(error))

    def go_on(self, until):
        while not until.is_set():
            start = time.monotonic()
            self.try_once()
            until.wait(max(0, start + 1 - time.monotonic()))


def main():
    place, address, authority, network_program = sys.argv[1:5]
    place = pathlib.Path(place)
    port = address.rpartition(":")[2]
    scripts = pathlib.Path(__file__).resolve().parents[1] / "apple"
    proxy = subprocess.Popen(
        [sys.executable, scripts / "proxy.py", place / "proxied", port], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
    apple = types.SimpleNamespace(
        address=address, authority=authority, port=int(port), network_program=network_program,
        proxy=proxy.stdout.readline().strip())
    all_logins = {}
    over = threading.Event()
    threads = []
    try:
        for name in sys.argv[5:]:
            all_logins[name] = Logins(getattr(programs, name)(place, apple))
        not_notified = all_logins.pop("NotNotified", None)
        threads = [threading.Thread(target=logins.go_on, args=[over]) for logins in all_logins.values()]
        for thread in threads:
            thread.start()
        begun = time.monotonic()
        while not_notified and not not_notified.is_ready.is_set() and time.monotonic() < begun + LONGEST_START:
            not_notified.try_once()
            time.sleep(0.1)
        for name, logins in all_logins.items():
            if not logins.is_ready.wait(max(0, begun + LONGEST_START - time.monotonic())):
                raise SystemExit(f"{name} lets nobody in: {logins.first_error}")
        secrets = []
        while time.monotonic() < begun + LONGEST:
            secret = (place / "web.jwt").read_text()
            if secret not in secrets:
                secrets.append(secret)
            if len(secrets) > RENEWALS and time.time() > expiry(secrets[0]) + 2:
                break
            time.sleep(1)
        over.set()
        for thread in threads:
            thread.join()
        # It goes on with the first secret.
        if not_notified:
            not_notified.try_once()
            all_logins["NotNotified"] = not_notified
        print(json.dumps({"secrets": len(secrets), "logins": {
            name: {"good": logins.good, "failed": logins.failed, "away": logins.away}
            for name, logins in all_logins.items()}}))
    finally:
        over.set()
        for thread in threads:
            thread.join()
        for logins in all_logins.values():
            logins.program.end()
        proxy.kill()


main()
