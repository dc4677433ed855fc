#!/usr/bin/env python3
"""How long each format takes to write, beside the search of the image's file, and write(2) of as
many bytes.

usage: tests/bench/formats.py IMAGE [THREADS [DIRECTORY]]

Medians of 7 rounds, in milliseconds; files are new each time. Needs the Python package srcfind.
"""
import os
import statistics
import sys
import tempfile
import time

import srcfind

ROUNDS, PIECE = 7, bytes(1 << 18)
SUFFIXES = (
    "csv",
    "json",
    "vot",
    "fits",
    "ecsv",
    "reg",
    "crtf",
    "txt",
    "csv.gz",
    "json.gz",
    "vot.gz",
    "ecsv.gz",
    "reg.gz",
)


def median(work, path=None):
    """Milliseconds; the file that work makes is removed after each round."""

    def seconds():
        start = time.perf_counter()
        work()
        taken = time.perf_counter() - start
        if path:
            os.remove(path)
        return taken

    return 1e3 * statistics.median(seconds() for _ in range(ROUNDS))


def write_bytes(path, n):
    """What no writer can be faster than: one thread gives the bytes to the kernel."""
    with open(path, "wb", buffering=0) as stream:
        for _ in range(n // len(PIECE)):
            stream.write(PIECE)


def main(image, threads=None, directory=None):
    finder = srcfind.Finder(device="cpu", threads=threads)
    search = median(lambda: finder.find(image))
    catalogue = finder.find(image)
    print("%d rows; search from the file %.0f ms" % (len(catalogue), search))
    print(
        "| suffix | MB | write | of the search | write(2) alone |\n| --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory(dir=directory) as place:
        for suffix in SUFFIXES:
            path = os.path.join(place, "c." + suffix)
            catalogue.write(path)
            size = os.path.getsize(path)
            os.remove(path)
            ms = median(lambda: catalogue.write(path), path)
            alone = median(lambda: write_bytes(path, size), path)
            print(
                "| .%s | %.0f | %.1f | %.0f%% | %.1f |"
                % (suffix, size / 1e6, ms, 100 * ms / search, alone)
            )


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
