"""The options of a search and the types of their values, for editors and type checkers. A search
does not use them: _options.py and the library check the values.
"""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

import numpy as np

if TYPE_CHECKING:
    from astropy.coordinates import SkyCoord
    from astropy.table import Table

    from srcfind._catalogue import Catalogue

# Union and not |: Python 3.9 runs these lines, and does not know | there.
Flag = Union[bool, np.bool_]
Whole = Union[int, np.integer[Any]]
Number = Union[float, Whole, np.floating[Any]]
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Map = Union[Path, "np.ndarray[Any, Any]"]
Pairs = Union[Sequence[Number], Sequence[Sequence[Number]], "np.ndarray[Any, Any]"]
Positions = Union[Path, Pairs, "Table", "SkyCoord", "Catalogue"]

# The maps: written by scripts/lists.
MapName = Literal[
    "rms", "background", "snr", "islands", "sources", "model", "residual", "injected", "mask"
]
# End of the maps.
#: The formats of catalogues.
FormatName = Literal[
    "csv", "json", "votable", "fits", "ecsv", "reg", "crtf", "skymodel", "sagecal", "table"
]


class Options(TypedDict, total=False):
    """The options of `find` and `Finder`, to annotate your own functions that pass **options to
    srcfind: `**options: Unpack[srcfind.Options]`. None stands for the default. Where several
    numbers are possible, a str has them as in the command: "60,20".
    """

    # The options: written by scripts/lists.
    #: sky model: patches none, source or island [none]
    patches: Literal["none", "source", "island"] | None
    #: default spectral index in sky models [-0.8]
    spectral_index: Number | None
    #: for surveys: local=True island=3 fit=True
    survey: Flag | None
    #: clip at median -+ K standard deviations [3]
    kappa: Number | None
    #: a source has a pixel above background + N rms [5]
    threshold: Number | None
    #: islands extend down to N rms [as threshold]
    island: Number | None
    #: subtract median, zero, or a value [median]
    background: Literal["median", "zero"] | Number | None
    #: use this rms, in the map's unit [that of the clip]
    rms: Number | None
    #: measure background and rms from place to place
    local: Flag | None
    #: as local=True, in boxes [15 beams, SIZE / 3]
    rms_box: Whole | Sequence[Whole] | str | None
    #: take the rms from this map
    rms_map: Map | None
    #: take the background from this map
    background_map: Map | None
    #: search these regions; ignore 0 in a FITS mask
    mask: Map | None
    #: with mask: measure noise in the regions only
    mask_noise: Flag | None
    #: what the regions of mask do [search]
    regions_as: Literal["search", "mask"] | None
    #: find the sources in FILE, measure in the image
    detect_on: Map | None
    #: with detect_on: its rms [its own noise]
    detect_rms_map: Map | None
    #: with detect_on: its background [its own]
    detect_background_map: Map | None
    #: measure the sources in these images, too
    measure_in: Path | Sequence[Path] | None
    #: pixels of this value are blank, as 0 in mosaics
    blank: Number | None
    #: pixels touch along edges (8: or at corners) [4]
    connectivity: Literal[4, 8, "4", "8"] | None
    #: ignore sources with fewer than N pixels [1]
    min_pixels: Whole | None
    #: find the sources of the negated image, too
    negative: Flag | None
    #: inject N sources, and count those found [2000]
    completeness: Flag | Whole | None
    #: seed of the random sources of completeness [1]
    seed: Whole | None
    #: as completeness, with the sources of a file
    inject: Positions | None
    #: divide islands into sources at saddles
    deblend: Flag | None
    #: as deblend=True, and fit a Gaussian to each source
    fit: Flag | None
    #: as deblend=True: peaks C rms above their saddle [1]
    contrast: Number | None
    #: as fit=True: Gaussians this close are a source [1]
    group: Literal["island"] | Number | None
    #: as fit=True: Gaussians of the beam's shape [auto]
    shapes: Literal["auto", "free", "beam"] | None
    #: points have this shape, not the beam's
    psf: Path | None
    #: add this share of each flux to its error
    flux_error: Number | None
    #: add this part of the beam to errors of positions
    position_error: Number | None
    #: find emission wider than the beam [2,4,8 beams]
    scales: Flag | Number | Sequence[Number] | str | None
    #: measure at the positions of this catalogue
    at: Positions | None
    #: with at: rows for entries outside, too
    at_all: Flag | None
    #: with at: use the catalogue's fluxes, no fit
    at_fixed: Flag | None
    #: with at: as fit=True, with fluxes of at least 0
    at_positive: Flag | None
    #: with at: as fit=True, and find what the list lacks
    at_search: Flag | None
    #: use this beam: arcsec, arcsec, deg [the header's]
    beam: Number | Sequence[Number] | str | None
    #: search this HDU [the first with an image]
    hdu: str | Whole | None
    #: search planes: N, A-B, all, or their mean [1]
    plane: Whole | Sequence[Whole] | str | None
    #: search only these columns and rows [all]
    trim: Sequence[Whole] | str | None
    #: widen the saved mask by R pixels [0]
    mask_dilate: Whole | None
    #: fill the holes of the saved mask
    mask_fill: Flag | None
    #: rows by falling flux or S/N, rising RA or DEC
    sort: Literal["flux", "snr", "ra", "dec"] | None
    #: auto, cpu, all, or the number of a GPU [auto]
    device: str | Whole | None
    #: use no more memory of a GPU [all that is free]
    device_memory: Whole | None
    #: use N CPU threads [all that the process may use]
    threads: Whole | None
    # End of the options.
