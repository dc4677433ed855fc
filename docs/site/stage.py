"""Writes the pages of the site as Sphinx takes them: those of the tree, all in one directory, and those
that are made of the manuals, of srcfind.h and of the Python package.

usage: docs/site/stage.py DIRECTORY

A link from one page to another leads to the page of the site, one to a picture to its copy, and one to
another file of the tree to a copy that the browser saves. A link to what is not there is an error."""
from __future__ import annotations

import ast
import glob
import os
import re
import shutil
import sys

import header
import manual
import menu

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
# A link of Markdown, or code, in which there are none.
LINKS = re.compile(r"(?P<code>`[^`]+`)|(?P<before>\]\()(?P<target>[^)\s]+)\)")
PICTURES = (".png", ".svg")


class Wrong(Exception):
    """An error that a person has to correct, in one line."""


def read(name: str) -> str:
    with open(os.path.join(ROOT, name), encoding="utf-8") as stream:
        return stream.read()


def title_of(text: str) -> str:
    return text.split("\n", 1)[0].lstrip("# ").strip()


def menu_pages() -> list[str]:
    """The paths of the pages in the menu."""
    paths = [path for _, pages in menu.MENU for _, path in pages]
    for path in paths:
        if not os.path.isfile(os.path.join(ROOT, path)):
            raise Wrong("docs/site/menu.py: there is no %s" % path)
    return paths


def name_of(path: str) -> str:
    """The name of a page on the site: docs/noise.md is noise, tests/README.md tests."""
    parts = path.removesuffix(".md").split("/")
    if parts[-1] == "README":
        parts.pop()
    return parts[-1].lower() if parts else "index"


class Site:
    """The pages, and the directory to which they are written."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.names = {path: name_of(path) for path in [menu.FRONT] + menu_pages()}
        self.written: set[str] = set()
        self.manuals = manual.Manuals(ROOT)
        for path in glob.glob(os.path.join(ROOT, "docs", "*.md")):
            if os.path.relpath(path, ROOT) not in self.names:
                raise Wrong(
                    "docs/site/menu.py: %s is not in the menu" % os.path.relpath(path, ROOT)
                )

    def write(self, name: str, text: str) -> None:
        """Leaves a file as it is that would not change, so that Sphinx does not read it again."""
        path = os.path.join(self.directory, name)
        self.written.add(path)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as stream:
                if stream.read() == text:
                    return
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)

    def copy(self, path: str, folder: str) -> str:
        target = os.path.join(self.directory, folder, os.path.basename(path))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, path), target)
        self.written.add(target)
        return folder + "/" + os.path.basename(path)

    def link(self, page: str, target: str) -> str:
        """Where a link of a page leads on the site."""
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return target
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if path in self.names:
            return self.names[path] + ".md" + (anchor and "#" + anchor)
        if not os.path.isfile(os.path.join(ROOT, path)) or path.endswith(".md"):
            raise Wrong("%s: a link to %s, which is neither a page nor a file" % (page, target))
        return self.copy(path, "pictures" if path.endswith(PICTURES) else "files")

    def page(self, path: str) -> None:
        """A page of the tree."""
        lines = []
        for line in read(path).split("\n"):
            if not line.startswith("    "):
                line = LINKS.sub(
                    lambda match: match[0]
                    if match["code"]
                    else match["before"] + self.link(path, match["target"]) + ")",
                    line,
                )
            lines.append(line)
        text = "\n".join(lines) + self.added(path)
        if path == menu.FRONT:
            text += self.toctrees()
        self.write(self.names[path] + ".md", text)

    def added(self, path: str) -> str:
        """What the site has below a page of the tree."""
        if path == "docs/c.md":
            return "\n" + header.api(read("src/srcfind.h"))
        if path == "docs/python.md":
            return "\n## The API\n\n" + python_api()
        if path == "docs/options.md":
            pages = [
                "%s <options-%s>" % (group, manual.slug(group)) for group in self.manuals.groups
            ]
            return self.manuals.table() + tree("", pages)
        if path == "docs/manual.md":
            manuals = self.manuals.manual_pages()
            return listed(manuals) + tree("", list(manuals))
        return ""

    def toctrees(self) -> str:
        return "".join(
            tree(caption, ["%s <%s>" % (title, self.names[path]) for title, path in pages])
            for caption, pages in menu.MENU
        )

    def make(self) -> None:
        os.makedirs(self.directory, exist_ok=True)
        for path in self.names:
            self.page(path)
        for name, text in (self.manuals.option_pages() | self.manuals.manual_pages()).items():
            self.write(name + ".md", text)
        lines = "".join(
            "%s %s\n" % (option, target) for option, target in self.manuals.links.options.items()
        )
        self.write("options.txt", lines)
        for folder, _, files in os.walk(self.directory):  # what an earlier call wrote
            for file in files:
                if os.path.join(folder, file) not in self.written:
                    os.remove(os.path.join(folder, file))


def tree(caption: str, pages: list[str]) -> str:
    """A part of the menu."""
    caption = ":caption: %s\n" % caption if caption else ""
    return "\n```{toctree}\n:hidden:\n%s\n%s\n```\n" % (caption, "\n".join(pages))


def listed(pages: dict[str, str]) -> str:
    return "\n" + "".join(
        "- [%s](%s.md)\n" % (title_of(text), name) for name, text in pages.items()
    )


def python_api() -> str:
    """Directives for all that the package exports, in its order."""
    module = ast.parse(read("python/srcfind/__init__.py"))
    names = next(
        ast.literal_eval(node.value)
        for node in module.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
    )
    lines = ["```{eval-rst}", ".. py:currentmodule:: srcfind", ""]
    for name in names:
        if name[0].islower():
            lines += [".. autofunction:: srcfind." + name, ""]
        elif name == "SrcfindWarning" or name.endswith("Error"):
            lines += [".. autoexception:: srcfind." + name, ""]
        else:
            lines += [".. autoclass:: srcfind.%s" % name, "   :members:", ""]
    return "\n".join(lines) + "```\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        Site(sys.argv[1]).make()
    except (Wrong, manual.Wrong, header.Wrong) as error:
        sys.exit("site: %s" % error)
