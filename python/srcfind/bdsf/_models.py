"""Sky models and regions of Gaussians, in the formats of PyBDSF."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import srcfind
from srcfind.bdsf._options import Error
from srcfind.bdsf._rows import Gaussian, Record, Source

if TYPE_CHECKING:
    from srcfind.bdsf.image import Image

_LEAST = 1 / 3600  # degrees; DS9 draws no narrower ellipse
_LEAST_OF_SAGECAL = 1e-5  # degrees; SAGECal takes no Gaussian without a width
_BOX = 3  # half a box of CASA, in FWHM


# --- positions ---


def _sexagesimal(degrees: float) -> tuple[int, int, float]:
    whole = int(degrees)
    minutes = (degrees - whole) * 60
    return whole, int(minutes), (minutes - int(minutes)) * 60


def _hours(ra: float) -> tuple[int, int, float]:
    return _sexagesimal(ra % 360 / 15)


def _sign(dec: float) -> str:
    return "-" if dec < 0 else "+"


def _ra_text(ra: float, separator: str, digits: int) -> str:
    hours, minutes, seconds = _hours(ra)
    return f"{hours:02d}{separator}{minutes:02d}{separator}{f'{seconds:.{digits}f}'.zfill(6)}"


def _dec_text(dec: float, separator: str, digits: int) -> str:
    degrees, minutes, seconds = _sexagesimal(abs(dec))
    whole = f"{_sign(dec)}{degrees:02d}"
    return f"{whole}{separator}{minutes:02d}{separator}{f'{seconds:.{digits}f}'.zfill(6)}"


def _j2000(img: Image, row: Gaussian) -> tuple[float, float]:
    """The position of a Gaussian at the equinox J2000. Raises Error for galactic ones."""
    if img.frame.is_galactic:
        raise Error(
            f"{img.filename}: a sky model needs equatorial coordinates, and these are galactic"
        )
    ra, dec = row.centre_sky
    if img.equinox != 1950:
        return ra, dec
    from astropy import units
    from astropy.coordinates import FK4, FK5, SkyCoord

    place = SkyCoord(ra * units.deg, dec * units.deg, frame=FK4(equinox="B1950"))
    precessed = place.transform_to(FK5(equinox="J2000"))
    return precessed.ra.deg, precessed.dec.deg


# --- names and patches ---


class _Entry(NamedTuple):
    """A Gaussian of a sky model: its name, and that of its patch or None."""

    gaussian: Gaussian
    name: str
    patch: str | None


def _name(root: str, gaussian: Gaussian) -> str:
    return f"{root}_w{gaussian.jlevel}_i{gaussian.island_id}_s{gaussian.source_id}_g{gaussian.gaus_num}"


def _mask_labels(img: Image, path: str) -> Any:
    """The numbers of the patches of a mask's pixels, [x, y]; 0 where there is none."""
    from astropy.io import fits

    with fits.open(path) as hdus:
        mask = np.squeeze(hdus[0].data)
    if mask.shape != img.ch0_arr.T.shape:
        raise Error(f"{path}: bbs_patches_mask: a mask of the image's size")
    marked = np.where(mask > 0, np.float32(1), np.float32(0))
    # islands of the mask are those of an image with its values
    finder = srcfind.Finder(threshold=0.5, rms=1, background=0, connectivity=8, device="cpu")
    return finder._search(marked, None, None).map("islands").T


def _patch_of(img: Image, root: str, patches: str | None, mask: str | None) -> Any:
    """A function that gives the patch of a Gaussian: its name, or None."""
    if patches is None:
        return lambda gaussian: None
    if patches == "single":
        return lambda gaussian: f"{root}_patch"
    if patches == "source":
        return lambda gaussian: f"{root}_patch_s{gaussian.source_id}"
    if patches == "gaussian":
        return lambda gaussian: f"{root}_patch_w{gaussian.jlevel}_g{gaussian.gaus_num}"
    if not mask:
        raise Error("bbs_patches='mask' needs bbs_patches_mask, the path of a mask")
    labels = _mask_labels(img, mask)

    def of_mask(gaussian: Gaussian) -> str:
        x, y = (round(position) for position in gaussian.centre_pix)
        is_inside = 0 <= x < labels.shape[0] and 0 <= y < labels.shape[1]
        return f"patch_{labels[x, y] if is_inside else 0}"

    return of_mask


def _entries(img: Image, root: str | None, patches: str | None, mask: str | None) -> list[_Entry]:
    """The Gaussians of a sky model: patches by flux, the brightest first; in a patch the same."""
    root = root or img.parentname
    patch_of = _patch_of(img, root, patches, mask)
    entries = [_Entry(each, _name(root, each), patch_of(each)) for each in img.gaussians]
    if patches == "mask":  # what is outside of the mask has no patch, and is left out
        entries = [entry for entry in entries if entry.patch != "patch_0"]
    fluxes: dict[str | None, float] = {}
    for entry in entries:
        fluxes[entry.patch] = fluxes.get(entry.patch, 0) + entry.gaussian.total_flux
    return sorted(
        entries, key=lambda entry: (-fluxes[entry.patch], entry.patch, -entry.gaussian.total_flux)
    )


def _index(gaussian: Gaussian) -> str:
    """The spectral index of a sky model."""
    index = getattr(gaussian, "spec_indx", math.nan)
    return f"{index:.3e}" if math.isfinite(index) else "-0.8"


# --- sky models ---


def bbs(
    img: Image, root: str | None, patches: str | None, mask: str | None, correct_proj: bool
) -> Iterable[str]:
    """A sky model of BBS and DP3, by lines."""
    entries = _entries(img, root, patches, mask)
    patch_column = "Patch, " if entries and entries[0].patch is not None else ""
    yield (
        f"format = Name, Type, {patch_column}Ra, Dec, I, Q, U, V, MajorAxis, MinorAxis, "
        f"Orientation, ReferenceFrequency='{img.frequency:.5e}', SpectralIndex='[]'\n\n"
    )
    last = None
    for entry in entries:
        if entry.patch != last:
            yield f", , {entry.patch}, 00:00:00, +00.00.00\n"
            last = entry.patch
        yield _bbs_line(img, entry, correct_proj)


def _bbs_line(img: Image, entry: _Entry, correct_proj: bool) -> str:
    of = entry.gaussian
    major, minor, angle = of.deconv_size_sky if correct_proj else of.deconv_size_sky_uncorr
    is_point = major == 0 and minor == 0
    ra, dec = _j2000(img, of)
    cells = [
        entry.name,
        "POINT" if is_point else "GAUSSIAN",
        *([] if entry.patch is None else [entry.patch]),
        _ra_text(ra, ":", 6),
        _dec_text(dec, ".", 6),
        f"{of.total_flux:.3e}",
        *["0.0"] * 3,
        f"{major * 3600:.5e}",
        f"{minor * 3600:.5e}",
        f"{0 if is_point else angle:.5e}",
        f"{img.frequency:.5e}",
        f"[{_index(of)}]",
    ]
    return ", ".join(cells) + "\n"


def sagecal(img: Image, root: str | None) -> Iterable[str]:
    """A sky model of SAGECal, by lines."""
    yield "# SAGECAL sky model\n"
    yield f"# Generated by srcfind version {srcfind.__version__}\n"
    yield (
        "# Name  | RA (hr,min,sec) | DEC (deg,min,sec) | I | Q | U | V | SI | RM | eX | eY | eP "
        "| freq0\n\n"
    )
    for entry in _entries(img, root, None, None):
        of = entry.gaussian
        major, minor, angle = of.deconv_size_sky
        is_point = major == 0 and minor == 0
        if is_point:
            angle = 0
        else:
            major, minor = max(major, _LEAST_OF_SAGECAL), max(minor, _LEAST_OF_SAGECAL)
        ra, dec = _j2000(img, of)
        cells = [
            ("P" if is_point else "G") + entry.name,
            _ra_text(ra, " ", 6),
            _dec_text(dec, " ", 6),
            f"{of.total_flux:.3e} 0.0 0.0 0.0 {_index(of)} 0",
            f"{math.radians(major) / 2:.5e}",
            f"{math.radians(minor) / 2:.5e}",
            f"{math.radians(angle) - math.pi / 2:.5e}",
            f"{img.frequency:.5e}",
        ]
        yield " ".join(cells) + " \n"


# --- regions ---


def _ds9_shape(place: Sequence[float], shape: Sequence[float]) -> str:
    major, minor, angle = shape
    if major == 0 and minor == 0:
        return f"point({place[0]},{place[1]}) # point=cross width=2"
    major, minor = max(major, _LEAST), max(minor, _LEAST)
    return f'ellipse({place[0]},{place[1]},{major * 3600}",{minor * 3600}",{angle + 90.0}) #'


def ds9(img: Image, kind: str, root: str | None) -> Iterable[str]:
    """Regions of DS9, by lines."""
    yield "# Region file format: DS9 version 4.0\n"
    yield (
        'global color=green font="helvetica 10 normal" select=1 highlite=1 edit=1 move=1 delete=1 '
        "include=1 fixed=0 source\n"
    )
    is_old = img.equinox == 1950
    yield ("galactic" if img.frame.is_galactic else "fk4" if is_old else "fk5") + "\n"
    for row in img.gaussians if kind == "gaul" else img.sources:
        place, name = _place_and_name(img, row, root)
        yield f"{_ds9_shape(place, row.size_sky_uncorr)} text={{{name}}}\n"


def _place_and_name(img: Image, row: Record, root: str | None) -> tuple[Sequence[float], str]:
    if isinstance(row, Source):
        return row.posn_sky_centroid, f"{img.parentname}_i{row.island_id}_s{row.source_id}"
    return row.centre_sky, _name(root or img.parentname, row)  # type: ignore[arg-type]


def star(img: Image) -> Iterable[str]:
    """A STAR file of AIPS, by lines."""
    for of in img.gaussians:
        ra, dec = of.centre_sky
        hours, degrees = _hours(ra), _sexagesimal(abs(dec))
        major, minor, angle = of.size_sky_uncorr
        yield (
            f"{hours[0]:2d} {hours[1]:2d} {hours[2]:6.3f} "
            f"{_sign(dec)}{degrees[0]:2d} {degrees[1]:2d} {degrees[2]:6.3f} "
            f"{major * 3600:9.4f} {minor * 3600:9.4f} {angle:7.2f} "
            f"{4:2d} {of.peak_flux:13.7f} {'':10s}\n"
        )


def kvis(img: Image) -> Iterable[str]:
    """Annotations of kvis, by lines."""
    yield "### KVis annotation file\n\ncolor green\n\n"
    for of in img.gaussians:
        ra, dec = of.centre_sky
        major, minor, angle = of.size_sky_uncorr
        yield f"text   {ra:10.5f} {dec:10.5f}   {of.island_id}\n"
        yield f"ellipse {ra:10.5f} {dec:10.5f}   {major:10.7f} {minor:10.7f} {angle:10.4f}\n"


def casabox(img: Image) -> Iterable[str]:
    """Boxes of CASA for CLEAN, by lines."""
    yield "#CRTFv0 CASA Region Text Format version 0\n"
    for of in img.gaussians:
        x, y = of.centre_pix
        width, height = (_BOX * side for side in img.frame.half_extent(of.size_sky_uncorr))
        corners = [img.pix2sky((x - width, y - height)), img.pix2sky((x + width, y + height))]
        texts = [f"[{_ra_text(ra, ':', 3)}, {_dec_text(dec, '.', 3)}]" for ra, dec in corners]
        yield f"box [{', '.join(texts)}] coord=J2000\n"


#: Formats of Gaussians alone, whose lines need the image only.
SIMPLE: dict[str, Callable[[Any], Iterable[str]]] = {"star": star, "kvis": kvis, "casabox": casabox}
