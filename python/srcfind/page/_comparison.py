"""A catalogue beside a reference: offsets of positions and ratios of fluxes, as numbers and
plots."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from srcfind.page._match import matches, offsets, tangents, vectors
from srcfind.page._numbers import measured, short
from srcfind.page._page import Figure, Section, Table
from srcfind.page._plots import (
    BLUE,
    VERMILLION,
    Axis,
    Errors,
    Frame,
    Layer,
    Points,
    Rule,
    axis_over,
    draw,
)
from srcfind.page._read import CatalogueFile, PageError, number
from srcfind.page._reference import Reference, ReferenceOptions, jansky, read_reference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_FRAMES = (("RA", "DEC"), ("GLON", "GLAT"))
# flags of sources that are not compared: cut off, one pixel, negative, not fitted, ...
_UNSURE = 1 | 2 | 32 | 64 | 256 | 512
_ERROR_OF_MEDIAN, _MAD = 1.2533, 1.4826
_SHIFTS, _FAR = 8, 10  # the catalogue is shifted by so many radii, to count matches by chance
_FEW = 5  # least matches for a median in a bin
_BINS = 6
_MOST_BY_CHANCE = 0.05  # of the matches


@dataclass(frozen=True)
class Median:
    """A median, its error, and the scatter of single values (from the median absolute
    deviation)."""

    value: float
    error: float
    scatter: float


def median(values: Array) -> Median:
    """Of values; NaN without any."""
    if not len(values):
        return Median(math.nan, math.nan, math.nan)
    middle = float(np.median(values))
    scatter = _MAD * float(np.median(np.abs(values - middle)))
    return Median(middle, _ERROR_OF_MEDIAN * scatter / math.sqrt(len(values)), scatter)


@dataclass(frozen=True)
class Matches:
    """The matched sources: offsets, catalogue less reference (arcsec east, north); flux ratios,
    catalogue over reference (None without fluxes); S/N; and positions relative to the middle of the
    catalogue (degrees east, north). by_chance: the number of matches that unrelated positions would
    have. ratio_factor: the factor that takes fluxes of the reference to the catalogue's frequency
    (Hz)."""

    n_sources: int
    n_reference: int
    radius: float
    by_chance: float
    offset: Array
    ratio: Array | None
    ratio_factor: float
    frequency: float
    snr: Array
    place: Array


# --- matching ---


def _radius(options: ReferenceOptions, catalogue: CatalogueFile) -> float:
    """The radius of matches in arcsec: as given, else the major axis of the largest beam."""
    if options.radius is not None:
        return options.radius
    beams = [
        beam
        for image in catalogue.images
        for beam in [number(image, "beam", "major_deg")]
        if beam > 0
    ]
    if not beams:
        raise PageError(
            f"{catalogue.path}: the beam is not known: give the radius of matches in arcsec, as --radius 5"
        )
    return 3600 * max(beams)


def _frequency(options: ReferenceOptions, catalogue: CatalogueFile) -> float:
    """The frequency of the catalogue in Hz; NaN if it is not needed."""
    if options.frequency is None:
        return math.nan
    own = options.own_frequency or number(catalogue.image, "frequency_hz")
    if not own > 0:
        raise PageError(
            f"{catalogue.path}: the catalogue does not tell its frequency: give it, as --frequency 1.4GHz"
        )
    return own


def _ratio_factor(options: ReferenceOptions, own: float) -> float:
    """The factor for fluxes of the reference; 1 if no frequency is given."""
    if options.frequency is None or options.spectral_index is None:
        return 1.0
    return float((own / options.frequency) ** options.spectral_index)


def _sources(catalogue: CatalogueFile) -> tuple[Array, Array]:
    """Positions (unit vectors) of the sources that can be compared, and their rows."""
    names = next((names for names in _FRAMES if catalogue.has(*names)), None)
    if names is None:
        raise PageError(
            f"{catalogue.path}: the catalogue has no positions on the sky, which a reference needs"
        )
    lon, lat = (catalogue.reals(name) for name in names)
    flags = np.nan_to_num(catalogue.reals("Flags")).astype(int)
    rows = np.flatnonzero(
        np.isfinite(lon) & np.isfinite(lat) & (np.abs(lat) <= 90) & (flags & _UNSURE == 0)
    )
    if not len(rows):
        raise PageError(
            f"{catalogue.path}: no source can be compared with a reference: all are cut off, or there is none"
        )
    return vectors(lon[rows], lat[rows]), rows


def _by_chance(positions: Array, reference: Array, radius: float) -> float:
    """The mean number of matches after shifts in several directions."""
    east, north = tangents(positions)
    step, total = math.radians(min(_FAR * radius, 90)), 0
    for angle in 2 * np.pi * np.arange(_SHIFTS) / _SHIFTS:
        moved = math.cos(step) * positions + math.sin(step) * (
            math.cos(angle) * east + math.sin(angle) * north
        )
        total += len(matches(moved, reference, radius)[0])
    return total / _SHIFTS


def _own_fluxes(catalogue: CatalogueFile, rows: Array) -> Array | None:
    """Total fluxes in Jy; None if their unit is no unit of flux density."""
    factor = jansky(catalogue.unit("Total_flux")) if catalogue.has("Total_flux") else math.nan
    return catalogue.reals("Total_flux")[rows] * factor if math.isfinite(factor) else None


def match(catalogue: CatalogueFile, reference: Reference, options: ReferenceOptions) -> Matches:
    """Finds the sources that both catalogues have, where the match is certain."""
    positions, rows = _sources(catalogue)
    radius, frequency = _radius(options, catalogue), _frequency(options, catalogue)
    factor = _ratio_factor(options, frequency)
    centre = positions.sum(0) / max(float(np.linalg.norm(positions.sum(0))), 1e-12)
    reach = np.linalg.norm(positions - centre, axis=1).max() + 0.01 * radius
    near = np.linalg.norm(reference.positions - centre, axis=1) <= reach
    others = reference.positions[near]
    i, j = matches(positions, others, radius / 3600)
    own, flux = _own_fluxes(catalogue, rows), reference.flux
    ratio = None if own is None or flux is None else own[i] / (flux[near][j] * factor)
    return Matches(
        len(rows),
        len(others),
        radius,
        _by_chance(positions, others, radius / 3600),
        3600 * offsets(others[j], positions[i]),
        ratio,
        factor,
        frequency,
        catalogue.reals("SNR")[rows][i],
        offsets(np.broadcast_to(centre, (len(i), 3)), positions[i]),
    )


# --- numbers ---


def _with_error(value: Median) -> str:
    return measured(value.value, value.error) or "–"


def ratio_median(found: Matches) -> Median:
    """Of flux ratios: median, error and scatter from their logarithms, so that a ratio and its
    inverse count the same."""
    if found.ratio is None:
        return median(np.zeros(0))
    positive = found.ratio[np.isfinite(found.ratio) & (found.ratio > 0)]
    log = median(np.log(positive))
    return (
        Median(math.exp(log.value), math.exp(log.value) * log.error, log.scatter)
        if len(positive)
        else log
    )


def _summary(found: Matches) -> Table:
    east, north, ratio = median(found.offset[:, 0]), median(found.offset[:, 1]), ratio_median(found)
    rows = [
        ("sources of the catalogue, without those that are cut off", str(found.n_sources)),
        ("rows of the reference in this field", str(found.n_reference)),
        (f"matched within {short(found.radius)} arcsec", str(len(found.offset))),
        ("expected to match by chance", short(found.by_chance, 3)),
        ("offset to the east, RA cos(Dec) (arcsec)", _with_error(east)),
        ("offset to the north (arcsec)", _with_error(north)),
        (
            "scatter of the offsets (arcsec)",
            f"{short(east.scatter, 3)}, {short(north.scatter, 3)}" if len(found.offset) else "–",
        ),
    ]
    if found.ratio is not None:
        rows += [
            ("flux ratio, catalogue / reference", _with_error(ratio)),
            (
                "scatter of the flux ratios",
                f"{100 * ratio.scatter:.3g}%" if math.isfinite(ratio.scatter) else "–",
            ),
        ]
    return Table(("catalogue less reference", "median ± its error"), rows)


def _trend(name: str, values: Array, along: Array, ends: tuple[str, str], unit: str) -> str | None:
    """A sentence if the median differs between the outer thirds. None if it does not, or if there
    are too few matches."""
    if len(along) < 3 * _FEW:
        return None
    low, high = np.percentile(along, (100 / 3, 200 / 3))
    first, last = median(values[along <= low]), median(values[along >= high])
    change, error = last.value - first.value, math.hypot(first.error, last.error)
    if not abs(change) > 4 * error:
        return None
    return f"{name} changes by {measured(change, error)}{unit} from the third {ends[0]} to the third {ends[1]}."


def _trends(found: Matches) -> list[str]:
    place, centre = found.place, np.hypot(*found.place.T)
    sentences = [
        _trend(f"The offset to the {to}", found.offset[:, i], place[:, k], ends, " arcsec")
        for i, to in enumerate(("east", "north"))
        for k, ends in enumerate((("in the west", "in the east"), ("in the south", "in the north")))
    ]
    if found.ratio is not None:
        sentences.append(
            _trend("The flux ratio", found.ratio, centre, ("around the centre", "at the edge"), "")
        )
    return [sentence for sentence in sentences if sentence] or [
        "Neither the offsets nor the ratios change over the image by more than four of their errors."
    ]


# --- plots ---


def _in_bins(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """Medians of y in bins of x with as many values each: the median of x, of y, and its error."""
    order = np.argsort(x[np.isfinite(x)], kind="stable")
    x, y = x[np.isfinite(x)][order], y[np.isfinite(x)][order]
    n = min(_BINS, len(x) // _FEW)
    parts = (
        [
            (float(np.median(part_x)), median(part_y))
            for part_x, part_y in zip(np.array_split(x, n), np.array_split(y, n))
        ]
        if n
        else []
    )
    return (
        np.array([at for at, _ in parts]),
        np.array([of.value for _, of in parts]),
        np.array([of.error for _, of in parts]),
    )


def _table(label: str, along: Array, values: list[tuple[str, Array]]) -> Table:
    """The medians of the bins as numbers."""
    columns = [_in_bins(along, of) for _, of in values]
    rows = [
        (
            short(float(at), 3),
            *(measured(float(middle[i]), float(error[i])) for _, middle, error in columns),
        )
        for i, at in enumerate(columns[0][0])
    ]
    return Table((label, *(name for name, _ in values)), rows)


def _medians(x: Array, y: Array, colour: str, label: str, mark: str = "square") -> list[Any]:
    at, middle, error = _in_bins(x, y)
    return [
        Errors(at, middle - error, middle + error, colour),
        Points(at, middle, label, colour, mark, 7),
    ]


def _offsets_plot(found: Matches) -> Figure:
    east, north = found.offset.T
    middle, reach = np.median(found.offset, axis=0), _reach(found, 8)
    frame = Frame(
        Axis("offset to the east (arcsec)", reach, -reach),
        Axis("offset to the north (arcsec)", -reach, reach),
        340,
        340,
    )
    layers: list[Layer] = [
        Points(east, north, "source"),
        Rule(0),
        Rule(0, vertical=False),
        Points(middle[:1], middle[1:], "median", VERMILLION, "square", 8),
    ]
    return Figure(
        draw(frame, layers, "Offsets of positions"),
        "Catalogue less reference. A cloud beside the middle is an error of the astrometry; points all over "
        "the frame are matches by chance.",
    )


def _reach(found: Matches, scatters: float) -> float:
    """The half-width of an axis of offsets (arcsec): at most the radius."""
    widths = [
        abs(of.value) + scatters * of.scatter
        for of in (median(found.offset[:, 0]), median(found.offset[:, 1]))
    ]
    return min(found.radius, max(*widths, 1e-3))


def _offset_by(found: Matches, along: Array, label: str, log: bool, caption: str) -> Figure:
    reach = _reach(found, 4)
    frame = Frame(axis_over(label, along, log=log), Axis("offset (arcsec)", -reach, reach))
    layers = [
        Points(along, found.offset[:, 0], "", "#a9cfe6", size=3),
        Points(along, found.offset[:, 1], "", "#f2c9ab", size=3),
        Rule(0, vertical=False),
        *_medians(along, found.offset[:, 0], BLUE, "east"),
        *_medians(along, found.offset[:, 1], VERMILLION, "north", "cross"),
    ]
    return Figure(
        draw(frame, layers, f"Offsets against {label}"),
        caption,
        _table(
            label,
            along,
            [("east (arcsec)", found.offset[:, 0]), ("north (arcsec)", found.offset[:, 1])],
        ),
    )


def _ratio_by(ratio: Array, along: Array, label: str, log: bool, caption: str) -> Figure:
    fit = np.isfinite(ratio) & (ratio > 0)
    frame = Frame(
        axis_over(label, along, log=log),
        axis_over(
            "flux ratio", np.append(np.percentile(ratio[fit], (1, 99)), (0.8, 1.25)), log=True
        ),
    )
    layers = [
        Points(along[fit], ratio[fit], "source", "#a9cfe6", size=3),
        Rule(1, vertical=False),
        *_medians(along[fit], ratio[fit], VERMILLION, "median"),
    ]
    return Figure(
        draw(frame, layers, f"Flux ratio against {label}"),
        caption,
        _table(label, along[fit], [("median ratio", ratio[fit])]),
    )


def _figures(found: Matches) -> list[Figure]:
    has_snr = bool(np.isfinite(found.snr).any())
    figures = [
        _offsets_plot(found),
        _offset_by(
            found,
            found.place[:, 0],
            "degrees east of the middle",
            False,
            "Medians with their errors, west to east. A slope is a wrong "
            "scale or a rotation of the coordinates, or a direction-dependent phase error.",
        ),
        _offset_by(
            found,
            found.place[:, 1],
            "degrees north of the middle",
            False,
            "The same, south to north.",
        ),
    ]
    if has_snr:
        figures.append(
            _offset_by(
                found,
                found.snr,
                "S/N",
                True,
                "Offsets scatter less the higher the S/N is; what is left at high S/N is not noise.",
            )
        )
    if found.ratio is not None and (np.isfinite(found.ratio) & (found.ratio > 0)).any():
        figures.append(
            _ratio_by(
                found.ratio,
                np.hypot(*found.place.T),
                "degrees from the middle",
                False,
                "A ratio that falls towards the edge is a primary "
                "beam that was not corrected, or smearing of sources.",
            )
        )
        if has_snr:
            figures.append(
                _ratio_by(
                    found.ratio,
                    found.snr,
                    "S/N",
                    True,
                    "Near the limit of either catalogue ratios are biased: the fainter one has only "
                    "those sources that noise made bright. Read the flux scale at high S/N.",
                )
            )
    return figures


def _no_fluxes(found: Matches, reference: Reference) -> list[str]:
    """The reason why fluxes are not compared, or nothing."""
    if found.ratio is not None:
        return []
    return [
        "Fluxes are not compared: "
        + (
            "no column of the reference has a unit of fluxes. Name one with its unit, as --reference-flux S1.4:mJy."
            if reference.flux is None
            else "those of the catalogue are not in Jy."
        )
    ]


def _chance(found: Matches) -> list[str]:
    """Advice if many matches are by chance."""
    if found.by_chance <= _MOST_BY_CHANCE * len(found.offset):
        return []
    return [
        f"{100 * found.by_chance / len(found.offset):.0f}% of the matches are expected by chance: a radius smaller than {short(found.radius)} arcsec (--radius) "
        "leaves fewer of them."
    ]


def _about_fluxes(found: Matches, reference: Reference, options: ReferenceOptions) -> list[str]:
    if options.frequency is None:
        return [
            f"Fluxes: Total_flux over {reference.flux_name}, as they are; at different frequencies the ratio has the spectral index in it."
        ]
    return [
        f"Fluxes: Total_flux over {reference.flux_name}, which was multiplied by {short(found.ratio_factor)}: from {short(options.frequency / 1e6, 6)} to "
        f"{short(found.frequency / 1e6, 6)} MHz with a spectral index of {short(options.spectral_index or 0)}."
    ]


def reference_section(
    catalogue: CatalogueFile, options: ReferenceOptions
) -> tuple[Section, list[str]]:
    """The section of a page about a reference, and messages about missing parts."""
    reference = read_reference(options, catalogue)
    found = match(catalogue, reference, options)
    title = f"Beside {options.path.name}"
    rule = [
        f"Sources that are within {short(found.radius)} arcsec of each other, and alone within twice that in either catalogue.",
        reference.about_frame,
    ]
    if not len(found.offset):
        missing = [
            "No source matches: do both catalogues cover this field? Is the radius (--radius) too small, or the frame of the reference another one "
            "(--reference-frame)?"
        ]
        section = Section("reference", title, [*rule, *missing], table=_summary(found))
    else:
        missing = [*_no_fluxes(found, reference), *_chance(found)]
        fluxes = [] if found.ratio is None else _about_fluxes(found, reference, options)
        section = Section(
            "reference",
            title,
            [*rule, *missing, *fluxes, *_trends(found)],
            _figures(found),
            _summary(found),
        )
    return section, [f"{options.path}: {words}" for words in missing]
