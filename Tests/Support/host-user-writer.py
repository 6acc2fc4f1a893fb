"""host-user-writer.py SOCKET USER BINARY CONFIGURATION DAEMON-USER [BEHAVIOUR]...

Listens at SOCKET as systemd would for a writer that runs as USER (a number). Each connection is treated by the next
behaviour, those after the last one by a writer:

  drop     heard, and hung up on without an answer
  hang     heard, and kept waiting for ever
  garbage  answered with something that is no answer
  kill     a writer that is killed when it renames its temporary file
  serve    a writer: BINARY write, its socket being standard input
  daemon   a writer that takes this and all further connections from the listening socket itself, as systemd has it
"""
import os
import socket
import subprocess
import sys

path, user, binary, configuration, daemon_user, *behaviours = sys.argv[1:]
drop = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs", "--inh-caps=-all",
        "--bounding-set=-all", "--"]
write = [binary, "write", "--config", configuration, "--daemon-user", daemon_user]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(path)
os.chmod(path, 0o666)
listener.listen(64)
print("listening", flush=True)
kept = []


def hear(connection):
    connection.makefile("rb").readline()


while True:
    behaviour = behaviours.pop(0) if behaviours else "serve"
    if behaviour == "daemon":
        os.dup2(listener.fileno(), 3)
        os.set_inheritable(3, True)
        # LISTEN_PID has to be that of the program that comes of it: setpriv and sh keep the number.
        shell = 'LISTEN_PID=$$ exec "$@"'
        os.execvpe("sh", ["sh", "-c", shell, "sh"] + drop + write, {**os.environ, "LISTEN_FDS": "1"})
    connection, _ = listener.accept()
    if behaviour == "drop":
        hear(connection)
    elif behaviour == "hang":
        hear(connection)
        kept.append(connection)
        continue
    elif behaviour == "garbage":
        hear(connection)
        connection.sendall(b"garbage\n")
    elif behaviour == "kill":
        trace = ["strace", "-f", "-o", "/dev/null", "-e", "trace=renameat2", "-e",
                 "inject=renameat2:signal=SIGKILL:error=EIO"]
        subprocess.run(trace + drop + write, stdin=connection)
    else:
        subprocess.run(drop + write, stdin=connection)
    connection.close()
