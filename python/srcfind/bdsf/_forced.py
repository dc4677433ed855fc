"""Amplitudes at given positions, PyBDSF's option src_ra_dec: its islands and its model.

An island is the circle around a position with the beam's major axis as radius. srcfind itself has
neither islands nor a model there.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from srcfind.bdsf._circles import circle, flux_in
from srcfind.bdsf._rows import Island, Record, add_extent, island_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srcfind.bdsf.image import Image

_REACH = 3  # FWHM, beyond which a Gaussian is below 1e-10 of its peak


def _radius(img: Image) -> float:
    return img.beam2pix(img.beam)[0]


def add_island_fluxes(img: Image, rows: Iterable[Record], place: str) -> None:
    """Sets the fluxes of the islands of Gaussians or sources; place is the attribute of the centre."""
    for row in rows:
        flux = flux_in(img, getattr(row, place), _radius(img))
        row.total_flux_isl, row.total_flux_islE = flux


def make_circles(img: Image) -> list[Island]:
    """An island for each source."""
    islands = []
    for source in img.sources:
        island = island_of(source)
        island.sources, island.gaul = [source], source.gaussians
        box, inside = circle(img, source.posn_pix_centroid, _radius(img))
        add_extent(island, box, inside, img.ch0_arr)
        islands.append(island)
    return islands


def circle_ids(img: Image) -> NDArray[np.int32]:
    """The number of each pixel's island, from 0, [x, y]; the last one of several; -1 outside."""
    ids = np.full(img.ch0_arr.shape, -1, np.int32)
    for island in img.islands:
        ids[tuple(island.bbox)][~island.mask_active] = island.island_id
    return ids


def model(img: Image) -> NDArray[np.float32]:
    """The sum of the Gaussians in the map's unit, [x, y]; those on blank pixels have no flux."""
    total = np.zeros(img.ch0_arr.shape)
    for gaussian in img.gaussians:
        if np.isnan(gaussian.peak_flux):
            continue
        x0, y0 = gaussian.centre_pix
        form = np.linalg.inv(img.frame.pixel_covariance(gaussian.size_sky_uncorr))
        box, _ = circle(img, (x0, y0), _REACH * img.beam2pix(gaussian.size_sky)[0])
        x, y = np.ogrid[box]
        x, y = x - x0, y - y0
        squares = form[0, 0] * x**2 + 2 * form[0, 1] * x * y + form[1, 1] * y**2
        total[box] += gaussian.peak_flux / img.jansky * np.exp(-4 * np.log(2) * squares)
    return total.astype(np.float32)
