#!/usr/bin/env python3
"""Draws an image with the sources of its catalogue: ellipses whose axes are twice the FWHM.

usage: docs/picture.py IMAGE CATALOGUE.csv PICTURE.png

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


def pixel_ellipses(sources, wcs):
    """The sources' ellipses in pixels. The WCS says where an arcsecond along the major axis leads."""
    for source in sources:
        if np.isnan(source["Maj"]):
            continue
        x, y = source["Xposn"], source["Yposn"]
        angle = np.radians(source["PA"])
        step = 1 / 3600
        ra = source["RA"] + step * np.sin(angle) / np.cos(np.radians(source["DEC"]))
        dec = source["DEC"] + step * np.cos(angle)
        end_x, end_y = wcs.wcs_world2pix(ra, dec, 0)
        pixels_per_degree = np.hypot(end_x - x, end_y - y) / step
        yield Ellipse((x, y), 2 * source["Maj"] * pixels_per_degree, 2 * source["Min"] * pixels_per_degree,
                      angle=np.degrees(np.arctan2(end_y - y, end_x - x)))


def draw(image, catalogue, picture):
    with fits.open(image) as hdus:
        header, pixels = hdus[0].header, hdus[0].data
    pixels = pixels.reshape(pixels.shape[-2:])
    wcs = WCS(header).celestial
    sources = Table.read(catalogue, format="ascii.csv", fill_values=[("", "nan")])
    rms, median = sources["Isl_rms"][0], sources["Isl_mean"][0]
    figure = plt.figure(figsize=(6, 5))
    axes = figure.add_subplot()
    shown = axes.imshow(pixels, origin="lower", cmap="gray_r", interpolation="nearest",
                        norm=ImageNormalize(vmin=median - 3 * rms, vmax=median + 60 * rms, stretch=AsinhStretch(0.05)))
    for ellipse in pixel_ellipses(sources, wcs):
        ellipse.set(facecolor="none", edgecolor="tab:red", linewidth=0.9)
        axes.add_patch(ellipse)
    axes.set(xlabel="X (pixels)", ylabel="Y (pixels)")
    figure.colorbar(shown, ax=axes, label=header.get("BUNIT", ""), shrink=0.9)
    figure.savefig(picture, dpi=100, bbox_inches="tight")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    draw(*sys.argv[1:])
