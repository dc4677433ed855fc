#!/usr/bin/env python3
"""How long it takes to merge the catalogues of many tiles that overlap by half: srcfind --merge
beside a run without it, and srcfind-merge from each format that it reads. Seconds, bytes of memory
at most, and rows.

usage: SRCFIND=build-release/src/srcfind tests/bench/merge.py [TILES [DIRECTORY]]

A tile has 200 x 200 pixels and some 520 sources; TILES are 2000, a million rows.
"""
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from astropy.io import fits

SIDE, SHIFT, SPACING, CELL = 200, 96, 8, 5e-4
COMMAND = os.environ.get("SRCFIND", "srcfind")
MERGE = os.path.join(os.path.dirname(COMMAND), "srcfind-merge")
PEAK = (
    "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024); sys.exit(code)"
)


def write_tiles(directory, n):
    """Cut from a sky that repeats itself each half tile, along a line of constant declination."""
    random = np.random.default_rng(1)
    y, x = np.mgrid[:SIDE, :SIDE]
    grid = 20 * np.exp(-(((x % SPACING) - 4) ** 2 + ((y % SPACING) - 4) ** 2) / 3)
    paths = []
    for i in range(n):
        header = fits.Header(
            {
                "BUNIT": "Jy/beam",
                "CTYPE1": "RA---CAR",
                "CTYPE2": "DEC--CAR",
                "CRPIX1": 1.0 - SHIFT * (i % 1000),
                "CRPIX2": 1.0,
                "CRVAL1": 150.0,
                "CRVAL2": 0.0,
                "CDELT1": -CELL,
                "CDELT2": CELL,
                "BMAJ": 3 * CELL,
                "BMIN": 3 * CELL,
                "BPA": 0.0,
            }
        )
        header["CRPIX2"] -= SHIFT * (i // 1000)
        paths.append(os.path.join(directory, "tile%d.fits" % i))
        fits.PrimaryHDU(
            (grid + random.normal(0, 1 + 0.1 * (i % 7), grid.shape)).astype(np.float32), header
        ).writeto(paths[-1])
    return paths


def measure(what, command):
    start = time.perf_counter()
    result = subprocess.run(
        [sys.executable, "-c", PEAK, *command], capture_output=True, text=True, check=True
    )
    print(
        "%-40s %6.2f s %6.0f MiB   %s"
        % (what, time.perf_counter() - start, int(result.stdout) / 2**20, result.stderr.strip())
    )


def main(n, directory):
    paths = write_tiles(directory, n)
    tiles, out = os.path.join(directory, "list"), os.path.join(directory, "out")
    with open(tiles, "w") as stream:
        stream.write("".join(path + "\n" for path in paths))
    search = [COMMAND, "--files-from", tiles, "-q", "--cpu"]
    for name in ("csv", "fits", "ecsv", "json"):
        measure("search, -f " + name, [*search, "-o", out, "-f", name])
        measure(
            "search, -f %s --merge" % name,
            [*search, "-o", out, "-f", name, "--merge", os.path.join(directory, "m." + name)],
        )
        catalogues = os.path.join(directory, "catalogues")
        with open(catalogues, "w") as stream:
            stream.write("".join(os.path.join(out, "tile%d.%s\n" % (i, name)) for i in range(n)))
        measure(
            "srcfind-merge, from " + name,
            [
                MERGE,
                "--files-from",
                catalogues,
                "-o",
                os.path.join(directory, "again." + name),
                *(["--radius", "2.7"] if name == "csv" else []),
            ],
        )


if __name__ == "__main__":
    os.makedirs(sys.argv[2], exist_ok=True) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as place:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, place)
