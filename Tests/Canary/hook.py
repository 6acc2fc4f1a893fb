#!/usr/bin/python3
"""hook.py NOTES KEY WAY

A hook that tells all it can find: its outputs' secrets and the key, whole and in every guise, on both streams. What it can
see of itself and of the daemon under /proc goes to files in the directory NOTES. With `fails` as its WAY it then fails.
"""
import base64, os, subprocess, sys, time

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


def tell(secret):
    """All that a careless script may do with a text that it has."""
    say(secret + "\n")
    say(f"SECRET='{secret}' was set\n", 2)
    say(f"export SECRET={secret}\n")
    for width in [10, 16, 20, 39, 64]:
        say(fold(secret, width))
        say(fold(secret, width, '  "{}" \\\n'))
    for prefix in ["", "a", "ab"]:
        again = base64.b64encode((prefix + secret + "\n").encode()).decode()
        say(again + "\n")
        for width in [20, 32, 76]:
            say(fold(again, width))
    for digits in [secret.encode().hex(), secret.encode().hex().upper()]:
        say(digits + "\n")
        say(fold(digits, 32))
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
tell(body)
scalar = base64.b64decode(body)[36:68]
for text in [scalar.hex(), scalar.hex().upper(), base64.b64encode(scalar).decode(), base64.urlsafe_b64encode(scalar).decode()]:
    say(text + "\n" + fold(text, 32))
say(" ".join(["key", scalar.hex(":"), scalar.hex(":").upper(), scalar.hex(" ")]) + "\n")
for show in [["openssl", "pkey", "-in", key, "-text", "-noout"], ["openssl", "asn1parse", "-in", key, "-dump"]]:
    say(subprocess.run(show, stdout=subprocess.PIPE, check=True).stdout)
for path in os.environ.get("CLIENTSECRETD_OUTPUTS", "").splitlines():
    content = open(path).read()
    say(content + "\n")
    for word in content.replace('"', "=").replace("\n", "=").split("="):
        if word.startswith("eyJ"):
            tell(word)
            tell(word.split(".")[2])
            signature = base64.urlsafe_b64decode(word.split(".")[2] + "==")
            say(signature.hex() + "\n" + base64.b64encode(signature).decode() + "\n")
            # Far beyond what is kept of a hook's output.
            if way == "floods":
                say("x" * 70_000 + word)
if way == "fails":
    sys.exit(3)
