"""Identity tokens and the key set that they are checked with. As a program: prints tokens of all kinds, most of which must
not be accepted, as one JSON object.

    identity.py DIRECTORY CLIENT_ID NONCE     with the keys that the stand-in has made in DIRECTORY
"""

import base64
import functools
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


@functools.cache
def key(directory: pathlib.Path, kid: str):
    """The RSA key with this id, made unless it is there. OpenSSL looks for primes whenever one is read."""
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


def tokens(directory: pathlib.Path, client: str, nonce: str) -> dict[str, str]:
    """One of each kind."""
    now = int(time.time())
    stated = claims(client, now, nonce)
    text = json.dumps(stated)
    good = sign(directory, stated)
    first, payload, last = good.split(".")
    another_user = {"sub": "001999.fedcba9876543210fedcba9876543210.0815"}
    public = key(directory, CURRENT).public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    hs256 = f'{base64url(json.dumps({"alg": "HS256", "kid": CURRENT}).encode())}.{base64url(text.encode())}'

    def signed(payload: str = text, signer: str = CURRENT, **header) -> str:
        return sign_text(directory, json.dumps({"alg": "RS256"} | (header or {"kid": CURRENT})), payload, signer)

    def changed(**members) -> str:
        """A claim that is None is left out."""
        return signed(json.dumps({name: value for name, value in (stated | members).items() if value is not None}))

    return {
        "good": good,
        "former-key": signed(signer=FORMER, kid=FORMER),
        "other-user": changed(**another_user),
        "other-audience": changed(aud="com.example.other"),
        "audience-list": changed(aud=[client, "com.example.other"]),
        "audience-list-of-one": changed(aud=[client]),
        "other-issuer": changed(iss="https://login.example.com"),
        "issuer-with-slash": changed(iss=ISSUER + "/"),
        "expired": changed(iat=now - 90_000, exp=now - 3_600),
        "just-expired": changed(iat=now - 3_600, exp=now),
        "not-yet-valid": changed(nbf=now + 3_600),
        "text-start": changed(nbf=str(now)),
        "future": changed(iat=now + 3_600),
        "no-expiry": changed(exp=None),
        "text-expiry": changed(exp=str(now + LIFETIME)),
        "no-subject": changed(sub=None),
        "alg-none": jwt.encode(stated, None, "none", headers={"kid": CURRENT}),
        "hs256": f"{hs256}.{base64url(hmac.new(public, hs256.encode(), hashlib.sha256).digest())}",
        "rs512": jwt.encode(stated, key(directory, CURRENT), "RS512", headers={"kid": CURRENT}),
        "other-kid": signed(kid="NOBODYS"),
        "no-kid": sign_text(directory, json.dumps({"alg": "RS256"}), text),
        "critical-header": signed(kid=CURRENT, crit=["b64"], b64=True),
        "wrong-key": signed(signer=FORMER),
        "tampered": ".".join((first, base64url(json.dumps(stated | another_user).encode()), last)),
        "duplicate-claim": signed(text[:-1] + f', "sub": "{stated["sub"]}"' + "}"),
        "duplicate-escaped": signed(text[:-1] + r', "\u0061ud": "com.example.other"}'),
        "two-parts": f"{first}.{payload}",
    }


if __name__ == "__main__":
    directory, client, nonce = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    print(json.dumps(tokens(directory, client, nonce)))
