#!/usr/bin/env python3
"""Makes sample.fits and sample.truth.csv: a small radio image with known sources.

usage: make_sample.py [DIRECTORY]

300 x 256 pixels of 2 arcsec around RA 187.7, DEC 12.4 (SIN), 1.4 GHz, Jy/beam, with a beam of 10 x
8 arcsec at 40 degrees and noise of 50 uJy/beam whose autocorrelation is the beam. 24 sources of 6
to 400 sigma stand on a jittered grid; every sixth is wider than the beam. A corner is blank. The
truth has x, y (0-based pixels), ra, dec (deg), peak (Jy/beam), flux (Jy), and the FWHM of both axes
(arcsec) with the position angle (deg). Needs NumPy and astropy. The files are kept, since other
versions of NumPy may draw other numbers.
"""
import csv
import os
import sys

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS

WIDTH, HEIGHT, CELL = 300, 256, 2.0
BEAM = (10.0, 8.0, 40.0)
NOISE = 50e-6
SEED = 20261121
FWHM_TO_SIGMA = 1 / np.sqrt(8 * np.log(2))


def header():
    cards = fits.Header()
    for name, value, comment in (
        ("BUNIT", "Jy/beam", ""),
        ("BMAJ", BEAM[0] / 3600, "[deg]"),
        ("BMIN", BEAM[1] / 3600, "[deg]"),
        ("BPA", BEAM[2], "[deg]"),
        ("CTYPE1", "RA---SIN", ""),
        ("CRVAL1", 187.7, ""),
        ("CDELT1", -CELL / 3600, ""),
        ("CRPIX1", WIDTH / 2, ""),
        ("CUNIT1", "deg", ""),
        ("CTYPE2", "DEC--SIN", ""),
        ("CRVAL2", 12.4, ""),
        ("CDELT2", CELL / 3600, ""),
        ("CRPIX2", HEIGHT / 2, ""),
        ("CUNIT2", "deg", ""),
        ("RADESYS", "ICRS", ""),
        ("RESTFRQ", 1.4e9, "[Hz]"),
        ("OBJECT", "sample", "made by make_sample.py: not a real sky"),
    ):
        cards[name] = (value, comment)
    return cards


def gaussian(dx, dy, major, minor, angle):
    """Of FWHM major, minor (arcsec), at offsets in pixels; the angle from north (+y) through east
    (-x)."""
    a = np.radians(angle)
    along, across = -dx * np.sin(a) + dy * np.cos(a), dx * np.cos(a) + dy * np.sin(a)
    s, t = major * FWHM_TO_SIGMA / CELL, minor * FWHM_TO_SIGMA / CELL
    return np.exp(-((along / s) ** 2 + (across / t) ** 2) / 2)


def noise(random):
    """White noise through a filter that is narrower than the beam by sqrt(2)."""
    y = (
        np.minimum(np.arange(HEIGHT), HEIGHT - np.arange(HEIGHT))[:, None]
        * np.where(np.arange(HEIGHT) < HEIGHT / 2, 1, -1)[:, None]
    )
    x = np.minimum(np.arange(WIDTH), WIDTH - np.arange(WIDTH)) * np.where(
        np.arange(WIDTH) < WIDTH / 2, 1, -1
    )
    kernel = gaussian(x, y, BEAM[0] / np.sqrt(2), BEAM[1] / np.sqrt(2), BEAM[2])
    white = random.normal(0, 1, (HEIGHT, WIDTH))
    smooth = np.fft.ifft2(np.fft.fft2(white) * np.fft.fft2(kernel)).real
    return NOISE * smooth / smooth.std()


def sources(random):
    for i in range(24):
        x = 30 + 47 * (i % 6) + random.uniform(-8, 8)
        y = 36 + 60 * (i // 6) + random.uniform(-10, 10)
        peak = NOISE * 10 ** random.uniform(np.log10(6), np.log10(400))
        major, minor, angle = (
            BEAM
            if i % 6 != 5
            else (random.uniform(16, 28), random.uniform(10, 15), random.uniform(0, 180))
        )
        yield x, y, peak, major, minor, angle


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    random = np.random.default_rng(SEED)
    image, cards, rows = noise(random), header(), []
    yy, xx = np.mgrid[0:HEIGHT, 0:WIDTH]
    image[yy + xx < 24] = np.nan
    for x, y, peak, major, minor, angle in sources(random):
        image += peak * gaussian(xx - x, yy - y, major, minor, angle)
        ra, dec = WCS(cards).all_pix2world(x, y, 0)
        rows.append(
            [
                round(x, 4),
                round(y, 4),
                round(float(ra), 8),
                round(float(dec), 8),
                "%.6g" % peak,
                "%.6g" % (peak * major * minor / (BEAM[0] * BEAM[1])),
                round(major, 3),
                round(minor, 3),
                round(angle, 2),
            ]
        )
    fits.PrimaryHDU(image.astype(np.float32), cards).writeto(
        os.path.join(directory, "sample.fits"), overwrite=True
    )
    with open(os.path.join(directory, "sample.truth.csv"), "w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["x", "y", "ra", "dec", "peak", "flux", "major", "minor", "angle"])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
