"""ask-user-writer.py SOCKET: sends standard input's JSON as one message to a writer and prints the answer; "closed" for
none."""
import json
import socket
import struct
import sys

connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
connection.connect(sys.argv[1])
body = json.dumps(json.load(sys.stdin)).encode()
try:
    connection.sendall(struct.pack(">I", len(body)) + body)
except BrokenPipeError:
    pass
header = connection.recv(4, socket.MSG_WAITALL)
print(connection.recv(struct.unpack(">I", header)[0], socket.MSG_WAITALL).decode() if header else "closed")
