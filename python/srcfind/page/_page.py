"""The parts of a page, and writing it as one file that needs no other file."""
from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from srcfind.page._read import Cell, PageError

_FILES = Path(__file__).parent / "templates"
# marks a page, which may be replaced
_GENERATOR = b'<meta name="generator" content="srcfind-page '
_HEAD = 500  # the mark is in the first so many bytes


# --- parts ---


@dataclass(frozen=True)
class Table:
    """A small table, shown without a script. Its numbers are texts."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Figure:
    """A plot, what it shows, which sight is a reason to worry, and perhaps its numbers as a
    table."""

    plot: Markup
    caption: str
    table: Table | None = None


@dataclass(frozen=True)
class Section:
    """A part of a page: a title, paragraphs, figures side by side, and a table. key: a word, which
    links lead to."""

    key: str
    title: str
    paragraphs: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    table: Table | None = None


@dataclass(frozen=True)
class Sheet:
    """A table that is sorted and filtered, in pages of rows; page.js shows it.

    columns: {"name", "unit", "description", "shown"}, perhaps with what _display.py adds; links: the
    target of the first cell of each row, or None.
    """

    key: str
    columns: Sequence[dict[str, Any]]
    rows: Sequence[Sequence[Cell]]
    links: Sequence[str | None] = field(default=())

    @property
    def packed(self) -> str:
        """The table as text for page.js: JSON, column by column, deflated, in base64. 10,000
        sources take 3.5 MB instead of 9 MB. Most of the table are digits, which do not repeat:
        Z_FILTERED does not look for repetitions, and saves 7%.
        """
        data = {
            "columns": self.columns,
            "n": len(self.rows),
            "cells": list(zip(*self.rows)),
            "links": self.links,
        }
        deflate = zlib.compressobj(9, strategy=zlib.Z_FILTERED)
        content = (
            deflate.compress(
                json.dumps(data, allow_nan=False, separators=(",", ":")).encode("ascii")
            )
            + deflate.flush()
        )
        return base64.b64encode(content).decode("ascii")


def data_uri(content: bytes, kind: str) -> str:
    """A picture inside a page, such as data_uri(png, "image/png")."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


# --- the file ---


def _in_script(value: Any) -> Markup:
    """JSON for a script element: no text in it ends the element."""
    escaped = json.dumps(value, allow_nan=False)
    for character in "<>&":
        escaped = escaped.replace(character, f"\\u{ord(character):04x}")
    return Markup(escaped)


def render(template: str, **context: Any) -> str:
    """A page of templates/, with its style and script."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FILES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["in_script"] = _in_script
    style, script = (Markup((_FILES / name).read_text("utf-8")) for name in ("page.css", "page.js"))
    script_hash = "sha256-" + base64.b64encode(
        hashlib.sha256(script.encode("utf-8")).digest()
    ).decode("ascii")
    return environment.get_template(template).render(
        style=style, script=script, script_hash=script_hash, **context
    )


def _check_replaceable(path: Path) -> None:
    """An existing file is replaced if it is a page of this program."""
    try:
        with open(path, "rb") as stream:
            if _GENERATOR in stream.read(_HEAD):
                return
    except FileNotFoundError:
        return
    raise PageError(
        f"{path}: this file is there, and is no page of srcfind-page: give another name with -o, or remove it"
    )


def write_page(path: Path, html: str) -> None:
    """Writes a page, whole or not at all."""
    temporary = path.parent / f".srcfind-page-{os.getpid()}"
    try:
        _check_replaceable(path)
        with open(temporary, "xb") as stream:
            stream.write(html.encode("utf-8", "replace"))  # half of a surrogate pair, from JSON
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise PageError(f"{path}: cannot be written: {error.strerror or error}") from error
