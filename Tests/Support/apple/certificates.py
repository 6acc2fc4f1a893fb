"""The stand-in's certificates, made by openssl: an authority of its own, and what that signs or does not sign."""

import pathlib
import subprocess

NAMES = "DNS:localhost,DNS:appleid.apple.com,IP:127.0.0.1,IP:::1"


def openssl(*arguments):
    made = subprocess.run(["openssl", *arguments], capture_output=True, text=True, timeout=60)
    if made.returncode:
        raise SystemExit(f"openssl {' '.join(arguments)}: {made.stderr}")


def authority(directory: pathlib.Path, name: str) -> pathlib.Path:
    """Makes an authority unless it is there; returns its certificate, whose key lies beside it."""
    certificate = directory / f"{name}.pem"
    if not certificate.exists():
        openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650",
            "-subj", f"/CN=Stand-in for Apple, {name}", "-addext", "keyUsage=critical,keyCertSign",
            "-keyout", str(directory / f"{name}.key"), "-out", str(certificate))
    return certificate


def server(directory: pathlib.Path, kind: str) -> tuple[str, str]:
    """A server's certificate: good, expired, other-host or other-authority, made unless it is there; its file, its key's.

    The good ones are signed by ca.pem.
    """
    issuer = authority(directory, "other-ca" if kind == "other-authority" else "ca")
    certificate, key, request = (directory / f"server-{kind}.{end}" for end in ("pem", "key", "csr"))
    if certificate.exists():
        return str(certificate), str(key)
    extensions = directory / f"server-{kind}.ext"
    names = "DNS:elsewhere.example" if kind == "other-host" else NAMES
    extensions.write_text(f"subjectAltName={names}\nextendedKeyUsage=serverAuth\n")
    openssl(
        "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=Stand-in for Apple",
        "-keyout", str(key), "-out", str(request))
    openssl(
        "x509", "-req", "-in", str(request), "-CA", str(issuer), "-CAkey", str(issuer.with_suffix(".key")),
        "-CAcreateserial", "-days", "-1" if kind == "expired" else "30", "-extfile", str(extensions),
        "-out", str(certificate))
    return str(certificate), str(key)
