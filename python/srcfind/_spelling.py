"""From the command's spelling of options to Python's: `--rms-box 60,20` is `rms_box=(60, 20)`. The
messages of the library, and what the manual says of options, have the command's.

This module imports nothing of the package: scripts/lists uses it, too.
"""
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple, Optional


class Spelled(NamedTuple):
    """An option of the command. argument: the name of its value, None for an option without one;
    values: some of its values, a|b|c, or None."""

    name: str
    argument: Optional[str]
    values: Optional[str]


# What Python has in place of options that a search does not have.
_ELSEWHERE = {
    "cpu": 'device="cpu"',
    "gpu": "device=0",
    "save": "catalogue.map",
    "format": "format",
    "radius": "radius",
}
# ... and in place of the tables and the picture of --save; map() has the maps.
TABLES = {
    "gaussians": "catalogue.gaussians",
    "islands_table": "catalogue.islands",
    "covariance": "catalogue.covariance",
    "picture": "catalogue.picture()",
}

_NUMBERS, _PLACES = (
    f"{item}(?:,{item})*" for item in (r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", "[A-Z][A-Z0-9]*")
)
_PATH = r"[^\s()]*(?:\.[A-Za-z]|/)[^\s()]*?"


def _values(option: Spelled) -> str:
    """A pattern of the values of an option in a text, with the blank before them: a list of numbers
    or of words that the option has, a word in capitals, and a path if there can be one."""
    if option.argument is None:
        return ""
    words = "|".join(rf"{re.escape(v)}(?::\d+-\d+)?" for v in (option.values or "").split("|") if v)
    kinds = [_NUMBERS, _PLACES, f"(?:{words})(?:,(?:{words}))*" if words else ""]
    kinds += [_PATH] if re.search("FILE|CATALOGUE", option.argument) else []
    return rf"(?:[ =](?:{'|'.join(filter(None, kinds))})(?=[\s.,;:)]|$))?"


def _assigned(name: str, value: str) -> str:
    """An option with a value of the command."""
    if not re.fullmatch(f"{_NUMBERS}|{_PLACES}", value):
        return f'{name}="{value}"'
    parts = value.split(",")
    return f"{name}=({', '.join(parts)})" if len(parts) > 1 else f"{name}={value}"


def _saved(names: str) -> str:
    """What has the maps and tables of --save."""
    maps = {name: f'catalogue.map("{name}")' for name in names.split(",")}
    return " and ".join(f"`{TABLES.get(name, map)}`" for name, map in maps.items())


class Spelling:
    """Spells options as Python does. options: those of a search, and save and format."""

    def __init__(self, options: Iterable[Spelled]) -> None:
        self._options = {option.name: option for option in options}
        known = {
            **{name: Spelled(name, None, None) for name in _ELSEWHERE},
            "radius": Spelled("radius", "ARCSEC", None),
            **self._options,
        }
        spelled = "|".join(
            name + _values(known[name]) for name in sorted(known, key=len, reverse=True)
        )
        self._pattern = re.compile(rf"(?<![\w./-])--(?:{spelled})(?![\w-])")

    def __call__(self, text: str) -> str:
        """A text with the options in `backticks`, as Python has them. A message may begin with the
        name of an option."""
        head, colon, rest = text.partition(": ")
        if colon and head in self._options:
            text = head.replace("-", "_") + colon + rest
        return self._pattern.sub(self._spell, text.replace("--gpu and --device", "--device"))

    def _spell(self, found: re.Match[str]) -> str:
        name, value = (re.split("[ =]", found[0][2:], maxsplit=1) + [""])[:2]
        if name == "save" and value:
            return _saved(value)
        spelled = _ELSEWHERE.get(name, name.replace("-", "_"))
        if value:
            return f"`{_assigned(spelled, value)}`"
        is_flag = name in self._options and self._options[name].argument is None
        return f"`{spelled}=True`" if is_flag else f"`{spelled}`"
