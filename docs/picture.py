#!/usr/bin/env python3
"""Draws an image with the sources of its catalogue: ellipses whose axes are twice the FWHM. Those
of the scales of --scales are orange, green and violet, from the smallest on.

usage: docs/picture.py IMAGE PICTURE.png CATALOGUE.csv[=TITLE]...

Several catalogues stand side by side.

Needs astropy and matplotlib (Debian: python3-astropy, python3-matplotlib)."""
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from astropy.io import fits
from astropy.table import Table
from astropy.visualization import AsinhStretch, ImageNormalize
from astropy.wcs import WCS
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse


IMAGE, SCALES = "tab:red", ("tab:orange", "tab:green", "tab:purple")


def pixel_ellipses(sources, wcs):
    """The sources' ellipses in pixels. The WCS says where an arcsecond along the major axis
    leads."""
    names = ("RA", "DEC") if "RA" in sources.colnames else ("GLON", "GLAT")
    for source in sources:
        if np.ma.is_masked(source["Maj"]):
            continue
        x, y = source["Xposn"], source["Yposn"]
        angle = np.radians(source["PA"])
        step = 1 / 3600
        ra = source[names[0]] + step * np.sin(angle) / np.cos(np.radians(source[names[1]]))
        dec = source[names[1]] + step * np.cos(angle)
        end_x, end_y = wcs.wcs_world2pix(ra, dec, 0)
        pixels_per_degree = np.hypot(end_x - x, end_y - y) / step
        yield Ellipse(
            (x, y),
            2 * source["Maj"] * pixels_per_degree,
            2 * source["Min"] * pixels_per_degree,
            angle=np.degrees(np.arctan2(end_y - y, end_x - x)),
        )


def scale(sources, factor):
    """Grey levels around the noise of a catalogue, of pixels times a factor."""
    rms, median = (factor * np.median(sources[name]) for name in ("Isl_rms", "Isl_mean"))
    return ImageNormalize(vmin=median - 3 * rms, vmax=median + 60 * rms, stretch=AsinhStretch(0.05))


def unit_for_reading(unit):
    """A factor for pixels, and the unit that they then have: mJy/beam in place of Jy/beam."""
    is_jansky = unit.upper().startswith("JY")
    return (1e3, "m" + unit.lower().replace("jy", "Jy")) if is_jansky else (1, unit)


def round_ticks(norm):
    """0, and 1, 2, 5 times powers of ten that are not crowded on the bar."""
    values = [0.0] + [digit * 10.0**power for power in range(-6, 6) for digit in (1, 2, 5)]
    ticks = []
    for value in values:
        at = norm(value)
        if norm.vmin <= value <= norm.vmax and (not ticks or at - norm(ticks[-1]) > 0.06):
            ticks.append(value)
    return ticks


def name_scales(axes, sources):
    """A legend of the colours of scales, if there are any."""
    scales = sorted(set(sources["Scale"])) if "Scale" in sources.colnames else []
    wide = [scale for scale in scales if scale > 0]
    if wide:
        named = [("not smoothed", IMAGE)] + [
            (f"scale {scale:g}", SCALES[i % len(SCALES)]) for i, scale in enumerate(wide)
        ]
        axes.legend(
            handles=[
                Line2D([], [], color=colour, marker="o", fillstyle="none", linestyle="", label=name)
                for name, colour in named
            ],
            loc="lower center",
            fontsize="small",
            ncol=len(named),
            handletextpad=0.1,
            columnspacing=0.8,
        )


def colours(sources):
    """Of the sources that have an ellipse."""
    if "Scale" not in sources.colnames:
        return [IMAGE] * len(sources)
    of = {
        scale: SCALES[i % len(SCALES)]
        for i, scale in enumerate(sorted(set(sources["Scale"]) - {0}))
    }
    return [
        of.get(scale, IMAGE)
        for scale, major in zip(sources["Scale"], sources["Maj"])
        if not np.ma.is_masked(major)
    ]


def draw(axes, pixels, norm, wcs, sources, title):
    shown = axes.imshow(pixels, origin="lower", cmap="gray_r", interpolation="nearest", norm=norm)
    for ellipse, colour in zip(pixel_ellipses(sources, wcs), colours(sources)):
        ellipse.set(facecolor="none", edgecolor=colour, linewidth=0.9)
        axes.add_patch(ellipse)
    axes.set(xlabel="X (pixels)", ylabel="Y (pixels)", title=title)
    name_scales(axes, sources)
    return shown


def main(image, picture, *catalogues):
    with fits.open(image) as hdus:
        header, pixels = hdus[0].header, hdus[0].data
    factor, unit = unit_for_reading(header.get("BUNIT", ""))
    pixels = factor * pixels.reshape(pixels.shape[-2:])
    n, norm = len(catalogues), None
    figure, axes = plt.subplots(1, n, figsize=(6 * n, 5), squeeze=False, layout="constrained")
    for catalogue, place in zip(catalogues, axes[0]):
        path, _, title = catalogue.partition("=")
        sources = Table.read(path, format="ascii.csv", fill_values=[("", "nan")])
        norm = norm or scale(sources, factor)
        shown = draw(place, pixels, norm, WCS(header).celestial, sources, title)
        bar = figure.colorbar(shown, ax=place, label=unit, shrink=0.9)
        bar.set_ticks(round_ticks(norm), labels=[f"{tick:g}" for tick in round_ticks(norm)])
    figure.savefig(picture, dpi=100 if n == 1 else 70, bbox_inches="tight")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
