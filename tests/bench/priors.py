#!/usr/bin/env python3
"""How well `--at` measures crowded positions, beside global least-squares solutions.

usage: tests/bench/priors.py [--srcfind PATH] [--positions N] [--beams AREA] [--seed S] [--threads N]
       [--keep DIRECTORY]

A sky of N points of the beam's shape (5 pixels FWHM) at random places, one in AREA beams, in noise
whose autocorrelation is the beam. Half of the points have no flux, the number of others with a peak
above S falls as 1/S, from 1 to 300 times the noise. The noise is known (--rms), and so is the
background (0): what is compared is how the fluxes are solved for. Each line has

    scatter   of (measured - true) / rms: half of the range of the middle 68%
    median    of the same
    pull      the scatter of (measured - true) / error
    faint     the scatter of those without flux
    seconds   of CPU, and the largest memory

for `--at`, `--at --at-positive`, least squares of all positions at once over all pixels (sparse normal
equations), and the same with fluxes of at least 0 (`nnls` of SciPy in tiles of 12 beams that overlap
by 4), as XID and its likes do. Needs NumPy and SciPy.
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import sky  # noqa: E402

BEAM = 5.0
BRIGHTEST = 300.0  # peaks, in units of the noise
BEAM_AREA = np.pi * BEAM**2 / (4 * np.log(2))
REACH = 4 * BEAM / sky.FWHM  # pixels that a point has in the solutions
TILE, MARGIN = 12 * BEAM, 2 * BEAM


def make_sky(a, directory):
    """Writes the image and the catalogue; gives positions, true peaks, and pixels, in rms."""
    side = round(np.sqrt(a.positions * a.beams * BEAM_AREA))
    path = os.path.join(directory, "sky.fits")
    settings = sky.arguments([str(side), path, "--beam", "%g,%g,0" % (BEAM, BEAM)])
    random = np.random.default_rng(a.seed)
    x, y = random.uniform(0, side - 1, (2, a.positions))
    peak = 1 / random.uniform(1 / BRIGHTEST, 1, a.positions)
    peak[random.random(a.positions) < 0.5] = 0
    shape = [np.full(a.positions, value) for value in sky.covariance(settings.beam)]
    image = sky.draw(settings, (x, y, peak, np.ones(a.positions), *shape), random)
    sky.write_image(settings, image)
    with open(os.path.join(directory, "positions.csv"), "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["Source_id", "RA", "DEC"])
        for i, place in enumerate(zip(*sky.world(settings, x, y))):
            writer.writerow([i, "%.12g" % place[0], "%.12g" % place[1]])
    return x, y, peak, image


def measure(a, directory, *options):
    """Peak, error, seconds of CPU, and MiB of a run."""
    output = os.path.join(directory, "measured.csv")
    command = [a.srcfind, "-q", "--cpu", "-j", str(a.threads), "--fit", "--rms", str(sky.NOISE)]
    command += ["--background", "zero", "--at", os.path.join(directory, "positions.csv")]
    command += [*options, os.path.join(directory, "sky.fits"), "-o", output]
    # in a process of its own, which has no other child
    program = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program, *command], check=True, capture_output=True, text=True
    )
    seconds, memory = map(float, said.stdout.split())
    rows = np.genfromtxt(output, delimiter=",", names=True, dtype=None, encoding="utf-8")
    order = np.argsort(rows["Source_id"])
    flux, error = rows["Peak_flux"][order] / sky.NOISE, rows["E_Peak_flux"][order] / sky.NOISE
    return flux, error, seconds, memory


def shapes_of(x, y, side):
    """A sparse matrix: the shapes of all positions over all pixels."""
    reach = int(np.ceil(REACH))
    offsets = np.arange(-reach, reach + 1)
    px = np.rint(x).astype(int)[:, None, None] + offsets[None, None, :]
    py = np.rint(y).astype(int)[:, None, None] + offsets[None, :, None]
    square = (px - x[:, None, None]) ** 2 + (py - y[:, None, None]) ** 2
    value = np.exp(-square * sky.FWHM**2 / (2 * BEAM**2))
    px, py = np.broadcast_arrays(px, py)
    used = (px >= 0) & (px < side) & (py >= 0) & (py < side)
    column = np.broadcast_to(np.arange(len(x))[:, None, None], used.shape)
    entries = value[used], ((py * side + px)[used], column[used])
    return scipy.sparse.csr_matrix(entries, (side * side, len(x)))


def solve(shapes, image):
    return scipy.sparse.linalg.spsolve((shapes.T @ shapes).tocsc(), shapes.T @ image.ravel())


def solve_positive(shapes, image, x, y):
    """Tile by tile; each position has the flux of the tile in which it is."""
    side, flux = len(image), np.zeros(len(x))
    for top in np.arange(0, side, TILE):
        for left in np.arange(0, side, TILE):
            near = (np.abs(x - left - TILE / 2) < TILE / 2 + MARGIN) & (
                np.abs(y - top - TILE / 2) < TILE / 2 + MARGIN
            )
            inside = (x >= left) & (x < left + TILE) & (y >= top) & (y < top + TILE)
            if not inside.any():
                continue
            low_x, low_y = (max(0, int(v - MARGIN)) for v in (left, top))
            high_x, high_y = (min(side, int(v + TILE + MARGIN) + 1) for v in (left, top))
            pixels = np.add.outer(np.arange(low_y, high_y) * side, np.arange(low_x, high_x)).ravel()
            members = np.flatnonzero(near)
            part, _ = scipy.optimize.nnls(
                shapes[pixels][:, members].toarray(), image.ravel()[pixels]
            )
            own = inside[members]
            flux[members[own]] = part[own]
    return flux


def width(values):
    low, high = np.nanpercentile(values, [15.87, 84.13])
    return (high - low) / 2


def print_line(name, flux, true, error, seconds, memory):
    off = flux - true
    pull = "%6.3f" % width(off / error) if error is not None else "     -"
    memory = "%5.0f MiB" % memory if memory else ""
    print(
        "%-22s %6.3f %+6.3f %s %6.3f %7.1f %s"
        % (name, width(off), np.nanmedian(off), pull, width(off[true == 0]), seconds, memory)
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--srcfind", default="srcfind")
    parser.add_argument("--positions", default=75000, type=int)
    parser.add_argument("--beams", default=2.5, type=float)
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--threads", default=1, type=int)
    parser.add_argument("--keep", metavar="DIRECTORY")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = a.keep or temporary
        os.makedirs(directory, exist_ok=True)
        x, y, true, image = make_sky(a, directory)
        print("%d positions, %d pixels a side" % (a.positions, len(image)))
        print("%-22s %6s %6s %6s %6s %7s" % ("", "scatter", "median", "pull", "faint", "seconds"))
        for name, options in ("--at", ()), ("--at --at-positive", ("--at-positive",)):
            flux, error, seconds, memory = measure(a, directory, *options)
            print_line(name, flux, true, error, seconds, memory)
        start = time.process_time()
        shapes = shapes_of(x, y, len(image))
        flux = solve(shapes, image)
        print_line("least squares", flux, true, None, time.process_time() - start, None)
        start = time.process_time()
        flux = solve_positive(shapes, image, x, y)
        print_line("nnls, in tiles", flux, true, None, time.process_time() - start, None)


if __name__ == "__main__":
    main()
