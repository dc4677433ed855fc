"""--inject: the sources of a file are added to an image, against a program of its own that adds them
with NumPy, trial by trial, searches files, and looks for them."""
import json
import math
import os

import numpy as np
from astropy.io import fits
from astropy.table import Table
from scipy import ndimage

import srcfind_test as t
import sky  # which srcfind_test finds

MERGE = os.path.join(os.path.dirname(t.COMMAND), "srcfind-merge")
BEAM, PIXEL = (5.0, 4.0, 30.0), 5e-4  # pixels, degrees
AREA = math.pi * BEAM[0] * BEAM[1] / (4 * math.log(2))
SHAPE = (260, 280)
NOISE = 1e-3


def convolved(*beams):
    return np.sum([sky.covariance(beam) for beam in beams], axis=0)


class Source:
    """A Gaussian in the image: its total flux, its place, and its covariance."""

    def __init__(self, flux, x, y, covariance):
        self.flux, self.x, self.y = flux, x, y
        xx, xy, yy = covariance
        self.form = np.linalg.inv(np.array([[xx, xy], [xy, yy]]))
        self.pixels = 2 * math.pi * math.sqrt(xx * yy - xy * xy)
        self.peak = flux * AREA / self.pixels
        self.width = math.sqrt(self.pixels / AREA)
        self.major = sky.axes(xx, xy, yy)[0]

    def square(self, x, y):
        dx, dy, f = x - self.x, y - self.y, self.form
        return f[0][0] * dx**2 + 2 * f[0][1] * dx * dy + f[1][1] * dy**2


def with_sources(pixels, sources):
    y, x = np.indices(pixels.shape)
    added = np.zeros(pixels.shape)
    for source in sources:
        square = source.square(x, y)
        added += source.peak * np.where(square < 36, np.exp(-square / 2), 0)
    return (pixels.astype(np.float64) + added).astype(np.float32)


def nearest(source, rows, x, y, accepts):
    """The nearest row within half of the FWHM of (x, y)."""

    def distance(row):
        return source.square(source.x + row["Xposn"] - x, source.y + row["Yposn"] - y)

    near = [row for row in rows if distance(row) <= 2 * math.log(2) and accepts(row)]
    return min(near, key=distance, default=None)


def look_for(source, rows, before):
    """The row of a source, and its flux above that of the row that was there before."""

    def rise(row, name):
        old = nearest(source, before, row["Xposn"], row["Yposn"], lambda _: True)
        return row[name] - (old[name] if old else 0)

    def is_new(row):
        if source.width > 1 + 1e-6:
            return rise(row, "Total_flux") >= source.flux / 2
        return rise(row, "Peak_flux") >= source.peak / 2

    row = nearest(source, rows, source.x, source.y, is_new)
    return row, rise(row, "Total_flux") / source.flux if row else None


class Inject(t.Case):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(11)

    def image_of(self, name="sky.fits", blank=True, rise=0.5, shape=SHAPE, **cards):
        """Noise as wide as the beam, that rises to the right, sources, and a blank corner."""
        noise = ndimage.gaussian_filter(
            self.random.normal(0, 1, shape), math.sqrt(BEAM[0] * BEAM[1]) / sky.FWHM / math.sqrt(2)
        )
        noise *= NOISE / noise.std() * np.linspace(1, 1 + rise, shape[1])
        sources = [
            Source(
                self.random.uniform(5, 40) * NOISE,
                *self.random.uniform(0, shape[::-1]),
                sky.covariance(BEAM),
            )
            for _ in range(20)
        ]
        image = with_sources(noise, sources)
        if blank:
            image[:25, :40] = np.nan
        beam = {"BMAJ": BEAM[0] * PIXEL, "BMIN": BEAM[1] * PIXEL, "BPA": BEAM[2]}
        return self.write(name, image, t.sky_header(**{**beam, **cards}))

    def sources_of(self, n, least=3, most=60):
        """Places, fluxes and shapes, of which half are points; some lie outside."""
        fluxes = NOISE * np.exp(self.random.uniform(math.log(least), math.log(most), n))
        shapes = np.where(
            (np.arange(n) % 2 == 0)[:, None],
            0,
            np.column_stack(
                [
                    self.random.uniform(3, 9, n),
                    self.random.uniform(0, 3, n),
                    self.random.uniform(0, 180, n),
                ]
            ),
        )
        x, y = (self.random.uniform(-10, size + 10, n) for size in SHAPE[::-1])
        return x, y, fluxes, shapes

    def table(self, x, y, fluxes, shapes, name="inject.csv", **columns):
        """A catalogue of these sources, in pixels."""
        Table(
            {
                "id": ["s%d" % i for i in range(len(x))],
                "Xposn": x,
                "Yposn": y,
                "Total_flux": fluxes,
                "DC_Maj": shapes[:, 0] * PIXEL,
                "DC_Min": shapes[:, 1] * PIXEL,
                "DC_PA": shapes[:, 2],
                **columns,
            }
        ).write(self.path(name), overwrite=True)
        return self.path(name)

    def inject(self, image, path, *options, out="c"):
        """The list of injected sources; and what was said."""
        result = t.run(
            *(image, "--inject", path, "-o", self.path(out + ".csv"), *options), check=True
        )
        self.notes = result.stderr
        return t.read_csv(self.path(out + ".injections.csv"))

    def rows(self, image, *options):
        return t.find(image, *options)["sources"]

    # --- against a program ---

    def check(self, image, *options, n=90):
        """Each trial is repeated. Returns the list, and the sources of the file."""
        x, y, fluxes, shapes = self.sources_of(n)
        path = self.table(x, y, fluxes, shapes)
        sources = [
            Source(flux, *place, convolved(BEAM, shape))
            for flux, *place, shape in zip(fluxes, x, y, shapes)
        ]
        rows = self.inject(image, path, "--save", "injected,rms", *options)
        self.assertEqual([row["Entry_id"] for row in rows], ["s%d" % i for i in range(n)])
        pixels, header = fits.getdata(image), fits.getheader(image)
        rms = fits.getdata(self.path("c.rms.fits"))
        before = self.rows(image, "-q", *options)
        for i, (row, source) in enumerate(zip(rows, sources)):
            column, line = math.floor(source.x + 0.5), math.floor(source.y + 0.5)
            inside = 0 <= column < SHAPE[1] and 0 <= line < SHAPE[0]
            inside = inside and np.isfinite(pixels[line, column])
            self.assertEqual(row["Trial"] > 0, inside)
            if inside:
                self.assertAlmostEqual(row["True_flux"], source.flux)
                self.assertEqual([row["Xposn"], row["Yposn"]], [source.x, source.y])
                self.assertAlmostEqual(row["Width"], source.width, delta=1e-4 * source.width)
                snr = source.peak * source.width / rms[line, column]
                self.assertAlmostEqual(row["SNR"], snr, delta=1e-3 * snr)
            else:
                self.assertEqual([row["True_flux"], row["SNR"], row["Found"]], [None, None, 0])
        n_trials = int(max(row["Trial"] for row in rows))
        for trial in range(1, n_trials + 1):
            its = [i for i in range(n) if rows[i]["Trial"] == trial]
            image_with = with_sources(pixels, [sources[i] for i in its])
            if trial == 1:
                self.check_map(self.path("c.injected.fits"), image_with, header)
            changed = self.write("changed.fits", image_with, header)
            found = self.rows(changed, *options)
            for i in its:
                row, ratio = look_for(sources[i], found, before)
                with self.subTest(trial=trial, source=i):
                    self.assertEqual(rows[i]["Found"], int(row is not None))
                    if row:
                        self.assertAlmostEqual(rows[i]["Flux_ratio"], ratio, delta=2e-3 * ratio)
                        self.assertAlmostEqual(
                            rows[i]["X_offset"], row["Xposn"] - sources[i].x, delta=2e-2
                        )
            self.assert_apart([sources[i] for i in its], np.isfinite(pixels).sum())
        return rows, sources

    def check_map(self, path, expected, header):
        """The map of the first trial; its header is that of the image."""
        found = fits.getdata(path)
        self.assertEqual(found.dtype, np.dtype(">f4"))
        atol = 3e-5 * np.nanmax(abs(expected))  # shapes are turned to the sky and back
        np.testing.assert_allclose(found, expected, rtol=0, atol=atol)
        self.assertEqual(fits.getheader(path)["BUNIT"], header["BUNIT"])

    def assert_apart(self, sources, n_pixels):
        for i, a in enumerate(sources):
            for b in sources[:i]:
                distance = math.hypot(a.x - b.x, a.y - b.y)
                self.assertGreaterEqual(distance, 5 * (a.major + b.major) * (1 - 1e-3))
        wanted = sum(400 * source.pixels for source in sources)
        self.assertTrue(len(sources) == 1 or wanted <= n_pixels)

    def test_against_a_program(self):
        rows, _ = self.check(self.image_of(), "--fit", "-i", "3", n=60)
        n_found = sum(row["Found"] for row in rows)
        self.assertTrue(15 < n_found < 55, n_found)

    def test_local_noise(self):
        self.check(self.image_of(), "--local", "-i", "3", "--fit", n=30)

    def test_large_image(self):
        """Several sources in a trial."""
        global SHAPE
        before = SHAPE
        SHAPE = (620, 700)
        try:
            rows, _ = self.check(self.image_of(shape=SHAPE), "-i", "3", "--fit", n=70)
        finally:
            SHAPE = before
        self.assertLess(max(row["Trial"] for row in rows), 35)

    def test_regions(self):
        """A trial has no more sources than what is searched has room for."""
        image, n = self.image_of(), 40
        x, y, fluxes, shapes = self.sources_of(n)
        with open(self.path("a.reg"), "w") as stream:
            stream.write(f"image;box({SHAPE[1] / 2},60,{SHAPE[1]},120)")
        mask = "--mask", self.path("a.reg")
        rows = self.inject(image, self.table(x, y, fluxes, shapes), *mask)
        sources = [
            Source(flux, *place, convolved(BEAM, shape))
            for flux, *place, shape in zip(fluxes, x, y, shapes)
        ]
        n_trials = int(max(row["Trial"] for row in rows))
        self.assertGreater(n_trials, 1)
        for trial in range(1, n_trials + 1):
            its = [sources[i] for i in range(n) if rows[i]["Trial"] == trial]
            self.assertTrue(all(source.y < 119.5 for source in its))
            self.assert_apart(its, 120 * SHAPE[1])

    # --- tables ---

    def test_bins(self):
        """Those of S/N as for random sources, those of flux from the lowest to the highest; each
        counts its sources."""
        image, path = self.image_of(), self.table(*self.sources_of(50))
        rows = [row for row in self.inject(image, path, "--fit", "-i", "3") if row["Trial"] > 0]
        bins = t.read_csv(self.path("c.completeness.csv"))
        self.assertEqual([row["Kind"] for row in bins], ["snr"] * 7 + ["flux"] * 10)
        self.assertEqual({row["Width"] for row in bins}, {0})
        flux = [row["True_flux"] for row in rows]
        edges = [row["Low"] for row in bins[7:]] + [bins[-1]["High"]]
        np.testing.assert_allclose(edges, np.geomspace(min(flux), max(flux), 11), rtol=1e-9)
        self.assertEqual(sum(row["Injected"] for row in bins[7:]), len(rows))
        for row in bins:
            name = "SNR" if row["Kind"] == "snr" else "True_flux"
            its = [one for one in rows if row["Low"] <= one[name] < row["High"]]
            found = sum(one["Found"] for one in its)
            self.assertEqual([row["Injected"], row["Found"]], [len(its), found])
            if its:
                self.assertAlmostEqual(row["Completeness"], found / len(its))
        found = t.find(image, "--fit", "-i", "3", "--inject", path, cwd=self.directory.name)
        for kind in ("snr", "flux"):
            of_kind = [row for row in bins if row["Kind"] == kind]
            for row, member in zip(of_kind, found["completeness"][kind]):
                self.assertEqual(
                    [row[name] for name in ("Low", "High", "Injected", "Found", "Completeness")],
                    [member[name] for name in ("low", "high", "injected", "found", "completeness")],
                )

    def test_one_source(self):
        """And equal fluxes: bins have a width."""
        x, y, _, shapes = self.sources_of(4)
        x[:], y[:] = 100.5, 120.25
        self.inject(self.image_of(), self.table(x, y, np.full(4, 0.03), shapes))
        bins = t.read_csv(self.path("c.completeness.csv"))[7:]
        self.assertEqual(sum(row["Injected"] for row in bins), 4)
        self.assertTrue(all(row["Low"] < row["High"] for row in bins))
        trials = [row["Trial"] for row in t.read_csv(self.path("c.injections.csv"))]
        self.assertEqual(trials, [1, 2, 3, 4])  # all at one place

    def test_sources_that_are_left_out(self):
        x, y, fluxes, shapes = self.sources_of(6)
        x[:], y[:] = np.linspace(60, 250, 6), np.linspace(40, 230, 6)
        x[0], y[0] = 10, 10  # blank
        x[1] = -0.6
        x[2] = np.nan
        fluxes[3], fluxes[4] = -fluxes[3], np.nan
        image, path = self.image_of(), self.table(x, y, fluxes, shapes)
        rows = self.inject(image, path, "--fit")
        self.assertEqual([row["Trial"] > 0 for row in rows], [False] * 5 + [True])
        words = "1 of 6 sources of %s were added, in 1 searches: 3 are outside of the image or on "
        self.assertIn(words % path, self.notes)
        self.assertIn("blank pixels, and 2 have no flux above 0 or no shape\n", self.notes)
        empty = self.table(x[:5], y[:5], fluxes[:5], shapes[:5])
        rows = self.inject(image, empty, "--save", "injected", "-f", "csv")
        self.assertEqual(sum(row["Trial"] for row in rows), 0)
        np.testing.assert_array_equal(
            fits.getdata(self.path("c.injected.fits")), fits.getdata(image)
        )
        bins = t.read_csv(self.path("c.completeness.csv"))
        self.assertEqual({row["Injected"] for row in bins}, {0})

    def test_sources_on_their_twins(self):
        """A note tells that sources of the image's own catalogue are found anyway."""
        image = self.image_of()
        t.run(image, "-q", "--fit", "-o", self.path("own.csv"), check=True)
        own = Table.read(self.path("own.csv"))
        rows = self.inject(image, self.path("own.csv"), "--fit")
        n = sum(row["Trial"] > 0 for row in rows)
        words = "%d of %d injected sources lie on sources of the image and are found anyway, "
        self.assertIn(words % (n, n), self.notes)
        own.remove_columns(["RA", "DEC"])
        own["Xposn"] += 40.0
        own.write(self.path("own.csv"), overwrite=True)
        self.inject(image, self.path("own.csv"), "--fit")
        self.assertNotIn("found anyway", self.notes)

    def test_shapes_with_the_beam(self):
        """Maj, Min and PA alone are taken as they are; shapes in arcsec are told."""
        image = self.image_of()
        x, y = np.linspace(60, 220, 3), np.full(3, 130.0)
        table = {"Xposn": x, "Yposn": y, "Total_flux": [0.1] * 3}
        sizes = {"Maj": [9 * PIXEL] * 3, "Min": [6 * PIXEL] * 3, "PA": [20.0] * 3}
        Table({**table, **sizes}).write(self.path("w.csv"))
        rows = self.inject(image, self.path("w.csv"))
        self.assertIn("w.csv has Maj, Min and PA but no DC_Maj", self.notes)
        for row in rows:
            self.assertAlmostEqual(row["Width"], math.sqrt(54 / 20), delta=1e-4)
        wide = {"DC_Maj": [30.0] * 3, "DC_Min": [20.0] * 3, "DC_PA": [0.0] * 3}
        Table({**table, **wide}).write(self.path("d.csv"))
        self.inject(image, self.path("d.csv"))
        words = "3 entries of %s have shapes wider than the image: is DC_Maj in degrees?"
        self.assertIn(words % self.path("d.csv"), self.notes)

    def test_limit(self):
        """The seed chooses; more sources contain fewer."""
        image, path = self.image_of(), self.table(*self.sources_of(40))

        def chosen(*options):
            rows = self.inject(image, path, *options)
            return {row["Entry_id"] for row in rows if row["Trial"] > 0}

        every = chosen()
        few, more = chosen("--completeness=5"), chosen("--completeness=12")
        self.assertIn("--completeness wants no more", self.notes)
        self.assertEqual([len(few), len(more)], [5, 12])
        self.assertTrue(few < more < every)
        self.assertNotEqual(few, chosen("--completeness=5", "--seed", "2"))
        self.assertEqual(every, chosen("--completeness=1000"))

    # --- other columns, images and runs ---

    def test_columns_of_t_recs(self):
        """mJy at MHz, a size in arcsec, longitude and latitude."""
        x, y, fluxes, shapes = self.sources_of(30)
        shapes[:, 1] = shapes[:, 0]
        shapes[:, 2] = 0
        image = self.image_of(RESTFRQ=1.4e9)
        from astropy.wcs import WCS

        lon, lat = WCS(fits.getheader(image)).all_pix2world(x, y, 0)
        Table(
            {
                "longitude": lon,
                "latitude": lat,
                "I150": fluxes,
                "I1400": 1e3 * fluxes,
                "size": 3600 * PIXEL * shapes[:, 0],
            }
        ).write(self.path("trecs.fits"))
        found = self.inject(image, self.path("trecs.fits"), "--fit", "-i", "3", out="a")
        same = self.inject(image, self.table(x, y, fluxes, shapes), "--fit", "-i", "3", out="b")
        for a, b in zip(found, same):
            self.assertEqual([a["Found"], a["Trial"]], [b["Found"], b["Trial"]])
            for name in ("True_flux", "Xposn", "Yposn", "Width"):
                if b[name] is not None:
                    self.assertAlmostEqual(a[name], b[name], delta=1e-5 * abs(b[name]) + 1e-9)

    def test_detect_on(self):
        """Both images get the sources: of the same flux, whose peak has that of the other beam."""
        flat = self.image_of("flat.fits", rise=0)
        other = {"BMAJ": 8 * PIXEL, "BMIN": 8 * PIXEL, "BPA": 0, "BUNIT": "mJy/beam"}
        random = np.random.default_rng(8)
        true = self.write(
            "true.fits", random.normal(0, 1, SHAPE).astype(np.float32), t.sky_header(**other)
        )
        x, y, fluxes, shapes = self.sources_of(8, least=30)
        path = self.table(x, y, fluxes, shapes)
        rows = self.inject(true, path, "--fit", "--detect-on", flat, "--save", "injected")
        rms = t.find(flat, "--fit")["background"]["rms"]
        first = []
        for i, row in enumerate(rows):
            if row["Trial"] == 0:
                continue
            source = Source(fluxes[i], x[i], y[i], convolved(BEAM, shapes[i]))
            wide = Source(fluxes[i], x[i], y[i], convolved((8, 8, 0), shapes[i]))
            self.assertAlmostEqual(row["True_flux"], fluxes[i])
            width = wide.pixels / (math.pi * 64 / (4 * math.log(2)))
            snr = source.peak * math.sqrt(width) / rms
            self.assertAlmostEqual(row["SNR"], snr, delta=0.02 * snr)
            wide.peak = 1e3 * fluxes[i] / width
            first += [wide] if row["Trial"] == 1 else []
        expected = with_sources(fits.getdata(true), first)
        expected[np.isnan(fits.getdata(flat))] = np.nan  # as in all maps
        self.check_map(self.path("c.injected.fits"), expected, fits.getheader(true))

    def test_random_sources(self):
        """--save injected has those of the first search."""
        image = self.image_of()
        t.run(
            *(image, "-q", "--completeness=40", "--save", "injected"),
            *("-o", self.path("c.csv")),
            check=True,
        )
        rows = t.read_csv(self.path("c.injections.csv"))
        self.assertNotIn("Entry_id", rows[0])
        first = [
            Source(row["True_flux"], row["Xposn"], row["Yposn"], sky.covariance(BEAM))
            for row in rows
            if row["Trial"] == 1
        ]
        self.assertGreater(len(first), 1)
        expected = with_sources(fits.getdata(image), first)
        self.check_map(self.path("c.injected.fits"), expected, fits.getheader(image))

    def test_part_of_an_image(self):
        """Places are those of the whole image."""
        image = self.image_of()
        x, y, fluxes, shapes = self.sources_of(10, least=40)
        x, y = self.random.uniform(110, 220, 10), self.random.uniform(60, 170, 10)
        path = self.table(x, y, fluxes, shapes)
        rows = self.inject(image, path, "--trim", "101,240,51,200", "--save", "injected")
        self.assertEqual([row["Xposn"] for row in rows], list(x))
        self.assertGreater(sum(row["Found"] for row in rows), 5)
        first = [
            Source(fluxes[i], x[i], y[i], convolved(BEAM, shapes[i]))
            for i in range(10)
            if rows[i]["Trial"] == 1
        ]
        expected = with_sources(fits.getdata(image), first)[50:200, 100:240]
        self.check_map(self.path("c.injected.fits"), expected, fits.getheader(image))

    def test_same_bytes(self):
        image, path = self.image_of(), self.table(*self.sources_of(20))
        outputs = []
        for threads in ("1", "3"):
            self.inject(image, path, "--fit", "-j", threads)
            outputs.append(
                [
                    open(self.path("c." + name), "rb").read()
                    for name in ("csv", "injections.csv", "completeness.csv")
                ]
            )
        self.assertEqual(*outputs)
        # the catalogue is that of the image alone
        t.run(image, "-q", "--fit", "-o", self.path("d.csv"), check=True)
        self.assertEqual(outputs[0][0], open(self.path("d.csv"), "rb").read())

    def test_merged(self):
        """Tiles count the sources that are in them; srcfind-merge has the same table."""
        images = [self.image_of("a.fits"), self.image_of("b.fits", CRPIX1=-150.0)]
        x, y, fluxes, shapes = self.sources_of(40)
        from astropy.wcs import WCS

        lon, lat = WCS(fits.getheader(images[0])).all_pix2world(2 * x, y, 0)
        path = self.table(lon, lat, fluxes, shapes)
        table = Table.read(path)
        table.rename_columns(["Xposn", "Yposn"], ["RA", "DEC"])
        table.write(path, overwrite=True)
        out = self.path("out") + "/"
        t.run(
            *(*images, "-q", "--fit", "--inject", path, "-o", out, "-f", "fits"),
            *("--merge", self.path("m.fits")),
            check=True,
        )
        lists = [Table.read(out + name + ".injections.fits") for name in "ab"]
        n = [np.sum(one["Trial"] > 0) for one in lists]
        bins = Table.read(self.path("m.completeness.fits"))
        self.assertEqual([sum(bins["Injected"]), set(bins["Width"])], [sum(n), {0}])
        self.assertTrue(min(n) > 5 and len(bins) == 10)
        for row in bins:
            all_, found = 0.0, 0.0
            for one, number in zip(lists, n):
                inside = (one["True_flux"] >= row["Low"]) & (one["True_flux"] < row["High"])
                all_ += one["Area"][0] * np.sum(inside) / number
                found += one["Area"][0] * np.sum(inside & (one["Found"] == 1)) / number
            if all_ > 0:
                self.assertAlmostEqual(row["Completeness"], found / all_)
        again = [MERGE, out + "a.fits", out + "b.fits", "-q", "-o", self.path("n.fits")]
        t.subprocess.run(again, check=True)
        same = Table.read(self.path("n.completeness.fits"))
        for name in bins.colnames:
            np.testing.assert_array_equal(same[name].tolist(), bins[name].tolist())

    # --- wrong usage and hostile files ---

    def test_wrong_usage(self):
        image, path = self.image_of(), self.table(*self.sources_of(3))
        self.assert_error(
            2,
            "at: nothing is detected, and so nothing is missed: leave --inject out",
            image,
            *("--inject", path, "--at", path),
        )
        self.assert_error(
            2,
            "--bench measures a plain search: leave --inject out",
            image,
            "--inject",
            path,
            "--bench",
        )
        self.assert_error(
            2, "injected needs --completeness or --inject", image, "--save", "injected"
        )
        self.assert_error(2, "No such file", image, "--inject", self.path("none.csv"))
        without = self.image_of("bare.fits", BMAJ=None, BMIN=None, BPA=None)
        self.assert_error(1, "--inject needs the beam", without, "--inject", path)
        bare = self.path("bare.csv")
        Table({"Xposn": [5.0], "Yposn": [6.0]}).write(bare)
        self.assert_error(1, "there is no column of fluxes", image, "--inject", bare)
        self.assert_error(1, "there is no column of fluxes", image, "--inject", "150,2")
        self.assert_error(2, "", image, "--inject", path, "-o", path)  # the file would be replaced

    def test_hostile_files(self):
        image = self.image_of()
        numbers = ["1e308", "-1e308", "inf", "nan", "1e-320", "5e-324", "x", "0.02"]
        n = len(numbers)
        Table(
            {
                "id": ["a" * 500, "\u00e9", "", "1", "1", "1", "1", "1"],
                "Xposn": ["100"] * 6 + ["1e300", "120"],
                "Yposn": ["100"] * n,
                "Total_flux": numbers,
                "DC_Maj": numbers[::-1],
                "DC_Min": numbers[::-1],
                "DC_PA": numbers,
            }
        ).write(self.path("h.csv"))
        rows = self.inject(image, self.path("h.csv"), "--fit")
        self.assertEqual(len(rows), n)
        for text in ("Xposn,Yposn,Total_flux\n", "Xposn,Yposn,I\n1\n", "\0\1\2", "Xposn"):
            with open(self.path("t.csv"), "w") as stream:
                stream.write(text)
            result = t.run(image, "--inject", self.path("t.csv"))
            self.assertIn(result.returncode, (0, 1, 2))
            self.assertNotIn("ERROR", result.stderr)


if __name__ == "__main__":
    t.main()
