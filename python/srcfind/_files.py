"""Temporary files for values of options that are in memory: the library reads masks, maps and
catalogues from files."""
from __future__ import annotations

import os
import re
import tempfile
import weakref
from typing import Any

import numpy as np

from srcfind._positions import is_table, table_of_positions

_ma: Any = np.ma  # its functions have no types
MAPS = ("mask", "rms_map", "background_map", "detect_on", "detect_rms_map", "detect_background_map")
_SIZES = re.compile(r"(\d+) x (\d+) pixels, where the image has (\d+) x (\d+)")
_BLOCK, _CARD = 2880, 80  # bytes of a FITS file


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or hasattr(value, "unmasked")


# --- maps ---


def _values(name: str, array: Any) -> np.ndarray[Any, Any]:
    """The values of a map as in FITS files: float32, the highest byte first; NaN where masked."""
    if hasattr(array, "unmasked"):  # a Masked of astropy
        array = _ma.MaskedArray(np.asarray(array.unmasked), array.mask)
    elif not isinstance(array, np.ma.MaskedArray):
        array = np.asarray(array)
    if array.dtype.kind not in ("biuf" if name == "mask" else "iuf"):
        raise TypeError(
            f"{name}: an array of real numbers{', or of bool' if name == 'mask' else ''}, not of {array.dtype}"
        )
    if array.ndim != 2 or array.size == 0:
        raise ValueError(
            f"{name}: an array with the two axes of the image, not of the shape {array.shape}"
        )
    with np.errstate(over="ignore"):  # too large for float32: infinite, and so blank
        values = array.astype(np.float32)
    return np.asarray(_ma.filled(values, np.nan), ">f4")


def _card(keyword: str, value: str | int) -> str:
    if isinstance(value, str):
        quoted = value.replace("'", "''")
        return f"{keyword:8}= '{quoted:8}'".ljust(_CARD)
    return f"{keyword:8}= {'T' if value is True else value:>20}".ljust(_CARD)


def _fits(name: str, array: Any) -> bytes:
    """A FITS file of an array."""
    values = _values(name, array)
    cards: list[tuple[str, str | int]] = [
        ("SIMPLE", True),
        ("BITPIX", -32),
        ("NAXIS", 2),
        ("NAXIS1", values.shape[1]),
        ("NAXIS2", values.shape[0]),
    ]
    unit: Any = getattr(array, "unit", None)
    if hasattr(unit, "to_string"):
        cards.append(("BUNIT", unit.to_string().replace(" ", "")))
    if name == "detect_on":
        # the library then takes the map for one on the grid of the image
        cards.append(("SRCFGRID", "IMAGE"))
    header = "".join(_card(*card) for card in cards) + "END".ljust(_CARD)
    header += " " * (-len(header) % _BLOCK)
    data = values.tobytes()
    return header.encode("ascii", "replace") + data + bytes(-len(data) % _BLOCK)


# --- files ---


def _remove(paths: list[str], process: int) -> None:
    """Removes files, but not in a forked process: the files belong to its parent."""
    for path in paths if os.getpid() == process else ():
        try:
            os.remove(path)
        except OSError:
            pass


class TemporaryFiles:
    """The files of options. They are removed when the object is, or when Python ends."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}  # names of options, by path
        self._given: dict[str, str] = {}  # ... by the paths of the user
        self._paths: list[str] = []
        weakref.finalize(self, _remove, self._paths, os.getpid())

    def _new(self, name: str, suffix: str) -> str:
        descriptor, path = tempfile.mkstemp(suffix, f"srcfind-{name}-")
        os.close(descriptor)
        self._paths.append(path)
        self._names[path] = name
        return path

    def value(self, name: str, value: Any) -> Any:
        """The value of an option: the path of a new file for an array or a table, else the value
        itself."""
        if name in MAPS and _is_array(value):
            content = _fits(name, value)
            path = self._new(name, ".fits")
            with open(path, "wb") as stream:
                stream.write(content)
            return path
        table = table_of_positions(value, name) if name in ("at", "inject") else None
        if table is not None:
            path = self._new(name, ".ecsv")
            table.write(path, format="ascii.ecsv", overwrite=True)
            return path
        if isinstance(value, (str, os.PathLike)) and name in (*MAPS, "at", "inject", "psf"):
            self._given[os.fsdecode(value)] = name
        return value

    def named(self, message: str) -> str:
        """A message with the names of options in place of the paths of these files, and before
        paths of the user. NumPy has shapes the other way round."""
        for path, name in self._names.items():
            if path in message:
                message = _SIZES.sub(r"the shape (\2, \1), where the image has (\4, \3)", message)
            message = message.replace(path, name)
        for path, name in self._given.items():
            message = re.sub(rf"(^|: )(?={re.escape(path)}: )", rf"\g<1>{name}: ", message, count=1)
        return message


def shown(value: Any) -> str:
    """A value of an option, for people; without the numbers of an array or a table."""
    if hasattr(value, "to_value") and not value.shape:
        return str(value)
    return "<table>" if is_table(value) else "<array>" if _is_array(value) else repr(value)
