#!/usr/bin/env python3
"""What --measure-in measures in channels and Stokes Q: fluxes and spectral indices on skies that
are known.

usage: SRCFIND=build/src/srcfind [BDSF_PYTHON=venv/bin/python] tests/bench/planes.py [SKIES]

Each sky has 1024 x 1024 pixels and 225 sources: two thirds points, the others with a FWHM of up to
1.5 beams. Their fluxes in the middle of the band are 15 to 300 rms of the deep image, their indices
-0.7 +- 0.4, and 16 channels from 1 to 1.9 GHz have beams from 6.9 to 3.6 pixels and noise that is
four times that of the deep image. Stokes Q is a tenth of the flux, of either sign. Rows: pulls,
(measured - true) / error: median, robust scatter, and number, by whether a source is a point. Of
indices also as a fit of logarithms of fluxes above 3 errors has them. With PyBDSF (a Python that
has bdsf): indices and times of both on a second cube, whose channels all have the deep image's
beam, since PyBDSF does not change the width of resolved sources by channel."""
import csv
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from astropy.io import fits

N, GRID, CHANNELS, BEAM, FWHM, PIXEL = 1024, 15, 16, 5.0, 2.3548200450309493, 5e-4
FREQUENCIES = np.linspace(1e9, 1.9e9, CHANNELS)
MIDDLE = np.median(FREQUENCIES)
BEAMS = BEAM * MIDDLE / FREQUENCIES

PYBDSF = """
import sys, time, bdsf
start = time.time()
beam = (float(sys.argv[3]),) * 2 + (0.0,)
image = bdsf.process_image(sys.argv[1], spectralindex_do=True, beam_sp_derive=False, beam_spectrum=[beam] * int(sys.argv[4]), beam=beam, thresh_isl=3, thresh_pix=5,
                           specind_maxchan=1, rms_map=False, quiet=True)
image.write_catalog(outfile=sys.argv[2], format="csv", catalog_type="srl", clobber=True)
print("%.1f" % (time.time() - start))
"""


class Sky:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        step, n = N / GRID, GRID * GRID
        self.x, self.y = (
            (np.arange(n) % GRID + 0.5) * step + self.random.uniform(-12, 12, n),
            (np.arange(n) // GRID + 0.5) * step + self.random.uniform(-12, 12, n),
        )
        self.flux = np.exp(self.random.uniform(np.log(15), np.log(300), n))
        self.index = self.random.normal(-0.7, 0.4, n)
        self.own = np.where(np.arange(n) % 3, 0, BEAM * self.random.uniform(0.5, 1.118, n))
        self.q = 0.1 * self.flux * self.random.choice((-1, 1), n)

    def at(self, frequency):
        return self.flux * (frequency / MIDDLE) ** self.index

    def spectrum(self, i):
        return self.flux[i] * (FREQUENCIES / MIDDLE) ** self.index[i]

    def noise(self, fwhm):
        """Of unit rms, whose autocorrelation is the beam."""
        k = np.fft.fftfreq(N)
        kernel = np.exp(-((np.pi * fwhm / FWHM) ** 2) * (k[:, None] ** 2 + k**2))
        noise = np.fft.ifft2(np.fft.fft2(self.random.normal(size=(N, N))) * kernel).real
        return noise / noise.std()

    def plane(self, beam, flux, rms):
        pixels = rms * self.noise(beam)
        for i in range(len(flux)):
            width = np.hypot(beam, self.own[i])
            left, top = int(self.x[i]) - 30, int(self.y[i]) - 30
            rows, columns = np.mgrid[
                max(top, 0) : min(top + 61, N), max(left, 0) : min(left + 61, N)
            ]
            square = (columns - self.x[i]) ** 2 + (rows - self.y[i]) ** 2
            pixels[rows, columns] += (
                flux[i] * (beam / width) ** 2 * np.exp(-square * FWHM**2 / 2 / width**2)
            )
        return pixels.astype(np.float32)


def header(beam, **cards):
    values = {
        "BUNIT": "Jy/beam",
        "CTYPE1": "RA---SIN",
        "CTYPE2": "DEC--SIN",
        "CRPIX1": N / 2,
        "CRPIX2": N / 2,
        "CRVAL1": 150.0,
        "CRVAL2": 2.0,
        "CDELT1": -PIXEL,
        "CDELT2": PIXEL,
        "CUNIT1": "deg",
        "CUNIT2": "deg",
        "BMAJ": beam * PIXEL,
        "BMIN": beam * PIXEL,
        "BPA": 0.0,
        **cards,
    }
    return fits.Header(values.items())


def write(sky, directory):
    """The deep image; a cube of Stokes I and Q by frequency, with its beams; and one of Stokes I
    whose beam is the deep image's."""
    axes = {
        "CTYPE3": "FREQ",
        "CRVAL3": 1e9,
        "CDELT3": FREQUENCIES[1] - 1e9,
        "CRPIX3": 1.0,
        "CUNIT3": "Hz",
        "CTYPE4": "STOKES",
        "CRVAL4": 1.0,
        "CDELT4": 1.0,
        "CRPIX4": 1.0,
    }
    deep, cube, only = (
        os.path.join(directory, name) for name in ("deep.fits", "cube.fits", "i.fits")
    )
    fits.writeto(deep, sky.plane(BEAM, sky.at(MIDDLE), 1), header(BEAM))
    planes = np.array(
        [
            [sky.plane(beam, sky.at(f), 4) for beam, f in zip(BEAMS, FREQUENCIES)],
            [sky.plane(beam, sky.q, 4) for beam in BEAMS],
        ]
    )
    size = np.tile(BEAMS * PIXEL * 3600, 2)
    table = fits.BinTableHDU.from_columns(
        [
            fits.Column(name, form, unit, array=values)
            for name, form, unit, values in (
                ("BMAJ", "D", "arcsec", size),
                ("BMIN", "D", "arcsec", size),
                ("BPA", "D", "deg", 0 * size),
                ("CHAN", "J", None, np.tile(np.arange(CHANNELS), 2)),
                ("POL", "J", None, np.repeat((0, 1), CHANNELS)),
            )
        ],
        name="BEAMS",
    )
    head = header(BEAM, **axes)
    fits.writeto(only, np.array([[sky.plane(BEAM, sky.at(f), 4) for f in FREQUENCIES]]), head)
    del head["BMAJ"], head["BMIN"], head["BPA"]
    fits.HDUList([fits.PrimaryHDU(planes, head), table]).writeto(cube)
    return deep, cube, only


def read(path):
    with open(path) as stream:
        lines = [
            line.removeprefix("# ")
            for line in stream
            if "," in line and not line.startswith("# Equinox")
        ]
    return [
        {name.strip(): value.strip() for name, value in row.items()}
        for row in csv.DictReader(lines)
    ]


def nearest(sky, x, y):
    distances = np.hypot(sky.x - x, sky.y - y)
    i = int(np.argmin(distances))
    return i if distances[i] < 2 else None


def logarithms(flux, error):
    """The index and its error by a straight line of the logarithms of fluxes above three errors."""
    used = flux > 3 * error
    if used.sum() < 2:
        return np.nan, np.nan
    x, y, weight = np.log(FREQUENCIES[used] / MIDDLE), np.log(flux[used]), (flux / error)[used] ** 2
    matrix = np.array(
        [[weight.sum(), (weight * x).sum()], [(weight * x).sum(), (weight * x * x).sum()]]
    )
    inverse = np.linalg.inv(matrix)
    return (inverse @ [(weight * y).sum(), (weight * x * y).sum()])[1], np.sqrt(inverse[1, 1])


def describe(values):
    values = np.array([value for value in values if np.isfinite(value)])
    return "%6.3f %5.3f %6d" % (
        np.median(values),
        np.subtract(*np.percentile(values, (84.135, 15.865))) / 2,
        len(values),
    )


def main(n_skies):
    pulls = {}
    add = lambda name, kind, values: pulls.setdefault((name, kind), []).extend(
        np.atleast_1d(values)
    )  # noqa: E731
    for seed in range(1, n_skies + 1):
        with tempfile.TemporaryDirectory(prefix="srcfind-") as directory:
            sky = Sky(seed)
            deep, cube, only = write(sky, directory)
            measure(sky, deep, cube, directory, add)
            if os.environ.get("BDSF_PYTHON"):
                measure_with_pybdsf(sky, deep, only, directory, add)
    for (name, kind), values in pulls.items():
        print(
            "%-28s %-9s %s"
            % (
                name,
                kind,
                "%.2f s" % np.mean(values) if name.startswith("seconds") else describe(values),
            )
        )


def search(sky, deep, cube, directory):
    """Of each source that is found: its number, row, kind, fluxes, errors; at the end the
    seconds."""
    catalogue = os.path.join(directory, "c.csv")
    start = time.time()
    subprocess.run(
        [
            os.environ.get("SRCFIND", "srcfind"),
            "-q",
            "-i",
            "3",
            "--measure-in",
            cube,
            "-j",
            "1",
            "-o",
            catalogue,
            deep,
        ],
        check=True,
    )
    seconds, planes, found = time.time() - start, {}, []
    for row in read(os.path.join(directory, "c.planes.csv")):
        planes.setdefault(row["Source_id"], []).append(
            [float(row[name] or "nan") for name in ("Total_flux", "E_Total_flux")]
        )
    for row in read(catalogue):
        i = nearest(sky, float(row["Xposn"]), float(row["Yposn"]))
        if i is not None:
            index, error = (float(row[name] or "nan") for name in ("Spec_Indx", "E_Spec_Indx"))
            found.append(
                (
                    i,
                    index,
                    error,
                    "extended" if sky.own[i] else "points",
                    *np.array(planes[row["Source_id"]]).T,
                )
            )
    return found, seconds


def measure(sky, deep, cube, directory, add):
    for i, index, error, kind, flux, of_flux in search(sky, deep, cube, directory)[0]:
        add("I in channels", kind, (flux[:CHANNELS] - sky.spectrum(i)) / of_flux[:CHANNELS])
        add("Q in channels", kind, (flux[CHANNELS:] - sky.q[i]) / of_flux[CHANNELS:])
        add("Spec_Indx", kind, (index - sky.index[i]) / error)
        by_logarithms, of_index = logarithms(flux[:CHANNELS], of_flux[:CHANNELS])
        add("index of logarithms", kind, (by_logarithms - sky.index[i]) / of_index)


def measure_with_pybdsf(sky, deep, only, directory, add):
    found, seconds = search(sky, deep, only, directory)
    add("seconds, srcfind", "", seconds)
    for i, index, error, kind, *_ in found:
        add("one beam: Spec_Indx", kind, (index - sky.index[i]) / error)
        add("one beam: difference", kind, index - sky.index[i])
    path = os.path.join(directory, "p.csv")
    text = subprocess.run(
        [os.environ["BDSF_PYTHON"], "-c", PYBDSF, only, path, str(BEAM * PIXEL), str(CHANNELS)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    add("seconds, PyBDSF", "", float(text.split()[-1]))
    for row in read(path):
        x = N / 2 - 1 - (float(row["RA"]) - 150) * np.cos(np.radians(2)) / PIXEL
        i = nearest(sky, x, N / 2 - 1 + (float(row["DEC"]) - 2) / PIXEL)
        index, error = float(row["Spec_Indx"]), float(row["E_Spec_Indx"])
        if i is not None and error > 0:
            kind = "extended" if sky.own[i] else "points"
            add("one beam: PyBDSF", kind, (index - sky.index[i]) / error)
            add("one beam: its difference", kind, index - sky.index[i])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
