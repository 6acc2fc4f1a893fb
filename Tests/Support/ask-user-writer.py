"""ask-user-writer.py SOCKET: sends standard input's JSON as one message to a writer and prints the answer; "closed" for
none."""
import json
import socket
import sys

connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
connection.connect(sys.argv[1])
connection.settimeout(60)
try:
    connection.sendall(json.dumps(json.load(sys.stdin)).encode() + b"\n")
except BrokenPipeError:
    pass
print(connection.makefile("rb").readline().decode().rstrip("\n") or "closed")
