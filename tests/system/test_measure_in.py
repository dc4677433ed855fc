"""--measure-in: fluxes in the planes of other images (SPEC: Other images)."""
import gzip
import json
import os
import subprocess

import numpy as np
from astropy.io import fits
from astropy.table import Table
from scipy.optimize import curve_fit

import srcfind_test as t

FAKE = os.environ.get("FAKE_CUDA", "")
SIZE, PIXEL, FWHM = 160, 5e-4, 2.3548200450309493
BEAM = 2.5e-3  # of the image, degrees: five pixels


def gaussian(x, y, major, minor, angle):
    """A Gaussian of peak 1 around (x, y): FWHM in pixels, angle of the major axis from the y axis
    against the clock, in degrees."""
    rows, columns = np.mgrid[:SIZE, :SIZE]
    turn = np.radians(angle)
    along = -(columns - x) * np.sin(turn) + (rows - y) * np.cos(turn)
    across = (columns - x) * np.cos(turn) + (rows - y) * np.sin(turn)
    return np.exp(-((along / major) ** 2 + (across / minor) ** 2) * FWHM**2 / 2)


def correlated(random, fwhm):
    """Noise of unit rms whose autocorrelation is a beam of so many pixels, as that of an
    interferometer's map."""
    k = np.fft.fftfreq(SIZE)
    kernel = np.exp(-((np.pi * fwhm / FWHM) ** 2) * (k[:, None] ** 2 + k**2))
    noise = np.fft.ifft2(np.fft.fft2(random.normal(size=(SIZE, SIZE))) * kernel).real
    return noise / noise.std()


def header(beam=BEAM, **cards):
    return t.sky_header(CRPIX1=80.0, CRPIX2=80.0, BMAJ=beam, BMIN=beam, BPA=0.0, **cards)


class MeasureIn(t.Case):
    """Sources of a deep image: points and extended ones on a grid, two of them blended, and one of
    two Gaussians."""

    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(3)
        self.places = [
            (
                20 + 24 * (i % 6) + self.random.uniform(-3, 3),
                20 + 24 * (i // 6) + self.random.uniform(-3, 3),
            )
            for i in range(36)
        ]
        self.places[1] = self.places[0][0] + 6, self.places[0][1] + 1
        self.places[9] = self.places[8][0] + 4, self.places[8][1] + 2
        self.own = [0 if i % 3 else 4.0 for i in range(36)]  # FWHM without the beam, pixels
        self.peaks = np.exp(self.random.uniform(np.log(25), np.log(150), 36))
        self.deep = self.write("deep.fits", self.sky(5, self.peaks, 1), header(RESTFRQ=1.4e9))

    def sky(self, beam, fluxes, rms):
        """Pixels of the sources: fluxes in units of those that the image's beam would have as peaks
        if they were points."""
        pixels = rms * correlated(self.random, beam)
        for (x, y), own, flux in zip(self.places, self.own, fluxes):
            width = np.hypot(beam, own)
            pixels += flux * (beam / width) ** 2 * gaussian(x, y, width, width, 0)
        return pixels.astype(np.float32)

    def rows(self, *options, stem="c"):
        """The rows of the table of planes of a run, with those of the catalogue by their
        numbers."""
        t.run(*options, "-q", "-o", self.path(stem + ".csv"), check=True)
        return t.read_csv(self.path(stem + ".planes.csv")), {
            row["Source_id"]: row for row in t.read_csv(self.path(stem + ".csv"))
        }

    def text(self, *options, **environment):
        t.run(
            *options,
            "-q",
            "-o",
            self.path("text.csv"),
            env={**os.environ, **environment},
            check=True,
        )
        with open(self.path("text.planes.csv")) as stream:
            return stream.read()

    # --- amplitudes ---

    def test_least_squares(self):
        """Amplitudes, sums of several Gaussians, and residuals are those of NumPy's least squares
        of all Gaussians of a cluster."""
        plane = self.write("plane.fits", self.sky(7, self.peaks, 1), header(7 * PIXEL))
        found, sources = self.rows(
            self.deep,
            "-i",
            "3",
            "--background",
            "zero",
            "--group",
            "3",
            "--save",
            "gaussians",
            "--measure-in",
            plane,
        )
        gaussians = t.read_csv(self.path("c.gaussians.csv"))
        self.assertIn("M", {source["S_Code"] for source in sources.values()})
        values = fits.getdata(plane).astype(float)
        shapes, used = [], np.zeros(values.shape, bool)
        for row in gaussians:
            width, angle = (
                np.hypot(7, np.array([row["DC_Maj"], row["DC_Min"]]) / PIXEL),
                row["DC_PA"],
            )
            shapes.append(gaussian(row["Xposn"], row["Yposn"], *width, angle))
            used |= gaussian(row["Xposn"], row["Yposn"], *width, angle) >= np.exp(-(FWHM**2) / 2)
            row["area"] = width.prod() / 7**2
        shapes = np.array(shapes)

        # Places that are far from each other share no pixel, and could be fitted alone: so all are
        # fitted together here.
        def fluxes(power):
            """With weights that are the shapes to 1 + power, and less for wide ones."""
            weights = np.array(
                [s ** (1 + power / max(1, g["area"]) ** 1.5) for s, g in zip(shapes, gaussians)]
            )
            amplitudes = np.linalg.solve(
                weights[:, used] @ shapes[:, used].T, weights[:, used] @ values[used]
            )
            return [
                sum(
                    amplitudes[i] * g["area"]
                    for i, g in enumerate(gaussians)
                    if g["Source_id"] == row["Source_id"]
                )
                for row in found
            ]

        off = [
            max(abs(row["Total_flux"] / flux - 1) for row, flux in zip(found, fluxes(power)))
            for power in (0, 1, 2, 4)
        ]
        self.assertLess(min(off), 2e-3)  # clusters: their own pixels alone
        self.assertEqual(len(found), len(sources))

    def test_pairs_exactly(self):
        """Two points at 0.7 to 2 beams, in a plane with another beam: equal to NumPy's least
        squares to 1e-9."""
        for distance in (3.5, 5.0, 7.0, 10.0):
            with self.subTest(distance=distance):
                with open(self.path("at.csv"), "w") as stream:
                    stream.write("Xposn,Yposn\n80.2,79.6\n%r,79.9\n" % (80.2 + distance))
                places, beam = ((80.2, 79.6), (80.2 + distance, 79.9)), 6
                plane = self.write(
                    "pair.fits",
                    sum(
                        100 * (1 + i) * gaussian(x, y, beam, beam, 0)
                        for i, (x, y) in enumerate(places)
                    )
                    + self.random.normal(size=(SIZE, SIZE)),
                    header(beam * PIXEL),
                )
                found, _ = self.rows(
                    self.deep,
                    "--at",
                    self.path("at.csv"),
                    "--background",
                    "zero",
                    "--measure-in",
                    plane,
                )
                shapes = np.array([gaussian(x, y, beam, beam, 0) for x, y in places])
                used = (shapes >= np.exp(-(FWHM**2) / 2)).any(0)
                values = fits.getdata(plane).astype(float)
                expected = np.linalg.lstsq(shapes[:, used].T, values[used], rcond=None)[0]
                # WCSLIB gives the beam in pixels
                np.testing.assert_allclose([row["Peak_flux"] for row in found], expected, rtol=2e-6)
                np.testing.assert_allclose(
                    [row["Total_flux"] for row in found], expected, rtol=2e-6
                )

    def test_pulls(self):
        """Fluxes of channels and spectral indices of points are within their errors, and negative
        fluxes of Stokes Q as well."""
        frequencies = 1e9 + 1e8 * np.arange(8)
        indices = self.random.normal(-0.7, 0.4, 36)
        cube, beams = [], []
        for frequency in frequencies:
            beams.append(5 * 1.35e9 / frequency)
            cube.append(self.sky(beams[-1], self.peaks * (frequency / 1.35e9) ** indices, 1))
        path = self.cube(
            "cube.fits",
            np.array(cube),
            beams,
            CTYPE3="FREQ",
            CRVAL3=1e9,
            CDELT3=1e8,
            CRPIX3=1.0,
            CUNIT3="Hz",
        )
        found, sources = self.rows(self.deep, "-i", "3", "--measure-in", path)
        pulls, of_index = [], []
        for source in sources.values():
            distances = [np.hypot(source["Xposn"] - x, source["Yposn"] - y) for x, y in self.places]
            i = int(np.argmin(distances))
            if distances[i] > 1 or self.own[i]:
                continue
            of_index.append((source["Spec_Indx"] - indices[i]) / source["E_Spec_Indx"])
            self.assertEqual(source["Ref_freq"], 1.35e9)
            self.assertAlmostEqual(source["Flux_ref"] / self.peaks[i], 1, delta=0.25)
            rows = [row for row in found if row["Source_id"] == source["Source_id"]]
            self.assertEqual([row["Frequency"] for row in rows], list(frequencies))
            pulls += [
                (row["Total_flux"] - self.peaks[i] * (f / 1.35e9) ** indices[i])
                / row["E_Total_flux"]
                for row, f in zip(rows, frequencies)
            ]
            fit, _ = curve_fit(
                lambda x, a, b: a * x**b,
                frequencies / 1.35e9,
                [row["Total_flux"] for row in rows],
                [self.peaks[i], -0.7],
                [row["E_Total_flux"] for row in rows],
                absolute_sigma=True,
                xtol=1e-14,
                ftol=1e-14,
            )
            self.assertAlmostEqual(source["Spec_Indx"], fit[1], delta=1e-6)
        self.assertGreater(len(of_index), 15)
        for values, least, most in ((pulls, 0.8, 1.25), (of_index, 0.6, 1.5)):
            self.assertLess(abs(np.median(values)), 0.5)
            self.assertTrue(least < np.std(values) < most, np.std(values))
        self.assertTrue(0.7 < np.median([row["Chi2"] for row in found]) < 1.3)

    # --- planes ---

    def cube(self, name, planes, beams=None, **cards):
        """A cube, with a table BEAMS of FWHM in pixels, or the beam of the image."""
        head = header(**cards)
        if beams is None:
            return self.write(name, planes, head)
        for card in ("BMAJ", "BMIN", "BPA"):
            del head[card]
        size = np.array(beams, np.float32) * PIXEL * 3600
        table = fits.BinTableHDU.from_columns(
            [
                fits.Column("BMAJ", "E", "arcsec", array=size),
                fits.Column("BMIN", "E", "arcsec", array=size),
                fits.Column("BPA", "E", "deg", array=0 * size),
            ],
            name="BEAMS",
        )
        fits.HDUList([fits.PrimaryHDU(planes, head), table]).writeto(self.path(name))
        return self.path(name)

    def test_axes_and_files(self):
        """A plane has the same rows in a cube, whatever the order of its axes, in a compressed one,
        and as a file of its own."""
        planes = np.array(
            [[self.sky(5, self.peaks * (1 + s + 2 * f), 1) for s in range(2)] for f in range(3)]
        )
        freq, stokes = (
            {"CTYPE%d": "FREQ", "CRVAL%d": 1e9, "CDELT%d": 1e8, "CRPIX%d": 1.0, "CUNIT%d": "Hz"},
            {"CTYPE%d": "STOKES", "CRVAL%d": 1.0, "CDELT%d": 1.0, "CRPIX%d": 1.0},
        )

        def cards(*axes):
            return {
                name % (3 + i): value for i, axis in enumerate(axes) for name, value in axis.items()
            }

        one = self.cube("one.fits", planes, **cards(stokes, freq), **{"DATE-OBS": "2024-03-04"})
        del stokes["CDELT%d"]
        other = self.cube("other.fits", planes.swapaxes(0, 1), **cards(freq, stokes), CD4_4=1.0)
        packed = self.path("packed.fits")  # a cube of three axes: astropy packs no more
        fits.HDUList(
            [
                fits.PrimaryHDU(),
                t.tiled(
                    planes.reshape(6, SIZE, SIZE),
                    "GZIP_2",
                    quantize_level=0,
                    header=header(**cards(freq), **{"DATE-OBS": "2024-03-04"}),
                ),
            ]
        ).writeto(packed)
        with open(one, "rb") as stream, gzip.open(one + ".gz", "wb", 1) as to:
            to.write(stream.read())
        found, sources = self.rows(
            self.deep, "-i", "3", "--measure-in", ",".join((one, other, packed, one + ".gz"))
        )
        by_plane = {}
        for row in found:
            by_plane.setdefault((os.path.basename(row["Image"]), row["Plane"]), []).append(row)
        self.assertEqual(len(by_plane), 24)
        number = 0
        for f in range(3):
            for s in range(2):
                number += 1
                alone = self.write(
                    "alone%d.fits" % number, planes[f, s], header(RESTFRQ=1e9 + 1e8 * f)
                )
                expected, _ = self.rows(self.deep, "-i", "3", "--measure-in", alone, stem="alone")
                for name, plane in (
                    ("one.fits", number),
                    ("other.fits", 3 * s + f + 1),
                    ("packed.fits", number),
                    ("one.fits.gz", number),
                ):
                    rows = by_plane[name, plane]
                    self.assertEqual(
                        {(row["Frequency"], row["Stokes"]) for row in rows},
                        {
                            (1e9 + 1e8 * (number - 1), None)
                            if name == "packed.fits"
                            else (1e9 + 1e8 * f, "IQ"[s])
                        },
                    )
                    self.assertEqual(
                        {row["Date_obs"] for row in rows},
                        {None if name == "other.fits" else "2024-03-04"},
                    )
                    for row, alike in zip(rows, expected, strict=True):
                        self.assertEqual(
                            [
                                row[c]
                                for c in (
                                    "Source_id",
                                    "Total_flux",
                                    "E_Total_flux",
                                    "Peak_flux",
                                    "Isl_rms",
                                    "Chi2",
                                    "Flags",
                                )
                            ],
                            [
                                alike[c]
                                for c in (
                                    "Source_id",
                                    "Total_flux",
                                    "E_Total_flux",
                                    "Peak_flux",
                                    "Isl_rms",
                                    "Chi2",
                                    "Flags",
                                )
                            ],
                        )
        # of I, and of the packed ones
        self.assertEqual({row["Ref_freq"] for row in sources.values()}, {1.1e9})

    def test_velocities(self):
        """Channels in velocity have the frequencies, and sources the indices, of the same channels
        in frequency; those of an optical velocity are not evenly apart."""
        light, line = 299792458.0, 1.2e9
        planes = np.array(
            [self.sky(5, self.peaks * (f / line) ** -0.7, 1) for f in (1e9, 1.1e9, 1.2e9)]
        )
        axis = {"CRPIX3": 1.0, "RESTFRQ": line}
        known = [
            self.rows(
                self.deep,
                "-i",
                "3",
                "--measure-in",
                self.cube(
                    name, planes, CTYPE3=kind, CUNIT3=unit, CRVAL3=value, CDELT3=step, **axis
                ),
            )
            for name, kind, unit, value, step in (
                ("f.fits", "FREQ", "Hz", 1e9, 1e8),
                (
                    "v.fits",
                    "VRAD",
                    "km/s",
                    light / 1e3 * (1 - 1e9 / line),
                    -light / 1e3 * 1e8 / line,
                ),
                ("o.fits", "FELO-LSR", "m/s", light * (line / 1e9 - 1), -light * line * 1e8 / 1e18),
            )
        ]
        for found, sources in known[1:]:
            np.testing.assert_allclose(
                [row["Frequency"] for row in found],
                [row["Frequency"] for row in known[0][0]],
                rtol=1e-12,
            )
            for column in ("Spec_Indx", "Ref_freq", "Flux_ref"):
                np.testing.assert_allclose(
                    [row[column] for row in sources.values()],
                    [row[column] for row in known[0][1].values()],
                    rtol=1e-6,
                )

    def test_planes_without_fluxes(self):
        """A plane that is blank or has one value has flag 512, one without a beam flag 4, and both
        are in a note; a place on a blank pixel has flag 512."""
        for seed in (0, 1):
            with self.subTest(seed):
                self.check_planes_without_fluxes(seed)

    def check_planes_without_fluxes(self, seed):
        planes = np.array([self.sky(5, self.peaks, 1) for _ in range(4)])
        planes[1] = np.nan if seed else 0  # as flagged channels often are
        x, y = map(round, self.places[20])
        planes[3, y - 1 : y + 2, x - 1 : x + 2] = np.nan
        path = self.cube("cube%d.fits" % seed, planes, [5, 5, 0, 5])
        result = t.run(self.deep, "-i", "3", "--measure-in", path, "-o", self.path("c.csv"))
        self.assertEqual(result.returncode, 0)
        for text in (
            "1 of 4 planes of --measure-in have no fluxes: they are blank",
            "1 of 4 planes of --measure-in have no fluxes, because no beam",
            "have no frequency, so there is no spectral index",
        ):
            self.assertIn(text, result.stderr)
        found = t.read_csv(self.path("c.planes.csv"))
        for row in found:
            empty = [
                row[name] is None
                for name in (
                    "Total_flux",
                    "E_Total_flux",
                    "Peak_flux",
                    "E_Peak_flux",
                    "Isl_rms",
                    "Chi2",
                )
            ]
            self.assertTrue(all(empty) or not any(empty))
            self.assertEqual(all(empty), row["Flags"] in (4, 512))
        self.assertEqual({row["Flags"] for row in found if row["Plane"] == 2}, {512})
        self.assertEqual({row["Flags"] for row in found if row["Plane"] == 3}, {4})
        self.assertEqual(sum(row["Flags"] == 512 for row in found if row["Plane"] == 4), 1)
        self.assertTrue(all(row["Spec_Indx"] is None for row in t.read_csv(self.path("c.csv"))))

    def test_beams_of_rows_before_keywords(self):
        """The keywords have one beam for all planes: the row of the plane is taken where both are
        there."""
        cube = self.cube(
            "cube.fits", np.array([self.sky(beam, self.peaks, 1) for beam in (5, 7)]), [5, 7]
        )
        expected, _ = self.rows(self.deep, "-i", "3", "--measure-in", cube)
        with fits.open(cube) as hdus:
            hdus[0].header.update(BMAJ=BEAM, BMIN=BEAM, BPA=0.0)
            hdus.writeto(self.path("keywords.fits"))
        found, _ = self.rows(self.deep, "-i", "3", "--measure-in", self.path("keywords.fits"))
        for row, alike in zip(found, expected, strict=True):
            self.assertAlmostEqual(row["Total_flux"] / alike["Total_flux"], 1, delta=1e-6)
            self.assertAlmostEqual(row["Chi2"] / alike["Chi2"], 1, delta=1e-3)

    def test_channels_without_a_beam(self):
        """Where programs write 0, -1 or the smallest number into the row of a flagged channel, that
        plane has no beam, though the keywords have one for all."""
        for absurd in (0, -1, np.finfo("f4").tiny / (PIXEL * 3600), 9e-4):
            path = self.cube(
                "%s.fits" % absurd, np.array([self.sky(5, self.peaks, 1)] * 3), [5, absurd, 5]
            )
            for keywords in (False, True):
                with fits.open(path, mode="update") as hdus:
                    if keywords:
                        hdus[0].header.update(BMAJ=BEAM, BMIN=BEAM, BPA=0.0)
                    with self.subTest(absurd, keywords=keywords):
                        hdus.flush()
                        found, _ = self.rows(self.deep, "-i", "3", "--measure-in", path)
                        self.assertEqual(
                            {
                                (row["Plane"], row["Flags"] == 4, row["Total_flux"] is None)
                                for row in found
                            },
                            {(1, False, False), (2, True, True), (3, False, False)},
                        )

    def test_absurd_beams(self):
        """A run ends, whichever beam the header of a plane has."""
        pixels = self.sky(5, self.peaks, 1)
        for arcsec, flags in (
            (1e-30, {4}),
            (1e-10, {4}),
            (2e-3, {0, 64}),
            (0.05, {0, 64}),
            (1e6, {64}),
            (1e13, {64}),
        ):
            with self.subTest(arcsec):
                plane = self.write("plane.fits", pixels, header(beam=arcsec / 3600))
                found, _ = self.rows(self.deep, "-i", "3", "--measure-in", plane)
                self.assertEqual(
                    {int(row["Flags"]) & (1 | 4 | 64) for row in found}
                    - ({1, 65} if 0 in flags else set()),
                    flags,
                )

    def test_beams_wider_than_the_image(self):
        """Such a plane has no fluxes, a note says so, and spectral indices are those of the other
        planes."""
        pixels = [self.sky(5, self.peaks, 1) for _ in range(3)]
        axis = {"CTYPE3": "FREQ", "CRVAL3": 1e9, "CDELT3": 1e8, "CRPIX3": 1.0, "CUNIT3": "Hz"}
        cube = self.cube("cube.fits", np.array(pixels), [5, SIZE * 1.5, 5], **axis)
        two = self.cube(
            "two.fits", np.array([pixels[0], pixels[2]]), [5, 5], **{**axis, "CDELT3": 2e8}
        )
        result = t.run(
            self.deep, "-i", "3", "--measure-in", cube, "-o", self.path("c.csv"), check=True
        )
        self.assertIn(
            "1 of 3 planes of --measure-in have no fluxes, because their beam is wider than the image",
            result.stderr,
        )
        self.assertNotIn("no beam is known", result.stderr)
        for row in t.read_csv(self.path("c.planes.csv")):
            self.assertEqual(
                (row["Flags"] == 64, row["Total_flux"] is None, row["Isl_rms"] is None),
                (row["Plane"] == 2,) * 3,
            )
        _, expected = self.rows(self.deep, "-i", "3", "--measure-in", two)
        for row, alike in zip(t.read_csv(self.path("c.csv")), expected.values(), strict=True):
            for name in ("Spec_Indx", "E_Spec_Indx", "Ref_freq", "Flux_ref"):
                self.assertEqual(row[name], alike[name])

    def test_places_that_cannot_be_told_apart(self):
        """Two entries at nearly one place have one flux, and they and their neighbour one residual,
        as a lone entry has."""
        x, y = self.places[14]
        plane = self.write("plane.fits", self.sky(5, self.peaks, 1), header())

        def chi2(*entries):
            with open(self.path("at.csv"), "w") as stream:
                stream.write("Xposn,Yposn\n" + "".join("%r,%r\n" % entry for entry in entries))
            return [
                row["Chi2"]
                for row in self.rows(self.deep, "--at", self.path("at.csv"), "--measure-in", plane)[
                    0
                ]
            ]

        lone, near = chi2((x, y), (x + 7, y))
        for found in chi2((x, y), (x + 0.002, y), (x + 7, y)), chi2((x, y), (x, y), (x + 7, y)):
            self.assertAlmostEqual(found[0], lone, delta=1e-2)
            self.assertAlmostEqual(found[1], lone, delta=1e-2)
            self.assertAlmostEqual(found[2], near, delta=1e-2)

    def test_image_without_a_beam(self):
        """The shapes of its sources are not known: cells are empty, with flag 4 and a note, until
        --beam gives it."""
        head = header()
        del head["BMAJ"], head["BMIN"], head["BPA"]
        bare = self.write("bare.fits", fits.getdata(self.deep), head)
        plane = self.write("plane.fits", self.sky(5, self.peaks, 1), header())
        result = t.run(bare, "-i", "3", "--measure-in", plane, "-o", self.path("c.csv"))
        self.assertIn(
            "--measure-in needs the beam of the image for the shapes of the sources", result.stderr
        )
        self.assertEqual(
            {(row["Flags"], row["Total_flux"]) for row in t.read_csv(self.path("c.planes.csv"))},
            {(4, None)},
        )
        given, _ = self.rows(bare, "-i", "3", "--beam", str(3600 * BEAM), "--measure-in", plane)
        expected, _ = self.rows(self.deep, "-i", "3", "--measure-in", plane)
        for row, alike in zip(given, expected, strict=True):
            self.assertAlmostEqual(row["Total_flux"] / alike["Total_flux"], 1, delta=1e-9)

    def test_units(self):
        """A plane in mJy/beam has the fluxes, the peaks and the noise of the same one in
        Jy/beam."""
        pixels = self.sky(5, self.peaks, 1)
        expected, _ = self.rows(
            self.deep, "-i", "3", "--measure-in", self.write("p.fits", pixels, header())
        )
        found, _ = self.rows(
            self.deep,
            "-i",
            "3",
            "--measure-in",
            self.write("m.fits", pixels.astype(float) * 1000, header(BUNIT="mJy/beam")),
        )
        for row, alike in zip(found, expected, strict=True):
            for name in (
                "Total_flux",
                "E_Total_flux",
                "Peak_flux",
                "E_Peak_flux",
                "Isl_rms",
                "Chi2",
            ):
                self.assertAlmostEqual(row[name] / alike[name], 1, delta=1e-5)
        bare = header()
        del bare["BUNIT"]
        # it has that of the image
        found, _ = self.rows(
            self.deep, "-i", "3", "--measure-in", self.write("bare.fits", pixels, bare)
        )
        self.assertEqual(
            [{**row, "Image": ""} for row in found], [{**row, "Image": ""} for row in expected]
        )
        deep = self.write(
            "mjy.fits", 1000 * fits.getdata(self.deep).astype(float), header(BUNIT="mJy/beam")
        )
        found, _ = self.rows(
            deep, "-i", "3", "--measure-in", self.write("bare.fits", 1000 * pixels, bare)
        )
        for row, alike in zip(found, expected, strict=True):
            self.assertAlmostEqual(row["Total_flux"] / alike["Total_flux"], 1, delta=1e-5)
            self.assertAlmostEqual(row["Peak_flux"] / alike["Peak_flux"], 1000, delta=1e-2)
        self.assert_error(
            1,
            "its unit is K, but the unit of the searched image is Jy/beam: convert it",
            self.deep,
            "--measure-in",
            self.write("k.fits", pixels, header(BUNIT="K")),
        )

    # --- with other options ---

    def test_same_bytes(self):
        """For any number of threads and any variant of the loops, with scales, negative sources,
        local noise and a mask."""
        path = self.cube("cube.fits", np.array([self.sky(5, self.peaks, 1) for _ in range(2)]))
        mask = self.write(
            "mask.fits", np.pad(np.ones((SIZE - 8, SIZE - 8), np.float32), 4), header()
        )
        for options in (
            ["--scales=2"],
            ["--local", "--negative"],
            ["--mask", mask, "--blank", "0"],
            ["--detect-on", self.deep],
        ):
            with self.subTest(options=options):
                expected = self.text(
                    self.deep, "-i", "3", "--measure-in", path, "-j", "1", *options
                )
                self.assertGreater(expected.count("\n"), 60)
                self.assertEqual(
                    self.text(self.deep, "-i", "3", "--measure-in", path, "-j", "3", *options),
                    expected,
                )

    def with_odd_planes(self):
        """The options that measure in a cube of which one plane is blank, one has one value, and one
        has no pixels around a source."""
        planes = np.array([self.sky(5, self.peaks, 1) for _ in range(4)])
        planes[1], planes[2] = np.nan, 3
        x, y = map(round, self.places[20])
        planes[3, y - 1 : y + 2, x - 1 : x + 2] = np.nan
        return [self.deep, "-i", "3", "--measure-in", self.cube("cube.fits", planes)]

    @t.unittest.skipUnless(os.path.exists(FAKE), "FAKE_CUDA does not lead to the module for tests")
    def test_device(self):
        """A device, which keeps planes or reads them only, gives the bytes of the CPU."""
        measured = self.with_odd_planes()
        at = self.path("at.csv")
        with open(at, "w") as stream:
            stream.writelines(["Xposn,Yposn\n"] + ["%r,%r\n" % place for place in self.places])
        mask = self.write(
            "mask.fits", np.pad(np.ones((SIZE - 8, SIZE - 8), np.float32), 4), header()
        )
        for options in (
            [],
            ["--rms-box", "60,20", "--negative"],
            ["--scales=2", "--flux-error", "3"],
            ["--mask", mask, "--rms", "1"],
            ["--at", at],
        ):
            expected = self.text(*measured, *options, "--cpu")
            self.assertGreater(expected.count("\n"), 4 * 30)
            for keeps in "0", "1":
                with self.subTest(options=options, keeps=keeps):
                    found = self.text(
                        *measured,
                        *options,
                        "--gpu",
                        SRCFIND_CUDA_MODULE=FAKE,
                        FAKE_CUDA_KEEPS=keeps,
                    )
                    self.assertEqual(found, expected)

    @t.unittest.skipUnless(os.path.exists(FAKE), "FAKE_CUDA does not lead to the module for tests")
    def test_lost_device(self):
        """If a plane loses the device, the CPU measures in it and in those behind it; with --gpu
        this is an error."""
        measured = self.with_odd_planes()
        expected = self.text(*measured, "--cpu")
        for n in range(2, 7):  # the first search is that of the image, and there are four planes
            lost = {"SRCFIND_CUDA_MODULE": FAKE, "FAKE_CUDA_KEEPS": "1", "FAKE_CUDA_LOST": str(n)}
            self.assertEqual(self.text(*measured, **lost, SRCFIND_PIXELS_BEFORE_GPU="0"), expected)
            result = t.run(
                *measured, "--gpu", "-o", self.path("gpu.csv"), env={**os.environ, **lost}
            )
            self.assertEqual(
                [result.returncode, "unspecified launch failure" in result.stderr],
                [3, True] if n < 6 else [0, False],
            )

    def test_wide_sources(self):
        """Those of scales keep their flux, of which local background has a part, also behind a
        source of two Gaussians."""
        rows, columns = np.mgrid[:400, :400]
        halo = 2.5 * np.exp(-((columns - 200) ** 2 + (rows - 190) ** 2) * FWHM**2 / 2 / 45**2)
        point, *pair = (
            np.exp(-((columns - x) ** 2 + (rows - y) ** 2) * FWHM**2 / 2 / 25)
            for x, y in ((215, 200), (60, 50), (64, 52))
        )
        k = np.fft.fftfreq(400)
        noise = [
            np.fft.ifft2(
                np.fft.fft2(self.random.normal(size=(400, 400)))
                * np.exp(-((np.pi * 5 / FWHM) ** 2) * (k[:, None] ** 2 + k**2))
            ).real
            for _ in range(2)
        ]
        deep, plane = (
            self.write(
                name,
                (factor * (halo + 40 * (point + sum(pair))) + image / image.std()).astype(
                    np.float32
                ),
                header(),
            )
            for name, factor, image in (("a.fits", 1, noise[0]), ("b.fits", 0.5, noise[1]))
        )
        found, sources = self.rows(deep, "-i", "3", "--local", "--scales", "--measure-in", plane)
        wide = max(sources.values(), key=lambda row: row["Total_flux"])
        self.assertGreaterEqual(wide["Scale"], 2)
        self.assertIn("M", [row["S_Code"] for row in sources.values()])
        for row in found:
            if row["Source_id"] == wide["Source_id"]:
                self.assertAlmostEqual(row["Total_flux"], 0.5 * 2.5 * (45 / 5) ** 2, delta=8)

    def test_mask(self):
        """Masked pixels are blank in all planes; pixels that are blank in one plane are not blank in
        the next."""
        plane = self.write("plane.fits", self.sky(5, self.peaks, 1), header())
        pixels = np.ones((SIZE, SIZE), np.float32)
        pixels[:70] = 0
        mask = self.write("mask.fits", pixels, header())
        blank = fits.getdata(plane).copy()
        blank[:70] = np.nan
        expected, _ = self.rows(
            self.deep,
            "-i",
            "3",
            "--mask",
            mask,
            "--measure-in",
            self.write("blank.fits", blank, header()),
        )
        found, _ = self.rows(self.deep, "-i", "3", "--mask", mask, "--measure-in", plane)
        for row, alike in zip(found, expected, strict=True):
            self.assertEqual({**row, "Image": ""}, {**alike, "Image": ""})
        blank[:] = np.nan
        empty = self.write("empty.fits", blank, header())
        both, _ = self.rows(
            self.deep, "-i", "3", "--mask", mask, "--measure-in", f"{empty},{plane}"
        )
        self.assertEqual([row for row in both if row["Image"] == plane], found)

    def test_blank_value(self):
        """--blank holds in planes, too."""
        pixels = self.sky(5, self.peaks, 1)
        expected, found = (
            self.rows(self.deep, "-i", "3", "--blank", "0", "--measure-in", path)[0]
            for path in (
                self.write(
                    name, np.pad(pixels[:, 70:], ((0, 0), (70, 0)), constant_values=value), header()
                )
                for name, value in (("nan.fits", np.nan), ("zero.fits", 0))
            )
        )
        for row, alike in zip(found, expected, strict=True):
            self.assertEqual({**row, "Image": ""}, {**alike, "Image": ""})

    def test_at(self):
        """The entries of --at have rows, too, by their numbers; with --at-all those outside have
        flag 512."""
        with open(self.path("at.csv"), "w") as stream:
            stream.write(
                "Xposn,Yposn\n%r,%r\n-50,10\n%r,%r\n" % (*self.places[14], *self.places[15])
            )
        plane = self.write("plane.fits", self.sky(5, self.peaks, 1), header())
        found, _ = self.rows(self.deep, "--at", self.path("at.csv"), "--measure-in", plane)
        self.assertEqual([row["Source_id"] for row in found], [1, 3])
        found, _ = self.rows(
            self.deep, "--at", self.path("at.csv"), "--at-all", "--measure-in", plane
        )
        self.assertEqual(
            [(row["Source_id"], row["Flags"]) for row in found], [(1, 0), (2, 512), (3, 0)]
        )
        alone = (
            t.read_csv(self.path("c.csv"))
            and self.rows(plane, "--at", self.path("at.csv"), "--fit", "--measure-in", plane)[1]
        )
        self.assertAlmostEqual(alone[1]["Total_flux"] / found[0]["Total_flux"], 1, delta=1e-12)

    def test_at_implies_fit(self):
        """Shapes of the catalogue are held, as with --fit: a wide source keeps its flux. Sky models
        have the Gaussians."""
        plane = self.write("plane.fits", self.sky(5, self.peaks, 1), header())
        wanted, _ = self.rows(self.deep, "-i", "3", "--measure-in", plane, stem="at")
        options = self.deep, "--at", self.path("at.csv"), "--measure-in", plane
        texts = []
        for fit in [], ["--fit"]:
            found, sources = self.rows(*options, *fit)
            for stem in "c", "c.planes":
                with open(self.path(stem + ".csv")) as stream:
                    texts.append(stream.read())
            t.run(*options, *fit, "-q", "-o", self.path("c.skymodel"), check=True)
            with open(self.path("c.skymodel")) as stream:
                texts.append(stream.read())
        self.assertEqual(texts[:3], texts[3:])
        self.assertEqual(len(texts[2].splitlines()), len(sources) + 1)
        for row, alike in zip(found, wanted, strict=True):
            self.assertAlmostEqual(row["Total_flux"] / alike["Total_flux"], 1, delta=0.1)
            self.assertTrue(sources[row["Source_id"]]["Total_flux"] > 0)
        head = header()
        del head["BMAJ"], head["BMIN"], head["BPA"]
        self.assert_error(
            2,
            "--at with --measure-in needs the beam, and no beam is known: give --beam MAJ,MIN,PA, or "
            "leave --measure-in out",
            self.write("bare.fits", fits.getdata(self.deep), head),
            *options[1:],
            "-o",
            self.path("c.csv"),
        )

    def test_formats(self):
        """Each format of tables has the same rows, follows the schema, and says what it is; others
        have a table in CSV."""
        cube = self.cube(
            "a,b \u00e9.fits",
            np.array([self.sky(5, self.peaks, 1) for _ in range(2)]),
            CTYPE3="FREQ",
            CRVAL3=1e9,
            CDELT3=1e8,
        )
        given = cube.replace(",", ",,")
        expected, _ = self.rows(self.deep, "--measure-in", given)
        self.assertEqual({row["Image"] for row in expected}, {cube})
        for suffix in (".json", ".vot", ".fits", ".ecsv", ".csv.gz"):
            t.run(self.deep, "--measure-in", given, "-q", "-o", self.path("f" + suffix), check=True)
            self.assertTrue(os.path.exists(self.path("f.planes" + suffix)))
        with open(self.path("f.planes.json")) as stream:
            document = json.load(stream)
        self.assertEqual(document["options"]["measure-in"], given)
        self.assertEqual(
            [row["Total_flux"] for row in document["planes"]],
            [row["Total_flux"] for row in expected],
        )
        with fits.open(self.path("f.planes.fits")) as hdus:
            self.assertEqual(hdus[1].name, "PLANES")
            self.assertEqual(
                list(hdus[1].data["Total_flux"]), [row["Total_flux"] for row in expected]
            )
        t.run(self.deep, "--measure-in", given, "-q", "-o", self.path("r.reg"), check=True)
        self.assertEqual(t.read_csv(self.path("r.planes.csv")), expected)

    def test_any_number_of_files(self):
        """Files with commas, one by one, or in lists: the same rows; what is written names all of them, and is read again."""
        plane = self.write("plane.fits", self.sky(5, self.peaks, 1), header())
        names = ["@0," + 180 * "x"] + ["%03d%s" % (i, 200 * "x") for i in range(1, 500)]
        for name in names:
            os.symlink(plane, self.path(name))
        texts = ["./" + names[0].replace(",", ",,")] + names[1:]
        with open(self.path("list"), "w", encoding="ascii") as stream:
            stream.write(
                "\n"
                + "".join(
                    name + ending for name, ending in zip(names[:300], ["\r\n", "\n", "\n\n"] * 100)
                )
            )
        with open(self.path("rest"), "w", encoding="ascii") as stream:
            stream.write("\n".join(names[300:]))  # without an end of line at its end
        given = {
            "commas": ["--measure-in=" + ",".join(texts)],
            "repeated": [part for text in texts for part in ("--measure-in", text)],
            "lists": ["--measure-in", "@list,@rest"],
            "mixed": ["--measure-in", "@list", "--measure-in", ",".join(texts[300:])],
        }
        tables = {}
        for name, options in given.items():
            t.run(
                "deep.fits",
                "-q",
                "-n",
                "100",
                *options,
                "-o",
                name + ".csv",
                cwd=self.directory.name,
                check=True,
            )
            tables[name] = t.read_csv(self.path(name + ".planes.csv"))
            self.assertEqual([row["Image"] for row in tables[name][1:500]], names[1:])
            self.assertEqual(
                tables[name][0].pop("Image"),
                names[0] if name in ("lists", "mixed") else "./" + names[0],
            )
            for row in tables[name]:
                row.pop("Image", None)
            self.assertEqual(tables[name], tables["commas"])
        for suffix in ("json", "ecsv", "fits", "vot"):
            t.run(
                "deep.fits",
                "-q",
                "-n",
                "100",
                "--measure-in",
                "@list,@rest",
                "-o",
                "c." + suffix,
                cwd=self.directory.name,
                check=True,
            )
            if suffix != "vot":  # which is not merged
                subprocess.run(
                    [t.COMMAND + "-merge", "c." + suffix, "-q", "-o", "m.json"],
                    cwd=self.directory.name,
                    check=True,
                )
        self.assertEqual(
            Table.read(self.path("c.ecsv")).meta["options"]["measure-in"], ",".join(texts)
        )
        with open(self.path("c.json"), encoding="ascii") as stream:
            self.assertEqual(json.load(stream)["options"]["measure-in"], ",".join(texts))
        self.assertIn(",".join(texts), open(self.path("c.vot"), encoding="ascii").read())

    def test_pattern_that_the_shell_expands(self):
        """The option takes the first file, and the others are images: a message says how; a directory for several images is none."""
        paths = [
            self.write("chan%d.fits" % i, self.sky(5, self.peaks, 1), header()) for i in range(3)
        ]
        for output in ([], ["-o", self.path("c.csv")], ["-o", self.path("out/")]):
            self.assert_error(
                2,
                "--measure-in %s,FILE,... or --measure-in @LIST" % paths[0],
                "--measure-in",
                *paths,
                self.deep,
                *output,
            )
            self.assertFalse(os.path.exists(self.path("out")))
        t.run(
            "-q", "--measure-in", self.directory.name, *paths, "-o", self.path("out/"), check=True
        )
        t.run(
            "-q", self.deep, "--measure-in", ",".join(paths), "-o", self.path("c.csv"), check=True
        )

    def test_texts_of_images(self):
        """Columns of texts are as wide as the longest image and date of all files, and have UTF-8
        without control characters."""
        names = [
            "b.fits",
            "a\nb.fits",
            "\udcff.fits",
            "the longest name of all of them, and longer than a date.fits",
        ]
        dates = [None, "2026-01-02", "2026-01-02T03:04:05.678", None]
        for name, date in zip(names, dates):
            self.cube(name, self.sky(5, self.peaks, 1), **{"DATE-OBS": date} if date else {})
        for files in (names, names[:1], names[1:2]):
            arguments = [
                self.deep,
                "--measure-in",
                ",".join(name.replace(",", ",,") for name in files),
                "-q",
                "-o",
            ]
            shown = [name.replace("\n", "?").replace("\udcff", "?") for name in files]
            expected = list(
                zip(shown, [date or "" for name, date in zip(names, dates) if name in files])
            )
            for suffix in ("csv", "json", "vot", "fits", "ecsv"):
                t.run(*arguments, self.path("w." + suffix), cwd=self.directory.name, check=True)
                if suffix == "json":
                    with open(self.path("w.planes.json"), encoding="utf-8") as stream:
                        table = json.load(stream)["planes"]
                elif suffix == "csv":
                    table = t.read_csv(self.path("w.planes.csv"))
                else:
                    table = Table.read(self.path("w.planes." + suffix))
                cells = [
                    (
                        str(row["Image"]),
                        ""
                        if row["Date_obs"] is None or row["Date_obs"] is np.ma.masked
                        else str(row["Date_obs"]),
                    )
                    for row in table
                ]
                n = len(cells) // len(files)
                self.assertEqual(
                    [cells[i * len(files) : (i + 1) * len(files)] for i in range(n)],
                    [expected] * n,
                    suffix,
                )

    def test_facts_of_tables(self):
        """Tables of Gaussians and of planes say of the image, its noise and its sources what the
        catalogue says."""
        t.run(
            self.deep,
            "--measure-in",
            self.deep,
            "--negative",
            "--group",
            "5",
            "--save",
            "gaussians",
            "-q",
            "-o",
            self.path("c.json"),
            check=True,
        )
        facts, numbers = [], []
        for table, rows in (("", "sources"), (".gaussians", "gaussians"), (".planes", "planes")):
            with open(self.path("c%s.json" % table)) as stream:
                document = json.load(stream)
            numbers.append(len(document.pop(rows)))
            del document["columns"]
            facts.append(document)
        self.assertGreater(numbers[1], numbers[0])
        self.assertGreater(facts[0]["quality"]["beam_pixels"], 0)
        self.assertEqual(facts[1:], facts[:1] * 2)

    def test_several_images(self):
        """A directory has the image of each; --skip-existing wants the tables; a merged catalogue
        has spectral indices."""
        for name in ("a", "b"):
            self.write("%s.fits" % name, self.sky(5, self.peaks, 1), header())
        os.mkdir(self.path("cubes"))
        for name in ("a", "b"):
            self.cube(
                "cubes/%s.fits" % name,
                np.array([self.sky(5, self.peaks, 1) for _ in range(2)]),
                CTYPE3="FREQ",
                CRVAL3=1e9,
                CDELT3=1e8,
            )
        run = [
            self.path("a.fits"),
            self.path("b.fits"),
            "--measure-in",
            self.path("cubes"),
            "-o",
            self.path("out"),
            "--skip-existing",
        ]
        t.run(*run, "-q", "--merge", self.path("m.csv"), check=True)
        for name in ("a", "b"):
            rows = t.read_csv(self.path("out/%s.planes.csv" % name))
            self.assertEqual({row["Image"] for row in rows}, {self.path("cubes/%s.fits" % name)})
        self.assertTrue(
            all(isinstance(row["Spec_Indx"], float) for row in t.read_csv(self.path("m.csv")))
        )
        os.remove(self.path("out/b.planes.csv"))
        t.run(*run, "-q", check=True)
        self.assertTrue(os.path.exists(self.path("out/b.planes.csv")))
        os.remove(self.path("cubes/b.fits"))
        result = t.run(*run[:4], "-o", self.path("other"))
        self.assertEqual(result.returncode, 1)
        self.assert_error(
            1,
            "--measure-in: there is no file 'a': a comma stands between paths, and is written twice in a path",
            self.deep,
            "--measure-in",
            "a,b.fits",
        )
        self.assertIn(
            "%s: there is no b.fits in this directory" % self.path("cubes"), result.stderr
        )
        self.assert_error(
            2, "is no directory: several images (", *run[:3], self.path("cubes/a.fits"), *run[4:]
        )

    # --- errors ---

    def test_other_grids(self):
        pixels = self.sky(5, self.peaks, 1)
        other = self.write("other.fits", pixels[:-1], header())
        self.assert_error(
            1, "%s: NAXIS2 is 159, but 160 in the image" % other, self.deep, "--measure-in", other
        )
        moved = self.write("moved.fits", pixels, header(CRVAL1=150.1))
        self.assert_error(
            1,
            "%s: its sky coordinates differ from those of the image" % moved,
            self.deep,
            "--measure-in",
            moved,
        )

    def test_files_are_looked_at_first(self):
        """A wrong file is noticed before the image is searched: here the search would fail, too."""
        blank = self.write("blank.fits", np.full((160, 160), np.nan, np.float32), header())
        other = self.write("other.fits", np.zeros((159, 160), np.float32), header())
        for path, message in (
            (other, "%s: NAXIS2 is 159" % other),
            (self.path("none"), "there is no file '%s'" % self.path("none")),
        ):
            paths = "%s,%s" % (self.deep, path)
            self.assert_error(1, message, blank, "--measure-in", paths, "-o", self.path("c.csv"))

    def test_files_that_cannot_be_used(self):
        """A cube that ends too early is an error, and so are too many planes, a missing file, an
        empty path; nothing is left behind."""
        cube = self.cube("cube.fits", np.array([self.sky(5, self.peaks, 1) for _ in range(3)]))
        with open(cube, "r+b") as stream:
            stream.truncate(os.path.getsize(cube) - 2 * 2880)
        output = ["-o", self.path("c.csv")]
        self.assert_error(1, cube, self.deep, "--measure-in", cube, *output)
        self.assertFalse(
            os.path.exists(self.path("c.csv")) or os.path.exists(self.path("c.planes.csv"))
        )
        many = self.write("many.fits", np.zeros((101, 100, 1, 1), np.int8), header())
        self.assert_error(
            1, "%s: more than 10000 planes" % many, self.deep, "--measure-in", many, *output
        )
        self.assert_error(
            1, self.path("none.fits"), self.deep, "--measure-in", self.path("none.fits"), *output
        )
        for paths in (",a.fits", "a.fits,", ","):
            self.assert_error(
                2,
                "--measure-in: one of the paths is empty: commas stand between paths",
                self.deep,
                "--measure-in",
                paths,
            )
        self.assert_error(
            2,
            "--measure-in: the list none cannot be read: No such file or directory",
            self.deep,
            "--measure-in",
            "@none",
        )
        for content, message in (
            (b"", "is empty"),
            (b"\n\n", "is empty"),
            (b"a\0b\n", "is no list of paths"),
            (b"a" * 5000, "is no list of paths"),
        ):
            with open(self.path("list"), "wb") as stream:
                stream.write(content)
            self.assert_error(
                2, message, self.deep, "--measure-in", self.deep + ",@" + self.path("list")
            )
        with open(self.path("list"), "w") as stream:
            stream.write(self.deep + " \n")
        self.assert_error(
            1,
            "there is no file '%s ': a list has one path on each line, and nothing else"
            % self.deep,
            self.deep,
            "--measure-in",
            "@" + self.path("list"),
            *output,
        )
        self.assert_error(
            2,
            "%s: the catalogue of %s would replace the list of --measure-in"
            % (self.path("list"), self.deep),
            self.deep,
            "-f",
            "csv",
            "--measure-in",
            "@" + self.path("list"),
            "-o",
            self.path("list"),
        )
        self.assert_error(
            2,
            "--measure-in: the name of a list of files must follow @",
            self.deep,
            "--measure-in",
            "@",
        )
        self.assert_error(
            2,
            "--measure-in: %s is given twice" % self.deep,
            self.deep,
            "--measure-in",
            self.deep,
            "--measure-in",
            "%s,%s" % (many, self.deep),
        )
        twice = self.path("c,d.fits")
        self.assert_error(
            1,
            "there is no file '%s': a comma stands between paths, and is written twice" % twice,
            self.deep,
            "--measure-in",
            self.path("c,,d.fits"),
            *output,
        )
        self.assert_error(
            2,
            "would replace an image of --measure-in",
            self.deep,
            "--measure-in",
            self.write("x.planes.fits", self.sky(5, self.peaks, 1), header()),
            "-o",
            self.path("x.fits"),
        )

    def test_no_source(self):
        """An image without a source has a table without rows."""
        empty = self.write("empty.fits", correlated(self.random, 5).astype(np.float32), header())
        found, sources = self.rows(
            empty,
            "-n",
            "8",
            "--measure-in",
            self.write("p.fits", self.sky(5, self.peaks, 1), header()),
        )
        self.assertEqual([found, sources], [[], {}])


if __name__ == "__main__":
    t.main()
