#!/usr/bin/env python3
"""Real etcd on loopback: three members with mutual TLS between them and their clients, and users of etcd's own.

    cluster.py DIRECTORY BIN [ADDRESS]

They serve on ADDRESS as well where one is given. BIN holds etcd and etcdctl. In DIRECTORY it makes ca.pem; NAME.pem and NAME.key for clients (client; ending, in ten days;
expired; stranger, of another authority; named, with a CN); and member0 to member2. Users are root, signer (reads and writes
everything below /clientsecretd/), follower (reads the secrets of team DEF123GHIJ, and reports as machines whose names begin
with app) and nobody (no role), each with its name as its password.

It prints {"endpoints": [...]} once all serve, and then, for each line of its input, {"result": ...} or {"error": ...}:

    leader              the number of the member that leads
    pause N, resume N   stops and continues a member
    kill N, start N     ends a member at once, and starts it again
    ctl WORDS...        what etcdctl says, as root
    put KEY FILE        puts a file's content

Everything ends with its input, or the line "end".
"""

import json
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "apple"))
import certificates  # noqa: E402

MEMBERS = 3


def run(*arguments, check=True, env=None, value=""):
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, env=env, input=value)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


class MemberEnded(RuntimeError):
    pass


class Cluster:
    def __init__(self, directory, programs, address):
        self.directory, self.programs, self.address = directory, programs, address
        self.make_certificates()
        self.choose_ports()
        self.processes = [None] * MEMBERS
        self.generation = 0
        self.has_users = False

    def make_certificates(self):
        names = "IP:127.0.0.1,DNS:localhost" + (f",IP:{self.address}" if self.address else "")
        usage = "extendedKeyUsage=serverAuth,clientAuth\n"
        for name, issuer, subject, days, more in (
            ("server", "ca", "/O=Tests", "30", f"subjectAltName={names}\n"), ("client", "ca", "/O=Tests", "30", ""),
            ("ending", "ca", "/O=Tests", "10", ""), ("expired", "ca", "/O=Tests", "-1", ""),
            ("stranger", "other-ca", "/O=Tests", "30", ""), ("named", "ca", "/CN=root", "30", ""),
        ):
            certificates.make(self.directory, name, issuer, subject, days, more + usage)

    def path(self, name, kind="pem"):
        return str(self.directory / f"{name}.{kind}")

    def choose_ports(self):
        # All are held at once, so that they are different ones.
        sockets = [socket.socket() for _ in range(2 * MEMBERS)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        addresses = [f"https://127.0.0.1:{each.getsockname()[1]}" for each in sockets]
        for each in sockets:
            each.close()
        self.clients, self.peers = addresses[:MEMBERS], addresses[MEMBERS:]

    def data(self, number):
        return str(self.directory / f"member{number}-{self.generation}")

    def start(self, number):
        path = self.path
        members = ",".join(f"m{each}={peer}" for each, peer in enumerate(self.peers))
        served = self.clients[number]
        if self.address:
            served += "," + served.replace("127.0.0.1", self.address)
        log = open(self.directory / f"member{number}.log", "ab")
        self.processes[number] = subprocess.Popen(
            [self.programs / "etcd", "--name", f"m{number}", "--data-dir", self.data(number),
             "--listen-client-urls", served, "--advertise-client-urls", self.clients[number],
             "--listen-peer-urls", self.peers[number], "--initial-advertise-peer-urls", self.peers[number],
             "--initial-cluster", members, "--initial-cluster-token", f"tests-{self.generation}",
             "--cert-file", path("server"), "--key-file", path("server", "key"),
             "--trusted-ca-file", path("ca"), "--client-cert-auth",
             "--peer-cert-file", path("server"), "--peer-key-file", path("server", "key"),
             "--peer-trusted-ca-file", path("ca"), "--peer-client-cert-auth",
             "--bcrypt-cost", "4", "--auth-token-ttl", "86400", "--quota-backend-bytes", str(16 << 20),
             "--heartbeat-interval", "50", "--election-timeout", "500", "--unsafe-no-fsync"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()

    def ctl(self, *words, endpoints=None, check=True, value=""):
        path = self.path
        login = ["--user", "root:root"] if self.has_users else []
        return run(str(self.programs / "etcdctl"), "--endpoints", ",".join(endpoints or self.clients), "--cacert",
                   path("ca"), "--cert", path("client"), "--key", path("client", "key"), "--command-timeout", "5s",
                   *login, *words, check=check, env={**os.environ, "ETCDCTL_API": "3"}, value=value)

    def wait(self):
        deadline = time.monotonic() + 60
        while True:
            try:
                for endpoint in self.clients:
                    self.ctl("endpoint", "health", endpoints=[endpoint])
                return
            except RuntimeError:
                if not self.has_users and any(each.poll() is not None for each in self.processes):
                    raise MemberEnded(f"a member has ended; see {self.directory}") from None
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def begin(self):
        for number in range(MEMBERS):
            self.start(number)
        self.wait()

    def begin_somewhere(self):
        """Starts a new cluster. Another program may take a port after it was chosen: then a member ends at once."""
        while True:
            try:
                return self.begin()
            except MemberEnded:
                if self.generation == 9:
                    raise
                self.end()
                self.generation += 1
                self.choose_ports()

    def make_users(self):
        self.ctl("role", "add", "signer")
        self.ctl("role", "grant-permission", "signer", "readwrite", "--prefix=true", "/clientsecretd/")
        self.ctl("role", "add", "follower")
        self.ctl("role", "grant-permission", "follower", "read", "--prefix=true",
                 "/clientsecretd/v1/secret/DEF123GHIJ/")
        self.ctl("role", "grant-permission", "follower", "read", "--prefix=true",
                 "/clientsecretd/v1/rollout/DEF123GHIJ/")
        self.ctl("role", "grant-permission", "follower", "readwrite", "--prefix=true", "/clientsecretd/v1/host/app")
        for user in ("root", "signer", "follower", "nobody"):
            self.ctl("user", "add", f"{user}:{user}")
            if user != "nobody":
                self.ctl("user", "grant-role", user, user)
        self.ctl("auth", "enable")
        self.has_users = True

    def leader(self):
        for number, endpoint in enumerate(self.clients):
            if self.processes[number].poll() is not None:
                continue
            try:
                status = json.loads(self.ctl("endpoint", "status", "--write-out", "json", endpoints=[endpoint]))[0]
            except RuntimeError:
                continue
            if status["Status"]["leader"] == status["Status"]["header"]["member_id"]:
                return number
        raise RuntimeError("nobody leads")

    def kill(self, number):
        self.processes[number].kill()
        self.processes[number].wait()

    def obey(self, line):
        verb, *words = shlex.split(line)
        if verb == "ctl":
            return self.ctl(*words)
        if verb == "put":
            return self.ctl("put", words[0], value=pathlib.Path(words[1]).read_text())
        if verb == "leader":
            return self.leader()
        number = int(words[0])
        if verb == "pause":
            self.processes[number].send_signal(signal.SIGSTOP)
        elif verb == "resume":
            self.processes[number].send_signal(signal.SIGCONT)
        elif verb == "kill":
            self.kill(number)
        elif verb == "start":
            self.start(number)
            self.wait()
        else:
            raise RuntimeError(f"no such order: {verb}")

    def end(self):
        for process in self.processes:
            if process and process.poll() is None:
                process.kill()
                process.wait()


def main():
    directory, programs = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    if not (programs / "etcd").exists():
        sys.exit(f"there is no {programs}/etcd; run: make test-deps")
    cluster = Cluster(directory, programs, sys.argv[3] if len(sys.argv) > 3 else None)
    try:
        cluster.begin_somewhere()
        cluster.make_users()
        print(json.dumps({"endpoints": cluster.clients}), flush=True)
        for line in sys.stdin:
            if line == "end\n":
                break
            try:
                print(json.dumps({"result": cluster.obey(line)}), flush=True)
            except (RuntimeError, subprocess.SubprocessError) as error:
                print(json.dumps({"error": str(error)}), flush=True)
    finally:
        cluster.end()
        for number in range(MEMBERS):
            for each in directory.glob(f"member{number}-*"):
                shutil.rmtree(each, ignore_errors=True)


main()
