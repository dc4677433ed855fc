"""The picture and the map of the rms that stand beside a catalogue."""
from __future__ import annotations

import io
import math
import struct
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from srcfind.page._numbers import Scale, noise_scale, short
from srcfind.page._page import Figure, Section, data_uri
from srcfind.page._plots import Axis, Frame, Raster, Rule, Steps, axis_over, colours, draw
from srcfind.page._read import CatalogueFile, is_negative, number, text

Array = NDArray[Any]

# The layout of pictures, in their pixels: src/output/picture/picture.c.
_LEFT, _RIGHT, _TOP, _BOTTOM, _MOST_MAP, _LEAST_MAP, _LEAST_SHEET, _LEAST_BAR = (
    125,
    150,
    74,
    56,
    1720,
    600,
    640,
    200,
)

_MOST_BYTES = 450_000  # of a picture in the page
_QUALITIES = (80, 65, 50, 40)  # quality of JPEG
_MOST_SIDE = 2000
_MOST_RMS = 400  # pixels along a side of the map of the rms
_BINS = 60


def shape_of(catalogue: CatalogueFile) -> tuple[int, int] | None:
    """Height and width of the image of a catalogue; None of a merged one."""
    shape = catalogue.image.get("shape")
    if (
        isinstance(shape, list)
        and len(shape) == 2
        and all(isinstance(side, int) and 0 < side < 2**31 for side in shape)
    ):
        return shape[0], shape[1]
    return None


# --- the picture ---


@dataclass(frozen=True)
class Picture:
    """A picture. view: the place of the map in it, and the number of its pixels for one pixel of
    the image."""

    uri: str
    width: int
    height: int
    view: dict[str, float]


def _layout(height: int, width: int) -> tuple[tuple[int, int], dict[str, float]]:
    """Size and view of the picture of an image."""
    block = math.ceil(max(height, width) / _MOST_MAP)
    across, up = math.ceil(width / block), math.ceil(height / block)
    zoom = math.ceil(_LEAST_MAP / max(across, up))
    size = (
        max(_LEFT + across * zoom + _RIGHT, _LEAST_SHEET),
        _TOP + max(up * zoom, _LEAST_BAR) + _BOTTOM,
    )
    return size, {"left": _LEFT, "top": _TOP, "height": up * zoom, "scale": zoom / block}


def _small_enough(content: bytes, picture: Image.Image) -> str:
    """A picture as data. A large one becomes a JPEG with small losses, because noise does not
    compress."""
    if len(content) <= _MOST_BYTES:
        return data_uri(content, "image/png")
    for quality in _QUALITIES:
        stream = io.BytesIO()
        picture.convert("RGB").save(stream, "JPEG", quality=quality, optimize=True)
        if stream.tell() <= _MOST_BYTES:
            break
    return data_uri(stream.getvalue(), "image/jpeg")


def read_picture(catalogue: CatalogueFile) -> tuple[Picture | None, str]:
    """The picture beside a catalogue; or None, and how to make one."""
    path = Path(f"{catalogue.stem}.picture.png")
    shape = shape_of(catalogue)
    if shape is None:
        return None, ""
    size, view = _layout(*shape)
    try:
        content = path.read_bytes()
        with Image.open(io.BytesIO(content), formats=["PNG"]) as picture:
            if picture.size != size or max(size) > _MOST_SIDE:
                return (
                    None,
                    f"{path.name} is not the picture of this image: search again with --save picture.",
                )
            picture.load()
            return Picture(_small_enough(content, picture), *size, view), ""
    except FileNotFoundError:
        return (
            None,
            f"A picture of the image with its sources would be here: search with --save picture ({path.name}).",
        )
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        return None, f"{path.name} cannot be read ({error}): search again with --save picture."


# Of marks, as in src/output/picture/marks.c.
RED, MARK_BLUE, OF_SCALES = "#d91a1a", "#1a59d9", ("#f28c00", "#009933", "#9926bf")


def scales_of(catalogue: CatalogueFile) -> list[float]:
    """The scales of a search with --scales, the smallest first."""
    words = text(catalogue.members, "options", "scales").split(",")
    try:
        scales = [float(word) for word in words]
    except ValueError:
        scales = [float(each) for each in set(catalogue.reals("Scale")) if each > 0]
    return sorted(scales)


def picture_key(catalogue: CatalogueFile) -> list[tuple[str, str]]:
    """The colours of ellipses in the picture, and what has them."""
    keep = ~is_negative(catalogue)
    key = []
    if catalogue.has("Scale"):
        scale = catalogue.reals("Scale")[keep]
        key.append((RED, f"not smoothed: {int((scale == 0).sum())}"))
        key += [
            (OF_SCALES[i % len(OF_SCALES)], f"scale {each:g}: {n}")
            for i, each in enumerate(scales_of(catalogue))
            if (n := int((scale == each).sum()))
        ]
    else:
        key.append((RED, f"sources: {int(keep.sum())}"))
    return [*key, (MARK_BLUE, f"negative: {int((~keep).sum())}")] if not keep.all() else key


# --- the map of the rms ---


def _chunk(kind: bytes, content: bytes) -> bytes:
    return (
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
    )


def png(pixels: NDArray[np.uint8], palette: NDArray[np.uint8]) -> bytes:
    """A PNG file. pixels: indices into a palette (red, green, blue), the upper row first."""
    height, width = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels], axis=1)  # 0: no filter
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
        + _chunk(b"PLTE", palette.tobytes())
        + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
        + _chunk(b"IEND", b"")
    )


def _read_map(path: Path, shape: tuple[int, int], step: int) -> Array:
    """Every step-th pixel of a map along both axes. ValueError if the map is not of an image of
    this shape."""
    from astropy.io import fits

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with fits.open(path, memmap=True) as hdus:
            axes = hdus[0].shape
            if axes[-2:] != shape or math.prod(axes) != math.prod(shape):
                raise ValueError(f"its size is {' x '.join(map(str, axes[::-1])) or '0'} pixels")
            return np.array(hdus[0].data.reshape(shape)[::step, ::step], float)


def _painted(values: Array, bar: Axis) -> str:
    """A map in colours, north up; blank pixels are grey."""
    palette = np.append(colours(np.linspace(0, 1, 255)), np.full((1, 3), 224, np.uint8), axis=0)
    levels = np.where(np.isfinite(values), np.clip(254 * bar.place(values), 0, 254).round(), 255)
    return data_uri(png(np.nan_to_num(levels[::-1]).astype(np.uint8), palette), "image/png")


def _map_figure(values: Array, shape: tuple[int, int], bar: Axis) -> Figure:
    height, width = shape
    longest = max(height, width)
    frame = Frame(
        Axis("x (pixels)", -0.5, width - 0.5),
        Axis("y (pixels)", -0.5, height - 0.5),
        max(400 * width / longest, 90),  # room for the name of an axis
        max(400 * height / longest, 90),
        bar,
    )
    return Figure(
        draw(frame, [Raster(_painted(values, bar))], "Map of the rms"),
        "The noise from place to place; blank pixels are grey. Spots around bright sources are their artefacts: sources in them are less sure.",
    )


def _distribution_figure(values: Array, label: str, median: float) -> Figure:
    axis = axis_over(label, np.percentile(values, (0.1, 99.9)))
    counts, edges = np.histogram(values, np.linspace(axis.low, axis.high, _BINS + 1))
    share = 100 * counts / len(values)
    return Figure(
        draw(
            Frame(axis, Axis("pixels (%)", 0, 1.05 * float(share.max()))),
            [Steps(edges, share), Rule(median, "median")],
            "Distribution of the rms",
        ),
        "The share of the pixels by their rms, without the lowest and the highest 0.1%. One peak is an even image; a long tail is the edge of "
        "a primary beam, or artefacts.",
    )


def rms_scale(catalogue: CatalogueFile) -> Scale:
    """The unit in which the noise of a catalogue is short."""
    background = catalogue.members.get("background")
    local, whole = number(background, "local", "rms_median"), number(background, "rms")
    usual = local if math.isfinite(local) else whole
    return noise_scale(str(catalogue.image.get("unit") or ""), usual)


def _noise_in_words(catalogue: CatalogueFile, scale: Scale) -> str:
    members, unit = catalogue.members, scale.unit or "(no unit)"
    least, middle, most = (
        number(members, "background", "local", name) / scale.factor
        for name in ("rms_least", "rms_median", "rms_most")
    )
    if math.isfinite(middle):
        return f"Local noise: the rms is {short(least, 3)} to {short(most, 3)} {unit}, {short(middle, 3)} in the median of its boxes."
    rms = number(members, "background", "rms") / scale.factor
    return (
        f"One noise for the whole image: rms {short(rms, 3)} {unit}." if math.isfinite(rms) else ""
    )


def rms_section(catalogue: CatalogueFile) -> Section | None:
    """The map of the rms and its distribution, if there is a map; None for a merged catalogue."""
    shape = shape_of(catalogue)
    if shape is None:
        return None
    scale, path = rms_scale(catalogue), Path(f"{catalogue.stem}.rms.fits")
    words = _noise_in_words(catalogue, scale)
    try:
        values = _read_map(path, shape, math.ceil(max(shape) / _MOST_RMS)) / scale.factor
    except FileNotFoundError:
        if not math.isfinite(number(catalogue.members, "background", "local", "rms_median")):
            return Section(
                "rms", "Noise", [words, "With --local the noise is measured from place to place."]
            )
        return Section(
            "rms",
            "Noise",
            [words, f"Its map is shown if you search with --save rms ({path.name})."],
        )
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        return Section(
            "rms",
            "Noise",
            [
                words,
                f"{path.name} is not the map of the rms of this image ({error}): search again with --save rms.",
            ],
        )
    known = values[np.isfinite(values) & (values > 0)]
    if not len(known):
        return Section("rms", "Noise", [words, "All pixels are blank."])
    label = f"rms ({scale.unit})" if scale.unit else "rms"
    low, high = (float(value) for value in np.percentile(known, (0.5, 99.5)))
    bar = axis_over(label, (low, high), margin=0)
    median = number(catalogue.members, "background", "local", "rms_median") / scale.factor
    return Section(
        "rms",
        "Noise",
        [words],
        [
            _map_figure(values, shape, bar),
            _distribution_figure(
                known, label, median if math.isfinite(median) else float(np.median(known))
            ),
        ],
    )
