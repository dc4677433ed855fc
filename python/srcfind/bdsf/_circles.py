"""Fluxes in circles around positions: PyBDSF's option aperture."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from srcfind.bdsf._rows import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srcfind.bdsf.image import Image

PLACES = {"centroid": "posn_pix_centroid", "peak": "posn_pix_max"}


def circle(img: Image, centre: Sequence[float], radius: float) -> tuple[Any, NDArray[np.bool_]]:
    """A box around a circle in pixels, and whether its pixels are in the circle and not blank."""
    box = tuple(
        slice(max(0, math.ceil(c - radius)), max(0, min(n, math.floor(c + radius) + 1)))
        for c, n in zip(centre, img.ch0_arr.shape)
    )
    x, y = np.ogrid[box]
    inside = (x - centre[0]) ** 2 + (y - centre[1]) ** 2 <= radius**2
    return box, inside & np.isfinite(img.ch0_arr[box])


def flux_in(img: Image, centre: Sequence[float], radius: float) -> tuple[float, float]:
    """The flux in Jy within a circle, less the background, and its error: the sum of the n pixels over
    the beam's area B, and rms sqrt(n / B), as PyBDSF has them. NaN without a pixel."""
    box, inside = circle(img, centre, radius)
    n, area = np.count_nonzero(inside), img.pixel_beamarea()
    if n == 0:
        return math.nan, math.nan
    values = (img.ch0_arr[box] - img.mean_arr[box])[inside]
    rms = float(img.rms_arr[box][inside].mean())
    return (
        img.jansky * float(values.sum(dtype=float)) / area,
        img.jansky * rms * math.sqrt(n / area),
    )


def add_aperture_fluxes(img: Image, sources: list[Source]) -> None:
    """Sets aperture_flux and aperture_fluxE of sources."""
    attribute, radius = PLACES[img.opts.aperture_posn], float(img.opts.aperture)
    for source in sources:
        flux = flux_in(img, getattr(source, attribute), radius)
        source.aperture_flux, source.aperture_fluxE = flux
