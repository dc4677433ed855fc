"""Image files as PyBDSF reads them: a part of the image, its channels, and their frequencies."""
from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from srcfind._hdus import choose_hdu
from srcfind.bdsf._frame import Frame
from srcfind.bdsf._options import BEAM, Error, numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

_REST = ("RESTFRQ", "RESTFREQ", "FREQ")


def _axis_of(header: Any, *types: str) -> int:
    """The number of the axis, from 1, whose CTYPE begins with one of these; 0 if there is none."""
    for axis in range(3, header["NAXIS"] + 1):
        if str(header.get(f"CTYPE{axis}", "")).upper().startswith(types):
            return axis
    return 0


class ImageFile:
    """An image file, or a part of one: trim is xmin, xmax, ymin, ymax, from 0, without the last of
    x and y, or None. It reads no pixels until they are asked for.

    header: astropy's, of the part. n_channels, n_stokes: lengths of these axes; 1 without one.
    """

    def __init__(self, path: str | os.PathLike[str], trim: Any = None) -> None:
        self.path = os.fspath(path)
        if os.path.isdir(self.path):
            raise Error(f"{self.path}: a CASA image: export it as FITS (exportfits in CASA)")
        if not os.path.exists(self.path):
            raise Error(f"{self.path}: file not found")
        with self._hdu() as hdu:
            self.header = hdu.header.copy()
        self.original_shape = self.header["NAXIS1"], self.header["NAXIS2"]
        self.spectral_axis = _axis_of(self.header, "FREQ", "VELO", "VRAD", "VOPT", "WAVE")
        self._stokes_axis = _axis_of(self.header, "STOKES")
        self.n_channels, self.n_stokes = (
            self.header[f"NAXIS{axis}"] if axis else 1
            for axis in (self.spectral_axis, self._stokes_axis)
        )
        limits = ("xmin", "xmax", "ymin", "ymax")
        self.trim = None if trim is None else [*map(int, numbers("trim_box", trim, limits))]
        if self.trim:
            self._cut_header()

    @contextmanager
    def _hdu(self) -> Iterator[Any]:
        """The HDU of the image, as long as the context lasts. Raises Error if there is none, and if
        its pixels cannot be read."""
        from astropy.io import fits

        try:
            with fits.open(self.path) as hdus:
                yield choose_hdu(hdus, "")
        except OSError as error:  # also where no HDU has an image
            raise Error(f"{self.path}: {error}") from error

    def _cut_header(self) -> None:
        assert self.trim
        x0, x1, y0, y1 = self.trim
        width, height = self.original_shape
        if not (0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
            raise Error(
                f"trim_box={tuple(self.trim)}: not a part of the image of {width} x {height} pixels"
            )
        for axis, low, high in ((1, x0, x1), (2, y0, y1)):
            self.header[f"NAXIS{axis}"] = high - low
            self.header[f"CRPIX{axis}"] = self.header.get(f"CRPIX{axis}", 0.0) - low

    def plane(self, channel: int = 0) -> NDArray[np.float32]:
        """The pixels of a channel, from 0, of the first Stokes parameter: [y, x], a copy."""
        with self._hdu() as hdu:
            data = hdu.data
            index = [0] * (data.ndim - 2)
            if self.spectral_axis:
                index[data.ndim - self.spectral_axis] = channel
            plane = data[tuple(index)]
            if self.trim:
                x0, x1, y0, y1 = self.trim
                plane = plane[y0:y1, x0:x1]
            return np.array(plane, np.float32)

    def frequencies(self, given: Any) -> list[float]:
        """The frequency of each channel in Hz: those given, else those of the axis."""
        n = self.n_channels
        if given is not None and len(given) > 0:
            if len(given) != n:
                raise Error(f"frequency_sp: {len(given)} frequencies, and {n} channels")
            return [float(frequency) for frequency in given]
        axis, header = self.spectral_axis, self.header
        if axis and str(header[f"CTYPE{axis}"]).upper().startswith("FREQ"):
            step = header.get(
                f"CDELT{axis}", header.get(f"CD{axis}_{axis}", 0.0 if n == 1 else np.nan)
            )
            first = header.get(f"CRVAL{axis}", np.nan) + (1 - header.get(f"CRPIX{axis}", 1)) * step
            return [first + i * step for i in range(n)]
        rest = [float(header[keyword]) for keyword in _REST if header.get(keyword)]
        return n * (rest[:1] or [float("nan")])

    def header_at(self, frequency: float) -> Any:
        """The header of one plane at a frequency."""
        header = self.header.copy()
        for axis in range(3, header["NAXIS"] + 1):
            header[f"NAXIS{axis}"] = 1
        if self.spectral_axis and np.isfinite(frequency):
            axis = self.spectral_axis
            header[f"CTYPE{axis}"], header[f"CUNIT{axis}"] = "FREQ", "Hz"
            header[f"CRVAL{axis}"], header[f"CRPIX{axis}"] = frequency, 1.0
            header.setdefault(f"CDELT{axis}", 1.0)
        return header

    def beam_pixels(self, beam: Any) -> float:
        """The area of a beam in pixels: the beam given, or that of the header; 0 if unknown."""
        header = self.header
        axes = numbers("beam", beam, BEAM) if beam else (header.get("BMAJ"), header.get("BMIN"))
        if not (axes[0] and axes[1]):
            return 0.0
        pixel = abs(np.prod(self.frame.steps))
        return float(np.pi * axes[0] * axes[1] / (4 * np.log(2) * pixel))

    @cached_property
    def frame(self) -> Frame:
        """The coordinates of the image. Raises Error where they are not of the sky."""
        return Frame(self.header, self.path)
