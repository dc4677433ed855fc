"""The page of a night: the tiles of a report, which of them are odd, and why."""
from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from srcfind.page._catalogues import Sources, find_catalogue, read_sources
from srcfind.page._overlaps import FEWEST, LEAST_SNR, Overlaps, find_overlaps, overlap_outliers
from srcfind.page._page import Figure, Section, Sheet, render, short, write_page
from srcfind.page._plots import VERMILLION, Axis, Frame, Layer, Points, Rule, Steps, axis_over, colour_text, counts_axis, draw
from srcfind.page._read import PageError
from srcfind.page._report import Report, Tile, read_report
from srcfind.page._skymap import Place, draw_map
from srcfind.page._statistics import FEWEST as FEWEST_TILES
from srcfind.page._statistics import Outlier, centres_of, groups_of, neighbours_of, outliers, unit_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srcfind.page._read import Cell

_LISTED = 100  # odd tiles and failed ones with their reasons above the table
_USUAL, _SKIPPED = "#cfe3f2", "#ffffff"
_BINS = 40


class Night:
    """What is known of the tiles of a report, from it and from their catalogues."""

    def __init__(self, report: Report) -> None:
        self.report, self.tiles = report, report.tiles
        self.centres = centres_of(self.tiles)
        self.neighbours = neighbours_of(self.centres, groups_of(self.tiles))
        self.catalogues = {i: path for i, tile in enumerate(self.tiles)
                           for path in [find_catalogue(report, tile)] if tile.is_done and path is not None}

    @cached_property
    def sources(self) -> dict[int, Sources]:
        """Those of each tile whose catalogue can be read."""
        found = {i: read_sources(path) for i, path in self.catalogues.items()}
        return {i: sources for i, sources in found.items() if sources is not None}

    @cached_property
    def blank(self) -> NDArray[Any]:
        """The share of blank pixels; NaN where it is not known."""
        return np.array([self.sources[i].blank if i in self.sources else np.nan for i in range(len(self.tiles))], float)

    @cached_property
    def overlaps(self) -> Overlaps:
        return find_overlaps(self.tiles, self.sources, self.centres, self.neighbours)

    @cached_property
    def outliers(self) -> list[Outlier]:
        """The odd ones with their reasons, the oddest tile first."""
        found = outliers(self.tiles, self.blank, self.centres, self.neighbours) + overlap_outliers(self.tiles, self.overlaps)
        most: dict[int, float] = {}
        for outlier in found:
            most[outlier.tile] = max(most.get(outlier.tile, 0), outlier.significance)
        return sorted(found, key=lambda outlier: (-most[outlier.tile], outlier.tile, -outlier.significance))

    @cached_property
    def reasons(self) -> dict[int, list[str]]:
        """Of each odd tile, the oddest one first."""
        reasons: dict[int, list[str]] = {}
        for outlier in self.outliers:
            reasons.setdefault(outlier.tile, []).append(outlier.reason)
        return reasons

    def numbers(self, column: str) -> NDArray[Any]:
        """A column of the report, of the tiles that were searched."""
        return np.array([tile.number(column) if tile.is_done else np.nan for tile in self.tiles], float)


def shown(text: str) -> str:
    """A text of a report for people: bytes that are no UTF-8 become question marks in diamonds."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


# --- links to the pages of tiles ---

def page_beside(catalogue: Path) -> Path | None:
    """The page of a catalogue; None for a format of which there is none."""
    return catalogue.with_suffix(".html") if catalogue.suffix == ".json" else None


def _write_tiles(night: Night, tile_page: Callable[[Path, Path], Any]) -> list[str]:
    """Writes the pages of all tiles with a catalogue as JSON, and returns the messages about those that failed."""
    failures = []
    for catalogue in night.catalogues.values():
        beside = page_beside(catalogue)
        try:
            if beside is not None:
                tile_page(catalogue, beside)
        except PageError as error:
            failures.append(str(error))
    return failures


def _links(night: Night, page: Path) -> list[str]:
    """Where the page of each tile is, from that of the night; "" where there is none."""
    links = [""] * len(night.tiles)
    for i, catalogue in night.catalogues.items():
        beside = page_beside(catalogue)
        if beside is not None and beside.is_file() and beside.resolve() != page.resolve():
            links[i] = quote(os.fsencode(os.path.relpath(beside.resolve(), page.resolve().parent)))
    return links


# --- the head ---

def _facts(night: Night) -> list[tuple[str, str]]:
    status = Counter(tile.text("status") for tile in night.tiles)
    rms, sources, seconds = (night.numbers(name) for name in ("rms_median", "sources", "seconds"))
    facts = [("Tiles", f"{len(night.tiles)}: " + ", ".join(f"{n} {shown(name)}" for name, n in status.most_common(4))),
             ("Odd tiles", str(len(night.reasons)))]
    if np.isfinite(sources).any():
        facts.append(("Sources", f"{np.nansum(sources):.0f}, {np.nanmedian(sources):.0f} in a usual tile"))
    if np.isfinite(rms).any():
        facts.append(("Median rms", f"{short(float(np.nanmedian(rms)))} {shown(unit_of(night.tiles))}"))
    if np.isfinite(seconds).any():
        facts.append(("Time", f"{short(float(np.nansum(seconds)))} s in all, {short(float(np.nanmedian(seconds)))} s for a usual tile"))
    versions = sorted({tile.text("version") for tile in night.tiles if tile.text("version")})
    return facts + [("Version", "srcfind " + ", ".join(map(shown, versions[:4])))] if versions else facts


def _notes(night: Night) -> list[str]:
    """What the page does not show, and how to have it."""
    done = [i for i, tile in enumerate(night.tiles) if tile.is_done]
    notes = []
    if night.report.missing:
        notes.append(f"The report lacks the columns {', '.join(night.report.missing)}: search again with a newer srcfind for all that this page can show.")
    n_off = sum(night.tiles[i].corners is None for i in done)
    if n_off and "footprint" not in night.report.missing:
        notes.append(f"{n_off} of {len(done)} tiles that were searched have no footprint, as of an image without sky coordinates: they are in the table, "
                     "not in the map, and are compared with all tiles, not with their neighbours.")
    n_read = sum(i in night.sources for i in done)
    if n_read < len(done):
        notes.append(f"The catalogues of {len(done) - n_read} of {len(done)} tiles were not found, or have no columns RA, DEC and Total_flux: these tiles are not "
                     "compared where they overlap. Run srcfind-page in the directory where srcfind ran, or keep the report beside the catalogues.")
    if len({tile.text("options") for tile in night.tiles if tile.is_done}) > 1:
        notes.append("The tiles were not all searched with the same options: figures may differ for that reason alone.")
    if 0 < len(done) < FEWEST_TILES:
        notes.append(f"There are fewer than {FEWEST_TILES} tiles: too few to tell which figures are usual.")
    return notes


# --- the map ---

def _fractions(values: NDArray[Any]) -> tuple[NDArray[Any], float, float]:
    """Values from 0 to 1 along colours, on a logarithmic scale between their 1st and 99th percentile, and these."""
    positive = values[np.isfinite(values) & (values > 0)]
    if not len(positive):
        return np.full(len(values), np.nan), 0.0, 0.0
    low, high = (float(value) for value in np.percentile(positive, (1, 99)))
    if high <= low:
        return np.where(np.isfinite(values), 0.5, np.nan), low, high
    logs = np.log(np.maximum(values, low / 10))
    return np.clip((logs - math.log(low)) / math.log(high / low), 0, 1), low, high


def _colour(fraction: float) -> str:
    return colour_text(fraction) if math.isfinite(fraction) else "#ffffff"


def _status_colour(night: Night, i: int) -> str:
    return VERMILLION if i in night.reasons else _USUAL if night.tiles[i].is_done else _SKIPPED


def _describe(night: Night, i: int) -> str:
    """A tile in a few words."""
    tile = night.tiles[i]
    unit = f" {tile.text('unit')}" if tile.text("unit") else ""
    known = [(tile.text("status"), tile.text("status")), (tile.text("sources"), f"{tile.text('sources')} sources"),
             (tile.text("rms_median"), f"rms {short(tile.number('rms_median'))}{unit}"), (tile.text("seconds"), f"{tile.text('seconds')} s")]
    return shown("; ".join([f"{tile.name}: " + ", ".join(words for value, words in known if value), *night.reasons.get(i, [])]))


def _map(night: Night, links: list[str]) -> dict[str, Any] | None:
    """The map, and what the ways of colouring are: their name and the least and greatest value."""
    there = [i for i, tile in enumerate(night.tiles) if tile.corners is not None]
    if not there:
        return None
    rms, rms_low, rms_high = _fractions(night.numbers("rms_median"))
    counts, least, most = _fractions(night.numbers("sources"))
    places = []
    for i in there:
        corners = night.tiles[i].corners
        assert corners is not None
        places.append(Place(corners, _describe(night, i), links[i], i in night.reasons,
                            {"status": _status_colour(night, i), "rms": _colour(rms[i]), "sources": _colour(counts[i])}))
    return {"svg": draw_map(places, there, "Map of the tiles"), "rms": (short(rms_low, 3), short(rms_high, 3), shown(unit_of(night.tiles))),
            "sources": (short(least, 3), short(most, 3)), "ramp": [colour_text(i / 12) for i in range(13)]}


# --- plots ---

def _edges(values: NDArray[Any], log: bool) -> NDArray[Any]:
    """Edges of bins; of whole numbers each bin has as many."""
    if not log and (values == np.round(values)).all():
        step = max(1, math.ceil((values.max() - values.min() + 1) / _BINS))
        return np.arange(values.min() - 0.5, values.max() + step + 0.5, step)
    axis = axis_over("", values, log=log)
    return np.geomspace(axis.low, axis.high, _BINS + 1) if log else np.linspace(axis.low, axis.high, _BINS + 1)


def _histogram(values: NDArray[Any], label: str, log: bool, caption: str) -> Figure | None:
    """Tiles by a figure; None where fewer than two have it."""
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if len(values) < 2:
        return None
    edges = _edges(values, log)
    counts, _ = np.histogram(values, edges)
    frame = Frame(Axis(label, float(edges[0]), float(edges[-1]), log), counts_axis("tiles", counts))
    layers: list[Layer] = [Steps(edges, counts), Rule(float(np.median(values)), "median")]
    return Figure(draw(frame, layers, f"Histogram: {label}"), caption)


def _distributions(night: Night) -> Section:
    unit = shown(unit_of(night.tiles))
    figures = [
        _histogram(night.numbers("rms_median"), f"rms ({unit})" if unit else "rms", True,
                   "The noise of the tiles. A tail to the right is usual at the edge of a survey; a second peak is not."),
        _histogram(night.numbers("sources"), "sources in a tile", False,
                   "Fewer sources are found where noise is high or pixels are blank; many more where there are artefacts, or a plane of the Galaxy."),
        _histogram(night.numbers("seconds"), "seconds for a tile", True,
                   "From the file to the catalogue. Slow tiles are large, or full of sources; or a disk was slow."),
        _histogram(100 * night.blank, "blank pixels (%)", False, "Blank pixels, from the catalogues.") if np.nanmax(night.blank, initial=0) > 0 else None]
    return Section("distributions", "Distributions", figures=[figure for figure in figures if figure])


def _offsets_plot(night: Night, is_odd: NDArray[Any]) -> Figure:
    east, north = (np.array([getattr(pair, name) for pair in night.overlaps.pairs]) for name in ("east", "north"))
    reach = max(float(np.abs([east, north]).max()) * 1.1, 1e-3)
    frame = Frame(Axis("offset to the east (arcsec)", reach, -reach), Axis("offset to the north (arcsec)", -reach, reach), 340, 340)
    layers: list[Layer] = [Points(east[~is_odd], north[~is_odd], "pair of tiles"), Points(east[is_odd], north[is_odd], "with an odd tile", VERMILLION, "cross"),
              Rule(0), Rule(0, vertical=False)]
    return Figure(draw(frame, layers, "Offsets of positions in overlaps"),
                  "A point for each pair of tiles that overlap: the median offset of the positions in one from those in the other. They should be around 0; "
                  "a tile with a wrong astrometry is a group of points away from it.")


def _ratio_plot(night: Night, is_odd: NDArray[Any]) -> Figure:
    n, ratio = (np.array([getattr(pair, name) for pair in night.overlaps.pairs], float) for name in ("n", "ratio"))
    frame = Frame(axis_over("sources in common", n, log=True), axis_over("flux ratio", np.append(ratio, [0.9, 1.1]), log=True), 420, 340)
    layers: list[Layer] = [Points(n[~is_odd], ratio[~is_odd], "pair of tiles"), Points(n[is_odd], ratio[is_odd], "with an odd tile", VERMILLION, "cross"),
              Rule(1, vertical=False)]
    return Figure(draw(frame, layers, "Flux ratios in overlaps"),
                  "The median ratio of Total_flux in two tiles that overlap. It comes nearer to 1 the more sources tell; a pair with many sources and another ratio "
                  "has a tile whose flux scale is off, or which has no correction for the primary beam.")


def _overlap_section(night: Night) -> Section:
    overlaps = night.overlaps
    rule = (f"Sources of two neighbours are the same if they are within a beam of each other and have no other source within two beams; their S/N (geometric mean) "
            f"is at least {LEAST_SNR:g}. Pairs of tiles with at least {FEWEST} such sources count.")
    if not overlaps.pairs:
        return Section("overlaps", "Overlaps", [rule, "No pair of tiles has that many."])
    logs = np.log([pair.ratio for pair in overlaps.pairs])
    found = (f"{len(overlaps.pairs)} pairs with {sum(pair.n for pair in overlaps.pairs)} sources ({overlaps.n_few} pairs have fewer). One source scatters by "
             f"{overlaps.position_scatter:.2g} arcsec in each coordinate and by {100 * overlaps.flux_scatter:.2g}% in flux; the medians of the pairs by "
             f"{100 * 1.4826 * float(np.median(np.abs(logs - np.median(logs)))):.2g}% in flux.")
    odd = {outlier.tile for outlier in night.outliers if outlier.figure in ("positions", "fluxes")}
    is_odd = np.array([pair.first in odd or pair.second in odd for pair in overlaps.pairs])
    return Section("overlaps", "Overlaps", [rule, found], [_offsets_plot(night, is_odd), _ratio_plot(night, is_odd)])


# --- the table ---

_COLUMNS = (  # of the report, beside the tile and its reasons: name, unit, description, whether it is shown from the beginning
    ("status", "", "done, failed or skipped", True), ("sources", "", "number of sources", True), ("rms_median", "", "noise, in the map's unit", True),
    ("unit", "", "the map's unit", False), ("seconds", "s", "from the file to the catalogue", True), ("negative", "", "number of negative sources", False),
    ("background", "", "in the map's unit", False), ("zeros", "", "share of zeros among the pixels that are not blank", False),
    ("beam", "", "axes (arcsec) and position angle (deg)", False), ("plane", "", "the plane that was searched", False),
    ("message", "", "why it failed", True), ("image", "", "the path as it was given", False))


def _cell(text: str) -> Cell:
    """A cell of the report: a number where its text is one."""
    try:
        value = int(text) if text.lstrip("-").isdecimal() and len(text) < 16 else float(text)
    except ValueError:
        return shown(text) or None
    return value if math.isfinite(value) else text


def _sheet(night: Night, links: list[str]) -> Sheet:
    there = [column for column in _COLUMNS if any(tile.text(column[0]) for tile in night.tiles)]
    columns = [{"name": "tile", "unit": "", "description": "the file's name", "shown": True},
               {"name": "odd", "unit": "", "description": "why it is odd", "shown": True}]
    columns += [{"name": name, "unit": unit, "description": words, "shown": is_shown} for name, unit, words, is_shown in there]
    columns.append({"name": "blank", "unit": "", "description": "share of blank pixels", "shown": False})
    rows: list[list[Cell]] = []
    for i, tile in enumerate(night.tiles):
        blank = float(night.blank[i])
        rows.append([shown(tile.name), shown("; ".join(night.reasons.get(i, []))) or None, *(_cell(tile.text(name)) for name, *_ in there),
                     round(blank, 4) if math.isfinite(blank) else None])
    return Sheet("tiles", columns, rows, [link or None for link in links])


# --- the page ---

def _odd_tiles(night: Night, links: list[str], status: str) -> list[dict[str, Any]]:
    """The odd tiles of a status, the oddest first."""
    return [{"name": shown(night.tiles[i].name), "link": links[i], "reasons": [shown(reason) for reason in reasons], "number": i,
             "is_mapped": night.tiles[i].corners is not None}
            for i, reasons in night.reasons.items() if night.tiles[i].text("status") == status][:_LISTED]


def write_night_page(report: Path, page: Path, tile_page: Callable[[Path, Path], Any] | None = None) -> list[str]:
    """Writes the page of a report. tile_page is called with the catalogue of each tile and the page that stands beside it, and writes
    that; returns what it could not write."""
    night = Night(read_report(report))
    failures = _write_tiles(night, tile_page) if tile_page else []
    links = _links(night, page)
    odd, failed = (_odd_tiles(night, links, status) for status in ("done", "failed"))
    write_page(page, render(
        "night.html", title=shown(f"The night of {report.name}"), subtitle=shown(str(report)), version=metadata.version("srcfind"), facts=_facts(night),
        notes=_notes(night), odd=odd, failed=failed, n_more=len(night.reasons) - len(odd) - len(failed), map=_map(night, links), sheet=_sheet(night, links),
        sections=[_distributions(night), _overlap_section(night)]))
    return failures
