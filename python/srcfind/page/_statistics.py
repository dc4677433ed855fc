"""Outliers among the tiles of a night: tiles that differ from their neighbours, or from all tiles,
by many robust scatters.

A night has gradients: the noise rises towards the edge of a survey, or with the zenith angle.
Therefore a parabola through the values of all tiles is subtracted, and each tile is compared with
the plane through the values of the nearest tiles. Both are fits of least absolute deviations, so
that a few odd tiles do not change them. The unit is the scatter of all tiles around such planes. It
has a floor: smaller differences do not matter.
"""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from srcfind.page._match import offsets, vectors
from srcfind.page._numbers import noise_text, short

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srcfind.page._report import Tile

    Array = NDArray[Any]

# in scatters: among 200 tiles with ten figures, less than one exceeds it by chance, even with wide
# tails
LIMIT = 5.0
NEIGHBOURS = 12  # of a tile, at most
_ENOUGH = 6  # the fewest neighbours for a plane
_MANY = 30  # the fewest tiles for a parabola
FEWEST = 8  # the fewest tiles for a scatter
_MAD = 1.4826  # of a Gaussian: standard deviation over median absolute deviation
_ROUNDS = 12  # of the fit
_BLOCK = 512  # for so many tiles at once, the distances to all others are in memory


@dataclass(frozen=True)
class Outlier:
    """A tile (its index), the figure that is odd, by how many scatters, and the reason in words."""

    tile: int
    figure: str
    significance: float
    reason: str


# --- neighbours ---


def centres_of(tiles: list[Tile]) -> Array:
    """Unit vectors of the middles of the footprints; NaN where there is none."""
    centres = np.full((len(tiles), 3), np.nan)
    for i, tile in enumerate(tiles):
        corners = tile.corners
        if corners is not None:
            middle = vectors(corners[:, 0], corners[:, 1]).sum(0)
            centres[i] = middle / max(float(np.linalg.norm(middle)), 1e-12)
    return centres


def neighbours_of(centres: Array, groups: Array) -> Array:
    """Indices of the nearest tiles of the same group: a row for each tile, the nearest first,
    filled with -1."""
    found = np.full((len(centres), NEIGHBOURS), -1)
    for group in np.unique(groups):
        members = np.flatnonzero((groups == group) & np.isfinite(centres[:, 0]))
        k = min(NEIGHBOURS, len(members) - 1)
        for start in range(0, len(members), _BLOCK) if k > 0 else ():
            block = members[start : start + _BLOCK]
            closeness = centres[block] @ centres[members].T
            closeness[np.arange(len(block)), np.arange(start, start + len(block))] = -2  # itself
            order = np.argsort(-closeness, axis=1, kind="stable")[:, :k]
            found[block, :k] = members[order]
    return found


def groups_of(tiles: list[Tile]) -> Array:
    """A group (number) for each tile: tiles of one plane, if there are enough of them."""
    planes = [tile.text("plane") for tile in tiles]
    enough = {plane for plane, n in Counter(planes).items() if n >= FEWEST}
    numbers = {plane: i for i, plane in enumerate(sorted(enough))}
    return np.array([numbers.get(plane, -1) for plane in planes], int)


# --- scatter ---


def scatter_of(values: Array) -> float:
    """The robust standard deviation around 0; 0 where there are no values."""
    finite = np.abs(values[np.isfinite(values)])
    return _MAD * float(np.median(finite)) if len(finite) else 0.0


def _robust_fit(x: Array, y: Array, floor: float) -> Array:
    """The coefficients c of y = x c by least absolute deviations, found by weights in some rounds.
    Deviations below the floor count alike."""
    weights = np.ones(len(y))
    for _ in range(_ROUNDS):
        fit = np.linalg.lstsq(x * weights[:, None], y * weights, rcond=None)[0]
        weights = 1 / np.sqrt(np.maximum(np.abs(y - x @ fit), floor))
    return np.asarray(fit)


def _trend(values: Array, centres: Array, floor: float) -> Array:
    """The parabola through the values of all tiles, at each of them: of a night whose noise rises
    towards all edges; 0 where there are too few tiles."""
    known = np.isfinite(values) & np.isfinite(centres[:, 0])
    if known.sum() < _MANY:
        return np.zeros(len(values))
    middle = np.nansum(centres, axis=0)
    east, north = np.nan_to_num(
        offsets(middle / max(float(np.linalg.norm(middle)), 1e-12), centres)
    ).T
    east, north = (axis / max(float(np.abs(axis).max()), 1e-12) for axis in (east, north))
    x = np.column_stack([np.ones(len(values)), east, north, east**2, east * north, north**2])
    return np.asarray(x @ _robust_fit(x[known], values[known], floor))


def _planes(values: Array, centres: Array, neighbours: Array, floor: float) -> tuple[Array, Array]:
    """The value at each tile of the plane through its neighbours, and the variance of this value
    relative to that of a tile. NaN if there are too few neighbours."""
    has = (neighbours >= 0) & np.isfinite(values)[neighbours]
    y = np.where(has, values[neighbours], 0)
    x = np.where(has[..., None], offsets(centres[:, None], centres[neighbours]), 0)
    size = np.sqrt((x**2).sum((1, 2)) / np.maximum(has.sum(1), 1))
    x = np.concatenate(
        [np.ones((*has.shape, 1)), x / np.maximum(size, 1e-12)[:, None, None]], axis=2
    )
    weights = has.astype(float)
    damping = np.diag([1e-9, 0.05, 0.05])  # for slopes, if all neighbours are in a line
    for _ in range(_ROUNDS):
        total = np.maximum(weights.sum(1), 1e-9)[:, None, None]
        matrix = np.einsum("tki,tk,tkj->tij", x, weights, x) + total * damping
        fit = np.linalg.solve(matrix, np.einsum("tki,tk,tk->ti", x, weights, y)[..., None])[..., 0]
        weights = has / np.maximum(np.abs(y - np.einsum("tki,ti->tk", x, fit)), floor)
    n = has.sum(1)
    inverse = np.linalg.inv(
        np.einsum("tki,tk,tkj->tij", x, has, x) + np.maximum(n, 1)[:, None, None] * damping
    )
    enough = n >= _ENOUGH
    return np.where(enough, fit[:, 0], np.nan), np.where(enough, inverse[:, 0, 0], np.nan)


def compare(
    values: Array, floor: float, centres: Array | None, neighbours: Array | None
) -> tuple[Array, Array]:
    """The expected value of each tile, and how many scatters its value is above. With too few
    neighbours, the expected value is the median of all tiles. NaN without a value, or with too few
    tiles.
    """
    finite = np.isfinite(values)
    if finite.sum() < FEWEST:
        return np.full(len(values), np.nan), np.full(len(values), np.nan)
    middle = float(np.median(values[finite]))
    expected, width = np.full(len(values), middle), np.full(len(values), math.nan)
    width[:] = max(floor, scatter_of(values - middle))
    if centres is not None and neighbours is not None:
        trend = _trend(values, centres, floor)
        at, variance = _planes(values - trend, centres, neighbours, floor)
        at = at + trend
        local, spread = np.isfinite(at), np.sqrt(1 + variance)
        expected[local] = at[local]
        width[local] = max(floor, scatter_of((values - at) / spread)) * spread[local]
    return expected, (values - expected) / width


# --- figures ---


@dataclass(frozen=True)
class Figure:
    """What is compared: the value of a tile, on a scale on which scatter is even; the floor of the
    scatter, whether neighbours let expect a value, and whether a small one is odd, too; and the
    words for a value and the expected one.
    """

    name: str
    value: Callable[[Tile], float]
    floor: float
    words: Callable[[Tile, float, float], str]
    by_place: bool = True
    both_ways: bool = True


def _log(value: float) -> float:
    return math.log(value) if value > 0 else math.nan


def _counts(n: float) -> float:
    """Anscombe's transform of counts: its scatter is 1 for any mean."""
    return 2 * math.sqrt(n + 0.375) if n >= 0 else math.nan


def _count_words(what: str, column: str) -> Callable[[Tile, float, float], str]:
    def words(tile: Tile, value: float, expected: float) -> str:
        return f"{tile.text(column)} {what}; expected: {max(expected, 0) ** 2 / 4 - 0.375:.0f}"

    return words


def _beam_size(tile: Tile) -> float:
    return _log(math.sqrt(tile.beam[0] * tile.beam[1])) if tile.beam else math.nan


def _background(tile: Tile) -> float:
    rms = tile.number("rms_median")
    return tile.number("background") / rms if rms > 0 else math.nan


FIGURES = (
    Figure(
        "rms",
        lambda tile: _log(tile.number("rms_median")),
        0.06,
        lambda tile, value, expected: f"rms {noise_text(math.exp(value), tile.unit)}: {math.exp(value - expected):.3g} times the expected one",
    ),
    Figure(
        "sources",
        lambda tile: _counts(tile.number("sources")),
        1.0,
        _count_words("sources", "sources"),
    ),
    Figure(
        "negative",
        lambda tile: _counts(tile.number("negative")),
        1.0,
        _count_words("negative sources", "negative"),
        both_ways=False,
    ),
    Figure(
        "beam",
        _beam_size,
        0.05,
        lambda tile, value, expected: f"beam {math.exp(value):.3g} arcsec: {math.exp(value - expected):.3g} times the expected one",
    ),
    Figure(
        "background",
        _background,
        0.2,
        lambda tile, value, expected: f"background {short(value, 3)} rms; expected: {short(expected, 2)}",
    ),
    Figure(
        "zeros",
        lambda tile: tile.number("zeros"),
        0.05,
        lambda tile, value, expected: f"{100 * value:.0f}% of the pixels are 0; expected: {100 * max(expected, 0):.0f}%",
        both_ways=False,
    ),
    Figure(
        "seconds",
        lambda tile: _log(max(tile.number("seconds"), 0.1)),
        0.2,
        lambda tile, value, expected: f"took {tile.text('seconds')} s: {math.exp(value - expected):.3g} times as long as others",
        by_place=False,
        both_ways=False,
    ),
)


def _blank_words(tile: Tile, value: float, expected: float) -> str:
    return f"{100 * value:.0f}% of the pixels are blank; expected: {100 * max(expected, 0):.0f}%"


def _odd(
    figure: Figure, tiles: list[Tile], values: Array, centres: Array, neighbours: Array
) -> list[Outlier]:
    places = (centres, neighbours) if figure.by_place else (None, None)
    expected, significance = compare(values, figure.floor, *places)
    is_odd = significance > LIMIT
    if figure.both_ways:
        is_odd |= significance < -LIMIT
    return [
        Outlier(
            int(i),
            figure.name,
            abs(float(significance[i])),
            figure.words(tiles[i], values[i], expected[i]),
        )
        for i in np.flatnonzero(is_odd)
    ]


def unit_of(tiles: list[Tile]) -> str:
    """The unit of most tiles."""
    units = Counter(tile.unit for tile in tiles if tile.is_done)
    return units.most_common(1)[0][0] if units else ""


def _without_figures(tiles: list[Tile]) -> list[Outlier]:
    """Outliers that need no scatter: tiles that failed, have another unit, or no noise."""
    odd, unit = [], unit_of(tiles)
    for i, tile in enumerate(tiles):
        if tile.text("status") == "failed":
            odd.append(Outlier(i, "status", math.inf, tile.text("message") or "failed"))
        elif tile.is_done and tile.unit != unit:
            odd.append(
                Outlier(
                    i,
                    "unit",
                    math.inf,
                    f"unit {tile.unit or 'not known'}, where most tiles have {unit or 'none'}",
                )
            )
        elif tile.is_done and tile.number("rms_median") == 0:
            odd.append(
                Outlier(i, "rms", math.inf, "rms 0: all pixels that the clip kept have one value")
            )
    return odd


def outliers(tiles: list[Tile], blank: Array, centres: Array, neighbours: Array) -> list[Outlier]:
    """The outliers, by the report and by the share of blank pixels (NaN if it is not known)."""
    found, unit = _without_figures(tiles), unit_of(tiles)
    for figure in FIGURES:
        values = np.array(
            [
                figure.value(tile) if tile.is_done and tile.unit == unit else math.nan
                for tile in tiles
            ],
            float,
        )
        found += _odd(figure, tiles, values, centres, neighbours)
    return found + _odd(
        Figure("blank", lambda tile: math.nan, 0.05, _blank_words, both_ways=False),
        tiles,
        blank,
        centres,
        neighbours,
    )
