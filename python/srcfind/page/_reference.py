"""Reference catalogues: positions and fluxes of another survey, from any table that astropy
reads."""
from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from srcfind.page._frames import Frame, in_frame_of, keep_systems, named_frame
from srcfind.page._read import PageError, read_catalogue

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srcfind.page._read import CatalogueFile

    Array = NDArray[Any]

_ma: Any = np.ma  # its functions have no types

# Names without _ and -, in the order of preference; the second name of a pair is any of these.
_EQUATORIAL = (
    ("ra", ("dec", "de")),
    ("raj2000", ("dej2000", "decj2000")),
    ("radeg", ("dedeg", "decdeg")),
    ("raicrs", ("deicrs", "decicrs")),
    ("alphaj2000", ("deltaj2000",)),
    ("rightascension", ("declination",)),
    ("rab1950", ("deb1950", "decb1950")),
)
_GALACTIC = (("glon", ("glat",)), ("l", ("b",)))
_ERRORS = ("e_", "err", "sigma", "d_")


@dataclass(frozen=True)
class ReferenceOptions:
    """What the user says of a reference: its file, the column of fluxes as NAME or NAME:UNIT, the
    frequencies of reference and catalogue (Hz), the spectral index, the radius of matches (arcsec),
    and the frame of its RA and Dec (of EQUATORIAL); None where nothing is said."""

    path: Path
    flux: str | None = None
    frequency: float | None = None
    own_frequency: float | None = None
    spectral_index: float | None = None
    radius: float | None = None
    frame: str | None = None


@dataclass(frozen=True)
class Reference:
    """Positions as unit vectors in the frame of the catalogue, a sentence about their own frame,
    and fluxes (Jy; None without) with the name of their column."""

    positions: Array
    about_frame: str
    flux: Array | None
    flux_name: str


# --- tables ---


def _format_of(path: Path) -> str | None:
    """The reader of astropy for a suffix; None lets astropy look."""
    suffix = (Path(path.stem) if path.suffix == ".gz" else path).suffix.lower()
    return {
        ".vot": "votable",
        ".xml": "votable",
        ".votable": "votable",
        ".csv": "ascii.csv",
        ".ecsv": "ascii.ecsv",
        ".fits": "fits",
        ".fit": "fits",
    }.get(suffix)


def _read_votable(path: Path) -> Any:
    """The table of a VOTable, and in its columns the frames that it names."""
    from astropy.io.votable import parse
    from astropy.table import Table

    parsed = parse(str(path))
    table = Table.read(parsed, format="votable", use_names_over_ids=True)
    keep_systems(parsed, table)
    return table


def _read_table(path: Path) -> Any:
    """A table of astropy."""
    from astropy.table import Table

    if not path.is_file():
        raise PageError(f"{path}: there is no such file: give a catalogue as VOTable, FITS or CSV")
    if path.suffix == ".json":
        own = read_catalogue(path)
        names = [column.name for column in own.columns]
        table = Table(
            {
                name: [math.nan if row[i] is None else row[i] for row in own.rows]
                for i, name in enumerate(names)
            }
        )
        for column in own.columns:
            table[column.name].unit = column.unit or None
        table.meta.update(RADESYS=own.image.get("frame"), EQUINOX=own.image.get("equinox"))
        return table
    try:
        with warnings.catch_warnings():
            # warnings about headers of others, which are seldom faultless
            warnings.simplefilter("ignore")
            if _format_of(path) == "votable":
                return _read_votable(path)
            return Table.read(str(path), format=_format_of(path))
    except Exception as error:  # astropy's readers raise many kinds
        first = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        raise PageError(
            f"{path}: astropy cannot read this table ({first}): give a catalogue as VOTable, FITS or CSV"
        ) from None


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _numbers(column: Any) -> Array | None:
    """A column as numbers, NaN where masked; None for texts and arrays."""
    masked = _ma.asarray(column)
    if masked.ndim != 1 or masked.dtype.kind not in "iuf":
        return None
    return np.asarray(_ma.filled(masked.astype(float), np.nan), float)


def _angles(path: Path, table: Any, name: str, in_hours: bool) -> Array:
    """A column of angles in degrees: numbers in its unit (degrees without one), or texts, which are
    sexagesimal."""
    from astropy import units
    from astropy.coordinates import Angle

    column = table[name]
    values = _numbers(column)
    try:
        if values is not None:
            unit = units.Unit(column.unit) if column.unit else units.deg
            return np.asarray((values * unit).to_value(units.deg), float)
        return np.asarray(
            Angle(
                [str(text).strip() for text in column],
                unit=units.hourangle if in_hours else units.deg,
            ).deg,
            float,
        )
    except Exception as error:  # texts and units may be anything
        raise PageError(
            f"{path}: the column {name} has no angles in degrees, nor as h:m:s ({str(error).splitlines()[0][:120]})"
        ) from None


def _coordinates(path: Path, table: Any) -> tuple[str, str, bool]:
    """The names of longitude and latitude, and whether they are galactic."""
    names = sorted(
        (name for name in table.colnames if table[name].ndim == 1),
        key=lambda name: _numbers(table[name]) is None,
    )
    for pairs, is_galactic in ((_EQUATORIAL, False), (_GALACTIC, True)):
        for longitude, latitudes in pairs:
            lon = next((name for name in names if _plain(name) == longitude), None)
            lat = next((name for name in names if _plain(name) in latitudes), None)
            if lon and lat:
                return lon, lat, is_galactic
    raise PageError(
        f"{path}: there are no columns RA and DEC (or RAJ2000 and DEJ2000, GLON and GLAT); there are: {_listed(table.colnames)}"
    )


def _listed(names: list[str]) -> str:
    return ", ".join(names[:40]) + (", ..." if len(names) > 40 else "")


# --- frames ---


def _frame_of(
    path: Path, table: Any, longitude: str, is_galactic: bool, given: str | None
) -> tuple[Frame, str]:
    """The frame of the positions, and a sentence about its origin."""
    if is_galactic:
        return Frame("GALACTIC"), f"Positions of {path.name} are galactic."
    if given:
        return (
            Frame(given),
            f"Positions of {path.name} are {Frame(given).words}, as --reference-frame says.",
        )
    if _plain(longitude).endswith("b1950"):
        return (
            Frame("FK4"),
            f"Positions of {path.name} are {Frame('FK4').words}, by the name of the column {longitude}.",
        )
    named = named_frame(table, longitude)
    if named and named.of_astropy is None:
        raise PageError(
            f"{path}: positions in the frame {named.name} cannot be compared: if RA and DEC are in another one, name it by --reference-frame"
        )
    if named:
        return named, f"Positions of {path.name} are {named.words}, as it says."
    return (
        Frame("ICRS"),
        f"Positions of {path.name} are taken as ICRS, since it names no frame; --reference-frame gives another one.",
    )


# --- fluxes ---


def jansky(text: str) -> float:
    """How many Jy a unit of fluxes is, also with /beam; NaN for other units."""
    from astropy import units

    try:
        unit = units.Unit(
            text.replace(" ", "").replace("/beam", "").replace("/BEAM", "").replace("JY", "Jy")
        )
        return float(unit.to(units.Jy))
    except (TypeError, ValueError):
        return math.nan


def _factor(column: Any) -> float:
    return jansky(str(column.unit)) if column.unit else math.nan


def _flux_columns(table: Any) -> list[str]:
    """Columns of numbers whose unit is one of flux densities, without those of errors."""
    return [
        name
        for name in table.colnames
        if not name.lower().startswith(_ERRORS)
        and _numbers(table[name]) is not None
        and math.isfinite(_factor(table[name]))
    ]


def _choose_flux(path: Path, table: Any, wanted: str | None) -> tuple[str, float] | None:
    """The column of fluxes, and the Jy in its unit; None where no column has a unit of fluxes."""
    name, _, unit = (
        wanted.rpartition(":")
        if wanted and ":" in wanted and wanted not in table.colnames
        else (wanted, "", "")
    )
    if name:
        if name not in table.colnames or _numbers(table[name]) is None:
            raise PageError(
                f"{path}: there is no column {name} of numbers; there are: {_listed(table.colnames)}"
            )
        factor = jansky(unit) if unit else _factor(table[name])
        if not math.isfinite(factor):
            what = (
                f"{unit} is no unit of fluxes"
                if unit
                else f"the unit of {name} is not known, or is none of fluxes"
            )
            raise PageError(f"{path}: {what}: give it as --reference-flux {name}:mJy")
        return name, factor
    columns = _flux_columns(table)
    usual = [
        column
        for column in columns
        if _plain(column) in ("totalflux", "intflux", "sint", "stotal", "fint")
    ]
    if len(usual) == 1 or len(columns) == 1:
        chosen = (usual if len(usual) == 1 else columns)[0]
        return chosen, _factor(table[chosen])
    if columns:
        raise PageError(
            f"{path}: several columns may be the fluxes: name one, as --reference-flux {columns[0]}; there are: {_listed(columns)}"
        )
    return None


def read_reference(options: ReferenceOptions, catalogue: CatalogueFile) -> Reference:
    """Reads a reference. Rows without a position, or without a flux above 0, are left out."""
    table = _read_table(options.path)
    lon_name, lat_name, is_galactic = _coordinates(options.path, table)
    longitude, latitude = (
        _angles(options.path, table, name, i == 0 and not is_galactic)
        for i, name in enumerate((lon_name, lat_name))
    )
    chosen = _choose_flux(options.path, table, options.flux)
    flux = _numbers(table[chosen[0]]) if chosen else None
    there = np.isfinite(longitude) & np.isfinite(latitude) & (np.abs(latitude) <= 90)
    if chosen and flux is not None:
        flux = flux * chosen[1]
        there &= flux > 0
    if not there.any():
        raise PageError(
            f"{options.path}: no row has a position" + (" and a flux above 0" if chosen else "")
        )
    frame, about_frame = _frame_of(options.path, table, lon_name, is_galactic, options.frame)
    positions = in_frame_of(catalogue, longitude[there], latitude[there], frame)
    return Reference(
        positions, about_frame, None if flux is None else flux[there], chosen[0] if chosen else ""
    )
