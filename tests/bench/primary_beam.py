#!/usr/bin/env python3
"""What --detect-on finds and measures: skies of flat noise (make_sky.py), divided by a Gaussian
primary beam.

usage: SRCFIND=build/src/srcfind tests/bench/primary_beam.py FLAT.fits [FLAT.fits ...]

FLAT.truth.csv stands beside each sky. The primary beam is 1 in the centre and 0.25 in the middle of
a side. Rows are searches: the flat sky alone, the corrected one with --detect-on, and the corrected
one alone. Options: -i 3 --fit, and --local or one noise. A true source is found if a source lies
within half of the beam's FWHM; a source is false if no true one above 2 sigma does. Then of true
points above 10 sigma that are found: measured / true peak (of the corrected sky, but for the flat
one), median and robust scatter, and (measured - true) / error, the same."""
import csv
import os
import subprocess
import sys
import tempfile

import numpy as np
from astropy.io import fits
from scipy.spatial import cKDTree

BINS = (5, 6), (6, 8), (8, 10), (10, 20), (20, np.inf)


def read(path):
    with open(path) as stream:
        rows = list(csv.DictReader(stream))
    return {
        name: np.array([float(row[name] or "nan") for row in rows])
        for name in rows[0]
        if name not in ("Source_Name", "S_Code")
    }


def search(*arguments):
    text = subprocess.run(
        [os.environ.get("SRCFIND", "srcfind"), "-q", "-i", "3", "--fit", *arguments],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as stream:
        stream.write(text)
        stream.flush()
        return read(stream.name)


def scatter(values):
    return "%6.3f %5.3f" % (
        np.median(values),
        np.subtract(*np.percentile(values, (84.135, 15.865))) / 2,
    )


def beam_of(shape):
    y, x = np.mgrid[: shape[0], : shape[1]]
    return 4.0 ** -(
        ((x - (shape[1] - 1) / 2) / (shape[1] / 2)) ** 2
        + ((y - (shape[0] - 1) / 2) / (shape[0] / 2)) ** 2
    )


def main():
    totals = {}
    with tempfile.TemporaryDirectory() as directory:
        for flat in sys.argv[1:]:
            pixels, header = fits.getdata(flat, header=True)
            beam, corrected = beam_of(pixels.shape), os.path.join(directory, "corrected.fits")
            fits.PrimaryHDU((pixels / beam).astype(np.float32), header).writeto(
                corrected, overwrite=True
            )
            truth, fwhm = (
                read(flat.replace(".fits", ".truth.csv")),
                header["BMAJ"] / header["CDELT2"],
            )
            places = np.stack([truth["x"], truth["y"]], 1)
            there = beam[
                np.rint(truth["y"]).astype(int).clip(0, len(beam) - 1),
                np.rint(truth["x"]).astype(int).clip(0, len(beam) - 1),
            ]
            for noise in ([], ["--local"]):
                for name, of_beam, arguments in (
                    ("flat", 1, [flat]),
                    ("--detect-on", there, [corrected, "--detect-on", flat]),
                    ("corrected", there, [corrected]),
                ):
                    found = search(*arguments, *noise)
                    at = np.stack([found["Xposn"], found["Yposn"]], 1)
                    distance, nearest = cKDTree(at).query(places)
                    is_found = distance < fwhm / 2
                    false = cKDTree(places[truth["snr"] > 2]).query(at)[0] > fwhm / 2
                    peak = truth["peak"] / of_beam
                    points = is_found & (truth["snr"] > 10) & (truth["fwhm"] < 1.01 * fwhm)
                    measured, error = found["Peak_flux"][nearest], found["E_Peak_flux"][nearest]
                    total = totals.setdefault(
                        (name, " ".join(noise) or "one noise"), [[], [], [], [], []]
                    )
                    for values, more in zip(
                        total,
                        (
                            truth["snr"],
                            is_found,
                            false,
                            (measured / peak)[points],
                            ((measured - peak) / error)[points],
                        ),
                    ):
                        values.append(more)
    print(
        "%-12s %-10s %s   false   peak / true    pull"
        % ("search", "noise", " ".join("%7s" % ("%g-%g" % b) for b in BINS))
    )
    for (name, noise), values in totals.items():
        snr, is_found, false, ratio, pull = (np.concatenate(v) for v in values)
        shares = " ".join(
            "%6.1f%%" % (100 * is_found[(snr >= low) & (snr < high)].mean()) for low, high in BINS
        )
        print(
            "%-12s %-10s %s  %6d   %s  %s"
            % (name, noise, shares, false.sum(), scatter(ratio), scatter(pull))
        )


if __name__ == "__main__":
    main()
