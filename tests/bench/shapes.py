#!/usr/bin/env python3
"""Fluxes of sources that are no Gaussians: of `--fit`, relative to the true ones, beside the sum
over the island.

usage: SRCFIND=build/src/srcfind tests/bench/shapes.py [--each N]

Each source is alone in noise that the beam of 5 pixels made; a shape was convolved with the beam.
Medians over N sources (20) of each shape and peak, at places and angles of their own; `rows` is
their mean number in the catalogue.
"""
import argparse
import os
import tempfile

import numpy as np
from astropy.io import fits
from scipy import ndimage

import peers

SIDE, BEAM = 121, 5 / np.sqrt(8 * np.log(2))  # pixels; sigma
PEAKS = (8, 20, 100, 1000)  # rms


def shapes(random):
    """Names and images, of any height, before the beam."""
    y, x = np.mgrid[:SIDE, :SIDE] - SIDE // 2 - random.uniform(-0.5, 0.5, 2)[:, None, None]
    distance, turn = np.hypot(x, y), random.uniform(0, np.pi)
    along, across = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    return {
        "Gaussian, 2 beams wide": np.exp(-(distance**2) / (2 * 3 * BEAM**2)),
        "disc, radius 1.6 beams": distance < 8,
        "disc, radius 2.4 beams": distance < 12,
        "bar, 4.8 x 1.2 beams": (abs(along) < 12) & (abs(across) < 3),
        "ring, radius 1.4 to 2 beams": (distance > 7) & (distance < 10),
        "exponential, scale 1.2 beams": np.exp(-distance / 6),
    }


def measure(shape, peak, random, directory):
    """Flux of the fits and of the island over the true flux, and the number of rows; None if
    nothing was found."""
    smooth = ndimage.gaussian_filter(shape.astype(float), BEAM)
    noise = (
        ndimage.gaussian_filter(random.normal(size=shape.shape), BEAM) * 2 * np.sqrt(np.pi) * BEAM
    )
    smooth *= peak / smooth.max()
    path = os.path.join(directory, "shape.fits")
    header = fits.Header(
        {
            "BUNIT": "Jy/beam",
            "CTYPE1": "RA---SIN",
            "CTYPE2": "DEC--SIN",
            "CRVAL1": 150,
            "CRVAL2": 2,
            "CDELT1": -1 / 3600,
            "CDELT2": 1 / 3600,
            "BMAJ": 5 / 3600,
            "BMIN": 5 / 3600,
            "BPA": 0,
        }
    )
    fits.writeto(path, (smooth + noise).astype(np.float32), header, overwrite=True)
    rows = peers.search(path, "-i", "3", "--fit", "--rms", "1", "--background", "zero")["sources"]
    if not rows:
        return None
    island = max(rows, key=lambda row: row["Isl_Total_flux"])["Isl_id"]
    rows = [row for row in rows if row["Isl_id"] == island]
    flux = smooth.sum() / (2 * np.pi * BEAM**2)
    return (
        sum(row["Total_flux"] for row in rows) / flux,
        rows[0]["Isl_Total_flux"] / flux,
        len(rows),
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--each", type=int, default=20)
    each = parser.parse_args().each
    found, random = {}, np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(each):
            for name, shape in shapes(random).items():
                for peak in PEAKS:
                    found.setdefault((name, peak), []).append(
                        measure(shape, peak, random, directory)
                    )
    print("| shape | " + " | ".join("%d rms: --fit, island, rows" % peak for peak in PEAKS) + " |")
    print("| --- |" + " --- |" * len(PEAKS))
    for name in shapes(random):
        cells = [[result for result in found[name, peak] if result] for peak in PEAKS]
        print(
            "| %s | %s |"
            % (
                name,
                " | ".join(
                    "%.2f, %.2f, %.1f" % (*np.median(cell, axis=0)[:2], np.mean(cell, axis=0)[2])
                    for cell in cells
                ),
            )
        )


if __name__ == "__main__":
    main()
