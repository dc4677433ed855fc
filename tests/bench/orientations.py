#!/usr/bin/env python3
"""How much a catalogue of fits depends on the orientation of the image: each map is searched as it is, mirrored in x,
in y and in both, and transposed, and the catalogues are compared.

usage: tests/bench/orientations.py SRCFIND [--own-noise] [--options OPTIONS] MAP...

All orientations get the noise of the first one, mirrored along (the boxes of --local begin at one side of an image, so
that each orientation has its own); --own-noise leaves them theirs. For each island with a row the sum of Total_flux is
compared with that of the same island in the first orientation, and each row with the nearest of the same island.

"spread" is the largest |difference| / first sum, "islands off" and "rows off" count those that differ by more than
their error in any orientation (an island's: of its rows' errors, added in squares). Needs astropy."""
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
    subprocess.run([srcfind, "-q", "--cpu", *options, path, "-o", catalogue], check=True)
    with open(catalogue) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


class Catalogue:
    """Rows in the pixels of the first orientation."""

    def __init__(self, rows, how, shape):
        def column(name):
            return np.array([float(row[name] or "nan") for row in rows])

        self.x, self.y = turn_back(how, column("Xposn"), column("Yposn"), shape)
        self.flux, self.error = column("Total_flux"), column("E_Total_flux")
        self.e_x, self.e_y = turn_back(
            "t" if "t" in how else "", column("E_Xposn"), column("E_Yposn"), shape
        )
        self.scale = column("Scale") if rows and "Scale" in rows[0] else np.zeros(len(rows))
        self.flags = column("Flags").astype(int)
        self.gaussians = column("N_Gaus")
        self.island = column("Isl_id").astype(int)
        island_flux = column("Isl_Total_flux")
        self.islands = {
            number: (self.island == number, island_flux[self.island == number][0])
            for number in np.unique(self.island)
        }

    def box_of(self, island):
        rows, flux = self.islands[island]
        return flux, self.x[rows].mean(), self.y[rows].mean()


def same_island(first, island, other):
    """The other catalogue's island with the same flux in its pixels, nearest to the first one's."""
    flux, x, y = first.box_of(island)
    best = None
    for number in other.islands:
        other_flux, other_x, other_y = other.box_of(number)
        if abs(other_flux - flux) <= 1e-6 * abs(flux) + 1e-30:
            distance = np.hypot(other_x - x, other_y - y)
            best = min(best, (distance, number)) if best else (distance, number)
    return None if best is None else best[1]


def compare(first, others):
    """A list of (island, sums, errors, rows off, rows), one sum an orientation."""
    result = []
    for island, (rows, _) in first.islands.items():
        sums, errors, n_rows = (
            [first.flux[rows].sum()],
            [np.sqrt(np.nansum(first.error[rows] ** 2))],
            [int(rows.sum())],
        )
        gaussians = [int(np.nansum(first.gaussians[rows]))]
        off = np.zeros(rows.sum(), bool)
        for other in others:
            number = same_island(first, island, other)
            if number is None:
                sums.append(np.nan)
                continue
            there = other.islands[number][0]
            n_rows.append(int(there.sum()))
            gaussians.append(int(np.nansum(other.gaussians[there])))
            sums.append(other.flux[there].sum())
            errors.append(np.sqrt(np.nansum(other.error[there] ** 2)))
            for k, i in enumerate(np.flatnonzero(rows)):
                distance = np.hypot(other.x[there] - first.x[i], other.y[there] - first.y[i])
                j = np.flatnonzero(there)[distance.argmin()]
                off[k] |= (
                    abs(other.flux[j] - first.flux[i]) > max(first.error[i], other.error[j])
                    or abs(other.x[j] - first.x[i]) > max(first.e_x[i], other.e_x[j])
                    or abs(other.y[j] - first.y[i]) > max(first.e_y[i], other.e_y[j])
                )
        result.append((island, np.array(sums), np.array(errors), off, n_rows, gaussians))
    return result


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("srcfind")
    parser.add_argument("maps", nargs="+", metavar="MAP")
    parser.add_argument("--own-noise", action="store_true")
    parser.add_argument("--options", default="-l -i 3 --fit")
    parser.add_argument("--verbose", action="store_true", help="print each island that differs")
    arguments = parser.parse_args()
    options = arguments.options.split()
    print("map                      islands  rows  spread  > 2%  islands off  rows off")
    total = np.zeros(4, int)
    for path in arguments.maps:
        name = os.path.basename(path)
        data, header = read(path)
        shape = data.shape[-2:]
        with tempfile.TemporaryDirectory() as folder:
            image, table = os.path.join(folder, "i.fits"), os.path.join(folder, "c.csv")
            write_turned(image, data, header, "")
            search(arguments.srcfind, image, options + ["--save", "rms,background"], table)
            noise = {
                kind: read(os.path.join(folder, "c.%s.fits" % kind))
                for kind in ("rms", "background")
            }
            catalogues = []
            for how in ("",) + ORIENTATIONS:
                write_turned(image, data, header, how)
                given = []
                if not arguments.own_noise:
                    for kind, (plane, head) in noise.items():
                        file = os.path.join(folder, kind + ".fits")
                        write_turned(file, plane, head, how)
                        given += ["--%s-map" % kind, file]
                catalogues.append(
                    Catalogue(search(arguments.srcfind, image, options + given, table), how, shape)
                )
            found = compare(catalogues[0], catalogues[1:])
        spreads = [np.nanmax(abs(sums / sums[0] - 1)) for _, sums, *_ in found] or [0]
        off = [not np.all(abs(sums - sums[0]) <= errors.max()) for _, sums, errors, *_ in found]
        n_rows = sum(len(rows) for _, _, _, rows, *_ in found)
        rows_off = sum(rows.sum() for _, _, _, rows, *_ in found)
        print(
            "%-24s %7d %5d %7.3f %5d %12d %9d"
            % (
                name[:24],
                len(found),
                n_rows,
                max(spreads),
                sum(s > 0.02 for s in spreads),
                sum(off),
                rows_off,
            ),
            flush=True,
        )
        if arguments.verbose:
            for (island, sums, errors, rows, counts, gaussians), is_off, spread in zip(
                found, off, spreads
            ):
                if is_off or spread > 0.02 or rows.any():
                    print(
                        "   island %d: pixels %.4g; sums %s; error %.2g; rows %s, Gaussians %s, off %d"
                        % (
                            island,
                            catalogues[0].islands[island][1],
                            " ".join("%.4g" % s for s in sums),
                            errors.max(),
                            counts,
                            gaussians,
                            rows.sum(),
                        )
                    )
        total += [len(found), n_rows, sum(off), rows_off]
    print("all: %d islands, %d off; %d rows, %d off" % (total[0], total[2], total[1], total[3]))


if __name__ == "__main__":
    sys.exit(main())
