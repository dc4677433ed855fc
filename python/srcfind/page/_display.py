"""How the table of a page shows the columns of a catalogue: in which unit, with which error beside
each value, and which as hours, minutes and seconds. page.js does it; the numbers stay those of the
catalogue."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from srcfind.page._numbers import Scale, angle_scale, flux_scale, jansky_of, typical

if TYPE_CHECKING:
    from srcfind.page._read import CatalogueFile, Column

_ERROR = "stat.error"
_SEXAGESIMAL = {"hours": "h m s", "degrees": "° ′ ″"}


def _flux_scales(catalogue: CatalogueFile) -> dict[str, Scale]:
    """A scale for each unit of fluxes. Those by beam and by pixel have the prefix of total fluxes,
    so that both can be compared."""
    units = {column.unit for column in catalogue.columns if math.isfinite(jansky_of(column.unit))}
    usual = {
        catalogue.unit(name): typical(catalogue.reals(name))
        for name in ("Isl_rms", "Peak_flux", "Total_flux")  # of one unit, the last one counts
        if catalogue.has(name) and catalogue.unit(name) in units
    }
    shared = math.nan
    for unit, value in usual.items():
        if "sr" not in unit.lower():
            shared = value * jansky_of(unit)
    return {
        unit: flux_scale(
            unit, usual.get(unit, math.nan) if "sr" in unit.lower() else shared / jansky_of(unit)
        )
        for unit in units
    }


def _angle_scales(catalogue: CatalogueFile) -> dict[str, Scale]:
    """The scales of sizes, and of errors of positions, both in degrees."""
    usual = {
        kind: [
            typical(catalogue.reals(column.name))
            for column in catalogue.columns
            if column.unit == "deg" and _kind(column) == kind
        ]
        for kind in ("size", "error")
    }
    return {kind: angle_scale(typical(values)) for kind, values in usual.items()}


def _kind(column: Column) -> str:
    """What a column in degrees is: a right ascension in hours, a declination in degrees and
    minutes, another coordinate, the error of a position, a size, or a number."""
    if "angSize" in column.ucd:
        return "size"
    if column.ucd.startswith("pos.eq."):
        return "hours" if column.ucd.startswith("pos.eq.ra") else "degrees"
    if "pos." not in column.ucd or "posAng" in column.ucd:
        return "number"
    return "error" if column.ucd.startswith(_ERROR) else "coordinate"


def shown_columns(catalogue: CatalogueFile) -> list[dict[str, Any]]:
    """For each column: `kind` (number; or a place: hours, degrees or coordinate), the shown `unit` and the one of the
    catalogue, `factor` (so many of the catalogue are one of the shown unit), `units` (the same of
    all units that a condition may name), `error`, the index of the column of its errors, and of
    longitudes `latitude`, the index of the column of latitudes: errors are on the sky."""
    index = {column.name: i for i, column in enumerate(catalogue.columns)}
    fluxes, angles = _flux_scales(catalogue), _angle_scales(catalogue)
    found = []
    for i, column in enumerate(catalogue.columns):
        kind = _kind(column) if column.unit == "deg" else "number"
        scale = fluxes.get(column.unit, Scale(column.unit))
        scale = angles.get(kind, scale)
        found.append(
            {
                "kind": kind if kind in ("hours", "degrees", "coordinate") else "number",
                "unit": _SEXAGESIMAL.get(kind, scale.unit),
                "catalogue_unit": column.unit,
                "factor": scale.factor,
                "units": dict(scale.all),
                "error": index.get(f"E_{column.name}"),
                "latitude": i + 1 if kind == "hours" and i + 1 < len(index) else None,
            }
        )
    return found
