#!/usr/bin/env python3
"""Fluxes near the threshold, and pulls, by the S/N that a catalogue has and by the true one, for
several counts of sources.

usage: SRCFIND=build/src/srcfind tests/bench/bias.py [--skies N] [--counts POWER[,POWER...]] [--
OPTION...]

The number of sources above S falls as S^-POWER: 1 is that of tests/sky.py, 1.5 that of sources in
Euclidean space. OPTIONs go to srcfind, by default --local -i 3 --fit. For points and for wider
sources without a neighbour (known.py says which entry belongs to which), in bins of SNR, Pix_SNR
and the true S/N, tables have the number of sources, the median of Total_flux over the true flux,
less 1, in percent, and the robust scatter of (measured - true) / error of positions (both axes) and
of the total flux.
"""
import argparse
import sys

import numpy as np

import known
import peers

SIDE, OPTIONS = 2048, ["--local", "-i", "3", "--fit"]
COMMON = ["--density", "100", "--extended", "0.3", "--elongated"]
BINS = [(5, 6), (6, 8), (8, 10), (10, 20), (20, 100)]
NEIGHBOURS = 2  # sigma, from which on a source is one


def found_in(a_sky, rows):
    """The S/N of each kind, fluxes and pulls of the sources without a neighbour that have an entry,
    and which are points."""
    columns = {
        name: peers.column(rows, name)
        for name in (
            "Xposn",
            "Yposn",
            "E_Xposn",
            "E_Yposn",
            "Total_flux",
            "E_Total_flux",
            "SNR",
            "Pix_SNR",
        )
    }
    partners = a_sky.partners(np.column_stack([columns["Xposn"], columns["Yposn"]]))
    use = (partners >= 0) & a_sky.alone
    of, truth = {name: values[partners[use]] for name, values in columns.items()}, a_sky.truth[use]
    return {
        "SNR": of["SNR"],
        "Pix_SNR": of["Pix_SNR"],
        "true S/N": truth["snr"],
        "point": a_sky.is_point[use],
        "flux": of["Total_flux"] / truth["flux"],
        "total": (of["Total_flux"] - truth["flux"]) / of["E_Total_flux"],
        "x": (of["Xposn"] - truth["x"]) / of["E_Xposn"],
        "y": (of["Yposn"] - truth["y"]) / of["E_Yposn"],
    }


def print_table(counts, found):
    for is_point, kind in ((True, "points"), (False, "wider sources")):
        labels = ["%d-%d" % edges for edges in BINS]
        print(
            "\n| N(>S) as S^-%g: %s | what | %s |\n|%s"
            % (counts, kind, " | ".join(labels), " --- |" * (2 + len(labels)))
        )
        for ratio in ("SNR", "Pix_SNR", "true S/N"):
            parts = [
                (found["point"] == is_point) & (found[ratio] >= low) & (found[ratio] < high)
                for low, high in BINS
            ]
            for what, text in (
                ("n", lambda part: "%d" % part.sum()),
                ("flux", lambda part: "%+.1f" % (100 * np.median(found["flux"][part]) - 100)),
                (
                    "pull x, y",
                    lambda part: "%.2f"
                    % known.spread(np.concatenate([found["x"][part], found["y"][part]]))[1],
                ),
                ("pull total", lambda part: "%.2f" % known.spread(found["total"][part])[1]),
            ):
                known.print_row(
                    ratio,
                    what,
                    *[text(part) if part.sum() > 20 or what == "n" else "-" for part in parts],
                )
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--skies", type=int, default=8, help="of each kind")
    parser.add_argument(
        "--counts",
        type=lambda text: [float(power) for power in text.split(",")],
        default=[0.7, 1.0, 1.5],
    )
    parser.add_argument("options", nargs="*", default=OPTIONS, metavar="OPTION")
    given = parser.parse_args()
    shelf = known.Shelf()
    for counts in given.counts:
        parts = []
        for seed in range(1, given.skies + 1):
            a_sky = known.Sky(
                shelf.sky(SIDE, "--seed", str(seed), "--counts", str(counts), *COMMON), NEIGHBOURS
            )
            catalogue = peers.search(a_sky.path, *given.options)
            if catalogue is None:
                sys.exit("srcfind %s failed" % " ".join(given.options))
            parts.append(found_in(a_sky, catalogue["sources"]))
        print_table(
            counts, {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        )


if __name__ == "__main__":
    main()
