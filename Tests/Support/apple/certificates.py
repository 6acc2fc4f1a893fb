"""The stand-ins' certificates and etcd's, made by openssl: an authority of their own, and what that signs or does not sign."""

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
            "-subj", f"/CN=Authority of the tests, {name}", "-addext", "keyUsage=critical,keyCertSign",
            "-keyout", str(directory / f"{name}.key"), "-out", str(certificate))
    return certificate


def make(directory: pathlib.Path, name: str, issuer: str, subject: str, days: str, extensions: str) -> tuple[str, str]:
    """Makes a certificate that an authority signs, unless it is there; its file, its key's."""
    certificate, key, request, extras = (directory / f"{name}.{end}" for end in ("pem", "key", "csr", "ext"))
    if not certificate.exists():
        extras.write_text(extensions)
        openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject,
            "-keyout", str(key), "-out", str(request))
        signer = authority(directory, issuer)
        openssl(
            "x509", "-req", "-in", str(request), "-CA", str(signer), "-CAkey", str(signer.with_suffix(".key")),
            "-CAcreateserial", "-days", days, "-extfile", str(extras), "-out", str(certificate))
    return str(certificate), str(key)


def server(directory: pathlib.Path, kind: str) -> tuple[str, str]:
    """A server's certificate: good, expired, other-host or other-authority, made unless it is there; its file, its key's.

    The good ones are signed by ca.pem.
    """
    return make(
        directory, f"server-{kind}", "other-ca" if kind == "other-authority" else "ca", "/CN=Stand-in for Apple",
        "-1" if kind == "expired" else "30",
        f"subjectAltName={'DNS:elsewhere.example' if kind == 'other-host' else NAMES}\nextendedKeyUsage=serverAuth\n")
