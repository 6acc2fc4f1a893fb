"""judge-token.py KEY [timeless]: checks a client secret from standard input as Apple would, and prints its header and claims as
JSON; with `timeless` whatever the time is.

OpenSSL verifies the signature by the public half of KEY. Needs nothing beyond Python's own library.
"""

import base64
import json
import subprocess
import sys
import tempfile
import time


def decode(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def der(signature: bytes) -> bytes:
    """The ASN.1 form that OpenSSL reads, of the r and s that a JWS carries (RFC 7518, section 3.4)."""
    numbers = b""
    for half in (signature[:32], signature[32:]):
        number = half.lstrip(b"\0") or b"\0"
        number = b"\0" * (number[0] >> 7) + number
        numbers += bytes([2, len(number)]) + number
    return bytes([0x30, len(numbers)]) + numbers


token = sys.stdin.read()
header, claims, signature = map(decode, token.split("."))
assert len(signature) == 64, f"a signature of {len(signature)} bytes"
with tempfile.NamedTemporaryFile() as public, tempfile.NamedTemporaryFile() as signed:
    subprocess.run(["openssl", "pkey", "-in", sys.argv[1], "-pubout", "-out", public.name], check=True)
    signed.write(der(signature))
    signed.flush()
    subprocess.run(
        ["openssl", "dgst", "-sha256", "-verify", public.name, "-signature", signed.name],
        input=token.rpartition(".")[0].encode(), stdout=subprocess.DEVNULL, check=True,
    )
found = json.loads(claims)
assert json.loads(header)["alg"] == "ES256", header
assert found["aud"] == "https://appleid.apple.com", found
assert sys.argv[2:] == ["timeless"] or found["iat"] <= time.time() < found["exp"], found
print(json.dumps({"header": json.loads(header), "claims": found}))
