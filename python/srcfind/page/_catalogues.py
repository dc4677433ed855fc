"""The catalogues of a report's tiles: the columns that are needed to compare neighbours."""
from __future__ import annotations

import csv
import gzip
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from srcfind.page._match import vectors
from srcfind.page._report import Report, Tile, number

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FRAMES = (("RA", "DEC"), ("GLON", "GLAT"), ("ELON", "ELAT"))
# flags of rows that are not compared: cut off, one pixel, uncertain, negative, ...
_UNSURE = 1 | 2 | 16 | 32 | 64 | 256 | 512


@dataclass
class Sources:
    """Positions (unit vectors), fluxes and S/N of the sources of a tile that can be compared; and
    the share of blank pixels."""

    frame: str
    positions: NDArray[Any]
    flux: NDArray[Any]
    snr: NDArray[Any]
    blank: float = math.nan  # share of blank pixels


def find_catalogue(report: Report, tile: Tile) -> Path | None:
    """The file of a tile's catalogue. A relative path is looked for from this directory, and from
    the directory of the report."""
    written = tile.text("catalogue")
    if not written or "\0" in written:
        return None
    places = [Path(written), report.path.parent / written, report.path.parent / Path(written).name]
    return next((place for place in places if place.is_file()), None)


def _open(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="")
    return open(path, encoding="utf-8", errors="replace", newline="")


def _column(rows: list[dict[str, Any]], name: str, missing: float = math.nan) -> NDArray[Any]:
    """A column as numbers. Cells of rows may be texts, empty, or missing."""

    def value(cell: Any) -> float:
        return number(str(cell)) if cell not in (None, "") else missing

    return np.array([value(row.get(name)) for row in rows], float)


def _frame(rows: list[dict[str, Any]]) -> tuple[str, str] | None:
    return next((names for names in _FRAMES if rows and names[0] in rows[0]), None)


def _of_rows(rows: list[dict[str, Any]], frame: str, blank: float) -> Sources | None:
    names = _frame(rows)
    if names is None:
        return None
    lon, lat, flux = (_column(rows, name) for name in (*names, "Total_flux"))
    sure = (
        np.isfinite(lon + lat)
        & (np.abs(lat) <= 90)
        & (flux > 0)
        & (_column(rows, "Flags", 0).astype(int) & _UNSURE == 0)
    )
    return Sources(
        frame or names[0],
        vectors(lon[sure], lat[sure]),
        flux[sure],
        _column(rows, "SNR", math.inf)[sure],
        blank,
    )


def _read_json(path: Path) -> Sources | None:
    with _open(path) as stream:
        catalogue = json.load(stream)
    image, background = catalogue.get("image") or {}, catalogue.get("background") or {}
    n = background.get("n_pixels") or 0
    blank = background.get("n_blank", 0) / n if n else math.nan
    rows = catalogue.get("sources") or []
    return (
        _of_rows(rows, str(image.get("frame") or ""), blank)
        if rows
        else Sources("", np.zeros((0, 3)), np.zeros(0), np.zeros(0), blank)
    )


def _read_csv(path: Path) -> Sources | None:
    with _open(path) as stream:
        return _of_rows(list(csv.DictReader(stream)), "", math.nan)


def _read_table(path: Path) -> Sources | None:
    """VOTable, FITS and ECSV, if astropy is installed."""
    from astropy.table import Table

    table = Table.read(os.fspath(path))
    names = [name for name in table.colnames if table[name].ndim == 1]
    return _of_rows(
        [dict(zip(names, row)) for row in zip(*(table[name].tolist() for name in names))],
        "",
        math.nan,
    )


def read_sources(path: Path) -> Sources | None:
    """The sources of a catalogue in any format that has columns. None if they cannot be compared,
    for any reason."""
    kind = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    reader = {".json": _read_json, ".csv": _read_csv}.get(kind.lower(), _read_table)
    try:
        return reader(path)
    except Exception:  # errors of astropy's readers, too: a broken catalogue counts as missing
        return None
