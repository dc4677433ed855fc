"""The plots of a catalogue's page: sizes, fluxes, counts, completeness and reliability."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from srcfind.page._maps import OF_SCALES, RED, scales_of
from srcfind.page._numbers import Scale, angle_scale, flux_scale, measured, short, typical
from srcfind.page._page import Figure, Section, Table
from srcfind.page._plots import (
    BLUE,
    GREEN,
    PURPLE,
    VERMILLION,
    Axis,
    Errors,
    Frame,
    Layer,
    Line,
    Points,
    Rule,
    Steps,
    axis_over,
    counts_axis,
    draw,
)
from srcfind.page._read import (
    ARTEFACT,
    CatalogueFile,
    has_flag,
    is_negative,
    is_number,
    number,
    objects,
    text,
)

Array = NDArray[Any]

_LEAST_COMPLETE = 0.6  # below it, counts are not corrected
_LOOKS = ((BLUE, "round"), (VERMILLION, "square"), (GREEN, "cross"), (PURPLE, "plus"))
_NAMES_OF_WIDTHS: dict[float, str] = {1: "point sources", 0: "sources of a file"}
_MANY = 1000  # more points than this are drawn small
_FEW = 5  # fewer sources are not counted
_STERADIAN = (180 / math.pi) ** 2  # square degrees


def _positive_reals(catalogue: CatalogueFile, *names: str) -> list[Array]:
    """Columns without negative sources."""
    keep = ~is_negative(catalogue)
    return [catalogue.reals(name)[keep] for name in names]


def _cell(value: Any) -> str:
    """A number of the JSON for reading."""
    return short(float(value)) if is_number(value) else "–"


def _with_error(each: dict[str, Any], name: str, error: str) -> str:
    return measured(number(each, name), number(each, error)) or "–"


# --- positive and negative sources ---


def _signs_plot(catalogue: CatalogueFile, name: str) -> Figure:
    real = ~has_flag(catalogue, ARTEFACT)
    snr, negative = np.abs(catalogue.reals(name))[real], is_negative(catalogue)[real]
    axis = axis_over(f"|{name}|", snr, log=True, margin=0.01)
    edges = np.geomspace(axis.low, axis.high, max(9, min(31, int(2 * math.sqrt(len(snr))))))
    above, below = (np.histogram(snr[which], edges)[0] for which in (~negative, negative))
    layers: list[Layer] = [
        Steps(edges, above, f"positive: {int((~negative).sum())}"),
        Steps(
            edges, below, f"negative: {int(negative.sum())}", VERMILLION, filled=False, dashed=True
        ),
    ]
    return Figure(
        draw(
            Frame(axis, counts_axis("sources", np.append(above, below), log=True)),
            layers,
            "S/N of positive and negative sources",
        ),
        "There is no negative emission in total intensity: as many positive sources are false as there are negative ones. Negative "
        "sources at high S/N are artefacts around bright sources.",
    )


def _has_real(catalogue: CatalogueFile, name: str) -> bool:
    """Whether a source that is no artefact has this number."""
    return bool(np.isfinite(catalogue.reals(name)[~has_flag(catalogue, ARTEFACT)]).any())


def _reliability_row(each: dict[str, Any]) -> tuple[str, ...]:
    """The cells of a bin; one without limits is of all sources."""
    low, high = each.get("low"), each.get("high")
    limits = (
        "all"
        if low is None
        else f"from {_cell(low)}"
        if high is None
        else f"{_cell(low)} to {_cell(high)}"
    )
    names = "positive", "negative", "reliability", "artefacts", "negative_artefacts"
    return (limits, *(_cell(each.get(name)) for name in names))


def _all_bins(bins: list[dict[str, Any]]) -> dict[str, Any]:
    """The sums of all bins, and their reliability."""
    names = "positive", "negative", "artefacts", "negative_artefacts"
    sums: dict[str, Any] = {name: sum(number(each, name) for each in bins) for name in names}
    if sums["positive"] > 0:
        sums["reliability"] = max(0, 1 - sums["negative"] / sums["positive"])
    return sums


def reliability_section(catalogue: CatalogueFile) -> Section:
    """S/N of positive and negative sources, and what `reliability` says."""
    bins = objects(catalogue.members, "reliability", "low", "positive", "negative")
    if (
        not bins
        and text(catalogue.members, "options", "negative") != "yes"
        and not is_negative(catalogue).any()
    ):
        return Section(
            "reliability",
            "Reliability",
            [
                "How many sources are false? Search with --negative, which finds those of the negated image, too."
            ],
        )
    rows = [_reliability_row(each) for each in bins]
    if bins:
        rows.append(_reliability_row(_all_bins(bins)))
    name = "Pix_SNR" if catalogue.has("Pix_SNR") else "SNR"
    figures = [_signs_plot(catalogue, name)] if _has_real(catalogue, name) else []
    return Section(
        "reliability",
        "Reliability",
        [
            "Reliability is 1 − negative / positive, in ranges of S/N. Sources that may be artefacts of brighter ones (flag 2048) are "
            "counted apart."
        ],
        figures,
        Table(
            (f"|{name}|", "positive", "negative", "reliability", "artefacts", "negative artefacts"),
            rows,
        )
        if rows
        else None,
    )


# --- completeness and flux bias ---


def _by_width(catalogue: CatalogueFile, kind: str) -> dict[float, list[dict[str, Any]]]:
    """The bins of `completeness` with injected sources, by the width of the sources (beams)."""
    found: dict[float, list[dict[str, Any]]] = {}
    for each in objects(
        catalogue.members.get("completeness"), kind, "width", "low", "high", "injected"
    ):
        if each["injected"] > 0 and 0 < each["low"] < each["high"]:
            found.setdefault(float(each["width"]), []).append(each)
    return found


def _values(bins: list[dict[str, Any]], name: str) -> Array:
    return np.array([number(each, name) for each in bins])


def _middles(bins: list[dict[str, Any]]) -> Array:
    middles: Array = np.sqrt(_values(bins, "low") * _values(bins, "high"))
    return middles


def _scaled(widths: dict[float, list[dict[str, Any]]], factor: float) -> dict[float, list[Any]]:
    """Bins whose edges are in another unit: `factor` of the catalogue's."""
    return {
        width: [dict(each, low=each["low"] / factor, high=each["high"] / factor) for each in bins]
        for width, bins in widths.items()
    }


def _bins_table(widths: dict[float, list[dict[str, Any]]], label: str) -> Table:
    rows = [
        (
            _cell(each["width"]),
            f"{_cell(each['low'])} to {_cell(each['high'])}",
            _cell(each["injected"]),
            _cell(each.get("found")),
            _with_error(each, "completeness", "error"),
            _with_error(each, "flux_ratio", "flux_scatter"),
            _cell(each.get("position_scatter")),
        )
        for bins in widths.values()
        for each in bins
    ]
    return Table(
        (
            "width (beams)",
            label,
            "injected",
            "found",
            "completeness",
            "flux ratio ± its scatter",
            "position scatter (pixels)",
        ),
        rows,
    )


def _layers(widths: dict[float, list[dict[str, Any]]], value: str, error: str) -> list[Layer]:
    """Points with error bars along a line, for each width."""
    layers: list[Layer] = []
    for (width, bins), (colour, mark) in zip(widths.items(), _LOOKS):
        x, y, e = _middles(bins), _values(bins, value), np.nan_to_num(_values(bins, error))
        label = _NAMES_OF_WIDTHS.get(width, f"{width:g} beams wide")
        layers += [
            Line(x, y, colour=colour),
            Errors(x, y - e, y + e, colour),
            Points(x, y, label if len(widths) > 1 else "", colour, mark, 6),
        ]
    return layers


def _edges_axis(label: str, widths: dict[float, list[dict[str, Any]]]) -> Axis:
    ends = [each[end] for bins in widths.values() for each in bins for end in ("low", "high")]
    return axis_over(label, ends, log=True, margin=0.02)


def _completeness_plot(
    widths: dict[float, list[dict[str, Any]]], label: str, caption: str
) -> Figure:
    frame = Frame(_edges_axis(label, widths), Axis("completeness", -0.03, 1.05))
    return Figure(
        draw(
            frame,
            [Rule(1, vertical=False), *_layers(widths, "completeness", "error")],
            f"Completeness by {label}",
        ),
        caption,
        _bins_table(widths, label),
    )


def _bias_plot(widths: dict[float, list[dict[str, Any]]], label: str) -> Figure:
    spread = [
        value
        for bins in widths.values()
        for sign in (-1, 1)
        for value in _values(bins, "flux_ratio")
        + sign * np.nan_to_num(_values(bins, "flux_scatter"))
    ]
    frame = Frame(
        _edges_axis(label, widths),
        axis_over("found / true Total_flux", np.append(np.clip(spread, 0, 3), (0.9, 1.1))),
    )
    return Figure(
        draw(
            frame,
            [Rule(1, vertical=False), *_layers(widths, "flux_ratio", "flux_scatter")],
            "Flux bias",
        ),
        "The median of found over true flux; bars are the scatter of single sources. Near the threshold it is above 1: only those are found "
        "that noise made brighter. Far above it should be 1.",
    )


def _no_completeness(catalogue: CatalogueFile) -> list[str]:
    """Why completeness is not known, and which option measures it."""
    if len(catalogue.images) == 1 and math.isfinite(
        number(catalogue.members, "options", "completeness")
    ):
        return ["No source that --completeness would add had room in this image."]
    words = [
        "Which share of sources is found, and are their fluxes right? Search with --completeness, which adds sources to the image and searches it again."
    ]
    if len(catalogue.images) != 1:
        words.append(
            f"For a merged catalogue --merge writes it to {catalogue.stem.name}.completeness.json, which is not there, or is of another search."
        )
    return words


def completeness_section(catalogue: CatalogueFile) -> Section:
    """The share of injected sources that is found, and their fluxes."""
    by_snr, by_flux = _by_width(catalogue, "snr"), _by_width(catalogue, "flux")
    if not by_snr and not by_flux:
        return Section("completeness", "Completeness", _no_completeness(catalogue))
    injected = sum(each["injected"] for bins in (by_snr or by_flux).values() for each in bins)
    added = f"{injected:g} artificial sources {'' if by_snr else 'with fluxes in these ranges '}were injected."
    usual = typical(catalogue.reals("Total_flux"))  # so that the unit is that of the table
    edges = [each["low"] for bins in by_flux.values() for each in bins]
    scale = flux_scale(
        text(catalogue.image, "flux_unit"), usual if math.isfinite(usual) else typical(edges)
    )
    by_flux, label = _scaled(by_flux, scale.factor), "true Total_flux"
    label += f" ({scale.unit})" if scale.unit else ""
    figures = []
    if by_snr:
        figures.append(
            _completeness_plot(
                by_snr,
                "true S/N",
                "The share of injected sources that the same search finds, with its error. At the threshold it is "
                "about a half, since noise moves half of the sources below it; less where sources are crowded.",
            )
        )
    if by_flux:
        figures.append(
            _completeness_plot(
                by_flux,
                label,
                f"The share by flux density, for {'the whole image' if len(catalogue.images) == 1 else 'all images'}. It rises slowly where "
                "the rms differs from place to place.",
            )
        )
    return Section(
        "completeness",
        "Completeness and flux bias",
        [added],
        [*figures, _bias_plot(by_snr, "true S/N") if by_snr else _bias_plot(by_flux, label)],
    )


# --- counts ---


def _completeness_at(catalogue: CatalogueFile, flux: Array) -> Array | None:
    """The completeness of point sources of these fluxes; None where it is not known."""
    bins = _by_width(catalogue, "flux").get(1.0, [])
    share = _values(bins, "completeness")
    known = np.isfinite(share)
    if known.sum() < 2:
        return None
    order = np.argsort(_middles(bins)[known])
    at: Array = np.interp(np.log(flux), np.log(_middles(bins)[known][order]), share[known][order])
    return at


def _area(catalogue: CatalogueFile) -> float:
    """The sky that was searched, in square degrees; NaN where it is not known."""
    background = catalogue.members.get("background")
    return number(catalogue.image, "pixel_area_deg2") * (
        number(background, "n_pixels") - number(background, "n_blank")
    )


def _cumulative_plot(flux: Array, weights: Array | None, area: float, label: str) -> Figure:
    """N(>S), found and corrected."""
    order = np.argsort(flux)[::-1]
    has_area = math.isfinite(area) and area > 0
    scale = 1 / area if has_area else 1.0
    found = np.arange(1, len(flux) + 1) * scale
    layers: list[Layer] = [Points(flux[order], found, "found", BLUE, "round", 3.5)]
    axis = found
    if weights is not None:
        corrected = np.cumsum(weights[order]) * scale
        layers.append(
            Line(
                flux[order],
                corrected,
                f"completeness taken out, where it is above {100 * _LEAST_COMPLETE:.0f}%",
                VERMILLION,
            )
        )
        axis = np.append(found, corrected)
    frame = Frame(
        axis_over(label, flux, log=True),
        axis_over("N(>S) per square degree" if has_area else "N(>S)", axis, log=True),
    )
    return Figure(
        draw(frame, layers, "Counts: log N − log S"),
        "The number of sources above a flux density. It becomes flat where sources are missed.",
    )


def _euclidean_plot(flux: Array, weights: Array | None, area: float) -> Figure | None:
    """Differential counts times S^2.5, in Jy^1.5 / sr. A bin has no corrected value if a source in
    it has a weight of NaN."""
    edges = np.geomspace(
        flux.min() / 1.001, flux.max() * 1.001, max(4, min(16, int(math.sqrt(len(flux)))))
    )
    middles, widths, index = (
        np.sqrt(edges[:-1] * edges[1:]),
        np.diff(edges),
        np.digitize(flux, edges) - 1,
    )
    layers: list[Layer] = []
    shown: Array = np.zeros(0)
    for each, name, colour, mark in (
        (np.ones(len(flux)), "found", BLUE, "round"),
        (weights, "completeness taken out", VERMILLION, "square"),
    ):
        if each is None:
            continue
        scale = middles**2.5 / widths / (area / _STERADIAN)
        count = np.bincount(index, each, len(middles)) * scale
        error = np.sqrt(np.bincount(index, each**2, len(middles))) * scale
        layers += [
            Errors(middles, count - error, count + error, colour),
            Points(middles, count, name, colour, mark, 6),
        ]
        shown = np.append(shown, [count, count + error])
    frame = Frame(
        axis_over("Total_flux (Jy)", edges, log=True),
        axis_over("S²·⁵ dN/dS (Jy¹·⁵ sr⁻¹)", shown, log=True),
    )
    return Figure(
        draw(frame, layers, "Euclidean counts"),
        "Counts in bins, times S²·⁵, as papers show them; bars are Poisson errors. One field of few sources scatters "
        "more than they say.",
    )


def counts_section(catalogue: CatalogueFile) -> Section | None:
    """log N − log S; None without fluxes."""
    (flux,) = _positive_reals(catalogue, "Total_flux")
    flux = flux[np.isfinite(flux) & (flux > 0)]
    if not len(flux):
        return None
    if len(flux) < _FEW:
        return Section("counts", "Counts", [f"There are no counts of fewer than {_FEW} sources."])
    unit = catalogue.unit("Total_flux")
    share, area = _completeness_at(catalogue, flux), _area(catalogue)
    complete = None if share is None else share >= _LEAST_COMPLETE
    weights = (
        None
        if share is None or complete is None
        else np.where(complete, 1 / np.maximum(share, _LEAST_COMPLETE), np.nan)
    )
    scale = flux_scale(unit, typical(flux))
    label = f"Total_flux ({scale.unit})" if unit else "Total_flux"
    figures = [_cumulative_plot(flux / scale.factor, weights, area, label)]
    if unit == "Jy" and area > 0 and len(flux) >= 20:
        euclidean = _euclidean_plot(flux, weights, area)
        figures += [euclidean] if euclidean else []
    words = (
        []
        if weights is not None
        else [
            "Sources that are missed are not counted: with --completeness they are taken into account."
        ]
    )
    return Section("counts", "Counts", words, figures)


# --- fluxes and sizes ---


@dataclass(frozen=True)
class _Class:
    """Some of the positive sources, with the look of their points."""

    label: str
    which: NDArray[np.bool_]
    colour: str
    mark: str


def _classes(catalogue: CatalogueFile) -> list[_Class]:
    """The classes of positive sources: by scale, in the colours of the picture, or by the number of
    Gaussians."""
    keep = ~is_negative(catalogue)
    if catalogue.has("Scale"):
        scale, marks = catalogue.reals("Scale")[keep], [mark for _, mark in _LOOKS]
        return [_Class("not smoothed", scale == 0, RED, marks[0])] + [
            _Class(
                f"scale {each:g}",
                scale == each,
                OF_SCALES[i % len(OF_SCALES)],
                marks[(i + 1) % len(marks)],
            )
            for i, each in enumerate(scales_of(catalogue))
        ]
    if catalogue.has("N_Gaus"):
        several = catalogue.reals("N_Gaus")[keep] > 1
        parts = [("one Gaussian", ~several), ("several Gaussians", several)]
    else:
        parts = [("source", np.ones(int(keep.sum()), bool))]
    return [_Class(label, which, *look) for (label, which), look in zip(parts, _LOOKS)]


def _points(catalogue: CatalogueFile, x: Array, y: Array) -> list[Layer]:
    there = np.isfinite(x) & np.isfinite(y)
    size = 5 if len(x) < _MANY else 3
    return [
        Points(x[each.which], y[each.which], each.label, each.colour, each.mark, size)
        for each in _classes(catalogue)
        if (each.which & there).any()
    ]


def _compactness_plot(catalogue: CatalogueFile) -> Figure | None:
    """Total over peak flux against S/N; None where there is no such ratio."""
    if not catalogue.has("Total_flux", "Peak_flux", "SNR") or not math.isfinite(
        number(catalogue.image, "beam", "major_deg")
    ):
        return None
    total, peak, snr = _positive_reals(catalogue, "Total_flux", "Peak_flux", "SNR")
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((peak > 0) & (total > 0), total / peak, np.nan)
    if not np.isfinite(ratio).any():
        return None
    frame = Frame(
        axis_over("SNR", snr, log=True),
        axis_over("Total_flux / Peak_flux", np.append(ratio, (0.8, 1.25)), log=True),
    )
    return Figure(
        draw(
            frame,
            [Rule(1, "a point", vertical=False), *_points(catalogue, snr, ratio)],
            "Total over peak flux against S/N",
        ),
        "Points gather at 1 towards high S/N, resolved sources lie above. A trend at high S/N is a beam that is not that of the image, or smearing.",
    )


def _sizes_plot(catalogue: CatalogueFile) -> Figure | None:
    """FWHM against S/N, with the beam's; None where there are no sizes."""
    if not catalogue.has("Maj", "SNR"):
        return None
    unit = catalogue.unit("Maj")
    maj, snr = _positive_reals(catalogue, "Maj", "SNR")
    scale = angle_scale(typical(maj)) if unit == "deg" else Scale(unit or "pixels")
    maj = maj / scale.factor
    if not (np.isfinite(maj) & (maj > 0)).any():
        return None
    rules: list[Layer] = []
    beam = number(catalogue.image, "beam", "major_deg") / scale.factor
    if unit == "deg" and math.isfinite(beam):
        rules = [Rule(beam, "the beam", vertical=False)]
    frame = Frame(
        axis_over("SNR", snr, log=True),
        axis_over(f"Maj ({scale.unit})", np.append(maj, [beam] if rules else []), log=True),
    )
    return Figure(
        draw(frame, rules + _points(catalogue, snr, maj), "Maj against S/N"),
        "FWHM of the major axis of each source. Points follow the beam; those far below it are noise peaks or artefacts.",
    )


def _residual_plot(catalogue: CatalogueFile) -> Figure | None:
    """The residual of fits, in rms, against S/N; None without a fit."""
    if not catalogue.has("Resid_Isl_rms", "Isl_rms", "SNR"):
        return None
    left, rms, snr = _positive_reals(catalogue, "Resid_Isl_rms", "Isl_rms", "SNR")
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = left / np.where(rms > 0, rms, np.nan)
    if not (np.isfinite(ratio) & (ratio > 0)).any():
        return None
    frame = Frame(
        axis_over("SNR", snr, log=True),
        axis_over("Resid_Isl_rms / Isl_rms", np.append(ratio, (0.8, 2.5)), log=True),
    )
    return Figure(
        draw(
            frame,
            [
                Rule(1, vertical=False),
                Rule(2, "a poor fit", vertical=False),
                *_points(catalogue, snr, ratio),
            ],
            "What fits leave",
        ),
        "The rms of what the fit leaves in each island, over that of the noise. Above 2 the Gaussians do not describe the source; rising with S/N, "
        "the beam or the calibration is not perfect.",
    )


def sources_section(catalogue: CatalogueFile) -> Section | None:
    """Total over peak, sizes and residuals against S/N; None of a fit without any."""
    figures = [
        figure
        for figure in (
            _compactness_plot(catalogue),
            _sizes_plot(catalogue),
            _residual_plot(catalogue),
        )
        if figure
    ]
    words = (
        []
        if catalogue.has("N_Gaus")
        else [
            "Sizes and fluxes are moments of the pixels above the island threshold, which are too small for faint sources: --fit measures "
            "them by Gaussians."
        ]
    )
    return Section("shapes", "Fluxes and sizes", words, figures) if words or figures else None
