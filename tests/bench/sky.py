#!/usr/bin/env python3
"""A synthetic sky of any size, quickly: noise correlated over a beam, and point sources.

usage: tests/bench/sky.py SIDE OUTPUT.fits [SHARE [SEED]]

SHARE is that of the pixels above 5 sigma, about (default 0.01). Skies of more than 4096 pixels a
side repeat one of 4096. There is no list of the sources: tests/sky.py makes skies with one. Needs
NumPy and SciPy, and no astropy, which is missing where there is a GPU and little else.
"""
import os
import sys

import numpy as np
from scipy.ndimage import gaussian_filter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from sky import header, image_cards  # noqa: E402

BEAM = 1.7  # sigma, in pixels
UNIQUE = 4096


def sky(side, share, seed):
    random = np.random.default_rng(seed)
    noise = gaussian_filter(
        random.standard_normal((side, side), dtype=np.float32), BEAM, mode="wrap"
    )
    n = int(side * side * share / 21.4)  # pixels above 5 sigma of a source, on average
    fluxes = np.zeros((side, side), np.float32)
    place = random.integers(0, side, n), random.integers(0, side, n)
    fluxes[place] = random.pareto(1.2, n).astype(np.float32).clip(0, 300) * 8 + 6
    sources = gaussian_filter(fluxes, BEAM, mode="wrap") * (2 * np.pi * BEAM**2)
    return (noise / noise.std() + sources) * 1e-4


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
        stream.write(
            header(image_cards(side, -32, (0.00166, 0.00166, 0.0), 0.000416, (150.0, 2.0)))
        )
        for _ in range(side // unique):
            stream.write(rows)
        stream.write(b"\0" * (-side * side * 4 % 2880))


if __name__ == "__main__":
    main()
