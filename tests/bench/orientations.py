#!/usr/bin/env python3
"""How much a catalogue of fits depends on the orientation of the image: each map is searched as it
is, mirrored in x, in y and in both, and transposed, and the catalogues are compared.

usage: tests/bench/orientations.py SRCFIND [--own-noise] [--options OPTIONS] MAP...

All orientations get the noise of the first one, mirrored along: the boxes of --local begin at one
side of an image, so that each orientation has its own noise, which --own-noise leaves it. The sum of
Total_flux of each island is compared with that of the same island in the first orientation, and each
row with the nearest one of that island. "off": islands and rows that differ by more than their error
in any orientation (an island's: of its rows' errors, added in squares); "lost": islands that another
orientation has not; "largest spread": of a sum, |difference| / first sum. Needs astropy."""
import argparse
import csv
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from orientation import ORIENTATIONS, read, turn_back, write_turned  # noqa: E402


def search(srcfind, path, options, catalogue):
    if subprocess.run([srcfind, "-q", "--cpu", *options, path, "-o", catalogue]).returncode:
        sys.exit(1)  # it has said why
    with open(catalogue) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def share(a, b):
    """What two boxes have in common / what they cover together."""
    both = [(max(a[k], b[k]), min(a[k + 1], b[k + 1])) for k in (0, 2)]
    common = np.prod([max(high - low + 1, 0) for low, high in both])
    areas = [(c[1] - c[0] + 1) * (c[3] - c[2] + 1) for c in (a, b)]
    return common / (sum(areas) - common)


class Catalogue:
    """Rows in the pixels of the first orientation, by island."""

    def __init__(self, rows, how, shape):
        def column(name):
            return np.array([float(row[name] or "nan") for row in rows])

        self.x, self.y = turn_back(how, column("Xposn"), column("Yposn"), shape)
        self.flux, self.error = column("Total_flux"), column("E_Total_flux")
        e_x, e_y = column("E_Xposn"), column("E_Yposn")
        self.e_x, self.e_y = (e_y, e_x) if "t" in how else (e_x, e_y)
        corners = [
            turn_back(how, column("X_" + x), column("Y_" + y), shape)
            for x, y in (("min", "min"), ("max", "max"))
        ]
        self.corners = np.array(corners).transpose(1, 0, 2)  # x or y, two corners, rows
        numbers = column("Isl_id")
        self.islands = [np.flatnonzero(numbers == number) for number in np.unique(numbers)]

    def box(self, island):
        """X_min, X_max, Y_min and Y_max of an island's pixels."""
        return (
            np.nanmin(self.corners[0][:, island]),
            np.nanmax(self.corners[0][:, island]),
            np.nanmin(self.corners[1][:, island]),
            np.nanmax(self.corners[1][:, island]),
        )

    def same_island(self, box):
        """The island whose box shares the most with this one, at least half of both together; None:
        there is none."""
        shares = [share(box, self.box(island)) for island in self.islands]
        best = int(np.argmax(shares)) if shares else -1
        return self.islands[best] if best >= 0 and shares[best] >= 0.5 else None

    def sum_of(self, island):
        return self.flux[island].sum(), np.sqrt(np.nansum(self.error[island] ** 2))

    def is_off(self, i, other, island):
        """Whether row i differs by more than an error from the nearest one of another island."""
        j = island[np.hypot(other.x[island] - self.x[i], other.y[island] - self.y[i]).argmin()]
        return (
            abs(other.flux[j] - self.flux[i]) > max(self.error[i], other.error[j])
            or abs(other.x[j] - self.x[i]) > max(self.e_x[i], other.e_x[j])
            or abs(other.y[j] - self.y[i]) > max(self.e_y[i], other.e_y[j])
        )


def compare(first, others):
    """For each island of the first catalogue its sums, the largest error of a sum, how many rows are
    off, and in how many orientations it is lost."""
    result = []
    for island in first.islands:
        total, error = first.sum_of(island)
        sums, off, lost = [total], np.zeros(len(island), bool), 0
        for other in others:
            there = other.same_island(first.box(island))
            if there is None:
                lost += 1
                continue
            other_total, other_error = other.sum_of(there)
            sums.append(other_total)
            error = max(error, other_error)
            off |= [first.is_off(i, other, there) for i in island]
        result.append((np.array(sums), error, off.sum(), lost))
    return result


def catalogues_of(arguments, path, folder):
    """The catalogues of a map in all orientations."""
    options = arguments.options.split()
    data, header = read(path)
    image, table = os.path.join(folder, "i.fits"), os.path.join(folder, "c.csv")
    write_turned(image, data, header, "")
    # with --scales the map of the background would have that of scales, too
    of_image = [option for option in options if not option.startswith("--scales")] + ["--fit"]
    search(arguments.srcfind, image, of_image + ["--save", "rms,background"], table)
    noise = {kind: read(os.path.join(folder, "c.%s.fits" % kind)) for kind in ("rms", "background")}
    catalogues = []
    for how in ("",) + ORIENTATIONS:
        write_turned(image, data, header, how)
        given = []
        for kind, (plane, head) in noise.items() if not arguments.own_noise else ():
            file = os.path.join(folder, kind + ".fits")
            write_turned(file, plane, head, how)
            given += ["--%s-map" % kind, file]
        rows = search(arguments.srcfind, image, options + given, table)
        catalogues.append(Catalogue(rows, how, data.shape[-2:]))
    return catalogues


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("srcfind")
    parser.add_argument("maps", nargs="+", metavar="MAP")
    parser.add_argument("--own-noise", action="store_true")
    parser.add_argument("--options", default="-l -i 3 --fit")
    arguments = parser.parse_args()
    print("| map | islands | lost | off | largest spread | rows | off |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    total = np.zeros(5, int)
    for path in arguments.maps:
        with tempfile.TemporaryDirectory() as folder:
            first, *others = catalogues_of(arguments, path, folder)
        found = compare(first, others)
        spread = max((abs(sums / sums[0] - 1).max() for sums, _, _, _ in found), default=0)
        off = sum(np.any(abs(sums - sums[0]) > error) for sums, error, _, _ in found)
        lost = sum(lost > 0 for _, _, _, lost in found)
        counts = [len(found), lost, off, len(first.flux), sum(rows for _, _, rows, _ in found)]
        total += counts
        name = os.path.basename(path).rsplit(".", 1)[0]
        print(
            "| %s | %d | %d | %d | %.3f | %d | %d |" % (name, *counts[:3], spread, *counts[3:]),
            flush=True,
        )
    print("| all | %d | %d | %d | | %d | %d |" % tuple(total))


if __name__ == "__main__":
    sys.exit(main())
