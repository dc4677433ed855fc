"""The list of the options, for people."""
from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from srcfind._near import no_such
from srcfind._texts import TEXTS

_HEAD = re.compile(r"(\w+) : (.*?)(?: \[([^]]*)\])?, (?:default: (.*)|optional)")


@dataclass(frozen=True, repr=False)
class Option:
    """An option of `find` and `Finder`. default is a value of Python, or None where the default is
    none, such as "15 beams". type, unit and default_text are words; "" where there is no unit or no
    default. help: one line; text: what the manual says."""

    name: str
    type: str
    unit: str
    default: Any
    default_text: str
    help: str
    text: str

    def __repr__(self) -> str:
        unit, default = (
            f" [{self.unit}]" if self.unit else "",
            f"default: {self.default_text}" if self.default_text else "optional",
        )
        text = re.sub("(?m)^(?=.)", "    ", self.text)
        return f"{self.name} : {self.type}{unit}, {default}\n{text}"


class OptionList(Mapping[str, Option]):
    """The options by their names, in the order of the parameters of `find`. It is shown as a
    table."""

    def __init__(self, options: dict[str, Option]) -> None:
        self._options = options

    def __getitem__(self, name: str) -> Option:
        if name not in self._options:
            raise KeyError(no_such("option", name, self._options))
        return self._options[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        names, defaults = (
            max(map(len, column))
            for column in zip(*((o.name, o.default_text) for o in self.values()))
        )
        return "\n".join(
            f"{o.name:{names}}  {o.default_text:{defaults}}  {o.help}".rstrip()
            for o in self.values()
        )

    def _repr_html_(self) -> str:
        """The table in a notebook."""
        rows = (
            "".join(
                f'<td style="text-align: left">{escape(c)}</td>'
                for c in (o.name, o.type, o.unit, o.default_text, o.help)
            )
            for o in self.values()
        )
        heads = "".join(
            f'<th style="text-align: left">{c}</th>'
            for c in ("option", "type", "unit", "default", "what it does")
        )
        return (
            f"<table><thead><tr>{heads}</tr></thead><tbody>"
            + "".join(f"<tr>{row}</tr>" for row in rows)
            + "</tbody></table>"
        )


def _value(words: str) -> Any:
    """The value of a default: False of "False (True: 2000)", and None of words."""
    try:
        return ast.literal_eval(words.partition(" (")[0])
    except (SyntaxError, ValueError):
        return None


def _option(lines: list[str]) -> Option:
    """An option of _texts.py."""
    head = _HEAD.fullmatch(lines[0])
    assert head  # scripts/lists wrote it
    name, kind, unit, default = head.groups("")
    text = "\n".join(line[8:] for line in lines[2:])
    return Option(name, kind, unit, _value(default), default, lines[1].strip(), text)


def options() -> OptionList:
    """The options of `find` and `Finder`: names, types, units, defaults and texts.

    Returns
    -------
    OptionList
        A mapping from names to options, which is shown as a table.

    Examples
    --------
    >>> options()["min_pixels"]
    min_pixels : int [pixels], default: 1
        Ignore sources with fewer than `min_pixels` pixels (default 1).
    >>> options()["min_pixels"].default
    1
    """
    blocks = re.split(r"\n(?=\w)", TEXTS.rstrip("\n"))
    return OptionList({o.name: o for o in (_option(block.split("\n")) for block in blocks)})
