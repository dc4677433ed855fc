"""The options of a search and the types of their values: what editors complete and type checkers
look at.

A search itself reads none of this: _options.py and the library check what they are given.
"""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

import numpy as np

if TYPE_CHECKING:
    from astropy.table import Table

# Union and not |, which Python 3.9 does not know where it runs a line.
Flag = Union[bool, np.bool_]
Whole = Union[int, np.integer[Any]]
Number = Union[float, Whole, np.floating[Any]]
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Map = Union[Path, "np.ndarray[Any, Any]"]
Positions = Union[Path, "Table"]


class Options(TypedDict, total=False):
    """The options of `find` and `Finder`, for functions that hand them on: `**options:
    Unpack[srcfind.Options]`.

    None stands for the default. A str where several numbers can be given is what the command takes,
    as "60,20".
    """

    # The options: written by scripts/lists.
    #: of a sky model: none, source, island [none]
    patches: Literal["none", "source", "island"] | None
    #: of its sources where none is measured [-0.8]
    spectral_index: Number | None
    #: clip at median -+ K standard deviations [3]
    kappa: Number | None
    #: a source has a pixel above background + N rms [5]
    threshold: Number | None
    #: its island grows down to N rms [as --threshold]
    island: Number | None
    #: subtracted: median, zero, or a value [median]
    background: Literal["median", "zero"] | Number | None
    #: the noise, in the map's unit [that of the clip]
    rms: Number | None
    #: background and rms from place to place
    local: Flag | None
    #: the same, from boxes [15 beams, SIZE / 3]
    rms_box: Whole | Sequence[Whole] | str | None
    #: map of the rms
    rms_map: Map | None
    #: map of the background
    background_map: Map | None
    #: 0 where pixels are blank
    mask: Map | None
    #: detect in this image
    detect_on: Map | None
    #: fluxes in the planes of other images
    measure_in: Path | Sequence[Path] | None
    #: pixels of this value are blank, as 0 in mosaics
    blank: Number | None
    #: pixels touch along edges, or at corners too [4]
    connectivity: Literal[4, 8, "4", "8"] | None
    #: drop smaller sources [1]
    min_pixels: Whole | None
    #: sources of the negated image too
    negative: Flag | None
    #: how many of N injected sources are found [2000]
    completeness: Flag | Whole | None
    #: of their random places and fluxes [1]
    seed: Whole | None
    #: divide islands at saddles
    deblend: Flag | None
    #: fit Gaussians to parts
    fit: Flag | None
    #: peaks stand at least C rms above saddles [1]
    contrast: Number | None
    #: Gaussians that overlap so much are a source [1]
    group: Number | None
    #: Gaussians of beam shape: some, none, all [auto]
    shapes: Literal["auto", "free", "beam"] | None
    #: emission wider than the beam [2,4,8 beams]
    scales: Flag | Number | Sequence[Number] | str | None
    #: fluxes at positions of a catalogue
    at: Positions | None
    #: outside too
    at_all: Flag | None
    #: beam in arcsec, arcsec, deg [the header's]
    beam: Number | Sequence[Number] | str | None
    #: HDU to search [the first with an image]
    hdu: str | Whole | None
    #: planes on axes 3, 4, ...: N, A-B, all [1]
    plane: Whole | Sequence[Whole] | None
    #: widen a saved mask by R pixels
    mask_dilate: Whole | None
    #: fill holes
    mask_fill: Flag | None
    #: auto, cpu, all, or the number of a GPU [auto]
    device: str | Whole | None
    #: use no more memory of a GPU [all that is free]
    device_memory: Whole | None
    #: CPU threads [all that the process may use]
    threads: Whole | None
    # End of the options.
