"""The page of a night: the tiles of a report, which of them are odd, and why."""
from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from srcfind.page._night_figures import distributions, overlap_section
from srcfind.page._nights import Night, shown
from srcfind.page._numbers import noise_scale, noise_text, short, typical
from srcfind.page._page import Sheet, render, write_page
from srcfind.page._plots import VERMILLION, Axis, colour_bar, colour_text
from srcfind.page._read import PageError
from srcfind.page._report import read_report
from srcfind.page._skymap import Place, draw_map
from srcfind.page._statistics import FEWEST as FEWEST_TILES

if TYPE_CHECKING:
    from markupsafe import Markup
    from numpy.typing import NDArray

    from srcfind.page._read import Cell

_LISTED = 100  # at most so many odd and failed tiles stand above the table
_USUAL, _SKIPPED = "#cfe3f2", "#ffffff"


# --- links to the pages of tiles ---


def page_beside(catalogue: Path) -> Path | None:
    """The path of a catalogue's page; None if its format has no pages."""
    return catalogue.with_suffix(".html") if catalogue.suffix == ".json" else None


def _write_tiles(night: Night, tile_page: Callable[[Path, Path], Any]) -> list[str]:
    """Writes the pages of all tiles with a catalogue as JSON, and returns the messages about those
    that failed."""
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
    """Links from the page of the night to the pages of tiles; "" without a page."""
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
    n_failed = sum(night.tiles[i].text("status") == "failed" for i in night.reasons)
    facts = [
        (
            "Tiles",
            ": ".join(
                filter(
                    None,
                    (
                        str(len(night.tiles)),
                        ", ".join(f"{n} {shown(name)}" for name, n in status.most_common(4)),
                    ),
                )
            ),
        ),
        (
            "Odd tiles",
            str(len(night.reasons) - n_failed) + (f", and {n_failed} failed" if n_failed else ""),
        ),
    ]
    if np.isfinite(sources).any():
        facts.append(
            ("Sources", f"{np.nansum(sources):.0f}, {np.nanmedian(sources):.0f} in a usual tile")
        )
    if np.isfinite(rms).any():
        facts.append(("Median rms", noise_text(float(np.nanmedian(rms)), night.unit)))
    if np.isfinite(seconds).any():
        facts.append(
            (
                "Time",
                f"{short(float(np.nansum(seconds)))} s in all, {short(float(np.nanmedian(seconds)))} s for a usual tile",
            )
        )
    versions = sorted({tile.text("version") for tile in night.tiles if tile.text("version")})
    return (
        facts + [("Version", "srcfind " + ", ".join(map(shown, versions[:4])))]
        if versions
        else facts
    )


def _about_rows(night: Night) -> list[str]:
    """Messages about missing and incomplete rows of the report."""
    n_cut = night.report.n_cut
    notes = ["The report has no tiles."] if not night.tiles else []
    if n_cut:
        rows = "1 row of the report has" if n_cut == 1 else f"{n_cut} rows of the report have"
        notes.append(
            f"{rows} not as many cells as its first line, and no tile here: does the batch still run, or was the report cut off?"
        )
    return notes


def _notes(night: Night) -> list[str]:
    """What the page cannot show, and what would be needed."""
    done = [i for i, tile in enumerate(night.tiles) if tile.is_done]
    notes = _about_rows(night)
    if night.report.missing:
        notes.append(
            f"The report lacks the columns {', '.join(night.report.missing)}: search again with a newer srcfind for all that this page can show."
        )
    n_off = sum(night.tiles[i].corners is None for i in done)
    if n_off and "footprint" not in night.report.missing:
        notes.append(
            f"{n_off} of {len(done)} tiles that were searched have no footprint, as of an image without sky coordinates: they are in the table, "
            "not in the map, and are compared with all tiles, not with their neighbours."
        )
    n_read = sum(i in night.sources for i in done)
    if n_read < len(done):
        notes.append(
            f"The catalogues of {len(done) - n_read} of {len(done)} tiles were not found, or have no columns RA, DEC and Total_flux: these tiles are not "
            "compared where they overlap. Run srcfind-page in the directory where srcfind ran, or keep the report beside the catalogues."
        )
    if len({tile.text("options") for tile in night.tiles if tile.is_done}) > 1:
        notes.append(
            "The tiles were not all searched with the same options: figures may differ for that reason alone."
        )
    if 0 < len(done) < FEWEST_TILES:
        notes.append(
            f"There are fewer than {FEWEST_TILES} tiles: too few to tell which figures are usual. A tile is odd here if it failed, has no "
            "noise or another unit, or does not agree with others where they overlap."
        )
    return notes


# --- the map ---


def _fractions(values: NDArray[Any]) -> tuple[NDArray[Any], float, float]:
    """Values as fractions from 0 to 1 of a logarithmic scale between their 1st and 99th percentile;
    and both percentiles."""
    positive = values[np.isfinite(values) & (values > 0)]
    if not len(positive):
        return np.full(len(values), np.nan), 0.0, 0.0
    low, high = (float(value) for value in np.percentile(positive, (1, 99)))
    if high <= low:
        return np.where(np.isfinite(values), 0.5, np.nan), low, high
    logs = np.log(np.maximum(values, low / 10))
    return np.clip((logs - math.log(low)) / math.log(high / low), 0, 1), low, high


def _bar(label: str, low: float, high: float) -> Markup | str:
    """The colours from one value to another, with their ticks; or words where there is one value or
    none."""
    if not 0 < low < high:
        return f"{label}: {short(low, 3) if low > 0 else 'not known'}"
    return colour_bar(Axis(label, low, high, log=True))


def _colour(fraction: float) -> str:
    return colour_text(fraction) if math.isfinite(fraction) else "#ffffff"


def _status_colour(night: Night, i: int) -> str:
    return VERMILLION if i in night.reasons else _USUAL if night.tiles[i].is_done else _SKIPPED


def _describe(night: Night, i: int) -> str:
    """A tile in a few words."""
    tile = night.tiles[i]
    known = [
        (tile.text("status"), tile.text("status")),
        (tile.text("sources"), f"{tile.text('sources')} sources"),
        (tile.text("rms_median"), f"rms {noise_text(tile.number('rms_median'), tile.unit)}"),
        (tile.text("seconds"), f"{tile.text('seconds')} s"),
    ]
    return shown(
        "; ".join(
            [
                f"{tile.name}: " + ", ".join(words for value, words in known if value),
                *night.reasons.get(i, []),
            ]
        )
    )


def _map(night: Night, links: list[str]) -> dict[str, Any] | None:
    """The map, and the ways of colouring: name, least and greatest value of each."""
    there = [i for i, tile in enumerate(night.tiles) if tile.corners is not None]
    if not there:
        return None
    rms, rms_low, rms_high = _fractions(night.numbers("rms_median"))
    counts, least, most = _fractions(night.numbers("sources"))
    scale = noise_scale(night.unit, math.sqrt(rms_low * rms_high))
    places = []
    for i in there:
        corners = night.tiles[i].corners
        assert corners is not None
        places.append(
            Place(
                corners,
                _describe(night, i),
                links[i],
                i in night.reasons,
                {
                    "status": _status_colour(night, i),
                    "rms": _colour(rms[i]),
                    "sources": _colour(counts[i]),
                },
            )
        )
    return {
        "svg": draw_map(places, there, "Map of the tiles"),
        "bars": {
            "rms": _bar(
                f"rms ({scale.unit})" if scale.unit else "rms",
                rms_low / scale.factor,
                rms_high / scale.factor,
            ),
            "sources": _bar("sources", least, most),
        },
    }


# --- the table ---

# of the report, beside the tile and its reasons: name, unit, description, whether it is shown from
# the beginning
_COLUMNS = (
    ("status", "", "done, failed or skipped", True),
    ("sources", "", "number of sources", True),
    ("rms_median", "", "noise, in the map's unit", True),
    ("unit", "", "the map's unit", False),
    ("seconds", "s", "from the file to the catalogue", True),
    ("negative", "", "number of negative sources", False),
    ("background", "", "in the map's unit", False),
    ("zeros", "", "share of zeros among the pixels that are not blank", False),
    ("beam", "", "axes (arcsec) and position angle (deg)", False),
    ("plane", "", "the plane that was searched", False),
    ("message", "", "why it failed", True),
    ("image", "", "the path as it was given", False),
)


def _cell(text: str) -> Cell:
    """A cell of the report: a number where its text is one."""
    try:
        value = int(text) if text.lstrip("-").isdecimal() and len(text) < 16 else float(text)
    except ValueError:
        return shown(text) or None
    return value if math.isfinite(value) else text


def _scaled(night: Night, name: str) -> dict[str, Any]:
    """How a column in the unit of the maps is shown, if all tiles have the same."""
    units = {tile.unit for tile in night.tiles if tile.is_done}
    if name not in ("rms_median", "background") or len(units) != 1:
        return {}
    scale = noise_scale(night.unit, typical(night.numbers("rms_median")))
    return {
        "unit": scale.unit,
        "catalogue_unit": night.unit,
        "factor": scale.factor,
        "units": dict(scale.all),
    }


def _sheet(night: Night, links: list[str]) -> Sheet:
    there = [column for column in _COLUMNS if any(tile.text(column[0]) for tile in night.tiles)]
    columns = [
        {"name": "tile", "unit": "", "description": "the file's name", "shown": True},
        {"name": "odd", "unit": "", "description": "why it is odd", "shown": True},
    ]
    columns += [
        {
            "name": name,
            "unit": unit,
            "description": words,
            "shown": is_shown,
            **_scaled(night, name),
        }
        for name, unit, words, is_shown in there
    ]
    columns.append(
        {"name": "blank", "unit": "", "description": "share of blank pixels", "shown": False}
    )
    rows: list[list[Cell]] = []
    for i, tile in enumerate(night.tiles):
        blank = float(night.blank[i])
        rows.append(
            [
                shown(tile.name),
                shown("; ".join(night.reasons.get(i, []))) or None,
                *(_cell(tile.text(name)) for name, *_ in there),
                round(blank, 4) if math.isfinite(blank) else None,
            ]
        )
    return Sheet("tiles", columns, rows, [link or None for link in links])


# --- the page ---


def _odd_tiles(night: Night, links: list[str], status: str) -> list[dict[str, Any]]:
    """The odd tiles of a status, the oddest first."""
    return [
        {
            "name": shown(night.tiles[i].name),
            "link": links[i],
            "reasons": [shown(reason) for reason in reasons],
            "number": i,
            "is_mapped": night.tiles[i].corners is not None,
        }
        for i, reasons in night.reasons.items()
        if night.tiles[i].text("status") == status
    ][:_LISTED]


def write_night_page(
    report: Path, page: Path, tile_page: Callable[[Path, Path], Any] | None = None
) -> list[str]:
    """Writes the page of a report. tile_page(catalogue, page) writes the page of a tile. Returns
    messages about what could not be read or written."""
    night = Night(read_report(report))
    failures = _write_tiles(night, tile_page) if tile_page else []
    links = _links(night, page)
    odd, failed = (_odd_tiles(night, links, status) for status in ("done", "failed"))
    write_page(
        page,
        render(
            "night.html",
            title=shown(f"The night of {report.name}"),
            subtitle=shown(str(report)),
            version=metadata.version("srcfind"),
            facts=_facts(night),
            notes=_notes(night),
            odd=odd,
            failed=failed,
            n_more=len(night.reasons) - len(odd) - len(failed),
            map=_map(night, links),
            sheet=_sheet(night, links),
            sections=[distributions(night), overlap_section(night)],
        ),
    )
    return [*failures, *(f"{report}: {words}" for words in _about_rows(night))]
