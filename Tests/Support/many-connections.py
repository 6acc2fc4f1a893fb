"""many-connections.py SOCKET IDLE SLOW SECONDS [FILE]

A crowd at the status socket, and what root gets beside it. IDLE clients ask once and stay, SLOW ones send a byte a
second and never come to an end; they are forty users, none of them root, and whoever is turned away or hung up on comes
again a second later. Meanwhile root asks for /healthz, some thirty times a second. It lasts for so many seconds, and
until FILE has changed, where one is named.

Prints as JSON: how often root asked ("asked"), how often it was answered with each status ("answers"), how many
milliseconds that took ("p50", "p99", "longest"), and the most connections that were open at one time ("held").
"""
import collections
import json
import os
import random
import select
import signal
import socket
import sys
import time

path = sys.argv[1]
idle, slow, seconds = map(int, sys.argv[2:5])
USERS = 40
FIRST_USER = 30_000
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
end = time.monotonic() + seconds
awaited = sys.argv[5] if len(sys.argv) > 5 else os.devnull


def content():
    with open(awaited, "rb") as file:
        return file.read()


before = content()


def is_over():
    return time.monotonic() >= end and (awaited == os.devnull or content() != before)


class Client:
    """One who connects again and again."""

    def __init__(self, is_slow, poller, everybody):
        self.is_slow, self.poller, self.everybody = is_slow, poller, everybody
        self.socket, self.sent = None, 0
        self.next = time.monotonic() + random.random()

    def act(self, now):
        if now < self.next:
            return
        if self.socket is None:
            self.connect(now)
        elif self.is_slow:
            # The last field of a head that never ends.
            self.send((HEALTH + b"X-Slow: ")[self.sent:self.sent + 1] or b"a")
            self.sent += 1
            self.next = now + 1

    def connect(self, now):
        self.socket, self.sent = socket.socket(socket.AF_UNIX), 0
        self.socket.setblocking(False)
        self.everybody[self.socket.fileno()] = self
        try:
            self.socket.connect(path)
        except OSError:
            # The socket's queue is full.
            return self.leave(0.2)
        self.poller.register(self.socket, select.POLLIN)
        self.next = now
        if not self.is_slow:
            self.send(HEALTH + b"\r\n")

    def send(self, data):
        try:
            self.socket.send(data)
        except OSError:
            pass  # Hung up on: to be read, too.

    def read(self):
        try:
            if self.socket.recv(65536):
                return
        except OSError:
            pass
        self.poller.unregister(self.socket)
        self.leave(1)

    def leave(self, pause):
        del self.everybody[self.socket.fileno()]
        self.socket.close()
        self.socket = None
        self.next = time.monotonic() + pause


def visit(user, idle, slow):
    # The socket is open to its group.
    os.setgroups([os.stat(path).st_gid])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    poller, everybody = select.poll(), {}
    clients = [Client(number < slow, poller, everybody) for number in range(idle + slow)]
    while True:
        now = time.monotonic()
        for client in clients:
            client.act(now)
        for descriptor, _ in poller.poll(100):
            everybody[descriptor].read()


def share(whole, part):
    return whole * (part + 1) // USERS - whole * part // USERS


def ask():
    """The status that /healthz answers with."""
    with socket.socket(socket.AF_UNIX) as client:
        # It waits for room in the socket's queue; with a time limit it would be refused.
        client.connect(path)
        client.settimeout(60)
        client.sendall(HEALTH + b"Connection: close\r\n\r\n")
        answer = b""
        while data := client.recv(65536):
            answer += data
    return answer.split(b" ")[1].decode()


def held():
    with open("/proc/net/unix") as table:
        return sum(line.endswith(f" {path}\n") for line in table) - 1


children = []
for part in range(USERS):
    if (child := os.fork()) == 0:
        visit(FIRST_USER + part, share(idle, part), share(slow, part))
    children.append(child)
time.sleep(2)
times, answers, most = [], collections.Counter(), 0
while not is_over():
    began = time.monotonic()
    try:
        answers[ask()] += 1
    except OSError as error:
        answers[str(error)] += 1
    times.append((time.monotonic() - began) * 1000)
    if len(times) % 10 == 1:
        most = max(most, held())
    time.sleep(0.025)
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
times.sort()
print(json.dumps({
    "asked": len(times), "answers": answers, "held": most, "p50": times[len(times) // 2],
    "p99": times[len(times) * 99 // 100], "longest": times[-1]}))
