"""browse.py SITE [PICTURES]: looks at a built site with a headless Chromium, and prints what is wrong; exits 1 if anything is.

Each page must fit a phone's screen of 360 pixels, ask this site alone for what it loads, and log no error. The search must find
a page, and the colours follow what the reader prefers. With PICTURES, writes a picture of some pages there. The last line counts
the pages."""

import base64
import functools
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

WIDTH = 360
PICTURED = ["index", "documentation", "push", "monitoring", "api", "configuration", "examples/clientsecretd.yaml"]


class Browser:
    """One page of a Chromium, by its DevTools protocol over two pipes."""

    def __init__(self, profile):
        there, self.to = os.pipe()
        self.answers, back = os.pipe()
        command = f'exec chromium-headless-shell --no-sandbox --remote-debugging-pipe --user-data-dir="{profile}" about:blank'
        self.process = subprocess.Popen(
            ["bash", "-c", f"{command} 3<&{there} 4>&{back}"], pass_fds=(there, back), stderr=subprocess.DEVNULL
        )
        os.close(there), os.close(back)
        self.received, self.count, self.events, self.session = b"", 0, [], None
        target = next(one for one in self.do("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.do("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.do(domain + ".enable")

    def message(self):
        while b"\0" not in self.received:
            part = os.read(self.answers, 1 << 20)
            if not part:
                sys.exit("the browser ended")
            self.received += part
        text, _, self.received = self.received.partition(b"\0")
        return json.loads(text)

    def do(self, method, **parameters):
        self.count += 1
        request = {"id": self.count, "method": method, "params": parameters}
        os.write(self.to, json.dumps(request | ({"sessionId": self.session} if self.session else {})).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.count:
                return answer["result"]
            self.events.append(answer)

    def evaluate(self, expression):
        answer = self.do("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return answer["result"].get("value")

    def open(self, address):
        """What the page asked for, and the errors that it logged."""
        self.events.clear()
        self.do("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())
        asked = [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        errors = [event["params"] for event in self.events if event["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")]
        return asked, errors

    def screen(self, width, height, scheme):
        self.do("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.do("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.do("Page.captureScreenshot")["data"]))


def look(browser, site, address, pictures):
    names = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    for name in names:
        browser.screen(WIDTH, 740, "light")
        asked, errors = browser.open(f"{address}/{name}")
        yield from (f"{name}: asks {url}" for url in asked if not url.startswith((address, "data:")))
        yield from (f"{name}: {json.dumps(error)[:400]}" for error in errors)
        width = browser.evaluate("document.documentElement.scrollWidth")
        if width > WIDTH:
            yield f"{name}: {width} pixels wide"
        if pictures and name.removesuffix(".html") in PICTURED:
            for width, height in ((WIDTH, 740), (1280, 900)):
                for scheme in ("light", "dark"):
                    browser.screen(width, height, scheme)
                    browser.open(f"{address}/{name}")
                    browser.picture(pictures / f"{name.removesuffix('.html')}-{width}-{scheme}.png")

    browser.screen(1280, 900, "light")
    light, dark = [], []
    for scheme, colours in (("light", light), ("dark", dark)):
        browser.screen(1280, 900, scheme)
        browser.open(f"{address}/index.html")
        for colour in ("backgroundColor", "color"):
            found = browser.evaluate(f"getComputedStyle(document.body).{colour}.match(/\\d+/g).slice(0, 3).map(Number)")
            colours.append(sum(found))
    if not (light[0] > light[1] and dark[0] < dark[1]):
        yield f"light and dark: {light}, {dark}"

    browser.evaluate("document.querySelector('[for=__search]').click(); document.querySelector('.md-search__input').focus()")
    browser.do("Input.insertText", text="contested")
    deadline = time.monotonic() + 60
    while not (found := browser.evaluate("document.querySelector('.md-search-result__item a')?.pathname")):
        if time.monotonic() > deadline:
            yield "the search finds nothing"
            break
        time.sleep(0.1)
    if found and not (site / found.lstrip("/")).is_file():
        yield f"the search finds {found}"
    if pictures:
        browser.picture(pictures / "search.png")


def main():
    site, pictures = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    handler = functools.partial(Quiet, directory=site)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            wrong = list(look(browser, site, f"http://127.0.0.1:{server.server_port}", pictures))
        finally:
            browser.process.kill()
            browser.process.wait()
    print(*wrong, f"{len(list(site.rglob('*.html')))} pages", sep="\n")
    sys.exit(bool(wrong))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


main()
