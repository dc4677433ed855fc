#!/usr/bin/env python3
"""How far measurements scatter, beside the errors that the catalogue states for them.

usage: SRCFIND=build/src/srcfind tests/bench/errors.py [--keep DIRECTORY] [--skies N] [-- OPTION...]

Skies have few sources; every second one is an ellipse wider than the beam. OPTIONs go to srcfind,
by default --local -i 3 --fit. For point and extended sources without a neighbour (known.py says
which entry belongs to which), in bins of true peak over true noise, tables have the median and
robust scatter of (measured - true) / error: the scatter is 1 where errors are right.
Sizes are those of extended sources that were not fitted with the beam's shape; deconvolved ones,
where they are not 0. At the end stand the cells above 10 sigma whose scatter is not 0.9 to 1.1, and
among those of all skies together also "unsure" ones, which are less than three standard errors
outside.
"""
import argparse
import sys

import numpy as np

import known
import peers
from known import sky

SKIES = {
    "round beam": [],
    "elliptical beam": ["--beam", "8,4.5,35"],
    "noise rises threefold to the corners": ["--noise-rise", "2"],
}
COMMON = ["--density", "60", "--extended", "0.5", "--elongated"]
SIDE = 4096
BINS = [(5, 8), (8, 10), (10, 20), (20, 100), (100, np.inf)]
LABELS = ["%d-%d" % edges if edges[1] < np.inf else ">%d" % edges[0] for edges in BINS]
OPTIONS = ["--local", "-i", "3", "--fit"]
POINTS = {"x": "Xposn", "y": "Yposn", "total": "Total_flux", "peak": "Peak_flux"}
SIZES = {name: name for name in ("Maj", "Min", "PA", "DC_Maj", "DC_Min", "DC_PA")}
KINDS = {"point sources": POINTS, "extended sources": {**POINTS, **SIZES}}
# what the scatter must be, above which SNR; how many make no scatter
LEAST, MOST, FROM, FEW = 0.9, 1.1, 10, 20
BEAM_SHAPED = 128
TOGETHER = "all skies"


def true_columns(a_sky):
    """What the catalogue's columns should be: pixels, Jy, Jy/beam, degrees."""
    truth = a_sky.truth
    shapes = np.array(
        [sky.covariance(axes) for axes in zip(truth["maj"], truth["min"], truth["pa"])]
    )
    extended = ~a_sky.is_point
    # a point has no size: not used
    own = np.where(extended[:, None], shapes - sky.covariance(a_sky.beam_axes), shapes)
    major, minor, angle = sky.axes(*own.T)
    return {
        "Xposn": truth["x"],
        "Yposn": truth["y"],
        "Total_flux": truth["flux"],
        "Peak_flux": truth["peak"],
        "Maj": truth["maj"] * sky.CELL,
        "Min": truth["min"] * sky.CELL,
        "PA": truth["pa"],
        "DC_Maj": major * sky.CELL,
        "DC_Min": minor * sky.CELL,
        "DC_PA": angle,
    }


def has_no_neighbour(a_sky):
    """Whether every other source is farther than one and a half of both FWHM."""
    places, fwhm = known.places(a_sky.truth), a_sky.truth["maj"]
    alone = np.ones(len(places), bool)
    for i, j in known.tree(a_sky.truth).query_pairs(3 * fwhm.max()):
        if np.hypot(*(places[i] - places[j])) < 1.5 * (fwhm[i] + fwhm[j]):
            alone[[i, j]] = False
    return alone


def pulls(a_sky, rows):
    """{column: pulls} of the sources without a neighbour that have an entry, their SNR, and which
    are points."""
    partners = a_sky.partners(
        np.column_stack([peers.column(rows, "Xposn"), peers.column(rows, "Yposn")])
    )
    use = (partners >= 0) & has_no_neighbour(a_sky)
    found, true = [rows[i] for i in partners[use]], true_columns(a_sky)
    is_free = np.array([int(row["Flags"]) & BEAM_SHAPED == 0 for row in found])
    columns = {}
    for name in KINDS["extended sources"].values():
        measured, error = (peers.column(found, column) for column in (name, "E_" + name))
        if len(error) == 0:  # the catalogue lacks the column
            measured = error = np.full(len(found), np.nan)
        offset = measured - true[name][use]
        if name.endswith("PA"):
            offset = (offset + 90) % 180 - 90
        valid = (error > 0) & (is_free | (name not in SIZES))
        columns[name] = np.where(valid, offset / np.where(valid, error, 1), np.nan)
    return {**columns, "snr": a_sky.snr[use], "point": a_sky.is_point[use], "free": is_free}


def cells(found, is_point, names):
    """For each bin the number of sources, the share fitted with the beam's shape, and {name: (n,
    median, scatter)}."""
    for low, high in BINS:
        part = (found["point"] == is_point) & (found["snr"] >= low) & (found["snr"] < high)
        statistics = {}
        for name, column in names.items():
            values = found[column][part]
            values = values[np.isfinite(values)]
            statistics[name] = (
                (len(values), *known.spread(values))
                if len(values) > FEW
                else (len(values), np.nan, np.nan)
            )
        yield part.sum(), 100 * (
            1 - found["free"][part].mean()
        ) if part.any() else np.nan, statistics


def print_table(title, found):
    """Prints both tables; yields (sky, sources, bin, name, n, scatter) of the cells that must be
    right."""
    for kind, names in KINDS.items():
        print(
            "\n| %s: %s | n | beam-shaped %% | %s |\n|%s"
            % (title, kind, " | ".join(names), " --- |" * (3 + len(names)))
        )
        for label, (low, _), (n, shaped, statistics) in zip(
            LABELS, BINS, cells(found, kind == "point sources", names)
        ):
            texts = [
                "%+.2f ± %.2f" % cell[1:] if np.isfinite(cell[2]) else "-"
                for cell in statistics.values()
            ]
            print(
                "| %s sigma | %d | %.0f | %s |" % (label, n, shaped, " | ".join(texts)), flush=True
            )
            if low >= FROM:
                yield from (
                    (title, kind, label, name, part, scatter)
                    for name, (part, _, scatter) in statistics.items()
                    if np.isfinite(scatter)
                )


def verdict(n, scatter):
    limit = min(max(scatter, LEAST), MOST)
    # of 1.4826 times the median distance from the median
    standard_error = 1.16 * limit / np.sqrt(n)
    return (
        "yes"
        if scatter == limit
        else "unsure"
        if abs(scatter - limit) < 3 * standard_error
        else "NO"
    )


def print_verdicts(must):
    judged = [(*cell, verdict(*cell[-2:])) for cell in must]
    count = {word: sum(cell[-1] == word for cell in judged) for word in ("yes", "unsure", "NO")}
    print(
        "\nscatter %g to %g above %d sigma: %d cells yes, %d unsure, %d no\n"
        % (LEAST, MOST, FROM, *count.values())
    )
    print("| sky | sources | sigma | what | n | scatter | met? |\n|%s" % (7 * " --- |"))
    for cell in judged:
        if cell[-1] == "NO" or (cell[-1] == "unsure" and cell[0] == TOGETHER):
            print("| %s | %s | %s | %s | %d | %.2f | %s |" % cell)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", metavar="DIRECTORY", help="where the skies stay for the next run")
    parser.add_argument("--skies", type=int, default=8, help="of each kind")
    parser.add_argument("options", nargs="*", default=OPTIONS, metavar="OPTION")
    given = parser.parse_args()
    shelf, parts, must = known.Shelf(given.keep), [], []
    for title, options in SKIES.items():
        for seed in range(1, given.skies + 1):
            a_sky = known.Sky(shelf.sky(SIDE, "--seed", str(seed), *COMMON, *options))
            catalogue = peers.search(a_sky.path, *given.options)
            if catalogue is None:
                sys.exit("srcfind %s failed" % " ".join(given.options))
            parts.append(pulls(a_sky, catalogue["sources"]))
        mine = parts[-given.skies :]
        must += print_table(
            title, {name: np.concatenate([part[name] for part in mine]) for name in mine[0]}
        )
    must += print_table(
        TOGETHER, {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    )
    print_verdicts(must)


if __name__ == "__main__":
    main()
