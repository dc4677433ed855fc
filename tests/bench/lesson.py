#!/usr/bin/env python3
"""The four steps of the GPU lesson that srcfind comes from, beside srcfind, on one image in one
session.

usage: SRCFIND=build/src/srcfind tests/bench/lesson.py IMAGE [ROUNDS]

The lesson (GPU programming in Python, Netherlands eScience Center) clips at 3 sigma until nothing
goes, takes the pixels above 5 sigma, labels them, and finds the centre of mass and the sum of each
source: here in NumPy and SciPy, in CuPy where it can be imported and finds a GPU, and by `srcfind
--background zero`, in one thread and in all of them, and on a GPU where there is one. Also in
photutils, where that can be imported: sigma_clipped_stats, detect_sources, SourceCatalog. Times are
medians of ROUNDS (default 5) after one that is not counted, in milliseconds, with the image in
memory (srcfind reads it from the page cache, which is part of its first step). Each must find the
same number of sources: if not, the table says so, and the exit status is 1.
"""
import json
import os
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np
import scipy.ndimage
from astropy.io import fits

COMMAND = os.environ.get("SRCFIND", "srcfind")
warnings.simplefilter("ignore")  # of blanks, and of headers
STEPS = ["clip", "segment", "label", "measure"]


def find_sources(xp, ndimage, image, wait):
    """One round of the lesson's steps; the milliseconds of each, and how many sources there
    were."""
    times = []

    def step(function):
        wait()
        start = time.perf_counter()
        result = function()
        wait()
        times.append(1e3 * (time.perf_counter() - start))
        return result

    def clip():
        pixels = image[xp.isfinite(image)].ravel()
        while True:
            median, sigma = xp.median(pixels), xp.std(pixels, dtype=np.float64)
            kept = pixels[(pixels > median - 3 * sigma) & (pixels < median + 3 * sigma)]
            if kept.size == pixels.size:
                return float(sigma)
            pixels = kept

    def measure():
        numbers = xp.arange(1, n + 1)
        ndimage.center_of_mass(image, labels, numbers)
        ndimage.sum(image, labels, numbers)

    sigma = step(clip)
    above = step(lambda: xp.where(image > 5 * sigma, 1, 0))
    labels, n = step(lambda: ndimage.label(above))
    step(measure)
    return times, n


def photutils_round(image):
    from astropy.stats import sigma_clipped_stats
    from photutils.segmentation import SourceCatalog, detect_sources

    start = time.perf_counter()
    sigma = sigma_clipped_stats(image, sigma=3, maxiters=None)[2]
    clipped = time.perf_counter()
    segments = detect_sources(image, 5 * sigma, npixels=1, connectivity=4)
    labelled = time.perf_counter()
    SourceCatalog(image, segments).to_table(
        columns=["label", "xcentroid", "ycentroid", "segment_flux"]
    )
    end = time.perf_counter()
    return [
        1e3 * (clipped - start),
        0,
        1e3 * (labelled - clipped),
        1e3 * (end - labelled),
    ], segments.nlabels


def srcfind_round(path, options):
    """The stages of one process, which -v shows; the clip has the reading, labels come with the
    islands."""
    result = subprocess.run(
        [COMMAND, "-v", "--background", "zero", *options, path, "-o", os.devnull],
        capture_output=True,
        text=True,
        check=True,
    )
    stages = result.stderr.splitlines()[-1]
    ms = {
        name: float(stages.split(name + " ")[1].split()[0])
        for name in ("transfer", "scan", "clip", "islands", "measure")
    }
    n = int(result.stderr.split(" source")[0].split()[-1])
    return [ms["transfer"] + ms["scan"] + ms["clip"], 0, ms["islands"], ms["measure"]], n


def compare_round(path):
    """On the GPU, warm: what --compare-cpu shows of it. None without a GPU."""
    result = subprocess.run(
        [COMMAND, "--compare-cpu", "-f", "json", "--background", "zero", path],
        capture_output=True,
        text=True,
    )
    if result.returncode == 3:
        return None
    report = json.loads(result.stdout)
    ms = {name: 1e3 * pair["gpu"] for name, pair in report["seconds"].items()}
    return [ms["transfer"] + ms["scan"] + ms["clip"], 0, ms["islands"], ms["measure"]], report[
        "statistics"
    ]["sources"]["gpu"]


def medians(one_round, rounds):
    results = [one_round() for _ in range(rounds + 1)][1:]
    if results[0] is None:
        return None
    return [statistics.median(times) for times in zip(*(r[0] for r in results))], int(results[0][1])


def cupy_round(image):
    """A round in CuPy; None where there is no CuPy or no GPU."""
    try:
        import cupy
        import cupyx.scipy.ndimage

        on_device = cupy.asarray(image)
    except Exception:  # whatever keeps CuPy from working, the other rows are still of use
        return None
    return lambda: find_sources(
        cupy, cupyx.scipy.ndimage, on_device, cupy.cuda.Device().synchronize
    )


def contenders(path, image):
    """Pairs of a name and a function for a round."""
    yield "NumPy and SciPy", lambda: find_sources(np, scipy.ndimage, image, lambda: None)
    on_gpu = cupy_round(image)
    if on_gpu:
        yield "CuPy", on_gpu
    try:
        import photutils  # noqa: F401

        yield "photutils", lambda: photutils_round(image)
    except ImportError:
        pass
    yield "srcfind, one thread", lambda: srcfind_round(path, ["--cpu", "--threads", "1"])
    yield "srcfind, all threads", lambda: srcfind_round(path, ["--cpu"])
    if compare_round(path):
        yield "srcfind, GPU", lambda: compare_round(path)


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    path, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 5
    image = np.squeeze(fits.getdata(path)).astype(np.float32)
    print(
        "%-22s" % os.path.basename(path)
        + "".join("%12s" % s for s in STEPS)
        + "%12s%9s" % ("all, ms", "sources")
    )
    counts, first = [], None
    for name, one_round in contenders(path, image):
        times, n = medians(one_round, rounds)
        first = first or sum(times)
        counts.append(n)
        print(
            "%-22s" % name
            + "".join("%12.2f" % t for t in times)
            + "%12.2f%9d  %.4g x" % (sum(times), n, first / sum(times)),
            flush=True,
        )
    if len(set(counts)) > 1:
        print("the numbers of sources differ")
    return len(set(counts)) > 1


if __name__ == "__main__":
    sys.exit(main())
