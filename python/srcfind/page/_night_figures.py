"""The figures of a night's page: distributions, and comparisons of overlapping tiles."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from srcfind.page._overlaps import FEWEST, LEAST_SNR
from srcfind.page._numbers import noise_scale, short, typical
from srcfind.page._page import Figure, Section
from srcfind.page._plots import (
    VERMILLION,
    Axis,
    Frame,
    Layer,
    Points,
    Rule,
    Steps,
    axis_over,
    counts_axis,
    draw,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srcfind.page._nights import Night

_BINS = 40


def _edges(values: NDArray[Any], log: bool) -> NDArray[Any]:
    """Edges of bins. For whole numbers, each bin has the same number of them."""
    if not log and (values == np.round(values)).all():
        step = max(1, math.ceil((values.max() - values.min() + 1) / _BINS))
        return np.arange(values.min() - 0.5, values.max() + step + 0.5, step)
    axis = axis_over("", values, log=log)
    return (
        np.geomspace(axis.low, axis.high, _BINS + 1)
        if log
        else np.linspace(axis.low, axis.high, _BINS + 1)
    )


def _histogram(values: NDArray[Any], label: str, log: bool, caption: str) -> Figure | None:
    """A histogram of tiles by a figure; None if fewer than two tiles have the figure."""
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if len(values) < 2:
        return None
    edges = _edges(values, log)
    counts, _ = np.histogram(values, edges)
    frame = Frame(Axis(label, float(edges[0]), float(edges[-1]), log), counts_axis("tiles", counts))
    layers: list[Layer] = [Steps(edges, counts), Rule(float(np.median(values)), "median")]
    return Figure(draw(frame, layers, f"Histogram: {label}"), caption)


def distributions(night: Night) -> Section:
    rms = night.numbers("rms_median")
    scale = noise_scale(night.unit, typical(rms))
    figures = [
        _histogram(
            rms / scale.factor,
            f"rms ({scale.unit})" if scale.unit else "rms",
            True,
            "The noise of the tiles. A tail to the right is usual at the edge of a survey; a second peak is not.",
        ),
        _histogram(
            night.numbers("sources"),
            "sources in a tile",
            False,
            "Fewer sources are found where noise is high or pixels are blank; many more where there are artefacts, or a plane of the Galaxy.",
        ),
        _histogram(
            night.numbers("seconds"),
            "seconds for a tile",
            True,
            "From the file to the catalogue. Slow tiles are large, or full of sources; or a disk was slow.",
        ),
        _histogram(
            100 * night.blank, "blank pixels (%)", False, "Blank pixels, from the catalogues."
        )
        if np.nanmax(night.blank, initial=0) > 0
        else None,
    ]
    return Section(
        "distributions", "Distributions", figures=[figure for figure in figures if figure]
    )


def _offsets_plot(night: Night, is_odd: NDArray[Any]) -> Figure:
    east, north = (
        np.array([getattr(pair, name) for pair in night.overlaps.sure])
        for name in ("east", "north")
    )
    reach = max(float(np.abs([east, north]).max()) * 1.1, 1e-3)
    frame = Frame(
        Axis("offset to the east (arcsec)", reach, -reach),
        Axis("offset to the north (arcsec)", -reach, reach),
        340,
        340,
    )
    layers: list[Layer] = [
        Points(east[~is_odd], north[~is_odd], "pair of tiles"),
        Points(east[is_odd], north[is_odd], "with an odd tile", VERMILLION, "cross"),
        Rule(0),
        Rule(0, vertical=False),
    ]
    return Figure(
        draw(frame, layers, "Offsets of positions in overlaps"),
        "A point for each pair of tiles that overlap: the median offset of the positions in one from those in the other. They should be around 0; "
        "a tile with a wrong astrometry is a group of points away from it.",
    )


def _ratio_plot(night: Night, is_odd: NDArray[Any]) -> Figure:
    n, ratio = (
        np.array([getattr(pair, name) for pair in night.overlaps.sure], float)
        for name in ("n", "ratio")
    )
    frame = Frame(
        axis_over("sources in common", n, log=True),
        axis_over("flux ratio", np.append(ratio, [0.9, 1.1]), log=True),
        420,
        340,
    )
    layers: list[Layer] = [
        Points(n[~is_odd], ratio[~is_odd], "pair of tiles"),
        Points(n[is_odd], ratio[is_odd], "with an odd tile", VERMILLION, "cross"),
        Rule(1, vertical=False),
    ]
    return Figure(
        draw(frame, layers, "Flux ratios in overlaps"),
        "The median ratio of Total_flux in two tiles that overlap. It comes nearer to 1 the more sources tell; a pair with many sources and another ratio "
        "has a tile whose flux scale is off, or which has no correction for the primary beam.",
    )


def overlap_section(night: Night) -> Section:
    overlaps, sure = night.overlaps, night.overlaps.sure
    rule = (
        f"Sources of two neighbours are the same if they are within a beam of each other and have no other source within two beams; their S/N (geometric mean) "
        f"is at least {LEAST_SNR:g}. The plots have the pairs of tiles with at least {FEWEST} such sources."
    )
    if not sure:
        return Section("overlaps", "Overlaps", [rule, "No pair has that many."])
    found = (
        f"{len(sure)} of {len(overlaps.pairs)} pairs have that many. Positions of single sources scatter by {short(overlaps.position_scatter, 2)} arcsec in each coordinate, "
        f"fluxes by {short(100 * overlaps.flux_scatter, 2)}%."
    )
    odd = {outlier.tile for outlier in night.outliers if outlier.figure in ("positions", "fluxes")}
    is_odd = np.array([pair.first in odd or pair.second in odd for pair in sure])
    return Section(
        "overlaps",
        "Overlaps",
        [rule, found],
        [_offsets_plot(night, is_odd), _ratio_plot(night, is_odd)],
    )
