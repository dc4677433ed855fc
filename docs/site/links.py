"""Checks the links of the site that was built: `docs/site/links.py DIRECTORY`. Each file and each
anchor that a page names must be there, and no page may load anything from elsewhere."""
from __future__ import annotations

import glob
import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        with open(path, encoding="utf-8") as stream:
            self.feed(stream.read())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag in LOADED and LOADED[tag] in values:
            self.loaded.append(values[LOADED[tag]])


def complaints(root: str) -> list[str]:
    paths = sorted(glob.glob(os.path.join(root, "**", "*.html"), recursive=True))
    pages = {os.path.normpath(path): Page(path) for path in paths}
    found = [] if pages else ["%s: no pages" % root]
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    found.append("%s: loads %s from elsewhere" % (path, link))
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), unquote(parts.path)))
            target = target if parts.path else path
            if os.environ.get("SITE_UP") and target.startswith(os.path.normpath(root + "/..")):
                if not target.startswith(os.path.normpath(root) + "/"):
                    continue  # to another version, which is not there yet
            if not os.path.isfile(target):
                found.append("%s: a dead link to %s" % (path, link))
            elif parts.fragment and target in pages:
                if unquote(parts.fragment) not in pages[target].anchors:
                    found.append("%s: no anchor %s in %s" % (path, parts.fragment, target))
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wrong = complaints(sys.argv[1])
    print("\n".join(wrong) if wrong else "site: all links lead somewhere")
    sys.exit(bool(wrong))
