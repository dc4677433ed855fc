#!/usr/bin/env python3
"""A synthetic sky of any size, quickly: noise correlated over a beam, and point sources.

usage: tests/bench/sky.py SIDE OUTPUT.fits [SHARE [SEED]]

SHARE is that of the pixels above 5 sigma, about (default 0.01). Skies of more than 4096 pixels a side repeat one of 4096.
Needs NumPy and SciPy; the FITS file is written by hand, so that no astropy is needed where there is a GPU and little else.
"""
import sys

import numpy as np
from scipy.ndimage import gaussian_filter

BEAM = 1.7  # sigma, in pixels
UNIQUE = 4096


def sky(side, share, seed):
    random = np.random.default_rng(seed)
    noise = gaussian_filter(random.standard_normal((side, side), dtype=np.float32), BEAM, mode="wrap")
    n = int(side * side * share / 21.4)  # pixels above 5 sigma of a source, on average
    fluxes = np.zeros((side, side), np.float32)
    place = random.integers(0, side, n), random.integers(0, side, n)
    fluxes[place] = random.pareto(1.2, n).astype(np.float32).clip(0, 300) * 8 + 6
    sources = gaussian_filter(fluxes, BEAM, mode="wrap") * (2 * np.pi * BEAM**2)
    return (noise / noise.std() + sources) * 1e-4


def header(side):
    cards = [("SIMPLE", "T"), ("BITPIX", -32), ("NAXIS", 2), ("NAXIS1", side), ("NAXIS2", side),
             ("BUNIT", "'JY/BEAM '"), ("BMAJ", 0.00166), ("BMIN", 0.00166), ("BPA", 0.0),
             ("CTYPE1", "'RA---SIN'"), ("CRVAL1", 150.0), ("CRPIX1", side / 2), ("CDELT1", -0.000416),
             ("CTYPE2", "'DEC--SIN'"), ("CRVAL2", 2.0), ("CRPIX2", side / 2), ("CDELT2", 0.000416)]
    text = "".join(f"{key:<8}= {value:>20}".ljust(80) for key, value in cards) + "END".ljust(80)
    return text.ljust(-(-len(text) // 2880) * 2880).encode("ascii")


def main():
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    side, share = int(sys.argv[1]), float(sys.argv[3]) if len(sys.argv) > 3 else 0.01
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    if side > UNIQUE and side % UNIQUE:
        sys.exit(f"SIDE must be at most {UNIQUE}, or a multiple of it")
    unique = min(side, UNIQUE)
    block = sky(unique, share, seed).astype(">f4")
    rows = np.tile(block, (1, side // unique)).tobytes()
    with open(sys.argv[2], "wb") as stream:
        stream.write(header(side))
        for _ in range(side // unique):
            stream.write(rows)
        stream.write(b"\0" * (-side * side * 4 % 2880))


if __name__ == "__main__":
    main()
