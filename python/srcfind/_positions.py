"""Positions for the options at and inject: what Python has in place of the file of a catalogue."""
from __future__ import annotations

from typing import Any

import numpy as np

_ma: Any = np.ma  # its functions have no types
#: frames of astropy with the columns of their positions
_FRAMES = {
    "icrs": ("RA", "DEC"),
    "fk5": ("RA", "DEC"),
    "fk4": ("RA", "DEC"),
    "galactic": ("GLON", "GLAT"),
}
#: Names of positions whose frame is not told: each image finds those of its own.
_ALL = (("RA", "DEC"), ("GLON", "GLAT"), ("LON", "LAT"), ("Xposn", "Yposn"))


def is_table(value: Any) -> bool:
    """Whether a value is a Table or QTable of astropy."""
    return hasattr(value, "colnames") and hasattr(value, "itercols")


def _is_sky(value: Any) -> bool:
    """Whether a value is a SkyCoord."""
    return hasattr(value, "spherical") and hasattr(value, "frame")


def _is_frame_of_pandas(value: Any) -> bool:
    return hasattr(value, "to_records") and hasattr(value, "columns")


# --- tables ---


def _columns_of_sky(sky: Any, option: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The columns of a SkyCoord, in degrees, and what the file says of its frame."""
    from astropy.table import Column

    name = sky.frame.name
    if name not in _FRAMES:
        raise ValueError(
            f"{option}: positions in the frame {name}: give them in {', '.join(_FRAMES)}"
        )
    facts: dict[str, Any] = {"RADESYS": name.upper()}
    if name.startswith("fk"):
        equinox = sky.equinox
        facts["EQUINOX"] = float(equinox.byear if name == "fk4" else equinox.jyear)
    angles = (sky.spherical.lon.deg, sky.spherical.lat.deg)
    return {
        column: Column(np.atleast_1d(angle), unit="deg")
        for column, angle in zip(_FRAMES[name], angles)
    }, facts


def _cells(column: Any) -> Any:
    """A column of a table for a file, angles in degrees; None for one that is no list of numbers or
    texts."""
    from astropy.table import Column, MaskedColumn

    cells, mask = getattr(column, "unmasked", column), getattr(column, "mask", None)
    values = _ma.getdata(getattr(cells, "value", cells))
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in "biufSU":
        return None
    unit = getattr(column, "unit", None)
    if unit is not None and values.dtype.kind in "iuf" and unit.is_equivalent("deg"):
        values, unit = (values if unit == "deg" else unit.to("deg", values)), "deg"
    return Column(values, unit=unit) if mask is None else MaskedColumn(values, unit=unit, mask=mask)


def _table_of_table(table: Any, option: str) -> Any:
    """The columns that a file may have; a column of SkyCoords is divided, and gives the frame."""
    from astropy.table import Table

    cells: dict[str, Any] = {}
    facts = {name: fact for name, fact in table.meta.items() if isinstance(fact, (str, int, float))}
    for column in table.itercols():
        if _is_sky(column):
            columns, frame = _columns_of_sky(column, option)
            facts.update(frame)
            cells.update(columns)
        else:
            cells.setdefault(column.info.name, _cells(column))
    return Table({name: of for name, of in cells.items() if of is not None}, meta=facts)


def _table_of_frame(frame: Any) -> Any:
    """A table of a DataFrame of pandas."""
    from astropy.table import Table

    columns = {str(name): frame[name].to_numpy() for name in frame.columns}
    texts = {name: of.astype(str) for name, of in columns.items() if of.dtype.kind == "O"}
    return Table({**columns, **texts})


def _table_of_pairs(value: Any, option: str) -> Any:
    """A table of one pair of numbers, or of several; None for others."""
    from astropy.table import Table

    if hasattr(value, "to_value"):  # a Quantity
        value = value.to_value("deg")
    elif isinstance(value, (tuple, list)) and any(hasattr(item, "to_value") for item in value):
        value = [item.to_value("deg") if hasattr(item, "to_value") else item for item in value]
    try:
        pairs = np.array(value, float)
    except (TypeError, ValueError):
        return None
    pairs = pairs.reshape(1, -1) if pairs.ndim == 1 else pairs
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"{option}: positions of the shape (2,) or (n, 2), not {np.shape(value)}")
    return Table({name: pairs[:, i] for names in _ALL for i, name in enumerate(names)})


def table_of_positions(value: Any, option: str) -> Any:
    """An astropy Table of a value of the option at or inject, which a file can have; None for a path, a text or None.

    Tables, catalogues of srcfind, DataFrames of pandas, SkyCoords, and pairs of numbers in degrees: a
    tuple, a list of tuples, or an array of the shape (n, 2). Pairs are positions in the frame of the
    image. Raises ValueError for other shapes and frames.
    """
    from astropy.table import Table

    if value is None or isinstance(value, (str, bytes)) or hasattr(value, "__fspath__"):
        return None
    if _is_sky(value):
        columns, facts = _columns_of_sky(value, option)
        return Table(columns, meta=facts)
    if hasattr(value, "notes") and is_table(getattr(value, "table", None)):
        value = value.table
    if isinstance(value, (np.ndarray, np.void)) and value.dtype.names:  # rows of a catalogue
        value = Table(np.atleast_1d(value))
    if is_table(value):
        return _table_of_table(value, option)
    return _table_of_frame(value) if _is_frame_of_pandas(value) else _table_of_pairs(value, option)
