#!/usr/bin/env python3
"""How many sources srcfind finds in maps, and in the same maps negated, where all that it finds is false: with one noise for
the map, and with --local. Beside them what other programs found, where PEERS has MAP.PROGRAM.csv with a line for each source.

usage: tests/bench/negated.py SRCFIND [--peers PEERS] MAP...

Islands go down to 3 rms, and have two pixels or more. Needs astropy."""
import argparse
import csv
import os
import subprocess
import tempfile

import numpy as np
from astropy.io import fits

WAYS = ([], ["--local"])
PROGRAMS = ("pybdsf", "aegean")


def count(srcfind, path, options):
    """The number of sources; None where the map cannot be searched."""
    result = subprocess.run([srcfind, "-q", "-i", "3", "--min-pixels", "2", *options, path], capture_output=True, text=True)
    return sum(1 for _ in csv.reader(result.stdout.splitlines())) - 1 if result.returncode == 0 else None


def negate(path, negated):
    """Writes the first image of a file with the other sign, as float32."""
    with fits.open(path) as hdus:
        image = next(hdu for hdu in hdus if hdu.data is not None and hdu.data.ndim >= 2)
        header = image.header.copy()
        for card in ("BSCALE", "BZERO", "BLANK"):
            header.remove(card, ignore_missing=True)
        fits.PrimaryHDU(-image.data.astype(np.float32), header).writeto(negated, overwrite=True, output_verify="ignore")


def rows_of(path):
    """The lines of a peer's catalogue that begin with a number; "-" where there is no catalogue."""
    if not os.path.exists(path):
        return "-"
    with open(path) as stream:
        return sum(1 for line in stream if line.strip()[:1].isdigit())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("srcfind")
    parser.add_argument("maps", nargs="+")
    parser.add_argument("--peers", default="")
    given = parser.parse_args()
    print("| map | one noise | negated | --local | negated |%s" % "".join(" %s |" % name for name in PROGRAMS))
    print("| --- |" + " --- |" * (4 + len(PROGRAMS)))
    totals = np.zeros(4, int)
    with tempfile.TemporaryDirectory() as work:
        negated = os.path.join(work, "negated.fits")
        for path in given.maps:
            negate(path, negated)
            found = [count(given.srcfind, p, way) for way in WAYS for p in (path, negated)]
            name = os.path.basename(path).split(".fits")[0]
            peers = [rows_of(os.path.join(given.peers, "%s.%s.csv" % (name, program))) for program in PROGRAMS]
            if None not in found:
                totals += found
                print("| %s |" % " | ".join(map(str, [name, *found, *peers])))
    print("| all | %s |" % " | ".join(map(str, [*totals, *([""] * len(PROGRAMS))])))


if __name__ == "__main__":
    main()
