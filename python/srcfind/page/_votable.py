"""Catalogues of srcfind in VOTables, as the members that a JSON catalogue has. They have no notes,
quality, completeness and reliability."""
from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from srcfind.page._read import (
    CatalogueFile,
    Cell,
    Column,
    OtherTable,
    PageError,
    images_of,
    read_catalogue,
)

_ma: Any = np.ma  # its functions have no types
_EMPTY = np.iinfo(np.int64).min


def is_votable(path: Path) -> bool:
    return path.suffix.lower() in (".vot", ".votable", ".xml")


def _first_table(path: Path) -> Any:
    from astropy.io.votable import parse

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parse(str(path)).get_first_table()
    except OSError as error:
        raise PageError(f"{path}: {error.strerror or error}") from error
    except Exception as error:  # expat's, astropy's and those of their parts have no common kind
        raise PageError(f"{path}: this is no VOTable: {error}") from error


def _facts(table: Any) -> dict[str, Any]:
    """The PARAMs of a table, by their names."""
    facts = {}
    for param in table.params:
        value = param.value
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if isinstance(value, np.generic):
            value = value.item()
        if not (isinstance(value, float) and not math.isfinite(value)):
            facts[param.name] = value
    return facts


def _image(facts: dict[str, Any], path: str | None) -> dict[str, Any]:
    width, height = facts.get("image_width"), facts.get("image_height")
    return {
        "path": path,
        "shape": None if width is None or height is None else [int(height), int(width)],
        "unit": facts.get("bunit"),
        "flux_unit": facts.get("flux_unit"),
        "frame": facts.get("RADESYS"),
        "equinox": facts.get("EQUINOX"),
        "frequency_hz": facts.get("FREQ"),
        "date_obs": facts.get("DATE-OBS"),
        "telescope": facts.get("TELESCOP"),
        "object": facts.get("OBJECT"),
        "beam": {
            "major_deg": facts.get("BMAJ"),
            "minor_deg": facts.get("BMIN"),
            "angle_deg": facts.get("BPA"),
        },
    }


def _background(facts: dict[str, Any]) -> dict[str, Any]:
    local = {
        "size": facts.get("rms_box_size"),
        "step": facts.get("rms_box_step"),
        **{name: facts.get(name) for name in ("rms_least", "rms_median", "rms_most")},
    }
    return {
        "median": facts.get("background_median"),
        "rms": facts.get("background_rms"),
        "local": local if local["size"] is not None else None,
    }


def _options(facts: dict[str, Any]) -> dict[str, Any]:
    """The options, whose PARAMs are texts."""
    options: dict[str, Any] = {}
    for name, value in facts.items():
        if name.startswith("option_"):
            try:
                options[name[len("option_") :]] = float(value)
            except ValueError:
                options[name[len("option_") :]] = value
    return options


def _cells(values: Any) -> list[Cell]:
    """The values of a column; None for those that are empty."""
    mask = _ma.getmaskarray(values)
    cells: list[Cell] = []
    for value, is_masked in zip(_ma.getdata(values).tolist(), mask.tolist()):
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        is_empty = value == _EMPTY or (isinstance(value, float) and not math.isfinite(value))
        cells.append(None if is_masked or is_empty else value)
    return cells


def read_votable(path: Path) -> CatalogueFile:
    """Reads a catalogue, or a merged one."""
    table = _first_table(path)
    facts = _facts(table)
    if isinstance(facts.get("srcfind"), str) and table.name != "sources":
        raise OtherTable(f"{path}: this is a table of {table.name}: give the catalogue beside it")
    if not isinstance(facts.get("srcfind"), str):
        raise PageError(f"{path}: this is no catalogue of srcfind: give one, or a JSON catalogue")
    columns = [
        Column(
            field.name,
            str(field.unit or "").replace(" ", ""),
            field.ucd or "",
            field.description or "",
        )
        for field in table.fields
    ]
    cells = {field.name: _cells(table.array[field.ID]) for field in table.fields}
    members: dict[str, Any] = {
        "srcfind": facts["srcfind"],
        "options": (options := _options(facts)),
        "detection": {name: options.get(name) for name in ("threshold", "island")},
    }
    if "image" in facts:
        members.update(image=_image(facts, facts["image"]), background=_background(facts))
    else:  # a merged catalogue
        paths = dict.fromkeys(str(each) for each in cells.get("Image", []))
        members["images"] = [{"image": _image(facts, each)} for each in paths]
    rows = [list(row) for row in zip(*(cells[column.name] for column in columns))]
    return CatalogueFile(path, members, images_of(path, members), columns, rows)


def read_any_catalogue(path: Path) -> CatalogueFile:
    """Reads a catalogue in JSON or as a VOTable, by its suffix."""
    return read_votable(path) if is_votable(path) else read_catalogue(path)
