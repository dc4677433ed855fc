"""In the place of PyBDSF: `import srcfind.bdsf as bdsf`, and code that calls PyBDSF finds sources by
srcfind.

`process_image` takes the options of PyBDSF 1.14 and its master. An option is obeyed; or srcfind has
another way to the same end, which a SrcfindWarning names; or it is refused with the reason, because
the result would be another one (`python -m srcfind.bdsf --options` lists them all). The image that it
returns writes PyBDSF's files. For code that cannot be changed, `python -m srcfind.bdsf --path` prints
a directory for PYTHONPATH, in which `import bdsf` is this module.

Needs astropy (`pip install 'srcfind[bdsf]'`).
"""
from __future__ import annotations

import os
from typing import Any

from srcfind.bdsf.image import Image
from srcfind.bdsf._options import OPTIONS, Error, Option, of_dict

__all__ = ["process_image", "Image", "Error", "Option", "OPTIONS"]

#: The version of PyBDSF whose interface this is.
__version__ = "1.14.1"


def process_image(input: str | os.PathLike[str] | dict[str, Any], **options: Any) -> Image:
    """Finds the sources of an image, as PyBDSF's function does.

    input is the path of a FITS file, or a dict of options with `filename`, in which other names are
    left out. Options may be abbreviated, and '' stands for a default.

    Raises Error, which is a RuntimeError as PyBDSF's, for an option that is refused or wrong, and for
    an image that cannot be read or has no beam or frequency.

    >>> img = process_image("image.fits", thresh_isl=3, rms_box=(150, 50))      # doctest: +SKIP
    >>> img.write_catalog(outfile="image.srl.fits", format="fits", catalog_type="srl") # doctest: +SKIP
    """
    given = of_dict(input) if isinstance(input, dict) else {"filename": os.fspath(input)}
    if str(given.get("filename", "")).endswith(".sav"):
        raise Error(f"{given['filename']}: files of saved options are not read: give the options")
    img = Image({**given, **options})
    img.process()
    return img
