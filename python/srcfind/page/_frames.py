"""Frames of positions: finds the frame of a table, and converts positions of a reference to the
frame of a catalogue."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from srcfind.page._match import vectors
from srcfind.page._read import PageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srcfind.page._read import CatalogueFile

    Array = NDArray[Any]

EQUATORIAL = ("ICRS", "FK5", "FK4")
_USUAL = {"FK5": ("J", 2000.0), "FK4": ("B", 1950.0)}  # the kind of years, and the equinox
# of VOTable: what `system` says
_COOSYS = {"icrs": "ICRS", "eq_fk5": "FK5", "eq_fk4": "FK4", "fk5": "FK5", "fk4": "FK4"}
# equinoxes before it are of FK4, where no frame is named (FITS WCS paper II, section 3.1)
_FIRST_FK5 = 1984


@dataclass(frozen=True)
class Frame:
    """A frame by its name in FITS (RADESYS), GALACTIC, or another one, which cannot be compared.
    equinox: years, of Besselian ones for FK4; None for the usual one, and where there is none."""

    name: str
    equinox: float | None = None

    @property
    def words(self) -> str:
        letter, usual = _USUAL.get(self.name, ("", 0.0))
        return f"{self.name} {letter}{self.equinox or usual:.12g}" if letter else self.name

    @property
    def of_astropy(self) -> Any:
        """The frame in astropy; None for a frame that astropy does not have, or that cannot be
        compared."""
        from astropy.coordinates import FK4, FK5, ICRS, Galactic
        from astropy.time import Time

        if self.name in _USUAL:
            letter, usual = _USUAL[self.name]
            return (FK5 if self.name == "FK5" else FK4)(
                equinox=Time(self.equinox or usual, format="jyear" if letter == "J" else "byear")
            )
        return {"ICRS": ICRS(), "GALACTIC": Galactic()}.get(self.name)


def _years(value: Any) -> float | None:
    """An equinox as 2000.0, "2000" or "J2000"; None for anything else."""
    try:
        years = float(str(value).strip().lstrip("JjBb"))
    except ValueError:
        return None
    return years if math.isfinite(years) and 1800 < years < 2200 else None


def _in_header(meta: dict[str, Any]) -> Frame | None:
    """By RADESYS and EQUINOX of FITS, which ECSV of srcfind has, too; None where neither is
    there."""
    name, years = str(meta.get("RADESYS") or meta.get("RADECSYS") or "").strip().upper(), _years(
        meta.get("EQUINOX")
    )
    if name or not years:
        return Frame(name, years) if name else None
    return Frame("FK4" if years < _FIRST_FK5 else "FK5", years)


def keep_systems(parsed: Any, table: Any) -> None:
    """Copies the frames that a VOTable names (COOSYS) to the columns of its table."""
    systems = {system.ID: system for system in parsed.iter_coosys()}
    only = next(iter(systems.values())) if len(systems) == 1 else None
    for field in parsed.iter_fields_and_params():
        system = systems.get(field.ref, only)
        if system is not None and field.name in table.colnames:
            table[field.name].meta["coosys"] = (str(system.system or ""), system.equinox)


def named_frame(table: Any, longitude: str) -> Frame | None:
    """The frame that a table names for a column of longitudes, or None."""
    system, equinox = table[longitude].meta.get("coosys") or ("", None)
    return (
        Frame(_COOSYS.get(system.lower(), system), _years(equinox))
        if system
        else _in_header(table.meta)
    )


def in_frame_of(catalogue: CatalogueFile, longitude: Array, latitude: Array, frame: Frame) -> Array:
    """Positions in a frame (degrees) as unit vectors in the frame of the catalogue."""
    from astropy.coordinates import SkyCoord

    own = Frame(
        str(catalogue.image.get("frame") or "ICRS").upper(), _years(catalogue.image.get("equinox"))
    )
    if own.of_astropy is None:
        raise PageError(
            f"{catalogue.path}: positions in the frame {own.name} cannot be compared with a reference"
        )
    moved = SkyCoord(longitude, latitude, unit="deg", frame=frame.of_astropy).transform_to(
        own.of_astropy
    )
    return vectors(moved.spherical.lon.deg, moved.spherical.lat.deg)
