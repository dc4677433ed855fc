#!/usr/bin/env python3
"""What the stages of a search take on each device, and a run over many tiles.

usage: tests/bench/stages.py [--srcfind PATH] [--devices cpu,0] [--runs N] [--tiles N]
       [--options "..."] IMAGE...

Each image is searched N times on each device, in turns. The table has the medians of the stages of
`srcfind -v`, in ms, and of the search without the start of the device. With --tiles, a run over so
many links to each image is timed in their place, whole processes, in seconds. The options are
`--local -i 3 --fit` unless others are given. Files are in the page cache after a first run, which
does not count. Each run writes new files: to replace those of the run before would be timed, too.
The images should be of two kinds: of points alone (tests/bench/sky.py) and with
extended sources (tests/sky.py), which are other work for a GPU.
"""
import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time


def run(a, device, images, directory, name):
    """The seconds of a process, and what it said. Its output has this name, in a new directory."""
    with tempfile.TemporaryDirectory(dir=directory) as new:
        output = os.path.join(new, name)
        command = [a.srcfind, "-v", "--device", device, *a.options.split(), *images, "-o", output]
        start = time.perf_counter()
        said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
        return time.perf_counter() - start, said


def stages_of(said):
    """The milliseconds of each stage, and of the search without the start of a device."""
    line = next(line for line in said.splitlines() if ": open " in line)
    stages = {name: float(ms) for name, ms in re.findall(r"([a-z]+) ([\d.]+) ms", line)}
    number, unit = re.search(r"([\d.]+) (m?s) on the ", said).groups()
    whole = float(number) * (1 if unit == "ms" else 1000)
    stages["search without start"] = whole - stages.pop("start")
    return stages


def table_of_stages(a, image, directory):
    found = {device: [] for device in a.devices}
    for i in range(a.runs + 1):
        for device in a.devices:
            _, said = run(a, device, [image], directory, "catalogue.csv")
            if i > 0:
                found[device].append(stages_of(said))
    print("| %s | %s |" % (os.path.basename(image), " | ".join(a.devices)))
    print("| --- |" + " --- |" * len(a.devices))
    for stage in found[a.devices[0]][0]:
        medians = [statistics.median(s[stage] for s in found[d]) for d in a.devices]
        if max(medians) >= 0.05:
            print("| %s | %s |" % (stage, " | ".join("%.1f" % m for m in medians)))
    print()


def link_tiles(a, image, directory):
    suffix = re.search(r"(\.fits.*|)$", os.path.basename(image)).group()
    tiles = [os.path.join(directory, "tile%04d%s" % (i, suffix)) for i in range(a.tiles)]
    for tile in tiles:
        os.symlink(os.path.abspath(image), tile)
    return tiles


def table_of_tiles(a, image, directory):
    tiles = link_tiles(a, image, directory)
    seconds = {device: [] for device in a.devices}
    for i in range(a.runs + 1):
        for device in a.devices:
            taken, _ = run(a, device, tiles, directory, "out/")
            if i > 0:
                seconds[device].append(taken)
    medians = ", ".join("%s %.2f" % (d, statistics.median(s)) for d, s in seconds.items())
    print("%d x %s: %s" % (a.tiles, os.path.basename(image), medians))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--srcfind", default="srcfind")
    parser.add_argument("--devices", default="cpu,0", type=lambda text: text.split(","))
    parser.add_argument("--runs", default=5, type=int)
    parser.add_argument("--tiles", default=0, type=int)
    parser.add_argument("--options", default="--local -i 3 --fit")
    parser.add_argument("images", nargs="+", metavar="IMAGE")
    a = parser.parse_args()
    for image in a.images:
        with tempfile.TemporaryDirectory() as directory:
            (table_of_tiles if a.tiles else table_of_stages)(a, image, directory)


if __name__ == "__main__":
    main()
