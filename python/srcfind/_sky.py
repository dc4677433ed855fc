"""Positions of rows: their columns, and coordinates of astropy."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from srcfind._calls import OptionError

if TYPE_CHECKING:
    from srcfind._catalogue import Catalogue

#: As the library names them, by the frame of the image; the last ones are pixels.
_PAIRS = (
    ("RA", "DEC"),
    ("GLON", "GLAT"),
    ("ELON", "ELAT"),
    ("SLON", "SLAT"),
    ("LON", "LAT"),
    ("Xposn", "Yposn"),
)


def position_columns(catalogue: Catalogue) -> tuple[str, str]:
    """The columns of positions: on the sky, if the image has coordinates, else in pixels."""
    names = [column.name for column in catalogue.columns]
    lon, lat = next((pair for pair in _PAIRS if pair[0] in names), _PAIRS[-1])
    is_empty = lon == "RA" and not catalogue.image.frame  # as of an array without a header
    return _PAIRS[-1] if is_empty else (lon, lat)


def skycoord_of(catalogue: Catalogue) -> Any:
    """A SkyCoord of the rows, in the frame of the image."""
    try:
        from astropy.coordinates import (
            FK4,
            FK5,
            ICRS,
            FK4NoETerms,
            Galactic,
            SkyCoord,
            Supergalactic,
        )
        from astropy.time import Time
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error}. skycoord needs astropy: pip install astropy", name=error.name
        ) from error
    image = catalogue.image
    equinox = image.equinox
    frames = {
        "ICRS": lambda: ICRS(),
        "FK5": lambda: FK5(equinox=Time(equinox, format="jyear")),
        "FK4": lambda: FK4(equinox=Time(equinox, format="byear")),
        "FK4-NO-E": lambda: FK4NoETerms(equinox=Time(equinox, format="byear")),
        "GALACTIC": lambda: Galactic(),
        "SUPERGALACTIC": lambda: Supergalactic(),
    }
    lon, lat = position_columns(catalogue)
    if lon == "Xposn":
        raise OptionError("skycoord: the image, or this table, has no positions on the sky")
    if image.frame not in frames:
        raise OptionError(
            f"skycoord: astropy has no frame {image.frame or 'of an unknown name'}: see the columns {lon} and {lat}"
        )
    array = catalogue.array
    return SkyCoord(array[lon], array[lat], unit="deg", frame=frames[image.frame]())
