"""Runs a program and has the kernel refuse calls of its, or ends it in the middle of one.

The calls are stopped by a seccomp filter (seccomp_unotify(2)) and decided upon here, by what file they concern, whichever
thread makes them: that is exact and costs little, where strace counts for each thread apart.

Commands come as lines of JSON on standard input; each is answered by one line.

    {"start": [PROGRAM, ...], "below": PATH, "log": PATH, "environment": {...},
     "rules": [{"call": NAME, "path": PATH, "nth": N, "fault": NAME, "lasts": BOOL}, ...]}  -> {"process": N}
    {"calls": true}     -> {"calls": [[NAME, PATH, COUNT], ...], "hit": [BOOL, ...]}
    {"wait": true}      -> {"status": N}, negative for a signal

Calls count when they concern what lies below PATH or leads there, except the log. A rule strikes at the nth call of
that name on that path; with "lasts" at every later call of that name too. Temporaries are called TEMPORARY. The fault
is the name of an error, or SIGKILL.
"""

import ctypes
import errno
import fcntl
import json
import os
import re
import select
import signal
import socket
import struct

CALLS = {
    "x86_64": {
        "openat": 257, "openat2": 437, "write": 1, "fsync": 74, "fchmod": 91, "fchown": 93, "rename": 82,
        "renameat": 264, "renameat2": 316, "unlinkat": 263, "mkdirat": 258, "syncfs": 306, "fsetxattr": 190,
        "seccomp": 317,
    },
    "aarch64": {
        "openat": 56, "openat2": 437, "write": 64, "fsync": 82, "fchmod": 52, "fchown": 55, "renameat": 38,
        "renameat2": 276, "unlinkat": 35, "mkdirat": 34, "syncfs": 267, "fsetxattr": 7, "seccomp": 277,
    },
}[os.uname().machine]
SECCOMP = CALLS.pop("seccomp")
NAMES = {number: name for name, number in CALLS.items()}
# Whose first argument is an open file; the others name a directory and a path in it, rename(2) a path alone.
ON_FILE = {"write", "fsync", "fchmod", "fchown", "syncfs", "fsetxattr"}
RECEIVE, SEND = 0xC0502100, 0xC0182101
TEMPORARY = re.compile(r"\.clientsecretd-[0-9a-f]+-[0-9a-f]+\.(tmp|part)")


def forbid():
    """Has the kernel ask before each of the calls; returns the descriptor by which it asks."""
    ask, allow = 0x7FC00000, 0x7FFF0000
    program = [(0x20, 0, 0, 0)]
    program += [(0x15, len(CALLS) - index, 0, number) for index, number in enumerate(NAMES)]
    program += [(0x06, 0, 0, allow), (0x06, 0, 0, ask)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    listener = libc.syscall(SECCOMP, 1, 8, filter)
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return listener


class Supervised:
    def __init__(self, command):
        self.below, self.log = command["below"], command["log"]
        ours, theirs = socket.socketpair()
        self.process = os.fork()
        if self.process == 0:
            try:
                log = os.open(command["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                null = os.open("/dev/null", os.O_RDONLY)
                signal.pthread_sigmask(signal.SIG_SETMASK, [])
                os.dup2(null, 0), os.dup2(log, 1), os.dup2(log, 2)
                listener = forbid()
                socket.send_fds(theirs, [b"x"], [listener])
                os.close(listener)
                os.execve(command["start"][0], command["start"], command["environment"])
            finally:
                os._exit(127)
        theirs.close()
        _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
        ours.close()
        self.listener = descriptors[0]
        self.pidfd = os.pidfd_open(self.process)
        self.status = None
        self.counts = {}
        self.rules = [{**rule, "seen": 0, "hit": False} for rule in command["rules"]]

    def place(self, thread, name, arguments):
        """The path that a call concerns."""
        try:
            if name in ON_FILE:
                return os.readlink(f"/proc/{thread}/fd/{arguments[0]}")
            directory, address = (-100, arguments[0]) if name == "rename" else arguments[:2]
            with open(f"/proc/{thread}/mem", "rb", 0) as memory:
                memory.seek(address)
                text = memory.read(256 - address % 256)
                while b"\0" not in text:
                    text += memory.read(256)
            text = os.fsdecode(text.split(b"\0")[0])
            directory = ctypes.c_int32(directory & 0xFFFFFFFF).value
            base = os.readlink(f"/proc/{thread}/" + ("cwd" if directory == -100 else f"fd/{directory}"))
            return os.path.normpath(os.path.join(base, text))
        except OSError:
            return ""

    def judge(self):
        """Answers one question of the kernel's."""
        question = bytearray(80)
        try:
            fcntl.ioctl(self.listener, RECEIVE, question)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):
                return
            raise
        number, thread, _, call, _, _, *arguments = struct.unpack("QIIiIQ6Q", question)
        name = NAMES[call]
        fault = self.fault(name, self.place(thread, name, arguments))
        if fault == "SIGKILL":
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
            return
        answer = struct.pack("QqiI", number, 0, -getattr(errno, fault) if fault else 0, 0 if fault else 1)
        try:
            fcntl.ioctl(self.listener, SEND, answer)
        except OSError as error:
            if error.errno != errno.ENOENT:  # the thread has gone meanwhile
                raise

    def fault(self, name, place):
        """The fault that a call is to meet; None when it may go on."""
        if place == self.log:
            return None
        if not (place + "/").startswith(self.below + "/") and not self.below.startswith(place.rstrip("/") + "/"):
            return None
        place = TEMPORARY.sub("TEMPORARY", place)
        self.counts[name, place] = self.counts.get((name, place), 0) + 1
        for rule in self.rules:
            if rule["call"] != name:
                continue
            if rule["lasts"] and rule["hit"]:
                return rule["fault"]
            if place == rule["path"]:
                rule["seen"] += 1
                if rule["seen"] == rule["nth"]:
                    rule["hit"] = True
                    return rule["fault"]
        return None

    def ended(self):
        _, status = os.waitpid(self.process, 0)
        self.status = os.waitstatus_to_exitcode(status)
        os.close(self.listener), os.close(self.pidfd)


def main():
    supervised, waiting, buffer = None, False, b""
    while True:
        running = supervised and supervised.status is None
        files = [0] + ([supervised.listener, supervised.pidfd] if running else [])
        ready = select.select(files, [], [])[0]
        if running and supervised.pidfd in ready:
            supervised.ended()
        elif running and supervised.listener in ready:
            supervised.judge()
        if 0 in ready:
            data = os.read(0, 65536)
            if not data:
                if running:
                    signal.pidfd_send_signal(supervised.pidfd, signal.SIGKILL)
                return
            buffer += data
        while b"\n" in buffer:
            line, buffer = buffer.split(b"\n", 1)
            command = json.loads(line)
            answer = {}
            if "start" in command:
                supervised = Supervised(command)
                answer = {"process": supervised.process}
            if "calls" in command:
                calls = [[*key, count] for key, count in sorted(supervised.counts.items())]
                answer = {"calls": calls, "hit": [rule["hit"] for rule in supervised.rules]}
            if "wait" in command:
                waiting = True
            else:
                print(json.dumps(answer), flush=True)
        if waiting and supervised.status is not None:
            waiting = False
            print(json.dumps({"status": supervised.status}), flush=True)


main()
