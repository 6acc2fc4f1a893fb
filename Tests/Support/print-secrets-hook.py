#!/usr/bin/python3
"""print-secrets-hook.py NOTES KEY WAY

A hook that tells all it can find: its outputs' secrets and the key, whole and in every guise, on both streams. What it can
see of itself and of the daemon under /proc goes to files in the directory NOTES. With `fails` as its WAY it then fails.
"""
import base64
import os
import sys
import time

notes, key, way = sys.argv[1:4]


def look(process, name):
    for item in ["cmdline", "environ", "status", "maps", "limits"]:
        try:
            content = open(f"/proc/{process}/{item}", "rb").read()
        except OSError:
            continue
        open(f"{notes}/{name}-{item}", "ab").write(content)
    try:
        links = [os.readlink(f"/proc/{process}/fd/{number}") for number in os.listdir(f"/proc/{process}/fd")]
    except OSError:
        links = []
    open(f"{notes}/{name}-links", "a").write("\n".join(links) + "\n")


look("self", "hook")
look(os.getppid(), "daemon")


def say(text, stream=1):
    os.write(stream, text if isinstance(text, bytes) else text.encode())


def fold(text, width, line="{}\n"):
    return "".join(line.format(text[start:start + width]) for start in range(0, len(text), width))


def tell(secret, is_whole):
    """All that a careless script may do with a text that it has; only whole secrets are known again when they are folded."""
    say(secret + "\n")
    say(f"SECRET='{secret}' was set\n", 2)
    say(f"export SECRET={secret}\n")
    again = [base64.b64encode((prefix + secret + "\n").encode()).decode() for prefix in ["", "a", "ab"]]
    digits = [secret.encode().hex(), secret.encode().hex().upper()]
    say("\n".join(again + digits) + "\n")
    for text in [secret] + again if is_whole else []:
        for width in [10, 16, 20, 39, 64]:
            say(fold(text, width))
            say(fold(text, width, '  "{}" \\\n'))
    # Split where two writes meet, with time between them.
    say("half: " + secret[:len(secret) // 2])
    time.sleep(0.05)
    say(secret[len(secret) // 2:] + "\n")


say(" ".join(sys.argv) + "\n" + "\n".join(f"{name}={value}" for name, value in os.environ.items()) + "\n")
pem = open(key).read()
body = "".join(line for line in pem.splitlines() if not line.startswith("-"))
say(pem)
say(pem, 2)
say(pem.replace("\n", "\\n") + "\n")
say("".join(line + "\n" for line in pem.splitlines()[1:]))
tell(body, False)
scalar = base64.b64decode(body)[36:68]
for text in [scalar.hex(), scalar.hex().upper(), base64.b64encode(scalar).decode(), base64.urlsafe_b64encode(scalar).decode()]:
    say(text + "\n")
for path in os.environ.get("CLIENTSECRETD_OUTPUTS", "").splitlines():
    content = open(path).read()
    say(content + "\n")
    for word in content.replace('"', "=").replace("\n", "=").split("="):
        if word.startswith("eyJ"):
            tell(word, True)
            tell(word.split(".")[2], False)
            signature = base64.urlsafe_b64decode(word.split(".")[2] + "==")
            say(signature.hex() + "\n" + base64.b64encode(signature).decode() + "\n")
            # Far beyond what is kept of a hook's output.
            if way == "floods":
                say("x" * 70_000 + word)
if way == "fails":
    sys.exit(3)
