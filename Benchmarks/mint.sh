#!/bin/bash
# mint.sh [RUNS]: how many client secrets the library mints in a second of processor time, as a ratio to what libcrypto alone
# signs in one (openssl speed), and likewise PyJWT, jose on node and jwt-kit where they are to be had. They take turns; the
# medians of the runs (5) are printed last. What each has minted is verified once.
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-5}
seconds=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
key=$work/AuthKey_ABC123DEFG.p8
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$key" 2>/dev/null
openssl pkey -in "$key" -pubout -out "$work/public.pem"

# build PACKAGE NAME: what is built lies in .build/NAME.
build() {
    timeout 20m swift build --quiet --configuration release --static-swift-stdlib --package-path "$1" \
        --scratch-path ".build/$2" --product "$2" >&2
}
mint() { .build/mint/release/mint "$key" "$seconds"; }
jwt_kit() { .build/mint-jwt-kit/release/mint-jwt-kit "$key" "$seconds"; }
pyjwt() { .build/venv/bin/python Benchmarks/mint/mint.py "$key" "$seconds"; }
jose() { NODE_JOSE=$PWD/.build/jose/usr/share/nodejs/jose node Benchmarks/mint/mint.mjs "$key" "$seconds"; }

build Benchmarks/mint mint
peers=(mint pyjwt)
if command -v node >/dev/null; then
    [ -d .build/jose ] || (mkdir -p .build/jose.new && cd .build/jose.new && ../../scripts/download-package node-jose &&
        mv ../jose.new ../jose)
    peers+=(jose)
fi
# Its packages cannot be had everywhere.
if build Benchmarks/mint-jwt-kit mint-jwt-kit; then peers+=(jwt_kit); fi

# The signature of the token on standard input is the key's, and its claims are the agreed ones.
verify() {
    .build/venv/bin/python -c '
import sys, jwt
claims = jwt.decode(sys.stdin.read().strip(), open(sys.argv[1]).read(), ["ES256"], audience="https://appleid.apple.com",
                    issuer="DEF123GHIJ", options={"verify_exp": False, "verify_iat": False})
assert claims["sub"] == "com.example.web" and claims["exp"] - claims["iat"] == 86460, claims' "$work/public.pem"
}
for peer in "${peers[@]}"; do
    seconds=0.01 "$peer" | cut -d ' ' -f 2 | verify || { echo "mint.sh: $peer minted no valid secret" >&2; exit 1; }
done

for run in $(seq "$runs"); do
    printf 'run %d:' "$run"
    # The first of the two speeds at the line's end is that of signing; each is counted in processor time as well.
    bare=$(openssl speed -seconds 1 ecdsap256 2>/dev/null | awk '/^ *256 bits ecdsa/ { print int($(NF - 1)) }')
    printf ' openssl %d' "$bare"
    for peer in "${peers[@]}"; do
        rate=$("$peer" | cut -d ' ' -f 1)
        printf ' %s %d' "$peer" "$rate"
        echo "$rate $bare" | awk '{ print $1 / $2 }' >>"$work/$peer"
    done
    echo
done
median() { sort -n "$1" | awk '{ a[NR] = $1 } END { printf "%.2f", a[int((NR + 1) / 2)] }'; }
for peer in "${peers[@]}"; do
    echo "$peer: $(median "$work/$peer") of openssl's signatures a second (median of $runs runs)"
done
