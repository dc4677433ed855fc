"""Options that are Quantities of astropy: plain numbers of them, as the library takes options."""
from __future__ import annotations

import os
import re
from typing import Any

from srcfind._calls import OptionError
from srcfind._hdus import choose_hdu, is_hdu, is_hdu_list

#: Units of options. Of a tuple with more numbers, the others have the last one.
_UNITS = {
    "beam": ("arcsec", "arcsec", "deg"),
    "flux_error": ("percent",),
    "rms_box": ("pix",),
    "mask_dilate": ("pix",),
}
#: Options in the unit of the map, which an image has.
_OF_MAPS = ("rms", "background", "blank")


def is_quantity(value: Any) -> bool:
    """Whether a value is a Quantity, or a tuple with some."""
    return hasattr(value, "to_value") or (
        isinstance(value, (tuple, list)) and any(hasattr(item, "to_value") for item in value)
    )


def is_of_map(name: str, value: Any) -> bool:
    """Whether an option is a Quantity in the unit of the map."""
    return name in _OF_MAPS and is_quantity(value)


def plain(name: str, value: Any) -> Any:
    """A value of an option without units."""
    if not is_quantity(value):
        return value
    if name not in _UNITS:
        raise TypeError(f"{name}: a plain number, not a Quantity: give quantity.value")
    units, single = _UNITS[name], hasattr(value, "to_value") and not value.shape
    items = [value] if single else list(value)
    values = [
        float(item.to_value(units[min(i, len(units) - 1)])) if hasattr(item, "to_value") else item
        for i, item in enumerate(items)
    ]
    if name in ("rms_box", "mask_dilate"):
        values = [int(item) if item == int(item) else item for item in values]
    return values[0] if single else tuple(values)


# --- in the unit of the map ---


def _unit_text(image: Any, header: Any, hdu: str) -> str:
    """The unit of an image as its header has it; "" if there is none."""
    if isinstance(image, (str, bytes, os.PathLike)):
        from astropy.io import fits

        with fits.open(os.fsdecode(image)) as hdus:
            return str(choose_hdu(hdus, hdu).header.get("BUNIT", ""))
    if is_hdu_list(image):
        image = choose_hdu(image, hdu)
    if header is None and is_hdu(image):
        header = image.header
    unit: Any = getattr(image, "unit", None)
    if hasattr(unit, "to_string"):
        return str(unit.to_string())
    if isinstance(header, str):
        found = re.search(r"BUNIT *= *'([^']*)'", header)
        return found.group(1) if found else ""
    return str(header.get("BUNIT", "")) if header is not None else ""


def in_map_unit(name: str, value: Any, image: Any, header: Any, hdu: str) -> float:
    """A Quantity in the unit of the map. OptionError if the image has no unit, or another kind of
    unit."""
    from astropy import units

    told = _unit_text(image, header, hdu).strip()
    spelled = re.sub("(?i)jy", "Jy", re.sub("(?i)beam", "beam", told))
    try:
        return float(value.to_value(units.Unit(spelled)))
    except (TypeError, ValueError, units.UnitConversionError):
        unit = f"the unit {told}" if told else "no unit: give a plain number"
        raise OptionError(f"{name}: {value} for an image with {unit}") from None
