"""A built site leads nowhere else: every link inside it has its file and its anchor, and nothing is loaded from the net.

tests/check_links.py FOLDER
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """Anchors of a page, its links, and the files that a browser loads."""

    def __init__(self, file):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(file.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.anchors.add(found["id"])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag == "link" and found.get("href") and found.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(found["href"])
        elif tag in ("img", "script", "video", "source") and found.get("src"):
            self.loaded.append(found["src"])
        if found.get("poster"):
            self.loaded.append(found["poster"])


def problems(folder):
    pages = {file.resolve(): Page(file) for file in sorted(folder.rglob("*.html")) if "_static" not in file.parts}
    if len(pages) < 20:
        yield f"{folder}: {len(pages)} pages"
    for file, page in pages.items():
        name = file.relative_to(folder.resolve())
        for target in page.loaded:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                yield f"{name}: loads {target}"
            elif not (file.parent / urllib.parse.unquote(parts.path)).is_file():
                yield f"{name}: {target} is not there"
        for target in page.links:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            there = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
            if not there.is_file():
                yield f"{name}: {target} leads nowhere"
            elif parts.fragment and there in pages and urllib.parse.unquote(parts.fragment) not in pages[there].anchors:
                yield f"{name}: {target} has no such place"
    for style in folder.rglob("*.css"):
        text = style.read_text()
        if "url(http" in text or "url(//" in text or "@import" in text:
            yield f"{style.relative_to(folder)}: loads from the net"


if __name__ == "__main__":
    lines = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(lines) or "every link of the site leads somewhere")
    sys.exit(bool(lines))
