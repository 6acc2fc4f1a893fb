"""mint.py KEY SECONDS: what mint does, with PyJWT on top of cryptography."""
import sys
import time

import jwt
from cryptography.hazmat.primitives.serialization import load_pem_private_key

with open(sys.argv[1], "rb") as file:
    key = load_pem_private_key(file.read(), None)


def mint(now):
    claims = {
        "iss": "DEF123GHIJ", "iat": now - 60, "exp": now + 86_400, "aud": "https://appleid.apple.com",
        "sub": "com.example.web",
    }
    return jwt.encode(claims, key, algorithm="ES256", headers={"kid": "ABC123DEFG"})


start = int(time.time())
token = mint(start)
count = 0
began = time.process_time()
spent = 0.0
while spent < float(sys.argv[2]):
    for _ in range(500):
        count += 1
        token = mint(start - count)
    spent = time.process_time() - began
print(int(count / spent), token)
