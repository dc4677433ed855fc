"""The page of a catalogue."""
from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from srcfind.page._display import shown_columns
from srcfind.page._figures import (
    completeness_section,
    counts_section,
    reliability_section,
    sources_section,
)
from srcfind.page._maps import picture_key, read_picture, rms_section
from srcfind.page._numbers import angle_scale, noise_text, short
from srcfind.page._page import Section, Sheet, Table, render, write_page
from srcfind.page._read import CatalogueFile, is_negative, number, text
from srcfind.page._votable import read_any_catalogue

if TYPE_CHECKING:
    from srcfind.page._reference import ReferenceOptions

_SHOWN = {
    "Source_id",
    "Scale",
    "S_Code",
    "RA",
    "DEC",
    "GLON",
    "GLAT",
    "Total_flux",
    "Peak_flux",
    "SNR",
    "Maj",
    "Min",
    "PA",
    "Flags",
}
_WITHOUT_SKY = {"Xposn", "Yposn"}
_FEW_COLUMNS = 12  # are all shown


# --- the head ---


def _beam(image: dict[str, Any]) -> str:
    major, minor, angle = (
        number(image, "beam", name) for name in ("major_deg", "minor_deg", "angle_deg")
    )
    if not math.isfinite(major):
        return "not known"
    scale = angle_scale(major)
    axes = f"{short(major / scale.factor)} × {short(minor / scale.factor)} {scale.unit}"
    return axes + (f", PA {short(angle, 3)}°" if math.isfinite(angle) else "")


def _frequency(hertz: float) -> str:
    factor, unit = next(
        (
            (factor, unit)
            for factor, unit in ((1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz"))
            if hertz >= factor
        ),
        (1.0, "Hz"),
    )
    return f"{short(hertz / factor, 6)} {unit}"


def _noise(catalogue: CatalogueFile) -> str:
    members, unit = catalogue.members, text(catalogue.image, "unit")
    median, whole = number(members, "background", "local", "rms_median"), number(
        members, "background", "rms"
    )
    return (
        f"{noise_text(median, unit)} (median)" if math.isfinite(median) else noise_text(whole, unit)
    )


def _facts(catalogue: CatalogueFile) -> list[tuple[str, str]]:
    image, members = catalogue.image, catalogue.members
    n_negative, n = int(is_negative(catalogue).sum()), len(catalogue.rows)
    facts = [("Sources", f"{n}" + (f", {n_negative} of them negative" if n_negative else ""))]
    if len(catalogue.images) != 1:
        return [*facts, ("Images", str(len(catalogue.images)))]
    facts += [
        (
            "Threshold",
            f"{short(number(members, 'detection', 'threshold'))} rms, islands to {short(number(members, 'detection', 'island'))} rms",
        ),
        ("rms", _noise(catalogue)),
        ("Beam", _beam(image)),
    ]
    shape = image.get("shape")
    if isinstance(shape, list) and len(shape) == 2:
        facts.append(("Size", f"{shape[1]} × {shape[0]} pixels"))
    if math.isfinite(number(image, "frequency_hz")):
        facts.append(("Frequency", _frequency(number(image, "frequency_hz"))))
    return facts + [
        (label, text(image, name))
        for label, name in (
            ("Object", "object"),
            ("Telescope", "telescope"),
            ("Date", "date_obs"),
            ("Frame", "frame"),
        )
        if text(image, name)
    ]


def _notes(catalogue: CatalogueFile) -> list[str]:
    notes = catalogue.members.get("notes")
    return [note for note in notes if isinstance(note, str)] if isinstance(notes, list) else []


# --- the table ---


def _sheet(catalogue: CatalogueFile) -> Sheet:
    names = (
        _SHOWN
        if catalogue.has("RA", "DEC") or catalogue.has("GLON", "GLAT")
        else _SHOWN | _WITHOUT_SKY
    )
    all_shown = len(catalogue.columns) <= _FEW_COLUMNS or not any(
        column.name in names for column in catalogue.columns
    )
    columns = [
        {
            **shown,
            "name": column.name,
            "description": column.description,
            "shown": all_shown or column.name in names,
        }
        for column, shown in zip(catalogue.columns, shown_columns(catalogue))
    ]
    return Sheet("sources", columns, catalogue.rows)


# --- options and versions ---


def _value(value: Any) -> str:
    return (
        value
        if isinstance(value, str)
        else ", ".join(map(str, value))
        if isinstance(value, list)
        else str(value)
    )


def _provenance(catalogue: CatalogueFile) -> Section:
    """What was searched, and how."""
    members, image = catalogue.members, catalogue.image
    options = members.get("options")
    rows = (
        [(f"--{name}", _value(value)) for name, value in options.items() if value is not None]
        if isinstance(options, dict)
        else []
    )
    files = [_value(each.get("path")) for each in catalogue.images[:20]]
    facts = [("image", path) for path in files]
    if len(catalogue.images) > len(files):
        facts.append(("image", f"and {len(catalogue.images) - len(files)} more"))
    facts += [
        (label, _value(image[name]))
        for label, name in (("HDU", "hdu"), ("plane", "plane"), ("unit", "unit"))
        if image.get(name) not in (None, [])
    ]
    return Section(
        "options",
        "Options and versions",
        table=Table((), [("srcfind", members["srcfind"]), *facts, *rows]),
    )


# --- the page ---


def _sections(catalogue: CatalogueFile, beside: Section | None) -> list[Section]:
    """beside: of a reference."""
    found: list[Section | None] = [rms_section(catalogue)]
    if len(catalogue.rows):
        found += [sources_section(catalogue), counts_section(catalogue)]
    found += [
        completeness_section(catalogue),
        reliability_section(catalogue),
        beside,
        _provenance(catalogue),
    ]
    return [section for section in found if section]


def _remarks(catalogue: CatalogueFile, picture_words: str) -> Sequence[str]:
    words = [picture_words] if picture_words else []
    return words if len(catalogue.rows) else [*words, "No source was found."]


def _title(catalogue: CatalogueFile) -> str:
    path = catalogue.images[0].get("path") if len(catalogue.images) == 1 else None
    return PurePath(path).name or path if isinstance(path, str) and path else ""


def _beside(
    catalogue: CatalogueFile, options: ReferenceOptions | None
) -> tuple[Section | None, list[str]]:
    """The section of a reference, and what is missing there."""
    if not options:
        return None, []
    from srcfind.page._comparison import reference_section

    return reference_section(catalogue, options)


def write_catalogue_page(
    path: Path, page: Path, reference: ReferenceOptions | None = None, of: str = ""
) -> list[str]:
    """Writes the page of the catalogue `path`, perhaps beside a reference. of: what the sources are
    of, if that is not the catalogue. Returns messages about what it could not compare."""
    catalogue = read_any_catalogue(path)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        picture, words = read_picture(catalogue)
        beside, messages = _beside(catalogue, reference)
        sections = _sections(catalogue, beside)
    write_page(
        page,
        render(
            "catalogue.html",
            title=_title(catalogue) or of or path.name,
            subtitle=f"The sources of {of or path.name}, found by srcfind {catalogue.members['srcfind']}",
            version=metadata.version("srcfind"),
            facts=_facts(catalogue),
            notes=_notes(catalogue),
            picture=picture,
            key=picture_key(catalogue) if picture else [],
            remarks=_remarks(catalogue, words),
            sheet=_sheet(catalogue),
            sections=sections,
        ),
    )
    return messages
