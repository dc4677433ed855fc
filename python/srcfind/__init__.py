"""Finds the sources in radio-astronomy images.

`find` searches an image in a file, or an array, and returns a `Catalogue`; a `Finder` searches many
images with the same options; `merge` merges catalogues of images into one. `options` lists the
options. Wrong options, images that cannot be read and so on are exceptions of the class `Error`.

>>> catalogue = srcfind.find("image.fits", survey=True)  # doctest: +SKIP
>>> catalogue.table  # doctest: +SKIP
>>> catalogue.write("catalogue.csv")  # doctest: +SKIP
"""
from importlib.metadata import version as _version

from srcfind._calls import (
    DeviceError,
    Error,
    InputError,
    OptionError,
    OutOfMemoryError,
    OutputError,
    SrcfindWarning,
)
from srcfind._catalogue import Background, Beam, Catalogue, Column, Image, Quality, Run
from srcfind._find import find, versions
from srcfind._finder import Finder
from srcfind._flags import Flag
from srcfind._ipython import complete_maps as _complete_maps
from srcfind._merge import Merged, merge
from srcfind._option_list import Option, OptionList, options
from srcfind._shown import Picture
from srcfind._signatures import Options

__all__ = [
    "find",
    "Finder",
    "options",
    "merge",
    "versions",
    "Catalogue",
    "Background",
    "Beam",
    "Column",
    "Flag",
    "Image",
    "Merged",
    "Option",
    "OptionList",
    "Options",
    "Picture",
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
_complete_maps()


def __dir__() -> list[str]:
    """What users use, for completion."""
    return [*__all__, "__version__", "__doc__"]
