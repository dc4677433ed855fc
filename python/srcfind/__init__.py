"""Finds the sources in radio-astronomy images.

`find` searches an image in a file, or an array, and returns a `Catalogue`; a `Finder` searches many
images with the same options; `merge` merges catalogues of images into one. Wrong options, images
that cannot be read and so on are exceptions of the class `Error`.
"""
from __future__ import annotations

from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

from srcfind._calls import (
    DeviceError,
    Error,
    InputError,
    OptionError,
    OutOfMemoryError,
    OutputError,
    SrcfindWarning,
    lib,
    text,
)
from srcfind._catalogue import Background, Beam, Catalogue, Column, Image, Quality, Run
from srcfind._finder import Finder
from srcfind._merge import Merged, merge
from srcfind._signatures import Options

if TYPE_CHECKING:
    from astropy.io.fits import Header
    from astropy.wcs import WCS
    from typing_extensions import Unpack  # type checkers know it without the package

__all__ = [
    "find",
    "merge",
    "versions",
    "Finder",
    "Catalogue",
    "Background",
    "Beam",
    "Column",
    "Image",
    "Merged",
    "Options",
    "Quality",
    "Run",
    "Error",
    "OptionError",
    "InputError",
    "OutputError",
    "DeviceError",
    "OutOfMemoryError",
    "SrcfindWarning",
]
__version__ = _version("srcfind")


def find(
    image: Any,
    *,
    header: Header | str | None = None,
    wcs: WCS | None = None,
    **options: Unpack[Options],
) -> Catalogue:
    """Finds the sources of an image.

    image is one of these:

    - the path of a FITS file (str or os.PathLike);
    - an array of shape (height, width) with real numbers; leading axes of length 1 are left out.
      Blank pixels are NaN, or masked. float32 is searched where it is, in either byte order, if its
      rows are contiguous; other arrays are copied, and each value rounded once, to the nearest
      float32. The unit of a Quantity counts unless the header has a BUNIT;
    - an astropy PrimaryHDU, ImageHDU or CompImageHDU: its data and header, and of a cube the plane
      of the option plane (1);
    - an open HDUList of astropy: the HDU of the option hdu, else the first one with an image, as of
      a file;
    - an astropy CCDData or NDData: its data, without the pixels where its mask is True, its header,
      wcs and unit;
    - a float32 array in the memory of a CUDA device, as those of CuPy, Numba, PyTorch and JAX: by
      DLPack, or by __cuda_array_interface__, which does not tell the device: name it with the
      option device, if it is not the first.

    header (astropy's Header, or a str of cards of 80 characters) and wcs (astropy's WCS) go with an
    array: coordinates, beam, unit and frequency are read from them as from a file. With both, the
    coordinates are those of wcs.

    The options are those of `Finder`, which says how a mask, maps and positions in memory are
    given. Python's other threads run during the search, and Ctrl-C ends it. Each note of the search
    is a SrcfindWarning, with the text that the command prints; the catalogue keeps them in `notes`.

    Raises TypeError for an object that is no image, and for an unknown option; ValueError for a
    shape that no image has, and without pixels; OptionError, InputError, DeviceError and
    OutOfMemoryError with the message of the library.

    >>> import numpy as np
    >>> image = np.where(np.indices((48, 64)).sum(0) % 2, 1, -1).astype(np.float32)
    >>> image[20, 30:32] = 100, 300
    >>> find(image, threshold=6, beam=10).array["Peak_flux"]
    array([300.])
    """
    catalogue = Finder(**options)._search(image, header, wcs)
    catalogue._warn()
    return catalogue


def versions() -> str:
    """The versions of srcfind, its libraries and backends: a text of several lines."""
    return text(lib.srcfind_versions())
