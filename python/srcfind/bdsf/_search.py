"""The search that the options of PyBDSF ask for."""
from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import srcfind
from srcfind.bdsf._circles import PLACES
from srcfind.bdsf._input import ImageFile
from srcfind.bdsf._options import BEAM, Error, Opts, numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_PIXELS = 6  # PyBDSF's least minpix_isl
_ONLY_SNR = 3.0


class Detected(NamedTuple):
    """The image that was searched, its pixels where they are in memory, and what was found."""

    header: Any
    pixels: NDArray[np.float32] | None
    frequency: float
    channels: list[float]  # frequencies of those that were measured
    catalogue: srcfind.Catalogue


# --- options ---


def _number(opts: Opts, name: str) -> float:
    value = getattr(opts, name)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise Error(f"{name}={value!r}: a number is needed") from None


def _noise(opts: Opts, file: ImageFile) -> dict[str, Any]:
    """The options of background and noise, without mean_map='const'."""
    noise: dict[str, Any] = {"kappa": opts.kappa_clip}
    maps = opts.rmsmean_map_filename
    if maps:
        noise = {**noise, **_maps(opts, "rmsmean_map_filename", "", file)}
    elif opts.rms_map is False:
        noise["rms"] = opts.rms_value
    elif opts.adaptive_rms_box or opts.rms_box is None:
        noise["local"] = True
    else:
        noise["rms_box"] = [*map(int, numbers("rms_box", opts.rms_box, ("box", "step")))]
    if opts.mean_map == "zero" and not maps:
        noise["background"] = "zero"
    elif opts.mean_map not in ("default", "zero", "const", "map"):
        raise Error(f"mean_map={opts.mean_map!r}: default, zero, const or map")
    return noise


def _thresholds(opts: Opts, file: ImageFile) -> dict[str, Any]:
    if opts.thresh not in (None, "hard"):
        raise Error(f"thresh={opts.thresh!r}: srcfind has hard thresholds: thresh='hard'")
    least = opts.minpix_isl
    if least is None:
        least = max(_LEAST_PIXELS, int(file.beam_pixels(opts.beam) / 6))
    island = _number(opts, "thresh_isl")
    return {
        "threshold": max(_number(opts, "thresh_pix"), island),  # as islands of PyBDSF have it
        "island": island,
        "connectivity": 8,
        "min_pixels": least,
    }


def _positions(opts: Opts) -> dict[str, Any]:
    """The options of forced photometry."""
    from astropy.table import Table

    places = [numbers("src_ra_dec", place, ("ra", "dec")) for place in opts.src_ra_dec]
    ra, dec = np.reshape(places, (-1, 2)).T
    return {"at": Table({"RA": ra, "DEC": dec}), "fit": True}


def _fit(opts: Opts) -> dict[str, Any]:
    """The options of components."""
    if opts.stop_at not in (None, "isl", "read"):
        raise Error(f"stop_at={opts.stop_at!r}: isl or read")
    return {
        "fit": True,
        "group": "island" if opts.group_by_isl else opts.group_tol,
        "shapes": "beam" if opts.fix_to_beam else None,
        "scales": True if opts.atrous_do and not opts.stop_at else None,
        "psf": "measured" if opts.psf_vary_do else None,
    }


def _path(opts: Opts, path: Any) -> str:
    """The path of another image, which may be in indir."""
    name: str = os.fspath(path)
    within = os.path.join(opts.indir, name) if opts.indir else name
    return within if os.path.exists(within) else name


def _map(opts: Opts, path: Any, file: ImageFile) -> Any:
    """Another image or map: its path, or its pixels where the image is trimmed."""
    name = _path(opts, path)
    return ImageFile(name, file.trim).plane() if file.trim else name


def _maps(opts: Opts, name: str, prefix: str, file: ImageFile) -> dict[str, Any]:
    """The options of maps of background and rms, which an option of PyBDSF names in this order."""
    given = getattr(opts, name)
    if isinstance(given, str) or len(given) != 2:
        raise Error(f"{name}={given!r}: two paths are needed, [mean, rms]")
    names = (prefix + "background_map", prefix + "rms_map")
    return {option: _map(opts, path, file) for option, path in zip(names, given)}


def _check_aperture(opts: Opts) -> None:
    """Raises Error for an aperture that is none."""
    if opts.aperture is not None and not _number(opts, "aperture") > 0:
        raise Error(f"aperture={opts.aperture!r}: a radius in pixels, above 0")
    if opts.aperture_posn not in PLACES:
        raise Error(f"aperture_posn={opts.aperture_posn!r}: {' or '.join(PLACES)}")


def _options(opts: Opts, file: ImageFile) -> dict[str, Any]:
    _check_aperture(opts)
    options = {"threads": opts.ncores, **_noise(opts, file)}
    if opts.beam:
        major, minor, angle = numbers("beam", opts.beam, BEAM)
        options["beam"] = (3600 * major, 3600 * minor, angle)
    if opts.src_ra_dec is not None:
        return {**options, **_positions(opts)}
    options.update(_thresholds(opts, file), **_fit(opts))
    if opts.detection_image:
        options["detect_on"] = _map(opts, opts.detection_image, file)
        if opts.rmsmean_map_filename_det:
            options.update(_maps(opts, "rmsmean_map_filename_det", "detect_", file))
    return options


# --- the image ---


def _channels(opts: Opts, file: ImageFile) -> list[int]:
    """The channels of the image that is searched, from 0."""
    name = "collapse_ch0" if opts.collapse_mode == "single" else "collapse_av"
    given = getattr(opts, name)
    chosen = [int(channel) for channel in ([given] if name == "collapse_ch0" else given)]
    if not all(0 <= channel < file.n_channels for channel in chosen):
        raise Error(f"{name}={given!r}: the image has {file.n_channels} channels, from 0 on")
    return chosen or [*range(file.n_channels)]


def _weight(opts: Opts, plane: NDArray[np.float32]) -> float:
    if opts.collapse_wt == "unity":
        return 1.0
    rms = srcfind.Finder(threads=opts.ncores)._search(plane, None, None).background.rms
    return 1 / rms**2 if rms > 0 else 0.0


def _average(
    opts: Opts, file: ImageFile, channels: list[int]
) -> tuple[NDArray[np.float32], list[float]]:
    """The average of channels, without blank pixels, and the weights of the channels."""
    total: Any = 0.0
    weights: Any = 0.0
    each = []
    for channel in channels:
        plane = file.plane(channel)
        weight = _weight(opts, plane) if np.isfinite(plane).any() else 0.0
        there = np.isfinite(plane)
        total = total + weight * np.where(there, plane, 0)
        weights = weights + weight * there
        each.append(weight)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / weights, np.float32), each


def _image(opts: Opts, file: ImageFile) -> tuple[Any, NDArray[np.float32] | None, float]:
    """The header of the image to search; its pixels, if they are not those of the file; its
    frequency."""
    frequencies = file.frequencies(opts.frequency_sp)
    channels = _channels(opts, file)
    if opts.collapse_mode not in ("average", "single", "file"):
        raise Error(f"collapse_mode={opts.collapse_mode!r}: average, single or file")
    pixels, weights = None, [1.0] * len(channels)
    if opts.collapse_mode == "file":
        pixels = ImageFile(_path(opts, opts.collapse_file), file.trim).plane()
    elif len(channels) > 1:
        pixels, weights = _average(opts, file, channels)
    elif file.n_channels > 1 or file.trim:
        pixels = file.plane(channels[0])
    chosen = [frequencies[channel] for channel in channels]
    frequency = opts.frequency
    if frequency is None and sum(weights) > 0:
        frequency = float(np.average(chosen, weights=weights))
    frequency = float("nan") if frequency is None else float(frequency)
    return file.header_at(frequency), pixels, frequency


# --- channels ---


def _measured(opts: Opts, file: ImageFile) -> list[int]:
    flagged = {int(channel) for channel in opts.flagchan_list}
    return [channel for channel in range(file.n_channels) if channel not in flagged]


def _write_channels(opts: Opts, file: ImageFile, directory: str) -> list[str]:
    """Writes each channel to a file with its own beam and frequency; the paths."""
    from astropy.io import fits

    frequencies, beams = file.frequencies(opts.frequency_sp), opts.beam_spectrum
    if beams and len(beams) != file.n_channels:
        raise Error(f"beam_spectrum: {len(beams)} beams, and {file.n_channels} channels")
    paths = []
    for channel in _measured(opts, file):
        header = file.header_at(frequencies[channel])
        if beams:
            beam = numbers("beam_spectrum", beams[channel], BEAM)
            header["BMAJ"], header["BMIN"], header["BPA"] = beam
        plane = file.plane(channel)
        paths.append(os.path.join(directory, f"channel{channel}.fits"))
        shape = (1,) * (header["NAXIS"] - 2) + plane.shape
        fits.writeto(paths[-1], plane.reshape(shape), header)
    return paths


@contextmanager
def _measure_in(opts: Opts, file: ImageFile) -> Iterator[dict[str, Any]]:
    """The option that measures the channels: in the file, or in files of the channels while the
    context lasts."""
    if not opts.spectralindex_do or opts.stop_at:
        yield {}
        return
    if file.n_channels < 2:
        text = f"{file.path}: spectralindex_do needs an image with channels, and is left out"
        warnings.warn(text, srcfind.SrcfindWarning, stacklevel=6)
        opts.__dict__["spectralindex_do"] = False
        yield {}
        return
    if opts.specind_snr != _ONLY_SNR:
        raise Error("specind_snr: channels of an S/N of 3 and more count: leave the option out")
    as_it_is = not (opts.beam_spectrum or opts.flagchan_list or file.trim or file.n_stokes > 1)
    if as_it_is and (opts.frequency_sp is None or len(opts.frequency_sp) == 0):
        yield {"measure_in": [file.path]}
        return
    with TemporaryDirectory(prefix="srcfind-channels-") as directory:
        yield {"measure_in": _write_channels(opts, file, directory)}


# --- the search ---


def _mean(image: Any, header: Any, options: dict[str, Any]) -> float:
    """The clipped mean of an image, for mean_map='const'."""
    same = {name: options[name] for name in ("threads", "kappa", "mask") if name in options}
    return srcfind.Finder(**same)._search(image, header, None).background.mean


def search(opts: Opts, file: ImageFile) -> Detected:
    """Searches an image. Raises srcfind.Error, and Error of this package."""
    header, pixels, frequency = _image(opts, file)
    options = _options(opts, file)
    if opts.blank_limit is not None:
        pixels = file.plane() if pixels is None else pixels
        options["mask"] = np.abs(pixels) >= opts.blank_limit
    image, cards = (file.path, None) if pixels is None else (pixels, header)
    if opts.mean_map == "const" and not opts.rmsmean_map_filename:
        options["background"] = _mean(image, cards, options)
    with _measure_in(opts, file) as channels:
        finder = srcfind.Finder(**options, **channels)
        catalogue = finder._search(image, cards, None)
        if channels:
            catalogue.planes  # the files of channels do not stay
    for note in catalogue.notes:
        warnings.warn(f"{file.path}: {note}", srcfind.SrcfindWarning, stacklevel=4)
    measured = [file.frequencies(opts.frequency_sp)[i] for i in _measured(opts, file)]
    return Detected(header, pixels, frequency, measured if channels else [], catalogue)
