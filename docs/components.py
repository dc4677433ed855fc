#!/usr/bin/env python3
"""Draws a part of a sky that tests/sky.py made: the image with the fitted sources, the model, and
the residual.

usage: docs/components.py SKY.fits CATALOGUE.csv PICTURE.png X0,X1,Y0,Y1

Ellipses are as wide as the FWHM of the sources, crosses are the true sources above 5 times the
noise, and lines on the model surround the pixels of each source. Beside the catalogue are its maps:

srcfind -i 3 --group 0 SKY.fits -o CATALOGUE.csv --save sources,model,residual

docs/components.png is tests/sky.py 400 sky.fits --seed 4 --density 2500 --elongated --beam 6,4,30,
the part 166,222,198,254

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
from matplotlib.collections import LineCollection

from picture import pixel_ellipses


def stem(path, suffix):
    return path.rsplit(".", 1)[0] + suffix


def mark(axes, sources, truth, wcs):
    for ellipse in pixel_ellipses(sources, wcs):
        ellipse.set(
            width=ellipse.width / 2,
            height=ellipse.height / 2,
            facecolor="none",
            edgecolor="tab:red",
            linewidth=1.1,
        )
        axes.add_patch(ellipse)
    axes.plot(truth["x"], truth["y"], "+", color="tab:blue", markersize=6)


def edges(labels):
    """Ends of the lines between pixels of different sources."""
    y, x = np.nonzero(labels[:, 1:] != labels[:, :-1])
    upright = np.stack([[x + 0.5, y - 0.5], [x + 0.5, y + 0.5]]).transpose(2, 0, 1)
    y, x = np.nonzero(labels[1:] != labels[:-1])
    level = np.stack([[x - 0.5, y + 0.5], [x + 0.5, y + 0.5]]).transpose(2, 0, 1)
    return np.concatenate([upright, level])


def main(image, catalogue, picture, part):
    x0, x1, y0, y1 = map(int, part.split(","))
    header, sources = fits.getheader(image), Table.read(
        catalogue, format="ascii.csv", fill_values=[("", "nan")]
    )
    truth = Table.read(stem(image, ".truth.csv"), format="ascii.csv")
    rms = np.median(sources["Isl_rms"])
    shown = [("image", fits.getdata(image), truth["snr"] > 5)]
    shown += [
        (name, fits.getdata(stem(catalogue, ".%s.fits" % name)), None)
        for name in ("model", "residual")
    ]
    norm = ImageNormalize(vmin=-3, vmax=60, stretch=AsinhStretch(0.05))
    figure, places = plt.subplots(1, 3, figsize=(13, 4), sharey=True, layout="constrained")
    for axes, (name, pixels, true) in zip(places, shown):
        drawn = axes.imshow(
            pixels / rms, origin="lower", cmap="gray_r", interpolation="nearest", norm=norm
        )
        if true is not None:
            mark(axes, sources, truth[true], WCS(header))
        axes.set(xlim=(x0, x1), ylim=(y0, y1), xlabel="X (pixels)", title=name)
    places[1].add_collection(
        LineCollection(
            edges(fits.getdata(stem(catalogue, ".sources.fits"))), color="tab:red", linewidth=0.7
        )
    )
    places[0].set(ylabel="Y (pixels)")
    figure.colorbar(
        drawn, ax=places, label="rms", shrink=0.9, pad=0.01, ticks=[-3, 0, 3, 5, 10, 20, 40, 60]
    )
    figure.savefig(picture, dpi=80, bbox_inches="tight")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
