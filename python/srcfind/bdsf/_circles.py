"""Circles around positions: PyBDSF's aperture fluxes, and the islands of its option src_ra_dec."""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from srcfind.bdsf._rows import Island, Record, Source, add_extent, island_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srcfind.bdsf.image import Image

PLACES = {"centroid": "posn_pix_centroid", "peak": "posn_pix_max"}


def _circle(img: Image, centre: Sequence[float], radius: float) -> tuple[Any, NDArray[np.bool_]]:
    """A box around a circle in pixels, and whether its pixels are in the circle and not blank."""
    box = tuple(
        slice(max(0, math.ceil(c - radius)), max(0, min(n, math.floor(c + radius) + 1)))
        for c, n in zip(centre, img.ch0_arr.shape)
    )
    x, y = np.ogrid[box]
    inside = (x - centre[0]) ** 2 + (y - centre[1]) ** 2 <= radius**2
    return box, inside & np.isfinite(img.ch0_arr[box])


def _flux(img: Image, centre: Sequence[float], radius: float) -> tuple[float, float]:
    """The flux in Jy within a circle, less the background, and its error: the sum of the n pixels over
    the beam's area B, and rms sqrt(n / B), as PyBDSF has them. NaN without a pixel."""
    box, inside = _circle(img, centre, radius)
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
        flux = _flux(img, getattr(source, attribute), radius)
        source.aperture_flux, source.aperture_fluxE = flux


# --- islands of src_ra_dec: circles with the beam's major axis as radius ---


def _radius(img: Image) -> float:
    return img.beam2pix(img.beam)[0]


def add_island_fluxes(img: Image, rows: Iterable[Record], place: str) -> None:
    """Sets the fluxes of the islands of Gaussians or sources; place is the attribute of the centre."""
    for row in rows:
        flux = _flux(img, getattr(row, place), _radius(img))
        row.total_flux_isl, row.total_flux_islE = flux


def make_circles(img: Image) -> list[Island]:
    """An island for each source."""
    islands = []
    for source in img.sources:
        island = island_of(source)
        island.sources, island.gaul = [source], source.gaussians
        box, inside = _circle(img, source.posn_pix_centroid, _radius(img))
        add_extent(island, box, inside, img.ch0_arr)
        islands.append(island)
    return islands


def circle_ids(img: Image) -> NDArray[np.int32]:
    """The number of each pixel's island, from 0, [x, y]; the last one of several; -1 outside."""
    ids = np.full(img.ch0_arr.shape, -1, np.int32)
    for island in img.islands:
        ids[tuple(island.bbox)][~island.mask_active] = island.island_id
    return ids
