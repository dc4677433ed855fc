"""Which sources of a merged catalogue of `srcfind --at --fit` vary? Prints V and eta of each light
curve, and draws the one of the largest eta.

usage: python3 lightcurve.py [--help] LIGHT.vot [PICTURE.png]

Needs astropy and, for the picture, matplotlib (Debian: python3-astropy, python3-matplotlib)."""
import sys

import numpy as np
from astropy.table import Table
from astropy.time import Time


def light_curves(table):
    """Entry_id, V, eta, dates, fluxes and errors of each entry that was measured in two epochs or
    more, by falling eta."""
    curves = []
    if (
        "Entry_id" not in table.colnames
        or table["Total_flux"].dtype.kind != "f"
        or not np.isfinite(np.ma.filled(table["Total_flux"], np.nan)).any()
    ):
        sys.exit(
            "lightcurve.py: no fluxes of given positions: make the catalogue with srcfind --at REFERENCE --fit EPOCH... --merge LIGHT.vot"
        )
    # an entry on a blank has empty cells
    measured = table[np.isfinite(np.ma.filled(table["Total_flux"], np.nan))]
    for rows in measured.group_by("Entry_id").groups:
        flux, error, n = np.array(rows["Total_flux"]), np.array(rows["E_Total_flux"]), len(rows)
        if n > 1:
            w = 1 / error**2
            V = np.std(flux, ddof=1) / np.mean(flux)
            eta = n / (n - 1) * (np.mean(w * flux**2) - np.mean(w * flux) ** 2 / np.mean(w))
            curves.append((str(rows["Entry_id"][0]), V, eta, list(rows["Date_obs"]), flux, error))
    return sorted(curves, key=lambda curve: -curve[2])


def draw(curve, path):
    import matplotlib.pyplot as plt

    entry, V, eta, dates, flux, error = curve
    plt.figure(figsize=(7, 3.5), layout="constrained")
    plt.errorbar(Time(dates).datetime, 1000 * flux, 1000 * error, fmt="o", capsize=3)
    plt.title("Entry_id %s: V = %.2f, eta = %.1f" % (entry, V, eta))
    plt.xlabel("Date_obs")
    plt.ylabel("Total_flux (mJy)")
    plt.savefig(path)


def main(catalogue, picture=None):
    curves = light_curves(Table.read(catalogue))
    print("Entry_id  epochs  mean (mJy)      V     eta")
    for entry, V, eta, dates, flux, _ in curves:
        print("%8s  %6d  %10.3f  %5.2f  %6.2f" % (entry, len(dates), 1000 * np.mean(flux), V, eta))
    if picture and curves:
        draw(curves[0], picture)


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
    elif len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    else:
        main(*sys.argv[1:])
