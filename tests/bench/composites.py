#!/usr/bin/env python3
"""Sources of several Gaussians, beside the truth: how many rows they are, and whether their errors
are right.

usage: SRCFIND=build/src/srcfind tests/bench/composites.py [--skies N] [-- OPTION...]

Skies of 2048 x 2048 pixels have 900 sources apart from each other: doubles (two points 0.7 to 1.3
beams apart, the second one with 0.3 to 1 times the peak) and points in a halo of two beams with 15%
of their peak, with peaks of 12 to 1000 rms. OPTIONs go to srcfind, by default --local -i 3 --fit.
For the sources that are one row of S_Code M, in bins of the true peak over the noise, a table has
the median and robust scatter of (measured - true) / error for Total_flux and the position, and
those of the flux ratio; before it stands how many rows the sources of each kind have.
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile

import numpy as np
from scipy.ndimage import gaussian_filter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from sky import header, image_cards  # noqa: E402

SIDE, STEP, FWHM, RMS = 2048, 68, 5.0, 1e-4
SIGMA = FWHM / 2.3548200450309493
BINS = [(10, 20), (20, 50), (50, 200), (200, 1000)]
OPTIONS = ["--local", "-i", "3", "--fit"]
REACH = 30  # pixels around a source, in which its rows are


def draw(image, x, y, peak, sigma):
    rows, columns = (np.arange(int(at) - REACH, int(at) + REACH + 1) for at in (y, x))
    image[np.ix_(rows, columns)] += peak * np.outer(
        np.exp(-0.5 * ((rows - y) / sigma) ** 2), np.exp(-0.5 * ((columns - x) / sigma) ** 2)
    )
    return peak * sigma**2 / SIGMA**2


def make_sky(seed):
    """An image, and a row (is a halo, peak / rms, flux, x, y) a source."""
    random = np.random.default_rng(seed)
    noise = gaussian_filter(random.standard_normal((SIDE, SIDE)), SIGMA / np.sqrt(2), mode="wrap")
    image, truth = noise * (RMS / noise.std()), []
    for k, (row, column) in enumerate(np.ndindex(SIDE // STEP, SIDE // STEP)):
        x, y = (np.array([column, row]) + 0.5) * STEP + random.uniform(-2, 2, 2)
        snr = 12 * (1000 / 12) ** random.uniform()
        first = draw(image, x, y, snr * RMS, SIGMA)
        if k % 2:
            truth.append((1, snr, first + draw(image, x, y, 0.15 * snr * RMS, 2 * SIGMA), x, y))
            continue
        angle, apart, ratio = (
            random.uniform(0, 2 * np.pi),
            random.uniform(0.7, 1.3) * FWHM,
            random.uniform(0.3, 1),
        )
        dx, dy = apart * np.cos(angle), apart * np.sin(angle)
        second = draw(image, x + dx, y + dy, ratio * snr * RMS, SIGMA)
        share = second / (first + second)
        truth.append((0, snr, first + second, x + share * dx, y + share * dy))
    return image, np.array(truth)


def search(image, options, directory):
    path = os.path.join(directory, "sky.fits")
    with open(path, "wb") as stream:
        stream.write(
            header(
                image_cards(SIDE, -32, (FWHM * 0.0005, FWHM * 0.0005, 0.0), 0.0005, (150.0, 2.0))
            )
        )
        stream.write(image.astype(">f4").tobytes())
        stream.write(b"\0" * (-SIDE * SIDE * 4 % 2880))
    result = subprocess.run(
        [os.environ["SRCFIND"], path, "-q", *options], check=True, capture_output=True, text=True
    )
    return list(csv.DictReader(result.stdout.splitlines()))


def scatter(values):
    return 0.7413 * np.subtract(*np.percentile(values, [75, 25])) if len(values) else np.nan


def match(rows, truth):
    """The rows of each source: those in its cell."""
    cells = [[] for _ in truth]
    for row in rows:
        column, line = (int(float(row[name]) // STEP) for name in ("Xposn", "Yposn"))
        if max(column, line) < SIDE // STEP and float(row["SNR"]) > 0:
            cells[line * (SIDE // STEP) + column].append(row)
    return cells


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--skies", type=int, default=4)
    parser.add_argument("options", nargs="*")
    arguments = parser.parse_args()
    cells, truths = [], []
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(1, arguments.skies + 1):
            image, truth = make_sky(seed)
            cells += match(search(image, arguments.options or OPTIONS, directory), truth)
            truths.append(truth)
    truth = np.concatenate(truths)
    for kind, name in enumerate(("doubles", "halos")):
        counts = [len(cell) for cell, t in zip(cells, truth) if t[0] == kind]
        several = sum(
            len(cell) == 1 and cell[0]["S_Code"] == "M"
            for cell, t in zip(cells, truth)
            if t[0] == kind
        )
        print(
            f"{len(counts)} {name}: {np.mean(np.array(counts) == 1):.3f} are one row, {several} of S_Code M"
        )
    print("kind     peak/rms     n  flux ratio      pull of flux    of x            of y")
    for kind, name in enumerate(("doubles", "halos")):
        for low, high in BINS:
            chosen = [
                (cell[0], t)
                for cell, t in zip(cells, truth)
                if t[0] == kind
                and low <= t[1] < high
                and len(cell) == 1
                and cell[0]["S_Code"] == "M"
            ]
            pulls = [
                np.array([(float(row[c]) - t[i]) / float(row["E_" + c]) for row, t in chosen])
                for c, i in (("Total_flux", 2), ("Xposn", 3), ("Yposn", 4))
            ]
            ratio = np.array([float(row["Total_flux"]) / t[2] for row, t in chosen])
            cells_of = [
                f"{np.median(v) if len(v) else np.nan:6.2f} ± {scatter(v):5.2f}"
                for v in (ratio, *pulls)
            ]
            print(f"{name:8} {low:4}-{high:<5} {len(chosen):5}  " + "  ".join(cells_of))


if __name__ == "__main__":
    main()
