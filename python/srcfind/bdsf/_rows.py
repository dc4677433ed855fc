"""Gaussians, sources and islands, with the attributes that PyBDSF's have.

Shapes are lists of FWHM of the major and minor axis and position angle, in degrees; positions on the
sky in degrees, in the image in pixels from 0. Numbers begin at 0. An error has the name of its value
with E behind it. "uncorr" are shapes in the image plane: as on a tangent plane at the reference pixel,
where the pixels have the size of CDELT.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from srcfind.bdsf._frame import Frame

_SHAPE, _DECONVOLVED = ("Maj", "Min", "PA"), ("DC_Maj", "DC_Min", "DC_PA")


class Record:
    """A row with attributes."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def __getattr__(self, name: str) -> Any:  # for type checkers: attributes are in __dict__
        raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    def __setattr__(self, name: str, value: Any) -> None:  # the same
        self.__dict__[name] = value


class Gaussian(Record):
    """A fitted Gaussian. source_id and island_id name its source and island, gaus_num is its own
    number; jlevel is 0, or 1, 2, 3 for scales of 2, 4, 8 beams."""


class Source(Record):
    """A source: its Gaussians are in `gaussians`. code is S for the only source of an island of one
    Gaussian, C for one of several sources, M for several Gaussians."""


class Island(Record):
    """An island: its Gaussians are in `gaul`, its sources in `sources`. bbox has a slice for x and one
    for y; mask_active is False where a pixel of this box belongs to the island. image and max_value are
    in the map's unit."""


def _lists(table: NDArray[Any], names: tuple[str, ...]) -> list[list[float]]:
    """Several columns as a list for each row."""
    return np.column_stack([table[name] for name in names]).tolist()  # type: ignore[no-any-return]


def _with_errors(attribute: str, table: NDArray[Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Lists of values and of their errors, by the names of their attributes."""
    errors = tuple("E_" + name for name in names)
    return {attribute: _lists(table, names), attribute + "E": _lists(table, errors)}


def _plane_shapes(attribute: str, table: NDArray[Any], names: Any, frame: Frame) -> dict[str, Any]:
    """Shapes in the image plane, and their errors, which grow with the axes."""
    sky = np.array(_lists(table, names)).reshape(-1, 3)
    errors = np.array(_lists(table, tuple("E_" + name for name in names))).reshape(-1, 3)
    plane = frame.in_plane(table["Xposn"], table["Yposn"], sky)
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.where(sky[:, :2] > 0, plane[:, :2] / sky[:, :2], 1)
    errors[:, :2] *= factors
    return {attribute + "_uncorr": plane.tolist(), attribute + "E_uncorr": errors.tolist()}


def levels(scales: NDArray[Any]) -> NDArray[Any]:
    """The numbers of scales: 0 for the image itself, 1, 2, 3 for 2, 4, 8 beams."""
    numbers = np.zeros(len(scales), int)
    wide = scales > 1
    numbers[wide] = np.maximum(1, np.rint(np.log2(scales[wide])))
    return numbers


def _residuals(table: NDArray[Any]) -> dict[str, list[float]]:
    """What PyBDSF measures in the image minus the Gaussians, in which the background is."""
    rms, mean = table["Resid_Isl_rms"], table["Resid_Isl_mean"]
    return {
        "gresid_rms": np.sqrt(np.maximum(rms**2 - mean**2, 0)).tolist(),
        "gresid_mean": (mean + table["Isl_mean"]).tolist(),
    }


def _common(table: NDArray[Any], frame: Frame) -> dict[str, Any]:
    """The attributes that Gaussians and sources have in common."""
    scales = table["Scale"] if "Scale" in (table.dtype.names or ()) else np.zeros(len(table))
    return {
        "island_id": (table["Isl_id"] - 1).tolist(),
        "source_id": (table["Source_id"] - 1).tolist(),
        "jlevel": levels(scales).tolist(),
        "code": table["S_Code"].tolist(),
        "total_flux": table["Total_flux"].tolist(),
        "total_fluxE": table["E_Total_flux"].tolist(),
        "total_flux_isl": table["Isl_Total_flux"].tolist(),
        "total_flux_islE": table["E_Isl_Total_flux"].tolist(),
        **_residuals(table),
        **_with_errors("size_sky", table, _SHAPE),
        **_plane_shapes("size_sky", table, _SHAPE, frame),
        **_with_errors("deconv_size_sky", table, _DECONVOLVED),
        **_plane_shapes("deconv_size_sky", table, _DECONVOLVED, frame),
    }


def _records(kind: Any, columns: Mapping[str, list[Any]], n: int) -> list[Any]:
    """Records from lists of their attributes."""
    return [kind(**{name: values[i] for name, values in columns.items()}) for i in range(n)]


def make_gaussians(table: NDArray[Any], frame: Frame) -> list[Gaussian]:
    """The Gaussians of a catalogue, in its order. frame.sky names the columns of positions."""
    n = len(table)
    rms, mean = table["Isl_rms"].tolist(), table["Isl_mean"].tolist()
    common = _common(table, frame)
    is_wide = [level > 0 for level in common["jlevel"]]
    in_pixels = np.array([1 / frame.pixel, 1 / frame.pixel, 1])
    return _records(
        Gaussian,
        {
            **common,
            "gaus_num": list(range(n)),
            "flag": [0] * n,
            "peak_flux": table["Peak_flux"].tolist(),
            "peak_fluxE": table["E_Peak_flux"].tolist(),
            **_with_errors("centre_sky", table, frame.sky),
            **_with_errors("centre_pix", table, ("Xposn", "Yposn")),
            "size_pix": [
                (np.array(size) * in_pixels).tolist() for size in common["size_sky_uncorr"]
            ],
            "size_pixE": [
                (np.array(size) * in_pixels).tolist() for size in common["size_skyE_uncorr"]
            ],
            "rms": rms,
            "mean": mean,
            # noise of a scale; 0 in the image itself
            "wave_rms": [value if wide else 0.0 for value, wide in zip(rms, is_wide)],
            "wave_mean": [value if wide else 0.0 for value, wide in zip(mean, is_wide)],
        },
        n,
    )


def _add_peaks(source: Source) -> None:
    """Sets the position of the highest emission, which is that of the brightest Gaussian."""
    peak = max(source.gaussians, key=lambda gaussian: gaussian.peak_flux)
    source.posn_sky_max, source.posn_sky_maxE = peak.centre_sky, peak.centre_skyE
    source.posn_pix_max, source.posn_pix_maxE = peak.centre_pix, peak.centre_pixE
    source.ngaus = len(source.gaussians)


def make_sources(table: NDArray[Any], frame: Frame, gaussians: list[Gaussian]) -> list[Source]:
    """The sources of a catalogue, in its order, with their Gaussians."""
    peaks, errors = table["Peak_flux"].tolist(), table["E_Peak_flux"].tolist()
    sources: list[Source] = _records(
        Source,
        {
            **_common(table, frame),
            "peak_flux_max": peaks,
            "peak_flux_maxE": errors,
            "peak_flux_centroid": peaks,
            "peak_flux_centroidE": errors,
            **_with_errors("posn_sky_centroid", table, frame.sky),
            **_with_errors("posn_pix_centroid", table, ("Xposn", "Yposn")),
            "rms_isl": table["Isl_rms"].tolist(),
            "mean_isl": table["Isl_mean"].tolist(),
        },
        len(table),
    )
    by_id = {source.source_id: source for source in sources}
    for source in sources:
        source.gaussians = []
    for gaussian in gaussians:
        by_id[gaussian.source_id].gaussians.append(gaussian)
    for source in sources:
        _add_peaks(source)
    return sources


def island_of(source: Source) -> Island:
    """An island with the attributes that each of its sources has."""
    return Island(
        island_id=source.island_id,
        rms=source.rms_isl,
        mean=source.mean_isl,
        total_flux=source.total_flux_isl,
        total_fluxE=source.total_flux_islE,
        gresid_rms=source.gresid_rms,
        gresid_mean=source.gresid_mean,
        sources=[],
        gaul=[],
        fgaul=[],
        dgaul=[],
    )


def add_extent(island: Island, box: Any, inside: NDArray[np.bool_], image: NDArray[Any]) -> None:
    """Sets what the pixels of an island tell: box has their slices of x and y, inside is True for those
    of the box that belong to it. image is [x, y]."""
    island.bbox = list(box)
    island.origin = [each.start for each in box]
    island.image = image[tuple(box)]
    island.shape = island.image.shape
    island.mask_active = ~inside
    island.mask_noisy = np.isnan(island.image)
    island.size_active = int(np.count_nonzero(inside))
    values = np.where(inside, island.image, -np.inf)
    island.max_value = float(np.nanmax(values)) if island.size_active else np.nan


def _box(members: NDArray[Any]) -> tuple[slice, slice]:
    """The pixels of the sources of an island, as slices of x and y."""
    return tuple(  # type: ignore[return-value]
        slice(int(np.min(members[f"{axis}_min"])), int(np.max(members[f"{axis}_max"])) + 1)
        for axis in "XY"
    )


def make_islands(
    table: NDArray[Any], sources: list[Source], image: NDArray[Any], ids: NDArray[Any]
) -> list[Island]:
    """The islands of sources. image and ids, the number of each pixel's island or -1, are [x, y]."""
    islands: dict[int, Island] = {}
    rows: dict[int, list[int]] = {}
    for row, source in enumerate(sources):
        island = islands.setdefault(source.island_id, island_of(source))
        island.sources.append(source)
        island.gaul.extend(source.gaussians)
        rows.setdefault(source.island_id, []).append(row)
    for number, island in islands.items():
        box = _box(table[rows[number]])
        add_extent(island, box, ids[box] == number, image)
    return [islands[number] for number in sorted(islands)]
