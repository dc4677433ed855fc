"""--at: fluxes at the positions of a catalogue, against a plain version in NumPy."""
import csv
import gzip
import io
import json
import math
import os
import subprocess
import unittest

import numpy as np
import scipy.linalg
import scipy.spatial
from astropy import units as u
from astropy.coordinates import SkyCoord
from astropy.io import fits
from astropy.table import Table
from astropy.wcs import WCS

import srcfind_test as t
import sky  # which srcfind_test finds

FAKE = os.environ.get("FAKE_CUDA", "")
EDGE, OUTSIDE, BEAM_SHAPE, NOT_FITTED = 1, 512, 128, 64
WIDTH, HEIGHT = 140, 120
MEASURED = (
    "Peak_flux",
    "E_Peak_flux",
    "Total_flux",
    "E_Total_flux",
    "Isl_rms",
    "Isl_mean",
    "SNR",
    "Xpeak",
    "Ypeak",
    "N_pix",
    "Maj",
    "Min",
    "PA",
)
NEVER = (
    "E_RA",
    "E_DEC",
    "E_Xposn",
    "E_Yposn",
    "Isl_Total_flux",
    "E_Isl_Total_flux",
    "Pixel_sum",
    "X_min",
    "X_max",
    "Y_min",
    "Y_max",
)


def wave(low, high):
    """A smooth map, as float32."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    return (low + (high - low) * (0.5 + 0.5 * np.sin(x / 17.0) * np.cos(y / 23.0))).astype(
        np.float32
    )


def reach(beam):
    """How far one FWHM of a beam reaches in x and y."""
    xx, _, yy = sky.covariance(beam)
    return sky.FWHM * math.sqrt(xx), sky.FWHM * math.sqrt(yy)


def fitted_covariance(beam):
    """The beam's covariance as fits have it: the inverse is rounded to 28 bits of its trace."""
    xx, xy, yy = sky.covariance(beam)
    form = np.array([yy, -xy, xx]) / (xx * yy - xy * xy)
    step = 2.0 ** (math.frexp(form[0] + form[2])[1] - 28)
    a, b, c = step * np.round(form / step)
    return c / (a * c - b * b), -b / (a * c - b * b), a / (a * c - b * b)


POWERS = (0, 1, 2, 4)  # pixels weigh as the shape to 1 + power, which the noise chooses


def nearest_power(found, expected):
    """What is expected with the power that is nearest to what was found; and that power."""
    found = np.array(found, float)
    sums = [np.nansum(abs(found - np.array(expected(power), float))) for power in POWERS]
    power = POWERS[int(np.argmin(sums))]
    return expected(power), power


def amplitude(image, background, x, y, beam, power=0):
    """Of the beam (FWHM of both axes in pixels, and position angle) over the pixels within one FWHM
    that are not blank, weighted; and how many these are."""
    xx, xy, yy = fitted_covariance(beam)
    determinant = xx * yy - xy * xy
    left, top = (max(int(at - size), 0) for at, size in zip((x, y), reach(beam)))
    part = np.s_[top : int(y + reach(beam)[1]) + 2, left : int(x + reach(beam)[0]) + 2]
    image, background = image[part], background[part]
    dy, dx = (
        np.mgrid[: image.shape[0], : image.shape[1]] - np.array([y - top, x - left])[:, None, None]
    )
    square = (yy * dx * dx - 2 * xy * dx * dy + xx * dy * dy) / determinant
    used = (square <= (sky.FWHM * (1 + 1e-6)) ** 2) & np.isfinite(image)
    model, above = np.exp(-square[used] / 2), image[used].astype(np.float64) - background[used]
    weights = model ** (1 + power)
    return np.sum(above * weights) / np.sum(weights * model), np.count_nonzero(used)


def apart(x, y, beam, least=2.02):
    """Which positions are so many beams from all those before them that are."""
    xx, xy, yy = sky.covariance(beam)
    kept = []
    for i in range(len(x)):
        dx, dy = x[kept] - x[i], y[kept] - y[i]
        if np.all(
            (yy * dx * dx - 2 * xy * dx * dy + xx * dy * dy) / (xx * yy - xy * xy)
            > (least * sky.FWHM) ** 2
        ):
            kept.append(i)
    return np.array(kept)


def squares(moments, x, y, at_x, at_y):
    """The form of Gaussians with the moments (xx, xy, yy), of offsets from (x, y)."""
    (xx, xy, yy), dx, dy = moments, at_x - x, at_y - y
    return (yy * dx * dx - 2 * xy * dx * dy + xx * dy * dy) / (xx * yy - xy * xy)


def area(moments):
    xx, xy, yy = moments
    return math.sqrt(xx * yy - xy * xy)


def clusters(x, y, moments):
    """Numbers of the groups of Gaussians that are closer than the sum of their FWHMs along the line
    between them."""
    number = np.arange(len(x))
    for i in range(len(x)):
        for k in range(i):
            steps = [
                sky.FWHM / math.sqrt(squares(moments[j], x[i], y[i], x[k], y[k])) for j in (i, k)
            ]
            if sum(steps) > 1:
                number[number == number[i]] = number[k]
    return number


def joint(image, x, y, moments, power=0, beam=None):
    """Amplitudes of Gaussians, those of a group together, over the pixels within one FWHM of any of
    them, weighted. beam: the moments of points; wider shapes have a lower power."""
    at_y, at_x = np.mgrid[: image.shape[0], : image.shape[1]]
    result, number = np.full(len(x), np.nan), clusters(x, y, moments)
    for one in set(number):
        members = np.flatnonzero(number == one)
        square = np.array([squares(moments[i], x[i], y[i], at_x, at_y) for i in members])
        used = (square <= (sky.FWHM * (1 + 1e-6)) ** 2).any(axis=0) & np.isfinite(image)
        shapes = np.exp(-square[:, used] / 2)
        weights = [
            shape ** (1 + power / max(1, area(moments[i]) / area(beam or moments[i])) ** 1.5)
            for shape, i in zip(shapes, members)
        ]
        result[members] = scipy.linalg.solve(
            weights @ shapes.T, weights @ image[used].astype(np.float64)
        )
    return result, number


def sample(image, x, y):
    """The value at a position by Lanczos' window over the pixels within three; None where one of them
    is missing."""
    i, j = (np.arange(math.ceil(at - 3), math.floor(at + 3) + 1) for at in (x, y))
    if i[0] < 0 or j[0] < 0 or i[-1] >= image.shape[1] or j[-1] >= image.shape[0]:
        return None
    along_x, along_y = (
        np.where(abs(at) < 3, np.sinc(at) * np.sinc(at / 3), 0) for at in (i - x, j - y)
    )
    value = along_y @ image[np.ix_(j, i)].astype(np.float64) @ along_x
    return value / (along_x.sum() * along_y.sum()) if np.isfinite(value) else None


class At(t.Case):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(7)
        self.data = t.noise(HEIGHT, WIDTH, seed=4) + np.float32(0.25)
        self.data[20:26, 30:50] = np.nan
        self.image = self.write("image.fits", self.data, t.sky_header())

    def catalogue(self, name="positions.csv", **columns):
        path = self.path(name)
        Table(columns).write(path, overwrite=True)
        return path

    def pixels(self, n=200):
        """Positions in the image and a little beyond."""
        return self.random.uniform(-3, WIDTH + 2, n), self.random.uniform(-3, HEIGHT + 2, n)

    def text(self, image, catalogue, *options, **more):
        """With the rows of entries outside, so that there is one for each entry."""
        result = t.run(image, "-q", "--at", catalogue, "--at-all", *options, **more)
        self.assertEqual([result.returncode, result.stderr], [0, ""])
        return result.stdout

    def rows(self, *arguments, **more):
        return [
            t.numbers(row) for row in csv.DictReader(io.StringIO(self.text(*arguments, **more)))
        ]

    def assert_empty(self, row, flags=0):
        self.assertEqual(row["Flags"], flags | OUTSIDE)
        self.assertEqual([row[name] for name in MEASURED + NEVER], [None] * len(MEASURED + NEVER))

    def assert_sampled(self, rows, x, y, image, background, rms):
        """The value at the position or, near blanks and edges, at the nearest pixel, to the bit;
        background and rms are maps or numbers."""
        n_inside = n_cut = 0
        above = image - np.broadcast_to(background, image.shape)
        self.assertEqual([row["Source_id"] for row in rows], list(range(1, len(x) + 1)))
        for row, at_x, at_y in zip(rows, x, y):
            self.assertEqual(
                [row["Xposn"], row["Yposn"], row["Isl_id"]], [at_x, at_y, row["Source_id"]]
            )
            i, j = math.floor(at_x + 0.5), math.floor(at_y + 0.5)
            if not (
                0 <= i < image.shape[1] and 0 <= j < image.shape[0] and np.isfinite(image[j, i])
            ):
                self.assert_empty(row)
                continue
            n_inside += 1
            mean, noise = (float(np.broadcast_to(m, image.shape)[j, i]) for m in (background, rms))
            expected, nearest = sample(above, at_x, at_y), float(image[j, i]) - mean
            is_cut = expected is None
            n_cut += is_cut
            if is_cut:
                self.assertEqual([row["Peak_flux"], row["N_pix"]], [nearest, 1])
            else:
                self.assertAlmostEqual(row["Peak_flux"], expected, delta=1e-6 * noise)
                self.assertIn(row["N_pix"], (36, 42, 49))
            self.assertEqual(
                [
                    row[name]
                    for name in ("E_Peak_flux", "Isl_mean", "Isl_rms", "Flags", "Xpeak", "Ypeak")
                ],
                [noise, mean, noise, EDGE if is_cut else 0, i, j],
            )
            self.assertEqual(row["SNR"], row["Peak_flux"] / noise)
            self.assertEqual(
                [row[name] for name in NEVER + ("Total_flux", "Maj")], [None] * (len(NEVER) + 2)
            )
        self.assertTrue(len(x) / 2 < n_inside < len(x) and 0 < n_cut < n_inside / 2)

    def assert_fitted(self, rows, x, y, image, background, rms, beam):
        n_cut, ratios, (reach_x, reach_y) = 0, [], reach(beam)
        means = np.broadcast_to(background, image.shape)
        _, power = nearest_power(
            [row["Peak_flux"] for row in rows],
            lambda power: [amplitude(image, means, *at, beam, power)[0] for at in zip(x, y)],
        )
        for row, at_x, at_y in zip(rows, x, y):
            i, j = math.floor(at_x + 0.5), math.floor(at_y + 0.5)
            if not (
                0 <= i < image.shape[1] and 0 <= j < image.shape[0] and np.isfinite(image[j, i])
            ):
                self.assert_empty(row)
                continue
            mean, noise = (np.broadcast_to(m, image.shape) for m in (background, rms))
            expected, n = amplitude(image, mean, at_x, at_y, beam, power)
            whole = amplitude(
                np.zeros((200, 200)), np.zeros((200, 200)), at_x - i + 100, at_y - j + 100, beam
            )[1]
            is_cut = n < whole or not (
                reach_x <= at_x <= image.shape[1] - 1 - reach_x
                and reach_y <= at_y <= image.shape[0] - 1 - reach_y
            )
            n_cut += is_cut
            self.assertEqual(
                [row["N_pix"], row["Isl_mean"], row["Isl_rms"]], [n, mean[j, i], noise[j, i]]
            )
            self.assertEqual(row["Flags"], BEAM_SHAPE | (EDGE if is_cut else 0))
            self.assertAlmostEqual(
                row["Peak_flux"], expected, delta=1e-9 * max(abs(expected), noise[j, i])
            )
            ratios.append(row["E_Peak_flux"] / noise[j, i])
            # a point source, in Jy/beam
            self.assertAlmostEqual(row["Total_flux"], row["Peak_flux"], delta=1e-12 * abs(expected))
            self.assertAlmostEqual(row["E_Total_flux"], row["E_Peak_flux"], delta=1e-12)
            self.assertEqual([row[name] for name in NEVER], [None] * len(NEVER))
        self.assertTrue(0 < n_cut < len(x))
        # the noise's correlation is measured; independent pixels differ by their places
        self.assertLess(max(ratios) / min(ratios), 1.5)
        self.assertTrue(0.1 < min(ratios) < 1.2)

    # --- the value at the position ---

    def test_value_at_the_position(self):
        x, y = self.pixels()
        x[:6], y[:6] = [0.5, 1.5, -0.5, 10, 10, 139.4], [5.5, 6.5, -0.5, -0.5, 119.4, 119.4]
        at = self.catalogue(Xposn=x, Yposn=y)
        found = t.find(self.image)["background"]
        for options, background, rms in (
            (["--background", "zero"], 0, found["rms"]),
            ([], found["median"], found["rms"]),
            (["--background=0.125", "--rms", "2"], 0.125, 2),
            (["-n", "100"], found["median"], found["rms"]),
        ):
            with self.subTest(options):
                self.assert_sampled(
                    self.rows(self.image, at, *options), x, y, self.data, background, rms
                )

    def test_peak_between_pixels(self):
        """A point in a beam of 2.5 to 6 pixels has its peak, wherever it is in its pixel."""
        at_y, at_x = np.mgrid[:HEIGHT, :WIDTH]
        x, y = (
            at.ravel() for at in np.meshgrid(np.arange(20, 130, 20.0), np.arange(40, 110, 20.0))
        )
        x, y = x + self.random.uniform(0, 1, len(x)), y + self.random.uniform(0, 1, len(x))
        for width, most in (2.5, 7e-3), (3, 8e-3), (4, 7e-3), (6, 3e-3):
            image = sum(
                np.exp(-squares(sky.covariance((width, width, 0)), *place, at_x, at_y) / 2)
                for place in zip(x, y)
            )
            path = self.write("points.fits", image.astype(np.float32), t.sky_header())
            rows = self.rows(
                path, self.catalogue(Xposn=x, Yposn=y), "--background", "zero", "--rms", "1"
            )
            off = [row["Peak_flux"] - 1 for row in rows]
            self.assertLess(max(map(abs, off)), most)

    def test_local_noise(self):
        """The noise at the position: that of the maps that --save writes, which are rounded to
        float32."""
        x, y = self.pixels()
        at = self.catalogue(Xposn=x, Yposn=y)
        self.text(
            self.image,
            at,
            "--rms-box",
            "40,13",
            "--save",
            "rms,background,snr",
            "-o",
            self.path("c.csv"),
        )
        rows = t.read_csv(self.path("c.csv"))
        maps = [fits.getdata(self.path("c.%s.fits" % name)) for name in ("rms", "background")]
        plain = self.path("p.csv")
        t.run(
            self.image,
            "-q",
            "--rms-box",
            "40,13",
            "--save",
            "rms,background,snr",
            "-o",
            plain,
            check=True,
        )
        for name in ("rms", "background", "snr"):
            self.assertTrue(
                np.array_equal(
                    fits.getdata(self.path("c.%s.fits" % name)),
                    fits.getdata(self.path("p.%s.fits" % name)),
                    equal_nan=True,
                )
            )
        inside = [row for row in rows if row["Flags"] == 0]
        self.assertGreater(len(inside), 100)
        for row in inside:
            at = int(row["Ypeak"]), int(row["Xpeak"])
            self.assertEqual(
                [np.float32(row["Isl_rms"]), np.float32(row["Isl_mean"])], [m[at] for m in maps]
            )
            above = sample(self.data - maps[1], float(row["Xposn"]), float(row["Yposn"]))
            self.assertAlmostEqual(row["Peak_flux"], above, delta=1e-6)
        self.assertGreater(len({row["Isl_rms"] for row in inside}), 50)

    def test_given_maps(self):
        x, y = self.pixels()
        at = self.catalogue(Xposn=x, Yposn=y)
        rms, background, mask = wave(0.8, 2), wave(-1, 1), wave(0, 1) > 0.4
        maps = [
            "--rms-map",
            self.write("r.fits", rms),
            "--background-map",
            self.write("b.fits", background),
        ]
        masked = ["--mask", self.write("m.fits", mask.astype(np.uint8))]
        blanked = np.where(mask, self.data, np.nan)
        found = t.find(self.image, *masked)["background"]
        self.assert_sampled(self.rows(self.image, at, *maps), x, y, self.data, background, rms)
        self.assert_sampled(
            self.rows(self.image, at, *masked), x, y, blanked, found["median"], found["rms"]
        )
        self.assert_sampled(
            self.rows(self.image, at, *maps, *masked), x, y, blanked, background, rms
        )
        beam = (5.0, 4.0, 30.0)
        x, y = (values[apart(x, y, beam)] for values in (x, y))
        at = self.catalogue(Xposn=x, Yposn=y)
        self.assert_fitted(
            self.rows(self.image, at, "--fit", *maps, *masked), x, y, blanked, background, rms, beam
        )

    def test_blank(self):
        self.data[60:80, 10:90] = 0
        image = self.write("zeros.fits", self.data, t.sky_header())
        blanked = np.where(self.data == 0, np.nan, self.data)
        x, y = self.pixels()
        found = t.find(image, "--blank", "0")["background"]
        rows = self.rows(image, self.catalogue(Xposn=x, Yposn=y), "--blank", "0")
        self.assert_sampled(rows, x, y, blanked, found["median"], found["rms"])

    def test_constant_image(self):
        """Without noise nothing is measured, unless it is given."""
        image = self.write("flat.fits", np.full((50, 50), 3, np.float32), t.sky_header())
        at = self.catalogue(Xposn=[5.0], Yposn=[7.0])
        self.assert_empty(self.rows(image, at)[0])
        row = self.rows(image, at, "--rms", "0.5", "--background", "zero")[0]
        self.assertEqual([row["Peak_flux"], row["SNR"], row["Flags"]], [3, 6, 0])

    # --- the beam ---

    def test_beam(self):
        all_x, all_y = self.pixels(400)
        for beam in (
            (5.0, 4.0, 30.0),
            (9.0, 3.0, 65.0),
            (9.3, 3.1, -20.0),
            (2.2, 2.2, 0.0),
            (30.5, 11.25, 100.0),
        ):
            option = "%r,%r,%r" % (beam[0] * 1.8, beam[1] * 1.8, beam[2])  # pixels of 1.8 arcsec
            x, y = (values[apart(all_x, all_y, beam)] for values in (all_x, all_y))
            at = self.catalogue(Xposn=x, Yposn=y)
            with self.subTest(option):
                rows = self.rows(
                    self.image, at, "--fit", "--background", "zero", "--rms", "1", "--beam", option
                )
                self.assert_fitted(rows, x, y, self.data, 0, 1, beam)
                row = next(row for row in rows if row["Flags"] < OUTSIDE)
                self.assertAlmostEqual(row["Maj"] * 3600, beam[0] * 1.8, delta=1e-6 * beam[0])
                self.assertEqual(
                    [
                        row[name]
                        for name in (
                            "DC_Maj",
                            "DC_Min",
                            "DC_PA",
                            "E_Maj",
                            "E_DC_Maj",
                            "Resid_Isl_rms",
                            "Resid_Isl_mean",
                            "Chi2",
                            "Dof",
                            "Pix_SNR",
                            "Hole",
                        )
                    ],
                    [0] * 3 + [None] * 8,
                )

    def test_beam_at_a_pole(self):
        """The beam is constant in pixels: at each position Maj and PA tell the same step in
        pixels."""
        x, y = self.pixels(40)
        header = t.sky_header(CRVAL1=30.0, CRVAL2=90.0, BMAJ=5e-3, BMIN=2.5e-3, BPA=40.0)
        wcs = WCS(header)
        rows = self.rows(
            self.write("pole.fits", self.data, header), self.catalogue(Xposn=x, Yposn=y), "--fit"
        )
        measured = [row for row in rows if row["Maj"] is not None]
        for row in measured:
            place = SkyCoord(row["RA"], row["DEC"], unit="deg")
            ends = place.directional_offset_by(
                [row["PA"], row["PA"] + 90] * u.deg, [row["Maj"], row["Min"]] * u.deg
            )
            steps = np.array(wcs.world_to_pixel(ends)) - np.array([[row["Xposn"]], [row["Yposn"]]])
            for (right, up), length, angle in zip(steps.T, (10, 5), (40, 130)):
                expected = length * np.array(
                    [-math.sin(math.radians(angle)), math.cos(math.radians(angle))]
                )
                self.assertLess(
                    min(np.hypot(*(expected - (right, up))), np.hypot(*(expected + (right, up)))),
                    0.01,
                )
        self.assertGreater(len(measured), 20)

    def test_narrow_and_wide_beams(self):
        """A beam that has no pixel within one FWHM takes the nearest one, unless that is more than
        three sigma away; one larger than the image is no danger."""
        at = self.catalogue(Xposn=[40.5, 40.3], Yposn=[60.5, 60.2])
        rows = self.rows(self.image, at, "--fit", "--beam", "0.5,0.4,0", "--background", "zero")
        self.assertEqual(
            [[row["N_pix"], row["Flags"], row["Peak_flux"] is None] for row in rows],
            [[1, NOT_FITTED, True], [1, BEAM_SHAPE, False]],
        )
        self.assertGreater(rows[1]["E_Peak_flux"], 2 * rows[1]["Isl_rms"])
        for size in ("1000", "1e5"):
            rows = [
                self.rows(
                    self.image,
                    self.catalogue(Xposn=[x], Yposn=[y]),
                    "--fit",
                    "--beam",
                    size,
                    "--background",
                    "zero",
                )[0]
                for x, y in ((40.5, 60.5), (40.3, 60.2))
            ]
            self.assertEqual([row["Flags"] for row in rows], [BEAM_SHAPE | EDGE] * 2)
            width = float(size) / 1.8
            expected, _ = nearest_power(
                [row["Peak_flux"] for row in rows],
                lambda power: [
                    amplitude(self.data, np.zeros_like(self.data), x, y, (width, width, 0), power)[
                        0
                    ]
                    for x, y in ((40.5, 60.5), (40.3, 60.2))
                ],
            )
            for row, flux in zip(rows, expected):
                self.assertAlmostEqual(row["Peak_flux"], flux, delta=1e-9 * flux)

    def test_unit(self):
        image = self.write("mjy.fits", self.data, t.sky_header(BUNIT="mJy/beam"))
        row = self.rows(image, self.catalogue(Xposn=[60.0], Yposn=[60.0]), "--fit")[0]
        self.assertAlmostEqual(row["Total_flux"], 1e-3 * row["Peak_flux"], delta=1e-15)
        self.assertAlmostEqual(row["E_Total_flux"], 1e-3 * row["E_Peak_flux"], delta=1e-15)

    def test_gaussian_without_noise(self):
        """The amplitude is the peak, wherever in its pixel the source is."""
        y, x = np.mgrid[:HEIGHT, :WIDTH]
        for beam in ((5.0, 4.0, 30.0), (11.0, 4.5, 120.0)):
            xx, xy, yy = sky.covariance(beam)
            image, peaks = np.zeros((HEIGHT, WIDTH)), self.random.uniform(-5, 5, 4)
            places = self.random.uniform(-0.5, 0.5, (4, 2)) + [
                [30, 30],
                [100, 30],
                [30, 90],
                [100, 90],
            ]
            for peak, (at_x, at_y) in zip(peaks, places):
                dx, dy = x - at_x, y - at_y
                image += peak * np.exp(
                    -(yy * dx * dx - 2 * xy * dx * dy + xx * dy * dy) / (2 * (xx * yy - xy * xy))
                )
            path = self.write("clean.fits", image.astype(np.float32), t.sky_header())
            rows = self.rows(
                path,
                self.catalogue(Xposn=places[:, 0], Yposn=places[:, 1]),
                "--fit",
                "--background",
                "zero",
                "--rms",
                "1",
                "--beam",
                "%r,%r,%r" % (beam[0] * 1.8, beam[1] * 1.8, beam[2]),
            )
            for row, peak in zip(rows, peaks):
                self.assertAlmostEqual(row["Peak_flux"], peak, delta=3e-7 * abs(peak))  # float32

    def test_errors(self):
        """Where nothing is, fluxes scatter by their errors, in noise that has the beam's
        autocorrelation."""
        for beam in ("6,4,30", "4.5,4.5,0", "12,4,100"):
            a = sky.arguments(["700", "-", "--beam", beam])
            noise = sky.noise(a, np.random.default_rng(3)).astype(np.float32)
            x, y = (
                values.ravel() + self.random.uniform(-2, 2, values.size)
                for values in np.meshgrid(np.arange(20, 690, 24.0), np.arange(20, 690, 24.0))
            )
            arcsec = ",".join(repr(value * 1.8) for value in a.beam[:2]) + ",%r" % a.beam[2]
            at, image = self.catalogue(Xposn=x, Yposn=y), self.write(
                "noise.fits", noise, t.sky_header()
            )
            for options in ([], ["--fit"]):
                rows = self.rows(image, at, "--beam", arcsec, *options)
                ratio = np.array([row["Peak_flux"] / row["E_Peak_flux"] for row in rows])
                self.assertGreater(len(ratio), 700)
                with self.subTest(beam, options=options):
                    self.assertTrue(0.9 < ratio.std() < 1.1, ratio.std())
                    self.assertLess(abs(ratio.mean()), 0.15)

    # --- shapes and neighbours ---

    ARCSEC = 1.8  # a pixel

    def image_of(self, name, data, beam, **cards):
        """Pixels with coordinates in which x is west and y is north, but for the curvature of the
        sky."""
        return self.write(
            name,
            data.astype(np.float32),
            t.sky_header(
                BMAJ=beam[0] * self.ARCSEC / 3600,
                BMIN=beam[1] * self.ARCSEC / 3600,
                BPA=beam[2],
                **cards,
            ),
        )

    def seen(self, x, y):
        """Those that are not on a blank."""
        kept = np.isfinite(self.data[np.floor(y + 0.5).astype(int), np.floor(x + 0.5).astype(int)])
        return x[kept], y[kept]

    def shapes(self, n, beam):
        """Gaussians (FWHM in pixels and angle), of which some are points, and their moments with
        the beam."""
        own = [
            (0.0, 0.0, 0.0)
            if i % 3 == 0
            else (major, major * self.random.uniform(0, 1), self.random.uniform(0, 180))
            for i, major in enumerate(self.random.uniform(1, 2.5 * beam[0], n))
        ]
        own = [
            (major, max(minor, 1e-9), angle) if major else (0.0, 0.0, 0.0)
            for major, minor, angle in own
        ]
        return own, [
            tuple(
                a + b
                for a, b in zip(
                    sky.covariance(beam), sky.covariance(shape) if shape[0] else (0, 0, 0)
                )
            )
            for shape in own
        ]

    def test_shapes_are_held(self):
        """DC_Maj, DC_Min and DC_PA, in whichever unit; Aegean's a, b, pa without psf_a, psf_b,
        psf_pa: convolved with this image's beam. Amplitudes are SciPy's, of neighbours together."""
        beam, psf, n = (5.0, 4.0, 30.0), (4.0, 3.0, 100.0), 60
        image = self.image_of("shapes.fits", self.data, beam)
        x, y = self.seen(
            self.random.uniform(2, WIDTH - 3, n), self.random.uniform(2, HEIGHT - 3, n)
        )
        n = len(x)
        own, moments = self.shapes(n, beam)
        _, number = joint(self.data, x, y, moments)
        sizes = np.unique(number, return_counts=True)[1]
        self.assertTrue(sizes.max() <= 64 and np.count_nonzero(sizes > 1) > 3, sizes)
        major, minor, angle = np.array(own).T
        degrees = self.ARCSEC / 3600
        with_psf = [
            sky.axes(
                *(
                    a + b
                    for a, b in zip(
                        sky.covariance(psf), sky.covariance(shape) if shape[0] else (0, 0, 0)
                    )
                )
            )
            for shape in own
        ]
        a, b, pa = np.array(with_psf).T
        tables = {
            "degrees": {"DC_Maj": major * degrees, "DC_Min": minor * degrees, "DC_PA": angle},
            "arcsec": {
                "DC_Maj": major * self.ARCSEC * u.arcsec,
                "DC_Min": minor * self.ARCSEC * u.arcsec,
                "DC_PA": angle * u.deg,
            },
            "aegean": {
                "a": a * self.ARCSEC,
                "b": b * self.ARCSEC,
                "pa": pa,
                "psf_a": np.full(n, psf[0] * self.ARCSEC),
                "psf_b": np.full(n, psf[1] * self.ARCSEC),
                "psf_pa": np.full(n, psf[2]),
            },
        }
        for name, columns in tables.items():
            at = self.path(name + (".csv" if name == "degrees" else ".ecsv"))
            Table({"Xposn": x, "Yposn": y, **columns}).write(at)
            rows = self.rows(image, at, "--fit", "--background", "zero", "--rms", "1")
            # the sky turns and shrinks by 1e-6 from the reference pixel to the corners, and
            # Aegean's points have a size of rounding errors
            relative = 1e-4
            n_shapes = 0
            expected, _ = nearest_power(
                [row["Peak_flux"] for row in rows],
                lambda power: joint(self.data, x, y, moments, power, fitted_covariance(beam))[0],
            )
            for i, row in enumerate(rows):
                with self.subTest(name, i=i):
                    self.assertAlmostEqual(
                        row["Peak_flux"], expected[i], delta=relative * max(abs(expected[i]), 1)
                    )
                    (xx, xy, yy), beams = moments[i], sky.covariance(beam)
                    area = math.sqrt((xx * yy - xy * xy) / (beams[0] * beams[2] - beams[1] ** 2))
                    self.assertAlmostEqual(
                        row["Total_flux"],
                        row["Peak_flux"] * area,
                        delta=1e-5 * abs(row["Total_flux"]),
                    )
                    self.assertAlmostEqual(
                        row["E_Total_flux"],
                        row["E_Peak_flux"] * area,
                        delta=1e-5 * row["E_Total_flux"],
                    )
                    whole = sky.axes(xx, xy, yy)
                    self.assertAlmostEqual(row["Maj"], whole[0] * degrees, delta=1e-5 * row["Maj"])
                    self.assertAlmostEqual(row["Min"], whole[1] * degrees, delta=1e-5 * row["Min"])
                    self.assertEqual(row["E_Maj"], None)
                    if name != "aegean":
                        self.assertAlmostEqual(row["DC_Maj"], major[i] * degrees, delta=1e-15)
                        self.assertEqual(
                            int(row["Flags"]) & BEAM_SHAPE, 0 if major[i] else BEAM_SHAPE
                        )
                        n_shapes += major[i] > 0
                    self.assertAlmostEqual(row["DC_Maj"], major[i] * degrees, delta=1e-4 * degrees)
            self.assertTrue(n_shapes > 30 or name == "aegean")
        beams = self.rows(
            image, self.catalogue(Xposn=x, Yposn=y), "--fit", "--background", "zero", "--rms", "1"
        )
        for columns in (
            {"a": a, "b": b, "pa": pa},
            {"DC_Maj": major, "DC_Min": minor},
            {"DC_Maj": ["-"] * n, "DC_Min": minor, "DC_PA": angle},
        ):
            # the beam is not told, or the shape is not
            at = self.catalogue("beams.csv", Xposn=x, Yposn=y, **columns)
            self.assertEqual(
                self.rows(image, at, "--fit", "--background", "zero", "--rms", "1"), beams
            )
        at = self.path("unit.ecsv")
        Table(
            {"Xposn": x, "Yposn": y, "DC_Maj": major * u.Jy, "DC_Min": minor, "DC_PA": angle}
        ).write(at)
        self.assert_error(
            1,
            "the unit of DC_Maj is Jy: convert the column to arcsec or degrees",
            image,
            "--at",
            at,
            "--fit",
        )
        self.assertEqual(t.run(image, "-q", "--at", at).returncode, 0)

    def test_shapes_wider_than_the_image(self):
        """These are as flat as a background: rows with flag 64 and the catalogue's size, and other
        entries as if they were not there. The run ends, however wide they are."""
        beam = (5.0, 4.0, 30.0)
        image = self.image_of("shapes.fits", self.data, beam)
        x, y = np.array([30.25, 60.5, 61.0, 60.5, 90.75]), np.array(
            [40.5, 70.25, 70.0, 70.25, 80.0]
        )
        degrees = self.ARCSEC / 3600
        options = "--fit", "--background", "zero", "--rms", "1"
        few = self.catalogue(
            "few.csv",
            Xposn=x[[0, 2, 4]],
            Yposn=y[[0, 2, 4]],
            DC_Maj=[0, 9 * degrees, 0],
            DC_Min=[0, 0, 0],
            DC_PA=[0, 10, 0],
        )
        expected = self.rows(image, few, *options)
        self.assertEqual(
            [int(row["Flags"]) & ~EDGE for row in expected], [BEAM_SHAPE, 0, BEAM_SHAPE]
        )
        for wide in (200 * degrees, 250 * degrees, 1, 360, 1e8, 1e30, 1e160, 1e300):
            for narrow in (wide, 0, 3 * degrees):
                with self.subTest(wide=wide, narrow=narrow):
                    at = self.catalogue(
                        "wide.csv",
                        Xposn=x,
                        Yposn=y,
                        DC_Maj=[0, wide, 9 * degrees, wide, 0],
                        DC_Min=[0, narrow, 0, narrow, 0],
                        DC_PA=[0, 20, 10, 20, 0],
                    )
                    rows = self.rows(image, at, *options)
                    for row, alike in zip([rows[i] for i in (0, 2, 4)], expected):
                        self.assertEqual(
                            [row[name] for name in MEASURED + ("Flags",)],
                            [alike[name] for name in MEASURED + ("Flags",)],
                        )
                    for row in rows[1], rows[3]:
                        self.assertEqual(
                            [
                                row["Flags"],
                                row["DC_Maj"],
                                row["Total_flux"],
                                row["Peak_flux"],
                                row["Isl_rms"],
                            ],
                            [NOT_FITTED, wide, None, None, None],
                        )
                    planes = self.path("planes.csv")
                    t.run(
                        image,
                        "-q",
                        "--at",
                        at,
                        *options,
                        "--measure-in",
                        image,
                        "-o",
                        planes,
                        check=True,
                    )
                    self.assertEqual(
                        [
                            int(row["Flags"]) & NOT_FITTED
                            for row in t.read_csv(self.path("planes.planes.csv"))
                        ],
                        [0, NOT_FITTED, 0, NOT_FITTED, 0],
                    )
        for a in (1e9, 1e300):
            at = self.catalogue(
                "aegean.csv",
                Xposn=x,
                Yposn=y,
                a=[20, a, 20, 20, 20],
                b=[20, a, 20, 20, 20],
                pa=[0] * 5,
                psf_a=[9] * 5,
                psf_b=[9] * 5,
                psf_pa=[0] * 5,
            )
            self.assertEqual(
                [int(row["Flags"]) & NOT_FITTED for row in self.rows(image, at, *options)],
                [0, NOT_FITTED, 0, 0, 0],
            )
        nearly = self.catalogue(
            "nearly.csv",
            Xposn=x,
            Yposn=y,
            DC_Maj=[180 * degrees] * 5,
            DC_Min=[0] * 5,
            DC_PA=[0, 40, 80, 120, 160],
        )
        self.assertEqual(
            {int(row["Flags"]) & NOT_FITTED for row in self.rows(image, nearly, *options)}, {0}
        )

    def test_crowds(self):
        """A run ends, however many wide entries lie on each other: they have no flux, and their
        neighbours have their own."""
        beam, degrees = (5.0, 5.0, 0.0), self.ARCSEC / 3600
        at_y, at_x = np.mgrid[:HEIGHT, :WIDTH]
        data = self.random.normal(0, 0.01, (HEIGHT, WIDTH))
        for x, y, peak in ((40.3, 60.2, 5), (48.3, 60.2, 2)):
            data = data + peak * np.exp(-squares(sky.covariance(beam), x, y, at_x, at_y) / 2)
        image = self.image_of("crowd.fits", data, beam)
        options = "--fit", "--background", "zero", "--rms", "0.01"
        for wide in (170, 60, 20):
            n = 5000
            x, y = self.random.uniform(0, WIDTH - 1, n), self.random.uniform(0, HEIGHT - 1, n)
            at = self.catalogue(
                "wide.csv",
                Xposn=x,
                Yposn=y,
                DC_Maj=[wide * degrees] * n,
                DC_Min=[wide * degrees] * n,
                DC_PA=[0] * n,
            )
            rows = self.rows(image, at, *options)
            self.assertEqual(
                {
                    (int(row["Flags"]) & NOT_FITTED, row["Total_flux"], row["DC_Maj"])
                    for row in rows
                },
                {(NOT_FITTED, None, wide * degrees)},
            )
        # forty entries of one source, as catalogues of many epochs have them, and its neighbour
        x, y = 40.3 + self.random.uniform(-0.1, 0.1, 40), 60.2 + self.random.uniform(-0.1, 0.1, 40)
        rows = self.rows(
            image, self.catalogue("epochs.csv", Xposn=[*x, 48.3], Yposn=[*y, 60.2]), *options
        )
        self.assertEqual(
            {(row["Flags"], row["Total_flux"]) for row in rows[:40]}, {(NOT_FITTED, None)}
        )
        self.assertAlmostEqual(rows[40]["Peak_flux"], 2, delta=5 * rows[40]["E_Peak_flux"])
        self.assertLess(rows[40]["E_Peak_flux"], 0.02)

    def test_fluxes_that_nothing_determines(self):
        """Entries that can hardly be told apart have no flux, each of them, though their shapes are
        not exactly sums of each other; nor has one in a large cluster whose parts do not agree. All
        fluxes that are there are within their errors.
        """
        beam, degrees = (4.0, 4.0, 0.0), self.ARCSEC / 3600
        at_y, at_x = np.mgrid[:HEIGHT, :WIDTH]
        data = self.random.normal(0, 0.01, (HEIGHT, WIDTH)) + 5 * np.exp(
            -squares(sky.covariance(beam), 32.3, 31.6, at_x, at_y) / 2
        )
        image = self.image_of("one.fits", data, beam)
        options = "--fit", "--background", "zero", "--rms", "0.01"
        for n, wide, step in (
            (4, 24, 0.5),
            (3, 24, 0.5),
            (10, 60, 0.25),
            (2, 60, 0.25),
            (5, 90, 1),
            (3, 0, 0.01),
        ):
            with self.subTest(n=n, wide=wide, step=step):
                at = self.catalogue(
                    "near.csv",
                    Xposn=32 + step * np.arange(n),
                    Yposn=[32] * n,
                    DC_Maj=[wide * degrees] * n,
                    DC_Min=[wide * degrees] * n,
                    DC_PA=[0] * n,
                )
                rows = self.rows(image, at, *options)
                self.assertEqual(
                    {(int(row["Flags"]) & NOT_FITTED, row["Total_flux"]) for row in rows},
                    {(NOT_FITTED, None)},
                )
        noise = self.image_of("noise.fits", self.random.normal(0, 0.01, (HEIGHT, WIDTH)), beam)
        for n, wide in ((300, 20), (200, 40), (100, 60)):
            with self.subTest(n=n, wide=wide):
                x, y = self.random.uniform(0, WIDTH - 1, n), self.random.uniform(0, HEIGHT - 1, n)
                at = self.catalogue(
                    "many.csv",
                    Xposn=x,
                    Yposn=y,
                    DC_Maj=[wide * degrees] * n,
                    DC_Min=[wide * degrees] * n,
                    DC_PA=[0] * n,
                )
                rows = [
                    row for row in self.rows(noise, at, *options) if row["Total_flux"] is not None
                ]
                # errors know of the places of a part alone
                self.assertTrue(
                    all(abs(row["Total_flux"]) < 10 * row["E_Total_flux"] for row in rows),
                    [row["Total_flux"] / row["E_Total_flux"] for row in rows],
                )

    def test_wide_shapes_of_a_narrow_beam(self):
        """A wide and a small entry, in each direction from one another, are fitted together though
        they are 160 beams apart: in an image without noise, neither takes flux of the other."""
        beam, peaks, degrees = (0.05, 0.05, 0), np.array([30.0, 20.0]), self.ARCSEC / 3600
        offsets = [(0, 8), (0, -8), (8, 0), (-8, 0), (6, 6), (-6, -6)]
        x = np.array([(a, a + dx) for a, (dx, _) in zip((25.25, 70.5, 115.25) * 2, offsets)])
        y = np.array([(b, b + dy) for b, (_, dy) in zip((35.5,) * 3 + (80.25,) * 3, offsets)])
        rows, columns = np.mgrid[:HEIGHT, :WIDTH]
        for sizes in ((12, 1.5), (12, 12)):
            data = np.zeros((HEIGHT, WIDTH))
            for i in range(len(offsets)):
                for k, size in enumerate(sizes):
                    square = (columns - x[i, k]) ** 2 + (rows - y[i, k]) ** 2
                    data += peaks[k] * np.exp(-4 * np.log(2) * square / (size**2 + beam[0] ** 2))
            image = self.image_of("narrow.fits", data.astype(np.float32), beam)
            own = np.tile(sizes, len(offsets)) * degrees
            for count in (1, len(offsets)):  # a pair alone, too
                n = 2 * count
                at = self.catalogue(
                    "wide.csv",
                    Xposn=x.ravel()[:n],
                    Yposn=y.ravel()[:n],
                    DC_Maj=own[:n],
                    DC_Min=own[:n],
                    DC_PA=np.zeros(n),
                )
                for i, row in enumerate(
                    self.rows(image, at, "--fit", "--background", "zero", "--rms", "1")
                ):
                    with self.subTest(sizes=sizes, count=count, i=i):
                        self.assertAlmostEqual(row["Peak_flux"], peaks[i % 2], delta=1e-2)

    def test_own_catalogue(self):
        """Of a search with --fit: its sources have their fluxes again, in another image with that
        beam."""
        beam = (6.0, 5.0, 70.0)
        at_y, at_x = np.mgrid[:HEIGHT, :WIDTH]
        data = self.random.normal(0, 0.01, (HEIGHT, WIDTH))
        (xx, xy, yy), wide = sky.covariance(beam), sky.covariance((9.0, 4.0, 20.0))
        for x, y, moments in (
            (30, 30, (xx, xy, yy)),
            (80, 40, (xx + wide[0], xy + wide[1], yy + wide[2])),
            (60, 90, (xx + 9, xy, yy + 9)),
        ):
            data = data + 3 * np.exp(-squares(moments, x, y, at_x, at_y) / 2)
        image = self.image_of("own.fits", data, beam)
        t.run(image, "-q", "--shapes", "free", "-o", self.path("own.csv"), check=True)
        found = [row for row in t.read_csv(self.path("own.csv")) if row["SNR"] > 50]
        self.assertEqual(len(found), 3)
        Table.read(self.path("own.csv"))[
            [row["SNR"] > 50 for row in t.read_csv(self.path("own.csv"))]
        ].write(self.path("some.csv"))
        other = self.image_of("other.fits", 0.5 * data, (6.0, 5.0, 70.0))
        for row, source in zip(self.rows(other, self.path("some.csv"), "--fit"), found):
            self.assertAlmostEqual(
                row["Total_flux"], 0.5 * source["Total_flux"], delta=0.02 * row["Total_flux"]
            )
            self.assertEqual(
                [row["DC_Maj"], row["DC_Min"], row["DC_PA"]],
                [source["DC_Maj"], source["DC_Min"], source["DC_PA"]],
            )

    def test_neighbours_are_fitted_together(self):
        """Those closer than two beams: SciPy's amplitudes, to 1e-9, on the pixels within a FWHM of
        any of them."""
        options = "--fit", "--background", "zero", "--rms", "1"
        for beam, n in (((5.0, 4.0, 30.0), 70), ((2.2, 2.2, 0.0), 300), ((9.0, 3.0, 65.0), 50)):
            image = self.image_of("joint.fits", self.data, beam)
            x, y = self.random.uniform(0, WIDTH - 1, n), self.random.uniform(0, HEIGHT - 1, n)
            x, y = self.seen(x, y)
            near = apart(x, y, beam, 0.5)
            x, y = x[near], y[near]
            moments = [fitted_covariance(beam)] * len(x)
            _, number = joint(self.data, x, y, moments)
            sizes = np.unique(number, return_counts=True)[1]
            self.assertTrue(3 <= sizes.max() <= 64 and np.count_nonzero(sizes > 1) > 3, sizes)
            at = self.catalogue(Xposn=x, Yposn=y)
            arcsec = "%r,%r,%r" % (beam[0] * 1.8, beam[1] * 1.8, beam[2])
            # WCSLIB has the beam to 1e-10
            rows = self.rows(image, at, *options, "--beam", arcsec)
            expected, _ = nearest_power(
                [row["Peak_flux"] for row in rows],
                lambda power: joint(self.data, x, y, moments, power)[0],
            )
            for row, flux in zip(rows, expected):
                self.assertAlmostEqual(row["Peak_flux"], flux, delta=1e-9 * abs(expected).max())

    def test_pairs_have_errors_of_their_own(self):
        """Pulls of pairs 0.7 to 2 beams apart are those of lone sources, in noise whose
        autocorrelation is the beam."""
        for beam in ("6,4,30", "5,5,0"):
            a = sky.arguments(["900", "-", "--beam", beam])
            noise = sky.noise(a, np.random.default_rng(11))
            places = np.stack(
                np.meshgrid(np.arange(25, 880, 30.0), np.arange(25, 880, 30.0)), -1
            ).reshape(-1, 2)
            places += self.random.uniform(-1, 1, places.shape)
            angle, distance = self.random.uniform(0, 2 * math.pi, len(places)), self.random.uniform(
                0.7, 2, len(places)
            )
            xx, xy, yy = sky.covariance(a.beam)
            step = np.column_stack([np.cos(angle), np.sin(angle)])
            step *= (
                distance * sky.FWHM / np.sqrt(squares((xx, xy, yy), 0, 0, step[:, 0], step[:, 1]))
            )[:, None]
            second = places + step
            flux = self.random.uniform(5, 50, (2, len(places)))
            at_y, at_x = np.mgrid[:900, :900]
            for centres, fluxes in zip((places, second), flux):
                for (x, y), peak in zip(centres, fluxes):
                    part = np.s_[
                        max(int(y) - 20, 0) : int(y) + 22, max(int(x) - 20, 0) : int(x) + 22
                    ]
                    noise[part] += peak * np.exp(
                        -squares((xx, xy, yy), x, y, at_x[part], at_y[part]) / 2
                    )
            image = self.image_of("pairs.fits", noise, a.beam)
            at = self.catalogue(
                Xposn=np.append(places[:, 0], second[:, 0]),
                Yposn=np.append(places[:, 1], second[:, 1]),
            )
            arcsec = ",".join(repr(value * 1.8) for value in a.beam[:2]) + ",%r" % a.beam[2]
            rows = self.rows(
                image, at, "--fit", "--beam", arcsec, "--background", "zero", "--rms", "1"
            )
            pulls = np.array(
                [
                    (row["Peak_flux"] - peak) / row["E_Peak_flux"]
                    for row, peak in zip(rows, flux.ravel())
                ]
            )
            errors = np.array([row["E_Peak_flux"] for row in rows])
            for low, high in ((0.7, 1), (1, 1.5), (1.5, 2)):
                some = np.tile((distance >= low) & (distance < high), 2)
                with self.subTest(beam, low=low):
                    self.assertGreater(np.count_nonzero(some), 300)
                    self.assertLess(abs(np.median(pulls[some])), 0.2)
                    self.assertTrue(0.85 < pulls[some].std() < 1.15, pulls[some].std())
            with self.subTest(beam):
                self.assert_covariance(image, at, arcsec, pulls, distance)
            lone = errors[np.tile(distance > 1.9, 2)].min()
            self.assertTrue(1 < lone < 0.95 * math.sqrt(4 / 3))
            self.assertGreater(errors[np.tile(distance < 0.75, 2)].min(), 1.01 * lone)

    def test_blend(self):
        """The part of the error that a neighbour makes: of a pair 0.5 beams apart, one 1.5 beams apart,
        and a lone position."""
        x, y = np.array([30.0, 33.0, 80.0, 89.0, 120.0]), np.full(5, 60.0)
        image = self.image_of("blend.fits", self.data, (6, 6, 0))
        options = "--fit", "--beam", "10.8,10.8,0", "--rms", "1"
        rows = self.rows(image, self.catalogue(Xposn=x, Yposn=y), *options)
        for i, row in enumerate(rows):
            at = self.catalogue("alone.csv", Xposn=x[i : i + 1], Yposn=y[i : i + 1])
            alone = self.rows(image, at, *options)[0]
            self.assertEqual(alone["Blend"], 0)
            self.assertAlmostEqual(
                row["Blend"], 1 - alone["E_Peak_flux"] / row["E_Peak_flux"], delta=1e-3
            )
        self.assertTrue(0.1 < rows[0]["Blend"] < 0.4 and rows[4]["Blend"] == 0, rows[0]["Blend"])
        self.assertTrue(0 < rows[2]["Blend"] < 0.05, rows[2]["Blend"])
        self.assertNotIn("Blend", self.rows(image, at)[0])

    def crowd(self, beam, n):
        """Positions 0.6 beams apart or more, and an image in which a third of them have flux."""
        x, y = self.random.uniform(10, WIDTH - 10, n), self.random.uniform(30, HEIGHT - 10, n)
        kept = apart(x, y, beam, 0.6)
        x, y = x[kept], y[kept]
        at_y, at_x = np.mgrid[:HEIGHT, :WIDTH]
        data = t.noise(HEIGHT, WIDTH, seed=5)
        for centre_x, centre_y in zip(x[::3], y[::3]):
            square = squares(sky.covariance(beam), centre_x, centre_y, at_x, at_y)
            data += (20 * np.exp(-square / 2)).astype(np.float32)
        return x, y, data

    def test_positive(self):
        """No flux is below 0: each position above 0 has what its weights ask for, and at those with 0
        they ask for less. In a lone group, and in a cluster of several parts."""
        beam = (6.0, 4.0, 30.0)
        options = "--background", "zero", "--rms", "1", "--beam", "10.8,7.2,30"
        for n in (60, 400):
            x, y, data = self.crowd(beam, n)
            image, at = self.image_of("crowd.fits", data, beam), self.catalogue(Xposn=x, Yposn=y)
            free = self.rows(image, at, "--fit", *options)
            rows = self.rows(image, at, "--at-positive", *options)
            moments = [fitted_covariance(beam)] * len(x)
            _, power = nearest_power(
                [row["Peak_flux"] for row in free],
                lambda power: joint(data, x, y, moments, power)[0],
            )
            flux, error = (
                np.array([row[name] for row in rows]) for name in ("Peak_flux", "E_Peak_flux")
            )
            self.assertEqual(list(error), [row["E_Peak_flux"] for row in free])
            self.assertTrue((flux >= 0).all())
            self.assertTrue(0.1 < np.mean(flux == 0) < 0.6, np.mean(flux == 0))
            self.assertGreater(np.count_nonzero([row["Peak_flux"] < 0 for row in free]), 5)
            wanted = self.wanted(data, x, y, moments, power, flux) / error
            most = 1e-3 if n == 60 else 0.1
            self.assertLess(np.percentile(abs(wanted[flux > 0]), 90), most)
            self.assertLess(np.percentile(wanted[flux == 0], 95), most)
            self.assertEqual(
                self.rows(image, at, "--at-positive", *options, "--threads", "5"), rows
            )

    @staticmethod
    def wanted(image, x, y, moments, power, flux):
        """What each position asks for beyond the fluxes of all, on the pixels of its group."""
        at_y, at_x = np.mgrid[: image.shape[0], : image.shape[1]]
        result, number = np.full(len(x), np.nan), clusters(x, y, moments)
        for one in set(number):
            members = np.flatnonzero(number == one)
            square = np.array([squares(moments[i], x[i], y[i], at_x, at_y) for i in members])
            used = (square <= (sky.FWHM * (1 + 1e-6)) ** 2).any(axis=0)
            shapes = np.exp(-square[:, used] / 2)
            weights = shapes ** (1 + power)
            left = image[used].astype(np.float64) - flux[members] @ shapes
            result[members] = weights @ left / np.sum(weights * shapes, axis=1)
        return result

    def test_positive_alone(self):
        """A lone position has its flux, or 0, and the error of --fit."""
        beam = "--beam", "10.8,7.2,30", "--background", "zero", "--rms", "1"
        x, y = (
            at.ravel() + 0.3 for at in np.meshgrid(np.arange(10, 131, 30), np.arange(45, 111, 30))
        )
        image = self.image_of("lone.fits", self.data - np.float32(0.25), (6, 4, 30))
        at = self.catalogue(Xposn=x, Yposn=y)
        self.assertTrue(any(row["Peak_flux"] < 0 for row in self.rows(image, at, "--fit", *beam)))
        for options in ((), ("--fit",)):
            for row, free in zip(
                self.rows(image, at, "--at-positive", *options, *beam),
                self.rows(image, at, "--fit", *beam),
            ):
                flux = max(free["Peak_flux"], 0)
                self.assertAlmostEqual(row["Peak_flux"], flux, delta=1e-12)
                self.assertAlmostEqual(row["SNR"], flux, delta=1e-12)
                self.assertEqual(
                    [row[name] for name in ("E_Peak_flux", "Flags", "N_pix")],
                    [free[name] for name in ("E_Peak_flux", "Flags", "N_pix")],
                )

    def assert_covariance(self, image, at, beam, pulls, distance):
        """--save covariance: as the errors of pairs are correlated, so are their pulls."""
        n, out = len(distance), self.path("pairs.csv")
        options = "--beam", beam, "--background", "zero", "--rms", "1", "--save", "covariance"
        t.run(image, "-q", "--at", at, "--fit", *options, "-o", out, check=True)
        with open(out) as stream:
            error = {int(row["Source_id"]): t.numbers(row) for row in csv.DictReader(stream)}
        with open(self.path("pairs.covariance.csv")) as stream:
            found = {
                (int(row["Source_id_1"]), int(row["Source_id_2"])): t.numbers(row)
                for row in csv.DictReader(stream)
            }
        self.assertEqual(list(found), sorted(found))
        self.assertEqual({second - first for first, second in found}, {n})
        for (first, second), row in found.items():
            self.assertEqual([row["Entry_id_1"], row["Entry_id_2"]], [first, second])
            self.assertEqual(
                [row["E_Total_flux_1"], row["E_Total_flux_2"]],
                [error[i]["E_Total_flux"] for i in (first, second)],
            )
        close = np.flatnonzero(distance < 0.8)
        self.assertGreater(len(close), 60)
        stated = np.array([found[i + 1, i + 1 + n]["Correlation"] for i in close])
        self.assertAlmostEqual(
            np.corrcoef(pulls[close], pulls[close + n])[0, 1],
            stated.mean(),
            delta=2.5 / math.sqrt(len(close)),
        )
        self.assertLess(stated.max(), -0.1)

    def test_covariance_of_one_place(self):
        """Entries that cannot be told apart have one flux; those without flux are in no pair."""
        at = self.catalogue(Xposn=[60.0, 100.0, 60.0, 35.0, 36.0], Yposn=[70.0, 80, 70, 23, 23])
        out = self.path("c.json")
        t.run(
            *(self.image, "-q", "--at", at, "--fit", "--beam", "9,9,0"),
            *("--save", "covariance", "-o", out),
            check=True,
        )
        with open(self.path("c.covariance.json")) as stream:
            rows = json.load(stream)["covariances"]
        self.assertEqual(
            [[row[name] for name in ("Source_id_1", "Source_id_2", "Correlation")] for row in rows],
            [[1, 3, 1]],
        )
        for wrong, words in (
            ((), "add both"),
            (("--at", at), "add --fit"),
            (("--fit",), "add both"),
        ):
            self.assert_error(2, words, self.image, "--save", "covariance", *wrong)

    def hidden_sky(self, n_known, n):
        """A sky of n points, and a catalogue of the first ones."""
        a = sky.arguments(["500", self.path("sky.fits"), "--beam", "5,5,0"])
        x, y = self.random.uniform(20, 480, (2, n))
        peak = self.random.uniform(10, 40, n)
        shape = [np.full(n, value) for value in sky.covariance(a.beam)]
        image = sky.draw(a, (x, y, peak, np.ones(n), *shape), np.random.default_rng(2))
        sky.write_image(a, image)
        ra, dec = sky.world(a, x, y)
        some = slice(n_known)
        at = self.catalogue(Source_id=1000 + 7 * np.arange(n_known), RA=ra[some], DEC=dec[some])
        return a.output, at, np.column_stack([x, y])

    def test_search(self):
        """What the list lacks is found in the image less the list: those of a search of the saved
        residual, behind the entries, which are as without the search."""
        image, at, places = self.hidden_sky(60, 90)
        out, rest = self.path("c.csv"), self.path("rest.csv")
        options = "-q", "--rms", "1e-4", "--background", "zero", "-i", "3"
        t.run(
            *(image, *options, "--at", at, "--at-search"),
            *("--save", "residual,covariance", "-o", out),
            check=True,
        )
        t.run(
            *(image, *options, "--at", at, "--fit", "--save", "residual", "-o", self.path("a.csv")),
            check=True,
        )
        t.run(self.path("a.residual.fits"), *options, "--fit", "-o", rest, check=True)
        given, found = t.read_csv(out)[:60], t.read_csv(out)[60:]
        self.assertEqual(given, t.read_csv(self.path("a.csv")))
        self.assertEqual({row["Entry_id"] for row in found}, {None})
        last = int(given[-1]["Source_id"])
        numbers = list(range(last + 1, last + 1 + len(found)))
        self.assertEqual([row["Source_id"] for row in found], numbers)
        alone = t.read_csv(rest)
        self.assertEqual(len(found), len(alone))
        for row, other in zip(found, alone):
            for name in set(row) & set(other) - {"Source_id", "Isl_id"}:
                self.assertEqual(row[name], other[name], name)
        tree = scipy.spatial.cKDTree([[row["Xposn"], row["Yposn"]] for row in found])
        self.assertLess(np.percentile(tree.query(places[60:])[0], 90), 1)
        self.assertLess(np.nanstd(fits.getdata(self.path("c.residual.fits"))), 1.05e-4)
        with open(at) as stream:
            lines = stream.read().replace("1000,", "9223372036854775807,", 1)
        with open(at, "w") as stream:
            stream.write(lines)
        t.run(image, *options, "--at", at, "--at-search", "-o", self.path("again.csv"), check=True)
        with open(self.path("again.csv")) as stream:
            again = [int(row["Source_id"]) for row in csv.DictReader(stream)]
        self.assertEqual([again[0], *again[60:]], [2**63 - 1, *numbers])
        ids = {row["Source_id"] for row in given}
        for row in t.read_csv(self.path("c.covariance.csv")):
            self.assertTrue({row["Source_id_1"], row["Source_id_2"]} <= ids)

    def test_search_with_regions_and_fixed_fluxes(self):
        """Only what --mask leaves is searched, and fluxes of the list may be given."""
        image, at, _ = self.hidden_sky(60, 90)
        region = self.path("half.reg")
        with open(region, "w") as stream:
            stream.write("image\nbox(125,250,250,600,0)\n")
        whole, half = (
            t.find(image, "--at", at, "--at-search", *mask)["sources"]
            for mask in ((), ("--mask", region))
        )
        found = [row for row in half if not row["Entry_id"]]
        self.assertTrue(5 < len(found) < len(whole) - 60)
        self.assertLess(max(row["Xpeak"] for row in found), 250)
        measured = self.path("c.csv")
        t.run(image, "-q", "--at", at, "--fit", "-o", measured, check=True)
        fixed = t.find(image, "--at", measured, "--at-fixed", "--at-search")["sources"]
        self.assertEqual(len(fixed), len(whole))

    def test_search_is_told(self):
        image, at, _ = self.hidden_sky(60, 90)
        said = t.run(image, "--at", at, "--at-search", "-o", self.path("c.csv"), check=True).stderr
        self.assertRegex(said, r": \d+ positions, \d\d of them not in the list, rms ")
        self.assert_error(2, "--at-search: it goes with --at", image, "--at-search")
        self.assert_error(
            *(2, "it does not go with --measure-in", image),
            *("--at", at, "--at-search", "--measure-in", image),
        )

    def test_large_clusters(self):
        """Of more than 64 positions: parts are fitted as if all were together, and on any number of
        threads alike."""
        beam, n = (6.0, 4.0, 30.0), 250
        x, y = self.random.uniform(10, WIDTH - 10, n), self.random.uniform(30, HEIGHT - 10, n)
        kept = apart(x, y, beam, 0.7)
        x, y = x[kept], y[kept]
        at_y, at_x = np.mgrid[:HEIGHT, :WIDTH]
        data = self.data.copy()
        for centre_x, centre_y in zip(x, y):
            data += (
                50 * np.exp(-squares(sky.covariance(beam), centre_x, centre_y, at_x, at_y) / 2)
            ).astype(np.float32)
        moments = [sky.covariance(beam)] * len(x)
        _, number = joint(data, x, y, moments)
        self.assertGreater(np.unique(number, return_counts=True)[1].max(), 130)
        image, at = self.image_of("cluster.fits", data, beam), self.catalogue(Xposn=x, Yposn=y)
        options = (
            "--fit",
            "--background",
            "zero",
            "--rms",
            "1",
            "--beam",
            "%r,%r,%r" % (beam[0] * 1.8, beam[1] * 1.8, beam[2]),
        )
        rows = self.rows(image, at, *options)
        expected, _ = nearest_power(
            [row["Peak_flux"] for row in rows], lambda power: joint(data, x, y, moments, power)[0]
        )
        off = np.array(
            [(row["Peak_flux"] - flux) / row["E_Peak_flux"] for row, flux in zip(rows, expected)]
        )
        self.assertLess(np.percentile(abs(off), 90), 0.1)
        self.assertLess(abs(off).max(), 0.5)
        for threads in (2, 7):
            self.assertEqual(self.rows(image, at, *options, "--threads", threads), rows)
        self.assertEqual(
            self.rows(
                image,
                self.catalogue(
                    "turned.csv", Source_id=np.arange(len(x), 0, -1), Xposn=x[::-1], Yposn=y[::-1]
                ),
                *options,
            )[::-1],
            [{**row, "Source_id": i, "Isl_id": i} for i, row in enumerate(rows, 1)],
        )

    def test_entries_at_one_place(self):
        """They cannot be told apart: each has the flux of both. A thousandth of a beam is no
        distance either."""
        x, y = np.array([60.25, 60.25, 60.252, 66.0]), np.array([70.5, 70.5, 70.5, 70.5])
        options = "--fit", "--background", "zero", "--rms", "1", "--beam", "9,9,0"
        rows = self.rows(self.image, self.catalogue(Xposn=x, Yposn=y), *options)
        alone = self.rows(
            self.image, self.catalogue("alone.csv", Xposn=x[[0, 3]], Yposn=y[[0, 3]]), *options
        )
        for row, other in zip(rows, (alone[0], alone[0], alone[0], alone[1])):
            self.assertEqual(
                [row["Peak_flux"], row["E_Peak_flux"], row["Flags"]],
                [other["Peak_flux"], other["E_Peak_flux"], BEAM_SHAPE],
            )

    # --- entries ---

    def test_order_and_ids(self):
        """Entries keep their order, unsorted, with numbers and positions that come twice."""
        x, y = self.pixels(100)
        x[50:60], y[50:60] = x[10:20], y[10:20]
        ids = self.random.integers(-5, 40, 100)
        for options in ([], ["--fit"]):
            expected = self.rows(self.image, self.catalogue(Xposn=x, Yposn=y), *options)
            self.assertEqual([row["Source_id"] for row in expected], list(range(1, 101)))
            rows = self.rows(self.image, self.catalogue(Source_id=ids, Xposn=x, Yposn=y), *options)
            self.assertEqual([row["Source_id"] for row in rows], list(ids))
            self.assertEqual([row["Isl_id"] for row in rows], list(ids))

            def others(row):
                return {name: value for name, value in row.items() if not name.endswith("_id")}

            self.assertEqual([others(row) for row in rows], [others(row) for row in expected])
            self.assertEqual(
                [others(row) for row in rows[50:60]], [others(row) for row in rows[10:20]]
            )
            turned = self.rows(
                self.image,
                self.catalogue(Source_id=ids[::-1], Xposn=x[::-1], Yposn=y[::-1]),
                *options,
            )
            self.assertEqual(turned, rows[::-1])
        # no numbers: those of the rows
        names = self.catalogue(Source_id=["a%d" % i for i in range(100)], Xposn=x, Yposn=y)
        self.assertEqual(
            [row["Source_id"] for row in self.rows(self.image, names)], list(range(1, 101))
        )

    def test_entry_ids(self):
        """The text by which the catalogue knows the entry, from its best column; else the
        number."""
        place = {"Xposn": [5.0, 60.0, 61.0], "Yposn": [7.0, 80.0, 81.0]}
        long = "x" * 40
        for columns, expected in (
            ({}, ["1", "2", "3"]),
            ({"Source_id": [7, -8, 7]}, ["7", "-8", "7"]),
            ({"source_id": [7, 8, 9], "Gaus_id": [3, 4, 5]}, ["3", "4", "5"]),
            ({"Source_id": ["s 1", 'a,"b"', ""], "name": ["a", "b", "c"]}, ["s_1", "a__b_", "3"]),
            ({"Entry_id": ["007", "1e5", "12.0"], "Source_id": [1, 2, 3]}, ["007", "1e5", "12.0"]),
            (
                {"Source_Name": ["ILTJ000000.11+222222.3", "b", "caf\u00e9<&>"], "id": [1, 2, 3]},
                ["ILTJ000000.11+222222.3", "b", "caf_____"],
            ),
            ({"NAME": [long, "b", "c"]}, [long[:31], "b", "c"]),
            (
                {"island": [0, 12, 3], "source": [0, 1, 0], "uuid": ["a", "b", "c"]},
                ["0.0", "12.1", "3.0"],
            ),
            ({"island": [0, 12, 3], "uuid": ["a", "b", "c"]}, ["a", "b", "c"]),
            ({"id": [1.5, 2.0, np.nan]}, ["1.5", "2", "3"]),
        ):
            at = self.path("ids.csv")
            Table({**columns, **place}).write(at, overwrite=True)
            for options in ([], ["--fit"]):
                with self.subTest(columns, options=options):
                    lines = list(csv.DictReader(io.StringIO(self.text(self.image, at, *options))))
                    self.assertEqual([line["Entry_id"] for line in lines], expected)
        self.assertEqual(list(lines[0])[:4], ["Source_id", "Isl_id", "Entry_id", "Source_Name"])
        self.assertNotIn("Entry_id", t.run(self.image, "-q", check=True).stdout)

    def test_entry_ids_in_formats_and_merged(self):
        """Each format has the text, also one of digits; so have merged catalogues, by srcfind-merge
        and --merge, and --at of them."""
        ids = ["007", "12.0", "1e5"]
        at = self.path("ids.csv")
        with open(at, "w") as stream:
            stream.write(
                "Entry_id,RA,DEC\n"
                + "".join(
                    "%s,%r,%r\n" % (i, 150.0 + 1e-3 * k, 2.0 + 1e-3 * k) for k, i in enumerate(ids)
                )
            )
        other = self.write("other.fits", self.data[::-1], t.sky_header())
        merge = os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge")
        for suffix in ("csv", "csv.gz", "ecsv", "json", "fits", "vot"):
            for options in ([], ["--fit"]):
                for name, image in (("one", self.image), ("two", other)):
                    self.text(image, at, *options, "-o", self.path("%s.%s" % (name, suffix)))
                with self.subTest(suffix, options=options):
                    subprocess.run(
                        [
                            merge,
                            *(self.path("%s.%s" % (name, suffix)) for name in ("one", "two")),
                            "-q",
                            "-o",
                            self.path("merged.csv"),
                        ],
                        check=True,
                    )
                    with open(self.path("merged.csv")) as stream:
                        merged = list(csv.DictReader(stream))
                    self.assertEqual([row["Entry_id"] for row in merged], ids * 2)
                    self.assertEqual([int(row["Source_id"]) for row in merged], list(range(1, 7)))
                    again = csv.DictReader(
                        io.StringIO(self.text(self.image, self.path("one." + suffix), *options))
                    )
                    self.assertEqual([row["Entry_id"] for row in again], ids)
        t.run(
            self.image,
            other,
            "-q",
            "--at",
            at,
            "--fit",
            "-o",
            self.path("out"),
            "--merge",
            self.path("light.vot"),
            check=True,
        )
        self.assertEqual(list(Table.read(self.path("light.vot"))["Entry_id"]), ids * 2)
        plain = self.path("plain.csv")
        t.run(self.image, "-q", "-o", plain, check=True)
        result = subprocess.run(
            [merge, plain, self.path("one.csv"), "-o", self.path("none.csv")],
            capture_output=True,
            text=True,
        )
        self.assertEqual(
            [result.returncode, os.path.exists(self.path("none.csv"))], [1, False], result.stderr
        )
        self.assertIn("those of --at", result.stderr)

    def test_no_entry(self):
        for suffix in ("csv", "fits", "json", "ecsv", "vot"):
            path = self.path("none." + suffix)
            t.run(self.image, "-q", "-n", "1000", "-o", path, check=True)
            self.assertEqual(self.rows(self.image, path), [])
            self.assertEqual(self.rows(self.image, path, "--fit"), [])

    def test_many_rows(self):
        """Most of them elsewhere on the sky; each has its own shape."""
        n = 30000 if t.SANITIZED else 200000
        ra, dec = self.random.uniform(0, 360, n), np.degrees(
            np.arcsin(self.random.uniform(-1, 1, n))
        )
        inside = self.random.choice(n, 500, replace=False)
        ra[inside], dec[inside] = 150 + self.random.uniform(
            -0.02, 0.02, 500
        ), 2 + self.random.uniform(-0.02, 0.02, 500)
        major = self.random.uniform(0, 2, n) * self.ARCSEC / 3600
        columns = {
            "RA": ra,
            "DEC": dec,
            "DC_Maj": major,
            "DC_Min": major / 2,
            "DC_PA": self.random.uniform(0, 180, n),
        }
        path = self.path("many.csv")
        np.savetxt(
            path,
            np.column_stack(list(columns.values())),
            fmt="%.17g",
            delimiter=",",
            header=",".join(columns),
            comments="",
        )
        few = self.catalogue(
            "few.csv",
            Source_id=np.sort(inside) + 1,
            **{name: values[np.sort(inside)] for name, values in columns.items()},
        )
        for options in ([], ["--fit"]):
            lines = self.text(self.image, path, *options).splitlines()
            self.assertEqual(
                [line.split(",", 1)[0] for line in lines[1:]], [str(i + 1) for i in range(n)]
            )
            expected = self.text(self.image, few, *options).splitlines()
            self.assertEqual([lines[i + 1] for i in np.sort(inside)], expected[1:])
            n_blank = sum(line.endswith(",512") for line in expected)
            self.assertLess(n_blank, 50)
            self.assertEqual(sum(line.endswith(",512") for line in lines), n - 500 + n_blank)

    def test_outside_and_blank(self):
        """The position stays; what would be measured is empty."""
        cells = [
            "1e300,5",
            "-1e300,5",
            ",5",
            "5,",
            ",",
            "nan,5",
            "5,inf",
            "-0.51,5",
            "139.5,5",
            "5,119.5",
            "5,-0.75",
            "40,22",
            "29.6,19.6",
            "x,y",
        ]
        with open(self.path("p.csv"), "w") as stream:
            stream.write("\n".join(["Xposn,Yposn"] + cells[:-1]) + "\n")
        for options in ([], ["--fit"]):
            for row, cell in zip(self.rows(self.image, self.path("p.csv"), *options), cells):
                self.assert_empty(row)
                known = cell in cells[:2] + cells[7:]
                self.assertEqual(
                    [row["Xposn"], row["Yposn"]],
                    [float(c) for c in cell.split(",")] if known else [None, None],
                )
        with open(self.path("p.csv"), "a") as stream:
            stream.write(cells[-1] + "\n")
        result = t.run(self.image, "--at", self.path("p.csv"))
        self.assertEqual([result.returncode, result.stdout, result.stderr.count("\n")], [1, "", 1])
        self.assertIn("Xposn of row 14 is `x`, not a number of a pixel", result.stderr)

    def test_entries_outside_make_no_row(self):
        """Unless --at-all is given; those on a blank keep theirs, and all of them their numbers."""
        x, y = self.pixels()
        x[:5], y[:5] = [np.nan, -0.51, 139.5, 35, 1e300], [5, 5, 119.4, 22, 5]
        n_outside = np.count_nonzero(
            ~((x >= -0.5) & (x < WIDTH - 0.5) & (y >= -0.5) & (y < HEIGHT - 0.5))
        )
        ra, dec = WCS(t.sky_header()).all_pix2world(x, y, 0)
        for at in (
            self.catalogue(Xposn=x, Yposn=y),
            self.catalogue("sky.csv", RA=ra, DEC=dec),
            self.catalogue("ids.csv", Source_id=np.arange(200) * 3, Xposn=x, Yposn=y),
        ):
            for options in ([], ["--fit"], ["--fit", "--threads", 7]):
                every = self.text(self.image, at, *options).splitlines(keepends=True)
                self.assertEqual(len(every), 201)
                rows = [t.numbers(row) for row in csv.DictReader(every)]
                kept = [
                    line
                    for line, row in zip(every[1:], rows)
                    if row["Flags"] < OUTSIDE
                    or 0 <= (row["Xposn"] or -1) < WIDTH - 0.5
                    and 0 <= (row["Yposn"] or -1) < HEIGHT - 0.5
                ]
                self.assertTrue(5 <= 200 - len(kept) == n_outside < 100)
                self.assertEqual(
                    t.run(self.image, "-q", "--at", at, *options, check=True).stdout,
                    "".join(every[:1] + kept),
                )
                self.assertGreater(sum(row["Flags"] >= OUTSIDE for row in rows), n_outside)
        result = t.run(self.image, "--at", self.catalogue(RA=[10.0, 250.0], DEC=[2.0, -2.0]))
        self.assertEqual([result.returncode, result.stdout.count("\n")], [0, 1])
        self.assertIn(
            ": of 2 entries 2 are outside of the image: --at-all adds their rows\n", result.stderr
        )
        self.assert_error(
            2,
            "at-all: it goes with --at, which gives the positions: add --at, or leave it out",
            self.image,
            "--at-all",
        )

    def test_columns_of_vizier(self):
        """The names of VizieR, NED and Selavy are taken as RA and DEC are where the image is of
        J2000, and the unit degrees."""
        ra, dec = WCS(t.sky_header()).all_pix2world([20.0, 60.5, 30.0], [5.0, 70.0, 80.25], 0)
        expected, far = self.text(self.image, self.catalogue(RA=ra, DEC=dec)), np.full(3, 12.5)
        texts = ["10 00 %02d" % i for i in range(3)]
        fk5 = self.write("fk5.fits", self.data, t.sky_header(RADESYS="FK5", EQUINOX=2000.0))
        old = self.write("old.fits", self.data, t.sky_header(RADESYS="FK5", EQUINOX=1950.0))
        galactic = self.write(
            "galactic.fits", self.data, t.sky_header(CTYPE1="GLON-SIN", CTYPE2="GLAT-SIN")
        )

        def table(*columns, name="v.fits", ascii_table=False):
            kind = fits.TableHDU if ascii_table else fits.BinTableHDU
            forms = {True: ("A12", "A12"), False: ("F25.16" if ascii_table else "D",) * 2}
            made = [
                fits.Column(
                    column, forms[isinstance(values, list)][0], unit=unit, array=np.array(values)
                )
                for column, values, *unit in columns
                for unit in [unit[0] if unit else None]
            ]
            kind.from_columns(made).writeto(self.path(name), overwrite=True)
            return self.path(name)

        for at in (
            table(("RAJ2000", ra, "deg"), ("DEJ2000", dec, "deg")),
            table(
                ("_RAJ2000", ra, "deg"), ("_DEJ2000", dec, "deg"), name="w.fits", ascii_table=True
            ),
            table(
                ("RAJ2000", texts, "h:m:s"),
                ("DEJ2000", texts, "d:m:s"),
                ("_RAJ2000", ra, "deg"),
                ("_DEJ2000", dec, "deg"),
                name="x.fits",
            ),
            table(
                ("RAJ2000", far),
                ("DEJ2000", far),
                ("RA", ra),
                ("DEC", dec),
                ("Xposn", far),
                ("Yposn", far),
                name="y.fits",
            ),
            table(("raj2000", ra), ("dej2000", dec), ("Xposn", far), ("Yposn", far), name="z.fits"),
            self.catalogue("v.csv", RAJ2000=ra, DEJ2000=dec),
            self.catalogue("w.csv", RAJ2000=texts, DEJ2000=texts, _RAJ2000=ra, _DEJ2000=dec),
            *(
                self.catalogue("%d.csv" % i, **{names[0]: ra, names[1]: dec})
                for i, names in enumerate(
                    (
                        ("RA_ICRS", "DE_ICRS"),
                        ("RAdeg", "DEdeg"),
                        ("ra_deg", "dec_deg"),
                        ("RA(deg)", "DEC(deg)"),
                        ("ra_deg_cont", "dec_deg_cont"),
                    )
                )
            ),
        ):
            with self.subTest(at):
                self.assertEqual(self.text(self.image, at), expected)
                self.assertEqual(self.text(fk5, at), expected)
        at = self.path("v.csv")
        for image, names in ((old, "RA and DEC"), (galactic, "GLON and GLAT")):
            self.assert_error(
                1,
                "its positions are RAJ2000 and DEJ2000, but the image has %s: convert the positions"
                % names,
                image,
                "--at",
                at,
            )
        self.assertNotEqual(self.text(old, self.path("y.fits")), "")
        self.assert_error(
            1,
            "RAJ2000 of row 1 is `10 h`, not a number: positions are degrees, as 187.5",
            self.image,
            "--at",
            self.catalogue("t.csv", RAJ2000=["10 h"], DEJ2000=["2"]),
        )

    def test_sexagesimal_positions(self):
        """Texts in hours and degrees, with each separator and unit; frames other than RA and DEC
        are in degrees; a latitude beyond 90 is an error."""
        wcs = WCS(t.sky_header())
        sky = SkyCoord(*wcs.all_pix2world([20.0, 60.5, 30.0], [5.0, 70.0, 80.25], 0), unit="deg")
        texts = {
            "colon": [
                sky.ra.to_string("hour", sep=":", precision=9),
                sky.dec.to_string(sep=":", precision=8),
            ],
            "blank": [
                sky.ra.to_string("hour", sep=" ", precision=9),
                sky.dec.to_string(sep=" ", precision=8, alwayssign=True),
            ],
            "letters": [
                sky.ra.to_string("hour", sep="hms", precision=9),
                sky.dec.to_string(sep="dms", precision=8),
            ],
        }
        expected = self.rows(self.image, self.catalogue(RA=sky.ra.deg, DEC=sky.dec.deg))
        units = (None, None), ("h:m:s", "d:m:s"), ('"h:m:s"', '"d:m:s"')
        names = ("RA", "DEC"), ("RAJ2000", "DEJ2000"), ("RA_ICRS", "DE_ICRS")
        for cells, unit, columns in zip(texts.values(), units, names):
            path = self.path("s.vot")
            fields = "".join(
                "<FIELD name='%s' datatype='char' arraysize='*'%s/>"
                % (name, " unit='%s'" % of if of else "")
                for name, of in zip(columns, unit)
            )
            rows = "".join("<TR><TD>%s</TD><TD>%s</TD></TR>" % row for row in zip(*cells))
            with open(path, "w") as stream:
                stream.write(
                    "<VOTABLE><RESOURCE><TABLE>%s<DATA><TABLEDATA>%s</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"
                    % (fields, rows)
                )
            for row, other in zip(self.rows(self.image, path), expected):
                for name in ("RA", "DEC"):
                    self.assertAlmostEqual(row[name], other[name], delta=1e-11)
                self.assertAlmostEqual(row["Peak_flux"], other["Peak_flux"], delta=1e-7)
        galactic = self.write(
            "g.fits", self.data, t.sky_header(CTYPE1="GLON-SIN", CTYPE2="GLAT-SIN")
        )
        at = self.catalogue("g.csv", GLON=["150:00:36"], GLAT=["2:00:36"])
        self.assertAlmostEqual(self.rows(galactic, at)[0]["GLON"], 150.01, delta=1e-12)
        self.assert_error(
            1,
            "DEC of row 1 is 95.5",
            self.image,
            "--at",
            self.catalogue("b.csv", RA=["1:00:00"], DEC=["95:30:00"]),
        )

    def test_positions_in_place_of_a_file(self):
        """One or several, in degrees or sexagesimal; what is none is a path."""
        ra, dec = WCS(t.sky_header()).all_pix2world([20.0, 60.5], [5.0, 70.0], 0)
        expected = self.text(self.image, self.catalogue(RA=ra, DEC=dec), "--fit")
        pairs = ["%r,%r" % pair for pair in zip(ra.tolist(), dec.tolist())]
        for at in (";".join(pairs), " %s ; %s " % tuple(pairs), ";".join(pairs).replace(",", " ")):
            self.assertEqual(self.text(self.image, at, "--fit"), expected, at)
        for at in ("10:00:03.6 2:0:36", "10h0m3.6s,2d0m36s", "10 0 3.6 +2 0 36", "10 0.06 2 0.6"):
            (row,) = self.rows(self.image, at)
            self.assertAlmostEqual(row["RA"], 150.015, delta=1e-12)
            self.assertAlmostEqual(row["DEC"], 2.01, delta=1e-12)
        plain = self.write("plain.fits", self.data)
        self.assertEqual(self.rows(plain, "20,5")[0]["Xposn"], 20)
        for at in ("20", "1,2;", "1,2,3", "1,2;x", "1 2 3", "a.csv"):
            if at == "1,2;":  # the last one may be followed by a semicolon
                self.assertEqual(len(self.rows(plain, at)), 1)
                continue
            self.assert_error(2, at + ": No such file", plain, "--at", at)
        self.assert_error(1, "1,95: DEC of row 1 is 95", self.image, "--at", "1,95")

    def test_summary_of_entries_outside(self):
        """It tells how many entries have no row, and names the option; quiet runs and lists that
        lie in the image have no such words."""

        def words(x, y, *options, kind="Xposn,Yposn"):
            names = kind.split(",")
            result = t.run(
                self.image, "--at", self.catalogue(**{names[0]: x, names[1]: y}), *options
            )
            self.assertEqual(
                [result.returncode, result.stderr.count("\n") > 0], [0, bool(result.stderr)]
            )
            lines = [line.split(": ", 2)[-1] for line in result.stderr.splitlines()]
            of_entries = [line for line in lines if line.startswith("of ")]
            return "; ".join([line.split(", rms")[0] for line in lines[:1]] + of_entries)

        ra, dec = WCS(t.sky_header()).all_pix2world([20.0] + [150.0] * 80, [5.0] * 81, 0)
        self.assertEqual(
            words(ra, dec, kind="RA,DEC"),
            "1 position; of 81 entries 80 are outside of the image: --at-all adds their rows",
        )
        self.assertEqual(
            words([20.0, 150.0], [5.0, 5.0], "--fit"),
            "1 position; of 2 entries 1 is outside of the image: --at-all adds its row",
        )
        self.assertEqual(
            words([150.0], [5.0]),
            "0 positions; of 1 entry 1 is outside of the image: --at-all adds its row",
        )
        self.assertEqual(
            words([20.0, np.nan, np.nan], [5.0] * 3),
            "1 position; of 3 entries 2 have no position: --at-all adds their rows",
        )
        self.assertEqual(
            words([20.0, 150.0, np.nan, -1], [5.0] * 4),
            "1 position; of 4 entries 2 are outside of the image and 1 has no position: --at-all adds their rows",
        )
        self.assertEqual(
            words([20.0, 35.0, 150.0], [5.0, 22.0, 5.0]),
            "2 positions (1 on a blank pixel); of 3 entries 1 is outside of the image: --at-all adds its row",
        )
        self.assertEqual(
            words([20.0, 35.0, 150.0], [5.0, 22.0, 5.0], "--at-all"),
            "3 positions (2 outside of the image or on a blank pixel)",
        )
        self.assertEqual(words([20.0, 30.0], [5.0, 5.0]), "2 positions")
        self.assertEqual(words([20.0, 150.0], [5.0, 5.0], "-q"), "")

    def test_outside_on_the_sky(self):
        cells = {
            "330,-2": (330, -2),
            "150,": None,
            "250,2": (250, 2),
            "150.5,2": (150.5, 2),
            "1e12,2": None,
        }
        with open(self.path("p.csv"), "w") as stream:
            stream.write("\n".join(["RA,DEC", *cells]) + "\n")
        for options in ([], ["--fit"]):
            for row, expected in zip(
                self.rows(self.image, self.path("p.csv"), *options), cells.values()
            ):
                self.assert_empty(row)
                self.assertEqual((row["RA"], row["DEC"]), expected or (None, None))
                self.assertEqual(row["Source_Name"] is None, expected is None)
                self.assertEqual(row["Xposn"] is None, expected != (150.5, 2))

    def test_impossible_latitude(self):
        for cell in ("91", "-90.5", "-182.3"):
            with open(self.path("p.csv"), "w") as stream:
                stream.write("RA,DEC\n150,90\n150,%s\n" % cell)
            result = t.run(self.image, "--at", self.path("p.csv"))
            self.assertEqual(
                [result.returncode, result.stdout, result.stderr.count("\n")], [1, "", 1]
            )
            self.assertIn("DEC of row 2 is %s, outside of -90 to 90 degrees" % cell, result.stderr)

    # --- coordinates and formats of the catalogue ---

    def test_regions(self):
        """The centres of DS9's regions, with their texts as ids, are the positions of a CSV; of our own
        file the same bytes."""
        image = self.image
        catalogue, own = self.path("c.csv"), self.path("c.reg")
        for path in (catalogue, own):
            t.run(image, "-q", "--fit", "-n", "4", "-o", path, check=True)
        for options in ((), ("--fit",)):
            texts = [
                t.run(image, "-q", "--at", at, *options, check=True).stdout
                for at in (catalogue, own)
            ]
            if not options:
                self.assertEqual(*texts)
            self.assertGreater(texts[1].count("\n"), 3)
        ra, dec = WCS(fits.getheader(image)).all_pix2world([70.0, 90, 50], [60.0, 100, 80], 0)
        sky = SkyCoord(ra, dec, unit="deg")
        degrees = ["%.12f" % value for value in (*ra, *dec)]
        shapes = (
            'circle(%s,%s,4")' % (degrees[0], degrees[3]),
            '# text(1,2) text={no place}\n-ellipse %s %s 3" 2" 30 # color=red text={b c; d}'
            % (
                sky[1].ra.to_string("hour", sep=":", precision=8),
                sky[1].dec.to_string(sep=":", precision=8),
            ),
            "line(%s,%s,%s,%s)" % tuple(degrees[:4]),
            "point(%s,%s) # point=circle text='last'" % (degrees[2], degrees[5]),
        )
        path = self.path("r.reg")
        for frame, lines in (("icrs", shapes), ("image", None)):
            with open(path, "w") as stream:
                stream.write(
                    "# Region file format: DS9 version 4.1\nglobal color=green\n%s\n" % frame
                )
                stream.write(
                    "\n".join(lines)
                    if lines
                    else "box(71,61,3,3,0);annulus(91,101,1,2) # text={b c; d}\npoint(51,81) # text='last'\n"
                )
            rows = self.rows(image, path)
            self.assertEqual([row["Entry_id"] for row in rows], [1, "b_c__d", "last"])
            for row, x, y in zip(rows, (70, 90, 50), (60, 100, 80)):
                self.assertAlmostEqual(row["Xposn"], x, delta=1e-5)
                self.assertAlmostEqual(row["Yposn"], y, delta=1e-5)

    def test_wrong_regions(self):
        path = self.path("r.reg")
        for text, words in (
            ("fk5\npolygon(1,2,3,4,5,6)", "r.reg: line 2: `polygon` is no shape with a centre"),
            (
                "circle(1,2,3)",
                "line 1: `circle(1,2,3)` is in physical pixels: save the regions in fk5",
            ),
            (
                "fk5;circle(1,2,3)\nimage;circle(1,2,3)",
                "line 2: `circle(1,2,3)` is in another frame",
            ),
            ("fk5\npoint(12)", "line 2: `point(12)` has no two coordinates"),
            ("fk5\npoint(12,x)", "line 2: `x`"),
            ("# nothing\nfk5\n", "r.reg: there is no region with a centre in it"),
        ):
            with open(path, "w") as stream:
                stream.write(text)
            self.assert_error(2, words, self.image, "--at", path)

    def test_table_of_selavy(self):
        """Names and units in two comments, right-aligned, with units that are left out, and a column
        `comment` without cells; of a CSV with the same numbers the same rows."""
        ra, dec = WCS(fits.getheader(self.image)).all_pix2world([30.0, 90.0], [60.0, 100.0], 0)
        path = self.path("selavy.txt")
        with open(path, "w") as stream:
            stream.write(
                "# island_id component_name  ra_hms_cont   ra_deg_cont   dec_deg_cont"
                "  flux_peak  maj_axis_deconv min_axis_deconv pos_ang_deconv comment\n"
            )
            stream.write(
                "#        --                                     [deg]          [deg]"
                " [mJy/beam]         [arcsec]        [arcsec]          [deg]        \n"
            )
            for i in range(2):
                stream.write(
                    "  island_%d   J%d  09:59:56.0 %.9f %.9f 2002.257 12.50 9.25 30.00          \n"
                    % (i, i, ra[i], dec[i])
                )
        other = self.catalogue(
            component_name=["J0", "J1"],
            RA=ra,
            DEC=dec,
            DC_Maj=[12.5 / 3600] * 2,
            DC_Min=[9.25 / 3600] * 2,
            DC_PA=[30.0] * 2,
        )
        image = self.image_of("of_selavy.fits", self.data, (6, 6, 0))
        rows = self.rows(image, path, "--fit", "--beam", "10.8,10.8,0")
        for row, expected in zip(rows, self.rows(image, other, "--fit", "--beam", "10.8,10.8,0")):
            self.assertGreater(row["DC_Maj"], 0.003)
            for name in ("Entry_id", "Peak_flux", "Total_flux", "DC_Maj", "DC_PA", "Flags"):
                if isinstance(row[name], float):
                    self.assertAlmostEqual(row[name], expected[name], delta=1e-4)
                else:
                    self.assertEqual(row[name], expected[name])

    def test_tables_of_text(self):
        """As astropy writes them, with every delimiter, and with # before the names or without: the
        rows of the CSV."""
        table = Table(
            {
                "Source_id": [7, 8, 9],
                "name": ["a", "b c", ""],
                "RA": [150.001, 149.99, 150.0],
                "DEC": [2.001, 2.0, 1.99],
            }
        )
        table.write(self.path("p.csv"), format="ascii.csv")
        expected = self.text(self.image, self.path("p.csv"))
        self.assertEqual(expected.count("\n"), 4)
        for suffix in ("csv", "tab", "tsv", "txt"):
            for form in ("basic", "commented_header"):
                for delimiter in ("\t", ";", "|", " "):
                    path = self.path("p." + suffix)
                    table.write(path, format="ascii." + form, delimiter=delimiter, overwrite=True)
                    with self.subTest(suffix, form=form, delimiter=delimiter):
                        self.assertEqual(self.text(self.image, path), expected)
        with open(self.path("p.txt"), "w") as stream:  # as awk and printf do
            stream.write(
                "# those of\n# last night\nname   RA        DEC\n  a   150.001    2.001\n  b   149.99  2\n"
            )
        self.assertEqual(
            [row["RA"] for row in self.rows(self.image, self.path("p.txt"))], [150.001, 149.99]
        )
        for text, words in (
            ("RA;DEC\n150,5;2\n", "RA of row 1 is `150,5`, not a number"),
            ("RA DEC\n150 2\n150\n", "line 3 has 1 cells, but there are 2 columns"),
            (
                "RA,DEC\n150 2\n",
                "line 2 has 1 cells, but there are 2 columns: is the file truncated, or is something else than `,`",
            ),
            ("150 2\n151 2\n", "there are no columns RA and DEC (degrees)"),
        ):
            with open(self.path("p.txt"), "w") as stream:
                stream.write(text)
            result = t.run(self.image, "--at", self.path("p.txt"))
            self.assertEqual([result.stdout, result.stderr.count("\n")], ["", 1])
            self.assertIn("p.txt: " + words, result.stderr)

    def test_sky_positions(self):
        """By astropy's WCS, in the image's own frame; names are those of the positions that are
        given."""
        cubes = {"plane": "2"}
        for name, cards in {
            "sin": {},
            "tan": {"CTYPE1": "RA---TAN", "CTYPE2": "DEC--TAN", "CRVAL1": 0.01},
            "galactic": {
                "CTYPE1": "GLON-CAR",
                "CTYPE2": "GLAT-CAR",
                "RADESYS": None,
                "CRVAL2": 0.0,
            },
            "turned": {
                "CTYPE1": "DEC--SIN",
                "CTYPE2": "RA---SIN",
                "CRVAL1": 2.0,
                "CRVAL2": 150.0,
                "CDELT1": 5e-4,
                "CDELT2": -5e-4,
            },
            "plane": {"CTYPE3": "FREQ", "CRVAL3": 1.4e9, "CDELT3": 1e6, "CRPIX3": 1.0},
        }.items():
            data = np.stack([self.data[::-1], self.data]) if name in cubes else self.data
            header = t.sky_header(**cards)
            image = self.write(name + ".fits", data, header)
            options = ["--plane", cubes[name]] if name in cubes else []
            x, y = self.pixels(60)
            wcs = WCS(header).celestial if name in cubes else WCS(header)
            world = wcs.all_pix2world(x, y, 0)
            ra, dec = world[::-1] if name == "turned" else world
            columns = ("GLON", "GLAT") if name == "galactic" else ("RA", "DEC")
            at = self.catalogue(name + ".csv", **dict(zip(columns, (ra, dec))))
            for more in ([], ["--fit"]):
                by_sky, by_pixel = self.rows(image, at, *options, *more), self.rows(
                    image, self.catalogue(Xposn=x, Yposn=y), *options, *more
                )
                for i, (one, other) in enumerate(zip(by_sky, by_pixel)):
                    with self.subTest(name, i=i):
                        self.assertAlmostEqual(one["Xposn"], x[i], delta=1e-7)
                        self.assertAlmostEqual(one["Yposn"], y[i], delta=1e-7)
                        self.assertEqual([one[columns[0]], one[columns[1]]], [ra[i] % 360, dec[i]])
                        self.assertAlmostEqual(other[columns[1]], dec[i], delta=1e-10)
                        self.assertEqual(
                            [one["Flags"], one["N_pix"]], [other["Flags"], other["N_pix"]]
                        )
                        if one["Peak_flux"] is not None:
                            self.assertAlmostEqual(
                                one["Peak_flux"], other["Peak_flux"], delta=1e-5 if more else 1e-7
                            )

    def test_images_of_one_run(self):
        """Images of one run have the rows of single runs, each by its own coordinates, though the
        catalogue is read once."""
        galactic = {"CTYPE1": "GLON-CAR", "CTYPE2": "GLAT-CAR", "RADESYS": None, "CRVAL2": 0.0}
        images = [
            self.image,
            self.write("galactic.fits", self.data[::-1], t.sky_header(**galactic)),
            self.write("shifted.fits", self.data, t.sky_header(CRVAL1=150.01)),
            self.write("pixels.fits", self.data),
        ]
        x, y = self.pixels(60)
        ra, dec = WCS(t.sky_header()).all_pix2world(x, y, 0)
        lon, lat = WCS(t.sky_header(**galactic)).all_pix2world(x, y, 0)
        at = self.catalogue(RA=ra, DEC=dec, GLON=lon, GLAT=lat, Xposn=x, Yposn=y)
        single = [self.text(image, at) for image in images]
        self.assertEqual(len(set(single)), 4)
        for threads in ("1", "7"):
            t.run(
                *images,
                "-q",
                "--at",
                at,
                "--at-all",
                "--threads",
                threads,
                "-o",
                self.path("out"),
                check=True,
            )
            for image, expected in zip(images, single):
                with open(
                    self.path("out/" + os.path.basename(image).replace(".fits", ".csv"))
                ) as stream:
                    self.assertEqual(stream.read(), expected)

    def test_longitudes(self):
        """Of any turn of the circle, as those around 0; names have digits."""
        image = self.write("zero.fits", self.data, t.sky_header(CRVAL1=0.0))
        rows = self.rows(
            image, self.catalogue(RA=[359.99, -0.01, 719.99, 0.01, 360.01], DEC=[2.0] * 5)
        )
        self.assertEqual([row["Flags"] for row in rows], [0] * 5)
        for row, other in zip(rows[1:], (rows[0], rows[0], rows[4], rows[3])):
            self.assertAlmostEqual(row["Peak_flux"], other["Peak_flux"], delta=1e-7)
            self.assertAlmostEqual(row["RA"], other["RA"], delta=1e-12)
            self.assertRegex(row["Source_Name"], r"\AJ\d{6}\.\d{2}\+\d{6}\.\d\Z")

    def test_formats_of_the_catalogue(self):
        """Own catalogues of every format that can be read, and those that astropy writes: the same
        bytes."""
        expected = None
        for suffix in (
            ".csv",
            ".csv.gz",
            ".ecsv",
            ".ecsv.gz",
            ".json",
            ".json.gz",
            ".fits",
            ".fit",
        ):
            found = self.path("found" + suffix)
            t.run(self.image, "-q", "-o", found, check=True)
            texts = [self.text(self.image, found), self.text(self.image, found, "--fit")]
            expected = expected or texts
            self.assertEqual(texts, expected, suffix)
        table = Table.read(self.path("found.csv"))
        self.assertGreater(len(table), 10)
        for row, source in zip(csv.DictReader(io.StringIO(expected[0])), table):
            self.assertEqual(
                [int(row["Source_id"]), float(row["RA"]), float(row["DEC"])],
                [source["Source_id"], source["RA"], source["DEC"]],
            )
            self.assertAlmostEqual(float(row["Xposn"]), source["Xposn"], delta=1e-7)
        for suffix in ("ecsv", "fits", "csv"):
            table["Source_id", "RA", "DEC"].write(self.path("other." + suffix), overwrite=True)
            self.assertEqual(
                [
                    self.text(self.image, self.path("other." + suffix)),
                    self.text(self.image, self.path("other." + suffix), "--fit"),
                ],
                expected,
                suffix,
            )
        other = fits.BinTableHDU.from_columns([fits.Column("X", "J", array=np.arange(3))])
        columns = [
            fits.Column(name, form, array=np.asarray(table[name]))
            for name, form in (("Source_id", "I8"), ("RA", "D25.17"), ("DEC", "E25.17"))
        ]
        for tables in (
            [fits.TableHDU.from_columns(columns)],
            [other, fits.TableHDU.from_columns(columns)],
            [other, fits.table_to_hdu(table["Source_id", "RA", "DEC"])],
        ):
            fits.HDUList([fits.PrimaryHDU(), *tables]).writeto(
                self.path("tables.fits"), overwrite=True
            )
            self.assertEqual(
                [
                    self.text(self.image, self.path("tables.fits")),
                    self.text(self.image, self.path("tables.fits"), "--fit"),
                ],
                expected,
            )

    def test_tables_of_several_frames(self):
        """Each image of a run has the first table of the file that has its own coordinates."""
        galactic = self.write(
            "galactic.fits",
            self.data,
            t.sky_header(CTYPE1="GLON-SIN", CTYPE2="GLAT-SIN", RADESYS=None),
        )
        plain = self.write("plain.fits", self.data)
        images, places = {"RA": self.image, "GLON": galactic, "Xposn": plain}, {
            "RA": 150.0,
            "GLON": 150.01,
            "Xposn": 50.0,
        }

        def table(lon, lat, y):
            return fits.BinTableHDU.from_columns(
                [fits.Column(lon, "D", array=[places[lon]]), fits.Column(lat, "D", array=[y])],
                name=lon,
            )

        tables = [
            fits.TableHDU.from_columns([fits.Column("X", "I3", array=[1])]),
            table("GLON", "GLAT", 2.0),
            table("RA", "DEC", 2.005),
            table("Xposn", "Yposn", 60.0),
        ]
        for k, order in enumerate(([0, 1, 2, 3], [3, 2, 1], [2, 3, 1, 0])):
            fits.HDUList([fits.PrimaryHDU(), *(tables[i] for i in order)]).writeto(
                self.path("tables.fits"), overwrite=True
            )
            for names in (["RA", "GLON", "Xposn"], ["Xposn", "GLON", "RA", "GLON"]):
                links = [
                    self.path("%d-%d%d-%s.fits" % (k, len(names), i, name))
                    for i, name in enumerate(names)
                ]
                for link, name in zip(links, names):
                    os.symlink(images[name], link)
                t.run(
                    *links,
                    "-q",
                    "--at",
                    self.path("tables.fits"),
                    "-o",
                    self.path("out"),
                    check=True,
                )
                for link, name in zip(links, names):
                    (row,) = t.read_csv(self.path("out/" + os.path.basename(link)[:-5] + ".csv"))
                    wanted = next(
                        tables[i].name for i in order if tables[i].name in (name.upper(), "XPOSN")
                    )
                    wanted = "Xposn" if wanted == "XPOSN" else wanted
                    self.assertEqual(row[wanted], places[wanted], link)

    # --- outputs ---

    def test_same_bytes(self):
        x, y = self.pixels(3000)
        at = self.catalogue(Xposn=x, Yposn=y)
        tiles = self.path("tiles.fits.fz")
        fits.HDUList(
            [
                fits.PrimaryHDU(),
                t.tiled(self.data, "GZIP_1", (90, 33), t.sky_header(), quantize_level=0),
            ]
        ).writeto(tiles)
        for options in (
            [],
            ["--fit"],
            ["--fit", "--rms-box", "40,13"],
            ["--fit", "--rms-map", self.write("r.fits", wave(1, 2))],
        ):
            expected = self.text(self.image, at, *options, "--threads", 1)
            for image, threads in (
                ((tiles, 2),)
                if t.SANITIZED
                else ((self.image, 2), (self.image, 7), (tiles, 1), (tiles, 7))
            ):
                self.assertEqual(self.text(image, at, *options, "--threads", threads), expected)

    def test_many_positions_of_a_large_beam(self):
        """More pixels than are in memory at a time."""
        image = self.write("large.fits", t.noise(2600, 2600, seed=8), t.sky_header())
        x, y = (
            values.ravel()
            for values in np.meshgrid(np.arange(25) * 103.0 + 20.25, np.arange(25) * 103.0 + 30.5)
        )
        options = ["--fit", "--beam", "90", "--rms", "1"]
        expected = []
        for i in range(0, 625, 125):
            part = self.catalogue(
                Source_id=np.arange(i, i + 125), Xposn=x[i : i + 125], Yposn=y[i : i + 125]
            )
            expected += self.rows(image, part, *options)
        self.assertEqual(
            self.rows(image, self.catalogue(Source_id=np.arange(625), Xposn=x, Yposn=y), *options),
            expected,
        )
        self.assertGreater(sum(row["N_pix"] for row in expected), 1 << 22)

    def test_large_image(self):
        """An image that is read in several pieces, whose borders are inside of beams."""
        data = t.noise(600, 700, seed=8)
        data[200, 100:600] = np.nan
        image = self.write("large.fits", data, t.sky_header())
        borders = self.random.integers(1, 6, 3000) * (256 * 1024 / 4 / 700)
        y, x = np.append(
            self.random.uniform(-3, 602, 1000), borders + self.random.uniform(-6, 6, 3000)
        ), self.random.uniform(-3, 702, 4000)
        at = self.catalogue(Xposn=x, Yposn=y)
        for beam in ((5.0, 4.0, 30.0), (2.2, 2.2, 0.0), (15.0, 2.5, 45.0)):
            option = "%r,%r,%r" % (beam[0] * 1.8, beam[1] * 1.8, beam[2])
            own_x, own_y = (values[apart(x, y, beam)] for values in (x, y))
            own = self.catalogue("own.csv", Xposn=own_x, Yposn=own_y)
            self.assert_fitted(
                self.rows(
                    image, own, "--fit", "--background", "zero", "--rms", "1", "--beam", option
                ),
                own_x,
                own_y,
                data,
                0,
                1,
                beam,
            )
        self.assert_sampled(
            self.rows(image, at, "--background", "zero", "--rms", "1"), x, y, data, 0, 1
        )
        for options in ([], ["--fit"], ["--fit", "--local"]):
            expected = self.text(image, at, *options, "--threads", 1)
            for threads in (2, 7):
                self.assertEqual(self.text(image, at, *options, "--threads", threads), expected)

    def test_output_formats(self):
        """Each has all rows, also those outside, with the values of the CSV; regions have those
        with a position."""
        x, y = self.pixels(40)
        x[3] = y[3] = np.nan
        at = self.catalogue(Xposn=x, Yposn=y)
        for options in ([], ["--fit"]):
            expected = self.rows(self.image, at, *options)
            for suffix in ("vot", "fits", "ecsv", "json", "csv.gz"):
                path = self.path("out." + suffix)
                self.text(self.image, at, *options, "-o", path)
                if suffix == "json":
                    with open(path) as stream:
                        document = json.load(stream)
                    self.assertEqual(
                        [document["options"]["at"], document["detection"]["n_sources"]], [at, 40]
                    )
                    rows = document["sources"]
                elif suffix == "csv.gz":
                    with gzip.open(path, "rt", newline="") as stream:
                        rows = [t.numbers(row) for row in csv.DictReader(stream)]
                else:
                    table = Table.read(path)
                    rows = [
                        {
                            name: None
                            if row[name] is np.ma.masked
                            or row[name] == ""
                            or row[name] != row[name]
                            else row[name]
                            for name in table.colnames
                        }
                        for row in table
                    ]
                self.assertEqual(len(rows), 40)
                for row, other in zip(rows, expected):
                    self.assertEqual(
                        {
                            name: row[name] or None
                            if name == "Source_Name"
                            else float(row[name])
                            if name == "Entry_id"
                            else row[name]
                            for name in other
                        },
                        other,
                        suffix,
                    )
            for suffix, word in (("reg", "ellipse("), ("crtf", "ellipse [["), ("txt", "\n")):
                path = self.path("out." + suffix)
                self.text(self.image, at, *options, "-o", path)
                with open(path) as stream:
                    text = stream.read()
                self.assertEqual(text.count(word), 42 if suffix == "txt" else 39)
                self.assertNotIn("nan", text)

    @unittest.skipUnless(os.environ.get("PICTURES"), "built without cairo")
    def test_picture(self):
        """Positions outside are not drawn: the picture is that without them, but for their
        number."""
        inside = [10.0, 70.0, 20.5], [100.0, 60.0, 30.5]
        beyond = inside[0] + [-1.0, np.nan, 1e300, 40.0], inside[1] + [5.0, 5.0, 5.0, 22.0]
        for name, (x, y) in (("a", inside), ("b", beyond)):
            self.text(
                self.image,
                self.catalogue(Xposn=x, Yposn=y),
                "--fit",
                "--save",
                "picture",
                "-o",
                self.path(name + ".csv"),
            )
        from PIL import Image

        pictures = [
            np.asarray(Image.open(self.path(name + ".picture.png")).convert("RGB")).astype(int)
            for name in "ab"
        ]
        different = np.argwhere((pictures[0] != pictures[1]).any(axis=2))
        self.assertGreater(len(different), 0)
        self.assertLess(np.ptp(different[:, 0]), 20)  # the title
        red = np.count_nonzero((pictures[0][:, :, 0] > 180) & (pictures[0][:, :, 1] < 80))
        self.assertGreater(red, 20)

    def test_several_images(self):
        """One catalogue for all of them, each with the bytes of a run of its own."""
        images = [
            self.write("%d.fits" % i, self.data + np.float32(i) * wave(0, 1), t.sky_header())
            for i in range(4)
        ]
        x, y = self.pixels(50)
        at = self.catalogue(Xposn=x, Yposn=y)
        result = t.run(
            *images, "--at", at, "--at-all", "--fit", "--threads", 3, "-o", self.path("out")
        )
        self.assertEqual(result.returncode, 0)
        for i, image in enumerate(images):
            with open(self.path("out/%d.csv" % i)) as stream:
                self.assertEqual(stream.read(), self.text(image, at, "--fit"))
        n_outside = sum(row["Flags"] >= OUTSIDE for row in t.read_csv(self.path("out/0.csv")))
        self.assertGreater(n_outside, 0)
        self.assertEqual(
            result.stderr.count(
                ": 50 positions (%d outside of the image or on a blank pixel), rms " % n_outside
            ),
            4,
        )
        self.assertIn("srcfind: 4 images: 200 positions, 0 failed, 0 skipped", result.stderr)
        self.assertNotIn("source", result.stderr)
        one = t.run(images[0], "--at", self.catalogue(Xposn=[5.0], Yposn=[5.0]))
        self.assertIn(": 1 position, ", one.stderr)

    # --- wrong usage ---

    def test_wrong_options(self):
        at = self.catalogue(Xposn=[5.0], Yposn=[5.0])
        without = self.write(
            "without.fits", self.data, t.sky_header(BMAJ=None, BMIN=None, BPA=None)
        )
        plain = self.write("plain.fits", self.data)
        self.assert_error(
            2,
            "no beam is known: give --beam MAJ,MIN,PA, or leave --fit out",
            without,
            "--at",
            at,
            "--fit",
        )
        self.assert_error(
            2,
            "without sky coordinates the size of a pixel is not known: leave --fit out",
            plain,
            "--at",
            at,
            "--fit",
            "--beam",
            "9",
        )
        self.assert_error(2, "--at-positive needs the beam", without, "--at", at, "--at-positive")
        self.assert_error(2, "leave --at-positive out", without, "--at", at, "--at-positive")
        self.assert_error(
            2, "--at-positive: it goes with --at, which gives", self.image, "--at-positive"
        )
        self.assert_error(
            *(2, "nor is this a position, as 187.7,12.39 or '12:30:49.4"),
            *(self.image, "--at", "J123049.4+122328"),
        )
        self.assert_error(
            *(2, "there is no option -8: a position with blanks is one value in quotes"),
            *(self.image, "--at", "68.885,", "-80.951"),
        )
        region = self.path("some.reg")
        with open(region, "w") as stream:
            stream.write("image\nbox(50,50,20,20,0)\n")
        for more, has_note in (((), True), (("--mask-noise",), False), (("--at-search",), False)):
            said = t.run(self.image, "--at", at, "--mask", region, *more, check=True).stderr
            self.assertEqual("--mask has no effect with --at, which" in said, has_note, said)
        for option in ("--negative", "--deblend", "--contrast=1"):
            self.assert_error(
                2,
                "leave --%s out" % option.split("=")[0].strip("-"),
                self.image,
                "--at",
                at,
                option,
            )
        self.assert_error(
            2,
            "no islands are found with --at: leave islands out",
            self.image,
            "--at",
            at,
            "--save",
            "rms,islands",
        )
        self.assertEqual(self.rows(without, at, "--fit", "--beam", "8")[0]["Flags"], BEAM_SHAPE)
        # no beam
        self.assertEqual(
            [row["Flags"] for row in (*self.rows(without, at), *self.rows(plain, at))], [4, 4]
        )

    def test_unreadable_catalogue(self):
        """One message before any image is read, and nothing is made."""
        images = [self.image, self.path("no-such-image.fits")]
        with open(self.path("short.csv"), "w") as stream:
            stream.write("Xposn,Yposn\n1,2\n3\n")
        with open(self.path("p.dat"), "w") as stream:
            stream.write("Xposn,Yposn\n1,2\n")
        t.run(self.image, "-q", "-o", self.path("c.crtf"), check=True)
        for name, words in (
            ("none.csv", "No such file"),
            ("p.dat", ".ecsv"),
            ("c.crtf", ".ecsv"),
            ("short.csv", "line 3"),
            ("", "a directory, not a file"),
        ):
            message = self.assert_error(
                2, words, *images, "--at", self.path(name), "-o", self.path("out")
            )
            self.assertTrue(message.startswith("srcfind: " + self.path(name) + ": "), message)
            self.assertFalse(os.path.exists(self.path("out")))

    def test_catalogue_of_another_frame(self):
        """What depends on the image fails with it; the others are done."""
        ecsv = self.path("fk5.ecsv")
        Table({"RA": [150.0], "DEC": [2.0]}, meta={"RADESYS": "FK5"}).write(ecsv)
        galactic = self.write(
            "galactic.fits",
            self.data,
            t.sky_header(CTYPE1="GLON-CAR", CTYPE2="GLAT-CAR", RADESYS=None),
        )
        fk5 = self.write("fk5.fits", self.data, t.sky_header(RADESYS="FK5"))
        self.assert_error(
            1, "its frame is FK5, but the frame of the image is ICRS", self.image, "--at", ecsv
        )
        self.assert_error(
            1,
            "its positions are RA and DEC, but the image has GLON and GLAT",
            galactic,
            "--at",
            self.catalogue(RA=[1.0], DEC=[1.0]),
        )
        self.assert_error(
            1,
            "no columns RA and DEC (degrees), nor Xposn and Yposn",
            self.image,
            "--at",
            self.catalogue(a=[1.0], b=[1.0]),
        )
        self.assert_error(
            1,
            "no sky coordinates, and the catalogue no columns Xposn",
            self.write("plain.fits", self.data),
            "--at",
            self.catalogue(RA=[1.0], DEC=[1.0]),
        )
        result = t.run(self.image, fk5, "-q", "--at", ecsv, "-o", self.path("out"))
        self.assertEqual(
            [result.returncode, result.stderr.count("\n"), os.listdir(self.path("out"))],
            [1, 2, ["fk5.csv"]],
        )

    def test_units_of_the_catalogue(self):
        """Degrees and pixels; positions in another unit are refused, and not taken for degrees."""
        turned = self.path("turned.fits")
        for unit, words in (
            ("rad", "the unit of RA is rad: convert the column to degrees"),
            ("deg", None),
        ):
            Table({"RA": [150.0] * u.Unit(unit), "DEC": [2.0] * u.Unit(unit)}).write(
                turned, overwrite=True
            )
            if words:
                self.assert_error(1, words, self.image, "--at", turned)
            else:
                self.assertEqual(t.run(self.image, "-q", "--at", turned).returncode, 0)

    def test_no_output_replaces_the_catalogue(self):
        at = self.catalogue(Xposn=[5.0], Yposn=[5.0])
        with open(at) as stream:
            before = stream.read()
        self.assert_error(
            2, "would replace the catalogue of --at", self.image, "--at", at, "-o", at
        )
        with open(at) as stream:
            self.assertEqual(stream.read(), before)

    # --- devices ---

    @unittest.skipUnless(os.path.exists(FAKE), "FAKE_CUDA does not lead to the module for tests")
    def test_device(self):
        environment = {**os.environ, "SRCFIND_CUDA_MODULE": FAKE}
        x, y = self.pixels(300)
        at = self.catalogue(Xposn=x, Yposn=y)
        for options in ([], ["--fit"], ["--fit", "--rms-box", "40,13"]):
            self.assertEqual(
                self.text(self.image, at, "--gpu", *options, env=environment),
                self.text(self.image, at, "--cpu", *options),
            )
        compared = t.run(self.image, "--at", at, "--fit", "--compare-cpu", env=environment)
        self.assertEqual([compared.returncode, compared.stderr], [0, ""])
        self.assertIn("the catalogues are the same, byte for byte", compared.stdout)

    def test_bench(self):
        x, y = self.pixels(30)
        report = json.loads(
            t.run(
                self.image,
                "--at",
                self.catalogue(Xposn=x, Yposn=y),
                "--fit",
                "--bench=1",
                "--cpu",
                "-f",
                "json",
                check=True,
            ).stdout
        )
        self.assertTrue(report)


if __name__ == "__main__":
    t.main()
