#!/usr/bin/env python3
"""peers.py ROOT [CLIENTS [RUNS [PEER...]]]: what it costs to keep so many secrets (3) idly, beside caddy and certmonger, which
keep as many certificates of their own making and renew them, or beside one PEER of them alone. ROOT is a Debian with both of
them in it. To be run as root.

Everything that is kept exists before the first measured start. The three take turns: the time from the start until the
program says that it is ready (caddy and the daemon by READY=1, certmonger by taking connections), and how long its threads
ran on a processor by then, which says what was waiting; the medians of the runs (5). Then, ten seconds after the last start
(a minute with many clients), what each holds in memory, and how often it wakes in the minute after that.
"""
import glob
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

root = os.path.abspath(sys.argv[1])
clients = int(sys.argv[2]) if len(sys.argv) > 2 else 3
runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
chosen = sys.argv[4:] or ["caddy", "certmonger"]
binary = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/.build/release/clientsecretd"
work = tempfile.mkdtemp(prefix="peers.", dir=root + "/tmp")
inside = work[len(root):]
notify = work + "/notify.sock"
private = work + "/certmonger.sock"


def write(name, text, mode=0o600):
    with open(f"{work}/{name}", "w") as file:
        os.fchmod(file.fileno(), mode)
        file.write(text)


def until(condition):
    """Waits until the condition holds; two minutes for what takes milliseconds mean that it never will."""
    for _ in range(12_000):
        if condition():
            return
        time.sleep(0.01)
    sys.exit("peers.py: waited in vain")


def spent(process):
    """Seconds that its threads have run, those that have ended too, by the clock that clock_getcpuclockid() names."""
    return time.clock_gettime((~process.pid << 3) | 2)


def accepts(path):
    with socket.socket(socket.AF_UNIX) as peer:
        try:
            peer.connect(path)
            return True
        except OSError:
            return False


def start(arguments, environment):
    return subprocess.Popen(
        arguments, env=dict(os.environ, **environment), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def end(process):
    process.send_signal(signal.SIGTERM)
    process.wait()


class Notifying:
    """A program that says READY=1."""

    def __init__(self, arguments, environment, socket_path):
        self.arguments, self.environment = arguments, dict(environment, NOTIFY_SOCKET=socket_path)

    def start(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
            told.bind(notify)
            os.chmod(notify, 0o777)
            told.settimeout(120)
            began = time.monotonic()
            process = start(self.arguments, self.environment)
            while b"READY=1" not in told.recv(4096).split(b"\n"):
                pass
            took = time.monotonic() - began, spent(process)
        os.unlink(notify)
        return process, took


class Certmonger:
    def start(self):
        if os.path.exists(private):
            os.unlink(private)
        began = time.monotonic()
        process = start(
            ["chroot", root, "certmonger", "-n", "-L", "-P", inside + "/certmonger.sock"],
            {"CERTMONGER_REQUESTS_DIR": inside + "/requests"})
        while not accepts(private):
            time.sleep(0.001)
        return process, (time.monotonic() - began, spent(process))


def daemon():
    key = work + "/AuthKey_ABC123DEFG.p8"
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key],
        check=True, capture_output=True)
    os.chmod(key, 0o600)
    os.mkdir(work + "/out")
    # A file of the configuration may have 1 MiB.
    some = 5_000
    parts = [range(start, min(start + some, clients)) for start in range(0, clients, some)]
    os.mkdir(work + "/clientsecretd.d", 0o755)
    for index, part in enumerate(parts):
        first = f"keys:\n  apple:\n    team_id: DEF123GHIJ\n    file: {key}\nstate_dir: {work}/state\n"
        write(
            f"clientsecretd.d/{index}.yaml" if index else "clientsecretd.yaml",
            ("" if index else first) + "clients:\n" + "".join(
                f"  c{number}:\n    client_id: com.example.c{number}\n    outputs:\n"
                f"      - path: {work}/out/c{number}.jwt\n" for number in part))
    subprocess.run(
        [binary, "run", "--once", "--config", work + "/clientsecretd.yaml"], check=True, capture_output=True)
    return Notifying(
        [binary, "run", "--config", work + "/clientsecretd.yaml", "--socket", work + "/status.sock"], {}, notify)


def caddy():
    sites = ", ".join(f"c{number}.test" for number in range(clients))
    write(
        "Caddyfile",
        "{\n local_certs\n skip_install_trust\n admin off\n http_port 18080\n https_port 18443\n"
        " auto_https disable_redirects\n}\n" + sites + ' {\n bind 127.0.0.1\n respond "ok"\n}\n')
    peer = Notifying(
        ["chroot", root, "caddy", "run", "--config", inside + "/Caddyfile", "--adapter", "caddyfile"],
        {"HOME": "/root", "XDG_DATA_HOME": inside + "/data", "XDG_CONFIG_HOME": inside + "/config"},
        inside + "/notify.sock")
    process, _ = peer.start()
    until(lambda: len(glob.glob(work + "/data/caddy/certificates/local/*/*.json")) == clients)
    end(process)
    return peer


def certmonger():
    """One certificate is asked for; the requests of the others are copies of its request."""
    for folder in "requests", "certificates":
        os.mkdir(f"{work}/{folder}")
    peer = Certmonger()
    process, _ = peer.start()
    subprocess.run(
        ["chroot", root, "selfsign-getcert", "request", "-G", "EC", "-g", "256", "-N", "CN=c0.test", "-I", "c0000",
         "-k", inside + "/certificates/c0000.key", "-f", inside + "/certificates/c0000.crt"],
        env=dict(os.environ, CERTMONGER_PVT_ADDRESS=f"unix:path={inside}/certmonger.sock"), check=True,
        capture_output=True)
    until(lambda: any("state=MONITORING\n" in open(file).read() for file in glob.glob(work + "/requests/*")))
    end(process)
    [request] = glob.glob(work + "/requests/*")
    text = open(request).read()
    for number in range(1, clients):
        name = f"c{number:04}"
        with open(f"{work}/requests/{name}", "w") as file:
            file.write(text.replace("c0000", name))
        for ending in "key", "crt":
            shutil.copy(f"{work}/certificates/c0000.{ending}", f"{work}/certificates/{name}.{ending}")
    return peer


def memory(process):
    """Resident, and private and dirty, in kB."""
    with open(f"/proc/{process.pid}/smaps_rollup") as file:
        values = dict(line.split()[:2] for line in file if ":" in line.split()[0])
    return int(values["Rss:"]), int(values["Private_Dirty:"])


def switches(process):
    count = 0
    for task in glob.glob(f"/proc/{process.pid}/task/*/status"):
        with open(task) as file:
            count += sum(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))
    return count


try:
    peers = {"clientsecretd": daemon()}
    for name in chosen:
        peers[name] = {"caddy": caddy, "certmonger": certmonger}[name]()
    times = {name: [] for name in peers}
    for _ in range(runs):
        for name, peer in peers.items():
            process, took = peer.start()
            times[name].append(took)
            # What it begins after it has said that it is ready shall not disturb the next.
            time.sleep(1 if clients <= 100 else 5)
            end(process)
    for name, peer in peers.items():
        process, _ = peer.start()
        time.sleep(10 if clients <= 100 else 60)
        resident, dirty = memory(process)
        before = switches(process)
        time.sleep(60)
        woken = switches(process) - before
        end(process)
        elapsed, processor = ([1000 * value for value in values] for values in zip(*times[name], strict=True))
        print(
            f"{name}: {clients} clients, ready after {statistics.median(elapsed):.1f} ms (median of {runs}, from"
            f" {min(elapsed):.1f} to {max(elapsed):.1f}), {statistics.median(processor):.1f} ms of processor, resident"
            f" {resident} kB, private and dirty {dirty} kB,"
            f" woken {woken} times in 60 s", flush=True)
finally:
    shutil.rmtree(work)
