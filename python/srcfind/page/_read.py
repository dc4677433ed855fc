"""Reads catalogues as JSON, and checks what pages rely on: a file may come from anywhere."""
from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

Cell = Union[str, int, float, None]
NEGATIVE, ARTEFACT = 32, 2048  # in Flags
_LARGEST = 2**63
_ABSURD = 1e100  # above any flux and frequency: sums and products of larger numbers overflow


class PageError(Exception):
    """A file cannot become a page. The message names the file and the remedy."""


class OtherTable(PageError):
    """The file is a table that srcfind wrote beside a catalogue."""


@dataclass(frozen=True)
class Column:
    """A column of a catalogue; unit is "" if it has none."""

    name: str
    unit: str
    ucd: str
    description: str


@dataclass(frozen=True)
class CatalogueFile:
    """A catalogue. `members` are those of the JSON but for columns and sources; rows have a cell
    for each column.

    A merged catalogue has several images, in `images`, and no members background, detection and
    quality.
    """

    path: Path
    members: dict[str, Any]
    images: list[dict[str, Any]]
    columns: list[Column]
    rows: list[list[Cell]]

    @property
    def image(self) -> dict[str, Any]:
        """The image or, of a merged catalogue, what all images have in common: units and, if it is
        one, the frame."""
        first = self.images[0] if self.images else {}
        if len(self.images) == 1:
            return first
        return {
            name: first.get(name)
            for name in ("unit", "flux_unit", "frame", "equinox")
            if all(image.get(name) == first.get(name) for image in self.images)
        }

    @property
    def stem(self) -> Path:
        """The path without .json: what stands beside the catalogue begins with it."""
        return self.path.with_suffix("")

    def has(self, *names: str) -> bool:
        """Whether there are columns of these names."""
        return {column.name for column in self.columns}.issuperset(names)

    def unit(self, name: str) -> str:
        """The unit of a column."""
        return next(column.unit for column in self.columns if column.name == name)

    def reals(self, name: str) -> NDArray[np.float64]:
        """A column of numbers. NaN where a source has no value, and everywhere if there is no such
        column."""
        index = next((i for i, column in enumerate(self.columns) if column.name == name), None)
        if index is None:
            return np.full(len(self.rows), np.nan)
        return np.array([_real(row[index]) for row in self.rows], float)


def has_flag(catalogue: CatalogueFile, flag: int) -> NDArray[np.bool_]:
    """Which sources have a flag."""
    flags = np.nan_to_num(catalogue.reals("Flags")).astype(np.int64)
    return np.asarray((flags & flag) != 0)


def is_negative(catalogue: CatalogueFile) -> NDArray[np.bool_]:
    """Which sources are negative."""
    return has_flag(catalogue, NEGATIVE)


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _real(value: Any) -> float:
    """A number of JSON; NaN for other values, and for absurd ones."""
    return float(value) if is_number(value) and abs(value) < _ABSURD else math.nan


def number(members: Any, *names: str) -> float:
    """A number inside objects of JSON, by the names of the path to it; NaN if there is none."""
    for name in names:
        members = members.get(name) if isinstance(members, dict) else None
    return _real(members)


def text(members: Any, *names: str) -> str:
    """A text inside objects of JSON; "" if there is none."""
    for name in names:
        members = members.get(name) if isinstance(members, dict) else None
    return members if isinstance(members, str) else ""


def objects(members: Any, name: str, *numbers: str) -> list[dict[str, Any]]:
    """A list of objects of JSON, such as `reliability`, without those in which one of these numbers
    is missing."""
    items = members.get(name) if isinstance(members, dict) else None
    return (
        [
            item
            for item in items
            if isinstance(item, dict) and all(math.isfinite(number(item, each)) for each in numbers)
        ]
        if isinstance(items, list)
        else []
    )


# --- files ---


def read_text(path: Path) -> str:
    """The text of a file."""
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise PageError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise PageError(
            f"{path}: this is no text in UTF-8: give a catalogue as JSON (srcfind -o c.json), or a report (--report r.csv)"
        ) from error


def _integer(digits: str) -> int | float:
    """An integer of JSON, or a float where it is too large for those of catalogues."""
    value = float(digits)
    return int(digits) if abs(value) < _LARGEST else value


def _read_json(path: Path) -> dict[str, Any]:
    try:
        members = json.loads(read_text(path), parse_int=_integer)
    except (ValueError, RecursionError) as error:
        raise PageError(
            f"{path}: this is no JSON ({error}): search the image again with -o NAME.json"
        ) from error
    if not isinstance(members, dict) or not isinstance(members.get("srcfind"), str):
        raise PageError(
            f"{path}: this is no catalogue of srcfind: search the image with -o NAME.json"
        )
    return members


def _columns(path: Path, items: Any) -> list[Column]:
    if not isinstance(items, list) or not all(
        isinstance(item, dict) and isinstance(item.get("name"), str) for item in items
    ):
        raise PageError(f"{path}: the catalogue does not tell its columns: search the image again")
    return [
        Column(item["name"], text(item, "unit"), text(item, "ucd"), text(item, "description"))
        for item in items
    ]


def _row(path: Path, source: Any, names: Iterable[str]) -> list[Cell]:
    cells = [source.get(name) for name in names] if isinstance(source, dict) else [[]]
    if not all(cell is None or isinstance(cell, (str, int, float)) for cell in cells):
        raise PageError(
            f"{path}: a source is not an object of numbers and texts: search the image again"
        )
    return [None if isinstance(cell, float) and not math.isfinite(cell) else cell for cell in cells]


def images_of(path: Path, members: dict[str, Any]) -> list[dict[str, Any]]:
    entries = members.get("images")
    images = (
        [entry.get("image") if isinstance(entry, dict) else None for entry in entries]
        if isinstance(entries, list)
        else [members.get("image")]
    )
    if not all(isinstance(image, dict) for image in images):
        raise PageError(
            f"{path}: the catalogue does not describe its image: search the image again"
        )
    return [image for image in images if image is not None]


def _merged_completeness(path: Path, members: dict[str, Any]) -> dict[str, Any] | None:
    """`completeness` of a merged catalogue, which stands in a table beside it; None where there is
    none, or one of other images."""
    try:
        table = _read_json(path.with_suffix(".completeness.json"))
    except PageError:
        return None
    if table.get("images") != members.get("images"):
        return None
    names = {"E_Completeness": "error"}
    return {
        "flux": [
            {names.get(name, name.lower()): value for name, value in each.items()}
            for each in objects(table, "completeness_bins")
        ]
    }


def read_catalogue(path: Path) -> CatalogueFile:
    """Reads a JSON catalogue, or a merged one with its table of completeness."""
    members = _read_json(path)
    for name, what in (
        ("gaussians", "Gaussians"),
        ("islands", "islands"),
        ("covariances", "covariances"),
        ("planes", "planes"),
        ("completeness_bins", "completeness"),
        ("reliability_bins", "reliability"),
        ("injections", "injected sources"),
    ):
        if name in members:
            raise OtherTable(f"{path}: this is a table of {what}: give the catalogue beside it")
    sources = members.pop("sources", None)
    if not isinstance(sources, list):
        raise PageError(
            f"{path}: there is no list of sources: give a catalogue that srcfind wrote with -o NAME.json"
        )
    columns = _columns(path, members.pop("columns", None))
    names = [column.name for column in columns]
    if "images" in members:
        members["completeness"] = _merged_completeness(path, members)
    return CatalogueFile(
        path,
        members,
        images_of(path, members),
        columns,
        [_row(path, source, names) for source in sources],
    )
