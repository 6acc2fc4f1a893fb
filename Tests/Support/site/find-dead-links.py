"""find-dead-links.py SITE: prints each link in a built site's pages that leads nowhere, and each thing that a page loads from
another host; exits 1 if there are any. The last line counts pages and links."""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = {"", "__skip", "__toc"}, [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(value for name in ("id", "name") if (value := values.get(name)))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and "href" in values:
            self.loads.append(values["href"])
        if "src" in values:
            self.loads.append(values["src"])


site = pathlib.Path(sys.argv[1])
pages = {path: Page(path.read_text()) for path in site.rglob("*.html")}
dead, count = [], 0
for path, page in pages.items():
    for link in page.links + page.loads:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            if link in page.loads and parts.scheme != "data":
                dead.append(f"{path.relative_to(site)}: loads {link}")
            continue
        count += 1
        folder = site if parts.path.startswith("/") else path.parent
        target = (folder / urllib.parse.unquote(parts.path).lstrip("/")).resolve() if parts.path else path.resolve()
        if target.is_dir():
            target /= "index.html"
        found = pages.get(site / target.relative_to(site.resolve())) if target.is_relative_to(site.resolve()) else None
        if not target.is_file() or found and urllib.parse.unquote(parts.fragment) not in found.anchors:
            dead.append(f"{path.relative_to(site)}: {link}")
print("\n".join(dead), f"{len(pages)} pages, {count} links", sep="\n" if dead else "")
sys.exit(bool(dead))
