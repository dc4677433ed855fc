"""The flags of sources, by names."""
from __future__ import annotations

import enum


class Flag(enum.IntFlag):
    """What the column Flags has: the sum of these numbers.

    >>> Flag.ARTEFACT in Flag(2049)
    True
    >>> find(image)["Flags"] & Flag.SINGLE_PIXEL != 0
    array([False])
    """

    #: touches the image's edge or a blank pixel
    EDGE = 1
    #: is one pixel
    SINGLE_PIXEL = 2
    #: no beam: fluxes are in map unit x pixels
    NO_BEAM = 4
    #: too few pixels for a size: Maj, Min, PA are empty
    NO_SHAPE = 8
    #: Total_flux is uncertain by more than half of itself
    UNCERTAIN_TOTAL = 16
    #: is below the background: its fluxes are negative
    NEGATIVE = 32
    #: no Gaussian could be fitted: it has its moments
    NOT_FITTED = 64
    #: was fitted with the shape of the beam
    BEAM_SHAPE = 128
    #: another image has it better; in merged catalogues
    DUPLICATE = 256
    #: a position outside of the image, or on a blank pixel
    OUTSIDE = 512
    #: its Gaussian is narrower than the beam
    NARROW = 1024
    #: may be an artefact of a brighter source near it
    ARTEFACT = 2048
