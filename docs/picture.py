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


def scale(sources):
    """Grey levels around the noise of a catalogue."""
    rms, median = np.median(sources["Isl_rms"]), np.median(sources["Isl_mean"])
    return ImageNormalize(vmin=median - 3 * rms, vmax=median + 60 * rms, stretch=AsinhStretch(0.05))


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
    return shown


def main(image, picture, *catalogues):
    with fits.open(image) as hdus:
        header, pixels = hdus[0].header, hdus[0].data
    pixels = pixels.reshape(pixels.shape[-2:])
    n, norm = len(catalogues), None
    figure, axes = plt.subplots(1, n, figsize=(6 * n, 5), squeeze=False)
    for catalogue, place in zip(catalogues, axes[0]):
        path, _, title = catalogue.partition("=")
        sources = Table.read(path, format="ascii.csv", fill_values=[("", "nan")])
        norm = norm or scale(sources)
        shown = draw(place, pixels, norm, WCS(header).celestial, sources, title)
        figure.colorbar(shown, ax=place, label=header.get("BUNIT", ""), shrink=0.9)
    figure.savefig(picture, dpi=100 if n == 1 else 80, bbox_inches="tight")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
