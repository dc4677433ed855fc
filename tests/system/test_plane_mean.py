"""--plane mean: the average of the planes of a cube, with weights by the noise of each plane."""
import os

import numpy as np
from astropy.io import fits

import srcfind_test as t

SHAPE = (200, 260)
NOISES = (1.0, 3.0, 0.7, 1.5, 2.0)
AXIS = {"CTYPE3": "FREQ", "CRPIX3": 1.0, "CRVAL3": 1.0e9, "CDELT3": 1.0e7, "CUNIT3": "Hz"}
OPTIONS = ([], ["-i", "3", "--local", "--negative"], ["-i", "3", "--fit"])


class PlaneMean(t.Case):
    def setUp(self):
        super().setUp()
        self.header = t.sky_header(**AXIS)
        sky = t.noise(*SHAPE, seed=3, n_sources=25, sigma=0.3)
        self.planes = np.stack(
            [
                sky + t.noise(*SHAPE, seed=20 + k, n_sources=0, sigma=noise)
                for k, noise in enumerate(NOISES)
            ]
        ).astype(np.float32)
        self.planes[1, :50, :80] = np.nan
        self.planes[:, 120:130, 40:50] = np.nan
        self.cube = self.write("cube.fits", self.planes, self.header)

    def csv(self, *options, **environment):
        return t.run(*options, "-q", check=True, env={**os.environ, **environment}).stdout

    def weights(self, path, first=1, last=len(NOISES)):
        """1 / rms^2 of the planes, from the catalogues of each."""
        found = [t.find(path, "--plane", str(k)) for k in range(first, last + 1)]
        return np.array([1 / one["background"]["rms"] ** 2 for one in found])

    def average(self, planes, weights):
        total, weight = np.zeros(planes.shape[1:]), np.zeros(planes.shape[1:])
        for plane, w in zip(planes.astype(float), weights):
            good = np.isfinite(plane)
            total[good] += w * plane[good]
            weight[good] += w
        with np.errstate(invalid="ignore"):
            return (total / weight).astype(np.float32)

    def test_average(self):
        """The bytes of a search of the average that NumPy makes, with any options and threads."""
        for given, part in (
            ("mean", slice(0, 5)),
            ("mean:2-4", slice(1, 4)),
            ("mean:5-5", slice(4, 5)),
        ):
            weights = self.weights(self.cube, part.start + 1, part.stop)
            pixels = self.average(self.planes[part], weights)
            alone = self.write("alone.fits", pixels, t.sky_header())
            for options in OPTIONS:
                with self.subTest(given=given, options=options):
                    expected = self.csv(alone, *options)
                    self.assertGreater(expected.count("\n"), 10)
                    for threads in "13":
                        self.assertEqual(
                            self.csv(self.cube, "--plane", given, *options, "-j", threads), expected
                        )

    def test_gain(self):
        """The noise is that of the sky, which all planes share, and of the weighted mean."""
        own = 1 / sum(1 / noise**2 for noise in NOISES)
        rms = t.find(self.cube, "--plane=mean")["background"]["rms"]
        self.assertAlmostEqual(rms / (0.3**2 + own) ** 0.5, 1, delta=0.04)

    def test_metadata(self):
        """The frequency is the weighted mean; the plane is the nearest one."""
        weights = self.weights(self.cube)
        catalogue = t.find(self.cube, "--plane=mean")
        numbers = np.arange(5)
        mean = (weights * numbers).sum() / weights.sum()
        self.assertAlmostEqual(catalogue["image"]["frequency_hz"], 1e9 + 1e7 * mean, delta=10)
        self.assertEqual(catalogue["image"]["plane"], [round(mean) + 1])
        self.assertEqual(catalogue["options"]["plane"], "mean")
        self.assertEqual(t.find(self.cube, "--plane=mean:1-3")["options"]["plane"], "mean:1-3")
        self.assertIn(
            ", plane mean", t.run(self.cube, "--plane=mean", "-o", self.path("c.csv")).stderr
        )

    def test_planes_without_noise(self):
        """Blank planes, and constant ones, are left out; all of them are an error."""
        blank = np.full((1, *SHAPE), np.nan, np.float32)
        flat = np.full((1, *SHAPE), 7, np.float32)
        path = self.write("more.fits", np.concatenate([blank, self.planes, flat]), self.header)
        self.assertEqual(self.csv(path, "--plane=mean"), self.csv(self.cube, "--plane=mean"))
        path = self.write("none.fits", np.concatenate([blank, flat]), self.header)
        self.assert_error(1, "none of the planes has noise", path, "--plane=mean")

    def test_kinds_of_files(self):
        """Compressed, with axes of one plane, with --blank, of a part; an image of one plane."""
        rice = self.path("rice.fits")
        numbers = np.nan_to_num(self.planes * 50).astype(np.int16)
        fits.HDUList([fits.PrimaryHDU(), t.tiled(numbers, "RICE_1", None, self.header)]).writeto(
            rice
        )
        plain = self.write("plain.fits", numbers, self.header)
        for options in (["--blank=0"], ["--blank=0", "--trim=31,200,11,180", "--fit", "-i", "3"]):
            self.assertEqual(
                self.csv(rice, "--plane=mean", *options), self.csv(plain, "--plane=mean", *options)
            )
        stokes = t.sky_header(CTYPE3="STOKES", CRPIX3=1.0, CRVAL3=1.0, CDELT3=1.0)
        for name, value in AXIS.items():
            stokes[name.replace("3", "4")] = value
        path = self.write("stokes.fits", self.planes[:, None], stokes)
        self.assertEqual(self.csv(path, "--plane=mean"), self.csv(self.cube, "--plane=mean"))
        both = np.stack([self.planes, self.planes[::-1] * 0.1], axis=1)  # I, Q of each channel
        path = self.write("both.fits", both, stokes)
        self.assertEqual(self.csv(path, "--plane=mean"), self.csv(self.cube, "--plane=mean"))
        image = self.write("image.fits", self.planes[2], t.sky_header())
        self.assertEqual(self.csv(image, "--plane=mean"), self.csv(image))

    def test_part(self):
        """With --trim the weights are those of the part."""
        part = np.s_[:, 10:180, 30:200]
        header = self.header.copy()
        header["CRPIX1"] -= 30
        header["CRPIX2"] -= 10
        cut = self.write("cut.fits", self.planes[part], header)
        found, expected = (
            t.find(path, "--plane=mean", *options)["sources"]
            for path, options in ((self.cube, ["--trim=31,200,11,180"]), (cut, []))
        )
        self.assertEqual(
            [(row["Xpeak"], row["Ypeak"], row["Peak_flux"]) for row in found],
            [(row["Xpeak"] + 30, row["Ypeak"] + 10, row["Peak_flux"]) for row in expected],
        )

    def test_maps(self):
        pixels = self.average(self.planes, self.weights(self.cube))
        t.run(
            *(self.cube, "--plane=mean", "--fit", "--save", "model,residual,background"),
            *("-o", self.path("c.csv"), "-q"),
            check=True,
        )
        maps = [
            fits.open(self.path("c.%s.fits" % name)) for name in ("model", "residual", "background")
        ]
        total = sum(each[0].data[0].astype(float) for each in maps)
        np.testing.assert_allclose(total, pixels, atol=1e-5)
        frequency = t.find(self.cube, "--plane=mean")["image"]["frequency_hz"]
        self.assertAlmostEqual(maps[0][0].header["FREQ"], frequency, delta=1)
        for each in maps:
            each.close()

    def test_fluxes_of_channels(self):
        """--measure-in the cube itself: five planes of each source."""
        rows = t.find(self.cube, "--plane=mean", "--measure-in", self.cube, "-i", "3")["sources"]
        self.assertGreater(len(rows), 5)
        self.assertTrue(any(row["Spec_Indx"] is not None for row in rows))

    def beams(self, *beams):
        """The cube with a beam for each plane, arcsec and degrees."""
        columns = [
            fits.Column(name, "D", unit="deg" if name == "BPA" else "arcsec", array=values)
            for name, values in zip(("BMAJ", "BMIN", "BPA"), zip(*beams))
        ]
        columns.append(fits.Column("CHAN", "J", array=range(len(beams))))
        columns.append(fits.Column("POL", "J", array=[0] * len(beams)))
        header = t.sky_header(BMAJ=None, BMIN=None, BPA=None, CASAMBM=True, **AXIS)
        path = self.path("beams.fits")
        fits.HDUList(
            [
                fits.PrimaryHDU(self.planes, header),
                fits.BinTableHDU.from_columns(columns, name="BEAMS"),
            ]
        ).writeto(path, overwrite=True)
        return path

    def test_beams(self):
        """Up to 2% apart they are averaged; else the message says which planes differ, and what
        helps."""
        near = self.beams((9, 7, 30), (9.1, 7, 30), (9.15, 7.1, 31), (9, 7, 30), (9, 7, 29))
        beam = t.find(near, "--plane=mean")["image"]["beam"]
        self.assertAlmostEqual(3600 * beam["major_deg"], 9.15, delta=1e-6)
        for beams in (
            ((9, 7, 30), (9, 7, 30), (9, 7, 30), (9.4, 7, 30), (9, 7, 30)),
            ((9, 7, 30), (9, 7, 30), (9, 7, 30), (9, 7.2, 30), (9, 7, 30)),
            ((9, 7, 30), (9, 7, 30), (9, 7, 30), (9, 7, 50), (9, 7, 30)),
        ):
            path = self.beams(*beams)
            message = self.assert_error(
                1, "planes 1 and 4 differ by more than 2%", path, "--plane=mean"
            )
            for way_out in ("convolve the cube to one beam", "--plane mean:1-3", "--measure-in"):
                self.assertIn(way_out, message)
            self.assertIn("\n1,", self.csv(path, "--plane=mean:1-3", "-i", "3"))
            self.assertIn("\n1,", self.csv(path, "--plane=mean", "--beam=9,7,30", "-i", "3"))
        self.assertIn(
            "\n1,", self.csv(self.beams(*[(9, 9, 0), (9, 9, 80)] * 2, (9, 9, 0)), "--plane=mean")
        )

    def test_skip_existing(self):
        out = ["-o", self.path("c.csv"), "--report", self.path("report.csv"), "--skip-existing"]
        for given, n in (("mean", 0), ("mean", 1), ("mean:1-4", 0), ("1", 0), ("mean", 0)):
            result = t.run(self.cube, "--plane", given, *out, check=True)
            self.assertEqual("skipped" in result.stderr, n == 1, result.stderr)

    def test_wrong_planes(self):
        for wrong in (
            "mean:",
            "mean:3",
            "mean:3-2",
            "mean:0-2",
            "mean:1-x",
            "means",
            "mean,1",
            "Mean:1",
        ):
            self.assert_error(2, "nor mean or mean:A-B", self.cube, "--plane=" + wrong)
        self.assert_error(1, "there is no plane 6: the image has 5", self.cube, "--plane=mean:2-6")
        stokes = t.sky_header(CTYPE3="STOKES", CRPIX3=1.0, CRVAL3=1.0, CDELT3=1.0)
        path = self.write("stokes.fits", self.planes[:4], stokes)
        self.assert_error(1, "axis 3 has Stokes parameters: choose one", path, "--plane=mean")
        four = self.write("four.fits", np.zeros((2, 3, 20, 20), np.float32))
        self.assert_error(
            1, "needs one axis with several planes, but axes 3 and 4", four, "--plane=mean"
        )
        self.assert_error(
            2,
            "mean finds sources in the average of planes",
            *(self.cube, "--plane=mean"),
            *("--detect-on", self.cube),
        )


if __name__ == "__main__":
    t.main()
