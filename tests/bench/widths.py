#!/usr/bin/env python3
"""What each choice of --shapes costs: fluxes and their errors of lone round sources as wide as the
beam to four times as wide.

usage: SRCFIND=build/src/srcfind tests/bench/widths.py [--peers DIRECTORY] [--keep DIRECTORY]
[--skies N] [--also OPTIONS]

Beside srcfind -i 3 --fit with each choice stand PyBDSF and Aegean, if --peers has them (peers.py
says how to install them). All are told the noise, and that the background is zero. The noise is
that of a beam of 5 pixels. --keep names a directory where skies and the peers' catalogues stay for
the next run.

Rows are widths in beams and true peaks over the noise. The source has the entry nearest to it, if
that is within half of the source's FWHM. `found` is the percentage of the sources that have one,
and `rows` how many entries are within the source's FWHM, on average. Of those found: measured /
true flux, median and robust scatter, and (measured - true) / error, the same.
"""
import argparse
import os
import sys

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS
from scipy.spatial import cKDTree

import awkward
import known
import peers
from known import sky

WIDTHS = 1.0, 1.2, 1.5, 2.0, 3.0, 4.0  # beams
BINS = (5, 7), (7, 10), (10, 20), (20, 50)
EACH_WAY, CELL = 36, 60  # sources, and pixels from one to the next
OPTIONS = ["-i", "3", "--fit", "--rms", sky.NOISE, "--background", "zero"]
OURS = ["--shapes " + choice for choice in ("auto", "free", "beam")]


class Sky:
    """A grid of sources; `width` and `bin` are indices."""

    def __init__(self, shelf, seed):
        random = np.random.default_rng(seed)
        self.places = awkward.grid(random, EACH_WAY, CELL)
        n = len(self.places)
        self.width, self.bin = (
            random.permutation(np.arange(n) % len(choices)) for choices in (WIDTHS, BINS)
        )
        self.peak = np.array([awkward.between(random, *BINS[i]) for i in self.bin])
        size = np.array(WIDTHS)[self.width]
        self.flux, self.fwhm = sky.NOISE * self.peak * size**2, awkward.BEAM[0] * size
        self.path, side = shelf.path("widths_%d.fits" % seed), EACH_WAY * CELL
        beam = awkward.BEAM[0] * sky.CELL, awkward.BEAM[1] * sky.CELL, awkward.BEAM[2]
        header = fits.Header(sky.image_cards(side, -32, beam, sky.CELL, sky.CENTRE))
        self.wcs = WCS(header)
        if not os.path.exists(self.path):
            image = sky.noise(sky.arguments([str(side), self.path]), random)
            sky.add_sources(
                image,
                (
                    *self.places.T,
                    self.peak,
                    size,
                    *np.repeat([sky.covariance(awkward.BEAM)], n, axis=0).T,
                ),
            )
            fits.writeto(self.path, (image * sky.NOISE).astype(np.float32), header)


def partners(a_sky, entries):
    """For each source the nearest of the entries, or -1, and how many are within its FWHM."""
    tree = cKDTree(entries)
    distance, nearest = tree.query(a_sky.places)
    return (
        np.where(distance < a_sky.fwhm / 2, nearest, -1),
        tree.query_ball_point(a_sky.places, a_sky.fwhm, return_length=True),
    )


def measured_by_srcfind(a_sky, options):
    catalogue = peers.search(a_sky.path, *OPTIONS, *options.split())
    if catalogue is None:
        sys.exit("srcfind %s failed" % options)
    rows = catalogue["sources"]
    return [peers.column(rows, name) for name in ("Xposn", "Yposn", "Total_flux", "E_Total_flux")]


def measured_by_peer(a_sky, path):
    rows = peers.read(path)
    return [
        *peers.pixels(rows, a_sky.wcs).T,
        peers.column(rows, "total_flux", "int_flux"),
        peers.column(rows, "e_total_flux", "err_int_flux"),
    ]


def compare(a_sky, x, y, flux, error):
    """An array with a row for each source: width, bin, whether it is found, entries, flux / true
    flux, pull."""
    partner, count = partners(a_sky, np.column_stack([x, y]))
    found = partner >= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        pull = (flux[partner] - a_sky.flux) / np.where(error[partner] > 0, error[partner], np.nan)
    return np.column_stack([a_sky.width, a_sky.bin, found, count, flux[partner] / a_sky.flux, pull])


def cell(sources):
    found = sources[sources[:, 2] > 0]
    ratio, pull = found[:, 4], found[np.isfinite(found[:, 5]), 5]
    if len(pull) < 5:
        return "%.0f, -" % (100 * len(found) / len(sources))
    return "%.0f, %.1f, %.2f ± %.2f, %+.1f ± %.1f" % (
        100 * len(found) / len(sources),
        sources[:, 3].mean(),
        *known.spread(ratio),
        *known.spread(pull),
    )


def print_table(sources):
    """sources: of each way the rows of `compare`."""
    known.print_row(
        "beams", "rms", "n", *("%s: found %%, rows, flux, pull" % name for name in sources)
    )
    print("|%s" % (" --- |" * (3 + len(sources))))
    for i, width in enumerate(WIDTHS):
        for k, (low, high) in enumerate(BINS):
            parts = [rows[(rows[:, 0] == i) & (rows[:, 1] == k)] for rows in sources.values()]
            known.print_row("%g" % width, "%d-%d" % (low, high), len(parts[0]), *map(cell, parts))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--peers", default=os.environ.get("PEERS", ""), metavar="DIRECTORY", help="default: $PEERS"
    )
    parser.add_argument("--keep", metavar="DIRECTORY")
    parser.add_argument("--skies", type=int, default=6)
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="OPTIONS",
        help="srcfind with these options, too",
    )
    given = parser.parse_args()
    programs, missing = peers.installed_to_fit(given.peers, rms=sky.NOISE)
    if missing:
        print("missing in '%s': %s" % (given.peers, ", ".join(missing)), file=sys.stderr)
    shelf, sources = known.Shelf(given.keep), {}
    for seed in range(1, given.skies + 1):
        a_sky = Sky(shelf, seed)
        for way in OURS + given.also:
            sources.setdefault(way, []).append(compare(a_sky, *measured_by_srcfind(a_sky, way)))
        for name, run in programs.items():
            catalogue = shelf.catalogue(
                a_sky.path, name, lambda image, run=run: run(given.peers, image)
            )
            sources.setdefault(name, []).append(compare(a_sky, *measured_by_peer(a_sky, catalogue)))
    print_table({way: np.concatenate(parts) for way, parts in sources.items()})


if __name__ == "__main__":
    main()
