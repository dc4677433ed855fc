"""Where pixels are on the sky, and how shapes on the sky look in the image plane; by astropy."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from srcfind.bdsf._options import Error

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TINY = 1e-3  # pixels, over which positions are differenced


def _covariance(shapes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Matrices (east, north) of shapes: rows of major, minor, angle from north through east in
    degrees. They stand for widths squared."""
    major, minor, angle = shapes[:, 0], shapes[:, 1], np.radians(shapes[:, 2])
    sine, cosine = np.sin(angle), np.cos(angle)
    a, b = major**2, minor**2
    east, north, both = (
        a * sine**2 + b * cosine**2,
        a * cosine**2 + b * sine**2,
        (a - b) * sine * cosine,
    )
    return np.stack([np.stack([east, both], -1), np.stack([both, north], -1)], -2)


def _shapes(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse of _covariance; angles in [0, 180)."""
    values, vectors = np.linalg.eigh(covariance)
    widths = np.sqrt(np.maximum(values, 0))
    angle = np.degrees(np.arctan2(vectors[:, 0, 1], vectors[:, 1, 1])) % 180
    return np.column_stack([widths[:, 1], widths[:, 0], angle])


class Frame:
    """The coordinates of an image of astropy's header: two axes of the sky. Raises Error, which names
    the path of the image, where there are none."""

    def __init__(self, header: Any, path: str = "") -> None:
        from astropy.wcs import WCS

        self.wcs = WCS(header, naxis=2).celestial
        if self.wcs.naxis != 2:
            raise Error(f"{path}: no sky coordinates in the header: srcfind itself needs none")
        self.is_galactic = self.wcs.wcs.lngtyp == "GLON"
        #: the names of the columns of positions
        self.sky = ("GLON", "GLAT") if self.is_galactic else ("RA", "DEC")
        scales = self.wcs.proj_plane_pixel_scales()
        signs = np.where(np.diag(self.wcs.pixel_scale_matrix) < 0, -1, 1)
        #: degrees of a pixel at the reference pixel, x and y; x is negative where east is left
        self.steps = np.array([float(scale.to_value("deg")) for scale in scales]) * signs

    @property
    def pixel(self) -> float:
        """The side, in degrees, of a square of the area of a pixel at the reference pixel."""
        return float(np.sqrt(abs(self.steps.prod())))

    def sky_of(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Positions in degrees of pixels that count from 0."""
        lon, lat = self.wcs.wcs_pix2world(x, y, 0)
        return lon, lat

    def pixel_of(self, lon: Any, lat: Any) -> tuple[Any, Any]:
        """The inverse of sky_of."""
        x, y = self.wcs.wcs_world2pix(lon, lat, 0)
        return x, y

    def _jacobians(self, x: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
        """Degrees to the east and to the north per pixel, at each position."""
        columns = []
        _, latitude = self.sky_of(x, y)
        for dx, dy in ((_TINY, 0.0), (0.0, _TINY)):
            low, high = self.sky_of(x - dx, y - dy), self.sky_of(x + dx, y + dy)
            east = (high[0] - low[0] + 180) % 360 - 180
            columns.append(
                np.stack([east * np.cos(np.radians(latitude)), high[1] - low[1]], -1) / (2 * _TINY)
            )
        return np.stack(columns, -1)

    def in_plane(
        self, x: NDArray[Any], y: NDArray[Any], shapes: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Shapes at pixels as they look in the image plane: rows of major, minor, angle in degrees.

        A shape is taken to pixels by the coordinates at its position, and from there to the plane by
        the size of a pixel. The angle is from the y axis to the left, as PyBDSF counts it.
        """
        if not len(shapes):
            return shapes
        x, y = np.asarray(x, float), np.asarray(y, float)
        with np.errstate(all="ignore"):
            jacobians = self._jacobians(x, y)
        usable = (
            (shapes[:, 0] > 0) & np.isfinite(shapes).all(1) & np.isfinite(jacobians).all((1, 2))
        )
        usable &= np.abs(np.linalg.det(np.where(usable[:, None, None], jacobians, np.eye(2)))) > 0
        plane = shapes.copy()
        if usable.any():
            to_pixels = np.linalg.inv(jacobians[usable])
            matrix = np.diag(self.steps) @ to_pixels
            turned = matrix @ _covariance(shapes[usable]) @ matrix.transpose(0, 2, 1)
            plane[usable] = _shapes(turned)
        return plane

    def pixel_covariance(self, shape: Any) -> NDArray[np.float64]:
        """The matrix of the squared widths, in pixels, of a shape in the image plane, (x, y)."""
        matrix = _covariance(np.array([shape], float))[0]
        pixels: NDArray[np.float64] = matrix / np.outer(self.steps, self.steps)
        return pixels

    def half_extent(self, shape: Any) -> tuple[float, float]:
        """Half of the width and height in pixels of an ellipse in the image plane: its axes are
        twice the FWHM of a shape, in degrees."""
        width, height = np.sqrt(np.diag(self.pixel_covariance(shape)))
        return float(width), float(height)
