"""Identity tokens and the key set that they are checked with. As a program: prints tokens of all kinds, most of which must
not be accepted, as one JSON object.

    identity.py DIRECTORY CLIENT_ID NONCE     with the keys that the stand-in has made in DIRECTORY
"""

import base64
import hashlib
import hmac
import json
import pathlib
import subprocess
import sys
import time

import jwt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

ISSUER = "https://appleid.apple.com"
# As long as Apple's.
LIFETIME = 86_400
CURRENT, FORMER = "STANDIN2", "STANDIN1"


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def key(directory: pathlib.Path, kid: str):
    """The RSA key with this id, made unless it is there."""
    path = directory / f"identity-{kid}.pem"
    if not path.exists():
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", str(path)],
            check=True, capture_output=True, timeout=60)
    return serialization.load_pem_private_key(path.read_bytes(), None)


def member(directory: pathlib.Path, kid: str) -> dict:
    """The public half as a member of the key set."""
    numbers = key(directory, kid).public_key().public_numbers()
    return {
        "kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256",
        "n": base64url(numbers.n.to_bytes(256, "big")), "e": base64url(numbers.e.to_bytes(3, "big")),
    }


def claims(client: str, now: int, nonce: str | None = None) -> dict:
    stated = {
        "iss": ISSUER, "aud": client, "exp": now + LIFETIME, "iat": now,
        "sub": "001999.0123456789abcdef0123456789abcdef.0815", "auth_time": now, "nonce_supported": True,
        "email": "standin@privaterelay.appleid.com", "email_verified": True, "is_private_email": True,
    }
    return stated | ({"nonce": nonce} if nonce else {})


def sign(directory: pathlib.Path, stated: dict, kid: str = CURRENT) -> str:
    return jwt.encode(stated, key(directory, kid), "RS256", headers={"kid": kid, "typ": None})


def sign_text(directory: pathlib.Path, header: str, payload: str, kid: str = CURRENT) -> str:
    """For texts that no JSON library writes."""
    signed = f"{base64url(header.encode())}.{base64url(payload.encode())}"
    return f"{signed}.{base64url(key(directory, kid).sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


KINDS = [
    "good", "former-key", "other-user", "other-audience", "audience-list", "audience-list-of-one",
    "other-issuer", "issuer-with-slash", "expired", "just-expired", "not-yet-valid", "text-start",
    "future", "no-expiry", "text-expiry", "no-subject", "alg-none", "hs256", "rs512", "other-kid", "no-kid", "critical-header",
    "wrong-key", "tampered", "duplicate-claim", "duplicate-escaped", "two-parts",
]


def forge(directory: pathlib.Path, kind: str, client: str, nonce: str | None) -> str:
    now = int(time.time())
    stated = claims(client, now, nonce)
    header = json.dumps({"alg": "RS256", "kid": CURRENT})
    changed = {
        "good": {},
        "former-key": {},
        "other-user": {"sub": "001999.fedcba9876543210fedcba9876543210.0815"},
        "other-audience": {"aud": "com.example.other"},
        "audience-list": {"aud": [client, "com.example.other"]},
        "audience-list-of-one": {"aud": [client]},
        "other-issuer": {"iss": "https://login.example.com"},
        "issuer-with-slash": {"iss": ISSUER + "/"},
        "expired": {"iat": now - 90_000, "exp": now - 3_600},
        "just-expired": {"iat": now - 3_600, "exp": now},
        "not-yet-valid": {"nbf": now + 3_600},
        "text-start": {"nbf": str(now)},
        "future": {"iat": now + 3_600},
        "no-expiry": {"exp": None},
        "text-expiry": {"exp": str(now + LIFETIME)},
        "no-subject": {"sub": None},
    }
    if kind in changed:
        stated = {name: value for name, value in (stated | changed[kind]).items() if value is not None}
        return sign_text(directory, json.dumps({"alg": "RS256", "kid": FORMER}), json.dumps(stated), FORMER) \
            if kind == "former-key" else sign(directory, stated) if kind == "good" \
            else sign_text(directory, header, json.dumps(stated))
    if kind == "alg-none":
        return jwt.encode(stated, None, "none", headers={"kid": CURRENT})
    if kind == "hs256":
        public = key(directory, CURRENT).public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        signed = base64url(json.dumps({"alg": "HS256", "kid": CURRENT}).encode()) + "." + base64url(
            json.dumps(stated).encode())
        return signed + "." + base64url(hmac.new(public, signed.encode(), hashlib.sha256).digest())
    if kind == "rs512":
        return jwt.encode(stated, key(directory, CURRENT), "RS512", headers={"kid": CURRENT})
    if kind == "other-kid":
        return sign_text(directory, json.dumps({"alg": "RS256", "kid": "NOBODYS"}), json.dumps(stated))
    if kind == "no-kid":
        return sign_text(directory, json.dumps({"alg": "RS256"}), json.dumps(stated))
    if kind == "critical-header":
        return sign_text(
            directory, json.dumps({"alg": "RS256", "kid": CURRENT, "crit": ["b64"], "b64": True}), json.dumps(stated))
    if kind == "wrong-key":
        return sign_text(directory, header, json.dumps(stated), FORMER)
    if kind == "tampered":
        first, payload, last = sign(directory, stated).split(".")
        other = json.dumps(stated | {"sub": "001999.fedcba9876543210fedcba9876543210.0815"})
        return ".".join((first, base64url(other.encode()), last))
    if kind == "duplicate-claim":
        text = json.dumps(stated)
        return sign_text(directory, header, text[:-1] + f', "sub": "{stated["sub"]}"' + "}")
    if kind == "duplicate-escaped":
        return sign_text(directory, header, json.dumps(stated)[:-1] + r', "\u0061ud": "com.example.other"}')
    if kind == "two-parts":
        return sign(directory, stated).rpartition(".")[0]
    raise SystemExit(f"there is no kind {kind}")


if __name__ == "__main__":
    directory, client, nonce = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    print(json.dumps({kind: forge(directory, kind, client, nonce) for kind in KINDS}))
