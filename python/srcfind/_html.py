"""Catalogues as notebooks show them."""
from __future__ import annotations

import base64
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from srcfind._sky import position_columns

if TYPE_CHECKING:
    from srcfind._catalogue import Catalogue, Column

_MOST_ROWS = 10  # rows that are shown
_MOST_OF_BINS = 100  # ... of tables of bins, which are read as a whole

#: What is shown of sources and Gaussians, in this order: those of the format table, with their formats.
#: "lon" and "lat" stand for the columns of positions.
_SHOWN: dict[str, str] = {
    "Source_id": "",
    "Gaus_id": "",
    "lon": ".6f",
    "lat": ".6f",
    "Peak_flux": ".4g",
    "E_Peak_flux": ".2g",
    "Total_flux": ".4g",
    "E_Total_flux": ".2g",
    "SNR": ".1f",
    "Maj": ".4g",
    "Scale": ".4g",
    "Spec_Indx": ".2f",
    "Flags": "",
    "Entry_id": "",
}
_IF_ANY = ("Scale", "Spec_Indx", "Entry_id")  # columns that are left out where all rows are empty
_DEGREE = 3600  # arcsec


class _Shown:
    """A column in a notebook: its name, its unit, and how its cells are written."""

    def __init__(self, column: Column, digits: str = ".7g") -> None:
        self.column, self.digits = column, digits
        self.factor = _DEGREE if column.name == "Maj" and column.unit == "deg" else 1
        self.unit = "arcsec" if self.factor == _DEGREE else column.unit

    def cell(self, row: Any, empty: int) -> str:
        """A value that does not apply is empty."""
        value = row[self.column.name]
        if value.dtype.kind == "f":
            return "" if value != value else f"{self.factor * value:{self.digits}}"
        return "" if value.dtype.kind == "i" and value == empty else escape(str(value))


def _has_any(values: Any, empty: int) -> bool:
    if values.dtype.kind == "f":
        return bool((values == values).any())
    return bool((values != (empty if values.dtype.kind == "i" else "")).any())


def _columns(catalogue: Catalogue, empty: int) -> list[_Shown]:
    """The columns that are shown: of sources and Gaussians the most used ones, of other tables
    all."""
    columns = {column.name: column for column in catalogue.columns}
    if "SNR" not in columns or "Source_id" not in columns:
        return [_Shown(column) for column in columns.values()]
    names = dict(zip(("lon", "lat"), position_columns(catalogue)))
    shown = []
    for key, digits in _SHOWN.items():
        name = names.get(key, key)
        if name in columns and (key not in _IF_ANY or _has_any(catalogue.array[name], empty)):
            shown.append(_Shown(columns[name], ".2f" if name in ("Xposn", "Yposn") else digits))
    return shown


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


def _rows(catalogue: Catalogue, columns: list[_Shown], empty: int) -> list[str]:
    """The first and the last rows, or all where there are few."""
    array, cell_of = catalogue.array, [column.cell for column in columns]
    is_of_bins = "Low" in (array.dtype.names or ())
    most = _MOST_OF_BINS if is_of_bins else _MOST_ROWS
    n_first = len(array) if len(array) <= most else most // 2
    first, last = array[:n_first], array[max(n_first, len(array) - most // 2) :]
    rows = [_row("td", [cell(row, empty) for cell in cell_of]) for row in (*first, *last)]
    if len(rows) < len(array):
        rows.insert(n_first, _row("td", ["&hellip;"] * len(columns)))
    return rows


def html_of(catalogue: Catalogue, title: str, empty: int, picture: bytes | None) -> str:
    """The picture, the facts, and a table of the first and the last rows. `empty` is the integer
    that stands for no value."""
    columns = _columns(catalogue, empty)
    heads: list[Callable[[_Shown], str]] = [
        lambda c: escape(c.column.name),
        lambda c: escape(c.unit),
    ]
    n_others = len(catalogue.columns) - len(columns)
    others = f"<p>{n_others} other columns are in <code>table</code></p>" if n_others else ""
    return "".join(
        [
            _image(picture) if picture else "",
            "<p>",
            "<br>".join(escape(line) for line in _facts(catalogue, title)),
            "</p>",
            "<table><thead>",
            *(_row("th", [head(column) for column in columns]) for head in heads),
            "</thead><tbody>",
            *_rows(catalogue, columns, empty),
            "</tbody></table>",
            others,
        ]
    )
