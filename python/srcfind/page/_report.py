"""Reports of batches: the rows of srcfind --report."""
from __future__ import annotations

import csv
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from srcfind.page._read import PageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NEEDED = ("image", "status")
_LONGEST = 1 << 20  # most characters of a cell


def number(text: str) -> float:
    """A number of a cell; NaN where there is none, or one that is not finite."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def numbers(text: str, separator: str | None, n: int) -> list[float]:
    """n numbers of a cell; none where it has others."""
    values = [number(part) for part in text.split(separator)]
    return values if len(values) == n and not any(map(math.isnan, values)) else []


@dataclass
class Tile:
    """A row of a report: an image, or one plane of it. `cells` has its texts, by column; a column
    that it lacks is empty."""

    cells: dict[str, str] = field(repr=False)

    def text(self, column: str) -> str:
        return self.cells.get(column) or ""

    def number(self, column: str) -> float:
        return number(self.text(column))

    @property
    def unit(self) -> str:
        """The unit of the map, in one spelling: JY/BEAM is Jy/beam."""
        return self.text("unit").replace(" ", "").replace("JY", "Jy").replace("BEAM", "beam")

    @property
    def is_done(self) -> bool:
        return self.text("status") == "done"

    @property
    def name(self) -> str:
        """The file's name, with its plane."""
        plane = self.text("plane")
        return Path(self.text("image")).name + (f" plane {plane}" if plane else "")

    @property
    def beam(self) -> list[float]:
        """Axes (arcsec) and angle (degrees) of the beam; empty where it is not known."""
        beam = numbers(self.text("beam"), ",", 3)
        return beam if beam and beam[0] > 0 and beam[1] > 0 else []

    @property
    def corners(self) -> NDArray[Any] | None:
        """Longitude and latitude (degrees) of the corners, a row each; None where they are not
        known."""
        values = numbers(self.text("footprint"), None, 8)
        corners = np.reshape(values, (-1, 2))
        return (
            corners
            if len(corners)
            and (np.abs(corners[:, 1]) <= 90).all()
            and (np.abs(corners[:, 0]) <= 720).all()
            else None
        )


@dataclass
class Report:
    """The tiles of a report. missing: columns that newer versions of srcfind write, and that this
    report lacks. n_cut: the number of rows with fewer or more cells than the first line, as a row
    that is being written."""

    path: Path
    tiles: list[Tile]
    missing: list[str]
    n_cut: int


_COLUMNS = ("message", "sources", "rms_median", "seconds", "catalogue", "plane", "footprint")


def read_report(path: Path) -> Report:
    """Reads a report. Of an image that has several rows, as where reports were joined, the last one
    counts."""
    csv.field_size_limit(_LONGEST)
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            rows = csv.reader(stream)
            names: list[str] = next(rows, [])
            if "Source_id" in names:
                raise PageError(
                    f"{path}: this is a catalogue: pages are made of JSON, so search the image again with -o NAME.json"
                )
            if not set(_NEEDED) <= set(names):
                raise PageError(
                    f"{path}: this is no report of srcfind: its first line does not name image and status"
                )
            tiles, n_cut = {}, 0
            for row in rows:
                if len(row) != len(names):
                    n_cut += len(row) > 0  # an empty line has no cells
                elif row != names:  # joined reports have several lines of names
                    tile = Tile(dict(zip(names, row)))
                    tiles[tile.text("image"), tile.text("plane")] = tile
    except OSError as error:
        raise PageError(f"{path}: {error.strerror}") from None
    except csv.Error as error:
        raise PageError(f"{path}: this is no report of srcfind: {error}") from None
    return Report(
        path, list(tiles.values()), [name for name in _COLUMNS if name not in names], n_cut
    )
