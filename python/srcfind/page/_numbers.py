"""Numbers for reading: texts of values and their errors, and units that make them short.

All have one kind of minus, and powers of ten as people write them. `flux_scale` and `angle_scale`
choose a unit for many values, so that a column or an axis has one.
"""
from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

MINUS = "−"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


# --- numbers ---


def power(exponent: int) -> str:
    """A power of ten: 10⁻⁶."""
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def _readable(text: str) -> str:
    """A number as Python writes it, as people write it: 1e-07 is 10⁻⁷."""
    digits, _, exponent = text.replace("-", MINUS).partition("e")
    if not exponent:
        return digits
    raised = power(int(exponent.replace(MINUS, "-")))
    return raised if digits == "1" else f"{digits}×{raised}"


def short(value: float, digits: int = 4) -> str:
    """A number of so many digits, or a whole one of up to nine; "" if it is not known."""
    if not math.isfinite(value):
        return ""
    is_whole = 10**digits <= abs(value) < 1e9
    return _readable(f"{value:.0f}" if is_whole else f"{value:.{digits}g}")


def number_text(value: float) -> str:
    """A number of a tick: powers of ten beyond thousands and thousandths."""
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        exponent = math.floor(math.log10(abs(value)) + 1e-9)
        return _readable(f"{value / 10.0 ** exponent:.4g}e{exponent}")
    return _readable(f"{value:.6g}")


def _decimals(error: float) -> int:
    """Digits behind the point for two digits of an error; below 0 for an error of 100 or more."""
    return 1 - math.floor(math.log10(float(f"{error:.1e}")))


def measured(value: float, error: float) -> str:
    """A value with its error, both to two digits of the error: 49.3 ± 2.5. Without an error, 4
    digits of the value."""
    if not math.isfinite(value):
        return ""
    if not (math.isfinite(error) and error > 0):
        return short(value)
    decimals = _decimals(error)
    if abs(decimals) > 9 or abs(value) > 1e9:
        return f"{short(value)} ± {short(error, 2)}"
    texts = (f"{round(each, decimals):.{max(decimals, 0)}f}" for each in (value, error))
    return " ± ".join(texts).replace("-", MINUS)


# --- units ---


@dataclass(frozen=True)
class Scale:
    """A unit for reading: `factor` of the unit of the file are one of it. all: the factors of the
    units of its kind, by their names."""

    unit: str
    factor: float = 1.0
    all: tuple[tuple[str, float], ...] = ()


_FLUX = re.compile(r"([numkMGµμ]?)(Jy|JY|jy)(\s?[/.* ]?[\w/.*^() +-]{0,20})")
_PREFIXES = (("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("µ", 1e-6), ("n", 1e-9))
_OF_PREFIX = {**dict(_PREFIXES), "u": 1e-6, "μ": 1e-6, "G": 1e9}
_ARCSEC = 1 / 3600
# in degrees; from how many on a unit is taken
_ANGLES = (
    ("deg", 1.0, 5.0),
    ("arcmin", 60 * _ARCSEC, 5.0),
    ("arcsec", _ARCSEC, 0.1),
    ("mas", _ARCSEC / 1000, 0.0),
)


def typical(values: ArrayLike) -> float:
    """The median of the sizes of values that are not 0; NaN without any."""
    sizes = np.abs(np.ravel(np.asarray(values, float)))
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    return float(np.median(sizes)) if len(sizes) else math.nan


def jansky_of(unit: str) -> float:
    """How many Jy (in a beam, or another area) are one of a unit; NaN where it has no Jy. MJY may
    be mega or milli, and has none."""
    parts = _FLUX.fullmatch(unit)
    if parts is None or (parts.group(1) == "M" and parts.group(2) == "JY"):
        return math.nan
    return _OF_PREFIX[parts.group(1)]


def flux_scale(unit: str, usual: float) -> Scale:
    """The multiple of Jy (or Jy/beam, ...) in which a usual value, in a unit of this kind, is 1 or
    more; any other unit stays."""
    parts, given = _FLUX.fullmatch(unit), jansky_of(unit)
    if parts is None or not math.isfinite(given):
        return Scale(unit)
    rest = parts.group(3).strip().lower()
    names = tuple((f"{prefix}Jy{rest}", size / given) for prefix, size in _PREFIXES)
    prefixes = _PREFIXES if "sr" in rest else _PREFIXES[2:]
    prefix, size = next(
        ((prefix, size) for prefix, size in prefixes if usual * given >= size * (1 - 1e-9)),
        prefixes[-1] if usual > 0 else ("", 1.0),
    )
    return Scale(f"{prefix}Jy{rest}", size / given, (*names, (f"uJy{rest}", 1e-6 / given)))


def noise_scale(unit: str, rms: float) -> Scale:
    """The unit for noise like a usual one: in mJy/beam, as fluxes are, if it is 0.1 or more."""
    return flux_scale(unit, 10 * rms)


def noise_text(rms: float, unit: str) -> str:
    """The noise with its unit: 0.197 mJy/beam."""
    scale = noise_scale(unit, rms)
    return f"{short(rms / scale.factor, 3)} {scale.unit}".rstrip()


def angle_scale(usual: float) -> Scale:
    """The unit for sizes like a usual one, in degrees: arcsec, or arcmin where it is 5 or more, ..."""
    names = tuple((name, size) for name, size, _ in _ANGLES)
    name, size, _ = next(
        (each for each in _ANGLES if usual >= each[1] * each[2]), _ANGLES[2]  # of NaN, too
    )
    return Scale(name, size, names)
