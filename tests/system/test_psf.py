"""--psf: points that have another shape than the beam, measured or from a file; and what JSON and
notes say of it."""
import json
import os

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS

import srcfind_test as t

FWHM = 5.0  # pixels
SIDE = 600
CELL = 5e-4  # degrees
FIT = ("-i", "3", "--fit")
FOUR_LN2 = 4 * np.log(2)
BEAM_SHAPE, NOT_FITTED = 128, 64


def widths(x, y):
    """FWHM of points along y and along x: those of the beam in the middle, 1.5 and 1.3 times as wide
    at the right and the left edge."""
    more = ((x - SIDE / 2) / (SIDE / 2)) ** 2
    return FWHM * np.sqrt(1 + 1.25 * more), FWHM * np.sqrt(1 + 0.69 * more)


class Psf(t.Case):
    @classmethod
    def setUpClass(cls):
        """Points on a grid, of 12 to 300 times the noise, whose fluxes smearing keeps."""
        random = np.random.default_rng(4)
        noise = random.normal(0, 1, (SIDE, SIDE))
        frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(SIDE), np.fft.fftfreq(SIDE)))
        sigma = FWHM / np.sqrt(8 * np.log(2)) / np.sqrt(2)
        smooth = np.exp(-2 * (np.pi * frequency * sigma) ** 2)
        noise = np.fft.ifft2(np.fft.fft2(noise) * smooth).real
        cls.image = noise / noise.std()
        cls.sources = []  # x, y, flux in peaks of an unsmeared point
        for j in range(14):
            for i in range(14):
                x, y = 22 + 42.7 * i + random.uniform(-3, 3), 22 + 42.7 * j + random.uniform(-3, 3)
                flux = np.exp(random.uniform(np.log(12), np.log(300)))
                cls.add(x, y, flux)
                cls.sources.append((x, y, flux))

    @classmethod
    def add(cls, x, y, flux):
        along_y, along_x = widths(x, y)
        left, low = max(int(x) - 25, 0), max(int(y) - 25, 0)
        stamp = cls.image[low : low + 51, left : left + 51]
        rows, columns = np.mgrid[low : low + stamp.shape[0], left : left + stamp.shape[1]]
        square = ((columns - x) / along_x) ** 2 + ((rows - y) / along_y) ** 2
        stamp += flux * FWHM**2 / (along_x * along_y) * np.exp(-FOUR_LN2 * square)

    def header(self, **cards):
        size = FWHM * CELL
        return t.sky_header(
            BMAJ=size, BMIN=size, BPA=0.0, CRPIX1=SIDE / 2, CRPIX2=SIDE / 2, **cards
        )

    def sky(self, name="sky.fits"):
        return self.write(name, self.image.astype(np.float32), self.header())

    def psf_file(self, name="psf.fits", step=50, planes=3, scale=1.0, **cards):
        """The widths of points, on coarse pixels that are larger than the image."""
        n = SIDE // step + 4
        at = (np.arange(n) - 2) * step
        x = np.broadcast_to(at, (n, n))
        along_y, along_x = widths(x, x)
        data = np.zeros((planes, n, n), np.float32)
        data[0], data[1] = along_y * CELL * scale, along_x * CELL * scale
        header = self.header(**cards)
        header["CDELT1"], header["CDELT2"] = -CELL * step, CELL * step
        header["CRPIX1"] = header["CRPIX2"] = (SIDE / 2 - 1) / step + 3
        return self.write(name, data, header)

    def ratios(self, rows, least=0, most=1e9):
        """Measured / true flux, and errors, of the sources in a range of flux."""
        found = []
        for x, y, flux in self.sources:
            near = [r for r in rows if np.hypot(r["Xposn"] - x, r["Yposn"] - y) < 3]
            if least <= flux < most and len(near) == 1:
                found.append((near[0]["Total_flux"] / flux, near[0]["E_Total_flux"] / flux))
        return np.array(found)

    def assert_fluxes(self, rows):
        for least, most in ((12, 30), (30, 300)):
            ratio, error = self.ratios(rows, least, most).T
            self.assertGreater(len(ratio), 40)
            self.assertLess(abs(np.mean(ratio) - 1), 0.02)
            self.assertLess(np.std((ratio - 1) / error), 1.4)

    def test_measured(self):
        path = self.sky()
        plain, found = t.find(path, *FIT), t.find(path, *FIT, "--psf", "measured")
        psf = found["quality"]["psf"]
        edges = np.mean([np.prod(widths(x, 0)) / FWHM**2 for x in np.linspace(0, SIDE, 99)])
        edges = (edges + np.prod(widths(0, 0)) / FWHM**2) / 2  # two edges of each kind
        self.assertGreater(psf["n"], 60)
        self.assertLess(abs(psf["middle"] - 1), 0.03)
        self.assertLess(abs(psf["edges"] - edges), 0.06)
        self.assertEqual(plain["quality"]["psf"], psf)
        self.assert_fluxes(found["sources"])
        shapes = [
            sum(row["Flags"] & BEAM_SHAPE > 0 for row in one["sources"]) / len(one["sources"])
            for one in (plain, found)
        ]
        self.assertLess(shapes[0], 0.6)
        self.assertGreater(shapes[1], 0.9)
        bright = [row for row in found["sources"] if row["SNR"] > 30]
        self.assertLess(sum(row["DC_Maj"] > 0 for row in bright), 0.15 * len(bright))

    def test_file(self):
        path, psf = self.sky(), self.psf_file()
        found = t.find(path, *FIT, "--psf", psf)
        self.assert_fluxes(found["sources"])
        for row in found["sources"]:
            if row["Flags"] & BEAM_SHAPE:
                along_y, along_x = widths(row["Xposn"], row["Yposn"])
                self.assertLess(abs(row["Maj"] / (along_y * CELL) - 1), 0.01)
                self.assertLess(abs(row["Min"] / (along_x * CELL) - 1), 0.01)
                self.assertEqual([row["DC_Maj"], row["DC_Min"]], [0, 0])
        four = self.psf_file("four.fits", planes=4)
        self.assertEqual(t.find(path, *FIT, "--psf", four)["sources"], found["sources"])
        galactic = t.find(path, *FIT, "--psf", self.psf_file("fk5.fits", RADESYS="FK5"))
        self.assertEqual(len(galactic["sources"]), len(found["sources"]))

    def test_position_angles(self):
        """Between pixels of 178 and 2 degrees is 0, and not 90; blank pixels leave the beam."""
        data = np.zeros((3, 20, 20), np.float32)
        data[0], data[1] = 3 * FWHM * CELL, FWHM * CELL
        data[2] = np.where(np.arange(20) % 2, 2, 178)
        header = self.header()
        header["CDELT1"], header["CDELT2"] = -CELL * 40, CELL * 40
        header["CRPIX1"] = header["CRPIX2"] = 10.0
        data[:, :, 12:] = np.nan
        psf = self.write("psf.fits", data, header)
        rows = t.find(self.sky(), "--shapes", "beam", "--psf", psf)["sources"]
        rows = [row for row in rows if row["N_Gaus"] == 1]
        left = [row for row in rows if row["Xposn"] < 350]
        right = [row for row in rows if row["Xposn"] > 450]
        self.assertTrue(left and right)
        for row in left:
            self.assertLess(min(row["PA"], 180 - row["PA"]), 3)
            self.assertLess(abs(row["Maj"] / (3 * FWHM * CELL) - 1), 0.02)
        for row in right:
            self.assertLess(abs(row["Maj"] / (FWHM * CELL) - 1), 1e-4)

    def test_the_beam_in_a_file(self):
        """A file that has the beam everywhere changes nothing."""
        path = self.sky()
        data = np.zeros((3, 8, 8), np.float32)
        data[:2] = FWHM * CELL
        header = self.header()
        header["CDELT1"], header["CDELT2"] = -CELL * 200, CELL * 200
        header["CRPIX1"] = header["CRPIX2"] = 4.0
        rows = t.find(path, *FIT, "--psf", self.write("psf.fits", data, header))["sources"]
        alone = t.find(path, *FIT)["sources"]
        self.assertEqual(len(rows), len(alone))
        for row, other in zip(rows, alone):
            for name in ("Total_flux", "E_Total_flux", "E_Xposn", "Peak_flux", "Maj"):
                self.assertLess(abs(row[name] / other[name] - 1), 0.01, name)

    def test_at(self):
        """Fluxes at given positions, with the shape of a point there; also where a search measures
        it."""
        path, psf = self.sky(), self.psf_file()
        w = WCS(self.header())
        with open(self.path("list.csv"), "w") as stream:
            stream.write("RA,DEC\n")
            for x, y, _ in self.sources:
                stream.write("%.12f,%.12f\n" % tuple(w.wcs_pix2world(x, y, 0)))
        given = ("--at", self.path("list.csv"), "--fit")
        for how in (psf, "measured"):
            rows = t.find(path, *given, "--psf", how)["sources"]
            self.assertEqual(len(rows), len(self.sources))
            self.assert_fluxes(rows)
        self.assertGreater(t.find(path, *given, "--psf", "measured")["quality"]["psf"]["n"], 60)
        without = self.ratios(t.find(path, *given)["sources"])[:, 0]
        self.assertLess(np.median(without), 0.9)

    def test_completeness(self):
        """Injected sources have the shape of points, and are found with their fluxes."""
        path, psf = self.sky(), self.psf_file()
        bins = t.find(path, *FIT, "--psf", psf, "--completeness=300")["completeness"]["snr"]
        ratios = [one["flux_ratio"] for one in bins if one["low"] >= 8 and one["found"] > 5]
        self.assertTrue(ratios)
        self.assertTrue(all(abs(ratio - 1) < 0.1 for ratio in ratios), ratios)

    def test_same_bytes(self):
        """With any number of threads; labels that are found again, and negative sources, are those
        of the same search."""
        path = self.sky()
        options = (*FIT, "--local", "--psf", "measured", "--scales", "--negative")
        texts = {t.run(path, *options, "-j", n).stdout for n in (1, 3)}
        self.assertEqual(len(texts), 1)
        both = t.run(path, "-q", "-o", self.path("c.csv"), "--save", "sources,model", *options)
        self.assertEqual(both.returncode, 0, both.stderr)

    def test_notes(self):
        path = self.sky()
        words = "points are [01].[09]. beams in area in the middle of the image and 1.6. at its edges, as .* isolated bright sources show"
        self.assertRegex(t.run(path, *FIT).stderr, words + ": --psf measured uses this shape")
        self.assertRegex(t.run(path, *FIT, "--psf", "measured").stderr, words + "\n")
        self.assertNotIn("points are", t.run(path, *FIT, "--psf", self.psf_file()).stderr)
        narrow = self.psf_file("narrow.fits", scale=0.5)
        stderr = t.run(path, *FIT, "--psf", narrow).stderr
        self.assertRegex(stderr, words + ", but 0.25 and 0.4. in --psf .*narrow.fits: is it of")
        wide = self.psf_file("wide.fits", scale=2.5)
        stderr = t.run(path, *FIT, "--psf", wide).stderr
        self.assertRegex(stderr, "are narrower than the points of --psf .*wide.fits\n")
        away = self.psf_file("part.fits", CRVAL1=150.1)
        stderr = t.run(path, *FIT, "--psf", away).stderr
        self.assertRegex(stderr, "part.fits has no ellipse in .*% of the image: the beam")
        few = self.write("few.fits", t.noise(100, 100, n_sources=1), self.header())
        result = t.run(few, *FIT, "--psf", "measured")
        self.assertIn("--psf measured: there are too few isolated bright sources", result.stderr)
        self.assertEqual(t.find(few, *FIT)["quality"]["psf"], None)
        alone = t.run(few, *FIT, "-f", "csv").stdout
        self.assertEqual(result.stdout, alone)

    def test_wrong_files(self):
        path, good = self.sky(), self.psf_file()
        two = self.write("two.fits", np.ones((2, 5, 5), np.float32), self.header())
        plane = self.write("plane.fits", np.ones((5, 5), np.float32), self.header())
        for psf, words in (
            (two, "it has fewer than three planes"),
            (plane, "it has fewer than three planes"),
            (self.psf_file("arcsec.fits", scale=3600), "are they in arcsec?"),
            (
                self.psf_file("away.fits", CRVAL1=10.0, CRVAL2=-40.0),
                "it has no ellipse at any place of the image",
            ),
            (self.psf_file("gal.fits", CTYPE1="GLON-SIN", CTYPE2="GLAT-SIN"), "of another kind"),
            (self.psf_file("flat.fits", CTYPE1="X", CTYPE2="Y"), "it has no sky coordinates"),
            (self.path("none.fits"), "give one, a directory that holds STEM.fits, or measured"),
        ):
            self.assert_error(1, words, path, *FIT, "--psf", psf)
        no_beam = self.write("no_beam.fits", self.image.astype(np.float32), t.sky_header(BMAJ=None))
        for psf in (good, "measured"):
            self.assert_error(1, "--psf needs the beam", no_beam, *FIT, "--psf", psf)
            self.assert_error(2, "psf: it is the shape of points in fits", path, "--psf", psf)
        self.assert_error(2, "psf.fits", path, *FIT, "--psf", good, "-f", "fits", "-o", good)

    def test_planes(self):
        """A plane of the same image has the fluxes of the image."""
        path = self.sky()
        for how in (self.psf_file(), "measured"):
            result = t.run(
                path, "-q", *FIT, "--psf", how, "--measure-in", path, "-o", self.path("c.csv")
            )
            self.assertEqual(result.returncode, 0, result.stderr)
            sources = {row["Source_id"]: row for row in t.read_csv(self.path("c.csv"))}
            ratios = []
            for row in t.read_csv(self.path("c.planes.csv")):
                source = sources[row["Source_id"]]
                if source["Flags"] == BEAM_SHAPE:
                    ratios.append(row["Total_flux"] / source["Total_flux"])
            self.assertGreater(len(ratios), 100)
            self.assertLess(np.abs(np.percentile(ratios, (10, 50, 90)) - 1).max(), 0.05)

    def test_changed_file(self):
        """With --skip-existing and a report, a file that changed is read again."""
        path, psf = self.sky(), self.psf_file()
        command = (path, *FIT, "--psf", psf, "--skip-existing", "--report")
        command += (self.path("r.csv"), "-o", self.path("out/"))
        statuses = []
        for scale in (None, None, 1.1):
            if scale:
                self.psf_file(scale=scale)
            result = t.run(*command)
            self.assertEqual(result.returncode, 0)
            statuses.append("skipped" in result.stderr)
        self.assertEqual(statuses, [False, True, False])

    def test_several_images(self):
        """One file serves all; a directory has one for each."""
        for name in ("a.fits", "b.fits"):
            self.sky(name)
        psf = self.psf_file()
        paths = [self.path(name) for name in ("a.fits", "b.fits")]
        os.mkdir(self.path("psfs"))
        for name in ("a.fits", "b.fits"):
            os.link(psf, self.path("psfs/" + name))
        alone = t.find(paths[0], *FIT, "--psf", psf)["sources"]
        for how in (psf, self.path("psfs")):
            result = t.run(*paths, "-q", *FIT, "--psf", how, "-f", "json", "-o", self.path("out/"))
            self.assertEqual(result.returncode, 0, result.stderr)
            for name in ("a.json", "b.json"):
                with open(self.path("out/" + name)) as stream:
                    self.assertEqual(json.load(stream)["sources"], alone)


if __name__ == "__main__":
    t.main()
