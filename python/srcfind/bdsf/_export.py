"""export_image: maps as FITS files and CASA images, with the header that PyBDSF writes."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from srcfind.bdsf._options import Error
from srcfind.bdsf._outfile import failed, path_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srcfind.bdsf.image import Image

_MAPS = {
    "ch0": "ch0_arr",
    "rms": "rms_arr",
    "mean": "mean_arr",
    "gaus_model": "model_gaus_arr",
    "gaus_resid": "resid_gaus_arr",
}
_REFUSED = {
    "pi": "srcfind has no polarised search",
    "shap_resid": "srcfind has no shapelets",
    "shap_model": "srcfind has no shapelets",
    **dict.fromkeys(
        ("psf_major", "psf_minor", "psf_pa", "psf_ratio", "psf_ratio_aper"),
        "srcfind does not give the measured PSF away",
    ),
}
_CLOSING = 1.5  # beams, the width of gaps that a widened mask closes


# --- masks ---


def _shifted(mask: NDArray[np.bool_], by: int, axis: int) -> NDArray[np.bool_]:
    """A mask moved along an axis; what comes in is outside."""
    moved = np.zeros_like(mask)
    inner = [slice(None)] * mask.ndim
    source = [slice(None)] * mask.ndim
    inner[axis] = slice(by, None) if by > 0 else slice(None, by)
    source[axis] = slice(None, -by) if by > 0 else slice(-by, None)
    moved[tuple(inner)] = mask[tuple(source)]
    return moved


def _dilated(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A mask, and the pixels that touch it along an edge."""
    wide = mask.copy()
    for axis in (0, 1):
        for by in (-1, 1):
            wide |= _shifted(mask, by, axis)
    return wide


def _box_any(mask: NDArray[np.bool_], before: int, after: int) -> NDArray[np.bool_]:
    """Whether a pixel of the mask is in the box from `before` pixels before to `after` behind."""
    for axis in (0, 1):
        padding = [(0, 0), (0, 0)]
        padding[axis] = (before + 1, after)
        sums = np.cumsum(np.pad(mask, padding), axis=axis, dtype=np.int32)
        width, n = before + after + 1, mask.shape[axis]
        mask = np.take(sums, range(width, width + n), axis) > np.take(sums, range(n), axis)
    return mask


def _closed(mask: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    """A mask without gaps narrower than a box of `size` pixels: dilation by the box, then erosion.
    Beyond the edge nothing is inside, as for SciPy's binary_closing."""
    before = size // 2
    after = size - 1 - before
    wide = _box_any(mask, after, before)
    outside = np.pad(~wide, size, constant_values=True)
    eroded = ~_box_any(outside, before, after)
    return eroded[size:-size, size:-size]


def island_mask(img: Image, dilation: int) -> NDArray[np.float32]:
    """1 in islands, else 0, [x, y]; widened `dilation` times by a pixel, and then closed."""
    mask = img.pyrank >= 0
    for _ in range(dilation):
        mask = _dilated(mask)
    if dilation > 0:
        mask = _closed(mask, max(1, round(_CLOSING * img.beam2pix(img.beam)[0])))
    return mask.astype(np.float32)


# --- files ---


def _header(img: Image, is_mask: bool, shift: tuple[int, int]) -> Any:
    """The header of a map: four axes, the third Stokes, the fourth frequency."""
    from astropy.io import fits

    header, wcs = fits.Header(), img.frame.wcs.wcs
    for i, (step, by) in enumerate(zip(img.frame.steps, shift)):
        header[f"CRVAL{i + 1}"] = wcs.crval[i]
        header[f"CDELT{i + 1}"] = step
        header[f"CRPIX{i + 1}"] = wcs.crpix[i] + by
        header[f"CUNIT{i + 1}"] = "deg"
        header[f"CTYPE{i + 1}"] = wcs.ctype[i]
    header.update(CRVAL3=1.0, CDELT3=1.0, CRPIX3=1.0, CUNIT3="", CTYPE3="STOKES")
    header.update(RESTFRQ=img.frequency, CRVAL4=img.frequency, CDELT4=3e8, CRPIX4=1.0)
    header.update(CUNIT4="HZ", CTYPE4="FREQ", SPECSYS="TOPOCENT")
    if not is_mask:
        header["BMAJ"], header["BMIN"], header["BPA"] = img.beam
    header["EQUINOX"] = img.equinox
    if img.telescope is not None:
        header["TELESCOP"] = img.telescope
    return header


def _padded(img: Image, values: NDArray[Any]) -> tuple[NDArray[Any], tuple[int, int]]:
    """A map of the size before trim_box, 0 beside the part, and the place of the part."""
    if not img.file.trim:
        return values, (0, 0)
    x, y = img.file.trim[0], img.file.trim[2]
    whole = np.zeros(img.file.original_shape, values.dtype)
    whole[x : x + values.shape[0], y : y + values.shape[1]] = values
    return whole, (x, y)


def write_fits(
    img: Image, kind: str, path: str, dilation: int = 0, pad_image: bool = False
) -> None:
    """Writes a map to a FITS file, and replaces one. A mask has the image's channels and Stokes
    parameters, as CASA needs it."""
    from astropy.io import fits

    is_mask = kind == "island_mask"
    values = island_mask(img, dilation) if is_mask else getattr(img, _MAPS[kind])
    values, shift = _padded(img, values) if pad_image else (values, (0, 0))
    planes = (img.shape[1], img.shape[0]) if is_mask else (1, 1)
    data = np.broadcast_to(values.T.astype(np.float32), (*planes, *values.T.shape))
    hdu = fits.PrimaryHDU(data)
    hdu.header.update(_header(img, is_mask, shift))
    hdu.writeto(path, overwrite=True)


def _is_casa_image(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "table.dat"))


def _write_casa(img: Image, kind: str, path: str, **options: Any) -> None:
    """Writes a map as a CASA image, by way of FITS."""
    try:
        from casacore.images import image
    except ImportError:
        raise Error("img_format='casa' needs python-casacore: install it, or write FITS") from None
    between = path + ".fits"
    write_fits(img, kind, between, **options)
    try:
        image(between).saveas(path, overwrite=True)
    finally:
        os.remove(between)


def export_image(
    img: Image,
    outfile: Any = None,
    img_format: str = "fits",
    pad_image: bool = False,
    img_type: str = "gaus_resid",
    mask_dilation: int = 0,
    clobber: bool = False,
) -> bool:
    """Image.export_image."""
    format = img_format.lower()
    if img_type in _REFUSED:
        raise Error(f"img_type={img_type!r}: {_REFUSED[img_type]}")
    if img_type not in (*_MAPS, "island_mask"):
        return failed(f"img_type={img_type!r}: one of {', '.join(_MAPS)}, island_mask")
    if img_type.startswith("gaus") and "gausfit" not in img.completed_Ops:
        return failed("the image has not been fitted: search it without stop_at")
    if format not in ("fits", "casa"):
        return failed('img_format must be "fits" or "casa"')
    path = path_of(outfile, f"{img.imagename}_{img_type}.{format}")
    if os.path.exists(path) and not clobber:
        return failed("File exists and clobber = False.")
    if os.path.isdir(path) and not (format == "casa" and _is_casa_image(path)):
        raise Error(f"{path}: a directory is not replaced by an image: choose another name")
    write = write_fits if format == "fits" else _write_casa
    write(img, img_type, path, dilation=int(mask_dilation), pad_image=pad_image)
    print(f"--> Wrote file {path!r}")
    return True
