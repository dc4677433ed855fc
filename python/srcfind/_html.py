"""Catalogues as notebooks show them."""
from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from srcfind._catalogue import Catalogue

_MOST_ROWS = 10  # rows that are shown


def _cell(value: Any, empty: int) -> str:
    """A cell: reals have seven digits; a value that does not apply is empty."""
    if value.dtype.kind == "f":
        return "" if value != value else f"{value:.7g}"
    return "" if value.dtype.kind == "i" and value == empty else escape(str(value))


def _row(tag: str, cells: list[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def _facts(catalogue: Catalogue, title: str) -> list[str]:
    """The facts above the table, a line each."""
    beam = catalogue.image.beam
    lines = [title]
    if beam.major == beam.major:
        lines.append(
            f"beam {3600 * beam.major:.4g} x {3600 * beam.minor:.4g} arcsec at {beam.angle:.4g} degrees"
        )
    if catalogue.options:
        lines.append(
            "options " + ", ".join(f"{name}={value}" for name, value in catalogue.options.items())
        )
    return [*lines, *catalogue.notes]


def _image(picture: bytes) -> str:
    """A picture inside the page."""
    content = base64.b64encode(picture).decode("ascii")
    return f'<img src="data:image/png;base64,{content}" style="max-width: 100%" alt="The image with its sources"/>'


def html_of(catalogue: Catalogue, title: str, empty: int, picture: bytes | None) -> str:
    """The picture, the facts, and a table of the first and the last rows. `empty` is the integer
    that stands for no value."""
    array, columns = catalogue.array, catalogue.columns
    n_first = len(array) if len(array) <= _MOST_ROWS else _MOST_ROWS // 2
    first, last = array[:n_first], array[max(n_first, len(array) - _MOST_ROWS // 2) :]
    rows = [
        _row("td", [_cell(row[column.name], empty) for column in columns])
        for row in (*first, *last)
    ]
    if len(rows) < len(array):
        rows.insert(n_first, _row("td", ["&hellip;"] * len(columns)))
    return "".join(
        [
            _image(picture) if picture else "",
            "<p>",
            "<br>".join(escape(line) for line in _facts(catalogue, title)),
            "</p>",
            "<table><thead>",
            _row("th", [escape(column.name) for column in columns]),
            _row("th", [escape(column.unit) for column in columns]),
            "</thead><tbody>",
            *rows,
            "</tbody></table>",
        ]
    )
