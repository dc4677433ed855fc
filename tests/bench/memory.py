#!/usr/bin/env python3
"""The peak memory of a search, in several ways, and what the catalogue has.

usage: tests/bench/memory.py SRCFIND [SIDE]

SIDE is that of the image (default 16384 pixels). Needs NumPy and SciPy, and twice the image's size
in TMPDIR.
"""
import os
import subprocess
import sys
import tempfile

SKY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sky.py")
WAYS = (
    ["--threads", "1"],
    ["--threads", "16", "-i", "3"],
    ["-i", "1.5"],
    ["--local", "-i", "3"],
    ["--local", "-i", "3", "--fit"],
    ["-i", "3", "--save", "islands"],
)


def peak(command):
    """MiB, and the summary of the run: in a process of its own, which has no other child."""
    program = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, *command], check=True, capture_output=True, text=True
    )
    return float(result.stdout), result.stderr.strip()


def main(srcfind, side="16384"):
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "sky.fits")
        subprocess.run([sys.executable, SKY, side, path], check=True)
        for options in WAYS:
            mib, summary = peak(
                [srcfind, path, "--cpu", "-o", os.path.join(place, "catalogue.csv"), *options]
            )
            print("%s: %.0f MiB; %s" % (" ".join(options), mib, summary), flush=True)


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
