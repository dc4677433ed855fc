"""Overlapping tiles: compares their positions and fluxes, and finds the tile that differs from its
neighbours."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from srcfind.page._match import lone, nearest, offsets, vectors
from srcfind.page._statistics import LIMIT, Outlier, scatter_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srcfind.page._catalogues import Sources
    from srcfind.page._report import Tile

    Array = NDArray[Any]

# of the sources that are compared: the geometric mean of both, so that neither tile is preferred
LEAST_SNR = 7.0
# sources that a tile has in common with its neighbours, or of a pair that counts by itself
FEWEST = 3
_MEDIAN = 1.2533  # error of a median, in errors of a mean
_RAYLEIGH = 1.1774  # median length of offsets, in standard deviations of each coordinate
_POSITION_FLOOR, _FLUX_FLOOR = 0.02, 0.03  # beams; share of the flux


@dataclass(frozen=True)
class Overlap:
    """Two tiles (indices) with n common sources: the median offset, second tile less first (arcsec
    east, north), and the median flux ratio, second tile over first.
    """

    first: int
    second: int
    n: int
    east: float
    north: float
    ratio: float


@dataclass
class Overlaps:
    """The pairs with sources in common, and the robust scatter of a source's offsets (arcsec) and
    of the logarithm of its flux ratio."""

    pairs: list[Overlap]
    position_scatter: float
    flux_scatter: float

    @property
    def sure(self) -> list[Overlap]:
        """The pairs with enough sources for a median."""
        return [pair for pair in self.pairs if pair.n >= FEWEST]


class _Field:
    """A tile with a catalogue: its sources without near neighbours, and the circle around the
    tile."""

    def __init__(self, tile: Tile, sources: Sources, centre: Array) -> None:
        corners = tile.corners
        assert corners is not None
        self.beam, self.frame, self.centre = tile.beam[0] / 3600, sources.frame, centre
        reach = np.linalg.norm(vectors(corners[:, 0], corners[:, 1]) - centre, axis=1).max()
        self.reach = float(reach)
        alone = lone(sources.positions, 2 * self.beam)
        self.all = sources.positions
        self.positions, self.flux, self.snr = (
            sources.positions[alone],
            sources.flux[alone],
            sources.snr[alone],
        )
        self.alone = alone
        self.number = np.cumsum(alone) - 1

    def within(self, other: _Field) -> Array:
        """Indices of the sources in the circle around another tile."""
        return np.flatnonzero(np.linalg.norm(self.positions - other.centre, axis=1) <= other.reach)


def _compare(a: _Field, b: _Field) -> tuple[Array, Array]:
    """Offsets (arcsec) of the common sources, and the logarithms of their flux ratios."""
    i = a.within(b)
    j, _ = nearest(a.positions[i], b.all, max(a.beam, b.beam))
    sure = j >= 0
    sure[sure] = b.alone[j[sure]]
    i, j = i[sure], b.number[j[sure]]
    bright = a.snr[i] * b.snr[j] >= LEAST_SNR**2
    i, j = i[bright], j[bright]
    return 3600 * offsets(a.positions[i], b.positions[j]), np.log(b.flux[j] / a.flux[i])


def _fields(tiles: list[Tile], sources: dict[int, Sources], centres: Array) -> dict[int, _Field]:
    return {
        i: _Field(tiles[i], found, centres[i])
        for i, found in sources.items()
        if tiles[i].beam and tiles[i].corners is not None and len(found.flux)
    }


def find_overlaps(
    tiles: list[Tile], sources: dict[int, Sources], centres: Array, neighbours: Array
) -> Overlaps:
    """Compares each tile with its neighbours of the same frame and plane."""
    fields = _fields(tiles, sources, centres)
    found: list[Overlap] = []
    rest: list[Array] = [np.zeros((0, 3))]
    for i, j in sorted(
        {
            (min(i, int(j)), max(i, int(j)))
            for i in fields
            for j in neighbours[i]
            if int(j) in fields
        }
    ):
        a, b = fields[i], fields[j]
        if a.frame != b.frame or tiles[i].text("plane") != tiles[j].text("plane"):
            continue
        moved, ratio = _compare(a, b)
        if not len(ratio):
            continue
        (east, north), log = np.median(moved, axis=0), float(np.median(ratio))
        found.append(Overlap(i, j, len(ratio), float(east), float(north), math.exp(log)))
        if len(ratio) >= FEWEST:
            # medians of the same few sources
            widening = math.sqrt(len(ratio) / (len(ratio) - 1))
            rest.append(widening * np.column_stack([moved - (east, north), ratio - log]))
    residual = np.concatenate(rest)
    return Overlaps(found, scatter_of(residual[:, :2]), scatter_of(residual[:, 2]))


# --- which tile is odd ---


def _weighted_median(values: Array, weights: Array) -> float:
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(below, below[-1] / 2)])


@dataclass(frozen=True)
class _Standing:
    """A tile among its neighbours: its offset (arcsec) and logarithmic flux ratio relative to most
    of them, the number of common sources, and a row with the same values for each neighbour (by
    index)."""

    offset: Array
    log: float
    n: int
    each: Array
    neighbours: list[int]


def _standings(overlaps: Overlaps) -> dict[int, _Standing]:
    rows: dict[int, list[tuple[float, float, float, int, int]]] = {}
    for pair in overlaps.pairs:
        log = math.log(pair.ratio)
        rows.setdefault(pair.second, []).append((pair.east, pair.north, log, pair.n, pair.first))
        rows.setdefault(pair.first, []).append((-pair.east, -pair.north, -log, pair.n, pair.second))
    standings = {}
    for tile, given in rows.items():
        each = np.array(given, float)
        # so that a neighbour with a wide overlap does not outvote the others
        votes = np.minimum(each[:, 3], FEWEST)
        east, north, log = (_weighted_median(each[:, i], votes) for i in range(3))
        n = int(each[:, 3].sum())
        if n >= FEWEST:
            standings[tile] = _Standing(
                np.array([east, north]), log, n, each, [row[4] for row in given]
            )
    return standings


def _direction(east: float, north: float) -> str:
    return f"{abs(east):.2g} arcsec {'east' if east > 0 else 'west'}, {abs(north):.2g} {'north' if north > 0 else 'south'}"


def _relative_to(tiles: list[Tile], standing: _Standing, agree: Array) -> str:
    if len(agree) > 1:
        return f"relative to {int(agree.sum())} of {len(agree)} neighbours"
    return f"relative to {tiles[standing.neighbours[0]].name}, its only neighbour with common sources: one of both is wrong"


def _moved(tiles: list[Tile], tile: int, standing: _Standing, width: float) -> Outlier | None:
    length = float(np.hypot(*standing.offset))
    if length <= LIMIT * width:
        return None
    agree = np.hypot(*(standing.each[:, :2] - standing.offset).T) < length / 2
    if 2 * agree.sum() <= len(agree):
        return None
    return Outlier(
        tile,
        "positions",
        length / width,
        f"positions {length:.2g} arcsec off ({_direction(*standing.offset)}) "
        f"{_relative_to(tiles, standing, agree)}",
    )


def _scaled(tiles: list[Tile], tile: int, standing: _Standing, width: float) -> Outlier | None:
    if abs(standing.log) <= LIMIT * width:
        return None
    agree = np.abs(standing.each[:, 2] - standing.log) < abs(standing.log) / 2
    if 2 * agree.sum() <= len(agree):
        return None
    return Outlier(
        tile,
        "fluxes",
        abs(standing.log) / width,
        f"fluxes {math.exp(standing.log):.3g} times the usual ones {_relative_to(tiles, standing, agree)}",
    )


def overlap_outliers(tiles: list[Tile], overlaps: Overlaps) -> list[Outlier]:
    """Tiles whose positions or fluxes differ from those of most of their neighbours, by many
    scatters of all tiles."""
    standings = _standings(overlaps)
    lengths = np.array([np.hypot(*each.offset) for each in standings.values()])
    usual_length = float(np.median(lengths)) / _RAYLEIGH if len(lengths) else 0.0
    usual_log = scatter_of(np.array([each.log for each in standings.values()]))
    found = []
    for tile, standing in standings.items():
        error = _MEDIAN**2 / math.sqrt(standing.n)
        found += [
            _moved(
                tiles,
                tile,
                standing,
                max(
                    usual_length,
                    error * overlaps.position_scatter,
                    _POSITION_FLOOR * tiles[tile].beam[0],
                ),
            ),
            _scaled(
                tiles, tile, standing, max(usual_log, error * overlaps.flux_scatter, _FLUX_FLOOR)
            ),
        ]
    return [outlier for outlier in found if outlier]
