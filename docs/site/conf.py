"""The settings of Sphinx. scripts/site runs it on the pages that stage.py writes."""
from __future__ import annotations

import importlib.metadata
import os
import re
import sys
import types
from typing import Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, os.pardir, os.pardir)

with open(os.path.join(ROOT, "meson.build")) as stream:
    release = re.search(r"version: '([^']+)'", stream.read())[1]  # type: ignore[index]

project = "srcfind"
version = release
author = "The srcfind authors"
copyright = author + ", BSD-3-Clause"
html_title = "srcfind " + release
smartquotes = False  # it would make a dash of the -- of options

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["files"]
nitpicky = True
# Types of others, and those that the package does not export: this site has only its own.
nitpick_ignore_regex = [("py:.*", r"(?!srcfind\.[A-Za-z]).*"), ("c:.*", r"(?!srcfind_|SRCFIND_).*")]
myst_heading_anchors = 4
highlight_language = "none"
pygments_style = "friendly"

html_theme = "furo"
html_static_path = [os.path.join(HERE, "static")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_permalinks_icon = "#"
templates_path = [os.path.join(HERE, "templates")]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/versions.html",
        "sidebar/scroll-end.html",
    ]
}
# Other versions that scripts/site builds beside this one, and where the first of them is from here.
others = os.environ.get("SITE_TAGS", "").split()
up = os.environ.get("SITE_UP", "")
html_context = {
    "site_versions": [("this tree", up)] + [(tag, up + tag + "/") for tag in others]
    if others
    else []
}

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings have the types of parameters
napoleon_google_docstring = False
napoleon_use_param = False  # words such as table in types would become links to members
autodoc_preserve_defaults = True


# --- the Python package, without its compiled library ---


class Library:
    """Stands for the library: its constants are different numbers, its calls return NULL."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __getattr__(self, name: str) -> Any:
        if name.isupper():
            return self._numbers.setdefault(name, 1 + len(self._numbers))
        return lambda *_: None


class Interface:
    """Stands for the ffi of cffi."""

    NULL = None

    def def_extern(self, *_: Any, **__: Any) -> Any:
        return lambda function: function


compiled: Any = types.ModuleType("srcfind._library")
compiled.lib, compiled.ffi = Library(), Interface()
sys.modules["srcfind._library"] = compiled
importlib.metadata.version = lambda _: release
sys.path.insert(0, os.path.join(ROOT, "python"))

import srcfind  # noqa: E402


# Napoleon takes the text before a colon for the type of a property or a member: these texts are kept, and put back behind it.
_texts: dict[str, list[str]] = {}
_MEMBERS = ("attribute", "data", "property")


def keep_text(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    if what in _MEMBERS:
        _texts[name] = list(lines)


def put_back(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    if what in _MEMBERS:
        lines[:] = _texts.pop(name)


def without_constructor(app: Any, what: str, name: str, *_: Any) -> tuple[str, None] | None:
    """No signature of what users get and do not make."""
    return ("", None) if name in ("srcfind.Catalogue", "srcfind.OptionList") else None


def docstring_as_rst(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """The docstrings are Markdown of a kind: `name` is code, and a link where the package exports it."""

    def part(word: str) -> str:
        code = re.fullmatch("`([^`]+)`", word)
        if not code:
            return re.sub(r"([*|\\])", r"\\\1", word)
        exported = code[1].removeprefix("srcfind.")
        if exported in srcfind.__all__:
            return ":py:obj:`%s <srcfind.%s>`" % (code[1], exported)
        return "``%s``" % code[1]

    text = "\n".join(lines)
    if ">>>" in text:  # doctests keep what they have
        text, mark, rest = text.partition(">>>")
    else:
        mark = rest = ""
    words = re.split(r"((?<!`)`[^`]+`(?!`))", text)
    lines[:] = ("".join(map(part, words)) + mark + rest).split("\n")


# --- options in the text are links ---


class OptionLinks(SphinxPostTransform):
    """Makes a link to the manual's words of each option that stands alone as code, as `--fit`."""

    default_priority = 900
    formats = ("html",)

    def run(self, **_: Any) -> None:
        if self.env.docname.startswith(("options-", "manual-")):
            return
        for literal in list(self.document.findall(nodes.literal)):
            # Of the short ones -s alone: pip and others have the same letters.
            option = re.match(r"--[a-z][a-z-]*|-s\b", literal.astext())
            target = option and self.app.options_of_command.get(option[0])  # type: ignore[attr-defined]
            if target and not within_link(literal):
                link = nodes.reference("", "", refuri=target, internal=True, classes=["option"])
                literal.replace_self(link)
                link += literal


def within_link(node: nodes.Node) -> bool:
    while node.parent:
        node = node.parent
        if isinstance(node, (nodes.reference, nodes.title)):
            return True
    return False


def setup(app: Any) -> None:
    with open(os.path.join(app.srcdir, "options.txt")) as stream:
        app.options_of_command = dict(line.split() for line in stream)
    app.connect("autodoc-process-docstring", docstring_as_rst, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", keep_text, priority=450)
    app.connect("autodoc-process-docstring", put_back, priority=600)
    app.connect("autodoc-process-signature", without_constructor)
    app.add_post_transform(OptionLinks)
