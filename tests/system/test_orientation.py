"""A catalogue does not depend on the orientation of the image: crowded islands, scales and the
planes of other images, in images that are mirrored and transposed."""
import csv
import itertools
import os

import numpy as np
from astropy.io import fits
from scipy import ndimage

import srcfind_test as t
import orientation  # which that finds

SIZE, BEAM = 301, 5.0  # pixels; FWHM
NOISE = 1e-3
# the noise of --local is measured in boxes that begin at one side: here it is given
OPTIONS = ("--rms", str(NOISE), "--background", "zero", "-i", "3", "--fit")
HOWS = ("xy", "tx") if t.SANITIZED else orientation.ORIENTATIONS
COLUMNS = ("Total_flux", "Peak_flux", "Isl_Total_flux", "Maj", "Min", "PA", "N_Gaus", "N_pix")


def add_gaussian(image, x, y, peak, major, minor, angle):
    rows, columns = np.indices(image.shape)
    along = (columns - x) * np.cos(angle) + (rows - y) * np.sin(angle)
    across = (rows - y) * np.cos(angle) - (columns - x) * np.sin(angle)
    image += peak * 2 ** (-4 * ((along / major) ** 2 + (across / minor) ** 2))


def smooth_noise(random):
    noise = ndimage.gaussian_filter(random.normal(size=(SIZE, SIZE)), BEAM / 2.3548 / 2**0.5)
    return NOISE * noise / noise.std()


def crowded_sky(random):
    """Four nebulae of 6 to 30 Gaussians that overlap, one that is wide and faint, and noise."""
    image = smooth_noise(random)
    for i, (x, y) in enumerate(itertools.product((75, 225), (75, 225))):
        for _ in range(6 + 8 * i):
            width = BEAM * random.uniform(1, 3)
            angle, apart = random.uniform(0, 2 * np.pi), random.uniform(0, 30)
            add_gaussian(
                image,
                x + apart * np.cos(angle),
                y + apart * np.sin(angle),
                NOISE * random.uniform(8, 60),
                width,
                width * random.uniform(0.6, 1),
                random.uniform(0, np.pi),
            )
    add_gaussian(image, 150, 150, 4 * NOISE, 8 * BEAM, 7 * BEAM, 0.4)
    return image.astype(np.float32)


class Orientation(t.Case):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(5)
        header = fits.Header()
        cell = 1 / 3600
        for i, (kind, at, step) in enumerate((("RA---SIN", 30, -cell), ("DEC--SIN", -40, cell)), 1):
            header["CTYPE%d" % i], header["CRVAL%d" % i] = kind, at
            header["CRPIX%d" % i], header["CDELT%d" % i] = 171.3, step
        header["BMAJ"], header["BMIN"], header["BPA"] = 1.2 * BEAM * cell, BEAM * cell / 1.2, 33.0
        header["BUNIT"] = "Jy/beam"
        self.header = header
        self.image, self.plane = crowded_sky(random), crowded_sky(random)

    def turned(self, name, image, how):
        path = self.path("%s-%s.fits" % (name, how or "first"))
        orientation.write_turned(path, image, self.header, how)
        return path

    def text(self, path, *options):
        result = t.run(path, "-q", *options)
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        return result.stdout

    def json(self, path, *options):
        return t.find(path, *options)["sources"]

    def compare(self, expected, rows, how):
        """The rows are the same but for rounding, at places that are turned, and in another
        order."""
        self.assertEqual(len(rows), len(expected))
        x, y = (np.array([row[name] for row in rows]) for name in ("Xposn", "Yposn"))
        x, y = orientation.turn_back(how, x, y, self.image.shape)
        for e in expected:
            distance = np.hypot(x - e["Xposn"], y - e["Yposn"])
            same = [row for row, d in zip(rows, distance) if d < 0.01]
            row = min(same, key=lambda row: abs(row["Total_flux"] - e["Total_flux"]), default=None)
            self.assertIsNotNone(row, (how, e))
            self.assertEqual((row["Flags"], row.get("Scale")), (e["Flags"], e.get("Scale")))
            for name in COLUMNS:
                if e[name] is None or name == "PA" and e["Maj"] < 1.01 * e["Min"]:
                    continue
                off = abs(row[name] - e[name])
                if name == "PA":
                    off = min(off, 180 - off)
                self.assertLessEqual(off, 1e-3 * abs(e[name]) + (0.2 if name == "PA" else 0), name)

    def check(self, *options):
        expected = self.json(self.turned("image", self.image, ""), *OPTIONS, *options)
        self.assertGreater(max(row["N_Gaus"] for row in expected), 1)
        for how in HOWS:
            with self.subTest(how):
                path = self.turned("image", self.image, how)
                self.compare(expected, self.json(path, *OPTIONS, *options), how)
        return expected

    def test_fits(self):
        rows = self.check()
        islands = [sum(r["N_Gaus"] for r in rows if r["Isl_id"] == i["Isl_id"]) for i in rows]
        self.assertGreater(max(islands), 8)  # one is fitted in parts

    def test_scales(self):
        """--scales, whose samples begin in the middle, of sides that are odd and even."""
        whole = self.image
        for height, width in ((301, 301), (300, 299), (298, 300))[: 2 if t.SANITIZED else 3]:
            self.image = whole[:height, :width]
            rows = self.check("--scales=2,3,4")
            self.assertTrue(any(row["Scale"] > 0 for row in rows))

    def test_other_images(self):
        """--measure-in: each row's planes."""
        fluxes = {}
        for how in ("",) + HOWS:
            catalogue = self.path("planes-%s.csv" % how)
            self.text(
                self.turned("image", self.image, how),
                *OPTIONS,
                "--measure-in",
                self.turned("plane", self.plane, how),
                "-o",
                catalogue,
            )
            with open(catalogue.replace(".csv", ".planes.csv"), encoding="ascii") as file:
                rows = csv.DictReader(line for line in file if not line.startswith("#"))
                fluxes[how] = sorted(float(row["Total_flux"]) for row in rows if row["Total_flux"])
            os.remove(catalogue)
        for how, found in fluxes.items():
            self.assertEqual(len(found), len(fluxes[""]))
            np.testing.assert_allclose(found, fluxes[""], rtol=1e-3, atol=1e-6, err_msg=how)


if __name__ == "__main__":
    t.main()
