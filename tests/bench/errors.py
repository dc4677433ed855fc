#!/usr/bin/env python3
"""How far measurements scatter, beside the errors that the catalogue states for them.

usage: SRCFIND=build/src/srcfind tests/bench/errors.py IMAGE TRUTH.csv [OPTION]...

IMAGE has sources that stand in TRUTH.csv (x, y, flux, peak, fwhm: 0-based pixels, Jy, Jy/beam, pixels), as skies do that
tests/sky.py makes. Options go to srcfind. For point and extended sources without a neighbour within four beams it prints, by
SNR: how many, the median ratio of Total_flux and Maj to the truth, and the scatter of (measured - true) / error for
Xposn, Yposn and Total_flux, which is 1 where errors are right.
"""
import csv
import os
import sys

import numpy as np
from scipy.spatial import cKDTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
import srcfind_test as t  # noqa: E402

EDGES = [5, 5.5, 6, 7, 8, 10, 15, 20, 50, 100, 1000, 20000]


def scatter(values):
    low, high = np.nanpercentile(values, [15.87, 84.13])
    return (high - low) / 2


def compare(row, source, cell):
    return [row["SNR"], row["Total_flux"] / source["flux"],
            (row["Maj"] or np.nan) / cell / source["fwhm"],
            *((row[name] - source[true]) / row["E_" + name]
              for name, true in (("Xposn", "x"), ("Yposn", "y"), ("Total_flux", "flux")))]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.split("\n\n")[1])
    catalogue = t.find(sys.argv[1], *sys.argv[3:])
    with open(sys.argv[2], newline="") as stream:
        truth = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(stream)]
    rows, cell = catalogue["sources"], catalogue["image"]["pixel_area_deg2"] ** 0.5
    beam = catalogue["image"]["beam"]["major_deg"] / cell
    places = np.array([[s["x"], s["y"]] for s in truth])
    alone = np.ones(len(truth), bool)
    alone[cKDTree(places).query_pairs(4 * beam, output_type="ndarray").ravel()] = False
    distance, nearest = cKDTree([[r["Xposn"], r["Yposn"]] for r in rows]).query(places)
    for what, extended in (("point sources", False), ("extended sources", True)):
        found = np.array([compare(rows[nearest[i]], truth[i], cell) for i in np.flatnonzero(alone)
                          if (truth[i]["fwhm"] > 1.01 * beam) == extended
                          and distance[i] < max(beam, truth[i]["fwhm"]) / 2]).reshape(-1, 6)
        print("%s\n       SNR      n  Total/true  Maj/true  x scatter  y scatter  Total scatter" % what)
        for low, high in zip(EDGES, EDGES[1:]):
            part = found[(found[:, 0] >= low) & (found[:, 0] < high)]
            if len(part) > 10:
                print("%5g-%-5g %5d %10.3f %9.3f %10.2f %10.2f %10.2f" %
                      (low, high, len(part), *np.nanmedian(part[:, 1:3], axis=0), *map(scatter, part[:, 3:].T)))


if __name__ == "__main__":
    main()
