"""--at-fixed: the model of a catalogue, against that of the search that made it, and in NumPy."""
import os
import unittest

import numpy as np
from astropy.io import fits
from astropy.table import Table

import srcfind_test as t
import sky  # which srcfind_test finds

MAPS = os.path.join(t.SOURCE_ROOT, "data", "maps")
EDGE, NOT_FITTED, BEAM_SHAPE, OUTSIDE = 1, 64, 128, 512
WIDTH, HEIGHT, PIXEL = 90, 80, 5e-4  # degrees
BEAM = (5.0, 4.0, 30.0)  # pixels, and degrees
SIDE = (WIDTH, HEIGHT)


def area(beam):
    return 2 * np.pi * beam[0] * beam[1] / sky.FWHM**2


def convolved(*beams):
    """The covariance of Gaussians that are convolved with each other."""
    return np.sum([sky.covariance(beam) for beam in beams], axis=0)


def gaussian(total, x, y, covariance):
    """In Jy per pixel."""
    xx, xy, yy = covariance
    determinant = xx * yy - xy * xy
    at_y, at_x = np.mgrid[:HEIGHT, :WIDTH]
    dx, dy = at_x - x, at_y - y
    square = (yy * dx * dx - 2 * xy * dx * dy + xx * dy * dy) / determinant
    return np.where(
        square < 36, total / (2 * np.pi * np.sqrt(determinant)) * np.exp(-square / 2), 0
    )


class AtFixed(t.Case):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(5)
        self.data = random.normal(0, 1e-3, (HEIGHT, WIDTH)).astype(np.float32)
        self.image = self.image_of("image.fits", self.data)

    def image_of(self, name, data, **cards):
        beam = {"BMAJ": BEAM[0] * PIXEL, "BMIN": BEAM[1] * PIXEL, "BPA": BEAM[2]}
        return self.write(name, data, t.sky_header(**{**beam, **cards}))

    def catalogue(self, name="c.csv", units=None, **columns):
        table = Table(columns)
        for column, unit in (units or {}).items():
            table[column].unit = unit
        table.write(
            self.path(name), overwrite=True, format="votable" if name.endswith(".vot") else None
        )
        return self.path(name)

    def map(self, name):
        return np.squeeze(fits.getdata(self.path(name))).astype(np.float64)

    def save(self, image, at, *options, out="m"):
        """The rows of a model, the model, and the residual."""
        result = t.run(
            *(image, "--at", at, "--at-fixed", "-o", self.path(out + ".csv")),
            *("--save", "model,residual", *options),
            check=True,
        )
        self.notes = result.stderr
        return (
            t.read_csv(self.path(out + ".csv")),
            self.map(out + ".model.fits"),
            self.map(out + ".residual.fits"),
        )

    # --- our own catalogues ---

    def assert_same_residual(self, image, search, noise, suffix=".csv"):
        """The table of Gaussians leaves what the search leaves; both as float32."""
        found = self.path("found" + suffix)
        t.run(image, "-q", "-o", found, "--save", "model,residual,gaussians", *search, check=True)
        _, model, residual = self.save(image, self.path("found.gaussians" + suffix), *noise)
        expected = self.map("found.residual.fits")
        peak = np.nanmax(abs(self.map("found.model.fits")))
        self.assertGreater(peak, 5 * np.nanstd(expected))
        np.testing.assert_allclose(residual, expected, rtol=0, atol=1e-6 * peak)
        np.testing.assert_allclose(model, self.map("found.model.fits"), rtol=0, atol=1e-6 * peak)

    def test_own_catalogues(self):
        """Also of composite sources, of Gaussians narrower than the beam, of negative ones, of wide
        ones above a background of their own, and of a part of the image."""
        local = ("--local", "-i", "3")
        skies = [os.path.join(MAPS, "parkes.fits"), self.path("sky.fits")]
        wide = ["--extended", "0.4", "--wide", "5", "--elongated", "--noise-rise", "2"]
        sky.make(["420", skies[1], "--density", "900", *wide])
        for image in skies:
            for search, noise in (
                ((*local, "--fit"), local),
                ((*local, "--scales"), local),
                (("--shapes", "free", "-i", "3", "--negative"), ()),
                ((*local, "--fit", "--trim", "11,160,21,150"), (*local, "--trim", "11,160,21,150")),
            ):
                with self.subTest(image=image, search=search):
                    self.assert_same_residual(image, search, noise)
        for row in t.read_csv(self.path("found.csv")):
            if row["S_Code"] == "M":
                break
        else:
            self.fail("no composite source")

    def test_formats_of_own_catalogues(self):
        image = os.path.join(MAPS, "parkes.fits")
        for suffix in (".fits", ".vot", ".json", ".ecsv"):
            with self.subTest(suffix=suffix):
                search = ("--local", "-i", "3", "--scales")
                self.assert_same_residual(image, search, search[:3], suffix)

    def test_sums_of_gaussians(self):
        """A table of sources has one Gaussian for a composite one, and a note tells."""
        image = os.path.join(MAPS, "parkes.fits")
        t.run(image, "-q", "--fit", "-i", "3", "-o", self.path("f.csv"), check=True)
        n = sum(row["S_Code"] == "M" for row in t.read_csv(self.path("f.csv")))
        self.save(image, self.path("f.csv"))
        self.assertIn("%d entries of %s have several Gauss" % (n, self.path("f.csv")), self.notes)
        self.assertIn("--save gaussians", self.notes)

    def test_rows_without_a_gaussian(self):
        """Rows of a search that are not fitted have fluxes, and are no part of a model."""
        table = dict(RA=[150.0] * 2, DEC=[2.0, 2.005], Total_flux=[1.0, 2.0], S_Code=["S"] * 2)
        rows, model, _ = self.save(self.image, self.catalogue(**table, Flags=[NOT_FITTED, 0]))
        self.assertEqual([row["Total_flux"] for row in rows], [None, 2.0])
        self.assertAlmostEqual(model.sum() / area(BEAM), 2.0, delta=1e-5)
        # in catalogues of others the bit has another meaning
        rows, _, _ = self.save(self.image, self.catalogue(**table, flags=[NOT_FITTED, 0]))
        self.assertEqual([row["Total_flux"] for row in rows], [1.0, 2.0])

    # --- catalogues of others ---

    def places(self):
        return np.array([20.25, 60.5, 44.0]), np.array([30.75, 52.0, 12.5])

    def on_sky(self, x, y):
        """RA and DEC of pixels, by the linear part of the header: 1e-6 of a pixel here."""
        from astropy.wcs import WCS

        lon, lat = WCS(fits.getheader(self.image)).all_pix2world(x, y, 0)
        return {"RA": lon, "DEC": lat}

    def test_shapes_and_fluxes(self):
        """The intrinsic shape with this image's beam, whatever the catalogue's was; points; units."""
        x, y = self.places()
        fluxes = np.array([0.5, -0.25, 3.0])
        intrinsic = [(6.0, 3.0, 110.0), (0.0, 0.0, 0.0), (8.0, 0.0, 20.0)]
        other = (7.0, 7.0, 0.0)  # the beam of the catalogue
        sizes = [sky.axes(*convolved(shape, other)) for shape in intrinsic]
        arcsec = 3600 * PIXEL
        deconvolved = {
            "DC_Maj": [s[0] * PIXEL for s in intrinsic],
            "DC_Min": [s[1] * PIXEL for s in intrinsic],
            "DC_PA": [s[2] for s in intrinsic],
        }
        aegean = {
            "a": [s[0] * arcsec for s in sizes],
            "b": [s[1] * arcsec for s in sizes],
            "pa": [s[2] for s in sizes],
            "psf_a": [other[0] * arcsec] * 3,
            "psf_b": [other[1] * arcsec] * 3,
            "psf_pa": [0.0] * 3,
        }
        selavy = {
            "maj_axis_deconv": [s[0] * arcsec for s in intrinsic],
            "min_axis_deconv": [s[1] * arcsec for s in intrinsic],
            "pos_ang_deconv": [s[2] for s in intrinsic],
        }
        trecs = {"b_maj": selavy["maj_axis_deconv"], "b_min": selavy["min_axis_deconv"]}
        whole = {
            "Maj": [s[0] * PIXEL for s in sizes],
            "Min": [s[1] * PIXEL for s in sizes],
            "PA": [s[2] for s in sizes],
        }
        expected = sum(
            gaussian(*values, convolved(shape, BEAM)) * area(BEAM)
            for *values, shape in zip(fluxes, x, y, intrinsic)
        )
        for name, units, columns in (
            ("c.csv", None, {**deconvolved, **whole, "Total_flux": fluxes}),
            ("c.csv", None, {**aegean, "int_flux": fluxes, "peak_flux": [9.0] * 3}),
            ("c.csv", None, {**selavy, "flux_int": 1e3 * fluxes}),
            ("c.ecsv", {"Total_flux": "uJy"}, {**deconvolved, "Total_flux": 1e6 * fluxes}),
            ("c.vot", {"Stotal": "mJy"}, {**deconvolved, "Stotal": 1e3 * fluxes}),
            (
                "c.fits",
                None,
                {**trecs, "pa": selavy["pos_ang_deconv"], "I1400": 1e3 * fluxes, "I150": [5.0] * 3},
            ),
        ):
            with self.subTest(columns=list(columns)):
                at = self.catalogue(name, units, **self.on_sky(x, y), **columns)
                rows, model, residual = self.save(self.image, at)
                np.testing.assert_allclose(model, expected, rtol=0, atol=2e-6 * expected.max())
                background = rows[0]["Isl_mean"]
                np.testing.assert_allclose(
                    residual, self.data - background - expected, rtol=0, atol=1e-5
                )
                np.testing.assert_allclose([row["Total_flux"] for row in rows], fluxes, rtol=1e-12)
                self.assertEqual(
                    [int(row["Flags"]) & BEAM_SHAPE for row in rows], [0, BEAM_SHAPE, 0]
                )
                for row, shape in zip(rows, intrinsic):
                    major, minor, _ = sky.axes(*convolved(shape, BEAM))
                    self.assertAlmostEqual(row["Maj"] / PIXEL, major, delta=1e-4)
                    self.assertAlmostEqual(row["Min"] / PIXEL, minor, delta=1e-4)
                    self.assertAlmostEqual(
                        row["Peak_flux"] * major * minor,
                        row["Total_flux"] * BEAM[0] * BEAM[1],
                        delta=1e-4 * abs(row["Total_flux"]) * major * minor,
                    )
                    self.assertAlmostEqual(row["SNR"], row["Peak_flux"] / row["Isl_rms"])
                    for empty in ("E_Peak_flux", "E_Total_flux", "E_RA", "E_Maj", "N_pix", "Chi2"):
                        self.assertIsNone(row[empty])

    def test_frequencies_of_t_recs(self):
        """The flux at the frequency that is nearest to the image's."""
        columns = dict(I150=[7.0], I1400=[2.0], I3000=[1.0], longitude=[150.0], latitude=[2.0])
        for cards, flux in (({}, 2.0), ({"RESTFRQ": 1.6e8}, 7.0), ({"RESTFRQ": 2.9e9}, 1.0)):
            image = self.image_of("f.fits", self.data, **cards)
            at = self.catalogue(**columns, size=[3600 * 5 * PIXEL])
            (row,), _, _ = self.save(image, at)
            self.assertAlmostEqual(row["Total_flux"], 1e-3 * flux)
            self.assertAlmostEqual(row["DC_Maj"] / PIXEL, 5)
            self.assertEqual(row["DC_Maj"], row["DC_Min"])

    def test_peaks(self):
        """Where a catalogue has no total fluxes."""
        place = {"RA": [150.0], "DEC": [2.0]}
        for unit, image_unit, value, peak in (
            (None, "Jy/beam", 0.5, 0.5),
            (None, "mJy/beam", 0.5, 500.0),
            ("mJy/beam", "Jy/beam", 500.0, 0.5),
            ("mJy", "Jy/beam", 500.0, 0.5),
            ("Jy/beam", "Jy/pixel", 0.5, 0.5 / area(BEAM)),
            ("K", "K", 0.5, 0.5),
            (None, "K", 0.5, 0.5),
        ):
            with self.subTest(unit=unit, image_unit=image_unit):
                image = self.image_of("u.fits", self.data, BUNIT=image_unit)
                units = {"Peak_flux": unit} if unit else {}
                at = self.catalogue("p.ecsv", units, **place, Peak_flux=[value])
                (row,), model, _ = self.save(image, at)
                self.assertAlmostEqual(row["Peak_flux"], peak, delta=1e-6 * peak)
                self.assertAlmostEqual(model[59, 49], peak, delta=1e-6 * peak)

    def test_other_units(self):
        """Fluxes in mJy without a unit are told where the image has the sources, and there alone;
        names of columns tell units, too."""
        x, y = self.places()
        flux = np.array([0.5, 0.75, 1.0])
        beam = sky.covariance(BEAM)
        sources = sum(gaussian(*values, beam) for values in zip(flux, x, y)) * area(BEAM)
        image = self.image_of("s.fits", (self.data + sources).astype(np.float32))
        places = self.on_sky(x, y)
        words = "are about 1000 times the fluxes of the image at these positions: are they in Jy?"
        self.save(image, self.catalogue(**places, Total_flux=1e3 * flux))
        self.assertIn(words, self.notes)
        self.save(self.image_of("faint.fits", self.data), self.path("c.csv"))  # has no sources
        self.assertNotIn("are they in", self.notes)
        self.save(image, self.catalogue(**places, Total_flux=0.02 * flux))
        self.assertNotIn("are they in", self.notes)
        bright = self.image_of("b.fits", (self.data + 1e3 * sources).astype(np.float32))
        self.save(bright, self.catalogue(**places, Total_flux=flux))
        self.assertIn("are about 0.001 times the fluxes of the image", self.notes)
        for name, factor in (
            ("Total_flux(mJy)", 1e3),
            ("Total_flux [mJy]", 1e3),
            ("S_int [mJy]", 1e3),
            ("total_flux_mJy", 1e3),
            ("Total_flux_uJy", 1e6),
            ("S_int", 1),
            ("Peak_flux (mJy/beam)", 1e3),
        ):
            with self.subTest(name=name):
                at = self.catalogue(**places, **{name: factor * flux}, Total_flux_err=flux)
                rows, _, residual = self.save(image, at)
                np.testing.assert_allclose([row["Total_flux"] for row in rows], flux, rtol=1e-5)
                self.assertNotIn("are they in", self.notes)
                self.assertLess(abs(residual).max(), 0.01)

    def test_whole_shapes(self):
        """Maj, Min and PA without DC_Maj are taken as they are, also narrower than the beam; and
        Aegean's where its beam is that of the image. Maj alone is not read."""
        x, y = self.places()
        flux = [2.0, 1.0, 0.5]
        sizes = [(9.0, 5.0, 70.0), (4.5, 2.0, 10.0), (3.0, 3.0, 0.0)]
        expected = sum(
            gaussian(*values, sky.covariance(size)) * area(BEAM)
            for *values, size in zip(flux, x, y, sizes)
        )
        major, minor, angle = PIXEL * np.array(sizes).T
        arcsec, angle = 3600, angle / PIXEL
        own = {"Maj": major, "Min": minor, "PA": angle}
        aegean = {
            **{"a": arcsec * major, "b": arcsec * minor, "pa": angle},
            "psf_a": np.full(3, arcsec * BEAM[0] * PIXEL, np.float32),
            "psf_b": np.full(3, arcsec * BEAM[1] * PIXEL, np.float32),
            "psf_pa": [BEAM[2]] * 3,
        }
        words = "has Maj, Min and PA but no DC_Maj: these are used as sizes in this image, beam included"
        for columns in (own, aegean):
            with self.subTest(columns=list(columns)):
                at = self.catalogue(**self.on_sky(x, y), **columns, Total_flux=flux)
                rows, model, _ = self.save(self.image, at)
                np.testing.assert_allclose(model, expected, rtol=0, atol=1e-5)
                self.assertEqual(words in self.notes, columns is own)
                np.testing.assert_allclose([row["Maj"] for row in rows], major, rtol=1e-4)
                left = sky.axes(*np.subtract(sky.covariance(sizes[0]), sky.covariance(BEAM)))
                self.assertAlmostEqual(rows[0]["DC_Maj"] / PIXEL, left[0], delta=1e-3)
        # also where pixels are not everywhere of one size on the sky
        cards = {"CDELT1": -0.5, "CDELT2": 0.5, "BMAJ": 2.5, "BMIN": 2.0}
        wide = self.image_of("wide.fits", self.data, **cards)
        to_wide = 0.5 / PIXEL
        for name in ("a", "b", "psf_a", "psf_b"):
            aegean[name] = aegean[name] * to_wide
        places = {"RA": [135.0, 150.0, 160.0], "DEC": [-5.0, 2.0, 8.0]}
        rows, _, _ = self.save(wide, self.catalogue(**places, **aegean, int_flux=flux))
        np.testing.assert_allclose([row["Maj"] for row in rows], to_wide * major, rtol=1e-4)
        np.testing.assert_allclose([row["Min"] for row in rows], to_wide * minor, rtol=1e-4)
        beams = to_wide**2 * major * minor / (2.5 * 2.0)  # on the sky, as Aegean counts them
        np.testing.assert_allclose([row["Peak_flux"] for row in rows] * beams, flux, rtol=1e-4)
        at = self.catalogue("u.ecsv", {"Maj": "Jy"}, **places, **own, Total_flux=flux)
        self.assert_error(1, "the unit of Maj is Jy", self.image, "--at", at, "--at-fixed")
        # FIRST's are without the beam, in arcsec
        whole = {"fMaj": 3600 * major, "fMin": 3600 * minor, "fPA": angle}
        of_first = {"Maj": 3600 * major, "Min": 3600 * minor, "PA": angle}
        at = self.catalogue(**self.on_sky(x, y), **whole, **of_first, Fint=1e3 * np.array(flux))
        rows, _, _ = self.save(self.image, at)
        np.testing.assert_allclose([row["DC_Maj"] for row in rows], major, rtol=1e-6)
        at = self.catalogue(**self.on_sky(x, y), Maj=major, Total_flux=flux)
        rows, _, _ = self.save(self.image, at)
        self.assertIn("its sources are treated as points", self.notes)
        self.assertEqual([int(row["Flags"]) & BEAM_SHAPE for row in rows], [BEAM_SHAPE] * 3)

    def test_shapes_in_arcsec(self):
        x, y = self.places()
        sizes = np.array([20.0, 10.0, 0.0])  # taken for degrees
        columns = {"DC_Maj": sizes, "DC_Min": sizes, "DC_PA": [0.0] * 3, "Total_flux": [1.0] * 3}
        at = self.catalogue(**self.on_sky(x, y), **columns)
        self.save(self.image, at)
        words = "2 entries of %s have shapes wider than the image: is DC_Maj in degrees?"
        self.assertIn(words % at, self.notes)

    def test_entries_without_a_flux(self):
        x, y = self.places()
        at = self.catalogue(**self.on_sky(x, y), Total_flux=["", "0.5", "< 3"])
        rows, model, _ = self.save(self.image, at)
        self.assertEqual([row["Total_flux"] for row in rows], [None, 0.5, None])
        self.assertEqual(
            [int(row["Flags"]) & NOT_FITTED for row in rows], [NOT_FITTED, 0, NOT_FITTED]
        )
        self.assertAlmostEqual(model.sum() / area(BEAM), 0.5, delta=1e-5)
        self.assertIn("2 of 3 entries of %s have no flux or no Gaussian" % at, self.notes)
        self.assertTrue(all(row["Isl_rms"] > 0 for row in rows))

    def test_edges_and_blanks(self):
        """Sources beside the image, and on blank pixels, are in the model where they reach."""
        self.data[20:24, 30:34] = np.nan
        image = self.image_of("blank.fits", self.data)
        x, y = np.array([-4.0, 32.0, 60.0]), np.array([40.0, 22.0, 200.0])
        at = self.catalogue(**self.on_sky(x, y), Total_flux=[1.0, 2.0, 4.0])
        rows, model, _ = self.save(image, at, "--at-all")
        self.assertEqual([int(row["Flags"]) & OUTSIDE for row in rows], [OUTSIDE] * 3)
        self.assertEqual([row["Total_flux"] for row in rows], [None] * 3)
        beam = sky.covariance(BEAM)
        expected = area(BEAM) * (gaussian(1, x[0], y[0], beam) + gaussian(2, x[1], y[1], beam))
        expected[20:24, 30:34] = np.nan
        np.testing.assert_allclose(model, expected, rtol=0, atol=1e-5)

    # --- fits ---

    def test_model_of_forced_fits(self):
        """--at --fit has a model and a residual, too: the amplitudes; an entry at the place
        of another one, or beside it, has its flux, which counts once."""
        x, y = self.places()
        truth = [2.0, 1.0, 0.5]
        beam = sky.covariance(BEAM)
        sources = sum(gaussian(*values, beam) for values in zip(truth, x, y)) * area(BEAM)
        image = self.image_of("s.fits", (self.data + sources).astype(np.float32))
        x, y = np.append(x, [x[0], x[1] + 1e-6]), np.append(y, [y[0], y[1]])
        at = self.catalogue(**self.on_sky(x, y))
        t.run(
            *(image, "-q", "--at", at, "--fit", "-o", self.path("f.csv")),
            *("--save", "model,residual"),
            check=True,
        )
        rows = t.read_csv(self.path("f.csv"))
        expected = sum(
            gaussian(row["Total_flux"], *place, beam) for row, *place in zip(rows[:3], x, y)
        ) * area(BEAM)
        model, residual = self.map("f.model.fits"), self.map("f.residual.fits")
        np.testing.assert_allclose(model, expected, rtol=0, atol=1e-5)
        self.assertLess(np.std(residual), 1.2e-3)
        np.testing.assert_allclose(
            residual,
            (self.data + sources).astype(np.float32) - rows[0]["Isl_mean"] - expected,
            rtol=0,
            atol=1e-5,
        )
        # and these rows are a model again
        _, again, _ = self.save(image, self.path("f.csv"), "--fit")
        more = sum(gaussian(rows[i]["Total_flux"], x[i], y[i], beam) for i in (3, 4))
        np.testing.assert_allclose(again - model, more * area(BEAM), rtol=0, atol=1e-5)

    # --- wrong usage and hostile files ---

    def test_wrong_usage(self):
        at = self.catalogue(RA=[150.0], DEC=[2.0], Total_flux=[1.0])
        self.assert_error(2, "at-fixed: it goes with --at", self.image, "--at-fixed")
        without = self.image_of("b.fits", self.data, BMAJ=None, BMIN=None, BPA=None)
        message = "--at-fixed needs the beam, and no beam is known: give --beam"
        self.assert_error(2, message, without, "--at", at, "--at-fixed")
        bare = self.catalogue("bare.csv", RA=[150.0], DEC=[2.0], magnitude=[1.0])
        message = self.assert_error(
            1, "there is no column of fluxes", self.image, "--at", bare, "--at-fixed"
        )
        for name in ("Total_flux", "int_flux", "Peak_flux", "I1400", "in Jy, or with a unit"):
            self.assertIn(name, message)
        self.assert_error(
            1, "150,2: there is no column of fluxes", self.image, "--at", "150,2", "--at-fixed"
        )
        strange = self.catalogue(
            "s.ecsv", {"Total_flux": "K"}, RA=[150.0], DEC=[2.0], Total_flux=[1.0]
        )
        message = "the unit of Total_flux is K, but the fluxes of this image are in Jy"
        self.assert_error(1, message, self.image, "--at", strange, "--at-fixed")
        message = "model needs --fit or --at-fixed"
        self.assert_error(2, message, self.image, "--at", at, "--save", "model")
        message = "at-positive: nothing is fitted with --at-fixed"
        self.assert_error(2, message, self.image, "--at", at, "--at-fixed", "--at-positive")
        message = "covariance: nothing is fitted with --at-fixed"
        self.assert_error(2, message, self.image, "--at", at, "--at-fixed", "--save", "covariance")
        message = "no islands are found with --at: leave mask out"
        self.assert_error(2, message, self.image, "--at", at, "--at-fixed", "--save", "mask")

    def test_hostile_cells(self):
        """Numbers that no source has are no part of the model, which stays finite."""
        fluxes = ["1e308", "-1e308", "inf", "nan", "1e-320", "0x10", "9" * 400, "1"]
        sizes = ["1e300", "-1", "nan", "1e-300", "inf", "0", "3", "0"]
        n = len(fluxes)
        at = self.catalogue(
            RA=[150.0] * n,
            DEC=[2.0] * n,
            Total_flux=fluxes,
            DC_Maj=sizes,
            DC_Min=sizes,
            DC_PA=["1e308"] * n,
            Maj=sizes,
            Min=sizes[::-1],
            PA=["nan"] * n,
            Xposn=["1e300"] * n,
            Yposn=["-inf"] * n,
            Scale=["1e308"] * n,
            Isl_mean=["1e308"] * n,
            Flags=["-9223372036854775808"] * n,
            S_Code=["M" * 300] * n,
        )
        _, model, residual = self.save(self.image, at)
        self.assertTrue(np.isfinite(model).all() and not np.isnan(residual).any())
        for text in (
            "RA,DEC,Total_flux\n",
            "RA,DEC,Total_flux\n150,2\n",
            "RA,DEC,I99999999\n1,2,3\n",
        ):
            with open(self.path("t.csv"), "w") as stream:
                stream.write(text)
            result = t.run(self.image, "--at", self.path("t.csv"), "--at-fixed")
            self.assertIn(result.returncode, (0, 1, 2))

    def test_same_bytes(self):
        x, y = self.places()
        at = self.catalogue(**self.on_sky(x, y), Total_flux=[1.0, 2.0, 3.0])
        outputs = []
        for threads in ("1", "3"):
            self.save(self.image, at, "-j", threads)
            outputs.append(
                [open(self.path("m" + end), "rb").read() for end in (".csv", ".model.fits")]
            )
        self.assertEqual(*outputs)


if __name__ == "__main__":
    t.main()
