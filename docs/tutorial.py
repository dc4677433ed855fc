#!/usr/bin/env python3
"""Draws the figure of docs/tutorial.md: a map with the sources of its catalogue and those of a
reference, how complete the catalogue is, and its flux densities beside those of the reference.

usage: docs/tutorial.py IMAGE CATALOGUE.json REFERENCE.ecsv FIGURE.png

The catalogue is one of --completeness. The reference has RAJ2000 and DEJ2000 (deg), and S843 (Jy).

Needs astropy and matplotlib (Debian: python3-astropy, python3-matplotlib)."""
import json
import sys

import astropy.units as u
import numpy as np
from astropy.coordinates import SkyCoord
from astropy.io import fits
from astropy.table import Table
from astropy.visualization import AsinhStretch, ImageNormalize
from astropy.wcs import WCS

INDEX, FREQUENCY = -0.74, 843e6  # of the reference: its median spectral index, and Hz
UNSURE = 1 | 2 | 32 | 64  # flags: cut off, one pixel, negative, not fitted


def sources_of(catalogue):
    """The sources that are above the background."""
    names = [column["name"] for column in catalogue["columns"]]
    rows = [[source[name] for name in names] for source in catalogue["sources"]]
    table = Table(rows=rows, names=names)
    return table[table["SNR"] > 0]


def places_of(table, ra, dec):
    return SkyCoord(
        np.asarray(table[ra], float), np.asarray(table[dec], float), unit="deg", frame="fk5"
    )


def matches(sources, reference, radius):
    """Pairs within a radius, neither of which has another one of its own list within twice that:
    their rows in both tables."""
    sure = np.flatnonzero((sources["Flags"] & UNSURE) == 0)
    ours = places_of(sources[sure], "RA", "DEC")
    others = places_of(reference, "RAJ2000", "DEJ2000")
    near = ours[:, None].separation(others[None]) <= radius
    lone = [
        (places[:, None].separation(places[None]) <= 2 * radius).sum(1) == 1
        for places in (ours, others)
    ]
    i, j = np.nonzero(near & lone[0][:, None] & lone[1][None])
    return sure[i], j


def expected(catalogue, reference):
    """The flux densities of the reference at the frequency of the catalogue."""
    factor = (catalogue["image"]["frequency_hz"] / FREQUENCY) ** INDEX
    return np.asarray(reference["S843"], float) * factor


def draw_map(axes, image, sources, reference):
    from picture import pixel_ellipses

    header, pixels = fits.getheader(image), fits.getdata(image)
    wcs, rms = WCS(header), np.median(sources["Isl_rms"])
    norm = ImageNormalize(vmin=-3 * rms, vmax=60 * rms, stretch=AsinhStretch(0.05))
    axes.imshow(pixels, origin="lower", cmap="gray_r", interpolation="nearest", norm=norm)
    for ellipse in pixel_ellipses(sources, wcs):
        ellipse.set(facecolor="none", edgecolor="tab:red", linewidth=0.9)
        axes.add_patch(ellipse)
    x, y = wcs.wcs_world2pix(reference["RAJ2000"], reference["DEJ2000"], 0)
    axes.plot(x, y, "+", color="tab:blue", markersize=9, label="SUMSS")
    axes.set(xlabel="X (pixels)", ylabel="Y (pixels)", title="sources (red) and SUMSS (+)")


def draw_completeness(axes, bins):
    low, high, share, error = (
        np.array([part[name] for part in bins], float)
        for name in ("low", "high", "completeness", "error")
    )
    middle = np.sqrt(low * high)
    axes.errorbar(middle, share, yerr=error, xerr=[middle - low, high - middle], fmt="o")
    axes.axhline(0.9, color="grey", linewidth=0.8, linestyle="--")
    axes.set(
        xscale="log", xlabel="flux density (Jy)", title="completeness of points", ylim=(-0.05, 1.05)
    )
    ticks = [0.1, 0.2, 0.5, 1, 2]
    axes.set_xticks(ticks, list(map(str, ticks)))
    axes.minorticks_off()


def draw_ratios(axes, sources, fluxes):
    ratio = sources["Total_flux"] / fluxes
    axes.errorbar(sources["SNR"], ratio, yerr=sources["E_Total_flux"] / fluxes, fmt="o")
    axes.axhline(1, color="grey", linewidth=0.8)
    axes.set(
        xscale="log", xlabel="S/N", ylim=(0, 2), title="flux density, srcfind / SUMSS at 1.4 GHz"
    )
    ticks = [5, 10, 20, 50, 100, 200]
    axes.set_xticks(ticks, list(map(str, ticks)))
    axes.minorticks_off()


def main(image, path, reference_path, figure_path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with open(path) as stream:
        catalogue = json.load(stream)
    sources, reference = sources_of(catalogue), Table.read(reference_path)
    radius = catalogue["image"]["beam"]["major_deg"] / 2 * u.deg
    i, j = matches(sources, reference, radius)
    figure, places = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
    draw_map(places[0], image, sources, reference)
    draw_completeness(places[1], catalogue["completeness"]["flux"])
    draw_ratios(places[2], sources[i], expected(catalogue, reference)[j])
    figure.savefig(figure_path, dpi=80)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
