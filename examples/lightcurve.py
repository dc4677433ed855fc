"""Which sources of a merged catalogue of `srcfind --at --fit` vary? Prints V and eta of each light
curve, and draws the one of the largest eta, against Date_obs or, where there are no dates, the number
of the epoch.

usage: python3 lightcurve.py [--help] LIGHT.vot [PICTURE.png]

Needs astropy and, for the picture, matplotlib (Debian: python3-astropy, python3-matplotlib)."""
import numbers
import sys

import numpy as np
from astropy.table import Table
from astropy.time import Time


def epochs_of(table):
    """The date of each row or, unless all images have a date that astropy reads, the number of its
    image in the table, from 1."""
    dates = [str(date) for date in table["Date_obs"]] if "Date_obs" in table.colnames else []
    if dates and all(dates):
        try:
            return Time(dates).datetime
        except ValueError:
            pass
    number_of = {image: 1 + i for i, image in enumerate(dict.fromkeys(table["Image"]))}
    return np.array([number_of[image] for image in table["Image"]])


def light_curves(table):
    """Entry_id, V, eta, epochs, fluxes and errors of each entry that was measured in two epochs or
    more, by falling eta."""
    curves = []
    if (
        not {"Entry_id", "Image"} <= set(table.colnames)
        or table["Total_flux"].dtype.kind != "f"
        or not np.isfinite(np.ma.filled(table["Total_flux"], np.nan)).any()
    ):
        sys.exit(
            "lightcurve.py: no fluxes of given positions: make the catalogue with srcfind --at REFERENCE --fit EPOCH... --merge LIGHT.vot"
        )
    table["Epoch"] = epochs_of(table)
    # an entry on a blank has empty cells
    measured = table[np.isfinite(np.ma.filled(table["Total_flux"], np.nan))]
    for rows in measured.group_by("Entry_id").groups:
        flux, error, n = np.array(rows["Total_flux"]), np.array(rows["E_Total_flux"]), len(rows)
        if n > 1:
            w = 1 / error**2
            V = np.std(flux, ddof=1) / np.mean(flux)
            eta = n / (n - 1) * (np.mean(w * flux**2) - np.mean(w * flux) ** 2 / np.mean(w))
            curves.append((str(rows["Entry_id"][0]), V, eta, list(rows["Epoch"]), flux, error))
    return sorted(curves, key=lambda curve: -curve[2])


def draw(curve, path):
    import matplotlib.pyplot as plt

    entry, V, eta, epochs, flux, error = curve
    has_dates = not isinstance(epochs[0], numbers.Integral)
    if not has_dates:
        print(
            "lightcurve.py: not all rows have a date (Date_obs): the picture has the number of the epoch instead; srcfind --at REFERENCE --fit EPOCH... --merge LIGHT.vot keeps the dates of the images",
            file=sys.stderr,
        )
    plt.figure(figsize=(7, 3.5), layout="constrained")
    plt.errorbar(epochs, 1000 * flux, 1000 * error, fmt="o", capsize=3)
    plt.title("Entry_id %s: V = %.2f, eta = %.1f" % (entry, V, eta))
    plt.xlabel("Date_obs" if has_dates else "number of the epoch")
    plt.ylabel("Total_flux (mJy)")
    plt.savefig(path)


def main(catalogue, picture=None):
    curves = light_curves(Table.read(catalogue))
    print("Entry_id  epochs  mean (mJy)      V     eta")
    for entry, V, eta, epochs, flux, _ in curves:
        print("%8s  %6d  %10.3f  %5.2f  %6.2f" % (entry, len(epochs), 1000 * np.mean(flux), V, eta))
    if picture and curves:
        draw(curves[0], picture)


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
    elif len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    else:
        main(*sys.argv[1:])
