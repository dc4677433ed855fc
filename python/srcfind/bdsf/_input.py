"""Image files as PyBDSF reads them: a part of the image, its channels, and their frequencies."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from srcfind._hdus import choose_hdu
from srcfind.bdsf._options import Error

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
        with self._open() as hdus:
            self.header = choose_hdu(hdus, "").header.copy()
        self.original_shape = self.header["NAXIS1"], self.header["NAXIS2"]
        self.spectral_axis = _axis_of(self.header, "FREQ", "VELO", "VRAD", "VOPT", "WAVE")
        self._stokes_axis = _axis_of(self.header, "STOKES")
        self.n_channels, self.n_stokes = (
            self.header[f"NAXIS{axis}"] if axis else 1
            for axis in (self.spectral_axis, self._stokes_axis)
        )
        self.trim = None if trim is None else [int(limit) for limit in trim]
        if self.trim:
            self._cut_header()

    def _open(self) -> Any:
        from astropy.io import fits

        try:
            return fits.open(self.path)
        except OSError as error:
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
        with self._open() as hdus:
            data = choose_hdu(hdus, "").data
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
            first = header[f"CRVAL{axis}"], header.get(f"CRPIX{axis}", 1), header[f"CDELT{axis}"]
            return [first[0] + (i + 1 - first[1]) * first[2] for i in range(n)]
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
        major, minor = beam[:2] if beam else (header.get("BMAJ"), header.get("BMIN"))
        pixel = abs(header.get("CDELT1", 0) * header.get("CDELT2", 0))
        if not (major and minor and pixel):
            return 0.0
        return float(np.pi * major * minor / (4 * np.log(2) * pixel))
