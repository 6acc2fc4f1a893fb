#!/usr/bin/env python3
"""fleet.py [MACHINES...]: how a renewal spreads through three members of etcd to 10, 100 and 1,000 followers.

Three of the followers are real daemons with the real program that asks the store; for the others this program does what that
one does with etcd: a connection and a login, one transaction that reads the client's place, a watch on a connection of its
own, a read within a second of what that says, and a report within a minute of the read. Everything is on this machine, so its
cores are shared by members, followers and this program.

For each number, the medians of three renewals: from the signer's own file until the secret is in the file of the last real
follower and in the hands of the last of all; requests that the members answered; and processor seconds of members, signer and one
follower, each with its network program, from the renewal until all reports are there. What the members take while nothing
happens is shown before, as a share of one core, and is not in their seconds.
"""
import asyncio
import base64
import json
import os
import random
import re
import resource
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

repository = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
binary = repository + "/.build/release/clientsecretd"
network = repository + "/.build/release/clientsecretd-network"
etcd = repository + "/.build/etcd/usr/bin"
REAL = 3
RENEWALS = 3
# In seconds: reports are spread over a minute.
REPORTS = 65
IDLE = 20
work = ""


def encoded(text):
    return base64.b64encode(text.encode()).decode()


class Cluster:
    """cluster.py of the tests: certificates, users, three members."""

    def __init__(self, directory):
        os.mkdir(directory)
        self.directory = directory
        self.process = subprocess.Popen(
            [sys.executable, repository + "/Tests/Support/etcd/cluster.py", directory, etcd],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.endpoints = json.loads(self.process.stdout.readline())["endpoints"]
        self.tls = ssl.create_default_context(cafile=directory + "/ca.pem")
        self.tls.load_cert_chain(directory + "/client.pem", directory + "/client.key")
        self.members = subprocess.run(
            ["pgrep", "--parent", str(self.process.pid), "etcd"], capture_output=True, text=True, check=True).stdout.split()

    def order(self, words):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["result"]

    def requests(self):
        """What all members have answered; a watch counts when it ends."""
        total = 0
        for endpoint in self.endpoints:
            with urllib.request.urlopen(endpoint + "/metrics", context=self.tls, timeout=30) as answer:
                found = re.findall(rb"^grpc_server_handled_total\{[^}]*\} ([0-9.e+]+)$", answer.read(), re.M)
            total += sum(float(number) for number in found)
        return int(total)

    def end(self):
        self.process.stdin.write("end\n")
        self.process.stdin.close()
        self.process.wait()


class Machine:
    """A real daemon with its network program."""

    def __init__(self, name, user, keys, cluster):
        self.directory = f"{work}/{name}"
        self.output = self.directory + "/web.jwt"
        self.configuration = self.directory + "/clientsecretd.yaml"
        self.socket = self.directory + "/clientsecretd.sock"
        os.makedirs(self.directory + "/state", mode=0o700, exist_ok=True)
        files = {"password": user + "\n", "clientsecretd.yaml": f"""{keys}
clients:
  web:
    client_id: com.example.web
    outputs: [{{path: "{self.output}"}}]
store:
  endpoints: {json.dumps(cluster.endpoints)}
  machine: {name}
  ca_file: "{cluster.directory}/ca.pem"
  certificate_file: "{cluster.directory}/client.pem"
  key_file: "{cluster.directory}/client.key"
  user: {user}
  password_file: "{self.directory}/password"
state_dir: "{self.directory}/state"
"""}
        for file, text in files.items():
            with open(f"{self.directory}/{file}", "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as opened:
                opened.write(text)
        log = open(self.directory + "/log", "w")
        environment = {"PATH": os.environ["PATH"], "STATE_DIRECTORY": self.directory + "/state"}
        self.processes = [
            subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment) for words in (
                [network, "listen", self.directory + "/store.sock", "store", "--config", self.configuration],
                [binary, "run", "--config", self.configuration, "--socket", self.socket])]

    def command(self, *words):
        return subprocess.run(
            [binary, *words], check=True, capture_output=True, text=True,
            env={"CLIENTSECRETD_CONFIG": self.configuration, "CLIENTSECRETD_SOCKET": self.socket}).stdout

    def held(self):
        """The secret in its file, and when that was written."""
        try:
            with open(self.output) as file:
                return file.read(), os.fstat(file.fileno()).st_mtime_ns / 1e9
        except FileNotFoundError:
            return None, 0

    def end(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()


def spent(processes):
    """Seconds of processor of these processes and of all that they have started."""
    ticks = 0
    for process in processes:
        with open(f"/proc/{process}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        ticks += sum(map(int, fields[11:15]))
        children = subprocess.run(["pgrep", "--parent", str(process)], capture_output=True, text=True).stdout.split()
        ticks += round(spent(children) * os.sysconf("SC_CLK_TCK"))
    return ticks / os.sysconf("SC_CLK_TCK")


class Connection:
    """HTTP/1.1 over mutual TLS to one member."""

    async def open(self, endpoint, tls):
        host, port = endpoint.removeprefix("https://").split(":")
        self.reader, self.writer = await asyncio.open_connection(host, int(port), ssl=tls)
        return self

    async def send(self, path, body, token):
        text = json.dumps(body)
        authorization = f"Authorization: {token}\r\n" if token else ""
        self.writer.write(
            f"POST {path} HTTP/1.1\r\nHost: etcd\r\n{authorization}Content-Length: {len(text)}\r\n\r\n{text}".encode())
        await self.writer.drain()
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        if " 200 " not in head.split("\r\n")[0]:
            raise RuntimeError(head + (await self.reader.read(1000)).decode())
        return head

    async def chunk(self):
        size = int(await self.reader.readline(), 16)
        return (await self.reader.readexactly(size + 2))[:-2]

    async def ask(self, path, body, token=None):
        head = await self.send(path, body, token)
        length = re.search(r"content-length: (\d+)", head)
        if length:
            return json.loads(await self.reader.readexactly(int(length[1])))
        answer = b""
        while part := await self.chunk():
            answer += part
        return json.loads(answer)


class Follower:
    """What the network program of a follower does with etcd."""

    def __init__(self, number, cluster, place):
        self.number, self.cluster, self.place = number, cluster, place
        self.received = 0
        self.reports = 0
        self.revision = 0

    async def begin(self):
        endpoint = random.choice(self.cluster.endpoints)
        self.connection = await Connection().open(endpoint, self.cluster.tls)
        login = await self.connection.ask("/v3/auth/authenticate", {"name": "follower", "password": "follower"})
        self.token = login["token"]
        await self.read()
        self.watch = await Connection().open(endpoint, self.cluster.tls)
        await self.watch.send(
            "/v3/watch", {"create_request": {"key": encoded(self.place), "start_revision": self.revision + 1}}, self.token)
        self.task = asyncio.create_task(self.run())

    async def read(self):
        answer = await self.connection.ask(
            "/v3/kv/txn", {"success": [{"request_range": {"key": encoded(self.place)}}]}, self.token)
        self.revision = int(answer["header"]["revision"])
        return answer

    async def run(self):
        while True:
            if b'"events"' not in await self.watch.chunk():
                continue
            await asyncio.sleep(random.random())
            await self.read()
            self.received = time.time()
            await asyncio.sleep(60 * random.random())
            report = {"v": 1, "clients": {"DEF123GHIJ/com.example.web": {"fingerprint": "0" * 64, "delivered": True}}}
            key = encoded(f"/clientsecretd/v1/host/app-load{self.number}")
            await self.connection.ask("/v3/kv/txn", {
                "compare": [], "success": [{"request_put": {"key": key, "value": encoded(json.dumps(report))}}]}, self.token)
            self.reports += 1


async def idle(cluster):
    """The share of a core that the members take while nothing happens."""
    before = spent(cluster.members)
    await asyncio.sleep(IDLE)
    return (spent(cluster.members) - before) / IDLE


async def renewal(signer, real, load, cluster, rest):
    parts = {
        "members": cluster.members, "signer": [each.pid for each in signer.processes],
        "follower": [each.pid for each in real[0].processes]}
    before = {name: spent(processes) for name, processes in parts.items()}
    requests = cluster.requests()
    reports = sum(each.reports for each in load)
    began = time.time()
    await asyncio.to_thread(signer.command, "renew", "web")
    secret, issued = signer.held()
    while not all(each.received > began for each in load) or not all(each.held()[0] == secret for each in real):
        if time.time() > began + 120:
            sys.exit("fleet.py: the secret did not reach all followers in two minutes")
        await asyncio.sleep(0.05)
    real_last = max(each.held()[1] for each in real) - issued
    last = max([each.received - issued for each in load] + [real_last])
    while time.time() < began + REPORTS or sum(each.reports for each in load) < reports + len(load):
        await asyncio.sleep(0.2)
    taken = {name: spent(processes) - before[name] for name, processes in parts.items()}
    taken["members"] -= rest * (time.time() - began)
    return {"rest": rest, "real": real_last, "last": last, "requests": cluster.requests() - requests, **taken}


async def measure(count):
    global work
    work = tempfile.mkdtemp(prefix="fleet.")
    cluster = Cluster(work + "/etcd")
    machines = []
    try:
        os.makedirs(work + "/signer", mode=0o700)
        key = work + "/signer/AuthKey_BENCHKEY12.p8"
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key],
                       check=True, stderr=subprocess.DEVNULL)
        os.chmod(key, 0o600)
        signer = Machine("signer", "signer", f'keys: {{apple: {{team_id: DEF123GHIJ, file: "{key}"}}}}', cluster)
        machines.append(signer)
        while not (place := cluster.order("ctl get --prefix --keys-only /clientsecretd/v1/secret/").strip()):
            time.sleep(0.1)
        public = signer.command("public-key")
        real = [Machine(f"app{number}", "follower", public, cluster) for number in range(REAL)]
        machines += real
        load = [Follower(number, cluster, place) for number in range(count - REAL)]
        # Not all at once: what is measured is a renewal, and not a start.
        for start in range(0, len(load), 20):
            await asyncio.gather(*(each.begin() for each in load[start:start + 20]))
        while not all(each.held()[0] for each in real):
            await asyncio.sleep(0.1)
        # The first reports, so that none of them is counted.
        await asyncio.sleep(REPORTS)
        rest = await idle(cluster)
        return [await renewal(signer, real, load, cluster, rest) for _ in range(RENEWALS)]
    finally:
        for machine in machines:
            machine.end()
        cluster.end()
        subprocess.run(["rm", "-rf", work])


def main():
    # A follower has two connections.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    print(f"{'followers':>9} {'at rest':>8} {'last real':>10} {'last':>7} {'requests':>9} {'members':>9} {'signer':>8} {'follower':>9}")
    for count in [int(word) for word in sys.argv[1:]] or [10, 100, 1000]:
        runs = asyncio.run(measure(count))
        middle = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
        print(f"{count:>9} {middle['rest']:>8.1%} {middle['real']:>8.2f} s {middle['last']:>5.2f} s {middle['requests']:>9.0f} "
              f"{middle['members']:>7.2f} s {middle['signer']:>6.2f} s {middle['follower']:>7.2f} s", flush=True)


main()
