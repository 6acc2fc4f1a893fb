"""Signs users in as a browser does, cookies, redirects and all."""

import http.client
import json
import ssl
import urllib.parse


class Failed(Exception):
    """A login came to another end than it should."""


class Unreachable(Exception):
    """The program does not listen, or has gone while it was asked."""


class Browser:
    """One user's. What it asks https://example.com goes to the program that is tried, what it asks Apple to the stand-in."""

    def __init__(self, port, apple_port, authority):
        self.port, self.apple_port = port, apple_port
        self.context = ssl.create_default_context(cafile=authority)
        self.cookies = {}

    def ask(self, method, address, body=None, kind="application/x-www-form-urlencoded", token=""):
        """Asks without following; the status, the headers and the text."""
        parts = urllib.parse.urlsplit(address)
        target = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
        headers = {"Host": parts.netloc, "Accept": "text/html,application/json", "User-Agent": "Mozilla/5.0"}
        if parts.hostname == "appleid.apple.com":
            connection = http.client.HTTPSConnection("127.0.0.1", self.apple_port, timeout=30, context=self.context)
            headers["Accept"] = "application/x-www-form-urlencoded"
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            # As from a proxy that has ended TLS.
            headers |= {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"}
            if token:
                headers["Authorization"] = token
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if body is not None:
            headers["Content-Type"] = kind
        try:
            connection.request(method, target, body, headers)
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{parts.netloc}: {error}") from None
        finally:
            connection.close()
        if parts.hostname != "appleid.apple.com":
            for cookie in answer.headers.get_all("Set-Cookie", []):
                name, _, value = cookie.partition(";")[0].partition("=")
                self.cookies[name] = value
        return answer.status, answer.headers, text

    def json(self, method, address, body=None, token=""):
        status, _, text = self.ask(method, address, body and json.dumps(body), "application/json", token)
        if status != 200:
            raise Failed(f"{status} {text[:500]}")
        return json.loads(text)

    def follow(self, address, until):
        """Follows redirects from `address` until one leads to an address that begins with `until`; that address."""
        for _ in range(5):
            status, headers, text = self.ask("GET", address)
            if "Location" not in headers:
                raise Failed(f"{status} instead of a redirect to {until}: {text[:500]}")
            address = urllib.parse.urljoin(address, headers["Location"])
            if address.startswith(until):
                return address
        raise Failed(f"never redirected to {until}")

    def consent(self, address):
        """The user's consent on Apple's page: the fields that Apple sends back to the program."""
        status, _, text = self.ask("GET", address)
        if status != 200:
            raise Failed(f"Apple's page: {text}")
        return text

    def sign_in(self, login, callback):
        """From the program's page `login` over Apple's to `callback`; the answer of that."""
        address = self.follow(login, "https://appleid.apple.com/auth/authorize")
        fields = self.consent(address)
        if "response_mode=form_post" in address:
            return self.ask("POST", callback, fields)
        return self.ask("GET", f"{callback}?{fields}")
