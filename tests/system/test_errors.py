"""Errors: they follow from the noise's autocorrelation, which is measured in the image, and hold in
noise of several kinds; where it is written; and what the user adds to them."""
import csv
import json
import math

import numpy as np
from astropy.io import fits
from astropy.io.votable import parse
from scipy import ndimage, stats

import srcfind_test as t

SIDE, FWHM, STEP, PEAK = 600, 5.0, 30, 20
SIGMA = FWHM / math.sqrt(8 * math.log(2))
QUANTITIES = ("Xposn", "Yposn", "Peak_flux", "Total_flux")


def white(random):
    return random.standard_normal((SIDE, SIDE))


def as_the_beam(random):
    """Its autocorrelation is the beam."""
    return ndimage.gaussian_filter(white(random), SIGMA / math.sqrt(2), mode="wrap")


def with_sidelobes(random):
    """Narrower than the beam, with a ring below 0: as of Briggs weights."""
    wide, narrow = (
        ndimage.gaussian_filter(white_noise, width, mode="wrap")
        for white_noise in (white(random),)
        for width in (1.6 * SIGMA, 0.5 * SIGMA)
    )
    return narrow - wide


class Errors(t.Case):
    def points(self, name, make, seed=1):
        """An image of points of PEAK rms on a lattice, each off by less than half a pixel; its path
        and their places."""
        random = np.random.default_rng(seed)
        image = make(random)
        image /= image.std()
        y, x = np.mgrid[STEP // 2 : SIDE : STEP, STEP // 2 : SIDE : STEP].astype(float)
        places = np.array([x.ravel(), y.ravel()]) + random.uniform(-0.5, 0.5, (2, x.size))
        columns = np.arange(SIDE)
        along_x, along_y = (
            np.exp(-((columns - at[:, None]) ** 2) / (2 * SIGMA**2)) for at in places
        )
        image += PEAK * along_y.T @ along_x
        header = t.sky_header(BMAJ=FWHM * 1e-3, BMIN=FWHM * 1e-3, BPA=0.0)
        header.update(CDELT1=-1e-3, CDELT2=1e-3)
        return self.write(name, image.astype(np.float32), header), places

    def measured(self, path, *options):
        return t.find(path, "-l", "-i", "3", *options)

    def pulls(self, rows, places):
        """The scatter of (measured - true) / error of each quantity."""
        x, y = (np.array([row[name] for row in rows]) for name in ("Xposn", "Yposn"))
        nearest = [np.hypot(x - a, y - b).argmin() for a, b in places.T]
        true = dict(zip(QUANTITIES, (*places, PEAK, PEAK)))
        values = {
            name: (np.array([rows[k][name] for k in nearest]) - true[name])
            / np.array([rows[k]["E_" + name] for k in nearest])
            for name in QUANTITIES
        }
        return {name: pull.std() for name, pull in values.items()}

    def test_points_in_noise_of_three_kinds(self):
        """Their pulls scatter by 1: in white noise errors of the beam's correlation are three times
        too large, and beside sidelobes those of positions are too small."""
        for make, ratio in ((white, 0.04), (as_the_beam, 1), (with_sidelobes, None)):
            with self.subTest(make.__name__):
                path, places = self.points(make.__name__ + ".fits", make)
                found = self.measured(path, "--fit")
                pulls = self.pulls(found["sources"], places)
                for pull in pulls.values():
                    self.assertTrue(0.85 < pull < 1.15, pulls)
                known = found["noise"]["correlation"]
                self.assertTrue(known["measured"] and known["n_pixels"] > 200)
                if ratio:
                    self.assertLess(abs(known["area"] / known["beam_area"] - ratio), 0.15)
                else:
                    self.assertLess(min(map(min, known["values"])), -0.05)

    def test_equal_points_have_equal_errors(self):
        path, _ = self.points("equal.fits", as_the_beam)
        rows = [row for row in self.measured(path, "--fit")["sources"] if row["Flags"] & 128]
        relative = np.array([row["E_Total_flux"] / row["Isl_rms"] for row in rows])
        self.assertGreater(len(rows), 200)
        self.assertLess(np.ptp(relative) / relative[0], 1e-9)

    def test_chi_squared(self):
        """Of points in noise Chi2 is 1, and few are unlikely, in noise that is correlated as the
        beam and beside sidelobes; a disc, which no Gaussian describes, stands out."""
        for make in (as_the_beam, with_sidelobes):
            path, places = self.points("chi2_%s.fits" % make.__name__, make, seed=2)
            rows = [row for row in self.measured(path, "--fit")["sources"] if row["Flags"] & 128]
            chi2, dof = (np.array([row[name] for row in rows]) for name in ("Chi2", "Dof"))
            self.assertGreater(len(rows), 0.7 * places.shape[1])
            self.assertTrue((dof > 3).all() and (dof < 30).all())
            self.assertLess(abs(np.average(chi2, weights=dof) - 1), 0.12)
            self.assertLess(np.mean(stats.chi2.sf(chi2 * dof, dof) < 0.01), 0.02)
        y, x = np.mgrid[:SIDE, :SIDE]
        with fits.open(path) as hdus:
            disc = np.hypot(x - 300, y - 300) < 12
            hdus[0].data[disc] = 20
            hdus.writeto(self.path("disc.fits"))
        rows = self.measured(self.path("disc.fits"), "--fit", "--group", "2")["sources"]
        row = max(rows, key=lambda row: row["Total_flux"])
        self.assertGreater(row["Chi2"], 5)
        self.assertGreater(row["Dof"], 10)

    def test_where_the_correlation_is_written(self):
        """In JSON and VOTables all of it, in tables with a header the area; without a fit nowhere."""
        path, _ = self.points("written.fits", with_sidelobes)
        known = self.measured(path, "--fit")["noise"]["correlation"]
        values = np.array(known["values"])
        half_y, half_x = (n // 2 for n in values.shape)
        self.assertEqual(values[half_y, half_x], 1)
        self.assertTrue((values == values[::-1, ::-1]).all())
        self.assertAlmostEqual(values.sum() * known["step_x"] * known["step_y"], known["area"], 9)
        for suffix in ("vot", "fits"):
            t.run(path, "-l", "--fit", "-i", "3", "-q", "-o", self.path("c." + suffix), check=True)
        table = parse(self.path("c.vot")).get_first_table()
        param = {param.name: param.value for param in table.params}
        self.assertTrue(
            (np.array(param["noise_correlation"]).reshape(values.shape) == values).all()
        )
        self.assertEqual(param["noise_correlation_step_x"], known["step_x"])
        self.assertEqual(param["noise_area"], known["area"])
        self.assertEqual(fits.getheader(self.path("c.fits"), 1)["NOISAREA"], known["area"])
        self.assertEqual(self.measured(path)["noise"], {"correlation": None})
        t.run(path, "-q", "-o", self.path("plain.vot"), check=True)
        names = {param.name for param in parse(self.path("plain.vot")).get_first_table().params}
        self.assertFalse(names & {"noise_correlation", "noise_area"})

    def test_not_measured(self):
        """In an image of few beams it is that of the beam; without a beam pixels are independent."""
        random = np.random.default_rng(2)
        image = as_the_beam(random)[:24, :24]
        image[12, 12] = 20 * image.std()
        for cards, area in (({"BMAJ": 5e-3, "BMIN": 5e-3}, 28.3), ({}, 1)):
            header = t.sky_header(**cards)
            header.update(CDELT1=-1e-3, CDELT2=1e-3)
            if not cards:
                for name in ("BMAJ", "BMIN", "BPA"):
                    header.pop(name, None)
            path = self.write("small%g.fits" % area, image.astype(np.float32), header)
            known = t.find(path, "--fit", "--rms", str(image.std()))["noise"]["correlation"]
            self.assertFalse(known["measured"])
            self.assertEqual(known["n_pixels"], 0)
            self.assertLess(abs(known["area"] / area - 1), 0.01)

    # --- what the user adds ---

    def rows_of(self, path, *options, name="rows.csv"):
        t.run(path, "-q", "-l", "-i", "3", *options, "-o", self.path(name), check=True)
        return [t.numbers(row) for row in csv.DictReader(open(self.path(name), encoding="utf-8"))]

    def assert_added(self, rows, with_more, flux, position):
        """Errors have these in quadrature, and nothing else differs."""
        self.assertEqual(len(rows), len(with_more))
        fluxes = ("Isl_Total_flux", "Total_flux", "Peak_flux")
        expected = {
            **{"E_" + name: (lambda row, name=name: flux * row[name]) for name in fluxes},
            **{"E_" + name: (lambda row: position) for name in ("Xposn", "Yposn")},
            **{"E_" + name: (lambda row: position * 1e-3) for name in ("RA", "DEC")},
        }
        for row, more in zip(rows, with_more):
            for name in row:
                if row[name] is not None and name in expected:
                    total = math.hypot(row[name], expected[name](row))
                    self.assertLess(abs(more[name] / total - 1), 1e-4, name)
                else:
                    self.assertEqual(row[name], more[name], name)

    def test_systematic_errors(self):
        """--flux-error and --position-error: of sources with and without a fit, of positions that
        are given, and of planes."""
        path, places = self.points("more.fits", as_the_beam)
        added = ["--flux-error", "3", "--position-error", "0.04"]
        for options in (["--fit"], [], ["--fit", "--scales=2", "--negative"]):
            self.assert_added(
                self.rows_of(path, *options),
                self.rows_of(path, *options, *added, name="more.csv"),
                0.03,
                0.04 * FWHM,
            )
        at = self.path("at.csv")
        with open(at, "w", encoding="utf-8") as stream:
            stream.write(
                "Xposn,Yposn\n" + "".join("%r,%r\n" % tuple(map(float, p)) for p in places.T)
            )
        at_rows = [self.rows_of(path, "--fit", "--at", at, *more) for more in ([], added)]
        self.assert_added(*at_rows, 0.03, 0)
        planes = []
        for more in ([], added):
            self.rows_of(path, "--fit", "--measure-in", path, *more)
            with open(self.path("rows.planes.csv"), encoding="utf-8") as stream:
                planes.append([t.numbers(row) for row in csv.DictReader(stream)])
        self.assert_added(*planes, 0.03, 0)

    def test_wrong_values(self):
        path, _ = self.points("wrong.fits", white)
        for option in ("--flux-error", "--position-error"):
            for value in ("-1", "nan", "x", ""):
                result = t.run(path, "--fit", option, value)
                self.assertEqual(result.returncode, 2, (option, value))
            result = t.run(path, "--fit", option, "2,5")
            self.assertIn("'2,5' is not a number from 0 on: write a point", result.stderr)

    def test_none_to_add(self):
        """0, as a script may have it in a variable, is the same as no option."""
        path, _ = self.points("none.fits", white)
        none = ["--flux-error", "0", "--position-error", "0.0"]
        texts = [t.run(path, "--fit", *more).stdout for more in ([], none)]
        self.assertTrue(texts[0])
        self.assertEqual(*texts)

    def test_note_on_bright_sources(self):
        """Above 100 rms errors of noise are far below others: a note says so, until one is added."""
        path, _ = self.points("bright.fits", as_the_beam)
        with fits.open(path) as hdus:
            bright = self.write("brighter.fits", hdus[0].data ** 3, hdus[0].header)
        for more, is_noted in (
            ([], True),
            (["--flux-error", "2"], False),
            (["--position-error", "0.005"], False),
        ):
            result = t.run(bright, "-l", "-i", "3", "--fit", *more, "-o", self.path("b.json"))
            notes = " ".join(json.load(open(self.path("b.json"), encoding="utf-8"))["notes"])
            self.assertEqual("above 100 rms" in notes, is_noted)
            self.assertEqual("above 100 rms" in result.stderr, is_noted)
        self.assertNotIn("above 100 rms", t.run(path, "-l", "-i", "3", "--fit").stderr)


if __name__ == "__main__":
    t.main()
