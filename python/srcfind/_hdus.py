"""Open FITS files of astropy: chooses the same HDU and plane as a search of the file."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from srcfind._calls import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def is_hdu(image: Any) -> bool:
    """Whether this is an HDU that may have an image. Does not import astropy."""
    fits = sys.modules.get("astropy.io.fits")
    return (
        fits is not None
        and isinstance(image, (fits.PrimaryHDU, fits.ImageHDU, fits.CompImageHDU))
        and not isinstance(image, fits.GroupsHDU)
    )


def is_hdu_list(image: Any) -> bool:
    """Whether this is an open file."""
    fits = sys.modules.get("astropy.io.fits")
    return fits is not None and isinstance(image, fits.HDUList)


def _has_image(hdu: Any) -> bool:
    return is_hdu(hdu) and len(hdu.shape) >= 2


def _is_named(wanted: str, number: int, hdu: Any) -> bool:
    return (
        int(wanted) == number
        if wanted.isdigit()
        else wanted.lower() == str(hdu.header.get("EXTNAME", "")).lower()
    )


def _describe(number: int, hdu: Any) -> str:
    """An HDU in a list of all: `1 SCI (300 x 200)`."""
    size = " x ".join(str(n) for n in reversed(hdu.shape)) if _has_image(hdu) else ""
    what = size or ("no image" if is_hdu(hdu) else "table")
    return " ".join(filter(None, [str(number), str(hdu.header.get("EXTNAME", "")), f"({what})"]))


def choose_hdu(hdus: Any, wanted: str) -> Any:
    """The HDU that the option hdu names; if the option is "", the first HDU with an image of two or
    more axes."""
    named = False
    for number, hdu in enumerate(hdus):
        is_wanted = not wanted or _is_named(wanted, number, hdu)
        if is_wanted and _has_image(hdu):
            return hdu
        named = named or is_wanted
    there_are = ", ".join(_describe(number, hdu) for number, hdu in enumerate(hdus))
    what = (
        "no HDU holds an image of two or more axes"
        if not wanted
        else f"HDU {wanted} is not an image of two or more axes"
        if named
        else f"there is no HDU {wanted}"
    )
    raise InputError(f"{what}; there are: {there_are}")


def choose_plane(hdu: Any, wanted: str) -> NDArray[Any]:
    """The pixels of the plane that the option plane names: a number from 1 for each of the axes 3,
    4, ...; by default 1."""
    if hdu.data is None:
        raise ValueError("this HDU has no pixels")
    data: NDArray[Any] = hdu.data
    given = [int(number) for number in wanted.split(",") if number]
    for axis, (number, length) in enumerate(
        zip(given, [*reversed(data.shape[:-2])] + len(given) * [1]), 3
    ):
        if number > length:
            raise InputError(f"there is no plane {number} on axis {axis}, which has {length}")
    numbers = [*given, *[1] * data.ndim][: max(data.ndim - 2, 0)]
    plane: NDArray[Any] = data[tuple(number - 1 for number in reversed(numbers))]
    return plane
