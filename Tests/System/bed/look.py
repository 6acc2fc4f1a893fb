#!/usr/bin/python3 -I
"""look [stay | SECRET...]: what a network service that was taken over could read, write, signal and reach; told line by line.

Run in the service's own sandbox in place of its program. As `look stay` it waits, to be found by another instance.
"""
import ctypes
import os
import socket
import stat
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)


def tell(*words):
    print(*words, flush=True)


def reads(secrets):
    for top in ("/etc/clientsecretd", "/run/clientsecretd", "/var/lib/clientsecretd", "/var/lib/clientsecretd-adopted"):
        for directory, _, files in os.walk(top):
            for path in [directory] + [os.path.join(directory, name) for name in files]:
                if os.access(path, os.R_OK):
                    tell("reads", path)
    for path in secrets:
        try:
            open(path, "rb").read()
            tell("reads a secret:", path)
        except OSError:
            pass
    own = os.environ.get("CREDENTIALS_DIRECTORY", "")
    for name in sorted(os.listdir(own)) if own else []:
        tell("was handed", name)
    for directory, _, files in os.walk("/run/credentials"):
        for name in files:
            if not directory.startswith(own) and os.access(os.path.join(directory, name), os.R_OK):
                tell("reads another's credential:", directory, name)


def writes():
    """Every directory in which a file can be made, and every file, pipe and block device that can be written to."""
    mounts = {line.split()[4] for line in open("/proc/self/mountinfo")}
    directories = ["/"]
    while directories:
        directory = directories.pop()
        place = os.path.join(directory, f"look-{os.getpid()}")
        if os.access(directory, os.W_OK):
            try:
                os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                os.unlink(place)
                tell("writes into", directory)
            except OSError:
                pass
        if not os.access(directory, os.R_OK):
            continue
        # There are hundreds of thousands of files: none is asked about that its file system keeps from being written to.
        is_closed = os.statvfs(directory).f_flag & os.ST_RDONLY
        for entry in os.scandir(directory):
            if entry.is_dir(follow_symlinks=False):
                if entry.path not in ("/proc", "/src", "/built"):
                    directories.append(entry.path)
            elif entry.is_symlink() or is_closed and entry.is_file(follow_symlinks=False) and entry.path not in mounts:
                continue
            elif os.access(entry.path, os.W_OK) and not stat.S_ISCHR(entry.stat().st_mode):
                tell("writes", entry.path)


def disturbs():
    """Other processes, by every call that sends a signal, and what they hold."""
    calls = {"kill": (62, lambda pid: (pid, 0)), "tkill": (200, lambda pid: (pid, 0)), "tgkill": (234, lambda pid: (pid, pid, 0))}
    for pid in range(1, 50_000):
        if pid == os.getpid():
            continue
        for name, (number, arguments) in calls.items():
            if libc.syscall(number, *arguments(pid)) == 0:
                tell("may signal", pid, "by", name)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) != os.getpid():
            for name in ("environ", "mem", "root/etc", "fd"):
                if os.access(f"/proc/{pid}/{name}", os.R_OK):
                    tell("looks into process", pid, name)


def sockets():
    families = {"AF_UNIX": 1, "AF_NETLINK": 16, "AF_PACKET": 17, "AF_VSOCK": 40, "AF_ALG": 38}
    for name, family in families.items():
        try:
            socket.socket(family, socket.SOCK_RAW if family in (16, 17) else socket.SOCK_STREAM)
            tell("makes a socket of", name)
        except OSError:
            pass
    # Whose operations seccomp does not see: it makes sockets of every family.
    if libc.syscall(425, 8, ctypes.create_string_buffer(120)) >= 0:
        tell("makes a ring (io_uring)")
    context = ctypes.c_ulong(0)
    if libc.syscall(206, 8, ctypes.byref(context)) == 0:
        tell("makes a context for asynchronous I/O (io_setup)")


def searches():
    """Whether it may send a datagram to everybody (multicast), or to this machine; by loopback there is a way to both."""
    datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagram.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
    for address in ("239.255.255.250", 1900), ("127.0.0.1", 53):
        try:
            datagram.sendto(b"x", address)
            tell("sends to", address[0])
        except OSError:
            pass


def reaches(port):
    for address in ("127.0.0.1", "127.1.2.3", "0.0.0.0", "169.254.169.254", "::1", "::ffff:127.0.0.1"):
        connection = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        connection.settimeout(1)
        try:
            connection.connect((address, port))
            tell("reaches", address)
        except OSError:
            pass
        connection.close()


tell("user", os.getuid())
if sys.argv[1:] == ["stay"]:
    tell("looked")
    time.sleep(600)
reads(sys.argv[1:])
writes()
disturbs()
sockets()
searches()
reaches(9_999)
tell("looked")
