"""Shapes of Gaussians that were not fitted, as the command's sky models have them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHAPE, _DECONVOLVED = ("Maj", "Min", "PA"), ("DC_Maj", "DC_Min", "DC_PA")


def _tensors(major: Any, minor: Any, angle: Any) -> NDArray[Any]:
    """Squares of the axes along north, along east, and between, of angles in degrees."""
    cosine, sine = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    return np.array(
        [
            (major * cosine) ** 2 + (minor * sine) ** 2,
            (major * sine) ** 2 + (minor * cosine) ** 2,
            (major**2 - minor**2) * sine * cosine,
        ]
    )


def _axes(tensors: NDArray[Any]) -> NDArray[Any]:
    """Major and minor axis and angle of each tensor; zeros if it has no positive axis."""
    north, east, between = tensors
    middle, half = (north + east) / 2, np.hypot((north - east) / 2, between)
    axes = np.array(
        [
            np.sqrt(np.maximum(middle + half, 0)),
            np.sqrt(np.maximum(middle - half, 0)),
            np.degrees(np.arctan2(2 * between, north - east) / 2) % 180,
        ]
    )
    axes[:, ~(axes[0] > 0)] = 0
    return axes


def add_shapes(table: NDArray[Any], beam: tuple[float, float, float]) -> None:
    """Fills empty shapes, in place. Without a fit a shape is that of the moments, and second moments
    of Gaussians add up in a convolution: the beam is taken out of them. Where there are no moments,
    it is that of the beam, a point. beam is FWHM of both axes and position angle, in degrees."""
    rows = np.isnan(table["Maj"])
    for name, value in zip(_SHAPE, beam):
        table[name][rows] = value
    rows = np.isnan(table["DC_Maj"])
    moments = _tensors(*(table[name][rows] for name in _SHAPE))
    own = _axes(moments - _tensors(*beam)[:, None])
    for name, values in zip(_DECONVOLVED, own):
        table[name][rows] = values
