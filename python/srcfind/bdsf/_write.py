"""write_catalog, and all that output_all writes."""
from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from srcfind.bdsf import _export, _models, _tables
from srcfind.bdsf._outfile import failed, path_of

if TYPE_CHECKING:
    from srcfind.bdsf.image import Image

#: Formats, and the endings of the names that PyBDSF gives them.
_ENDINGS = {
    "fits": ".{kind}.fits",
    "ascii": ".{kind}",
    "csv": ".{kind}",
    "bbs": ".sky_in",
    "sagecal": ".lsm",
    "ds9": ".{kind}.reg",
    "star": ".star",
    "kvis": ".kvis.ann",
    "casabox": ".box",
}
_OF_GAUSSIANS = ("bbs", "sagecal", "star", "kvis")
_PATCHES = (None, "gaussian", "single", "source", "mask")


def _lines(img: Image, format: str, kind: str, of: dict[str, Any]) -> Iterable[str]:
    """The lines of a format."""
    if format in ("ascii", "csv"):
        separator = " " if format == "ascii" else ", "
        return [_tables.text(img, kind, separator, of["incl_chan"])]
    if format == "bbs":
        names = ("srcroot", "bbs_patches", "bbs_patches_mask", "correct_proj")
        return _models.bbs(img, *(of[name] for name in names))
    if format == "sagecal":
        return _models.sagecal(img, of["srcroot"])
    if format == "ds9":
        return _models.ds9(img, kind, of["srcroot"])
    return _models.SIMPLE[format](img)


def _write(img: Image, path: str, format: str, kind: str, of: dict[str, Any]) -> None:
    if format == "fits":
        _tables.write_fits(img, kind, path, of["incl_chan"])
        return
    lines = "".join(_lines(img, format, kind, of))
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(lines)


def _wrong(img: Image, format: str, kind: str, patches: str | None) -> str:
    """What is wrong with the arguments; "" if nothing is."""
    if "gausfit" not in img.completed_Ops:
        return "the image has not been fitted: search it without stop_at"
    if kind not in ("gaul", "srl"):
        return f"catalog_type={kind!r}: gaul or srl"
    if format not in _ENDINGS:
        return f"format={format!r}: one of {', '.join(_ENDINGS)}"
    if kind != "gaul" and format in _OF_GAUSSIANS:
        return f"format={format!r} is of Gaussians: catalog_type='gaul'"
    if patches not in _PATCHES:
        return f"bbs_patches={patches!r}: None, gaussian, single, source or mask"
    return ""


def write_catalog(
    img: Image,
    outfile: Any = None,
    format: str = "bbs",
    srcroot: str | None = None,
    catalog_type: str = "gaul",
    bbs_patches: str | None = None,
    incl_chan: bool = False,
    incl_empty: bool = False,
    clobber: bool = False,
    force_output: bool = False,
    correct_proj: bool = True,
    bbs_patches_mask: str | None = None,
) -> bool:
    """Image.write_catalog. incl_empty changes nothing: srcfind has no island without a source."""
    format, kind = format.lower(), catalog_type
    patches = bbs_patches.lower() if isinstance(bbs_patches, str) else bbs_patches
    wrong = _wrong(img, format, kind, patches)
    if wrong:
        return failed(wrong)
    path = path_of(outfile, img.imagename + _ENDINGS[format].format(kind=kind))
    if img.nsrc == 0 and not force_output:
        print("No sources were found in the image. Output file not written.")
        return False
    if os.path.exists(path) and not clobber:
        return failed("File exists and clobber = False.")
    of = {
        "incl_chan": incl_chan,
        "srcroot": srcroot,
        "bbs_patches": patches,
        "bbs_patches_mask": bbs_patches_mask,
        "correct_proj": correct_proj,
    }
    _write(img, path, format, kind, of)
    print(f"--> Wrote {format} file {path!r}")
    return True


# --- output_all ---

#: Catalogues of output_all: format, kind, ending.
_ALL = (
    ("bbs", "gaul", ".sky_in"),
    ("sagecal", "gaul", ".lsm"),
    ("ascii", "gaul", ".gaul"),
    ("ascii", "srl", ".srl"),
    ("star", "gaul", ".star"),
    ("kvis", "gaul", ".kvis.ann"),
    ("ds9", "gaul", ".gaul.ds9.reg"),
    ("ds9", "srl", ".srl.ds9.reg"),
    ("fits", "gaul", ".gaul.FITS"),
    ("fits", "srl", ".srl.FITS"),
)
#: Images of output_all: kind, directory, ending.
_ALL_IMAGES = (
    ("rms", "background", ".rmsd_I.fits"),
    ("mean", "background", ".mean_I.fits"),
    ("gaus_resid", "residual", ".resid_gaus.fits"),
    ("gaus_model", "model", ".model.fits"),
)


def _new_directory(img: Image) -> str:
    """The directory of output_all: empty, or with opdir_overwrite='append' as it is."""
    if img.opts.opdir_overwrite == "overwrite":
        shutil.rmtree(img.basedir, ignore_errors=True)
    os.makedirs(img.basedir, exist_ok=True)
    return img.basedir


def write_all(img: Image) -> None:
    """Writes all catalogues and images into the directory of output_all."""
    directory = _new_directory(img)
    names = ("incl_chan", "srcroot", "bbs_patches", "bbs_patches_mask", "correct_proj")
    of = {name: getattr(img.opts, name) for name in names}
    os.makedirs(os.path.join(directory, "catalogues"), exist_ok=True)
    if img.nsrc > 0:
        for format, kind, ending in _ALL:
            path = os.path.join(directory, "catalogues", img.imagename + ending)
            _write(img, path, format, kind, of)
    for kind, within, ending in _ALL_IMAGES:
        os.makedirs(os.path.join(directory, within), exist_ok=True)
        path = os.path.join(directory, within, img.imagename + ending)
        _export.write_fits(img, kind, path)
