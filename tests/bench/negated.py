#!/usr/bin/env python3
"""How many sources srcfind finds in maps, and in the same maps negated, where all that it finds is
false: with one noise for the map, and with --local. Beside them what other programs found, where
PEERS has MAP.PROGRAM.csv (of PyBDSF and Aegean).

usage: tests/bench/negated.py SRCFIND [--peers PEERS] MAP...

Islands go down to 3 rms, and have two pixels or more. A peer's source and one of --local's are the
same where it lies within a beam of the centroid or in the bounding box: "in --local" counts the
peer's that are in the catalogue of --local, "has" those of --local that the peer has. Needs
astropy.

The last lines have the reliability that srcfind itself counts with --negative, of all maps
together, and end the program with status 1 where its numbers are not those of the searches of maps
and negated maps."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS

import peers

WAYS = ([], ["--local"])
PROGRAMS = {"pybdsf": "PyBDSF", "aegean": "Aegean"}


def search(srcfind, path, options):
    """The catalogue; None where the map cannot be searched."""
    result = subprocess.run(
        [srcfind, "-q", "-f", "json", "-i", "3", "--min-pixels", "2", *options, path],
        capture_output=True,
        text=True,
    )
    return json.loads(result.stdout) if result.returncode == 0 else None


def first_image(hdus):
    return next(hdu for hdu in hdus if hdu.data is not None and hdu.data.ndim >= 2)


def negate(path, negated):
    """Writes the first image of a file with the other sign, as float32."""
    with fits.open(path) as hdus:
        image = first_image(hdus)
        header = image.header.copy()
        for card in ("BSCALE", "BZERO", "BLANK"):
            header.remove(card, ignore_missing=True)
        fits.PrimaryHDU(-image.data.astype(np.float32), header).writeto(
            negated, overwrite=True, output_verify="ignore"
        )


def same_places(catalogue, places):
    """For each source of a catalogue (down) and each place (across) whether they are the same."""
    image, names = catalogue["image"], ("Xposn", "Yposn", "X_min", "X_max", "Y_min", "Y_max")
    beam = np.sqrt(
        image["beam"]["major_deg"] * image["beam"]["minor_deg"] / image["pixel_area_deg2"]
    )
    rows = np.array([[row[name] for name in names] for row in catalogue["sources"]]).reshape(
        -1, len(names)
    )
    centre_x, centre_y, x_min, x_max, y_min, y_max = rows.T[:, :, None]
    x, y = places.T
    in_box = (x >= x_min - 0.5) & (x <= x_max + 0.5) & (y >= y_min - 0.5) & (y <= y_max + 0.5)
    return in_box | (np.hypot(x - centre_x, y - centre_y) <= beam)


def beside(path, catalogue, peer):
    """How many sources a peer's catalogue has, how many of them are in that of srcfind, and how
    many of that are in it; "-" where there is none."""
    if not os.path.exists(peer):
        return ["-"] * 3
    with fits.open(path) as hdus:
        wcs = WCS(first_image(hdus).header).celestial
    places = peers.positions(peer, wcs)
    same = same_places(catalogue, places)
    return [len(places), same.any(axis=0).sum(), same.any(axis=1).sum()]


def count_reliability(srcfind, path, way, total):
    """Adds the bins of a search with --negative to a total; returns the numbers of positive and
    negative sources."""
    bins = search(srcfind, path, [*way, "--negative"])["reliability"]
    for bin_ in bins:
        counts = total.setdefault((bin_["low"], bin_["high"]), [0, 0])
        counts[0] += bin_["positive"]
        counts[1] += bin_["negative"]
    return [sum(bin_[sign] for bin_ in bins) for sign in ("positive", "negative")]


def print_reliability(totals):
    print(
        "\n| S/N | one noise: positive | negative | --local: positive | negative |\n| --- | --- | --- | --- | --- |"
    )
    for low, high in totals[0]:
        print(
            "| %g %s | %s |"
            % (
                low,
                "to %g" % high if high else "and more",
                " | ".join(str(n) for total in totals for n in total[low, high]),
            )
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("srcfind")
    parser.add_argument("maps", nargs="+")
    parser.add_argument("--peers", default="")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # the headers of real maps are seldom faultless
    print(
        "| map | one noise | negated | --local | negated |%s"
        % "".join(" %s | in --local | has |" % name for name in PROGRAMS.values())
    )
    print("| --- |" + " --- |" * (4 + 3 * len(PROGRAMS)))
    totals = np.zeros(4, int)
    reliability, differ = [{} for _ in WAYS], []
    with tempfile.TemporaryDirectory() as work:
        negated = os.path.join(work, "negated.fits")
        for path in given.maps:
            negate(path, negated)
            found = [search(given.srcfind, p, way) for way in WAYS for p in (path, negated)]
            if None in found:
                continue
            counts = [len(catalogue["sources"]) for catalogue in found]
            totals += counts
            by_bins = sum(
                (count_reliability(given.srcfind, path, *of) for of in zip(WAYS, reliability)), []
            )
            differ += [] if by_bins == counts else [path]
            name = os.path.basename(path).split(".fits")[0]
            of_peers = [
                beside(path, found[2], os.path.join(given.peers, "%s.%s.csv" % (name, program)))
                for program in PROGRAMS
            ]
            print("| %s |" % " | ".join(map(str, [name, *counts, *sum(of_peers, [])])))
    print("| all | %s |" % " | ".join(map(str, [*totals, *([""] * 3 * len(PROGRAMS))])))
    print_reliability(reliability)
    if differ:
        sys.exit("reliability has other numbers: %s" % ", ".join(differ))


if __name__ == "__main__":
    main()
